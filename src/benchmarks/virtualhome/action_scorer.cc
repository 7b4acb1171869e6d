// The pipeline of the official evaluator: read the answer (parsing), check names (hallucination) and numbers of
// arguments (parameter), compare with gold, execute up to the first fatal error, check the goals in the state reached.
#include "benchmarks/virtualhome/action_scorer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "benchmarks/python_text.h"
#include "metactrl/error.h"
#include "support/words.h"

namespace metactrl::benchmarks {
namespace virtualhome {
namespace {

// More action goals than this are tried in sorted order only: the number of orders is the factorial.
constexpr std::size_t kMaxPermutedGoals = 6;
constexpr std::size_t kMaxQuoted = 60;

std::string shown(std::string_view text) { return internal::in_quotes(text, kMaxQuoted); }

struct Entry {
  std::string key;
  std::vector<PythonValue> list;
};

// All matches of "(\w+)"\s*:\s*(\[[^\]]+\]). Nothing, and the offending list, where one is not JSON.
std::optional<std::vector<Entry>> find_entries(std::string_view text, std::string& offending) {
  std::vector<Entry> entries;
  std::size_t at = 0;
  while ((at = text.find('"', at)) != std::string_view::npos) {
    const std::size_t word = at + 1;
    ++at;
    const std::size_t end = skip_word(text, word);
    if (end == word || end == text.size() || text[end] != '"') continue;
    const std::size_t colon = skip_spaces(text, end + 1);
    if (colon == text.size() || text[colon] != ':') continue;
    const std::size_t open = skip_spaces(text, colon + 1);
    if (open == text.size() || text[open] != '[') continue;
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) break;
    if (close == open + 1) continue;
    const std::string_view list = text.substr(open, close + 1 - open);
    std::optional<PythonValue> value = python_json(list);
    if (!value) {
      offending = list;
      return std::nullopt;
    }
    entries.push_back({std::string(text.substr(word, end - word)), std::move(value->items)});
    at = close + 1;
  }
  return entries;
}

std::string clean_output(std::string_view output) {
  if (output.starts_with("```json")) output.remove_prefix(7);
  std::string text(python_strip(output));
  std::erase(text, '\n');
  std::replace(text.begin(), text.end(), '\'', '"');
  return squeeze_spaces(python_strip(text));
}

ActionAnswer rejected(std::string verdict, std::string reason) {
  ActionAnswer answer;
  answer.verdict = std::move(verdict);
  answer.reason = std::move(reason);
  return answer;
}

// How many of `goals`, in this order, are found one behind the other.
std::size_t count_action_goals(const std::vector<std::string>& goals, std::string_view executed) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    bool found = false;
    for (const std::string_view one : split(goals[i], "|")) {
      std::string option = internal::upper_case(one);
      std::erase(option, ' ');
      const std::size_t place = executed.find(option, from);
      found = place != std::string_view::npos;
      if (!found) continue;
      from = place + option.size();
      break;
    }
    if (!found) return i;
  }
  return goals.size();
}

struct ActionGoals {
  double matched = 0;         // mean over the orders
  double success = 0;         // in which part of the orders all are found
  std::vector<bool> reached;  // found in some order, by position in the task
};

ActionGoals check_action_goals(const std::vector<std::string>& goals, std::string_view executed,
                               ActionGoalOrder order) {
  ActionGoals result;
  result.reached.assign(goals.size(), false);
  std::vector<std::string> sorted = goals;
  std::sort(sorted.begin(), sorted.end());
  const bool one_order = order == ActionGoalOrder::kSorted || goals.size() > kMaxPermutedGoals;
  std::size_t orders = 0;
  do {
    ++orders;
    const std::size_t count = count_action_goals(sorted, executed);
    result.matched += static_cast<double>(count);
    result.success += count == goals.size() ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto place = std::find(goals.begin(), goals.end(), sorted[i]) - goals.begin();
      result.reached[static_cast<std::size_t>(place)] = true;
    }
  } while (!one_order && std::next_permutation(sorted.begin(), sorted.end()));
  result.matched /= static_cast<double>(orders);
  result.success /= static_cast<double>(orders);
  return result;
}

}  // namespace

