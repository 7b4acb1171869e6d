// Files that have a name, for readers and writers that take one: nothing is written to a disk.
#ifndef METACTRL_TESTS_FUZZ_MEMORY_FILE_H_
#define METACTRL_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

// Bytes that can be read, and written where they lie.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    while (size > 0) {
      const ssize_t written = ::write(descriptor_, data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// A name that nothing has yet, for writers that make a file or put theirs in its place, and for folders. One at a time.
class MemoryName {
 public:
  MemoryName() : path_("/dev/shm/metactrl_fuzz_" + std::to_string(::getpid())) { std::filesystem::remove_all(path_); }
  MemoryName(const MemoryName&) = delete;
  MemoryName& operator=(const MemoryName&) = delete;
  ~MemoryName() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

#endif  // METACTRL_TESTS_FUZZ_MEMORY_FILE_H_
