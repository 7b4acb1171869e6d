// Three passes over a plan, as in the evaluator: read it, check its names and arities as a whole, execute it.
#include "benchmarks/behavior/action_scorer.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "benchmarks/behavior/executor.h"
#include "benchmarks/behavior/goal_report.h"
#include "benchmarks/python_text.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace behavior {

namespace {

// A step whose action or object is not a string is kept: it fails in the check of names.
struct Step {
  const PythonValue* action = nullptr;
  const PythonValue* object = nullptr;
};

std::optional<PythonValue> read_list(std::string_view answer) {
  const std::size_t begin = answer.find('[');
  const std::size_t end = answer.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  return parse_python_list(answer.substr(begin, end - begin + 1));
}

std::vector<Step> steps_of(const PythonValue& list) {
  std::vector<Step> steps;
  for (const PythonValue& item : list.items) {
    const Step step{item.find("action"), item.find("object")};
    if (step.action != nullptr && step.object != nullptr) steps.push_back(step);
  }
  return steps;
}

std::vector<std::string_view> object_names(const PythonValue& object) {
  std::vector<std::string_view> names;
  for (const std::string_view name : split(python_strip(object.text), ",")) {
    names.push_back(python_strip(name));
  }
  return names;
}

constexpr std::size_t kMaxShown = 80;

struct FormatError {
  std::string verdict;
  std::string reason;
};

// The first unknown name, action before objects, step by step.
std::optional<FormatError> check_names(const Scene& scene, const std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PythonValue& action = *steps[i].action;
    const PythonValue& object = *steps[i].object;
    const std::string step = str_cat("step ", i + 1, ": ");
    if (!action.hashable()) return FormatError{"unknown_execution_error", step + "the action is not a string"};
    if (action.kind != PythonValue::Kind::kString || !action_of_name(action.text)) {
      return FormatError{"hullucination",
                         str_cat(step, "there is no action ", internal::in_quotes(action.text, kMaxShown))};
    }
    if (object.kind != PythonValue::Kind::kString) {
      return FormatError{"unknown_execution_error", step + "the object is not a string"};
    }
    for (const std::string_view name : object_names(object)) {
      if (scene.find(name) == kNothing) {
        return FormatError{"hullucination", str_cat(step, "there is no object ", internal::in_quotes(name, kMaxShown))};
      }
    }
  }
  return std::nullopt;
}

std::optional<FormatError> check_arities(const std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t given = object_names(*steps[i].object).size();
    const std::size_t needed = action_of_name(steps[i].action->text)->arity();
    if (given != needed) {
      return FormatError{"arguments", str_cat("step ", i + 1, ": ", steps[i].action->text, " takes ", needed,
                                              needed == 1 ? " object, not " : " objects, not ", given)};
    }
  }
  return std::nullopt;
}

void execute(const ActionTask& task, const std::vector<Step>& steps, TaskScore& score) {
  Executor executor(task.scene, task.start);
  score.executable = true;
  for (std::size_t i = 0; i < steps.size() && score.executable; ++i) {
    std::vector<ObjectId> objects;
    for (const std::string_view name : object_names(*steps[i].object)) objects.push_back(task.scene.find(name));
    const Outcome outcome = executor.apply(*action_of_name(steps[i].action->text), objects);
    StepScore step{str_cat(steps[i].action->text, ' ', python_strip(steps[i].object->text)), "ok", {}};
    if (!outcome.ok) {
      step.outcome =
          contains(outcome, ErrorClass::kCrash) ? std::string(name_of(ErrorClass::kCrash)) : error_names(outcome);
      step.reason = explain(task.scene, outcome.faults[0]);
      const ErrorClass error =
          *first_of(outcome, {ErrorClass::kCrash, ErrorClass::kAdditionalStep, ErrorClass::kAffordance,
                              ErrorClass::kWrongOrder, ErrorClass::kMissingStep});
      score.errors[std::string(name_of(error))] = 1;
      if (error != ErrorClass::kAdditionalStep) {
        score.executable = false;
        score.verdict = name_of(error);
        score.reason = str_cat("step ", i + 1, ", ", step.action, ": ", step.outcome, ": ", step.reason);
      }
    }
    score.steps.push_back(std::move(step));
  }
  const GoalReport goals = test_goals(task, executor.state());
  score.goals = goals.goals;
  score.success = goals.all ? 1 : 0;
  if (goals.crash) {
    score.executable = false;
    score.verdict = name_of(ErrorClass::kCrash);
    score.reason = "the evaluator fails when it tests the goal";
    score.errors[score.verdict] = 1;
  } else if (score.executable) {
    score.verdict = goals.all ? "Correct" : "goal_not_reached";
    score.reason = missing_goals(score.goals);
  }
}

bool equals_gold(const ActionTask& task, const std::vector<Step>& steps) {
  if (steps.empty() || steps.size() != task.gold.size()) return false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].action->text != task.gold[i].first || steps[i].object->text != task.gold[i].second) return false;
  }
  return true;
}

}  // namespace

TaskScore score_action_answer(const ActionTask& task, std::string_view answer) {
  TaskScore score = answered(task.id, task.title);
  const std::optional<PythonValue> list = read_list(answer);
  const std::vector<Step> steps = list ? steps_of(*list) : std::vector<Step>();
  std::optional<FormatError> error;
  if (!list) {
    error = FormatError{"parsing", "there is no readable list between the first [ and the first ]"};
  } else if (steps.empty()) {
    error = FormatError{"parsing", "the list holds no {\"action\", \"object\"}"};
  } else {
    error = check_names(task.scene, steps);
    if (!error) error = check_arities(steps);
  }
  if (error) {
    score.verdict = error->verdict;
    score.reason = error->reason;
    score.errors[error->verdict] = 1;
    score.goals = untested_goals(task);
    return score;
  }
  score.equals_gold = equals_gold(task, steps);
  execute(task, steps, score);
  return score;
}

}  // namespace behavior

Score score_behavior_actions(const std::string& tasks_path, const std::vector<Response>& responses) {
  Score score;
  behavior::Answers answers(responses, behavior::Repeated::kLast);
  for (const behavior::ActionTask& task : behavior::load_action_tasks(tasks_path)) {
    if (const Response* response = answers.take(task.id)) {
      score.tasks.push_back(behavior::score_action_answer(task, response->output));
      score.tasks.back().response = static_cast<std::size_t>(response - responses.data());
    } else {
      score.tasks.push_back(unanswered(task.id, task.title));
      score.tasks.back().goals = behavior::untested_goals(task);
    }
  }
  behavior::finish_score(score, answers);
  return score;
}

}  // namespace metactrl::benchmarks
