#include <algorithm>
#include <vector>

#include "metactrl/planner.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl {

using internal::str_cat;

Prompt make_prompt(const Task& task, const PlanSpelling& spelling, const std::string& instruction) {
  std::vector<std::string> actions;
  for (std::uint32_t name = 0; name < task.num_action_names(); ++name) {
    actions.push_back(str_cat(task.action_name(ActionNameId{name}), "(", task.arity(ActionNameId{name}), ")"));
  }
  std::vector<std::string> objects;
  for (std::uint32_t object = 0; object < task.num_objects(); ++object) {
    objects.push_back(task.object_name(ObjectId{object}));
  }
  std::vector<std::string> goals;
  for (std::uint32_t goal = 0; goal < task.num_goals(); ++goal) goals.push_back(task.goal_text(GoalId{goal}));

  Prompt prompt;
  if (!instruction.empty()) prompt.user += "Task: " + instruction + "\n";
  prompt.user += "Actions: " + internal::join(actions, ", ") + "\n";
  prompt.user += "Objects: " + internal::join(objects, ", ") + "\n";
  prompt.user += "Facts: " + internal::join(task.initial_facts(), ", ") + "\n";
  prompt.user += "Goal: " + internal::join(goals, ", ") + "\n";
  if (task.num_actions() > 0) {
    const ActionId example[] = {ActionId{0}};
    std::string text = spelling.render(example);
    text.erase(std::find_if(text.rbegin(), text.rend(), [](char c) { return c != '\n'; }).base(), text.end());
    prompt.user += "Format: " + text + "\n";
  }
  prompt.user += "Plan:\n";
  return prompt;
}

}  // namespace metactrl
