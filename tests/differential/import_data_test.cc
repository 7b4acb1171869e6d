// The benchmark's own tasks, put back into the layout of a checkout and imported: the tasks that come out are those
// that went in, the prompts have the same lines, and the official verdicts hold. On the excerpt that ships, and on all at
// hand.
//
// For BEHAVIOR the import makes the files of the scorer with the reader of prompts that the planner has, too. So this is
// where that reader is held against a reading that is not ours: objects, start states and the options of goals in the
// task files were exported by the benchmark's own code, run on stand-ins for its simulator.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/behavior/action_scorer.h"
#include "benchmarks/behavior/subgoal_scorer.h"
#include "benchmarks/import_eai.h"
#include "benchmarks/module.h"
#include "benchmarks/virtualhome/action_scorer.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/virtualhome/subgoal_scorer.h"
#include "support/eai_checkout.h"
#include "support/test_data.h"

namespace metactrl::testing::import_data_test {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;
namespace virtualhome = benchmarks::virtualhome;

std::vector<Json> rows(const fs::path& file) {
  std::ifstream in(file);
  std::vector<Json> out;
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  return out;
}

std::multiset<std::string> lines(const std::string& text) {
  std::multiset<std::string> out;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    std::string line = text.substr(begin, end - begin);
    // Properties and states are in any order.
    std::sort(line.begin(), line.end());
    out.insert(line);
    begin = end + 1;
  }
  return out;
}

Json graph_of(const virtualhome::Scene& scene) {
  Json nodes = Json::array();
  Json edges = Json::array();
  for (const virtualhome::SceneNode& node : scene.nodes()) {
    std::vector<std::string> properties, states;
    for (std::size_t i = 0; i < virtualhome::kNumProperties; ++i) {
      if (node.has(static_cast<virtualhome::Property>(i))) {
        properties.emplace_back(property_name(static_cast<virtualhome::Property>(i)));
      }
    }
    for (std::size_t i = 0; i < virtualhome::kNumStates; ++i) {
      if ((node.states >> i & 1U) != 0) states.emplace_back(state_name(static_cast<virtualhome::State>(i)));
    }
    nodes.push_back(EaiCheckout::node(node.id, node.name, node.category, properties, states));
    for (std::size_t r = 0; r < virtualhome::kNumRelations; ++r) {
      const auto relation = static_cast<virtualhome::Relation>(r);
      for (const int to : scene.targets(node.id, relation)) {
        edges.push_back(EaiCheckout::edge(node.id, std::string(relation_name(relation)), to));
      }
    }
  }
  return {{"nodes", nodes}, {"edges", edges}};
}

// A scene after the plan that makes the prompt speak of what it speaks of.
Json changed(Json graph, const Json& task) {
  for (Json& node : graph["nodes"]) {
    const Json& shown = task["prompt_state_nodes"];
    if (std::find(shown.begin(), shown.end(), node["id"]) != shown.end()) node["prefab_name"] = "changed";
  }
  Json kept = Json::array();
  std::set<int> ends;
  for (const Json& edge : graph["edges"]) {
    const Json triple = {edge["from_id"], edge["relation_type"], edge["to_id"]};
    const Json& gone = task["prompt_edges"];
    if (std::find(gone.begin(), gone.end(), triple) == gone.end()) kept.push_back(edge);
  }
  graph["edges"] = kept;
  for (const Json& object : task["objects"])
    graph["edges"].push_back(EaiCheckout::edge(object["id"], "CLOSE", object["id"]));
  return graph;
}

std::string program_of(const Json& task) {
  std::string out = task["task"].get<std::string>() + "\n" + task["description"].get<std::string>() + "\n\n\n";
  for (std::string step : task["gold"]) {
    for (std::size_t at = step.find('('); at != std::string::npos; at = step.find('(', at + 1))
      step.insert(at + 1, "1.");
    out += step + "\n";
  }
  return out;
}

