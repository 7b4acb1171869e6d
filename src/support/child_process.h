// Other programs, run as child processes without a shell: arguments are passed as they are.
//
//     ChildResult result = run_child({"tar", "-xzOf", file, "package/model.part"},
//                                    {.out = [&](std::string_view piece) { ... }});
//     if (result.code != 0) throw InputError(file, result.errors);
//
// The child reads what it is given here and nothing else, and ends when this program does. Pipe and start_child are for
// whoever talks with one that stays. Thread safety: calls are independent of each other.
#ifndef METACTRL_SRC_SUPPORT_CHILD_PROCESS_H_
#define METACTRL_SRC_SUPPORT_CHILD_PROCESS_H_

#include <sys/types.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::internal {

struct ChildOptions {
  // Where it runs; empty: here.
  std::string folder;
  // Gets what the child writes to standard output; without it, that is dropped. May throw: then the child is ended.
  std::function<void(std::string_view)> out;
  // Called about ten times a second while the child runs; false ends it.
  std::function<bool()> go_on;
  // What it reads from standard input. Other users of the machine do not see it, as they see arguments.
  std::string in = {};
};

struct ChildResult {
  // 127 when there is no such program; 128 and the signal's number when a signal ended it.
  int code = 0;
  bool stopped = false;  // by go_on
  std::string errors;    // the end of what it wrote to standard error, in one line
};

// Throws std::system_error when the system has no room for another process.
ChildResult run_child(const std::vector<std::string>& command, const ChildOptions& options = {});

// Both ends of a pipe, which no child inherits unasked. Throws std::system_error when there is none to be had.
class Pipe {
 public:
  Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_reading() { close(0); }
  void close_writing() { close(1); }

 private:
  void close(std::size_t end);

  std::array<int, 2> ends_{-1, -1};
};

struct NewChild {
  std::string program;  // its path
  std::vector<std::string> arguments;
  std::string folder;  // where it runs; empty: here
  int in = -1;         // these become its standard input, output and error; -1: it has ours
  int out = -1;
  int errors = -1;
  bool dies_with_us = false;  // with the thread that started it
};

// Starts it in a process group of its own, with no other file of ours and no blocked or ignored signal. Its exit code is
// 127 when it cannot be run. Throws std::system_error when the system has no room for another process.
pid_t start_child(const NewChild& child);
// Waits for its end: its exit code, or 128 and the number of the signal that ended it.
int wait_for_child(pid_t child);

// The program's path, as found in PATH, or `name` itself when it has a slash and can be run; empty when there is none.
std::string find_program(const std::string& name);

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_CHILD_PROCESS_H_
