// Reading graphs, and writing one as what differs from another.
#include "benchmarks/import_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "metactrl/error.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

namespace fs = std::filesystem;

constexpr int kFirstAdded = 1000;

std::vector<std::string> sorted_words(const ImportJson& list, const fs::path& file, const std::string& where) {
  std::vector<std::string> words;
  if (!list.is_array()) throw InputError(file.string(), str_cat(where, " is not a list"), kCheckoutHint);
  for (const ImportJson& word : list) {
    if (!word.is_string()) throw InputError(file.string(), str_cat(where, " holds more than words"), kCheckoutHint);
    words.push_back(word.get<std::string>());
  }
  std::sort(words.begin(), words.end());
  return words;
}

class RowBuilder {
 public:
  RowBuilder(const SceneGraph& household, const SceneGraph& graph) : household_(household), graph_(graph) {}

  ImportJson row(const std::string& id) {
    nodes();
    edges();
    return {{"id", id},          {"nodes_del", nodes_del_},          {"nodes_add", nodes_add_},
            {"states", states_}, {"edges_add", to_json(edges_add_)}, {"edges_del", to_json(edges_del_)}};
  }

 private:
  // Nodes that stay keep the household's order and the others follow; where the scene has another order, all are taken
  // out and put in again.
  void nodes() {
    std::vector<int> order;
    for (const GraphNode& node : household_.nodes) {
      if (graph_.find(node.id) != nullptr) order.push_back(node.id);
    }
    for (const GraphNode& node : graph_.nodes) {
      if (household_.find(node.id) == nullptr) order.push_back(node.id);
    }
    const bool same_order = std::equal(order.begin(), order.end(), graph_.nodes.begin(), graph_.nodes.end(),
                                       [](int id, const GraphNode& node) { return id == node.id; });
    for (const GraphNode& node : household_.nodes) {
      if (!same_order || graph_.find(node.id) == nullptr) nodes_del_.push_back(node.id);
    }
    for (const GraphNode& node : graph_.nodes) {
      const GraphNode* known = household_.find(node.id);
      if (!same_order || known == nullptr || known->name != node.name || known->category != node.category ||
          known->properties != node.properties) {
        nodes_add_.push_back(to_json(node));
      } else if (known->states != node.states) {
        states_[str_cat(node.id)] = node.states;
      }
    }
  }

  using Key = std::pair<int, std::string>;
  static std::map<Key, std::vector<int>> by_origin(const std::vector<GraphEdge>& edges) {
    std::map<Key, std::vector<int>> out;
    for (const auto& [from, relation, to] : edges) out[{from, relation}].push_back(to);
    return out;
  }

  void edges() {
    const std::map<Key, std::vector<int>> old_targets = by_origin(household_.edges);
    const std::map<Key, std::vector<int>> new_targets = by_origin(graph_.edges);
    const std::set<GraphEdge> present(graph_.edges.begin(), graph_.edges.end());
    std::set<Key> anew;  // whose order could not be kept
    for (const auto& [key, targets] : old_targets) {
      const auto found = new_targets.find(key);
      if (found == new_targets.end()) continue;
      std::vector<int> kept;
      for (const int to : targets) {
        if (present.contains({key.first, key.second, to})) kept.push_back(to);
      }
      if (!std::equal(kept.begin(), kept.end(), found->second.begin())) anew.insert(key);
    }
    std::set<GraphEdge> kept;
    for (const GraphEdge& edge : household_.edges) {
      if (present.contains(edge) && !anew.contains({std::get<0>(edge), std::get<1>(edge)})) {
        kept.insert(edge);
      } else {
        edges_del_.push_back(edge);
      }
    }
    for (const GraphEdge& edge : graph_.edges) {
      if (!kept.contains(edge)) edges_add_.push_back(edge);
    }
  }

  const SceneGraph& household_;
  const SceneGraph& graph_;
  ImportJson nodes_del_ = ImportJson::array();
  ImportJson nodes_add_ = ImportJson::array();
  ImportJson states_ = ImportJson::object();
  std::vector<GraphEdge> edges_add_;
  std::vector<GraphEdge> edges_del_;
};

}  // namespace

