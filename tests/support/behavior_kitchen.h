// A small kitchen on which the tests of the BEHAVIOR scorers pin the rules of the evaluator.
#ifndef METACTRL_TESTS_SUPPORT_BEHAVIOR_KITCHEN_H_
#define METACTRL_TESTS_SUPPORT_BEHAVIOR_KITCHEN_H_

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/behavior/subgoal_scorer.h"
#include "benchmarks/behavior/task_file.h"

namespace metactrl::benchmarks::behavior {

using nlohmann::json;
using Names = std::vector<std::string>;

inline constexpr const char* kKitchen = R"({
  "id": "kitchen_1", "task": "kitchen",
  "objects": [
    {"name": "fridge_1", "synset": "fridge.n.01", "props": ["open"], "true": [], "vol": 1.0},
    {"name": "jar_0", "synset": "jar.n.01", "props": ["open", "dusty", "stained"], "true": [], "vol": 0.0015},
    {"name": "jar_1", "synset": "jar.n.01", "props": ["open", "dusty", "stained"], "true": ["open"], "vol": 0.0015},
    {"name": "apple_0", "synset": "apple.n.01", "props": ["cooked", "frozen", "sliced"], "true": ["frozen"],
     "vol": 0.0004, "parts": ["apple_0_part_0", "apple_0_part_1"]},
    {"name": "pear_0", "synset": "food.n.01", "props": ["cooked", "frozen", "sliced"], "true": [], "vol": 0.0004},
    {"name": "knife_0", "synset": "knife.n.01", "props": ["slicer"], "true": [], "vol": 0.0003},
    {"name": "sink_2", "synset": "sink.n.01", "props": ["toggled_on", "stained"], "true": [], "vol": 0.1},
    {"name": "rag_0", "synset": "rag.n.01", "props": ["cleaningtool", "soaked", "dusty"], "true": [], "vol": 0.0005},
    {"name": "table_3", "synset": "table.n.01", "props": ["dusty", "stained"], "true": ["dusty", "stained"],
     "vol": 0.5},
    {"name": "bed_4", "synset": "bed.n.01", "props": ["dusty"], "true": ["dusty"], "vol": 3.0},
    {"name": "dishwasher_5", "synset": "dishwasher.n.01", "props": ["open", "toggled_on"], "true": [], "vol": 0.2},
    {"name": "plate_6", "synset": "plate.n.01", "props": ["stained"], "true": ["stained"], "vol": 0.0006},
    {"name": "plate_60", "synset": "plate.n.01", "props": ["stained"], "true": [], "vol": 0.0006},
    {"name": "saucepan_7", "synset": "pan.n.01", "props": ["stained"], "true": [], "vol": 0.005},
    {"name": "detergent_8", "synset": "detergent.n.01", "props": [], "true": [], "vol": 0.001},
    {"name": "tray_9", "synset": "tray.n.01", "props": [], "true": [], "vol": 0.0001},
    {"name": "room_floor_kitchen_0", "synset": "floor.n.01", "props": ["dusty", "stained"], "true": [], "floor": true}
  ],
  "sim_init": {
    "tree": [["apple_0", "fridge_1", "inside"], ["jar_0", "table_3", "ontop"], ["plate_6", "table_3", "ontop"],
             ["rag_0", "tray_9", "ontop"]],
    "edges": [["table_3", "room_floor_kitchen_0", "onfloor", "given"],
              ["saucepan_7", "room_floor_kitchen_0", "onfloor", "given"]]},
  "goal": [["open", "fridge_1"]],
  "gold": [["OPEN", "fridge_1"]]
})";

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    static int count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("behavior_scorer_test_" + std::to_string(::getpid()) + "_" + std::to_string(++count) + ".jsonl"))
                .string();
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline json kitchen_row() { return json::parse(kKitchen); }

inline ActionTask load(const json& row) { return load_action_tasks(TemporaryFile(row.dump() + "\n").path()).at(0); }

inline ActionTask kitchen(const json& goals = json::array({{"open", "fridge_1"}})) {
  json row = kitchen_row();
  row["goal"] = goals;
  return load(row);
}

// "VERB object" or "VERB a, b"
inline std::string answer_of(const Names& steps) {
  json plan = json::array();
  for (const std::string& step : steps) {
    const std::size_t space = step.find(' ');
    plan.push_back({{"action", step.substr(0, space)}, {"object", step.substr(space + 1)}});
  }
  return plan.dump();
}

inline std::string dotted(const std::string& name) {
  const std::size_t at = name.rfind('_');
  return name.substr(0, at) + "." + name.substr(at + 1);
}

inline json subgoal_row() {
  json row = {{"id", "kitchen_1"}, {"task", "kitchen"}, {"objects", json::array()}};
  const json world = kitchen_row();
  for (const json& object : world["objects"]) {
    std::string category = object["synset"];
    std::replace(category.begin(), category.end(), '.', '_');
    row["objects"].push_back(
        {{"name", dotted(object["name"])}, {"category", category}, {"addressable", object["name"]}});
  }
  return row;
}

inline SubgoalResult subgoals_text(const std::string& text, const json& goals = json::array({{"open", "fridge_1"}})) {
  json world = kitchen_row();
  world["goal"] = goals;
  const TemporaryFile worlds_file(world.dump());
  const TemporaryFile tasks_file(subgoal_row().dump());
  const std::vector<ActionTask> worlds = load_action_tasks(worlds_file.path());
  const std::vector<SubgoalTask> tasks = load_subgoal_tasks(tasks_file.path(), worlds);
  return score_subgoal_answer(tasks.at(0), worlds.at(0), text);
}

inline SubgoalResult subgoals(const Names& strings, const json& goals = json::array({{"open", "fridge_1"}})) {
  return subgoals_text(json{{"output", strings}}.dump(), goals);
}

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_TESTS_SUPPORT_BEHAVIOR_KITCHEN_H_
