// What a computation has used of its budget. The budget alone decides where it ends; whoever waits for it may end it
// earlier (support/meter.h), and then there is no result.
//
//     Spending spending(budget, meter);
//     while (...) {
//       work += successor_work(program);
//       if (const Limit limit = spending.check(states, bytes, work); limit != Limit::kNone) return limit;
//     }
#ifndef METACTRL_SRC_LOOKAHEAD_SPENDING_H_
#define METACTRL_SRC_LOOKAHEAD_SPENDING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "metactrl/lookahead.h"
#include "support/enum_names.h"
#include "support/meter.h"
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

// The same where states are wide and what counts is the time: words are copied many at a time.
inline std::uint64_t copy_work(const task::Program& program) {
  constexpr std::uint64_t kAtATime = 16;
  return successor_work(program) - program.total_words() + program.total_words() / kAtATime;
}

// No more than `most`, but for bytes.
inline void limit(Budget& budget, const Budget& most) {
  budget.states = std::min(budget.states, most.states);
  budget.work = std::min(budget.work, most.work);
}

// Which limit ended a computation.
enum class Limit { kNone, kStates, kBytes, kWork };

constexpr auto enum_names(Limit) {
  return internal::names<Limit>({
      {Limit::kNone, "none"},
      {Limit::kStates, "states"},
      {Limit::kBytes, "memory"},
      {Limit::kWork, "work"},
  });
}

class Spending {
 public:
  Spending(const Budget& budget, internal::Meter& meter) : budget_(budget), meter_(meter) {}

  // All in all, since the beginning. Throws Stopped when the meter's Stop says so.
  Limit check(std::size_t states, std::size_t bytes, std::uint64_t work) {
    if (states > budget_.states) return Limit::kStates;
    if (bytes > budget_.bytes) return Limit::kBytes;
    if (work > budget_.work) return Limit::kWork;
    meter_.step(work - std::min(work, counted_));
    counted_ = std::max(work, counted_);
    return Limit::kNone;
  }

 private:
  Budget budget_;
  internal::Meter& meter_;
  std::uint64_t counted_ = 0;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SPENDING_H_
