// The state of a VirtualHome scene while a plan is executed.
//
// Stored as the difference to the scene: for an edge's origin and label the added targets (a PythonSet) and the removed
// ones. The evaluator reads targets by completing the added set in place with the scene's own targets, and copies all
// added sets before it applies an action. Both change the order of later reads, so `targets` does the first (it is
// logically const) and `begin_action` the second.
//
// Copies cost as much as what has changed. The scene must outlive the world.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_WORLD_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/virtualhome/python_set.h"
#include "benchmarks/virtualhome/scene.h"

namespace metactrl::benchmarks::virtualhome {

class World {
 public:
  explicit World(const Scene& scene);

  const Scene& scene() const { return *scene_; }
  int character() const { return scene_->character(); }

  bool has_state(int id, State state) const {
    return (states_[scene_->index(id)] >> static_cast<unsigned>(state) & 1U) != 0;
  }
  void change_state(int id, State remove, State add);
  void remove_state(int id, State state);

  // Identifiers of all nodes in the evaluator's order: first those whose states were changed, oldest change first.
  std::vector<int> nodes() const;

  // Targets in the order the evaluator meets them.
  std::vector<int> targets(int from, Relation relation) const;
  bool has_edge(int from, Relation relation, int to) const;  // reads as `targets` does
  // The same answer without being a read.
  bool has_edge_now(int from, Relation relation, int to) const;
  void add_edge(int from, Relation relation, int to);
  void delete_edge(int from, Relation relation, int to);
  void delete_edges_from(int from, Relation relation);
  void delete_edges_to(int to, Relation relation);

  // Where GRAB found an object, for PUTOBJBACK.
  std::optional<std::pair<int, Relation>> grabbed_from(int object) const;
  void remember_grab(int object, int place, Relation relation) { grabbed_[object] = {place, relation}; }
  void forget_grab(int object) { grabbed_.erase(object); }

  // What the evaluator does to its sets: before it applies an action (or copies the world), and after.
  void begin_action();
  void read_all() const;

  // Edges added since the last call, whether they are still there or not.
  std::vector<SceneEdge> take_new_edges();
  // Nodes whose states were ever changed, oldest change first.
  const std::vector<int>& changed_nodes() const { return changed_; }

 private:
  struct Added {
    PythonSet targets;
    // Neither a read nor a copy would change the set.
    bool settled = false;
  };

  void read(std::size_t key, PythonSet& targets) const;
  bool is_complete(std::size_t key, const PythonSet& targets) const;
  bool is_removed(std::size_t key, int to) const;

  const Scene* scene_;
  std::vector<std::uint32_t> states_;  // by node index
  std::vector<int> changed_;           // identifiers of nodes in the order of their first change
  mutable std::map<std::size_t, Added> added_;
  std::map<std::size_t, std::vector<int>> removed_;
  std::map<int, std::pair<int, Relation>> grabbed_;
  std::vector<SceneEdge> new_edges_;
};

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_WORLD_H_
