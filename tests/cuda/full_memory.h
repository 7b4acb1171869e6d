// A GPU whose memory is used up: takes all of it but a little, and gives it back at the end of the scope.
//
//     { const FullMemory full; ... }        // what is asked for here fails, or is small
//
// Whoever else uses the GPU has no memory in the meantime either, so tests do it only when they are told to.
#ifndef METACTRL_TESTS_CUDA_FULL_MEMORY_H_
#define METACTRL_TESTS_CUDA_FULL_MEMORY_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace metactrl::testing {

class FullMemory {
 public:
  FullMemory() {
    // The driver gives memory in pieces of 2 MiB.
    for (std::size_t piece = std::size_t{16} << 30U; piece >= std::size_t{8} << 20U;) {
      void* memory = nullptr;
      if (cudaMalloc(&memory, piece) == cudaSuccess) {
        taken_.push_back(memory);
        bytes_ += piece;
      } else {
        cudaGetLastError();
        piece /= 2;
      }
    }
  }
  FullMemory(const FullMemory&) = delete;
  FullMemory& operator=(const FullMemory&) = delete;
  ~FullMemory() {
    for (void* memory : taken_) cudaFree(memory);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<void*> taken_;
  std::size_t bytes_ = 0;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_CUDA_FULL_MEMORY_H_
