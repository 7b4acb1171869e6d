// What a scorer says about the answers to a benchmark.
//
// A scorer reads task files and answers and executes the answers by the rules of the benchmark's own evaluator. It
// shares nothing with the constraint (no PDDL, no lookahead): a mistake in one of them shows up as a disagreement.
#ifndef METACTRL_SRC_BENCHMARKS_SCORE_H_
#define METACTRL_SRC_BENCHMARKS_SCORE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace metactrl::benchmarks {

// One line of the benchmark's answer file.
struct Response {
  std::string identifier;
  std::string output;
};

// One step of an answer as the evaluator saw it.
struct StepScore {
  std::string action;   // as the answer writes it, e.g. "WALK soap 1002"
  std::string outcome;  // "ok", or the error class
  std::string reason;   // for a person; empty when ok
};

// A goal as the task writes it, and whether the answer reached it.
struct GoalScore {
  std::string goal;
  bool reached = false;
};

struct TaskScore {
  std::string identifier;
  std::string title;      // what the task is called, for people
  bool answered = false;  // the answer file has this task
  // Which of the responses was judged, where a scorer was given several for one task.
  std::optional<std::size_t> response;
  bool scored = true;   // false: the official evaluator leaves the task out
  std::string verdict;  // the evaluator's class for the whole answer, e.g. "Correct", "parsing"
  bool executable = false;
  // 1 or 0; between them only where the evaluator depends on an order it does not fix, and then the mean over the
  // orders.
  double success = 0;
  bool equals_gold = false;  // the answer is the reference plan, word for word
  // error class -> how often, in the evaluator's names.
  std::map<std::string, int> errors;
  std::vector<StepScore> steps;
  std::vector<GoalScore> goals;
  std::string reason;  // why it failed, one sentence; empty for a success
};

struct Score {
  std::vector<TaskScore> tasks;        // in the order of the task file
  std::vector<std::string> strangers;  // identifiers of answers to which there is no task

  // Over the scored tasks; an unanswered task is a failure.
  std::size_t n = 0;
  std::size_t n_all = 0;
  double task_success = 0;       // percent
  double execution_success = 0;  // percent
  std::map<std::string, int> errors;
  // In how many scored tasks an answer that equals gold was counted as executable and not successful.
  std::size_t equal_to_gold = 0;
  // Further numbers of the benchmark, in percent, e.g. {"node_goals", 97.2}.
  std::map<std::string, double> rates;
  // Numbers between 0 and 1 by the names that the benchmark's papers use, in their order, e.g. {"ssr", 0.705}.
  std::vector<std::pair<std::string, double>> figures;
  // Action -> in how many answers it was the first to fail, for benchmarks that stop there.
  std::map<std::string, int> first_failures;
};

// Fills the totals from `tasks`.
void summarize(Score& score);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_SCORE_H_
