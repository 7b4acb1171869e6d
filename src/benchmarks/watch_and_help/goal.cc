// Reading and judging goals.
//
// The benchmark counts, for each thing of the target class, the things of the object's class that are on it or in it,
// and takes the share of what is asked for, at most one, for each distinct goal; the thing with the largest sum is the
// one that all goals are judged on. Lines with several target classes, which the benchmark does not have, are judged
// class by class.
#include "benchmarks/watch_and_help/goal.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "benchmarks/prompt_lines.h"
#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

// How many things of the line's class are where it wants them, with `target` as the target.
std::size_t count_met(const GoalLine& line, int target, const Scene& scene, const GoalView& view) {
  if (line.kind == GoalKind::kTurnOn) return view.is_on(target) ? 1 : 0;
  const Relation relation = line.kind == GoalKind::kOn ? Relation::kOn : Relation::kInside;
  return static_cast<std::size_t>(std::count_if(scene.nodes().begin(), scene.nodes().end(), [&](const SceneNode& node) {
    return node.name == line.object && view.related(node.id, relation, target);
  }));
}

}  // namespace

std::string to_text(const GoalLine& line) {
  if (line.kind == GoalKind::kTurnOn) return str_cat("turnOn(", line.target, ")");
  return str_cat(internal::name_of(line.kind), "(", line.object, ", ", line.target, ")");
}

std::optional<GoalLine> read_goal_line(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const std::vector<std::string_view> parts = split(text.substr(open + 1, text.size() - open - 2), ",");
  const std::optional<GoalKind> kind = internal::value_named<GoalKind>(text.substr(0, open));
  if (!kind || parts.size() != (*kind == GoalKind::kTurnOn ? 1U : 2U)) return std::nullopt;
  GoalLine line{*kind, "", std::string(trim(parts.back()))};
  if (*kind != GoalKind::kTurnOn) line.object = trim(parts.front());
  if (!is_word(line.target) || (*kind != GoalKind::kTurnOn && !is_word(line.object))) return std::nullopt;
  return line;
}

std::optional<std::vector<GoalLine>> read_goal(std::string_view text, std::string_view& rest) {
  const std::string_view whole = trim(text);
  const std::size_t end = whole.find('}');
  if (!whole.starts_with('{') || end == std::string_view::npos) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(whole.substr(0, end + 1), nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains("goal") || !json["goal"].is_array()) return std::nullopt;
  std::vector<GoalLine> lines;
  for (const nlohmann::json& item : json["goal"]) {
    const std::optional<GoalLine> line = item.is_string() ? read_goal_line(item.get<std::string>()) : std::nullopt;
    if (!line) return std::nullopt;
    lines.push_back(*line);
  }
  rest = trim(whole.substr(end + 1));
  return lines;
}

std::vector<std::string> target_classes(const std::vector<GoalLine>& goal) {
  std::vector<std::string> classes;
  for (const GoalLine& line : goal) {
    if (std::find(classes.begin(), classes.end(), line.target) == classes.end()) classes.push_back(line.target);
  }
  return classes;
}

std::size_t Judgement::count() const {
  return static_cast<std::size_t>(std::count(reached.begin(), reached.end(), true));
}

Judgement judge(const std::vector<GoalLine>& goal, const Scene& scene, const GoalView& view) {
  Judgement result;
  result.reached.assign(goal.size(), false);
  std::map<GoalLine, std::size_t> wanted;
  for (const GoalLine& line : goal) ++wanted[line];
  for (const std::string& target_class : target_classes(goal)) {
    double best = -1;
    std::map<GoalLine, std::size_t> met;
    for (const SceneNode& node : scene.nodes()) {
      if (node.name != target_class) continue;
      double sum = 0;
      std::map<GoalLine, std::size_t> here;
      for (const auto& [line, count] : wanted) {
        if (line.target != target_class) continue;
        here[line] = std::min(count, count_met(line, node.id, scene, view));
        sum += static_cast<double>(here[line]) / static_cast<double>(count);
      }
      if (sum <= best) continue;
      best = sum;
      met = std::move(here);
      result.targets[target_class] = node.id;
    }
    for (std::size_t i = 0; i < goal.size(); ++i) {
      if (goal[i].target != target_class || met[goal[i]] == 0) continue;
      --met[goal[i]];
      result.reached[i] = true;
    }
  }
  return result;
}

GoalView initial_view(const Scene& scene) {
  return {[&scene](int x, Relation relation, int y) { return scene.has_edge(x, relation, y); },
          [&scene](int x) { return (scene.node(x).states >> static_cast<unsigned>(State::kOn) & 1U) != 0; }};
}

}  // namespace metactrl::benchmarks::watch_and_help
