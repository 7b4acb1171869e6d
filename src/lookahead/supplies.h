// Goals that together use up more of something than there is: three tickets, and four certificates that take one each.
//
// A *supply* is a literal that can be taken away so many times and not more often: once, where it holds at the start and no
// action makes it true; otherwise as often as what each action that makes it true takes in turn (an approver who may approve
// three things has a supply for the third of them, which the first makes smaller by one). A *landmark* of a goal is a literal
// that every way to the goal makes true. Where each action that makes a landmark true takes a supply, and no action makes two
// of some landmarks true, these take a supply each; if there are not so many, the goals that they are landmarks of exclude
// each other.
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
    std::size_t most = 0;               // of all these together
  };

  // Can each taker of these goals have a supply, none being given more often than it can be taken?
  bool enough_for(GoalSet goals) const;

  std::vector<Taker> takers_;       // no action makes two of them true
  std::vector<std::size_t> count_;  // by literal: how often it can be taken
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SUPPLIES_H_
