// The memory of a GPU is used up. A std::bad_alloc, as when this machine's own memory is, that says whose memory it was
// and how much of it is free.
#ifndef METACTRL_SRC_SUPPORT_GPU_MEMORY_ERROR_H_
#define METACTRL_SRC_SUPPORT_GPU_MEMORY_ERROR_H_

#include <new>
#include <stdexcept>
#include <string>

namespace metactrl::internal {

class GpuMemoryError : public std::bad_alloc {
 public:
  explicit GpuMemoryError(const std::string& message) : message_(message) {}
  const char* what() const noexcept override { return message_.what(); }

 private:
  std::runtime_error message_;  // can be copied without memory
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_GPU_MEMORY_ERROR_H_
