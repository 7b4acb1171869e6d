#include "benchmarks/virtualhome/world.h"

#include <algorithm>
#include <utility>

namespace metactrl::benchmarks::virtualhome {

World::World(const Scene& scene) : scene_(&scene) {
  states_.reserve(scene.nodes().size());
  for (const SceneNode& node : scene.nodes()) states_.push_back(node.states);
}

void World::change_state(int id, State remove, State add) {
  remove_state(id, remove);
  states_[scene_->index(id)] |= 1U << static_cast<unsigned>(add);
}

void World::remove_state(int id, State state) {
  states_[scene_->index(id)] &= ~(1U << static_cast<unsigned>(state));
  if (std::find(changed_.begin(), changed_.end(), id) == changed_.end()) changed_.push_back(id);
}

std::vector<int> World::nodes() const {
  std::vector<int> result = changed_;
  for (const SceneNode& node : scene_->nodes()) {
    if (std::find(changed_.begin(), changed_.end(), node.id) == changed_.end()) result.push_back(node.id);
  }
  return result;
}

bool World::is_removed(std::size_t key, int to) const {
  const auto removed = removed_.find(key);
  return removed != removed_.end() && std::binary_search(removed->second.begin(), removed->second.end(), to);
}

void World::read(std::size_t key, PythonSet& targets) const {
  for (const int to : scene_->targets(key)) targets.insert(to);
  const auto removed = removed_.find(key);
  targets.remove_all(removed == removed_.end() ? std::vector<int>{} : removed->second);
}

// No target of the scene is missing, and none is removed.
bool World::is_complete(std::size_t key, const PythonSet& targets) const {
  const auto removed = removed_.find(key);
  if (removed != removed_.end() && !removed->second.empty()) return false;
  const std::vector<int>& own = scene_->targets(key);
  return std::all_of(own.begin(), own.end(), [&](int to) { return targets.contains(to); });
}

std::vector<int> World::targets(int from, Relation relation) const {
  const std::size_t key = scene_->key(from, relation);
  const auto added = added_.find(key);
  if (added != added_.end()) {
    if (!added->second.settled) read(key, added->second.targets);
    return added->second.targets.elements();
  }
  if (scene_->targets(key).empty()) return {};
  PythonSet fresh;
  read(key, fresh);
  return fresh.elements();
}

bool World::has_edge(int from, Relation relation, int to) const {
  const std::size_t key = scene_->key(from, relation);
  const auto added = added_.find(key);
  if (added != added_.end() && !added->second.settled) read(key, added->second.targets);
  return has_edge_now(from, relation, to);
}

bool World::has_edge_now(int from, Relation relation, int to) const {
  const std::size_t key = scene_->key(from, relation);
  if (is_removed(key, to)) return false;
  if (scene_->has_edge(key, to)) return true;
  const auto added = added_.find(key);
  return added != added_.end() && added->second.targets.contains(to);
}

void World::add_edge(int from, Relation relation, int to) {
  new_edges_.push_back({from, relation, to});
  const std::size_t key = scene_->key(from, relation);
  const auto removed = removed_.find(key);
  if (removed != removed_.end()) {
    const auto place = std::lower_bound(removed->second.begin(), removed->second.end(), to);
    if (place != removed->second.end() && *place == to) {
      removed->second.erase(place);
      return;
    }
  }
  if (scene_->has_edge(key, to)) return;
  Added& added = added_[key];
  added.targets.insert(to);
  added.settled = false;
}

void World::delete_edge(int from, Relation relation, int to) {
  const std::size_t key = scene_->key(from, relation);
  const auto added = added_.find(key);
  if (added != added_.end()) added->second.settled = false;
  if (scene_->has_edge(key, to)) {
    std::vector<int>& removed = removed_[key];
    const auto place = std::lower_bound(removed.begin(), removed.end(), to);
    if (place == removed.end() || *place != to) removed.insert(place, to);
  } else if (added != added_.end()) {
    added->second.targets.discard(to);
  }
}

void World::delete_edges_from(int from, Relation relation) {
  const std::size_t key = scene_->key(from, relation);
  const auto added = added_.find(key);
  const std::vector<int> others = added == added_.end() ? std::vector<int>{} : added->second.targets.elements();
  for (const int to : scene_->targets(key)) delete_edge(from, relation, to);
  for (const int to : others) {
    if (!scene_->has_edge(key, to)) delete_edge(from, relation, to);
  }
}

void World::delete_edges_to(int to, Relation relation) {
  for (const int from : scene_->sources(to, relation)) delete_edge(from, relation, to);
  for (auto& [key, added] : added_) {
    if (key % kNumRelations != static_cast<std::size_t>(relation) || scene_->has_edge(key, to)) continue;
    if (!added.targets.contains(to)) continue;
    added.targets.discard(to);
    added.settled = false;
  }
}

std::optional<std::pair<int, Relation>> World::grabbed_from(int object) const {
  const auto found = grabbed_.find(object);
  if (found == grabbed_.end()) return std::nullopt;
  return found->second;
}

void World::begin_action() {
  for (auto& [key, added] : added_) {
    if (added.settled) continue;
    PythonSet copy = added.targets.deep_copy();
    added.settled = copy == added.targets && is_complete(key, copy);
    added.targets = std::move(copy);
  }
}

void World::read_all() const {
  for (auto& [key, added] : added_) {
    if (!added.settled) read(key, added.targets);
  }
}

std::vector<SceneEdge> World::take_new_edges() { return std::exchange(new_edges_, {}); }

}  // namespace metactrl::benchmarks::virtualhome
