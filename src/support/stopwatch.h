// Wall-clock time for reports. It decides nothing: budgets count work.
#ifndef METACTRL_SRC_SUPPORT_STOPWATCH_H_
#define METACTRL_SRC_SUPPORT_STOPWATCH_H_

#include <chrono>
#include <utility>

namespace metactrl::internal {

class Stopwatch {
 public:
  // Since the start, or the last lap.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // The same, and starts again.
  double lap() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_STOPWATCH_H_
