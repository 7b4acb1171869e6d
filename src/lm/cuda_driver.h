// NVIDIA's driver, and whether the GPUs that it sees can run what a library has for them.
//
// A backend whose code a GPU cannot run is loaded all the same, lists the GPU, and ends the program at the first thing that
// it computes. So the question is asked before.
#ifndef METACTRL_SRC_LM_CUDA_DRIVER_H_
#define METACTRL_SRC_LM_CUDA_DRIVER_H_

#include <string>
#include <vector>

#include "lm/library_file.h"

namespace metactrl::lm {

struct CudaGpu {
  std::string name;         // "NVIDIA H200"
  unsigned capability = 0;  // 90 for 9.0
};
struct CudaDriver {
  unsigned cuda = 0;          // the newest CUDA that it understands: 130 for 13.0
  std::vector<CudaGpu> gpus;  // those that CUDA_VISIBLE_DEVICES leaves
};

// Asks libcuda.so.1, which stays loaded. No GPUs where there is no driver, or where it cannot be started.
CudaDriver ask_cuda_driver();

// A GPU runs machine code of its own major version and of a minor version that is not newer, and whatever else the driver
// can translate for it: code for the same or an older GPU, in a version of PTX that the driver knows. Says which GPU can do
// neither, why, and what helps; empty when all can.
std::string why_gpus_cannot_run(const std::vector<GpuCode>& code, const CudaDriver& driver);

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_CUDA_DRIVER_H_
