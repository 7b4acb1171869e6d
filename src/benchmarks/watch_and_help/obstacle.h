// Why the apartment cannot grant a goal, in a person's words.
//
//     std::optional<std::string> why = find_obstacle(*task.scene, {GoalKind::kOn, "unicorn", "coffeetable"}, 1);
//     // "the apartment has no unicorn"
//
// It looks at one goal alone and at the rules that need no search: whether there are enough things, whether anybody can
// get hold of them, whether a target takes them. What it names is certain; where it names nothing, a search decides.
//
// Cost: linear in the things of the two classes and what they are in. Thread-safe.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_OBSTACLE_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_OBSTACLE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/watch_and_help/goal.h"

namespace metactrl::benchmarks::watch_and_help {

// Does the robot sit or lie? Then it cannot walk, and this benchmark has no action to stand up.
bool is_seated(const Scene& scene);

// Nothing when no obstacle is known. `count` is how many things the goal asks for.
std::optional<std::string> find_obstacle(const Scene& scene, const GoalLine& line, std::size_t count);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_OBSTACLE_H_
