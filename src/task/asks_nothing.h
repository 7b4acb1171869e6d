// Does a task ask for anything?
#ifndef METACTRL_SRC_TASK_ASKS_NOTHING_H_
#define METACTRL_SRC_TASK_ASKS_NOTHING_H_

#include <algorithm>

#include "task/program.h"

namespace metactrl::task {

// There is no goal, or goals that hold whatever is done, since they are about what never changes, or about objects of which
// there are none; and no trajectory constraint. The empty plan reaches it, and so does every other. What was done already
// is asked for all the same, though nothing undoes it.
inline bool asks_nothing(const Program& program) {
  return program.monitors().empty() && std::ranges::all_of(program.definition().goals, &GoalDefinition::anyway);
}

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_ASKS_NOTHING_H_
