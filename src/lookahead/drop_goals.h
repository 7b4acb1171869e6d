// Goals that can all be reached together.
//
//     ReducedTask reduced = drop_unreachable_goals(task, options);
//     for (GoalId goal : reduced.dropped) std::cerr << task.goal_text(goal) << " was dropped\n";
//
// Drops the goals that are out of reach on their own; where the rest is proved to be out of reach, one more if that is
// enough, the last one that will do; else keeps goals in their order as long as they can be reached together with those
// kept before. At most two compilations per goal. Goals whose
// reachability stays undecided within the budgets are dropped, too: what is kept is certain.
#ifndef METACTRL_SRC_LOOKAHEAD_DROP_GOALS_H_
#define METACTRL_SRC_LOOKAHEAD_DROP_GOALS_H_

#include <memory>
#include <vector>

#include "metactrl/lookahead.h"

namespace metactrl {

struct ReducedTask {
  Task task;
  std::vector<GoalId> dropped;  // of the original task
  std::shared_ptr<const Lookahead> lookahead;
};

// Throws Stopped when `stop` says so.
ReducedTask drop_unreachable_goals(const Task& task, const LookaheadOptions& options, const Stop& stop = {});

}  // namespace metactrl

#endif  // METACTRL_SRC_LOOKAHEAD_DROP_GOALS_H_
