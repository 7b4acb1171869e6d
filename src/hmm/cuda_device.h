// Which GPU, and whether this program can use it. For sources that are built with METACTRL_CUDA alone.
#ifndef METACTRL_SRC_HMM_CUDA_DEVICE_H_
#define METACTRL_SRC_HMM_CUDA_DEVICE_H_

#include <cuda_runtime_api.h>

#include <string>

namespace metactrl::hmm {

// Makes GPU `number` the one that this thread works on. Throws InputError, about `what`, where there is none of this
// number or the program was built for others, which is what asking about one of the caller's kernels shows.
void open_device(const std::string& what, int number, cudaError_t (*kernels_error)());

}  // namespace metactrl::hmm

#endif  // METACTRL_SRC_HMM_CUDA_DEVICE_H_
