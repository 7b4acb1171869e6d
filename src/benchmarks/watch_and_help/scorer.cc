// Read the answer, check names and numbers of arguments, execute up to the first failure, judge.
#include "benchmarks/watch_and_help/scorer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "benchmarks/prompt_lines.h"
#include "benchmarks/virtualhome/action_scorer.h"
#include "benchmarks/watch_and_help/executor.h"
#include "support/list_some.h"
#include "support/words.h"

namespace metactrl::benchmarks {
namespace watch_and_help {

namespace {

// The plan of an answer, or why there is none.
virtualhome::ActionAnswer read_plan(const HelpTask& task, std::string_view text) {
  virtualhome::ActionAnswer answer;
  answer.verdict = "run";
  if (trim(text) == "{}") return answer;
  std::map<std::string, int> things;
  for (const SceneNode& node : task.scene->nodes()) {
    if (node.id != task.scene->character()) things.emplace(str_cat(node.name, "_", node.id), node.id);
  }
  answer = virtualhome::read_action_answer(text, things, {"the apartment has no ", "there is no action "});
  // Here nothing stops on a name in small letters: it is one that the benchmark does not have.
  if (answer.verdict == "crash") answer.verdict = "hallucination";
  if (answer.verdict != "run") return answer;
  for (const virtualhome::Action& action : answer.plan) {
    if (arity(action.name)) continue;
    answer.verdict = "hallucination";
    answer.reason = str_cat("there is no action ", action.name, " in this benchmark");
    return answer;
  }
  return answer;
}

void judge_goal(const HelpTask& task, const GoalView& view, TaskScore& score) {
  const Judgement judgement = judge(task.goal, *task.scene, view);
  std::vector<std::string> missed;
  for (std::size_t i = 0; i < task.goal.size(); ++i) {
    score.goals.push_back({to_text(task.goal[i]), judgement.reached[i]});
    if (!judgement.reached[i]) missed.push_back(score.goals.back().goal);
  }
  score.success = missed.empty() ? 1 : 0;
  if (score.reason.empty() && !missed.empty()) score.reason = str_cat("not reached: ", internal::list_some(missed));
}

double share_reached(const TaskScore& task) {
  const auto reached =
      std::count_if(task.goals.begin(), task.goals.end(), [](const GoalScore& goal) { return goal.reached; });
  return task.goals.empty() ? 1 : static_cast<double>(reached) / static_cast<double>(task.goals.size());
}

// How many lines two goals have in common.
std::size_t common(const std::vector<GoalLine>& a, const std::vector<GoalLine>& b) {
  std::multiset<GoalLine> rest(b.begin(), b.end());
  std::size_t count = 0;
  for (const GoalLine& line : a) {
    const auto found = rest.find(line);
    if (found == rest.end()) continue;
    rest.erase(found);
    ++count;
  }
  return count;
}

// What was written of the goals, over all tasks.
struct Written {
  bool any = false;
  std::size_t lines = 0;
  std::size_t right = 0;
  std::size_t wanted = 0;
  std::size_t exact = 0;

  void add(const HelpTask& task, const std::optional<std::vector<GoalLine>>& goal) {
    wanted += task.goal.size();
    if (!goal) return;
    any = true;
    const std::size_t both = common(*goal, task.goal);
    lines += goal->size();
    right += both;
    exact += both == goal->size() && both == task.goal.size() ? 1 : 0;
  }
};

double ratio(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

TaskScore score_answer(const HelpTask& task, const std::string& output) {
  TaskScore score = answered(task.id, task.family);
  std::string_view text = output;
  read_goal(output, text);  // moves `text` behind the goal, where there is one
  const virtualhome::ActionAnswer answer = read_plan(task, text);
  Executor executor(*task.scene);
  if (answer.verdict != "run") {
    score.verdict = answer.verdict;
    score.reason = answer.reason;
    score.errors[answer.verdict] = 1;
    judge_goal(task, executor.view(), score);
    return score;
  }
  score.executable = true;
  score.verdict = "executed";
  for (const virtualhome::Action& action : answer.plan) {
    const std::optional<Failure> failure = executor.execute(action);
    score.steps.push_back({to_text(action), failure ? failure->rule : "ok", failure ? failure->reason : ""});
    if (!failure) continue;
    score.executable = false;
    score.verdict = str_cat("failed at ", action.name);
    score.errors[str_cat(action.name, ": ", failure->rule)] = 1;
    score.reason = str_cat("step ", score.steps.size(), ", ", to_text(action), ": ", failure->reason);
    break;
  }
  judge_goal(task, executor.view(), score);
  return score;
}

Score score(const std::vector<HelpTask>& tasks, const std::vector<Response>& responses) {
  double reached = 0;
  double at_first = 0;
  std::size_t solved_at_first = 0;
  Written written;
  Score result = score_last_answers(tasks, responses, [&](std::size_t i, const std::string* output) {
    const HelpTask& task = tasks[i];
    const Judgement first = judge(task.goal, *task.scene, initial_view(*task.scene));
    at_first += ratio(first.count(), task.goal.size());
    solved_at_first += first.all() ? 1 : 0;
    std::string_view rest;
    written.add(task, output == nullptr ? std::nullopt : read_goal(*output, rest));
    TaskScore score = output == nullptr ? unanswered(task.id, task.family) : score_answer(task, *output);
    if (output == nullptr) {
      judge_goal(task, initial_view(*task.scene), score);
      score.success = 0;
    }
    reached += share_reached(score);
    return score;
  });
  for (const std::string_view action : {"WALK", "GRAB", "OPEN", "CLOSE", "SWITCHON", "PUTIN", "PUTBACK"}) {
    result.first_failures.emplace(action, 0);
  }
  for (const TaskScore& score : result.tasks) {
    constexpr std::string_view kFailed = "failed at ";
    if (score.verdict.starts_with(kFailed)) ++result.first_failures[score.verdict.substr(kFailed.size())];
  }
  const double n = std::max(1.0, static_cast<double>(tasks.size()));
  result.figures = {{"sr", result.task_success / 100},
                    {"ssr", reached / n},
                    {"exec", result.execution_success / 100},
                    {"do_nothing_sr", static_cast<double>(solved_at_first) / n},
                    {"do_nothing_ssr", at_first / n}};
  if (written.any) {
    result.figures.emplace_back("goal_precision", ratio(written.right, written.lines));
    result.figures.emplace_back("goal_recall", ratio(written.right, written.wanted));
    result.figures.emplace_back("goal_exact", ratio(written.exact, tasks.size()));
  }
  return result;
}

}  // namespace watch_and_help

Score score_watch_and_help(const std::string& tasks_file, const std::string& scenes_folder,
                           const std::vector<Response>& responses) {
  return watch_and_help::score(watch_and_help::read_tasks(tasks_file, scenes_folder), responses);
}

}  // namespace metactrl::benchmarks
