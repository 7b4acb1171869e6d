// What actions that overlap could do for a task that has no plan without.
#ifndef METACTRL_SRC_LOOKAHEAD_CONCURRENCY_H_
#define METACTRL_SRC_LOOKAHEAD_CONCURRENCY_H_

#include <string>

#include "metactrl/lookahead.h"
#include "metactrl/task.h"

namespace metactrl::lookahead {

struct Overlaps {
  // Who would have to overlap, as far as that is known: a sentence. Empty where nobody is known.
  std::string needed;
  // Instead, where one action at a time would do: a schedule, in a sentence.
  std::string other_times;
  // No plan in which different actions overlap reaches the goal.
  bool useless = false;
};

// Of a task with actions that take time for which no plan of the kind that is looked for was found. Each of two tasks with
// more actions is decided with `options`.
Overlaps needed_overlaps(const Task& task, const LookaheadOptions& options, const Stop& stop);

// Where neither a plan nor a proof was found: who may have to overlap, in a sentence; empty where nobody is known. Within
// the same budget as why_infeasible.
std::string why_undecided(const Task& task, const Stop& stop);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_CONCURRENCY_H_
