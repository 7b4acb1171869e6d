// What a person in this apartment can ask for, and the PDDL problem of writing it down.
//
//     Inventory inventory(*task.scene);
//     PromptTask problem = goal_problem(inventory);   // for domains/watch-and-help/goal.pddl
//
// A goal is a plan of that domain, so a model writes it under the same constraint as any plan. What it cannot write:
// classes that the apartment does not have, targets that take nothing, more things of a class than can be got hold of.
// What it can write can be reached, all of it together (the argument is in goal_problem.cc); the plan's own lookahead
// proves it again.
//
// Cost: linear in the scene. Immutable.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_GOAL_PROBLEM_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_GOAL_PROBLEM_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/prompt_task.h"
#include "benchmarks/watch_and_help/goal.h"

namespace metactrl::benchmarks::watch_and_help {

// The most goals that are written.
inline constexpr unsigned kMostGoals = 8;

struct Inventory {
  explicit Inventory(const Scene& scene);

  std::vector<std::string> things() const;  // in alphabetical order

  // Classes of which something can be put somewhere, with how many things can be.
  std::map<std::string, std::size_t> available;
  // Classes, in alphabetical order.
  std::vector<std::string> containers;
  std::vector<std::string> surfaces;
  std::vector<std::string> switches;
};

PromptTask goal_problem(const Inventory& inventory);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_GOAL_PROBLEM_H_
