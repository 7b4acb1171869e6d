// From the text of a subgoal answer to a list of atoms: the evaluator's reading, its vocabulary and its random choices.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_PLAN_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_PLAN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/behavior/subgoal_formula.h"
#include "benchmarks/behavior/task_file.h"

namespace metactrl::benchmarks::behavior {

// Stands in for the evaluator's random choices and walks through all their outcomes, the first alternatives first.
class Choices {
 public:
  // One of 0..n-1; n > 0.
  std::size_t pick(std::size_t n);
  // How likely the outcome since the start or the last advance() is.
  double probability() const;
  // Turns to the next outcome; false when there is none.
  bool advance();

 private:
  std::vector<std::pair<std::size_t, std::size_t>> trail_;  // picked, of how many
  std::size_t next_ = 0;
};

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
