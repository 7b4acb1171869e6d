// The task files of Watch-And-Help, in two forms that are told apart by their first character.
//
//   {   one JSON object per line: a task names one of the apartments in the scenes' folder and what differs there.
//         {"id": 7, "family": "put_fridge", "scene": 3, "init_room": "kitchen", "instructions": ["..."],
//          "goal": [{"rel": "inside", "object": "apple", "target": "fridge", "count": 1}],
//          "remove": [12], "add": [{"id": 1000, "class_name": "apple", "rel": "ON", "to": 73, "room": 11}], "agent_id":
//          1}
//       scene_<N>.json has "nodes" [{"id", "class_name", "category", "properties", "states"}] and "edges"
//       [[from, "INSIDE", to]]; object_classes.json the properties and states of what is added.
//   [   the benchmark's own file, wah_nl_test.json: a list of tasks, each with its whole graph.
//         [{"task_id": 0, "task_name": "...", "init_room": "kitchen", "init_graph": {"nodes", "edges"},
//           "task_goal": {"on_apple_coffeetable": 1, "turnOn_dishwasher": 1}, "nl_instructions": ["..."]}]
//       with edges {"from_id", "relation_type", "to_id"}. The scenes' folder is not needed.
//
// A count of 0 asks for nothing. What cannot be read is an InputError with the file, the line and the field. States,
// properties and relations that VirtualHome's executor does not know are left out, and so is a relation to a thing that
// is not there, if no rule asks for it (CLOSE, FACING).
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_TASK_FILE_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_TASK_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/watch_and_help/goal.h"

namespace metactrl::benchmarks::watch_and_help {

struct HelpTask {
  std::string id;
  std::string family;                     // "put_fridge"
  std::vector<std::string> instructions;  // at least one
  std::vector<GoalLine> goal;             // a count of two is two lines
  // The apartment, with the robot in its room.
  std::shared_ptr<const Scene> scene;
};

// In the order of the file; identifiers are different from each other.
std::vector<HelpTask> read_tasks(const std::string& file, const std::string& scenes_folder);

// The room that x is in, or x itself if it is one; nothing when it is in none.
std::optional<int> room_of(const Scene& scene, int x);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_TASK_FILE_H_
