// The scene a VirtualHome task starts in: nodes with properties and states, and labelled edges between them.
//
// A folder of scenes holds `scene<N>_base.json`, a household, and `graphs.jsonl`, one line per task with what differs
// from the household. File order is kept everywhere, because the evaluator's choices can depend on it.
//
//     SceneLibrary library("eai_vh");
//     Scene scene = library.scene(1, identifier);
//     scene.node(65).name;  // "character"
//
// A library reads its files once; `scene` takes about a millisecond. A Scene never changes and may be shared between
// threads; a library is used by one thread at a time, since it reads a household when it is first asked for.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SCENE_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SCENE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks::virtualhome {

enum class State : std::uint8_t {
  kClosed,
  kOpen,
  kOn,
  kOff,
  kSitting,
  kDirty,
  kClean,
  kLying,
  kPluggedIn,
  kPluggedOut,
};
inline constexpr std::size_t kNumStates = 10;

enum class Relation : std::uint8_t { kOn, kInside, kBetween, kClose, kFacing, kHoldsRight, kHoldsLeft, kSitting };
inline constexpr std::size_t kNumRelations = 8;

enum class Property : std::uint8_t {
  kSurfaces,
  kGrabbable,
  kSittable,
  kLieable,
  kHangable,
  kDrinkable,
  kEatable,
  kRecipient,
  kCuttable,
  kPourable,
  kCanOpen,
  kHasSwitch,
  kReadable,
  kLookable,
  kContainers,
  kClothes,
  kPerson,
  kBodyPart,
  kCoverObject,
  kHasPlug,
  kHasPaper,
  kMovable,
  kCream,
};
inline constexpr std::size_t kNumProperties = 23;

std::string_view state_name(State state);
std::string_view relation_name(Relation relation);
std::string_view property_name(Property property);
std::optional<State> find_state(std::string_view name);
std::optional<Relation> find_relation(std::string_view name);
std::optional<Property> find_property(std::string_view name);

struct SceneNode {
  int id = 0;
  std::string name;
  std::string category;
  std::uint32_t properties = 0;  // bit per Property
  std::uint32_t states = 0;      // bit per State

  bool has(Property property) const { return (properties >> static_cast<unsigned>(property) & 1U) != 0; }
  bool is(State state) const { return (states >> static_cast<unsigned>(state) & 1U) != 0; }
  bool is_room() const { return category == "Rooms"; }
};

std::string describe(const SceneNode& node);  // "soap (1002)"

struct SceneEdge {
  int from = 0;
  Relation relation = Relation::kOn;
  int to = 0;

  auto operator<=>(const SceneEdge&) const = default;
};

class JsonPlace;
// [from, "INSIDE", to]; throws InputError for what is no such edge.
SceneEdge read_edge(const JsonPlace& place);

class Scene {
 public:
  // Identifiers are below this.
  static constexpr int kMaxId = 1'000'000;

  // `character` and both ends of every edge must be among the nodes, and identifiers from 0 to kMaxId - 1.
  Scene(int character, std::vector<SceneNode> nodes, const std::vector<SceneEdge>& edges);

  int character() const { return character_; }
  const std::vector<SceneNode>& nodes() const { return nodes_; }
  bool contains(int id) const;
  const SceneNode& node(int id) const { return nodes_[index(id)]; }
  // Position in nodes(); `id` must be in the scene.
  std::size_t index(int id) const { return static_cast<std::size_t>(index_[static_cast<std::size_t>(id)]); }

  // Targets in file order.
  const std::vector<int>& targets(int from, Relation relation) const { return targets_[key(from, relation)]; }
  const std::vector<int>& sources(int to, Relation relation) const { return sources_[key(to, relation)]; }
  bool has_edge(int from, Relation relation, int to) const;
  // A number for an edge's origin and label, below nodes().size() * kNumRelations.
  std::size_t key(int from, Relation relation) const {
    return index(from) * kNumRelations + static_cast<std::size_t>(relation);
  }
  const std::vector<int>& targets(std::size_t key) const { return targets_[key]; }
  bool has_edge(std::size_t key, int to) const;

 private:
  int character_;
  std::vector<SceneNode> nodes_;
  std::vector<int> index_;                 // by identifier; -1: no such node
  std::vector<std::vector<int>> targets_;  // by key
  std::vector<std::vector<int>> sorted_;   // the same, for search
  std::vector<std::vector<int>> sources_;  // by key of the target
};

class SceneLibrary {
 public:
  // Throws InputError when graphs.jsonl or a base file is missing or odd, with the file, the line and the field.
  explicit SceneLibrary(std::string folder);

  // Throws InputError when there is no such household or graph, or they do not fit together.
  Scene scene(int number, const std::string& graph) const;

 private:
  struct Household {
    int character = 0;
    std::vector<SceneNode> nodes;
    std::vector<SceneEdge> edges;
  };
  struct Difference {
    std::size_t line = 0;
    std::set<int> nodes_del;
    std::vector<SceneNode> nodes_add;
    std::map<int, std::uint32_t> states;
    std::vector<SceneEdge> edges_add;
    std::set<SceneEdge> edges_del;
  };

  const Household& household(int number) const;

  std::string folder_;
  mutable std::map<int, Household> households_;
  std::map<std::string, Difference> differences_;
};

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SCENE_H_