// The prompt with its five places open again.
std::string template_of(const std::string& prompt) {
  std::string out = prompt;
  const auto open = [&](const std::string& heading, const std::string& end, const std::string& slot) {
    const std::size_t begin = out.rfind(heading) + heading.size();
    out.replace(begin, out.find(end, begin) - begin, slot);
  };
  open("Action goals are:\n", "\n\nPlease output", "<action_goals>");
  open("Edge goals are:\n", "\n\nAction goals are:", "<edge_goals>");
  open("Node goals are:\n", "\n\nEdge goals are:", "<node_goals>");
  open("The current environment state is\n", "\n\nNode goals are:", "<cur_change>");
  open("The relevant objects in the scene are:\n", "\n\nThe current environment", "<object_in_scene>");
  return out;
}

class ImportData : public ::testing::TestWithParam<Extent> {
 protected:
  static bool whole() { return GetParam() == Extent::kWhole; }
  static fs::path data(const std::string& relative) { return data_path(relative, GetParam()); }
  static fs::path scratch(const char* name) {
    return fs::path(::testing::TempDir()) /
           ("metactrl_import_data_" + std::to_string(::getpid()) + "_" + name + to_string(GetParam()));
  }
};

TEST_P(ImportData, VirtualHome) {
  METACTRL_NEEDS_EXTENT(GetParam(), "eai_vh");
  const fs::path folder = scratch("vh");
  EaiCheckout checkout(folder / "checkout");
  const virtualhome::SceneLibrary library(data("eai_vh").string());
  std::map<std::string, Json> formulas;
  for (const Json& task : rows(data("eai_vh/sd.jsonl"))) formulas[task["id"]] = task;
  Json tasks = Json::object();
  Json prompts = Json::array();
  std::map<std::string, Json> wanted;
  std::size_t number = 0;
  for (const Json& task : rows(data("eai_vh/as.jsonl"))) {
    if (number++ % (whole() ? 20 : 2) != 0) continue;
    const std::string id = task["id"];
    wanted[id] = task;
    const Json graph = graph_of(library.scene(1, id));
    checkout.add_scene(id, graph, changed(graph, task), program_of(task));
    Json goals = Json::array();
    for (const Json& goal : task["node_goals"]) {
      goals.push_back({{"id", goal[0]}, {"class_name", goal[1]}, {"state", goal[2]}});
    }
    for (const Json& goal : task["edge_goals"]) {
      goals.push_back({{"from_id", goal[0]}, {"relation_type", goal[1]}, {"to_id", goal[2]}});
    }
    const auto formula = formulas.find("scene_1_" + id);
    tasks[task["task"].get<std::string>()][id] = {
        {"vh_goal", {{"actions", task["action_goals"]}, {"goal", goals}}},
        {"tl_goal", formula == formulas.end() ? Json() : formula->second["tl_goal"]}};
    if (formula != formulas.end()) {
      prompts.push_back({{"identifier", "scene_1_" + id}, {"llm_prompt", formula->second["prompt"]}});
    }
    if (number == 1) {
      EaiCheckout::write(checkout.action_template(), "prompt = \"\"\"" + template_of(task["prompt"]) + "\"\"\"\n");
    }
  }
  EaiCheckout::write(checkout.task_file(), Json{{"scene_1", tasks}}.dump());
  EaiCheckout::write(checkout.virtualhome() / "evaluation/subgoal_decomposition/prompts/helm_prompts.json",
                     prompts.dump());
  fs::remove_all(checkout.behavior());
  benchmarks::ImportOptions options;
  options.root = checkout.root().string();
  options.out = (folder / "out").string();
  EXPECT_TRUE(benchmarks::import_eai(options).missing.empty());

  const fs::path out = folder / "out" / "eai_vh";
  for (const Json& task : rows(out / "as.jsonl")) {
    SCOPED_TRACE(task["id"].get<std::string>());
    const Json& expected = wanted.at(task["id"]);
    for (const char* key : {"task", "description", "scored", "node_goals", "edge_goals", "action_goals", "gold"}) {
      EXPECT_EQ(task[key], expected[key]) << key;
    }
    EXPECT_EQ(task["objects"].size(), expected["objects"].size());
    EXPECT_EQ(lines(task["prompt"]), lines(expected["prompt"]));
  }
  for (const Json& task : rows(out / "sd.jsonl")) {
    SCOPED_TRACE(task["id"].get<std::string>());
    const Json& expected = formulas.at(task["id"]);
    for (const char* key : {"tl_goal", "goal_actions", "necessity", "prompt"}) {
      EXPECT_EQ(task[key], expected[key]) << key;
    }
    const auto sorted = [](std::vector<std::string> texts) {
      std::sort(texts.begin(), texts.end());
      return texts;
    };
    EXPECT_EQ(sorted(task["goal_states"]), sorted(expected["goal_states"]));
  }
  const virtualhome::ActionScorer actions((out / "as.jsonl").string(), out.string());
  const virtualhome::SubgoalScorer subgoals((out / "sd.jsonl").string(), out.string());
  std::size_t judged = 0;
  const auto check = [&](const char* file, const auto& scorer, const std::string& prefix) {
    for (const Json& vector : rows(data(file))) {
      const std::string id = vector["id"];
      if (!wanted.contains(id.starts_with(prefix) ? id.substr(prefix.size()) : id)) continue;
      const benchmarks::TaskScore score = scorer(id, vector["output"].get<std::string>());
      EXPECT_EQ(score.executable, vector["executable"].get<bool>()) << id << ' ' << vector["output"];
      if (score.scored) {
        EXPECT_EQ(score.success == 1, vector["success"].get<bool>()) << id << ' ' << vector["output"];
      }
      ++judged;
    }
  };
  check(
      "eai_vh/testvec_as.jsonl",
      [&](const std::string& id, const std::string& output) {
        return actions.score(id, output, virtualhome::ActionGoalOrder::kSorted);
      },
      "");
  check(
      "eai_vh/testvec_sd.jsonl",
      [&](const std::string& id, const std::string& output) { return subgoals.score(id, output); }, "scene_1_");
  EXPECT_GT(judged, 50U);
  fs::remove_all(folder);
}

