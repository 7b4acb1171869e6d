#include "c/json.h"

#include <cmath>
#include <cstdint>

#include "lookahead/best_known.h"
#include "support/json_text.h"
#include "support/str_cat.h"
#include "task/program.h"

namespace metactrl::c {

using internal::json_text;
using internal::str_cat;

void JsonObject::begin(std::string_view key) {
  if (out_.size() > 1) out_ += ',';
  out_ += json_text(key) + ':';
}

JsonObject& JsonObject::text(std::string_view key, std::string_view value) { return raw(key, json_text(value)); }
JsonObject& JsonObject::flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }

JsonObject& JsonObject::number(std::string_view key, double value) {
  return raw(key, std::isfinite(value) ? internal::number_text(value) : "null");
}

JsonObject& JsonObject::texts(std::string_view key, const std::vector<std::string>& values) {
  JsonList list;
  for (const std::string& value : values) list.add(json_text(value));
  return raw(key, list.done());
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  begin(key);
  out_ += json;
  return *this;
}

void JsonList::add(std::string_view json) {
  if (out_.size() > 1) out_ += ',';
  out_ += json;
}

std::string diagnostics_json(const Diagnostics& diagnostics) {
  JsonList list;
  for (const Diagnostic& item : diagnostics.items()) {
    JsonObject object;
    object.text("severity", item.severity == Diagnostic::Severity::kError ? "error" : "warning")
        .text("file", item.where.file);
    object.number("line", item.where.line).number("column", item.where.column);
    list.add(object.text("message", item.message).text("hint", item.hint).done());
  }
  return list.done();
}

namespace {

JsonObject& write_step(JsonObject& object, const PlanStep& step) {
  return object.text("text", to_string(step)).text("action", step.action).texts("arguments", step.arguments);
}

double units(std::int64_t time) { return static_cast<double>(time) / static_cast<double>(kTimeUnit); }

}  // namespace

std::string steps_json(std::span<const PlanStep> steps) {
  JsonList list;
  for (const PlanStep& step : steps) {
    JsonObject object;
    list.add(write_step(object, step).done());
  }
  return list.done();
}

std::string schedule_json(const Task& task, const Schedule& schedule) {
  const Schedule ordered = by_start(schedule);
  std::string text;
  JsonList steps;
  for (const TimedStep& step : ordered) {
    text += to_string(step) + '\n';
    JsonObject object;
    object.number("start", units(step.start)).number("duration", units(step.duration));
    steps.add(write_step(object, step.step).done());
  }
  JsonList pairs;
  for (const auto& [a, b] : overlaps(ordered)) pairs.add(str_cat('[', a, ',', b, ']'));
  const std::optional<double> metric = metric_of(task, ordered);
  JsonObject object;
  object.text("text", text).number("makespan", units(makespan(ordered)));
  object.raw("metric", metric ? internal::number_text(*metric) : "null");
  return object.raw("steps", steps.done()).raw("overlaps", pairs.done()).done();
}

std::vector<PlanStep> steps_of(const Task& task, std::span<const ActionId> actions) {
  std::vector<PlanStep> steps;
  steps.reserve(actions.size());
  for (const ActionId action : actions) steps.push_back(task.step(action));
  return steps;
}

std::string task_json(const Task& task, const Diagnostics& warnings) {
  std::vector<std::string> objects;
  for (std::uint32_t i = 0; i < task.num_objects(); ++i) objects.push_back(task.object_name(ObjectId{i}));
  JsonList names;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) {
    JsonObject name;
    name.text("name", task.action_name(ActionNameId{i}));
    names.add(name.number("arity", static_cast<double>(task.arity(ActionNameId{i}))).done());
  }
  std::vector<std::string> goals;
  for (std::uint32_t i = 0; i < task.num_goals(); ++i) goals.push_back(task.goal_text(GoalId{i}));
  JsonObject object;
  object.text("name", task.name()).texts("objects", objects).raw("action_names", names.done());
  object.number("num_actions", static_cast<double>(task.num_actions())).flag("has_durations", has_durations(task));
  object.texts("initial", task.initial_facts());
  return object.texts("goals", goals).raw("warnings", diagnostics_json(warnings)).done();
}

