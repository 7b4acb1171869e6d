// Reads the task files of the BEHAVIOR half of the benchmark, for its scorer.
//
//     std::vector<ActionTask> tasks = load_action_tasks("as_tasks.jsonl");
//
// One JSON object per line. A row of the action file holds what only a scorer may see: start state, volumes, goal
// options. Fields that a scorer does not need are not looked at. Rows of the subgoal file have names and little else;
// their start states and goals are those of the action row with the same id.
// Both loaders read all rows and throw one InputError that names file, line and field of everything that is wrong.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_TASK_FILE_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_TASK_FILE_H_

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/behavior/goal_options.h"
#include "benchmarks/behavior/world.h"

namespace metactrl::benchmarks::behavior {

struct GoalCondition {
  std::string text;  // as the task writes it
  GoalOptions options;
};

struct ActionTask {
  std::string id;
  std::string title;
  Scene scene;  // the objects in the order of the prompt, then the parts of those that can be sliced
  State start;
  std::vector<GoalCondition> goals;
  std::vector<std::pair<std::string, std::string>> gold;  // action, object; empty when the file has none
};

struct SubgoalObject {
  std::string name;      // as the prompt writes it: "jar.0"
  std::string category;  // "jar_n_01"
  ObjectId id = kNothing;
};

struct SubgoalTask {
  std::string id;
  std::string title;
  std::size_t world = 0;  // index of the action task with the same id
  std::vector<SubgoalObject> objects;
};

std::vector<ActionTask> load_action_tasks(const std::string& path);
std::vector<SubgoalTask> load_subgoal_tasks(const std::string& path, const std::vector<ActionTask>& worlds);

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_TASK_FILE_H_
