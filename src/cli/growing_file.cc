#include "cli/growing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl::cli {

GrowingFile::GrowingFile(const std::filesystem::path& path)
    : path_(path.string()), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail();
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::write(std::string_view piece) const {
  if (internal::write_all(descriptor_, piece) != 0) fail();
}

void GrowingFile::empty() const {
  if (::ftruncate(descriptor_, 0) != 0) fail();
}

void GrowingFile::sync() const {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail();
}

void GrowingFile::fail() const {
  throw InputError(path_, internal::str_cat("cannot be written: ", std::generic_category().message(errno)), kMakeRoom);
}

}  // namespace metactrl::cli
