// What takes the place of cuda_engine.cc in a build without METACTRL_CUDA.
#include "metactrl/error.h"
#include "metactrl/training/train.h"

namespace metactrl {

int num_cuda_devices() { return 0; }

std::unique_ptr<ExpectationEngine> make_cuda_engine(const CudaEngineOptions& /*options*/) {
  throw InputError("device cuda", "this program was built without CUDA",
                   "use the CPU, or configure with -DMETACTRL_CUDA=ON where CUDA is installed");
}

}  // namespace metactrl
