// Both forms become the same: nodes and edges, then the robot's node, then a scene.
#include "benchmarks/watch_and_help/task_file.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "benchmarks/prompt_lines.h"
#include "benchmarks/virtualhome/json_fields.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

using virtualhome::JsonPlace;
using virtualhome::SceneEdge;

namespace {

using Json = virtualhome::Json;

// One apartment.
struct Graph {
  std::vector<SceneNode> nodes;
  std::vector<SceneEdge> edges;
};

template <typename Find>
std::uint32_t known_bits(const JsonPlace& place, Find find) {
  std::uint32_t bits = 0;
  for (const JsonPlace& item : place.items()) {
    if (const auto value = find(item.text())) bits |= 1U << static_cast<unsigned>(*value);
  }
  return bits;
}

void read_abilities(const JsonPlace& place, SceneNode& node) {
  node.properties = known_bits(place.field("properties"), virtualhome::find_property);
  node.states = known_bits(place.field("states"), virtualhome::find_state);
}

SceneNode read_node(const JsonPlace& place) {
  SceneNode node;
  node.id = place.field("id").number();
  node.name = place.field("class_name").text();
  node.category = place.field("category").text();
  read_abilities(place, node);
  return node;
}

Graph read_scene_file(const std::string& path) {
  const Json value = Json::parse(internal::read_file(path), nullptr, false);
  const JsonPlace file(value, path, 0);
  if (!value.is_object()) file.fail("is not a JSON object");
  Graph graph;
  for (const JsonPlace& item : file.field("nodes").items()) graph.nodes.push_back(read_node(item));
  for (const JsonPlace& item : file.field("edges").items()) {
    const std::vector<JsonPlace> parts = item.items(3);
    const auto relation = virtualhome::find_relation(parts[1].text());
    if (relation) graph.edges.push_back({parts[0].number(), *relation, parts[2].number()});
  }
  return graph;
}

// No rule of this benchmark asks for the others: what is close to what, what faces what.
bool is_used(Relation relation) {
  return relation == Relation::kOn || relation == Relation::kInside || relation == Relation::kHoldsRight ||
         relation == Relation::kHoldsLeft;
}

// `place` is to blame where the parts do not fit together, and `task` is its identifier.
std::shared_ptr<const Scene> make_scene(Graph graph, int robot, const std::string& room, const std::string& task,
                                        const JsonPlace& place) {
  const auto fail = [&](const std::string& message, const std::string& hint) {
    place.fail(str_cat("(task ", task, ") ", message), hint);
  };
  std::set<int> ids;
  std::vector<int> rooms;
  for (const SceneNode& node : graph.nodes) {
    if (!ids.insert(node.id).second) {
      fail(str_cat("has two things with the id ", node.id), "give one of them another number, or remove it");
    }
    if (node.is_room() && node.name == room) rooms.push_back(node.id);
  }
  if (rooms.empty()) {
    fail(str_cat("begins in the room '", room, "', which the apartment does not have"),
         "name the class of one of its rooms as 'init_room'");
  }
  if (!ids.contains(robot)) {
    SceneNode node;
    node.id = robot;
    node.name = "character";
    node.category = "Characters";
    graph.nodes.push_back(node);
    ids.insert(robot);
  }
  std::erase_if(graph.edges, [&](const SceneEdge& edge) {
    return edge.from == robot && (edge.relation == Relation::kInside || edge.relation == Relation::kClose);
  });
  graph.edges.push_back({robot, Relation::kInside, rooms.front()});
  std::set<SceneEdge> seen;
  std::vector<SceneEdge> edges;
  std::set<int> held;
  for (const SceneEdge& edge : graph.edges) {
    if (!ids.contains(edge.from) || !ids.contains(edge.to)) {
      if (!is_used(edge.relation)) continue;
      fail(str_cat("has the relation ", edge.from, " ", virtualhome::relation_name(edge.relation), " ", edge.to,
                   ", one end of which is not in the apartment"),
           str_cat("add the thing ", ids.contains(edge.from) ? edge.to : edge.from,
                   " to the nodes, or remove the relation from the edges"));
    }
    const bool holds = edge.relation == Relation::kHoldsRight || edge.relation == Relation::kHoldsLeft;
    if (holds && edge.from == robot) held.insert(edge.to);
    if (seen.insert(edge).second) edges.push_back(edge);
  }
  if (held.size() > 2) {
    fail(str_cat("lets the robot hold ", held.size(), " things"), "it has two hands: remove a HOLDS relation");
  }
  return std::make_shared<const Scene>(robot, std::move(graph.nodes), edges);
}

void need_goal(const HelpTask& task, const JsonPlace& place) {
  if (!task.goal.empty()) return;
  place.fail(str_cat("of task ", task.id, " asks for nothing"), "ask for one thing at least, or leave the task out");
}

// A count of 0 asks for nothing.
void add_lines(const JsonPlace& place, const GoalLine& line, int count, std::vector<GoalLine>& goal) {
  constexpr int kMost = 20;
  if (count > kMost) place.fail(str_cat("asks for ", count, " things; up to ", kMost, " can be asked for"));
  for (int i = 0; i < count; ++i) goal.push_back(line);
}

// --- our files

class Reader {
 public:
  explicit Reader(std::string folder) : folder_(std::move(folder)) {}

