#include "benchmarks/score.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace metactrl::benchmarks {

TaskScore answered(const std::string& identifier, const std::string& title) {
  TaskScore score;
  score.identifier = identifier;
  score.title = title;
  score.answered = true;
  return score;
}

TaskScore unanswered(const std::string& identifier, const std::string& title) {
  TaskScore score = answered(identifier, title);
  score.answered = false;
  score.verdict = "unanswered";
  score.reason = "there is no answer";
  return score;
}

void summarize(Score& score) {
  score.n = 0;
  score.n_all = score.tasks.size();
  score.equal_to_gold = 0;
  score.errors.clear();
  double successes = 0;
  double executables = 0;
  for (const TaskScore& task : score.tasks) {
    if (!task.scored) continue;
    ++score.n;
    successes += task.success;
    executables += task.executable ? 1 : 0;
    if (task.equals_gold && task.executable && task.success == 0) ++score.equal_to_gold;
    for (const auto& [error, count] : task.errors) score.errors[error] += count;
  }
  const double n = static_cast<double>(score.n);
  score.task_success = score.n == 0 ? 0 : 100 * successes / n;
  score.execution_success = score.n == 0 ? 0 : 100 * executables / n;
}

void leave_out_unanswered(Score& score) {
  const auto missing = [](const TaskScore& task) { return task.scored && !task.answered; };
  const auto count = static_cast<std::size_t>(std::count_if(score.tasks.begin(), score.tasks.end(), missing));
  if (count == 0 || count == score.n) return;
  for (TaskScore& task : score.tasks) task.scored = task.scored && task.answered;
  score.rates.clear();
  score.figures.clear();
  score.unanswered = count;
  summarize(score);
}

// A parameter error comes with the name of a hallucination in one of the evaluators, so it is looked for first.
FormatError format_error(const TaskScore& task) {
  using Name = std::pair<std::string_view, FormatError>;
  constexpr std::array<Name, 7> kNames = {{{"predicate_argument_number", FormatError::kParameter},
                                           {"arguments", FormatError::kParameter},
                                           {"parsing", FormatError::kParsing},
                                           {"NotParseable", FormatError::kParsing},
                                           {"hallucination", FormatError::kHallucination},
                                           {"hullucination", FormatError::kHallucination},
                                           {"Hallucination", FormatError::kHallucination}}};
  for (const auto& [name, error] : kNames) {
    if (task.errors.contains(std::string(name))) return error;
  }
  return FormatError::kNone;
}

std::map<FormatError, FormatErrorCount> count_format_errors(const Score& score,
                                                            const std::set<std::string>& keep_to_prompt) {
  std::map<FormatError, FormatErrorCount> out = {
      {FormatError::kParsing, {}}, {FormatError::kHallucination, {}}, {FormatError::kParameter, {}}};
  for (const TaskScore& task : score.tasks) {
    const auto count = out.find(format_error(task));
    if (!task.scored || count == out.end()) continue;
    ++count->second.total;
    if (keep_to_prompt.contains(task.identifier)) ++count->second.benchmark_side;
  }
  return out;
}

void GoalCounts::add(const GoalCounts& other) {
  node += other.node;
  edge += other.edge;
  action += other.action;
}

void set_goal_rates(const GoalCounts& reached, const GoalCounts& wanted, Score& score) {
  const auto rate = [&](const char* name, double part, double whole) {
    if (whole > 0) score.rates[name] = 100 * part / whole;
  };
  rate("node_goals", reached.node, wanted.node);
  rate("edge_goals", reached.edge, wanted.edge);
  rate("action_goals", reached.action, wanted.action);
  rate("all_goals", reached.all(), wanted.all());
}

}  // namespace metactrl::benchmarks
