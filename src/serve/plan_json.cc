#include "serve/plan_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace metactrl::serve {

namespace {

bool has_plan(const PlanResult& result) {
  return result.outcome == PlanOutcome::kPlan || result.outcome == PlanOutcome::kCancelled;
}

Json steps_json(const std::vector<PlanStep>& steps) {
  Json out = Json::array();
  for (const PlanStep& step : steps) out.push_back({{"action", step.action}, {"arguments", step.arguments}});
  return out;
}

}  // namespace

Json goals_json(const Task& task, const std::vector<GoalId>& goals) {
  Json out = Json::array();
  for (GoalId goal : goals) out.push_back(task.goal_text(goal));
  return out;
}

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json diagnostics_json(const Diagnostics& diagnostics) {
  Json out = Json::array();
  for (const Diagnostic& d : diagnostics.items()) {
    out.push_back({{"severity", d.severity == Diagnostic::Severity::kError ? "error" : "warning"},
                   {"file", d.where.file},
                   {"line", d.where.line},
                   {"column", d.where.column},
                   {"message", d.message},
                   {"hint", d.hint}});
  }
  return out;
}

Json schedule_json(const Task& task, const Schedule& schedule) {
  const auto seconds = [](std::int64_t time) { return static_cast<double>(time) / static_cast<double>(kTimeUnit); };
  Json json{{"makespan", seconds(makespan(schedule))}, {"steps", Json::array()}, {"overlaps", Json::array()}};
  if (const std::optional<double> metric = metric_of(task, schedule)) json["metric"] = *metric;
  for (const TimedStep& step : by_start(schedule)) {
    json["steps"].push_back(
        {{"start", seconds(step.start)}, {"action", to_string(step.step)}, {"duration", seconds(step.duration)}});
  }
  for (const auto& [a, b] : overlaps(schedule))
    json["overlaps"].push_back(steps_json(std::vector<PlanStep>{schedule[a].step, schedule[b].step}));
  return json;
}

Json preferences_json(const std::vector<Validation::Preference>& preferences,
                      const std::vector<std::size_t>* promised) {
  Json out = Json::array();
  for (std::size_t i = 0; i < preferences.size(); ++i) {
    const Validation::Preference& one = preferences[i];
    Json json{{"name", one.name}, {"text", one.text}, {"weight", one.weight}, {"satisfied", one.satisfied}};
    if (promised != nullptr) json["promised"] = std::binary_search(promised->begin(), promised->end(), i);
    out.push_back(std::move(json));
  }
  return out;
}

Json outcome_json(const Task& task, const PlanResult& result, ScheduleKind kind) {
  Json json{{"outcome", to_string(result.outcome)},
            {"plan", has_plan(result) ? steps_json(result.steps) : Json(nullptr)},
            {"text", has_plan(result) ? Json(result.text) : Json(nullptr)},
            {"guarantee", to_string(result.guarantee)},
            {"reason", result.reason},
            {"valid", result.valid()},
            {"goals",
             {{"met", goals_json(task, result.goals_met)},
              {"unmet", goals_json(task, result.goals_unmet)},
              {"dropped", goals_json(task, result.goals_dropped)}}}};
  json["why_infeasible"] = result.why_infeasible;
  json["would_help"] = result.would_help;
  json["cost"] = has_plan(result) ? Json(result.validation.cost) : Json(nullptr);
  const Json shortest = result.shortest_length ? Json(*result.shortest_length) : Json(nullptr);
  json["best_known"] = result.best_length
                           ? Json{{"length", *result.best_length},       {"shortest", result.best_is_shortest},
                                  {"shortest_length", shortest},         {"cost", result.best_cost},
                                  {"cheapest", result.best_is_cheapest}, {"cost_at_least", result.least_cost}}
                           : Json(nullptr);
  json["needless_steps"] = result.needless;
  json["left_out"] = steps_json(result.left_out);
  json["check"] = {{"parsed", result.reading.complete},
                   {"closing_added", result.reading.closing_added},
                   {"parse_error", result.reading.error},
                   {"steps_executed", result.validation.steps_executed},
                   {"problem", result.validation.reason}};
  const bool legal = result.reading.complete && result.validation.steps_executed == result.steps.size();
  if (has_plan(result) && legal && has_durations(task))
    json["schedule"] = schedule_json(task, make_schedule(task, result.steps, kind));
  if (has_plan(result) && legal && !result.validation.preferences.empty()) {
    const auto& known = result.preferences;
    json["preferences"] = preferences_json(result.validation.preferences, known ? &known->promised : nullptr);
    if (known) json["metric"] = {{"value", known->value}, {"lower_bound", known->lower_bound}};
  }
  return json;
}

Json decoding_json(const PlanResult& result, Guidance guidance) {
  Json json{{"model_calls", result.model_calls},
            {"prompt_tokens", result.prompt_tokens},
            {"tokens", result.tokens.size()},
            {"forced_tokens", result.forced_tokens},
            {"device", result.device.empty() ? Json(nullptr) : Json(result.device)}};
  json["tier"] = result.tier ? Json(to_string(*result.tier)) : Json(nullptr);
  json["weights"] = result.weight_rule;
  json["horizon"] = result.horizon == 0 && guidance == Guidance::kNone ? Json(nullptr) : Json(result.horizon);
  json["horizon_rule"] = result.horizon_cut_by_context ? "cut to what the model's context holds" : result.horizon_rule;
  json["log_probability"] = number_or_null(result.log_probability);
  if (result.log_evidence) {
    json["log_evidence"] = number_or_null(result.log_evidence);
    json["particles"] = Json::array();
    for (const Generation::Particle& particle : result.particles) {
      json["particles"].push_back({{"text", particle.text}, {"weight", particle.weight}});
    }
  }
  return json;
}

Json times_json(const PlanResult::Times& times) {
  return {{"format", times.format}, {"automaton", times.automaton}, {"lookahead", times.lookahead},
          {"prompt", times.prompt}, {"decode", times.decode},       {"model", times.model},
          {"think", times.think},   {"check", times.check}};
}

}  // namespace metactrl::serve
