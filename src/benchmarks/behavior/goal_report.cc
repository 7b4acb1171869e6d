#include "benchmarks/behavior/goal_report.h"

#include <algorithm>
#include <cstddef>

#include "support/words.h"

namespace metactrl::benchmarks::behavior {

GoalReport test_goals(const ActionTask& task, const State& state) {
  GoalReport report{untested_goals(task), true, goal_test_crashes(task.scene, state)};
  for (std::size_t i = 0; i < task.goals.size() && !report.crash; ++i) {
    const GoalTruth truth = goal_truth(task.scene, state, task.goals[i].options);
    report.goals[i].reached = truth == GoalTruth::kTrue;
    report.crash = truth == GoalTruth::kCrash;
    report.all &= report.goals[i].reached;
  }
  if (report.crash) report.all = false;
  return report;
}

std::vector<GoalScore> untested_goals(const ActionTask& task) {
  std::vector<GoalScore> goals;
  for (const GoalCondition& condition : task.goals) goals.push_back({condition.text, false});
  return goals;
}

std::string missing_goals(const std::vector<GoalScore>& goals) {
  const auto open = std::count_if(goals.begin(), goals.end(), [](const GoalScore& goal) { return !goal.reached; });
  const auto first = std::find_if(goals.begin(), goals.end(), [](const GoalScore& goal) { return !goal.reached; });
  if (first == goals.end()) return {};
  return str_cat(open, " of ", goals.size(), " goal conditions do not hold; the first is ", first->goal);
}

Answers::Answers(const std::vector<Response>& responses, Repeated repeated) : responses_(&responses) {
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const auto [place, added] = index_.emplace(responses[i].identifier, i);
    if (!added && repeated == Repeated::kLast) place->second = i;
  }
  for (const auto& [identifier, index] : index_) left_.insert(index);
}

const Response* Answers::take(const std::string& id, const std::string& piece) {
  std::size_t index = responses_->size();
  if (const auto found = index_.find(id); found != index_.end()) {
    index = found->second;
  } else if (!piece.empty()) {
    const auto match = std::find_if(responses_->begin(), responses_->end(), [&](const Response& response) {
      return response.identifier.find(piece) != std::string::npos;
    });
    index = static_cast<std::size_t>(match - responses_->begin());
  }
  if (index == responses_->size()) return nullptr;
  left_.erase(index);
  return &(*responses_)[index];
}

std::vector<std::string> Answers::left() const {
  std::vector<std::string> identifiers;
  for (const std::size_t index : left_) identifiers.push_back((*responses_)[index].identifier);
  return identifiers;
}

void finish_score(Score& score, const Answers& answers) {
  score.strangers = answers.left();
  std::erase_if(score.strangers, [&](const std::string& identifier) {  // another answer of that task was taken
    return std::any_of(score.tasks.begin(), score.tasks.end(),
                       [&](const TaskScore& task) { return task.identifier == identifier; });
  });
  summarize(score);
  std::size_t total = 0;
  std::size_t reached = 0;
  for (const TaskScore& task : score.tasks) {
    total += task.goals.size();
    reached += static_cast<std::size_t>(
        std::count_if(task.goals.begin(), task.goals.end(), [](const GoalScore& goal) { return goal.reached; }));
  }
  score.rates["goal_conditions"] = total == 0 ? 0 : 100.0 * static_cast<double>(reached) / static_cast<double>(total);
}

}  // namespace metactrl::benchmarks::behavior
