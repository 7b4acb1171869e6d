// Executing plans on variable assignments: the definition of the format, written down. An operator is applicable when
// its precondition holds; its effects look at the old values and are carried out in order. Derived variables start from
// their default values and are raised by the rules, layer by layer, until nothing changes.
#include <algorithm>

#include "sas/sas.h"
#include "support/list_some.h"
#include "support/lower_case.h"
#include "support/meter.h"
#include "support/nearest_name.h"
#include "support/words.h"

namespace metactrl::sas {

namespace {

bool all_hold(const std::vector<Assignment>& conditions, const SasReference::Values& values) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Assignment& a) { return values[a.variable] == a.value; });
}

// "unload p1 t1 l1", as operators are named.
std::string operator_name(const PlanStep& step) {
  std::string out = step.action;
  for (const std::string& argument : step.arguments) out += " " + argument;
  return internal::lower_case(out);
}

}  // namespace

SasReference::SasReference(std::shared_ptr<const SasTask> task)
    : task_(std::move(task)), groups_(group_operators(*task_)) {
  for (std::size_t i = 0; i < groups_.size(); ++i) actions_.emplace(action_name(i), i);
  std::map<std::int32_t, std::vector<std::uint32_t>> by_layer;
  for (std::uint32_t i = 0; i < task_->axioms.size(); ++i) {
    by_layer[task_->variables[task_->axioms[i].head.variable].axiom_layer].push_back(i);
  }
  for (auto& [layer, axioms] : by_layer) layers_.push_back(std::move(axioms));
}

void SasReference::derive(Values& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (task_->variables[i].derived()) values[i] = task_->initial[i];
  }
  for (const std::vector<std::uint32_t>& layer : layers_) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t index : layer) {
        const Axiom& axiom = task_->axioms[index];
        if (values[axiom.head.variable] == axiom.head.value || !all_hold(axiom.body, values)) continue;
        values[axiom.head.variable] = axiom.head.value;
        changed = true;
      }
    }
  }
}

SasReference::Values SasReference::initial() const {
  Values values = task_->initial;
  derive(values);
  return values;
}

std::optional<std::uint32_t> SasReference::applicable_operator(const Values& values, std::size_t action) const {
  for (const std::uint32_t index : groups_[action]) {
    if (all_hold(task_->operators[index].precondition, values)) return index;
  }
  return std::nullopt;
}

std::optional<SasReference::Values> SasReference::apply(const Values& values, std::size_t action) const {
  const std::optional<std::uint32_t> op = applicable_operator(values, action);
  if (!op) return std::nullopt;
  Values next = values;
  for (const Effect& effect : task_->operators[*op].effects) {
    if (all_hold(effect.conditions, values)) next[effect.result.variable] = effect.result.value;
  }
  derive(next);
  return next;
}

bool SasReference::goal_holds(const Values& values) const { return all_hold(task_->goal, values); }

std::string SasReference::explain(const Values& values, std::size_t action) const {
  // The first condition that fails; with several operators, the one of the operator that comes closest.
  std::string best;
  std::size_t fewest = ~std::size_t{0};
  for (const std::uint32_t index : groups_[action]) {
    std::vector<Assignment> failing;
    for (const Assignment& a : task_->operators[index].precondition) {
      if (values[a.variable] != a.value) failing.push_back(a);
    }
    if (failing.empty() || failing.size() >= fewest) continue;
    fewest = failing.size();
    best = str_cat("precondition ", value_text(*task_, failing[0]), " is false");
  }
  if (groups_[action].size() > 1)
    best += str_cat(" (and so is one of each of its ", groups_[action].size() - 1, " alternatives)");
  return best;
}

std::string SasReference::problem_with_name(const PlanStep& step) const {
  const std::string name = operator_name(step);
  std::vector<std::string> names;
  std::vector<std::string> heads;
  for (const auto& entry : actions_) {
    names.push_back(entry.first);
    heads.push_back(entry.first.substr(0, entry.first.find(' ')));
  }
  const std::string head = name.substr(0, name.find(' '));
  if (std::find(heads.begin(), heads.end(), head) == heads.end()) {
    const std::string guess = internal::did_you_mean(head, heads);
    return str_cat("there is no action '", head, "'", guess.empty() ? "" : "; " + guess);
  }
  const std::string guess = internal::nearest_name(name, names);
  return str_cat("the file has no operator '", name, "'", guess.empty() ? "" : "; did you mean (" + guess + ")?");
}

std::vector<std::string> SasReference::initial_facts() const {
  const Values values = initial();
  std::vector<std::string> facts;
  for (std::size_t v = 0; v < values.size(); ++v) facts.push_back(task_->variables[v].values[values[v]]);
  return facts;
}

Validation SasReference::validate(std::span<const PlanStep> plan, const Stop& stop, std::size_t /*bytes*/) const {
  const internal::Meter meter(stop);
  Validation result;
  Values values = initial();
  for (const PlanStep& step : plan) {
    meter.ask();
    const auto action = actions_.find(operator_name(step));
    std::string problem;
    std::optional<Values> next;
    if (action == actions_.end()) {
      problem = problem_with_name(step);
    } else if (next = apply(values, action->second); !next) {
      problem = explain(values, action->second);
    }
    if (!next) {
      result.reason = str_cat("step ", result.steps_executed + 1, ' ', to_string(step), ": ", problem);
      result.problem = std::move(problem);
      return result;
    }
    result.cost += task_->operators[*applicable_operator(values, action->second)].cost;
    values = std::move(*next);
    ++result.steps_executed;
  }
  for (const Assignment& goal : task_->goal) {
    if (values[goal.variable] != goal.value) result.unmet_goals.push_back(value_text(*task_, goal));
  }
  result.valid = result.unmet_goals.empty();
  if (result.valid) return result;
  result.reason = "the goal is not reached: " + internal::list_some(result.unmet_goals) +
                  (result.unmet_goals.size() == 1 ? " does not hold at the end" : " do not hold at the end");
  return result;
}

}  // namespace metactrl::sas
