// The state that the benchmark's evaluator keeps of a BEHAVIOR scene: what each object is like, what it stands in or
// on, and what the robot holds.
//
//     State state = task.start;
//     state.attach(jar, fridge, Holding::kInside);
//     state.is(fridge, Property::kOpen);   // false: closed
//
// There is no geometry but a volume per object, no agent position and no reachability. Costs are linear in the number
// of objects (a few dozen) or edges. A Scene is immutable once filled; a State is a value.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_WORLD_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_WORLD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks::behavior {

// An object, as an index into its scene.
using ObjectId = int;
inline constexpr ObjectId kNothing = -1;

// The last two are flags of tools and never change.
enum class Property : std::uint8_t {
  kCooked,
  kDusty,
  kFrozen,
  kOpen,
  kSliced,
  kSoaked,
  kStained,
  kToggledOn,
  kCleaningTool,
  kSlicer
};
std::optional<Property> property_of_name(std::string_view name);
std::string_view name_of(Property property);

// How an object stands to its parent in the containment tree.
enum class Holding : std::uint8_t { kInside, kOnTop };
// What an edge between two objects says; a pair has at most one edge in each direction.
enum class Relation : std::uint8_t { kOnFloor, kUnder, kNextTo };
std::optional<Relation> relation_of_name(std::string_view name);
enum class Hand : std::uint8_t { kLeft, kRight };

inline Hand other(Hand hand) { return hand == Hand::kLeft ? Hand::kRight : Hand::kLeft; }

struct Object {
  std::string name;
  std::string synset;  // as the problem declares it; empty for a part
  bool floor = false;  // floors have no place in the containment tree
  bool part = false;   // one of the two halves that slicing makes reachable
  double volume = 0;   // cubic metres; not used for floors
};

class Scene {
 public:
  // False, and nothing is added, when the name is taken.
  bool add(Object object);
  std::size_t size() const { return objects_.size(); }
  const Object& operator[](ObjectId id) const { return objects_[static_cast<std::size_t>(id)]; }
  const std::string& name(ObjectId id) const { return (*this)[id].name; }
  // kNothing when there is no such object.
  ObjectId find(std::string_view name) const;

 private:
  std::vector<Object> objects_;
  std::map<std::string, ObjectId, std::less<>> ids_;
};

class State {
 public:
  State() = default;
  explicit State(std::size_t num_objects) : nodes_(num_objects) {}

  // Whether the object can have the property at all, and whether it has it now.
  bool has(ObjectId object, Property property) const { return (node(object).can & bit(property)) != 0; }
  bool is(ObjectId object, Property property) const { return (node(object).now & bit(property)) != 0; }
  // Has the property, and it is false: closed, switched off.
  bool is_not(ObjectId object, Property property) const { return has(object, property) && !is(object, property); }
  void set(ObjectId object, Property property, bool value);
  // `to` takes over everything `from` is like; what only `to` can be stays.
  void copy_properties(ObjectId from, ObjectId to);

  ObjectId parent(ObjectId object) const { return node(object).parent; }
  Holding holding(ObjectId object) const { return node(object).holding; }
  // In the order in which they came.
  std::vector<ObjectId> children(ObjectId object) const;
  void attach(ObjectId child, ObjectId parent, Holding holding);
  void detach(ObjectId child);
  // Parent, its parent, and so on. nullopt when the walk does not end: slicing a thing that stands in its own half
  // makes a circle.
  std::optional<std::vector<ObjectId>> ancestors(ObjectId object) const;

  std::optional<Relation> edge(ObjectId from, ObjectId to) const;
  // A new edge comes last in the order of edges; one that exists keeps its place and changes its relation.
  void set_edge(ObjectId from, ObjectId to, Relation relation);
  bool has_edges(ObjectId object) const;
  void drop_edges(ObjectId object);
  // Both ends of every edge of `from` become those of each of `to`.
  void move_edges(ObjectId from, const std::vector<ObjectId>& to);
  // The floor that the first of the object's onfloor edges leads to, or kNothing.
  ObjectId first_floor(ObjectId object) const;

  ObjectId held(Hand hand) const { return held_[static_cast<std::size_t>(hand)]; }
  void hold(Hand hand, ObjectId object) { held_[static_cast<std::size_t>(hand)] = object; }
  bool both_hands_full() const { return held_[0] != kNothing && held_[1] != kNothing; }

  // Equal in everything that a precondition can see; the order in which children came is not.
  bool same_as(const State& other) const;
  std::size_t hash() const;

 private:
  struct Node {
    std::uint16_t can = 0;
    std::uint16_t now = 0;
    Holding holding = Holding::kInside;
    ObjectId parent = kNothing;
    std::uint64_t came = 0;  // orders the children of a parent
  };
  struct Edge {
    ObjectId from;
    ObjectId to;
    Relation relation;
  };

  static std::uint16_t bit(Property property) {
    return static_cast<std::uint16_t>(1U << static_cast<unsigned>(property));
  }
  const Node& node(ObjectId object) const { return nodes_[static_cast<std::size_t>(object)]; }
  Node& node(ObjectId object) { return nodes_[static_cast<std::size_t>(object)]; }

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::array<ObjectId, 2> held_ = {kNothing, kNothing};
  std::uint64_t arrivals_ = 0;
};

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_WORLD_H_
