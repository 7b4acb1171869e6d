// What actions that overlap could do for a task that has no plan without.
#ifndef METACTRL_SRC_LOOKAHEAD_CONCURRENCY_H_
#define METACTRL_SRC_LOOKAHEAD_CONCURRENCY_H_

#include <string>
#include <vector>

#include "metactrl/lookahead.h"
#include "metactrl/task.h"

namespace metactrl::lookahead {

struct Overlaps {
  // Who would have to overlap, and why plans in which they do are not looked for: a sentence each.
  std::vector<std::string> needed;
  // No plan in which different actions overlap reaches the goal.
  bool useless = false;
};

// Of a task with actions that take time which has no plan of the kind that is looked for. Each of two tasks with more
// actions is decided with `options`.
Overlaps needed_overlaps(const Task& task, const LookaheadOptions& options, const Stop& stop);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_CONCURRENCY_H_
