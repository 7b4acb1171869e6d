// GPUs are found by the CUDA runtime. Kernels are compiled for some kinds of GPU and, as PTX, for newer ones; whether
// they are for the one at hand is asked about one of them, before any work is begun.
#include "hmm/cuda_device.h"

#include <cuda_runtime_api.h>

#include "hmm/cuda_memory.h"
#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl {

void hmm::open_device(const std::string& what, int number, cudaError_t (*kernels_error)()) {
  using internal::str_cat;
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    cudaGetLastError();
    throw InputError(what, str_cat("there is no GPU that this program can use: ", cudaGetErrorString(error)),
                     "use the CPU");
  }
  if (number < 0 || number >= devices) {
    throw InputError(what, str_cat("there is no GPU number ", number, "; there are ", devices), "use the CPU");
  }
  check(cudaSetDevice(number));
  const cudaError_t kernels = kernels_error();
  if (kernels == cudaErrorNoKernelImageForDevice || kernels == cudaErrorInvalidDeviceFunction ||
      kernels == cudaErrorUnsupportedPtxVersion) {
    cudaGetLastError();
    throw InputError(what, str_cat("this program was built for other GPUs: ", cudaGetErrorString(kernels)),
                     "configure with -DCMAKE_CUDA_ARCHITECTURES=native on this machine, or use the CPU");
  }
  check(kernels);
}

}  // namespace metactrl
