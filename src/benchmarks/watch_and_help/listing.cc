#include "benchmarks/watch_and_help/listing.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "benchmarks/watch_and_help/task_file.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

bool in(const std::vector<int>& sorted, int x) { return std::binary_search(sorted.begin(), sorted.end(), x); }

}  // namespace

bool Listing::is_carried(int x) const { return in(carried, x); }
bool Listing::is_place(int x) const { return in(places, x); }

std::vector<int> Listing::things() const {
  std::vector<int> all;
  std::set_union(carried.begin(), carried.end(), places.begin(), places.end(), std::back_inserter(all));
  return all;
}

Listing list_things(const Scene& scene, const std::vector<GoalLine>& goal) {
  std::set<std::string> objects;
  std::set<std::string> targets;
  for (const GoalLine& line : goal) {
    targets.insert(line.target);
    if (line.kind != GoalKind::kTurnOn) objects.insert(line.object);
  }
  std::set<int> held;
  for (const Relation hand : {Relation::kHoldsRight, Relation::kHoldsLeft}) {
    for (const int x : scene.targets(scene.character(), hand)) held.insert(x);
  }

  std::set<int> rooms, target_rooms, carried, places;
  for (const SceneNode& node : scene.nodes()) {
    if (node.is_room()) {
      rooms.insert(node.id);
      if (targets.contains(node.name)) target_rooms.insert(node.id);
      continue;
    }
    if (node.id == scene.character()) continue;
    if (targets.contains(node.name)) places.insert(node.id);
    const bool is_held = held.contains(node.id);
    if (!objects.contains(node.name) && !is_held) continue;
    std::set<int> around;
    for (const int y : scene.targets(node.id, Relation::kInside)) {
      if (!scene.node(y).is_room()) around.insert(y);
    }
    const std::vector<int>& on = scene.targets(node.id, Relation::kOn);
    const bool in_a_room = room_of(scene, node.id).has_value();
    if (!in_a_room && !is_held && around.empty() && on.empty()) continue;
    carried.insert(node.id);
    places.insert(around.begin(), around.end());
    for (const int y : on) {
      if (scene.node(y).is_room()) continue;
      const bool lowest = y == *std::min_element(on.begin(), on.end());
      if (!in_a_room || (around.empty() && lowest && room_of(scene, y))) places.insert(y);
    }
  }
  places.erase(scene.character());
  // With both hands full nobody opens a door; there is somewhere to put a thing down, then.
  if (held.size() > 1) {
    const auto surface = [&](const SceneNode& node) {
      return node.has(Property::kSurfaces) && !node.has(Property::kGrabbable) && !node.is_room() &&
             room_of(scene, node.id);
    };
    std::optional<int> lowest;
    for (const SceneNode& node : scene.nodes()) {
      if (surface(node) && (!lowest || node.id < *lowest)) lowest = node.id;
    }
    if (lowest) places.insert(*lowest);
  }
  return {{rooms.begin(), rooms.end()},
          {target_rooms.begin(), target_rooms.end()},
          {carried.begin(), carried.end()},
          {places.begin(), places.end()},
          {held.begin(), held.end()}};
}

}  // namespace metactrl::benchmarks::watch_and_help
