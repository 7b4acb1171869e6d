// Memory of the GPU, and errors of CUDA as exceptions.
//
//     DeviceArray<float> values;
//     values.upload(numbers);                               // grows where it must
//     download<float>(values.data(), numbers);              // waits for all work before it
//
// All calls are for the GPU that cudaSetDevice chose, in the order of the default stream unless another is given. For
// sources that are built with METACTRL_CUDA alone.
#ifndef METACTRL_SRC_HMM_CUDA_MEMORY_H_
#define METACTRL_SRC_HMM_CUDA_MEMORY_H_

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/gpu_memory_error.h"
#include "support/str_cat.h"

namespace metactrl::hmm {

// Bytes of the GPU that nobody uses, and all of them; zeros where it does not say.
struct DeviceMemory {
  std::size_t free = 0;
  std::size_t total = 0;
};
inline DeviceMemory device_memory() {
  DeviceMemory memory;
  if (cudaMemGetInfo(&memory.free, &memory.total) != cudaSuccess) return {};
  return memory;
}

[[noreturn]] inline void report_no_memory() {
  const DeviceMemory memory = device_memory();
  cudaGetLastError();  // else the next look at it would find this failure again
  std::string left;
  if (memory.total > 0) {
    left = internal::str_cat(" (", memory.free >> 20U, " of ", memory.total >> 20U, " MiB are free)");
  }
  throw internal::GpuMemoryError(internal::str_cat("the GPU has too little memory", left,
                                                   "; end other programs that use it, ask for less, or use the CPU"));
}

// Out of memory is a std::bad_alloc, as on the CPU.
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) report_no_memory();
  cudaGetLastError();
  throw std::runtime_error(internal::str_cat("the GPU failed: ", cudaGetErrorString(error)));
}

inline void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) report_no_memory();
  // What cuBLAS says, too, when there is no memory for its own needs.
  constexpr std::size_t kItsNeeds = std::size_t{256} << 20U;
  if (status == CUBLAS_STATUS_NOT_INITIALIZED && device_memory().total > 0 && device_memory().free < kItsNeeds) {
    report_no_memory();
  }
  throw std::runtime_error(internal::str_cat("the GPU failed: ", cublasGetStatusString(status)));
}

// Grows, and keeps what it has.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  // At least so many; their values are not kept.
  T* reserve(std::size_t size) {
    if (size <= size_) return data_;
    check(cudaFree(std::exchange(data_, nullptr)));
    size_ = 0;
    void* memory = nullptr;
    check(cudaMalloc(&memory, size * sizeof(T)));
    data_ = static_cast<T*>(memory);
    size_ = size;
    return data_;
  }
  T* zeros(std::size_t size) {
    reserve(size);
    if (size > 0) check(cudaMemsetAsync(data_, 0, size * sizeof(T)));
    return data_;
  }
  T* upload(std::span<const T> values, cudaStream_t stream = nullptr) {
    reserve(values.size());
    if (!values.empty()) {
      check(cudaMemcpyAsync(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream));
    }
    return data_;
  }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <typename T>
void download(const T* from, std::span<T> to) {
  if (!to.empty()) check(cudaMemcpy(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost));
}

}  // namespace metactrl::hmm

#endif  // METACTRL_SRC_HMM_CUDA_MEMORY_H_
