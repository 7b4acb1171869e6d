// The pipeline of the official evaluator: find the JSON object and its list, join the elements to a formula, check
// names (Hallucination), then search for a way to execute it (subgoal_search.h). Any exception is NotParseable.
#include "benchmarks/virtualhome/subgoal_scorer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "benchmarks/python_text.h"
#include "benchmarks/virtualhome/subgoal_search.h"
#include "metactrl/error.h"
#include "support/words.h"

namespace metactrl::benchmarks {
namespace virtualhome {
namespace {

// How many combinations of choices are evaluated, and how many actions these may take.
constexpr std::size_t kMaxCombinations = 64;
constexpr std::size_t kMaxCombinedSteps = 100'000;

// \w+\(.*?\) matches somewhere.
bool looks_like_atom(std::string_view text) {
  for (std::size_t open = text.find('('); open != std::string_view::npos;) {
    if (open > 0 && is_word_character(character_before(text, open).code)) {
      const std::size_t end = text.find_first_of(")\n", open + 1);
      if (end == std::string_view::npos) return false;
      if (text[end] == ')') return true;
    }
    open = text.find('(', open + 1);
  }
  return false;
}

std::string join_plan(const std::vector<std::string>& elements, Choices& choices) {
  std::string plan;
  bool first = true;
  const auto add = [&](std::string_view part) {
    if (!std::exchange(first, false)) plan += " then ";
    plan += part;
  };
  for (const std::string& element : elements) {
    if (element == "SLEEP" || element == "WAKEUP" || element == "STANDUP") {
      add(element + "()");
    } else if (looks_like_atom(element)) {
      const std::vector<std::string_view> parts = split(element, " or ");
      add(parts[choices.pick(parts.size())]);
    }
  }
  return plan;
}

// What the evaluator finds wrong with names and numbers of arguments.
struct SemanticCheck {
  bool exception = false;
  std::string wrong_arity;
  std::string unknown_object;
};

void check_names(const Formula& formula, std::vector<std::string>& variables, const Scene& scene,
                 SemanticCheck& check) {
  using Kind = Formula::Kind;
  if (formula.kind == Kind::kAtom) {
    if (check.wrong_arity.empty() && formula.arguments.size() != atom_arity(formula.name)) {
      check.wrong_arity = str_cat(to_string(formula), " has ", formula.arguments.size(), " arguments instead of ",
                                  atom_arity(formula.name));
    }
    for (const std::string& argument : formula.arguments) {
      if (std::find(variables.begin(), variables.end(), argument) != variables.end()) continue;
      const ObjectName object = split_object(argument);
      const auto has_name = [&](const SceneNode& node) { return node.name == object.name; };
      const bool known = object.numbered ? object.id && scene.contains(*object.id) && has_name(scene.node(*object.id))
                                         : std::any_of(scene.nodes().begin(), scene.nodes().end(), has_name);
      if (object.too_long) check.exception = true;
      if (!known && check.unknown_object.empty()) check.unknown_object = str_cat("there is no object '", argument, "'");
    }
    return;
  }
  const bool quantifier =
      formula.kind == Kind::kForall || formula.kind == Kind::kExists || formula.kind == Kind::kForNumber;
  if (quantifier) variables.push_back(formula.name);
  for (const Formula& part : formula.parts) check_names(part, variables, scene, check);
  if (quantifier) variables.pop_back();
}

// False where the evaluator fails with an exception.
bool flatten(const Formula& formula, Choices& choices, std::vector<Subgoal>& subgoals) {
  using Kind = Formula::Kind;
  switch (formula.kind) {
    case Kind::kAtom:
      subgoals.push_back({formula, false});
      return true;
    case Kind::kThen:
    case Kind::kAnd:
      return std::all_of(formula.parts.begin(), formula.parts.end(),
                         [&](const Formula& part) { return flatten(part, choices, subgoals); });
    case Kind::kOr:
      return flatten(formula.parts[choices.pick(formula.parts.size())], choices, subgoals);
    case Kind::kNot: {
      const Formula* inner = &formula;
      bool odd = false;
      for (; inner->kind == Kind::kNot; inner = &inner->parts.front()) odd = !odd;
      if (inner->kind != Kind::kAtom || !odd) return false;
      subgoals.push_back({*inner, true});
      return true;
    }
    default:
      return false;
  }
}

void reject(TaskScore& score, const char* verdict, const char* error, std::string reason) {
  score.verdict = verdict;
  score.errors[error] = 1;
  score.reason = std::move(reason);
}

void not_parseable(TaskScore& score, std::string reason) {
  reject(score, "NotParseable", "parsing", std::move(reason));
}

// How many action goals, from the first one on, have an action in the plan.
std::size_t count_action_goals(const std::vector<std::string>& goals, const std::vector<Action>& executed) {
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const std::vector<std::string_view> options = split(goals[i], " or ");
    const bool found = std::any_of(options.begin(), options.end(), [&](std::string_view option) {
      return std::any_of(executed.begin(), executed.end(),
                         [&](const Action& action) { return action.name.find(option) != std::string::npos; });
    });
    if (!found) return i;
  }
  return goals.size();
}

}  // namespace

std::optional<std::vector<std::string>> read_subgoal_answer(std::string_view output, std::string& reason) {
  const std::string text = python_replace(python_strip(output), "}}", "}");
  const std::optional<std::string_view> object = innermost_braces(text);
  if (!object) {
    reason = "the answer has no JSON object";
    return std::nullopt;
  }
  const std::optional<PythonValue> value = python_json(*object);
  if (!value) {
    reason = "the answer's object is not JSON";
    return std::nullopt;
  }
  const PythonValue* list = value->find("output");
  if (list == nullptr || list->kind != PythonValue::Kind::kList) {
    reason = "the answer's object has no list \"output\"";
    return std::nullopt;
  }
  std::vector<std::string> elements;
  for (const PythonValue& item : list->items) {
    if (item.kind != PythonValue::Kind::kString) {
      reason = "an element of \"output\" is not a string";
      return std::nullopt;
    }
    std::string element(python_strip(item.text));
    if (!element.empty()) elements.push_back(std::move(element));
  }
  return elements;
}

SubgoalScorer::SubgoalScorer(const std::string& tasks_file, const std::string& scenes_folder)
    : scenes_(scenes_folder), tasks_(read_subgoal_tasks(tasks_file)) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const SubgoalTask& task = tasks_[i];
    index_[task.id] = i;
    const auto fail = [&](const std::string& message) {
      Diagnostics diagnostics;
      diagnostics.error({tasks_file, static_cast<std::uint32_t>(task.line), 0}, message);
      throw InputError(std::move(diagnostics));
    };
    Target& target = targets_.emplace_back();
    const std::optional<Formula> goal = parse_formula(task.goal);
    const std::optional<FormulaProblem> problem = goal ? check_formula(*goal) : std::nullopt;
    if (!goal) {
      fail(str_cat("'tl_goal' is not a formula: '", task.goal, "'"));
    } else if (problem) {
      target.problem = str_cat("the evaluator cannot read the goal of this task: ", problem->reason);
    } else if (!Goal::is_supported(*goal)) {
      fail("'tl_goal' has 'then' inside another operator");
    } else {
      target.goal.emplace(*goal);
    }
    for (const std::string& text : task.goal_states) {
      const std::optional<Formula> atom = parse_formula(text);
      if (!atom || atom->kind != Formula::Kind::kAtom)
        fail(str_cat("'goal_states' has '", text, "', which is no state"));
      target.states.push_back(*atom);
    }
  }
}

