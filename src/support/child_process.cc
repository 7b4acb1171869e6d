// Two pipes carry what the child writes; poll() waits for either, at most a tenth of a second, so that go_on is asked
// now and then. What the child reads is a file without a name: it need not be fed. Everything the child needs is made
// before fork(): between fork() and exec() only calls are allowed that are safe in a program with threads. Files opened by
// other parts of the program without O_CLOEXEC are closed there one by one.
#include "support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
#include <utility>

#include "support/files.h"

namespace metactrl::internal {

namespace {

constexpr int kNoProgram = 127;
constexpr std::size_t kMostErrors = 2000;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// An open file with this text, at its beginning.
class Input {
 public:
  explicit Input(const std::string& text)
      : file_(text.empty() ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : ::memfd_create("input", MFD_CLOEXEC)) {
    if (text.empty()) return;
    if (file_ < 0) fail("a child's input cannot be made");
    if (const int failure = write_all(file_, text); failure != 0) {
      ::close(file_);
      errno = failure;
      fail("a child's input cannot be written");
    }
    ::lseek(file_, 0, SEEK_SET);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() { ::close(file_); }
  int descriptor() const { return file_; }

 private:
  int file_;
};

// No descriptor is above this. The limit can be lowered below ones that are open, and be in the millions.
int highest_possible_descriptor() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<int>(std::min(limit.rlim_cur, kEnough)) - 1;
}

// In the child: nothing but async-signal-safe calls.
[[noreturn]] void become(const NewChild& child, std::vector<char*>& arguments, pid_t parent, int highest_descriptor) {
  ::setpgid(0, 0);
  if (child.dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kNoProgram);
  }
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGQUIT}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!child.folder.empty() && ::chdir(child.folder.c_str()) != 0) ::_exit(kNoProgram);
  // Out of the way of 0 to 2 first: any may be one of them when the program was started with them closed.
  std::array<int, 3> files = {child.in, child.out, child.errors};
  for (int& file : files) {
    if (file >= 0 && (file = ::fcntl(file, F_DUPFD, 3)) < 0) ::_exit(kNoProgram);
  }
  for (int i = 0; i < 3; ++i) {
    const int file = files[static_cast<std::size_t>(i)];
    if (file >= 0 && ::dup2(file, i) < 0) ::_exit(kNoProgram);
  }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  if (::close_range(3, ~0U, 0) == 0) highest_descriptor = 0;
#endif
  for (int descriptor = 3; descriptor <= highest_descriptor; ++descriptor) ::close(descriptor);
  ::execv(child.program.c_str(), arguments.data());
  ::_exit(kNoProgram);
}

// Ends the child on every way out, with what it started: they are a process group of their own.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {}
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
  int wait() { return wait_for_child(std::exchange(process_, -1)); }

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
      pipe.close_reading();
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

Pipe::Pipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail("a pipe cannot be made");
}

Pipe::~Pipe() {
  close_reading();
  close_writing();
}

void Pipe::close(std::size_t end) {
  if (ends_[end] >= 0) ::close(ends_[end]);
  ends_[end] = -1;
}

pid_t start_child(const NewChild& child) {
  std::vector<std::string> words = child.arguments;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int highest = std::max({highest_possible_descriptor(), child.in, child.out, child.errors}) + 3;
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) become(child, arguments, parent, highest);
  if (process < 0) fail("a child process cannot be started");
  // Also here: whoever comes first. Fails when the child has already become the program, which did it itself.
  ::setpgid(process, process);
  return process;
}

int wait_for_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
  Pipe out;
  Pipe errors;
  const Input in(options.in);
  Child child(start_child(
      {program, command, options.folder, in.descriptor(), out.writing(), errors.writing(), /*dies_with_us=*/true}));
  out.close_writing();
  errors.close_writing();
  Listener(options, result).listen(out, errors, child);
  result.code = child.wait();
  result.errors = one_line(std::move(result.errors));
  return result;
}

}  // namespace metactrl::internal