const GraphNode* SceneGraph::find(int id) const {
  for (const GraphNode& node : nodes) {
    if (node.id == id) return &node;
  }
  return nullptr;
}

SceneGraph read_graph(const ImportJson& json, const char* name, const fs::path& file) {
  const ImportJson& graph = member(json, name, file, "the file");
  const ImportJson& nodes = member(graph, "nodes", file, name);
  const ImportJson& edges = member(graph, "edges", file, name);
  if (!nodes.is_array() || !edges.is_array()) {
    throw InputError(file.string(), str_cat(name, ": nodes and edges are not lists"), kCheckoutHint);
  }
  SceneGraph out;
  std::set<int> ids;
  for (const ImportJson& entry : nodes) {
    const std::string where = str_cat(name, ", node ", out.nodes.size() + 1);
    GraphNode node;
    node.id = number_member(entry, "id", file, where);
    node.name = text_member(entry, "class_name", file, where);
    node.category = text_member(entry, "category", file, where);
    node.properties = sorted_words(member(entry, "properties", file, where), file, where);
    node.states = sorted_words(member(entry, "states", file, where), file, where);
    for (const char* key : {"prefab_name", "bounding_box"}) {
      if (entry.contains(key)) node.rest += entry.at(key).dump() + " ";
    }
    if (!ids.insert(node.id).second) {
      throw InputError(file.string(), str_cat(name, ": two nodes have the number ", node.id), kCheckoutHint);
    }
    out.nodes.push_back(std::move(node));
  }
  std::set<GraphEdge> seen;
  std::size_t count = 0;
  for (const ImportJson& entry : edges) {
    const std::string where = str_cat(name, ", edge ", ++count);
    GraphEdge edge{number_member(entry, "from_id", file, where), text_member(entry, "relation_type", file, where),
                   number_member(entry, "to_id", file, where)};
    if (!ids.contains(std::get<0>(edge)) || !ids.contains(std::get<2>(edge))) {
      throw InputError(file.string(), str_cat(where, " has an end that is no node"), kCheckoutHint);
    }
    if (seen.insert(edge).second) out.edges.push_back(std::move(edge));
  }
  return out;
}

SceneChange difference(const SceneGraph& before, const SceneGraph& after) {
  SceneChange out;
  std::map<int, const GraphNode*> later;
  for (const GraphNode& node : after.nodes) later.emplace(node.id, &node);
  for (const GraphNode& node : before.nodes) {
    const auto found = later.find(node.id);
    if (found == later.end() || !(*found->second == node)) out.changed.insert(node.id);
  }
  out.relevant = out.changed;
  const auto add = [&](const GraphEdge& edge) {
    for (const int id : {std::get<0>(edge), std::get<2>(edge)}) {
      if (before.find(id) != nullptr) out.relevant.insert(id);
    }
  };
  const std::set<GraphEdge> first(before.edges.begin(), before.edges.end());
  const std::set<GraphEdge> second(after.edges.begin(), after.edges.end());
  for (const GraphEdge& edge : before.edges) {
    if (second.contains(edge)) continue;
    add(edge);
    out.shown.push_back(edge);
  }
  for (const GraphEdge& edge : after.edges) {
    if (!first.contains(edge)) add(edge);
  }
  return out;
}

ImportJson to_json(const GraphNode& node) {
  return {{"id", node.id},
          {"name", node.name},
          {"category", node.category},
          {"properties", node.properties},
          {"states", node.states}};
}

ImportJson to_json(const std::vector<GraphEdge>& edges) {
  ImportJson list = ImportJson::array();
  for (const auto& [from, relation, to] : edges) list.push_back({from, relation, to});
  return list;
}

SceneGraph household_of(const SceneGraph& graph) {
  SceneGraph out;
  for (const GraphNode& node : graph.nodes) {
    if (node.id < kFirstAdded) out.nodes.push_back(node);
  }
  for (const GraphEdge& edge : graph.edges) {
    if (std::get<0>(edge) < kFirstAdded && std::get<2>(edge) < kFirstAdded) out.edges.push_back(edge);
  }
  return out;
}

ImportJson scene_row(const std::string& id, const SceneGraph& household, const SceneGraph& graph) {
  return RowBuilder(household, graph).row(id);
}

}  // namespace metactrl::benchmarks
