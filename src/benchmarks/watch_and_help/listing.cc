#include "benchmarks/watch_and_help/listing.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "benchmarks/watch_and_help/task_file.h"

namespace metactrl::benchmarks::watch_and_help {

using virtualhome::Relation;
using virtualhome::Scene;
using virtualhome::SceneNode;

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

  std::set<int> rooms, carried, places;
  for (const SceneNode& node : scene.nodes()) {
    if (node.is_room()) rooms.insert(node.id);
    if (node.is_room() || node.id == scene.character() || (!room_of(scene, node.id) && !held.contains(node.id)))
      continue;
    if (targets.contains(node.name)) places.insert(node.id);
    if (!objects.contains(node.name) && !held.contains(node.id)) continue;
    std::set<int> around;
    for (const int y : scene.targets(node.id, Relation::kInside)) {
      if (!scene.node(y).is_room()) around.insert(y);
    }
    if (!std::all_of(around.begin(), around.end(), [&](int y) { return room_of(scene, y).has_value(); })) continue;
    carried.insert(node.id);
    places.insert(around.begin(), around.end());
    const std::vector<int>& on = scene.targets(node.id, Relation::kOn);
    const auto lowest = std::min_element(on.begin(), on.end());
    if (around.empty() && lowest != on.end() && room_of(scene, *lowest)) places.insert(*lowest);
  }
  return {{rooms.begin(), rooms.end()},
          {carried.begin(), carried.end()},
          {places.begin(), places.end()},
          {held.begin(), held.end()}};
}

}  // namespace metactrl::benchmarks::watch_and_help
