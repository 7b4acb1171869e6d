// A program of somebody else's that is talked to in lines.
//
//     ChildProcess child("python3 world.py");
//     child.write_line("{\"type\": \"observe\"}", wait);
//     std::string answer = child.read_line(wait);
//
// The command is run by /bin/sh in a process group of its own, with pipes for its standard input and output; standard
// error is ours. It inherits no other file, and no blocked or ignored signal. Whatever happens, the whole group was
// killed when the destructor returns: its input is closed, it gets a moment to end by itself, then SIGTERM, then
// SIGKILL.
//
// Every failure is a WorldError that says what happened: no answer in time, ended early (with its exit status), a line
// without end. One thread at a time.
#ifndef METACTRL_SRC_ROBOT_CHILD_PROCESS_H_
#define METACTRL_SRC_ROBOT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "support/child_process.h"

namespace metactrl::robot {

class ChildProcess {
 public:
  // How long one message may take. `stop`, which may be empty, is asked several times a second; true ends the waiting.
  // `hint` is what somebody who waited in vain can do, for the message.
  struct Wait {
    double seconds = 30;
    std::function<bool()> stop = {};
    std::string hint = {};
  };

  static constexpr std::size_t kMaxLine = std::size_t{1} << 20;
  // At the end: for leaving by itself, and after SIGTERM.
  static constexpr double kGraceSeconds = 1;

  // Throws WorldError when no process can be made. That the command does not exist shows at the first message: the
  // shell says so on standard error and ends.
  explicit ChildProcess(const std::string& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The line and a line feed.
  void write_line(std::string_view line, const Wait& wait);
  // The next line, without its line feed (and a carriage return before that). Longer ones than kMaxLine are an error.
  std::string read_line(const Wait& wait);

  // The process group, which is also the id of its first process.
  pid_t group() const { return pid_; }

 private:
  // Waits until the descriptor is ready; throws when time is up.
  void await(int descriptor, short events, double deadline, const Wait& wait, const char* what) const;
  // Waits so long for the first process to end, without taking its status away.
  bool ended_within(double seconds) const;
  [[noreturn]] void throw_ended(const char* what) const;

  pid_t pid_ = -1;
  std::optional<internal::Pipe> to_child_;
  std::optional<internal::Pipe> from_child_;
  std::string buffer_;        // read, not yet returned
  std::size_t searched_ = 0;  // so much of it has no line feed
};

}  // namespace metactrl::robot

#endif  // METACTRL_SRC_ROBOT_CHILD_PROCESS_H_