TEST_P(ImportData, Behavior) {
  METACTRL_NEEDS_EXTENT(GetParam(), "eai_beh");
  const fs::path folder = scratch("beh");
  EaiCheckout checkout(folder / "checkout");
  fs::remove_all(checkout.virtualhome());
  const fs::path evaluation = checkout.behavior() / "evaluation";
  const auto copy = [&](const char* from, const fs::path& to) {
    fs::copy_file(data(from), to, fs::copy_options::overwrite_existing);
  };
  copy("eai_beh/as_prompts.json", evaluation / "action_sequencing/resources/prompts/helm_prompts.json");
  copy("eai_beh/sd_prompts.json", evaluation / "subgoal_decomposition/resources/prompts/helm_prompts.json");
  copy("eai_beh/sd_system.json", evaluation / "subgoal_decomposition/resources/prompts/system_setup.json");
  std::map<std::string, Json> wanted;
  Json measured = Json::object();
  for (const Json& task : rows(data("eai_beh/as_tasks.jsonl"))) {
    const std::string id = task["id"];
    wanted[id] = task;
    std::string definition = "(define (problem p) (:init\n";
    std::map<std::string, std::string> names;
    for (const Json& object : task["objects"]) {
      names[object["name"]] = object["bddl"];
      if (object.contains("room")) {
        definition += "(inroom " + object["bddl"].get<std::string>() + " " + object["room"].get<std::string>() + ")\n";
      }
    }
    EaiCheckout::write(evaluation / "transition_modeling/resources/pddl_behavior" / (id + ".pddl"), definition + "))");
    Json steps = Json::array();
    for (const Json& step : task["gold"]) steps.push_back({{"action", step[0]}, {"object", step[1]}});
    EaiCheckout::write(evaluation / "action_sequencing/resources/human_annotations" / (id + ".json"), steps.dump());
    if (task["official_initial_goal"].is_null()) continue;
    Json conditions = Json::array();
    for (const Json& condition : task["goal_terms"]) {
      Json words = Json::array();
      for (const std::string word : condition) words.push_back(names.contains(word) ? names.at(word) : word);
      conditions.push_back(words);
    }
    measured[id] = {{"subgoals", conditions}, {"subgoal_success", task["official_initial_goal"]}};
  }
  EaiCheckout::write(evaluation / "subgoal_decomposition/resources/error_list_dict.json", measured.dump());
  benchmarks::ImportOptions options;
  options.root = checkout.root().string();
  options.out = (folder / "out").string();
  options.sizes = data("eai_beh/volumes.json").string();
  EXPECT_TRUE(benchmarks::import_eai(options).missing.empty());

  const fs::path out = folder / "out" / "eai_beh";
  const auto as_set = [](const Json& list, std::size_t width) {
    std::set<std::string> entries;
    for (Json entry : list) {
      while (entry.size() > width) entry.erase(entry.size() - 1);
      entries.insert(entry.dump());
    }
    return entries;
  };
  for (const Json& task : rows(out / "as_tasks.jsonl")) {
    SCOPED_TRACE(task["id"].get<std::string>());
    const Json& expected = wanted.at(task["id"]);
    EXPECT_EQ(task["task"], expected["task"]);
    EXPECT_EQ(task["scene"], expected["scene"]);
    EXPECT_EQ(task["gold"], expected["gold"]);
    EXPECT_EQ(as_set(task["sim_init"]["tree"], 3), as_set(expected["sim_init"]["tree"], 3));
    EXPECT_EQ(as_set(task["sim_init"]["edges"], 3), as_set(expected["sim_init"]["edges"], 3));
    ASSERT_EQ(task["objects"].size(), expected["objects"].size());
    for (std::size_t i = 0; i < task["objects"].size(); ++i) {
      const Json& object = task["objects"][i];
      for (const char* key : {"name", "bddl", "synset", "props", "true", "parts", "floor"}) {
        EXPECT_EQ(object.value(key, Json()), expected["objects"][i].value(key, Json())) << object["name"] << ' ' << key;
      }
      if (object.contains("vol")) {
        EXPECT_NEAR(object["vol"].get<double>(), expected["objects"][i]["vol"].get<double>(), 1e-4) << object["name"];
      }
    }
  }
  // The official options were left out; the goals as they were imported have to expand to the same.
  std::size_t judged = 0;
  const auto ours = benchmarks::behavior::load_action_tasks((out / "as_tasks.jsonl").string());
  const auto theirs = benchmarks::behavior::load_action_tasks(data("eai_beh/as_tasks.jsonl").string());
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].goals.size(), theirs[i].goals.size()) << ours[i].id;
    for (std::size_t g = 0; g < ours[i].goals.size(); ++g) {
      EXPECT_TRUE(ours[i].goals[g].options == theirs[i].goals[g].options) << ours[i].id << ' ' << ours[i].goals[g].text;
      ++judged;
    }
    EXPECT_TRUE(ours[i].start.same_as(theirs[i].start)) << ours[i].id;
  }
  EXPECT_EQ(judged, whole() ? 186U : 48U);
  EXPECT_EQ(benchmarks::behavior::load_subgoal_tasks((out / "sd_tasks.jsonl").string(), ours).size(),
            whole() ? 54U : 11U);
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Data, ImportData, ::testing::ValuesIn(kExtents), extent_name);

}  // namespace
}  // namespace metactrl::testing::import_data_test
