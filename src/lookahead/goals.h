// Which goals are out of reach, on their own or together?
#ifndef METACTRL_SRC_LOOKAHEAD_GOALS_H_
#define METACTRL_SRC_LOOKAHEAD_GOALS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metactrl/lookahead.h"
#include "support/ids.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

// Goals by number: bit i is goal i.
using GoalSet = std::uint64_t;
constexpr std::size_t kMostGoals = 64;

std::vector<GoalId> members(GoalSet set);
// Adds a set unless one that is there has all of it; takes out those that it has all of.
void add_largest(std::vector<GoalSet>& sets, GoalSet set);
// Sets of the smallest size, at most four of these goals each, that none of `met` has all of: all of them, or the first
// hundreds.
std::vector<GoalSet> smallest_unmet(const std::vector<GoalSet>& met, GoalSet goals);

// Per goal of the program: does it hold in some reachable state? Enumerates the projection; all true ("not known to be
// out of reach") when the budget ends before the states do.
internal::IdVector<GoalId, bool> goals_met_somewhere(const task::Program& program, const Budget& budget,
                                                     internal::Meter& meter = internal::no_meter());

// The smallest sets of goals that no reachable state satisfies together. None when there is none of at most four goals, or
// the budget ends before the states do.
std::vector<GoalSet> smallest_excluded_goals(const task::Program& program, const Budget& budget,
                                             internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_GOALS_H_