void SubgoalScorer::score_once(const SubgoalTask& task, const Target& target, const Scene& scene,
                               const std::vector<std::string>& elements, Choices& choices, TaskScore& score,
                               GoalCounts& matched) {
  const std::optional<Formula> plan = parse_formula(join_plan(elements, choices));
  if (!plan) return not_parseable(score, "the subgoals are not a formula");
  if (const std::optional<FormulaProblem> problem = check_formula(*plan)) {
    if (!problem->unknown_atom) return not_parseable(score, problem->reason);
    return reject(score, "Hallucination", "hallucination", problem->reason);
  }
  SemanticCheck check;
  std::vector<std::string> variables;
  check_names(*plan, variables, scene, check);
  if (check.exception) return not_parseable(score, "an object's number is too long");
  if (!check.wrong_arity.empty()) return reject(score, "Hallucination", "predicate_argument_number", check.wrong_arity);
  if (!check.unknown_object.empty()) return reject(score, "Hallucination", "hallucination", check.unknown_object);
  if (!target.goal) return not_parseable(score, target.problem);
  std::vector<Subgoal> subgoals;
  if (!flatten(*plan, choices, subgoals)) {
    return not_parseable(score, "the official evaluator cannot execute 'not' and quantifiers");
  }

  SearchResult result = search_subgoals(subgoals, *target.goal, scene);
  if (result.verdict == SearchVerdict::kException) return not_parseable(score, result.reason);
  if (result.verdict == SearchVerdict::kEndless) return reject(score, "crash", "crash", result.reason);
  score.steps = std::move(result.steps);
  score.executable = result.verdict != SearchVerdict::kRuntime;
  score.success = result.verdict == SearchVerdict::kCorrect ? 1 : 0;
  if (result.verdict != SearchVerdict::kGoalUnreachable) {
    for (const StepScore& step : score.steps) {
      if (step.outcome != "ok") ++score.errors[step.outcome];
    }
    const auto additional = score.errors.find(std::string(outcome_name(Outcome::kAdditionalStep)));
    if (additional != score.errors.end()) additional->second = 1;
  }

  std::vector<std::string> missed;
  const auto add_goal = [&](const std::string& goal, bool reached) {
    if (!reached) missed.push_back(goal);
    score.goals.push_back({goal, reached});
  };
  for (std::size_t i = 0; i < target.states.size(); ++i) {
    const bool holds = holds_now(target.states[i], *result.end);
    add_goal(task.goal_states[i], holds);
    if (holds) ++(target.states[i].arguments.size() == 1 ? matched.node : matched.edge);
  }
  const std::size_t actions = count_action_goals(task.goal_actions, result.executed);
  for (std::size_t i = 0; i < task.goal_actions.size(); ++i) add_goal(task.goal_actions[i], i < actions);
  matched.action = static_cast<double>(actions);

  if (result.verdict == SearchVerdict::kCorrect) {
    score.verdict = "Correct";
  } else if (result.verdict == SearchVerdict::kGoalUnreachable) {
    score.verdict = "GoalUnreachable";
    score.reason = "the goal does not hold, in its order, anywhere on the way";
    for (std::size_t i = 0; i < missed.size(); ++i)
      score.reason += str_cat(i == 0 ? "; at the end not: " : ", ", missed[i]);
  } else {
    score.verdict = "Runtime";
    const StepScore& last = score.steps.back();
    score.reason = str_cat("step ", score.steps.size(), ", ", last.action, ": ", last.outcome, ": ", last.reason);
  }
}

