// Goals that can all be reached together, as many as possible.
//
//     ReducedTask reduced = drop_unreachable_goals(task, options);
//     for (GoalId goal : reduced.dropped) std::cerr << task.goal_text(goal) << " was dropped\n";
//     if (!reduced.fewest) std::cerr << "perhaps fewer would do\n";
//
// What is kept is certain: its lookahead has a plan, unless even no goal at all is too much.
#ifndef METACTRL_SRC_LOOKAHEAD_DROP_GOALS_H_
#define METACTRL_SRC_LOOKAHEAD_DROP_GOALS_H_

#include <memory>
#include <vector>

#include "metactrl/lookahead.h"

namespace metactrl {

struct ReducedTask {
  Task task;
  std::vector<GoalId> dropped;  // of the original task, ascending
  std::shared_ptr<const Lookahead> lookahead;
  bool fewest = false;  // it is proved that with fewer goals dropped there is no plan
};

// `known`: what looking at the whole task has shown, where somebody did so, with a horizon and budgets like these; it has no
// plan. Throws Stopped when `stop` says so.
ReducedTask drop_unreachable_goals(const Task& task, const LookaheadOptions& options, const Stop& stop = {},
                                   std::shared_ptr<const Lookahead> known = nullptr);

}  // namespace metactrl

#endif  // METACTRL_SRC_LOOKAHEAD_DROP_GOALS_H_
