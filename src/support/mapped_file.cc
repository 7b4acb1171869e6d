#include "support/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::internal {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const auto fail = [&](const char* what, int error, const char* hint) {
    throw InputError(path, str_cat(what, std::generic_category().message(error)), hint);
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int error = errno;
    fail("cannot be opened: ", error, error == ENOENT ? "check the path" : "check the path and its permissions");
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    throw InputError(path, "is not a plain file", "name a file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = nullptr;
  if (size > 0) address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) fail("cannot be mapped: ", error, "check the file, and the memory there is");
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const char*>(address), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace metactrl::internal