  HelpTask read(const JsonPlace& row) {
    HelpTask task;
    task.id = str_cat(row.field("id").number());
    task.family = row.field("family").text();
    task.instructions = row.field("instructions").texts();
    if (task.instructions.empty()) row.field("instructions").fail("is empty");
    for (const JsonPlace& goal : row.field("goal").items()) {
      const std::optional<GoalKind> kind = internal::value_named<GoalKind>(goal.field("rel").text());
      if (!kind) goal.field("rel").fail("is none of on, inside, turnOn");
      GoalLine line{*kind, "", goal.field("target").text()};
      if (*kind != GoalKind::kTurnOn) line.object = goal.field("object").text();
      add_lines(goal, line, goal.field("count").number(), task.goal);
    }
    need_goal(task, row.field("goal"));
    Graph graph = base(row.field("scene").number());
    std::set<int> gone;
    for (const JsonPlace& item : row.field("remove").items()) gone.insert(item.number());
    std::erase_if(graph.nodes, [&](const SceneNode& node) { return gone.contains(node.id); });
    std::erase_if(graph.edges,
                  [&](const SceneEdge& edge) { return gone.contains(edge.from) || gone.contains(edge.to); });
    for (const JsonPlace& item : row.field("add").items()) add(item, graph);
    task.scene =
        make_scene(std::move(graph), row.field("agent_id").number(), row.field("init_room").text(), task.id, row);
    return task;
  }

 private:
  std::string path(const std::string& name) const { return (std::filesystem::path(folder_) / name).string(); }

  const Graph& base(int number) {
    const auto found = scenes_.find(number);
    if (found != scenes_.end()) return found->second;
    return scenes_.emplace(number, read_scene_file(path(str_cat("scene_", number, ".json")))).first->second;
  }

  void add(const JsonPlace& item, Graph& graph) {
    SceneNode node;
    node.id = item.field("id").number();
    node.name = item.field("class_name").text();
    node.category = "Props";
    if (!classes_) {
      const std::string file = path("object_classes.json");
      classes_ = Json::parse(internal::read_file(file), nullptr, false);
      if (!classes_->is_object()) throw InputError(file, "is not a JSON object", "it has an entry for each class");
    }
    read_abilities(JsonPlace(*classes_, path("object_classes.json"), 0).field(node.name), node);
    const auto relation = virtualhome::find_relation(item.field("rel").text());
    if (relation != Relation::kOn && relation != Relation::kInside) item.field("rel").fail("is neither ON nor INSIDE");
    graph.edges.push_back({node.id, Relation::kInside, item.field("room").number()});
    graph.edges.push_back({node.id, *relation, item.field("to").number()});
    graph.nodes.push_back(std::move(node));
  }