std::string validation_json(const Validation& validation, std::span<const PlanStep> steps,
                            std::optional<std::int64_t> makespan) {
  JsonObject object;
  object.flag("valid", validation.valid).text("reason", validation.reason).text("problem", validation.problem);
  object.number("steps_executed", static_cast<double>(validation.steps_executed)).number("cost", validation.cost);
  object.texts("unmet_goals", validation.unmet_goals).raw("actions", steps_json(steps));
  object.raw("makespan", makespan ? internal::number_text(units(*makespan)) : "null");
  return object.raw("preferences", preferences_json(validation.preferences)).done();
}

std::string preferences_json(const std::vector<Validation::Preference>& preferences) {
  JsonList list;
  for (const Validation::Preference& one : preferences) {
    JsonObject object;
    object.text("name", one.name).text("text", one.text).number("weight", one.weight);
    list.add(object.flag("satisfied", one.satisfied).done());
  }
  return list.done();
}

std::string metric_json(double value, double lower_bound) {
  JsonObject object;
  return object.number("value", value).number("lower_bound", lower_bound).done();
}

std::string best_plan_json(const Lookahead& lookahead) {
  const std::optional<BestKnown> best = best_known(lookahead);
  if (!best) return "null";
  JsonObject object;
  object.number("actions", static_cast<double>(best->length)).flag("shortest", best->shortest);
  object.number("cost", best->cost).flag("cheapest", best->cheapest);
  return object.number("cost_at_least", best->least_cost).done();
}

std::string constraint_json(const Constraint& constraint, std::size_t max_tokens, std::string_view promised,
                            double lower_bound, const std::vector<std::string>& dropped) {
  const Lookahead& lookahead = *constraint.lookahead();
  JsonObject object;
  object.text("verdict", to_string(lookahead.verdict())).text("reason", lookahead.reason());
  object.text("tier", to_string(lookahead.tier())).number("horizon", lookahead.horizon());
  object.text("horizon_rule", lookahead.horizon_rule()).text("weight_rule", lookahead.weight_rule());
  const std::optional<unsigned> shortest = lookahead.shortest_plan_length();
  object.raw("shortest_plan", shortest ? str_cat(*shortest) : "null");
  object.raw("best_plan", best_plan_json(lookahead)).texts("goals_dropped", dropped);
  const std::optional<std::size_t> states = lookahead.num_states();
  object.raw("states", states ? str_cat(*states) : "null");
  object.number("memory_bytes", static_cast<double>(constraint.memory_bytes()));
  object.number("max_tokens", static_cast<double>(max_tokens)).raw("promised_preferences", promised);
  return object.raw("metric_lower_bound", promised == "null" ? "null" : internal::number_text(lower_bound)).done();
}

namespace {

std::string judged_json(const Task& task, const ExplainedStep& step) {
  JsonList legal;
  for (const ExplainedStep::Judged& judged : step.legal) {
    JsonObject object;
    object.text("action", task.text(judged.action)).text("standing", to_string(judged.standing));
    if (judged.standing == ExplainedStep::Standing::kAllowed) {
      object.number("remaining", judged.remaining).number("log_weight", judged.log_weight);
    } else {
      object.text("reason", why_not(judged.standing, step.left));
    }
    legal.add(object.done());
  }
  return legal.done();
}

std::string tokens_json(const Vocabulary& vocabulary, const ExplainedStep& step) {
  JsonList tokens;
  for (const ExplainedStep::Token& token : step.tokens) {
    JsonObject object;
    object.number("token", static_cast<std::int32_t>(token.token)).text("text", vocabulary.bytes(token.token));
    object.flag("forced", token.forced).number("choices", static_cast<double>(token.choices));
    tokens.add(object.number("log_weight", token.log_weight).done());
  }
  return tokens.done();
}

}  // namespace

std::string explained_json(const Constraint& constraint, std::span<const ExplainedStep> steps) {
  JsonList list;
  for (const ExplainedStep& step : steps) {
    JsonObject object;
    object.number("left", step.left).flag("goal_holds", step.goal_holds);
    object.raw("chosen", step.chosen ? json_text(constraint.task().text(*step.chosen)) : "null");
    object.flag("stops", step.stops).raw("legal", judged_json(constraint.task(), step));
    list.add(object.raw("tokens", tokens_json(constraint.vocabulary(), step)).done());
  }
  JsonObject object;
  return object.raw("steps", list.done()).done();
}

}  // namespace metactrl::c
