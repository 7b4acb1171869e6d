// Which goals are out of reach, on their own or together?
#ifndef METACTRL_SRC_LOOKAHEAD_GOALS_H_
#define METACTRL_SRC_LOOKAHEAD_GOALS_H_

#include <vector>

#include "metactrl/lookahead.h"
#include "support/ids.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

// Per goal of the program: does it hold in some reachable state? Enumerates the projection; all true ("not known to be
// out of reach") when the budget ends before the states do.
internal::IdVector<GoalId, bool> goals_met_somewhere(const task::Program& program, const Budget& budget,
                                                     internal::Meter& meter = internal::no_meter());

// A smallest set of goals that no reachable state satisfies together. Empty when there is none of at most four goals, or
// the budget ends before the states do.
std::vector<GoalId> smallest_excluded_goals(const task::Program& program, const Budget& budget,
                                            internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_GOALS_H_