ActionAnswer read_action_answer(std::string_view output, const std::map<std::string, int>& objects,
                                const AnswerWords& words) {
  const std::string text = clean_output(output);
  std::string offending;
  const std::optional<std::vector<Entry>> entries = find_entries(text, offending);
  if (!entries) {
    ActionAnswer answer = rejected("parsing", str_cat("the list ", shown(offending), " is not JSON"));
    answer.is_json = false;
    return answer;
  }
  if (entries->empty()) return rejected("parsing", "the answer has no action of the form \"NAME\": [...]");
  for (const Entry& entry : *entries) {
    if (entry.list.size() % 2 != 0) {
      return rejected("parsing",
                      str_cat("the list of ", shown(entry.key), " does not consist of names and ids in turn"));
    }
  }
  for (const Entry& entry : *entries) {
    if (!accepted_arity(internal::upper_case(entry.key))) {
      return rejected("hallucination", str_cat("there is no action ", shown(entry.key)));
    }
  }
  const auto find_object = [&](const Entry& entry, std::size_t i) {
    return objects.find(str_cat(entry.list[i].text, "_", entry.list[i + 1].text));
  };
  for (const Entry& entry : *entries) {
    for (std::size_t i = 0; i < entry.list.size(); i += 2) {
      if (find_object(entry, i) != objects.end()) continue;
      return rejected("hallucination", str_cat(words.no_object, shown(entry.list[i].text), " with the id ",
                                               shown(entry.list[i + 1].text)));
    }
  }
  ActionAnswer answer;
  answer.verdict = "run";
  for (const Entry& entry : *entries) {
    const std::optional<std::size_t> arity = accepted_arity(entry.key);
    if (!arity) {
      return rejected("crash", str_cat(words.small_letters, shown(entry.key), ", which is not in capitals"));
    }
    if (entry.list.size() / 2 != *arity) {
      return rejected("parameter", str_cat(entry.key, " has ", entry.list.size() / 2, " objects instead of ", *arity));
    }
    Action& action = answer.plan.emplace_back();
    action.name = entry.key;
    for (std::size_t i = 0; i < entry.list.size(); i += 2) {
      action.arguments.push_back({entry.list[i].text, find_object(entry, i)->second});
    }
  }
  return answer;
}

ActionScorer::ActionScorer(const std::string& tasks_file, const std::string& scenes_folder)
    : scenes_(scenes_folder), tasks_(read_action_tasks(tasks_file)) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const ActionTask& task = tasks_[i];
    index_[task.id] = i;
    const Scene scene = scenes_.scene(task.household, task.graph);
    const auto need = [&](int id, const char* field) {
      if (scene.contains(id)) return;
      Diagnostics diagnostics;
      diagnostics.error(
          {tasks_file, static_cast<std::uint32_t>(task.line), 0},
          str_cat("'", field, "' names the object ", id, ", which is not in the scene of task '", task.id, "'"));
      throw InputError(std::move(diagnostics));
    };
    for (const auto& [key, id] : task.objects) need(id, "objects");
    for (const NodeGoal& goal : task.node_goals) need(goal.id, "node_goals");
    for (const SceneEdge& goal : task.edge_goals) {
      need(goal.from, "edge_goals");
      need(goal.to, "edge_goals");
    }
  }
}