TaskScore SubgoalScorer::score_task(std::size_t index, std::string_view output, GoalCounts& matched) const {
  const SubgoalTask& task = tasks_[index];
  TaskScore score = answered(task.id, task.title);
  std::string reason;
  const std::optional<std::vector<std::string>> elements = read_subgoal_answer(output, reason);
  if (!elements) {
    not_parseable(score, reason);
    return score;
  }
  const Scene scene = scenes_.scene(task.household, task.graph);
  Choices choices;
  score_once(task, targets_[index], scene, *elements, choices, score, matched);
  const double first = choices.log_probability();
  double weight = 1;
  double success = score.success;
  std::size_t steps = score.steps.size();
  for (std::size_t i = 1; i < kMaxCombinations && steps < kMaxCombinedSteps && choices.next(); ++i) {
    TaskScore other;
    GoalCounts unused;
    score_once(task, targets_[index], scene, *elements, choices, other, unused);
    const double relative = std::exp(choices.log_probability() - first);
    weight += relative;
    success += relative * other.success;
    steps += other.steps.size() + 1;
  }
  const double mean = success / weight;
  if (mean != score.success) {
    score.success = mean;
    score.reason = str_cat("whether it succeeds depends on which part of an 'or' the evaluator picks at random",
                           score.reason.empty() ? "" : "; with the first: ", score.reason);
  }
  return score;
}

TaskScore SubgoalScorer::score(const std::string& identifier, std::string_view output) const {
  GoalCounts matched;
  return score_task(index_.at(identifier), output, matched);
}

Score SubgoalScorer::score(const std::vector<Response>& responses) const {
  GoalCounts reached;
  GoalCounts wanted;
  Score score = score_last_answers(tasks_, responses, [&](std::size_t i, const std::string* output) {
    for (const Formula& state : targets_[i].states) ++(state.arguments.size() == 1 ? wanted.node : wanted.edge);
    wanted.action += static_cast<double>(tasks_[i].goal_actions.size());
    if (output == nullptr) return unanswered(tasks_[i].id, tasks_[i].title);
    GoalCounts matched;
    TaskScore one = score_task(i, *output, matched);
    reached.add(matched);
    return one;
  });
  set_goal_rates(reached, wanted, score);
  return score;
}

}  // namespace virtualhome

Score score_virtualhome_subgoals(const std::string& tasks_file, const std::string& scenes_folder,
                                 const std::vector<Response>& responses) {
  return virtualhome::SubgoalScorer(tasks_file, scenes_folder).score(responses);
}

}  // namespace metactrl::benchmarks
