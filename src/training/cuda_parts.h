// The parts of a step on a GPU, for benchmarks that measure what each takes.
//
//     auto engine = make_watched_cuda_engine(options, [&](const StepPart& part) { ... });
#ifndef METACTRL_SRC_TRAINING_CUDA_PARTS_H_
#define METACTRL_SRC_TRAINING_CUDA_PARTS_H_

#include <functional>
#include <memory>

#include "metactrl/training/train.h"

namespace metactrl::training {

struct StepPart {
  const char* name = "";  // null: what follows belongs to no part
  double operations = 0;  // multiplications and additions of products
  double bytes = 0;       // that must be read and written
  const char* type = "";  // of the products: "fp32", "tf32", "bf16", "fp64"
};

// Called behind the launches of a part and before those of the next one.
using OnPart = std::function<void(const StepPart& next)>;

std::unique_ptr<ExpectationEngine> make_watched_cuda_engine(const CudaEngineOptions& options, OnPart on_part);

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_CUDA_PARTS_H_
