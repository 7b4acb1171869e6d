// What a computation has used of its budget. The budget alone decides where it ends; whoever waits for it may end it
// earlier, and then there is no result.
//
//     Meter meter(budget, stop);
//     while (...) {
//       work += successor_work(program);
//       if (const Limit limit = meter.check(states, bytes, work); limit != Limit::kNone) return limit;
//     }
#ifndef METACTRL_SRC_LOOKAHEAD_METER_H_
#define METACTRL_SRC_LOOKAHEAD_METER_H_

#include <cstddef>
#include <cstdint>

#include "metactrl/lookahead.h"
#include "support/stop.h"
#include "task/program.h"

namespace metactrl::lookahead {

// Steps (Budget::work) for one successor of a state: its words are copied, the rules for derived facts are tried.
inline std::uint64_t successor_work(const task::Program& program) {
  constexpr std::uint64_t kOverhead = 32;
  constexpr std::uint64_t kPerRule = 8;
  std::uint64_t rules = 0;
  for (const auto& layer : program.axiom_layers()) rules += layer.size();
  return kOverhead + program.total_words() + kPerRule * rules;
}

class Meter {
 public:
  // Keeps a reference to `stop`.
  Meter(const Budget& budget, const Stop& stop) : budget_(budget), stop_(stop) {}

  // All in all, since the beginning. Throws internal::Stopped when `stop` says so.
  Limit check(std::size_t states, std::size_t bytes, std::uint64_t work) {
    if (states > budget_.states) return Limit::kStates;
    if (bytes > budget_.bytes) return Limit::kBytes;
    if (work > budget_.work) return Limit::kWork;
    if (work >= next_question_) {
      next_question_ = work + kInterval;
      if (stop_ && stop_()) throw internal::Stopped(internal::StopReason::kCancelled);
    }
    return Limit::kNone;
  }

 private:
  // Between two questions: some milliseconds.
  static constexpr std::uint64_t kInterval = 1'000'000;

  Budget budget_;
  const Stop& stop_;
  std::uint64_t next_question_ = 0;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_METER_H_
