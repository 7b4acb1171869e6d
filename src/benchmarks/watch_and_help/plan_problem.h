// The PDDL problem of a task of Watch-And-Help, for domains/watch-and-help/environment.pddl and paper.pddl.
//
//     PromptTask problem = plan_problem(*task.scene, list_things(*task.scene, task.goal), task.goal);
//
// A thing is called by its class and its number: apple_1004. Goals come in the order of the lines, one for each
// distinct line; where several things could be the target, a last one says that it is the same for all.
// PromptTask::goals names them as the benchmark does, and says why one cannot be reached where that is known
// (obstacle.h). Cost: linear in the goals times what is listed, however many things a goal asks for.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_PLAN_PROBLEM_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_PLAN_PROBLEM_H_

#include <vector>

#include "benchmarks/prompt_task.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/watch_and_help/goal.h"
#include "benchmarks/watch_and_help/listing.h"

namespace metactrl::benchmarks::watch_and_help {

// Throws InputError when a class has a name that PDDL or the plan would spell differently.
PromptTask plan_problem(const Scene& scene, const Listing& listing, const std::vector<GoalLine>& goal);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_PLAN_PROBLEM_H_
