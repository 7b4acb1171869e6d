// Pipes are not blocking on our side; poll waits in slices so that a request to stop is seen soon.
//
// The group outlives its first process when that leaves children behind. So the first process is waited for without
// being reaped (WNOWAIT): as long as it is a zombie its number, and with it the group's, cannot be given to anybody
// else, and a signal to the group hits nobody but the children it left.
#include "robot/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>

#include "metactrl/robot/closed_loop.h"
#include "support/str_cat.h"

namespace metactrl::robot {

using internal::str_cat;

namespace {

constexpr double kSlice = 0.05;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string system_text(const char* what) { return str_cat(what, ": ", std::strerror(errno)); }

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

}  // namespace

ChildProcess::ChildProcess(const std::string& command) {
  try {
    to_child_.emplace();
    from_child_.emplace();
    pid_ = internal::start_child({.program = "/bin/sh",
                                  .arguments = {"sh", "-c", command},
                                  .folder = {},
                                  .in = to_child_->reading(),
                                  .out = from_child_->writing()});
  } catch (const std::system_error& error) {
    throw WorldError(str_cat("the world cannot be started: ", error.code().message()));
  }
  to_child_->close_reading();
  from_child_->close_writing();
  ::fcntl(to_child_->writing(), F_SETFL, O_NONBLOCK);
  ::fcntl(from_child_->reading(), F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  to_child_.reset();
  if (!ended_within(kGraceSeconds)) {
    ::kill(-pid_, SIGTERM);
    ended_within(kGraceSeconds);
  }
  ::kill(-pid_, SIGKILL);  // what is left of the group
  internal::wait_for_child(pid_);
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
    const ssize_t written = ::write(to_child_->writing(), rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      await(to_child_->writing(), POLLOUT, deadline, wait, "take a message");
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
    await(from_child_->reading(), POLLIN, deadline, wait, "answer");
    char chunk[65536];
    const ssize_t count = ::read(from_child_->reading(), chunk, sizeof chunk);
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

}  // namespace metactrl::robot
