// Pipes are not blocking on our side; poll waits in slices so that a request to stop is seen soon.
//
// Between fork and exec only async-signal-safe calls are made: the program may have other threads. Files opened by
// other parts of the program without O_CLOEXEC are closed there one by one.
//
// The group outlives its first process when that leaves children behind. So the first process is waited for without
// being reaped (WNOWAIT): as long as it is a zombie its number, and with it the group's, cannot be given to anybody
// else, and a signal to the group hits nobody but the children it left.
#include "robot/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "metactrl/robot/closed_loop.h"
#include "support/str_cat.h"

namespace metactrl::robot {

using internal::str_cat;

namespace {

constexpr double kSlice = 0.05;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string system_text(const char* what) { return str_cat(what, ": ", std::strerror(errno)); }

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw WorldError(system_text("the world cannot be started: no pipe"));
  return {ends[0], ends[1]};
}

void close_quietly(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

// A write to a pipe that nobody reads raises SIGPIPE, which would end the program. It is held back for this thread, and
// taken away when it came from here.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    sigset_t pending;
    ::sigpending(&pending);
    if (!was_pending_ && ::sigismember(&pending, SIGPIPE) == 1) {
      const timespec none{0, 0};
      while (::sigtimedwait(&pipe_, nullptr, &none) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// In the child, after fork: nothing but async-signal-safe calls. Does not return.
[[noreturn]] void become(const char* command, int input, int output, int highest_descriptor) {
  ::setpgid(0, 0);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGQUIT}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Out of the way of 0 and 1 first: either may be one of them when the program was started with them closed.
  const int in = ::fcntl(input, F_DUPFD, 3);
  const int out = ::fcntl(output, F_DUPFD, 3);
  if (in < 0 || out < 0 || ::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0) ::_exit(127);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  if (::close_range(3, ~0U, 0) == 0) highest_descriptor = 0;
#endif
  for (int descriptor = 3; descriptor <= highest_descriptor; ++descriptor) ::close(descriptor);
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

// No descriptor is above this. The limit can be lowered below ones that are open, and be in the millions.
int highest_possible_descriptor() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<int>(std::min(limit.rlim_cur, kEnough)) - 1;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& command) {
  try {
    start(command);
  } catch (...) {
    close_pipes();
    throw;
  }
}

void ChildProcess::start(const std::string& command) {
  Pipe input = make_pipe();
  to_child_ = input.write;
  Pipe output{};
  try {
    output = make_pipe();
  } catch (...) {
    close_quietly(input.read);
    throw;
  }
  from_child_ = output.read;
  ::fcntl(to_child_, F_SETFL, O_NONBLOCK);
  ::fcntl(from_child_, F_SETFL, O_NONBLOCK);
  const int highest = std::max({highest_possible_descriptor(), input.read, output.write, to_child_, from_child_}) + 2;
  pid_ = ::fork();
  if (pid_ == 0) become(command.c_str(), input.read, output.write, highest);
  const int error = errno;
  close_quietly(input.read);
  close_quietly(output.write);
  if (pid_ < 0) {
    errno = error;
    throw WorldError(system_text("the world cannot be started"));
  }
  // Also here: whoever comes first. Fails when the child has already become the shell, which did it itself.
  ::setpgid(pid_, pid_);
}

ChildProcess::~ChildProcess() {
  finish();
  close_pipes();
}

void ChildProcess::close_pipes() {
  close_quietly(to_child_);
  close_quietly(from_child_);
}

void ChildProcess::await(int descriptor, short events, double deadline, const Wait& wait, const char* what) const {
  while (true) {
    if (wait.stop && wait.stop()) throw WorldError("stopped while waiting for the world");
    const double left = deadline - now();
    if (left <= 0) {
      throw WorldError(str_cat("the world did not ", what, " within ", wait.seconds, " s",
                               wait.hint.empty() ? "" : "; " + wait.hint));
    }
    pollfd entry{descriptor, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min(left, kSlice) * 1000) + 1);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw WorldError(system_text("the world cannot be waited for"));
  }
}

void ChildProcess::throw_ended(const char* what) const {
  siginfo_t info{};
  std::string how = " (it still runs, with its pipe closed)";
  if (ended_within(kGraceSeconds) &&
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    how = info.si_code == CLD_EXITED ? str_cat(" (exit status ", info.si_status, ")")
                                     : str_cat(" (killed by signal ", info.si_status, ")");
  }
  throw WorldError(str_cat("the world ", what, how));
}

void ChildProcess::write_line(std::string_view line, const Wait& wait) {
  const double deadline = now() + wait.seconds;
  std::string text(line);
  text += '\n';
  const NoPipeSignal guard;
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(to_child_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      await(to_child_, POLLOUT, deadline, wait, "take a message");
    } else if (errno == EPIPE) {
      throw_ended("ended, or closed its input, before it was asked");
    } else if (errno != EINTR) {
      throw WorldError(system_text("the world cannot be written to"));
    }
  }
}

std::string ChildProcess::read_line(const Wait& wait) {
  const double deadline = now() + wait.seconds;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    searched_ = buffer_.size();
    if (buffer_.size() > kMaxLine) {
      throw WorldError(str_cat("the world wrote a line of more than ", kMaxLine, " bytes; write one answer a line"));
    }
    await(from_child_, POLLIN, deadline, wait, "answer");
    char chunk[65536];
    const ssize_t count = ::read(from_child_, chunk, sizeof chunk);
    if (count > 0) {
      buffer_.append(chunk, static_cast<std::size_t>(count));
    } else if (count == 0) {
      throw_ended(buffer_.empty() ? "ended without an answer" : "ended in the middle of a line");
    } else if (errno != EAGAIN && errno != EINTR) {
      throw WorldError(system_text("the world cannot be read from"));
    }
  }
}

bool ChildProcess::ended_within(double seconds) const {
  const double deadline = now() + seconds;
  while (true) {
    siginfo_t info{};
    const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (result != 0 && errno != EINTR) return true;
    if (result == 0 && info.si_pid == pid_) return true;
    if (now() >= deadline) return false;
    ::poll(nullptr, 0, 5);
  }
}

void ChildProcess::finish() {
  if (pid_ <= 0) return;
  close_quietly(to_child_);
  if (!ended_within(kGraceSeconds)) {
    ::kill(-pid_, SIGTERM);
    ended_within(kGraceSeconds);
  }
  ::kill(-pid_, SIGKILL);  // what is left of the group
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace metactrl::robot
