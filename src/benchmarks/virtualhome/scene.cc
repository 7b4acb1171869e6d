// A task's graph is the household with the row of graphs.jsonl applied: nodes_del leave, nodes_add replace the node of
// that number or follow the others, `states` replaces the states of single nodes, edges_del leave and edges_add follow.
#include "benchmarks/virtualhome/scene.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "benchmarks/virtualhome/json_fields.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {
namespace {

constexpr std::array<std::string_view, kNumStates> kStateNames = {
    "CLOSED", "OPEN", "ON", "OFF", "SITTING", "DIRTY", "CLEAN", "LYING", "PLUGGED_IN", "PLUGGED_OUT"};
constexpr std::array<std::string_view, kNumRelations> kRelationNames = {"ON",     "INSIDE",   "BETWEEN",  "CLOSE",
                                                                        "FACING", "HOLDS_RH", "HOLDS_LH", "SITTING"};
constexpr std::array<std::string_view, kNumProperties> kPropertyNames = {
    "SURFACES", "GRABBABLE", "SITTABLE",     "LIEABLE",    "HANGABLE",  "DRINKABLE", "EATABLE",    "RECIPIENT",
    "CUTTABLE", "POURABLE",  "CAN_OPEN",     "HAS_SWITCH", "READABLE",  "LOOKABLE",  "CONTAINERS", "CLOTHES",
    "PERSON",   "BODY_PART", "COVER_OBJECT", "HAS_PLUG",   "HAS_PAPER", "MOVABLE",   "CREAM"};

template <typename Kind, std::size_t N>
std::optional<Kind> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}

template <typename Find>
std::uint32_t read_bits(const JsonPlace& place, const char* kind, Find find) {
  std::uint32_t bits = 0;
  for (const JsonPlace& item : place.items()) {
    const auto value = find(item.text());
    if (!value) item.fail(str_cat("is '", item.text(), "', which is no ", kind, " of VirtualHome"));
    bits |= 1U << static_cast<unsigned>(*value);
  }
  return bits;
}

SceneNode read_node(const JsonPlace& place) {
  SceneNode node;
  node.id = place.field("id").number();
  node.name = place.field("name").text();
  node.category = place.field("category").text();
  node.properties = read_bits(place.field("properties"), "property", find_property);
  node.states = read_bits(place.field("states"), "state", find_state);
  return node;
}

}  // namespace

std::string_view state_name(State state) { return kStateNames[static_cast<std::size_t>(state)]; }
std::string_view relation_name(Relation relation) { return kRelationNames[static_cast<std::size_t>(relation)]; }
std::string_view property_name(Property property) { return kPropertyNames[static_cast<std::size_t>(property)]; }
std::optional<State> find_state(std::string_view name) { return find_name<State>(kStateNames, name); }
std::optional<Relation> find_relation(std::string_view name) { return find_name<Relation>(kRelationNames, name); }
std::optional<Property> find_property(std::string_view name) { return find_name<Property>(kPropertyNames, name); }

std::string describe(const SceneNode& node) { return str_cat(node.name, " (", node.id, ")"); }

SceneEdge read_edge(const JsonPlace& place) {
  const std::vector<JsonPlace> parts = place.items(3);
  const std::optional<Relation> relation = find_relation(parts[1].text());
  if (!relation) parts[1].fail(str_cat("is '", parts[1].text(), "', which is no relation of VirtualHome"));
  return {parts[0].number(), *relation, parts[2].number()};
}

Scene::Scene(int character, std::vector<SceneNode> nodes, const std::vector<SceneEdge>& edges)
    : character_(character), nodes_(std::move(nodes)) {
  int highest = -1;
  for (const SceneNode& node : nodes_) highest = std::max(highest, node.id);
  index_.assign(static_cast<std::size_t>(highest) + 1, -1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) index_[static_cast<std::size_t>(nodes_[i].id)] = static_cast<int>(i);
  targets_.resize(nodes_.size() * kNumRelations);
  sources_.resize(targets_.size());
  for (const SceneEdge& edge : edges) {
    targets_[key(edge.from, edge.relation)].push_back(edge.to);
    sources_[key(edge.to, edge.relation)].push_back(edge.from);
  }
  sorted_ = targets_;
  for (std::vector<int>& targets : sorted_) std::sort(targets.begin(), targets.end());
}

bool Scene::contains(int id) const {
  return id >= 0 && static_cast<std::size_t>(id) < index_.size() && index_[static_cast<std::size_t>(id)] >= 0;
}

