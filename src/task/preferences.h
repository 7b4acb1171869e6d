// Preferences of a ground task as what the engine already knows: as goals, or as costs.
//
//     Definition some = with_preferences(definition, {0, 2});       // the first and the third are goals
//     PreferenceCosts all = preferences_as_costs(definition);       // the cheapest plan of all.definition is the best one
#ifndef METACTRL_SRC_TASK_PREFERENCES_H_
#define METACTRL_SRC_TASK_PREFERENCES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "task/definition.h"

namespace metactrl::task {

// A task in which the metric of a plan is the sum of its actions' costs. Its plans are those of the task, followed by
// `finish`, which is possible where the goals hold, and by one action for each preference that counts: `collect` where
// it holds, which costs nothing, or `forgo`, which costs its weight (the compilation of Keyder and Geffner, 2009). Names
// of actions keep their numbers, and so do actions until the definition is simplified.
struct PreferenceCosts {
  struct Choice {
    std::size_t preference = 0;  // place in Definition::preferences
    ActionNameId collect{};
    ActionNameId forgo{};
  };
  Definition definition;
  ActionNameId finish{};
  std::vector<Choice> choices;  // in the order in which they are made
};

PreferenceCosts preferences_as_costs(Definition definition);

// The same task with some of its preferences as goals, behind its own. The preferences stay what they are.
Definition with_preferences(Definition definition, std::span<const std::size_t> chosen);

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_PREFERENCES_H_
