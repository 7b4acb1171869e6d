// Goals of Watch-And-Help: what shall lie on or in what, and what shall be switched on.
//
//     std::optional<GoalLine> line = read_goal_line("on(apple, coffeetable)");
//     to_text(*line);  // the same
//
// A line speaks of classes: some apple, some coffeetable. Lines with the same target class mean one and the same
// target, and each asks for a thing of its own: a line that is written twice asks for two apples.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_GOAL_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_GOAL_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/virtualhome/scene.h"
#include "support/enum_names.h"

namespace metactrl::benchmarks::watch_and_help {

// Its apartments are VirtualHome's.
using Property = virtualhome::Property;
using Relation = virtualhome::Relation;
using Scene = virtualhome::Scene;
using SceneNode = virtualhome::SceneNode;
using State = virtualhome::State;

enum class GoalKind : std::uint8_t { kOn, kInside, kTurnOn };

struct GoalLine {
  GoalKind kind = GoalKind::kOn;
  std::string object;  // a class; empty for kTurnOn
  std::string target;  // a class

  auto operator<=>(const GoalLine&) const = default;
};

constexpr auto enum_names(GoalKind) {
  return internal::names<GoalKind>(
      {{GoalKind::kOn, "on"}, {GoalKind::kInside, "inside"}, {GoalKind::kTurnOn, "turnOn"}});
}
std::string to_text(const GoalLine& line);
// Nothing when the text is no goal line.
std::optional<GoalLine> read_goal_line(std::string_view text);

// The lines of {"goal": ["on(apple, coffeetable)", ...]}, with which an answer may begin; `rest` is what follows.
// Nothing when the text does not begin so.
std::optional<std::vector<GoalLine>> read_goal(std::string_view text, std::string_view& rest);

// The target classes, each once, in the order of the lines.
std::vector<std::string> target_classes(const std::vector<GoalLine>& goal);

// The state of an apartment, as far as goals go.
struct GoalView {
  // Is thing x, a node of the scene, ON or INSIDE y?
  std::function<bool(int x, Relation relation, int y)> related;
  std::function<bool(int x)> is_on;
};

struct Judgement {
  std::vector<bool> reached;           // by line; of equal lines, the first ones are reached first
  std::map<std::string, int> targets;  // target class -> the thing that was judged; none where there is none

  std::size_t count() const;
  bool all() const { return count() == reached.size(); }
};

// As the benchmark judges: of each target class, the one thing (the first, in the scene's order) for which the sum over
// goals of the share that is reached is largest.
Judgement judge(const std::vector<GoalLine>& goal, const Scene& scene, const GoalView& view);
// The state in which the scene begins.
GoalView initial_view(const Scene& scene);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_GOAL_H_