bool Scene::has_edge(int from, Relation relation, int to) const { return has_edge(key(from, relation), to); }

bool Scene::has_edge(std::size_t key, int to) const {
  return std::binary_search(sorted_[key].begin(), sorted_[key].end(), to);
}

SceneLibrary::SceneLibrary(std::string folder) : folder_(std::move(folder)) {
  const std::string path = (std::filesystem::path(folder_) / "graphs.jsonl").string();
  for_each_json_line(path, [&](const JsonPlace& row) {
    Difference difference;
    difference.line = row.line();
    for (const JsonPlace& item : row.field("nodes_del").items()) difference.nodes_del.insert(item.number());
    for (const JsonPlace& item : row.field("nodes_add").items()) difference.nodes_add.push_back(read_node(item));
    const JsonPlace states = row.field("states");
    if (!states.json().is_object()) states.fail("is not a JSON object");
    for (const auto& [name, value] : states.json().items()) {
      int id = -1;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
      if (error != std::errc{} || end != name.data() + name.size()) states.fail("has a key that is not a number");
      difference.states[id] = read_bits(states.field(name), "state", find_state);
    }
    for (const JsonPlace& item : row.field("edges_add").items()) difference.edges_add.push_back(read_edge(item));
    for (const JsonPlace& item : row.field("edges_del").items()) difference.edges_del.insert(read_edge(item));
    differences_[row.field("id").text()] = std::move(difference);
  });
}

const SceneLibrary::Household& SceneLibrary::household(int number) const {
  if (const auto found = households_.find(number); found != households_.end()) return found->second;
  const std::string path = (std::filesystem::path(folder_) / str_cat("scene", number, "_base.json")).string();
  const Json value = Json::parse(internal::read_file(path), nullptr, false);
  const JsonPlace file(value, path, 1);
  if (!value.is_object()) file.fail("is not a JSON object");
  Household household;
  household.character = file.field("character").number();
  for (const JsonPlace& item : file.field("nodes").items()) household.nodes.push_back(read_node(item));
  for (const JsonPlace& item : file.field("edges").items()) household.edges.push_back(read_edge(item));
  return households_.emplace(number, std::move(household)).first->second;
}

Scene SceneLibrary::scene(int number, const std::string& graph) const {
  const Household& base = household(number);
  const auto found = differences_.find(graph);
  const std::string file = (std::filesystem::path(folder_) / "graphs.jsonl").string();
  if (found == differences_.end()) {
    throw InputError(file, str_cat("there is no graph '", graph, "'"), "add its row or leave the task out");
  }
  const Difference& difference = found->second;
  const auto fail = [&](const std::string& message) {
    Diagnostics diagnostics;
    diagnostics.error({file, static_cast<std::uint32_t>(difference.line), 0}, message);
    throw InputError(std::move(diagnostics));
  };

  std::vector<SceneNode> nodes;
  std::map<int, std::size_t> position;
  const auto put = [&](const SceneNode& node) {
    const auto [slot, is_new] = position.emplace(node.id, nodes.size());
    if (is_new) {
      nodes.push_back(node);
    } else {
      nodes[slot->second] = node;
    }
  };
  for (const SceneNode& node : base.nodes) {
    if (!difference.nodes_del.contains(node.id)) put(node);
  }
  for (const SceneNode& node : difference.nodes_add) put(node);
  for (const auto& [id, states] : difference.states) {
    const auto slot = position.find(id);
    if (slot == position.end()) fail(str_cat("'states' names node ", id, ", which is not in the scene"));
    nodes[slot->second].states = states;
  }
  if (!position.contains(base.character)) fail(str_cat("the character, ", base.character, ", is missing"));

  std::vector<SceneEdge> edges;
  std::set<SceneEdge> seen;
  const auto link = [&](const SceneEdge& edge) {
    if (!position.contains(edge.from) || !position.contains(edge.to)) {
      fail(str_cat("the edge ", edge.from, " ", relation_name(edge.relation), " ", edge.to,
                   " has an end that is not in the scene"));
    }
    if (seen.insert(edge).second) edges.push_back(edge);
  };
  for (const SceneEdge& edge : base.edges) {
    if (!difference.edges_del.contains(edge)) link(edge);
  }
  for (const SceneEdge& edge : difference.edges_add) link(edge);
  return {base.character, std::move(nodes), edges};
}

}  // namespace metactrl::benchmarks::virtualhome
