// "42 of 150 answered, 3.1 per second, 35 s left" on standard error, if that is a terminal; leaves no trace at the end.
#ifndef METACTRL_SRC_CLI_RATE_LINE_H_
#define METACTRL_SRC_CLI_RATE_LINE_H_

#include <cstddef>
#include <string>

#include "cli/common.h"

namespace metactrl::cli {

class RateLine {
 public:
  // `what` is "answered"; `before` were done by an earlier run and do not count for the rate.
  RateLine(std::size_t total, std::string what, std::size_t before = 0);
  ~RateLine() { clear(); }
  RateLine(const RateLine&) = delete;
  RateLine& operator=(const RateLine&) = delete;

  // `more` is appended: "; log p -2.1".
  void done(std::size_t count, const std::string& more = {});

 private:
  void clear();

  std::size_t total_;
  std::string what_;
  std::size_t before_;
  bool terminal_;
  Stopwatch watch_;
  double shown_ = -1;
  std::size_t width_ = 0;
};

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_RATE_LINE_H_
