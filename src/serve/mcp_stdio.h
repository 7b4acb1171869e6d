// The Model Context Protocol over a pair of pipes: a message a line, in and out.
//
//     McpStdio(service, STDIN_FILENO, STDOUT_FILENO).run();        // until the end of the input
//
// Calls of tools run beside each other, at most kMaxCalls; everything else is answered at once. A call that is taken
// back (notifications/cancelled) is stopped and not answered. At the end of the input the calls that still run are
// finished and answered. A line that is too long is dropped and refused, one call that runs out of memory is answered
// with an error, and neither ends anything else.
#ifndef METACTRL_SRC_SERVE_MCP_STDIO_H_
#define METACTRL_SRC_SERVE_MCP_STDIO_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "serve/service.h"

namespace metactrl::serve {

class McpStdio {
 public:
  static constexpr std::size_t kMaxCalls = 64;

  // File descriptors that stay open while it runs.
  McpStdio(Service& service, int in, int out) : service_(service), in_(in), out_(out) {}
  McpStdio(const McpStdio&) = delete;
  McpStdio& operator=(const McpStdio&) = delete;

  void run();

 private:
  struct Call {
    std::atomic<bool> cancelled{false};
  };

  void read_lines();
  void take(std::string line);
  void start(std::string line, const std::string& id);
  void answer(const std::string& line, const std::string& id, Call& call);
  void send(const std::string& line);
  // Needs no memory: for when there is none.
  void send_out_of_memory(const std::string& id);
  void write_all(std::string_view bytes);

  Service& service_;
  int in_;
  int out_;
  std::mutex write_mutex_;
  bool broken_ = false;  // nobody reads what is written

  std::mutex mutex_;
  std::condition_variable done_;
  std::map<std::string, std::shared_ptr<Call>> calls_;  // that run, by their ids as JSON
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_MCP_STDIO_H_
