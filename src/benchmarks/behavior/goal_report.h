// The goals of a task in a score, for both modules.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_GOAL_REPORT_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_GOAL_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/behavior/task_file.h"
#include "benchmarks/score.h"

namespace metactrl::benchmarks::behavior {

struct GoalReport {
  std::vector<GoalScore> goals;  // one per condition
  bool all = false;
  bool crash = false;  // the evaluator's program fails on the test
};

GoalReport test_goals(const ActionTask& task, const State& state);
// None of them reached: nothing was executed.
std::vector<GoalScore> untested_goals(const ActionTask& task);
// "2 of 5 goal conditions do not hold; the first is (open jar_0)"
std::string missing_goals(const std::vector<GoalScore>& goals);

// Which of several answers to a task counts.
enum class Repeated : std::uint8_t { kFirst, kLast };

// Where answers are looked up by the task's identifier.
class Answers {
 public:
  // `responses` must outlive the object.
  Answers(const std::vector<Response>& responses, Repeated repeated);
  // The answer to `id`, or else the first one whose identifier contains `piece` where that is not empty; nullptr when
  // there is none.
  const Response* take(const std::string& id, const std::string& piece = {});
  // Identifiers of answers that nobody took, in their order.
  std::vector<std::string> left() const;

 private:
  const std::vector<Response>* responses_;
  std::map<std::string, std::size_t> index_;
  std::set<std::size_t> left_;
};

// Fills the totals of `score` and the share of goal conditions that hold.
void finish_score(Score& score, const Answers& answers);

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_GOAL_REPORT_H_
