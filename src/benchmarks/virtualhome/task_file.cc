#include "benchmarks/virtualhome/task_file.h"

#include <algorithm>
#include <set>

#include "benchmarks/virtualhome/json_fields.h"
#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {
namespace {

template <typename Value>
void push_new(std::vector<Value>& values, const Value& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void read_head(const JsonPlace& row, std::set<std::string>& ids, TaskHead& task) {
  task.line = row.line();
  task.id = row.field("id").text();
  if (!ids.insert(task.id).second) row.field("id").fail(str_cat("repeats '", task.id, "'"));
  task.title = row.field("task").text();
  task.household = row.field("scene").number();
}

NodeGoal read_node_goal(const JsonPlace& place) {
  const std::vector<JsonPlace> parts = place.items(3);
  const std::optional<State> state = find_state(parts[2].text());
  if (!state) parts[2].fail(str_cat("is '", parts[2].text(), "', which is no state of VirtualHome"));
  return {parts[0].number(), *state};
}

}  // namespace

std::vector<ActionTask> read_action_tasks(const std::string& path) {
  std::vector<ActionTask> tasks;
  std::set<std::string> ids;
  for_each_json_line(path, [&](const JsonPlace& row) {
    ActionTask& task = tasks.emplace_back();
    read_head(row, ids, task);
    task.graph = task.id;
    for (const JsonPlace& object : row.field("objects").items()) {
      const int id = object.field("id").number();
      task.objects[str_cat(object.field("name").text(), "_", id)] = id;
    }
    for (const JsonPlace& goal : row.field("node_goals").items()) push_new(task.node_goals, read_node_goal(goal));
    for (const JsonPlace& goal : row.field("edge_goals").items()) push_new(task.edge_goals, read_edge(goal));
    for (const std::string& goal : row.field("action_goals").texts()) push_new(task.action_goals, goal);
    task.gold = row.field("gold").texts();
    task.scored = task.edge_goals.size() < 2;
    if (row.has("scored") && row.field("scored").flag() != task.scored) {
      row.field("scored").fail(str_cat("says ", task.scored ? "false" : "true", ", but the task has ",
                                       task.edge_goals.size(), " different edge goals"),
                               "a task is scored unless it has two or more");
    }
  });
  return tasks;
}

std::vector<SubgoalTask> read_subgoal_tasks(const std::string& path) {
  std::vector<SubgoalTask> tasks;
  std::set<std::string> ids;
  for_each_json_line(path, [&](const JsonPlace& row) {
    SubgoalTask& task = tasks.emplace_back();
    read_head(row, ids, task);
    const std::string prefix = str_cat("scene_", task.household, "_");
    if (!task.id.starts_with(prefix)) {
      row.field("id").fail(str_cat("is '", task.id, "', which does not start with '", prefix, "'"));
    }
    task.graph = task.id.substr(prefix.size());
    task.goal = row.field("tl_goal").text();
    task.goal_states = row.field("goal_states").texts();
    task.goal_actions = row.field("goal_actions").texts();
  });
  return tasks;
}

}  // namespace metactrl::benchmarks::virtualhome
