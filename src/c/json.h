// What the interface says as JSON. Keys are listed in docs/c-api.md.
#ifndef METACTRL_SRC_C_JSON_H_
#define METACTRL_SRC_C_JSON_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/error.h"
#include "metactrl/explain.h"
#include "metactrl/schedule.h"
#include "metactrl/task.h"

namespace metactrl::c {

// An object or a list while it is written.
//
//     JsonObject object;
//     object.text("name", task.name()).flag("valid", true).raw("actions", steps_json(steps));
//     return object.done();
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value);
  JsonObject& flag(std::string_view key, bool value);
  JsonObject& number(std::string_view key, double value);  // null when it is not finite
  JsonObject& texts(std::string_view key, const std::vector<std::string>& values);
  JsonObject& raw(std::string_view key, std::string_view json);  // what is JSON already
  std::string done() const { return out_ + "}"; }

 private:
  void begin(std::string_view key);
  std::string out_ = "{";
};

class JsonList {
 public:
  void add(std::string_view json);
  std::string done() const { return out_ + "]"; }

 private:
  std::string out_ = "[";
};

std::string diagnostics_json(const Diagnostics& diagnostics);
// [{"text", "action", "arguments"}, ...]
std::string steps_json(std::span<const PlanStep> steps);
std::vector<PlanStep> steps_of(const Task& task, std::span<const ActionId> actions);
std::string task_json(const Task& task, const Diagnostics& warnings);
// [{"name", "text", "weight", "satisfied"}, ...]
std::string preferences_json(const std::vector<Validation::Preference>& preferences);
// Of the task's metric: what a plan is worth, and what every plan is worth at least.
std::string metric_json(double value, double lower_bound);
// `makespan`: of a plan that was judged with its times.
std::string validation_json(const Validation& validation, std::span<const PlanStep> steps,
                            std::optional<std::int64_t> makespan = std::nullopt);
// {"text", "makespan", "metric", "steps", "overlaps"}, by start; times in the task's units.
std::string schedule_json(const Task& task, const Schedule& schedule);
// What the best plan known is worth: {"actions", "shortest", "cost", "cheapest", "cost_at_least"}; null where there is none.
std::string best_plan_json(const Lookahead& lookahead);
// `promised`: a JSON list, or null.
std::string constraint_json(const Constraint& constraint, std::size_t max_tokens, std::string_view promised,
                            double lower_bound, const std::vector<std::string>& dropped);
std::string explained_json(const Constraint& constraint, std::span<const ExplainedStep> steps);

}  // namespace metactrl::c

#endif  // METACTRL_SRC_C_JSON_H_