  std::string folder_;
  std::map<int, Graph> scenes_;
  std::optional<Json> classes_;
};

// --- the benchmark's file

// "on_apple_coffeetable" -> on, apple, coffeetable. Where class names have underscores themselves, the place to split
// is the one that gives two classes of the apartment.
GoalLine read_goal_key(const JsonPlace& place, const std::string& key, const std::set<std::string>& classes) {
  const std::size_t first = key.find('_');
  const std::optional<GoalKind> kind = first == std::string::npos
                                           ? std::nullopt
                                           : internal::value_named<GoalKind>(std::string_view(key).substr(0, first));
  if (!kind) place.fail(str_cat("has the key '", key, "', which begins with none of on_, inside_, turnOn_"));
  const std::string rest = key.substr(first + 1);
  if (*kind == GoalKind::kTurnOn) return {*kind, "", rest};
  std::optional<GoalLine> guess;
  for (std::size_t at = rest.find('_'); at != std::string::npos; at = rest.find('_', at + 1)) {
    const GoalLine line{*kind, rest.substr(0, at), rest.substr(at + 1)};
    if (!guess) guess = line;
    if (classes.contains(line.object) && classes.contains(line.target)) return line;
  }
  if (!guess) place.fail(str_cat("has the key '", key, "'; expected ", internal::name_of(*kind), "_OBJECT_TARGET"));
  return *guess;
}

HelpTask read_official(const JsonPlace& row) {
  constexpr int kRobot = 1;
  HelpTask task;
  task.id = str_cat(row.field("task_id").number());
  task.family = row.field("task_name").text();
  task.instructions = row.field("nl_instructions").texts();
  if (task.instructions.empty()) row.field("nl_instructions").fail("is empty");
  Graph graph;
  const JsonPlace init = row.field("init_graph");
  std::optional<int> robot;
  std::set<std::string> classes;
  for (const JsonPlace& item : init.field("nodes").items()) {
    graph.nodes.push_back(read_node(item));
    classes.insert(graph.nodes.back().name);
    if (graph.nodes.back().name == "character" && !robot) robot = graph.nodes.back().id;
  }
  for (const JsonPlace& item : init.field("edges").items()) {
    const auto relation = virtualhome::find_relation(item.field("relation_type").text());
    if (relation) graph.edges.push_back({item.field("from_id").number(), *relation, item.field("to_id").number()});
  }
  const JsonPlace goal = row.field("task_goal");
  if (!goal.json().is_object() || goal.json().empty()) goal.fail("is not a JSON object with goals");
  for (const auto& [key, count] : goal.json().items()) {
    add_lines(goal, read_goal_key(goal, key, classes), goal.field(key).number(), task.goal);
  }
  need_goal(task, goal);
  task.scene = make_scene(std::move(graph), robot.value_or(kRobot), row.field("init_room").text(), task.id, row);
  return task;
}

}  // namespace

std::vector<HelpTask> read_tasks(const std::string& file, const std::string& scenes_folder) {
  const std::string text = internal::read_file(file);
  std::vector<HelpTask> tasks;
  std::set<std::string> seen;
  const auto add = [&](HelpTask task, const JsonPlace& row) {
    if (!seen.insert(task.id).second) row.fail(str_cat("has the id ", task.id, ", as an earlier one has"));
    tasks.push_back(std::move(task));
  };
  if (trim(text).starts_with('[')) {
    const Json value = Json::parse(text, nullptr, false);
    const JsonPlace all(value, file, 0);
    if (!value.is_array()) all.fail("is not JSON", "is the file complete?");
    for (const JsonPlace& row : all.items()) add(read_official(row), row);
  } else {
    Reader reader(scenes_folder);
    virtualhome::for_each_json_line(file, [&](const JsonPlace& row) { add(reader.read(row), row); });
  }
  if (tasks.empty()) throw InputError(file, "has no tasks", "it holds one JSON object per line, or one list");
  return tasks;
}

std::optional<int> room_of(const Scene& scene, int x) {
  if (scene.node(x).is_room()) return x;
  // At most as many steps as there are things: containers may stand in a circle.
  for (std::size_t steps = 0; steps < scene.nodes().size(); ++steps) {
    const std::vector<int>& around = scene.targets(x, Relation::kInside);
    for (const int y : around) {
      if (scene.node(y).is_room()) return y;
    }
    if (around.size() != 1) return std::nullopt;  // VirtualHome's executor gives up here, too
    x = around.front();
  }
  return std::nullopt;
}

}  // namespace metactrl::benchmarks::watch_and_help
