// What a scorer says about the answers to a benchmark.
//
// A scorer reads task files and answers and executes the answers by the rules of the benchmark's own evaluator. It
// shares nothing with the constraint (no PDDL, no lookahead): a mistake in one of them shows up as a disagreement.
#ifndef METACTRL_SRC_BENCHMARKS_SCORE_H_
#define METACTRL_SRC_BENCHMARKS_SCORE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/enum_names.h"

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
  // Tasks that leave_out_unanswered() took out of the count.
  std::size_t unanswered = 0;
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

// The score of a task before anything is known of its answer, and of a task without one.
TaskScore answered(const std::string& identifier, const std::string& title);
TaskScore unanswered(const std::string& identifier, const std::string& title);

// Fills the totals from `tasks`.
void summarize(Score& score);

// A run that is not complete is judged by the tasks that it answered. What the benchmark counts besides, over the goals
// of all its tasks, would not be true of them, and is left out. Changes nothing when no task has an answer: that is a run
// that failed.
void leave_out_unanswered(Score& score);

// Scores the last answer to each task: judge(i, output) does so for task i, with a null output where it has none.
template <typename Task, typename Judge>
Score score_last_answers(const std::vector<Task>& tasks, const std::vector<Response>& responses, const Judge& judge) {
  Score score;
  std::map<std::string, const Response*> answers;
  for (const Task& task : tasks) answers.emplace(task.id, nullptr);
  for (const Response& response : responses) {
    const auto found = answers.find(response.identifier);
    if (found == answers.end()) {
      score.strangers.push_back(response.identifier);
    } else {
      found->second = &response;
    }
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Response* answer = answers.at(tasks[i].id);
    score.tasks.push_back(judge(i, answer == nullptr ? nullptr : &answer->output));
    if (answer != nullptr) score.tasks.back().response = static_cast<std::size_t>(answer - responses.data());
  }
  summarize(score);
  return score;
}

// Goals of the kinds that VirtualHome has, as its evaluator counts them.
struct GoalCounts {
  double node = 0;
  double edge = 0;
  double action = 0;

  double all() const { return node + edge + action; }
  void add(const GoalCounts& other);
};
// The rates node_goals, edge_goals, action_goals and all_goals, where there are any.
void set_goal_rates(const GoalCounts& reached, const GoalCounts& wanted, Score& score);

// Answers that the evaluator does not even execute, in the three classes of the paper's appendix. Each benchmark has
// names of its own for them.
enum class FormatError { kNone, kParsing, kHallucination, kParameter };
constexpr auto enum_names(FormatError) {
  return internal::names<FormatError>({{FormatError::kNone, ""},
                                       {FormatError::kParsing, "parsing"},
                                       {FormatError::kHallucination, "hallucination"},
                                       {FormatError::kParameter, "parameter"}});
}
inline const char* to_string(FormatError value) { return internal::name_of(value); }

FormatError format_error(const TaskScore& task);

struct FormatErrorCount {
  std::size_t total = 0;  // scored tasks
  // Of them: an answer that keeps to the grammar and the vocabulary that its prompt states, and is rejected all the same:
  // a goal that the evaluator cannot read, an action that it does not take, an object that it renames.
  std::size_t benchmark_side = 0;
};

// Of each class. `keep_to_prompt` holds the identifiers of answers that do (prompt_language.h).
std::map<FormatError, FormatErrorCount> count_format_errors(const Score& score,
                                                            const std::set<std::string>& keep_to_prompt);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_SCORE_H_
