// Answers to benchmark prompts by a classical planner, Fast Downward, run as a program of its own: the row "classical
// planner" of a table. It gets the same PDDL domain and problem as the search (benchmarks/evaluate.h).
//
//     ClassicalPlanner planner{find_classical_planner(""), 30};
//     if (!planner.program.empty()) answer = answer_classically(*find_module("vh-as"), entry, planner, options);
#ifndef METACTRL_SRC_BENCHMARKS_CLASSICAL_PLANNER_H_
#define METACTRL_SRC_BENCHMARKS_CLASSICAL_PLANNER_H_

#include <string>

#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"

namespace metactrl::benchmarks {

struct ClassicalPlanner {
  std::string program;  // Fast Downward's driver
  double seconds = 30;  // for one prompt
  double grace = 5;     // so much later one that does not keep to it is ended
};

// The driver: `wanted` where that is given, else fast-downward.py or fast-downward in PATH. Empty when there is none.
std::string find_classical_planner(const std::string& wanted);

// Assumptions are made one more at a time, until the planner finds a plan; it drops no goals. What it writes is
// executed by our own rules before it is taken: a plan that they do not allow is an error. Anything else that goes
// wrong is part of the answer, too.
Answer answer_classically(const Module& module, const PromptEntry& entry, const ClassicalPlanner& planner,
                          const EvaluateOptions& options);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_CLASSICAL_PLANNER_H_
