// Answers to benchmark tasks by a classical planner that reads the benchmark's own PDDL (own_pddl.h): the row "classical
// planner" of a table. That is Fast Downward, run as a program of its own, or else the search of the lookahead.
//
//     ClassicalPlanner planner{find_classical_planner(""), 30};
//     Answer answer = answer_classically(*own, identifier, planner, options);
#ifndef METACTRL_SRC_BENCHMARKS_CLASSICAL_PLANNER_H_
#define METACTRL_SRC_BENCHMARKS_CLASSICAL_PLANNER_H_

#include <string>

#include "benchmarks/evaluate.h"
#include "benchmarks/own_pddl.h"

namespace metactrl::benchmarks {

struct ClassicalPlanner {
  std::string program;  // Fast Downward's driver; empty: a search of our own
  double seconds = 30;  // for one prompt
  double grace = 5;     // so much later one that does not keep to it is ended
};

// The driver: `wanted` where that is given, else fast-downward.py or fast-downward in PATH. Empty when there is none.
std::string find_classical_planner(const std::string& wanted);

// It has no model and knows no rules but the benchmark's domain. A plan of Fast Downward is executed by our interpreter of
// that domain before it is taken; one that is not legal there is an error. What goes wrong is part of the answer.
Answer answer_classically(const OwnPddl& own, const std::string& identifier, const ClassicalPlanner& planner,
                          const EvaluateOptions& options);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_CLASSICAL_PLANNER_H_
