// Two pipes carry what the child writes; poll() waits for either, at most a tenth of a second, so that go_on is asked
// now and then. What the child reads is a file without a name: it need not be fed. Everything the child needs is made
// before fork(): between fork() and exec() only calls are allowed that are safe in a program with threads.
#include "support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace metactrl::internal {

namespace {

constexpr int kNoProgram = 127;
constexpr std::size_t kMostErrors = 2000;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail("a pipe cannot be made");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(0);
    close(1);
  }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// An open file with this text, at its beginning; the caller closes it.
int readable(const std::string& text) {
  if (text.empty()) return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int file = ::memfd_create("input", MFD_CLOEXEC);
  if (file < 0) fail("a child's input cannot be made");
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(file, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int failure = errno;
      ::close(file);
      errno = failure;
      fail("a child's input cannot be written");
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

// In the child.
[[noreturn]] void become(const std::string& program, std::vector<char*>& arguments, const char* folder, int in, int out,
                         int errors, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNoProgram);
  if (folder != nullptr && ::chdir(folder) != 0) ::_exit(kNoProgram);
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(errors, STDERR_FILENO) < 0) {
    ::_exit(kNoProgram);
  }
  ::execv(program.c_str(), arguments.data());
  ::_exit(kNoProgram);
}

// Ends the child on every way out, with what it started: they are a process group of their own.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) { ::setpgid(process, process); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ <= 0) return;
    end(SIGKILL);
    wait();
  }
  void end(int signal) const {
    if (::kill(-process_, signal) != 0) ::kill(process_, signal);
  }
  int wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_;
};

// One line, without blanks at its ends.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

class Listener {
 public:
  Listener(const ChildOptions& options, ChildResult& result) : options_(options), result_(result) {}

  void listen(Pipe& out, Pipe& errors, const Child& child) {
    std::chrono::steady_clock::time_point ended;
    while (out.reading() >= 0 || errors.reading() >= 0) {
      std::array<pollfd, 2> watched{pollfd{out.reading(), POLLIN, 0}, pollfd{errors.reading(), POLLIN, 0}};
      constexpr int kMilliseconds = 100;
      const int ready = ::poll(watched.data(), watched.size(), kMilliseconds);
      if (ready < 0 && errno != EINTR) fail("a child process cannot be listened to");
      if (!result_.stopped && options_.go_on && !options_.go_on()) {
        result_.stopped = true;
        ended = std::chrono::steady_clock::now();
        child.end(SIGTERM);
      }
      constexpr std::chrono::seconds kGrace(2);
      if (result_.stopped && std::chrono::steady_clock::now() > ended + kGrace) {  // it does not listen
        child.end(SIGKILL);
        return;
      }
      if (ready <= 0) continue;
      if (watched[0].revents != 0)
        take(out, [this](std::string_view piece) {
          if (options_.out) options_.out(piece);
        });
      if (watched[1].revents != 0) take(errors, [this](std::string_view piece) { keep(piece); });
    }
  }

 private:
  template <typename Take>
  void take(Pipe& pipe, const Take& use) {
    const ssize_t count = ::read(pipe.reading(), buffer_.data(), buffer_.size());
    if (count > 0) {
      use(std::string_view(buffer_.data(), static_cast<std::size_t>(count)));
    } else if (count == 0 || errno != EINTR) {
      pipe.close(0);
    }
  }

  void keep(std::string_view piece) {
    result_.errors += piece;
    if (result_.errors.size() > kMostErrors) result_.errors.erase(0, result_.errors.size() - kMostErrors);
  }

  const ChildOptions& options_;
  ChildResult& result_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16U);
};

}  // namespace

std::string find_program(const std::string& name) {
  if (name.empty()) return {};
  const auto runs = [](const std::string& file) {
    std::error_code ignored;
    return ::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, ignored);
  };
  if (name.find('/') != std::string::npos) return runs(name) ? name : std::string();
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (true) {
    const std::size_t colon = folders.find(':');
    const std::string folder(folders.substr(0, colon));
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (runs(file)) return file;
    if (colon == std::string_view::npos) return {};
    folders.remove_prefix(colon + 1);
  }
}

ChildResult run_child(const std::vector<std::string>& command, const ChildOptions& options) {
  ChildResult result;
  std::string program = find_program(command.at(0));
  if (!program.empty()) program = std::filesystem::absolute(program).string();  // it may run in another folder
  if (program.empty()) {
    result.code = kNoProgram;
    result.errors = command[0] + " is not installed";
    return result;
  }
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Pipe out;
  Pipe errors;
  const int in = readable(options.in);
  const char* folder = options.folder.empty() ? nullptr : options.folder.c_str();
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) become(program, arguments, folder, in, out.writing(), errors.writing(), parent);
  const int failure = errno;
  if (in >= 0) ::close(in);
  if (process < 0) {
    errno = failure;
    fail("a child process cannot be started");
  }
  Child child(process);
  out.close(1);
  errors.close(1);
  Listener(options, result).listen(out, errors, child);
  result.code = child.wait();
  result.errors = one_line(std::move(result.errors));
  return result;
}

}  // namespace metactrl::internal
