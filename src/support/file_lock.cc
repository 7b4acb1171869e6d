#include "support/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::internal {

bool try_lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

FileLock::FileLock(const std::string& file, const std::function<void()>& waiting)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) {
    throw InputError(file, str_cat("cannot be made: ", std::generic_category().message(errno)),
                     "check the folder and its permissions");
  }
  if (try_lock(descriptor_)) return;
  if (waiting) waiting();
  while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace metactrl::internal
