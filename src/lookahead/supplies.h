// Goals that together use up more of something than there is: three tickets, and four certificates that take one each.
//
// A *supply* is a literal that holds at the start and that no action makes true: what takes it away does so once. A
// *landmark* of a goal is a literal that every way to the goal makes true. Where each action that makes a landmark true takes a
// supply, and no action makes two of some landmarks true, these take a supply each; if they cannot all have one of their own, the
// goals that they are landmarks of exclude each other.
#ifndef METACTRL_SRC_LOOKAHEAD_SUPPLIES_H_
#define METACTRL_SRC_LOOKAHEAD_SUPPLIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lookahead/goals.h"
#include "lookahead/literal_actions.h"
#include "support/meter.h"

namespace metactrl::lookahead {

class Supplies {
 public:
  // Takes what it uses from `work`. Nothing when that does not suffice.
  static std::optional<Supplies> find(const LiteralTask& task, std::uint64_t& work, internal::Meter& meter);

  // Some of these goals, as few as possible, that use up more than there is; none where that was not found.
  GoalSet exceeded_by(GoalSet goals) const;

 private:
  // A landmark that takes a supply.
  struct Taker {
    LiteralCode landmark = 0;
    GoalSet goals = 0;                  // that have it
    std::vector<std::size_t> actions;   // that make it true
    std::vector<LiteralCode> supplies;  // that these take
  };

  // Can each taker of these goals have a supply of its own?
  bool enough_for(GoalSet goals) const;

  std::vector<Taker> takers_;  // no action makes two of them true
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SUPPLIES_H_
