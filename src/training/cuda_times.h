// What the parts of a step on a GPU take, for benchmarks.
//
//     PartTimes times;
//     auto engine = make_timed_cuda_engine(options, times);
//     ... steps ...
//     for (const PartTime& part : times.read()) std::printf("%s %.3f ms\n", part.name, part.milliseconds);
//
// Time is measured by events between the launches. They cost time themselves, a few microseconds for each launch: with
// few hidden states the sum of the parts is more than a step without them.
#ifndef METACTRL_SRC_TRAINING_CUDA_TIMES_H_
#define METACTRL_SRC_TRAINING_CUDA_TIMES_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "metactrl/training/train.h"

namespace metactrl::training {

struct PartTime {
  const char* name = "";
  double milliseconds = 0;
  double operations = 0;  // multiplications and additions of products
  double bytes = 0;       // that must be read and written
  const char* type = "";  // of the products: "fp32", "tf32", "bf16", "fp64"
};

class PartTimes {
 public:
  PartTimes() = default;
  PartTimes(const PartTimes&) = delete;
  PartTimes& operator=(const PartTimes&) = delete;
  ~PartTimes();

  // A part begins here, and the one before it ends. Calls with one name are added up. Where the name is null nothing is
  // timed from here on.
  void begin(const PartTime& part);
  // Waits for the GPU. The sums of each part since the last call, in the order of their first calls.
  std::vector<PartTime> read();

 private:
  struct Mark {
    PartTime part;
    cudaEvent_t event;
  };
  cudaEvent_t new_event();

  std::vector<Mark> marks_;
  std::vector<cudaEvent_t> unused_;
};

// `times` must outlive the engine.
std::unique_ptr<ExpectationEngine> make_timed_cuda_engine(const CudaEngineOptions& options, PartTimes& times);

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_CUDA_TIMES_H_
