// Properties are two bit sets per object (can be, is); the containment tree is a parent pointer per object, its
// children ordered by an arrival count; edges are one list in order of insertion, which orders the edges of each object
// too.
#include "benchmarks/behavior/world.h"

#include <algorithm>
#include <utility>

namespace metactrl::benchmarks::behavior {

namespace {

constexpr std::array<std::string_view, 10> kPropertyNames = {
    "cooked", "dusty", "frozen", "open", "sliced", "soaked", "stained", "toggled_on", "cleaningtool", "slicer"};

}  // namespace

std::optional<Property> property_of_name(std::string_view name) {
  const auto* found = std::find(kPropertyNames.begin(), kPropertyNames.end(), name);
  if (found == kPropertyNames.end()) return std::nullopt;
  return static_cast<Property>(found - kPropertyNames.begin());
}

std::string_view name_of(Property property) { return kPropertyNames[static_cast<std::size_t>(property)]; }

std::optional<Relation> relation_of_name(std::string_view name) {
  if (name == "onfloor") return Relation::kOnFloor;
  if (name == "under") return Relation::kUnder;
  if (name == "nextto") return Relation::kNextTo;
  return std::nullopt;
}

bool Scene::add(Object object) {
  const auto [place, added] = ids_.emplace(object.name, static_cast<ObjectId>(objects_.size()));
  if (added) objects_.push_back(std::move(object));
  return added;
}

ObjectId Scene::find(std::string_view name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? kNothing : found->second;
}

void State::set(ObjectId object, Property property, bool value) {
  Node& n = node(object);
  n.can |= bit(property);
  n.now = static_cast<std::uint16_t>(value ? n.now | bit(property) : n.now & ~bit(property));
}

void State::copy_properties(ObjectId from, ObjectId to) {
  const Node& source = node(from);
  Node& target = node(to);
  target.now = static_cast<std::uint16_t>((target.now & ~source.can) | source.now);
  target.can |= source.can;
}

std::vector<ObjectId> State::children(ObjectId object) const {
  std::vector<ObjectId> found;
  for (ObjectId id = 0; id < static_cast<ObjectId>(nodes_.size()); ++id) {
    if (parent(id) == object) found.push_back(id);
  }
  std::sort(found.begin(), found.end(), [this](ObjectId a, ObjectId b) { return node(a).came < node(b).came; });
  return found;
}

void State::attach(ObjectId child, ObjectId parent, Holding holding) {
  Node& n = node(child);
  n.parent = parent;
  n.holding = holding;
  n.came = ++arrivals_;
}

void State::detach(ObjectId child) {
  Node& n = node(child);
  n.parent = kNothing;
  n.holding = Holding::kInside;
}

std::optional<std::vector<ObjectId>> State::ancestors(ObjectId object) const {
  std::vector<ObjectId> found;
  for (ObjectId up = parent(object); up != kNothing; up = parent(up)) {
    if (found.size() == nodes_.size()) return std::nullopt;
    found.push_back(up);
  }
  return found;
}

std::optional<Relation> State::edge(ObjectId from, ObjectId to) const {
  for (const Edge& e : edges_) {
    if (e.from == from && e.to == to) return e.relation;
  }
  return std::nullopt;
}

void State::set_edge(ObjectId from, ObjectId to, Relation relation) {
  for (Edge& e : edges_) {
    if (e.from == from && e.to == to) {
      e.relation = relation;
      return;
    }
  }
  edges_.push_back({from, to, relation});
}

bool State::has_edges(ObjectId object) const {
  return std::any_of(edges_.begin(), edges_.end(),
                     [object](const Edge& e) { return e.from == object || e.to == object; });
}

void State::drop_edges(ObjectId object) {
  std::erase_if(edges_, [object](const Edge& e) { return e.from == object || e.to == object; });
}

void State::move_edges(ObjectId from, const std::vector<ObjectId>& to) {
  std::vector<Edge> moved;
  std::copy_if(edges_.begin(), edges_.end(), std::back_inserter(moved),
               [from](const Edge& e) { return e.from == from || e.to == from; });
  drop_edges(from);
  for (const Edge& e : moved) {
    for (const ObjectId target : to) {
      if (e.from == from) {
        set_edge(target, e.to, e.relation);
      } else {
        set_edge(e.from, target, e.relation);
      }
    }
  }
}

ObjectId State::first_floor(ObjectId object) const {
  for (const Edge& e : edges_) {
    if (e.from == object && e.relation == Relation::kOnFloor) return e.to;
  }
  return kNothing;
}

bool State::same_as(const State& other) const {
  if (held_ != other.held_ || edges_.size() != other.edges_.size()) return false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& a = nodes_[i];
    const Node& b = other.nodes_[i];
    if (a.can != b.can || a.now != b.now || a.parent != b.parent || a.holding != b.holding) return false;
  }
  return std::all_of(edges_.begin(), edges_.end(),
                     [&other](const Edge& e) { return other.edge(e.from, e.to) == e.relation; });
}

std::size_t State::hash() const {
  std::uint64_t h = 1469598103934665603ULL;
  const auto mix = [&h](std::uint64_t value) { h = (h ^ value) * 1099511628211ULL; };
  for (const Node& n : nodes_) {
    mix(n.now);
    mix(static_cast<std::uint64_t>(n.parent) * 2 + static_cast<std::uint64_t>(n.holding));
  }
  mix(static_cast<std::uint64_t>(held_[0]));
  mix(static_cast<std::uint64_t>(held_[1]));
  // The order of edges does not matter to equality.
  std::uint64_t sum = 0;
  for (const Edge& e : edges_) {
    sum += (static_cast<std::uint64_t>(e.from) * 4096 + static_cast<std::uint64_t>(e.to)) * 4 +
           static_cast<std::uint64_t>(e.relation);
  }
  mix(sum);
  return h;
}

}  // namespace metactrl::benchmarks::behavior
