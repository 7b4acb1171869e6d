// From the text of a subgoal answer to a list of atoms: the evaluator's reading, its vocabulary and its random choices.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_PLAN_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_PLAN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/behavior/task_file.h"
#include "benchmarks/choices.h"
#include "benchmarks/subgoal_formula.h"

namespace metactrl::benchmarks::behavior {

// As the evaluator prints an atom or a negated one: "inside(a.0, b.1)", "Not(open(b.1))".
std::string to_text(const Formula& formula);

// The strings of {"output": [...]} that the evaluator keeps; nullopt when there are none to be found.
std::optional<std::vector<std::string>> read_subgoal_strings(std::string_view answer);

inline constexpr std::string_view kNotParseable = "NotParseable";

struct SubgoalPlan {
  std::string verdict;         // empty, or "NotParseable" or "Hallucination"
  std::string reason;          // of the verdict
  std::vector<Formula> atoms;  // atoms and negated atoms, in the order of execution
};

// One outcome of the random choices.
SubgoalPlan plan_of_strings(const SubgoalTask& task, const std::vector<std::string>& strings, Choices& choices);

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_PLAN_H_
