// Tasks that are nothing but names: objects, and ground actions that are always possible and do nothing. For tests of
// how plans are written.
#ifndef METACTRL_TESTS_SUPPORT_NAMED_TASK_H_
#define METACTRL_TESTS_SUPPORT_NAMED_TASK_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "task/compile.h"
#include "task/definition.h"

namespace metactrl::testing {

// The steps become the task's actions, in this order; objects and action names are collected from them. An action name
// must always have the same number of arguments. The task cannot validate plans.
inline Task named_task(const std::vector<PlanStep>& steps) {
  task::Definition definition;
  definition.name = "names";
  const auto object = [&definition](const std::string& name) {
    auto& objects = definition.objects;
    const auto place = std::find(objects.begin(), objects.end(), name);
    const auto id = internal::to_id<ObjectId>(static_cast<std::size_t>(place - objects.begin()));
    if (place == objects.end()) objects.push_back(name);
    return id;
  };
  const auto action_name = [&definition](const PlanStep& step) {
    auto& names = definition.action_names;
    for (const ActionNameId id : names.all()) {
      if (names[id].name == step.action) return id;
    }
    const ActionNameId id = names.next_id();
    names.push_back({step.action, static_cast<std::uint32_t>(step.arguments.size())});
    return id;
  };
  for (const PlanStep& step : steps) {
    task::ActionDefinition action;
    action.symbol.name = action_name(step);
    for (const std::string& argument : step.arguments) action.symbol.arguments.push_back(object(argument));
    definition.actions.push_back(action);
  }
  return Task(task::compile(std::move(definition)), nullptr);
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_NAMED_TASK_H_
