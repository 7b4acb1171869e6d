#include "task/preferences.h"

#include <string>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::task {

namespace {

using internal::str_cat;

// From one phase to the next.
ActionNameId add_phase_action(Definition& definition, std::string name, Formula when, FactId from, FactId to,
                              double cost) {
  ActionDefinition action;
  const ActionNameId id = definition.action_names.next_id();
  action.symbol.name = id;
  definition.action_names.push_back({std::move(name), 0});
  action.precondition = make_and({Formula::literal(from, false), std::move(when)});
  action.effects.push_back({Formula::constant(true), {to}, {from}});
  action.cost = cost;
  definition.actions.push_back(action);
  return id;
}

}  // namespace

PreferenceCosts preferences_as_costs(Definition definition) {
  PreferenceCosts result;
  FactId phase = add_fact(definition, "acting", true);
  for (const ActionId id : definition.actions.all()) {
    definition.actions.change(id, [&](ActionDefinition& action) {
      action.precondition = make_and({std::move(action.precondition), Formula::literal(phase, false)});
      if (!definition.has_metric) action.cost = 0;
    });
  }
  std::vector<Formula> goals;
  for (const GoalDefinition& goal : definition.goals) goals.push_back(goal.condition);
  FactId next = add_fact(definition, "finished", false);
  result.finish = add_phase_action(definition, "finish", make_and(std::move(goals)), phase, next, 0);
  phase = next;
  for (std::size_t i = 0; i < definition.preferences.size(); ++i) {
    const PreferenceDefinition preference = definition.preferences[i];
    if (preference.weight <= 0) continue;
    next = add_fact(definition, str_cat("settled-", i), false);
    // Forgoing what holds would be a mistake, and no cheaper.
    const ActionNameId collect =
        add_phase_action(definition, str_cat("collect-", i), preference.condition, phase, next, 0);
    const ActionNameId forgo =
        add_phase_action(definition, str_cat("forgo-", i), Formula::constant(true), phase, next, preference.weight);
    result.choices.push_back({i, collect, forgo});
    phase = next;
  }
  definition.goals = {{Formula::literal(phase, false), "all preferences settled"}};
  definition.has_costs = true;
  definition.has_metric = true;
  result.definition = std::move(definition);
  return result;
}

Definition with_preferences(Definition definition, std::span<const std::size_t> chosen) {
  for (const std::size_t i : chosen) {
    const PreferenceDefinition& preference = definition.preferences[i];
    definition.goals.push_back({preference.condition, preference.text});
  }
  return definition;
}

}  // namespace metactrl::task
