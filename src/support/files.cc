#include "support/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "metactrl/error.h"
#include "support/file_lock.h"
#include "support/str_cat.h"

namespace metactrl::internal {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  // Closing reports what delayed writing could not do. Returns errno, 0 when all is well.
  int close() {
    const int result = ::close(value_);
    value_ = -1;
    return result == 0 ? 0 : errno;
  }

 private:
  int value_;
};

[[noreturn]] void fail_to_write(const std::string& path, int error) {
  throw InputError(path, str_cat("cannot be written: ", reason(error)),
                   "choose another path or make room; an older file there is unchanged");
}

void write_in_place(const std::string& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail_to_write(path, errno);
  if (const int error = write_all(file.get(), content); error != 0) fail_to_write(path, error);
  if (const int error = file.close(); error != 0) fail_to_write(path, error);
}

// A new file beside `target`, with the permissions any new file gets; negative when none can be made (errno says why).
int create_beside(const std::string& target, std::string& name) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = str_cat(target, ".part", ::getpid(), attempt == 0 ? "" : str_cat('-', attempt));
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return descriptor;
    if (descriptor < 0) continue;
    // Its lock says that somebody writes it; who tidied up before that was said took it away.
    struct stat status {};
    const bool taken = !try_lock(descriptor) && errno == EWOULDBLOCK;
    if (!taken && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0) return descriptor;
    ::close(descriptor);
  }
  return -1;
}

// Whether it is still called so.
bool is_named(int descriptor, const std::string& name) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(name.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// A link keeps pointing where it points: what it names is replaced.
std::string target_of(const std::string& path) {
  std::error_code ignored;
  const bool link = std::filesystem::exists(path, ignored) && std::filesystem::is_symlink(path, ignored);
  return link ? std::filesystem::canonical(path, ignored).string() : path;
}

void refuse_folder(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw InputError(path, "is a folder", "name a file in it");
}

// Something is there, and it is not a plain file.
bool is_special(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string read_file(const std::string& path) {
  std::string content;
  read_pieces(path, [&](std::string_view piece) { content.append(piece); });
  return content;
}

void read_pieces(const std::string& path, const std::function<void(std::string_view)>& take) {
  if (path.empty()) throw InputError("", "the file name is empty", "give the path of a file");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    const int error = errno;
    throw InputError(path, str_cat("cannot be opened: ", reason(error)),
                     error == ENOENT ? "check the path" : "check the path and its permissions");
  }
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw InputError(path, "is a folder", "name a file in it");
  }
  std::vector<char> buffer(std::size_t{1} << 16);
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(path, str_cat("cannot be read: ", reason(errno)), "check the file");
    if (count == 0) return;
    take({buffer.data(), static_cast<std::size_t>(count)});
  }
}

void write_file(const std::string& path, std::string_view content) {
  refuse_folder(path);
  if (is_special(path)) return write_in_place(path, content);
  const std::string target = target_of(path);
  remove_leftovers(target);
  std::string temporary;
  Descriptor file(create_beside(target, temporary));
  if (file.get() < 0) fail_to_write(path, errno);
  // Closing is what tells of a full disk, and the lock is to be held until the file has its name.
  const Descriptor lock(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  int error = write_all(file.get(), content);
  struct stat status {};
  const bool replaces = ::stat(target.c_str(), &status) == 0;
  if (error == 0 && replaces && ::fchmod(file.get(), status.st_mode & 07777) != 0) error = errno;
  if (error == 0 && ::fsync(file.get()) != 0 && errno != EINVAL) error = errno;
  if (error == 0) error = file.close();
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  fail_to_write(path, error);
}

void check_writable(const std::string& path) {
  refuse_folder(path);
  if (is_special(path)) throw InputError(path, "is not an ordinary file", "name a file that can be kept");
  std::string temporary;
  const Descriptor file(create_beside(target_of(path), temporary));
  if (file.get() < 0) fail_to_write(path, errno);
  ::unlink(temporary.c_str());
}

// The folder is read as the system has it: std::filesystem's iterator ends the program where there is no memory for the next
// name.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  while (const dirent* entry = open == nullptr ? nullptr : ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Between opening a file and locking it, it may have become the target, and another write have taken its name; while it has
// the name and we the lock, nobody can.
void remove_leftovers(const std::string& path) {
  const std::size_t begin = path.rfind('/') + 1;  // 0 where there is no folder
  const std::string folder = begin == 0 ? "./" : path.substr(0, begin);
  const std::string prefix = path.substr(begin) + ".part";
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(prefix) || name.size() == prefix.size() ||
        name.find_first_not_of("0123456789-", prefix.size()) != std::string::npos)
      continue;
    const std::string left = folder + name;
    const Descriptor file(::open(left.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() >= 0 && try_lock(file.get()) && is_named(file.get(), left)) ::unlink(left.c_str());
  }
}

}  // namespace metactrl::internal