void ActionScorer::run(const ActionTask& task, const std::vector<Action>& plan, const Scene& scene,
                       ActionGoalOrder order, TaskScore& score, GoalCounts& matched) {
  Executor executor(scene);
  score.executable = true;
  std::string executed;
  for (const Action& action : plan) {
    const StepResult result = executor.execute(action);
    const std::string outcome(outcome_name(result.outcome));
    score.steps.push_back({to_text(action), outcome, result.reason});
    if (result.outcome == Outcome::kOk) {
      if (!executed.empty()) executed += ' ';
      executed += to_script(action);
      continue;
    }
    ++score.errors[outcome];
    if (result.outcome == Outcome::kAdditionalStep) continue;
    score.executable = false;
    score.reason = str_cat("step ", score.steps.size(), ", ", to_text(action), ": ", outcome, ": ", result.reason);
    if (result.outcome == Outcome::kCrash) score.verdict = "crash";
    break;
  }

  const World& world = executor.world();
  std::vector<std::string> missed;
  const auto add_goal = [&](std::string goal, bool reached) {
    if (!reached) missed.push_back(goal);
    score.goals.push_back({std::move(goal), reached});
    return reached ? 1 : 0;
  };
  for (const NodeGoal& goal : task.node_goals) {
    matched.node += add_goal(str_cat(describe(scene.node(goal.id)), " is ", state_name(goal.state)),
                             world.has_state(goal.id, goal.state));
  }
  for (const SceneEdge& goal : task.edge_goals) {
    const int reached = add_goal(str_cat(describe(scene.node(goal.from)), " is ", relation_name(goal.relation), " ",
                                         describe(scene.node(goal.to))),
                                 world.has_edge_now(goal.from, goal.relation, goal.to));
    matched.edge = std::max<double>(matched.edge, reached);
  }
  const ActionGoals actions = check_action_goals(task.action_goals, executed, order);
  matched.action = actions.matched;
  for (std::size_t i = 0; i < task.action_goals.size(); ++i) add_goal(task.action_goals[i], actions.reached[i]);

  if (score.verdict == "crash") return;
  const bool states_hold = matched.node == static_cast<double>(task.node_goals.size()) &&
                           matched.edge == static_cast<double>(task.edge_goals.size());
  score.success = states_hold ? actions.success : 0;
  if (score.success == 1) {
    score.reason.clear();
  } else if (score.executable && !missed.empty()) {
    score.reason = str_cat("not reached: ", join(missed, "; "));
  } else if (score.executable) {
    score.reason = str_cat("the actions ", join(task.action_goals, ", "), " do not appear in every order");
  }
}

TaskScore ActionScorer::score_task(const ActionTask& task, std::string_view output, ActionGoalOrder order,
                                   GoalCounts& matched) const {
  TaskScore score = answered(task.id, task.title);
  score.scored = task.scored;
  ActionAnswer answer = read_action_answer(output, task.objects);
  score.verdict = answer.verdict;
  score.reason = answer.reason;
  if (answer.verdict == "parsing") {
    score.errors["parsing"] = answer.is_json ? 1 : 2;
  } else if (answer.verdict == "parameter") {
    score.errors["predicate_argument_number"] = 1;
  } else if (answer.verdict != "run") {
    score.errors[answer.verdict] = 1;
  } else {
    std::vector<std::string> script;
    script.reserve(answer.plan.size());
    for (const Action& action : answer.plan) script.push_back(to_script(action));
    score.equals_gold = script == task.gold;
    GoalCounts reached;
    run(task, answer.plan, scenes_.scene(task.household, task.graph), order, score, reached);
    if (score.equals_gold) {
      score.verdict = "gold_equal";
      score.executable = true;
      score.success = 0;
      score.errors.clear();
      score.reason = "the plan is the reference plan word for word, which the evaluator does not count as a success";
    } else if (score.verdict == "run") {
      matched = reached;
    }
  }
  if (!task.scored) {
    matched = {};
    score.verdict = "excluded";
    score.executable = false;
    score.success = 0;
    score.errors.clear();
    score.reason = "the evaluator leaves this task out: it has more than one edge goal";
  }
  return score;
}

TaskScore ActionScorer::score(const std::string& identifier, std::string_view output, ActionGoalOrder order) const {
  GoalCounts matched;
  return score_task(tasks_[index_.at(identifier)], output, order, matched);
}

Score ActionScorer::score(const std::vector<Response>& responses, ActionGoalOrder order) const {
  GoalCounts reached;
  GoalCounts wanted;
  Score score = score_last_answers(tasks_, responses, [&](std::size_t i, const std::string* output) {
    const ActionTask& task = tasks_[i];
    if (task.scored) {
      wanted.add({static_cast<double>(task.node_goals.size()), static_cast<double>(task.edge_goals.size()),
                  static_cast<double>(task.action_goals.size())});
    }
    if (output == nullptr) {
      TaskScore empty = unanswered(task.id, task.title);
      empty.scored = task.scored;
      if (!task.scored) empty.verdict = "excluded";
      return empty;
    }
    GoalCounts matched;
    TaskScore one = score_task(task, *output, order, matched);
    reached.add(matched);
    return one;
  });
  set_goal_rates(reached, wanted, score);
  return score;
}

}  // namespace virtualhome

Score score_virtualhome_actions(const std::string& tasks_file, const std::string& scenes_folder,
                                const std::vector<Response>& responses) {
  return virtualhome::ActionScorer(tasks_file, scenes_folder).score(responses);
}

}  // namespace metactrl::benchmarks
