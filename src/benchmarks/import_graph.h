// The scene graphs of VirtualHome tasks as the benchmark keeps them: before and after a task's reference plan.
//
//     const SceneGraph before = read_graph(json, "init_graph", file);
//     const SceneChange change = difference(before, read_graph(json, "final_graph", file));
//     row = scene_row("some_id", household_of(before), before);     // a line of graphs.jsonl
//
// Plain values; linear in the graph but for look-ups of nodes, of which there are some hundreds.
#ifndef METACTRL_SRC_BENCHMARKS_IMPORT_GRAPH_H_
#define METACTRL_SRC_BENCHMARKS_IMPORT_GRAPH_H_

#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/import_files.h"

namespace metactrl::benchmarks {

struct GraphNode {
  int id = 0;
  std::string name;
  std::string category;
  std::vector<std::string> properties;  // sorted
  std::vector<std::string> states;      // sorted
  std::string rest;                     // of its record, for comparison

  friend bool operator==(const GraphNode&, const GraphNode&) = default;
};

using GraphEdge = std::tuple<int, std::string, int>;

struct SceneGraph {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;  // each once

  const GraphNode* find(int id) const;  // null when there is none
};

// `name` is the graph's in the file. Throws InputError that names the file and the node or edge.
SceneGraph read_graph(const ImportJson& json, const char* name, const std::filesystem::path& file);

struct SceneChange {
  std::set<int> changed;         // nodes whose record differs
  std::set<int> relevant;        // those, and the ends of every edge that is in one graph only
  std::vector<GraphEdge> shown;  // edges of the first graph that are not in the second
};
SceneChange difference(const SceneGraph& before, const SceneGraph& after);

// The graph without what was added for its task: objects whose numbers begin at 1000.
SceneGraph household_of(const SceneGraph& graph);

ImportJson to_json(const GraphNode& node);
ImportJson to_json(const std::vector<GraphEdge>& edges);
// What differs from the household, as virtualhome/scene.h reads it. The order of the targets of every node and relation
// is the graph's.
ImportJson scene_row(const std::string& id, const SceneGraph& household, const SceneGraph& graph);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_IMPORT_GRAPH_H_
