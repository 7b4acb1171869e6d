// What a model reads about a task of Watch-And-Help. The wording is ours; docs/benchmarks.md shows it.
//
// Two kinds: for a plan (the apartment as far as it matters to the goal, the instruction, the goal) and for a goal (the
// classes of the apartment's things, the instruction). Both are short: a few hundred tokens.
//
// Cost: linear in the scene.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_PROMPT_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_PROMPT_H_

#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/watch_and_help/goal.h"
#include "benchmarks/watch_and_help/goal_problem.h"
#include "benchmarks/watch_and_help/listing.h"

namespace metactrl::benchmarks::watch_and_help {

// The parts for the system, the same for all tasks.
std::string_view plan_system_prompt();
std::string_view goal_system_prompt();

std::string plan_prompt(const Scene& scene, const Listing& listing, const std::vector<GoalLine>& goal,
                        std::string_view instruction);
std::string goal_prompt(const Inventory& inventory, std::string_view instruction);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_PROMPT_H_
