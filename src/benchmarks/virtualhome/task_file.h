// The task files of the VirtualHome benchmark: one JSON object per line.
//
// Only what a scorer needs is read; what a line must not lack or have otherwise is an InputError that names the file,
// the line and the field.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_TASK_FILE_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_TASK_FILE_H_

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/virtualhome/scene.h"

namespace metactrl::benchmarks::virtualhome {

struct NodeGoal {
  int id = 0;
  State state = State::kOn;

  auto operator<=>(const NodeGoal&) const = default;
};

// What both kinds of tasks have.
struct TaskHead {
  std::string id;
  std::string title;
  int household = 1;
  std::string graph;  // key into the scene library
  std::size_t line = 0;
};

// A task of Action Sequencing. Goals are in the order of the file and without repetitions.
struct ActionTask : TaskHead {
  // The evaluator drops a task with two edge goals or more: it can never count more than one of them as reached.
  bool scored = true;
  std::map<std::string, int> objects;  // "soap_1002" -> 1002: the objects of the prompt
  std::vector<NodeGoal> node_goals;
  std::vector<SceneEdge> edge_goals;
  std::vector<std::string> action_goals;  // "WASH|RINSE"
  std::vector<std::string> gold;          // "[WALK] <soap> (1002)"
};

// A task of Subgoal Decomposition.
struct SubgoalTask : TaskHead {
  std::string goal;                       // the formula that decides
  std::vector<std::string> goal_states;   // "ONTOP(cup.1, table.2)"
  std::vector<std::string> goal_actions;  // "WASH or RINSE"
};

std::vector<ActionTask> read_action_tasks(const std::string& path);
std::vector<SubgoalTask> read_subgoal_tasks(const std::string& path);

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_TASK_FILE_H_
