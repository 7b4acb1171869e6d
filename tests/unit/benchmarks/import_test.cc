// A small checkout of our own in the benchmark's layout: what is imported can be answered and scored.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/import_eai.h"
#include "benchmarks/module.h"
#include "metactrl/error.h"
#include "support/eai_checkout.h"

namespace metactrl::benchmarks::import_test {
namespace {

using testing::EaiCheckout;
namespace fs = std::filesystem;

class Import : public ::testing::Test {
 protected:
  Import()
      : folder_(fs::path(::testing::TempDir()) /
                (std::string("metactrl_import_") + ::testing::UnitTest::GetInstance()->current_test_info()->name())),
        checkout_(folder_ / "checkout") {
    options_.root = checkout_.root().string();
    options_.out = (folder_ / "out").string();
  }
  ~Import() override { fs::remove_all(folder_); }

  fs::path out(const std::string& name) const { return folder_ / "out" / name; }

  static std::vector<nlohmann::json> rows(const fs::path& file) {
    std::ifstream in(file);
    std::vector<nlohmann::json> out;
    for (std::string line; std::getline(in, line);) out.push_back(nlohmann::json::parse(line));
    return out;
  }

  static std::string text(const fs::path& file) {
    std::ostringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
  }

  // The message of the error that an import ends with.
  std::string failure() const {
    try {
      import_eai(options_);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  // Answers what was imported by search and scores the answers.
  void expect_solved(const char* module_name, const std::string& prompts, const std::string& tasks) const {
    SCOPED_TRACE(module_name);
    const Module& module = *find_module(module_name);
    EvaluateOptions options;
    options.plan.guidance = Guidance::kSearch;
    options.count_conditions = true;
    std::vector<Response> responses;
    for (const PromptEntry& entry : read_prompts(out(prompts).string())) {
      const Answer answer = answer_prompt(module, entry, nullptr, nullptr, options);
      EXPECT_EQ(answer.error, "");
      EXPECT_GT(answer.conditions.declared, 0U);
      responses.push_back({entry.identifier, answer.output});
    }
    const Score score = module.score(out(tasks).string(), out(tasks).parent_path().string(), responses);
    EXPECT_EQ(score.n, responses.size());
    EXPECT_GT(score.n, 0U);
    for (const TaskScore& task : score.tasks) {
      EXPECT_TRUE(task.success == 1 || task.equals_gold) << task.identifier << ": " << task.reason;
    }
  }

  fs::path folder_;
  EaiCheckout checkout_;
  ImportOptions options_;
};

TEST_F(Import, WhatComesOutCanBeAnsweredAndScored) {
  const ImportResult result = import_eai(options_);
  EXPECT_TRUE(result.missing.empty());
  EXPECT_EQ(result.files.size(), 12U);
  for (const std::string& file : result.files) EXPECT_TRUE(fs::exists(file)) << file;
  EXPECT_FALSE(fs::exists(out("eai_vh/import.partial")));
  expect_solved("vh-as", "eai_vh/as_prompts.json", "eai_vh/as.jsonl");
  expect_solved("vh-sd", "eai_vh/sd_prompts.json", "eai_vh/sd.jsonl");
  expect_solved("beh-as", "eai_beh/as_prompts.json", "eai_beh/as_tasks.jsonl");
  expect_solved("beh-sd", "eai_beh/sd_prompts.json", "eai_beh/sd_tasks.jsonl");
  EXPECT_EQ(read_system_prompt(out("eai_vh/sd_system.json").string()), "You decompose goals.");
}

TEST_F(Import, VirtualHomeTasksSayWhatChanges) {
  import_eai(options_);
  const std::vector<nlohmann::json> tasks = rows(out("eai_vh/as.jsonl"));
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0]["id"], "1_1");
  EXPECT_EQ(tasks[0]["task"], "Turn on lamp");
  EXPECT_EQ(tasks[0]["description"], "Go and switch it on.");
  EXPECT_EQ(tasks[0]["gold"], nlohmann::json({"[WALK] <lamp> (1000)", "[SWITCHON] <lamp> (1000)"}));
  EXPECT_EQ(tasks[0]["objects"].size(), 2U);  // the lamp, and the robot that walks to it
  EXPECT_EQ(tasks[0]["prompt_state_nodes"], nlohmann::json({1000}));
  EXPECT_EQ(tasks[0]["prompt_edges"], nlohmann::json::array());
  EXPECT_EQ(tasks[1]["prompt_edges"], nlohmann::json::parse(R"([[1000, "INSIDE", 319]])"));
  EXPECT_EQ(tasks[1]["edge_goals"], nlohmann::json::parse(R"([[1000, "ON", 230]])"));
  EXPECT_EQ(tasks[1]["action_goals"], nlohmann::json({"GRAB"}));
  const std::string prompt = tasks[0]["prompt"];
  EXPECT_NE(prompt.find("lamp, id: 1000, properties: ['HAS_PLUG', 'HAS_SWITCH']\n"), std::string::npos) << prompt;
  EXPECT_NE(prompt.find("lamp, states: ['CLEAN', 'OFF', 'PLUGGED_IN'], properties:['HAS_PLUG', 'HAS_SWITCH']\n"),
            std::string::npos);
  EXPECT_NE(prompt.find("Node goals are:\nlamp is ON\nlamp is PLUGGED_IN\n-----"), std::string::npos);
  const std::vector<nlohmann::json> subgoals = rows(out("eai_vh/sd.jsonl"));
  ASSERT_EQ(subgoals.size(), 2U);
  EXPECT_EQ(subgoals[1]["goal_states"], nlohmann::json({"ONTOP(cup.1000, table.230)"}));
  EXPECT_EQ(subgoals[1]["initial_states"], nlohmann::json({"INSIDE(cup.1000, home_office.319)"}));
  EXPECT_EQ(subgoals[1]["necessity"], "Yes");
  // The second scene differs from the first in the table's state and in what was added.
  const std::vector<nlohmann::json> graphs = rows(out("eai_vh/graphs.jsonl"));
  EXPECT_EQ(graphs[1]["states"], nlohmann::json::parse(R"({"230": ["DIRTY"]})"));
  EXPECT_EQ(graphs[1]["nodes_add"].size(), 1U);
}

TEST_F(Import, BehaviorTasksHoldTheWorldAtTheStart) {
  EaiCheckout::write(folder_ / "sizes.json", R"({"known": {"Pomaria_0_int": {"printer_0": [0.5, 0.5, 0.4]}},
                                                 "estimate": {"breakfast_table": 0.7}})");
  options_.sizes = (folder_ / "sizes.json").string();
  import_eai(options_);
  const nlohmann::json task = rows(out("eai_beh/as_tasks.jsonl")).at(0);
  EXPECT_EQ(task["task"], "installing_a_printer");
  EXPECT_EQ(task["scene"], "Pomaria_0_int");
  EXPECT_EQ(task["objects"][0]["bddl"], "printer.n.03_1");
  EXPECT_DOUBLE_EQ(task["objects"][0]["vol"], 0.1);
  EXPECT_DOUBLE_EQ(task["objects"][2]["vol"], 0.7);
  EXPECT_EQ(task["objects"][1]["floor"], true);
  EXPECT_EQ(task["gold"], nlohmann::json::parse(R"([["RIGHT_GRASP", "printer_0"], ["TOGGLE_ON", "printer_0"]])"));
  EXPECT_EQ(task["sim_init"]["edges"],
            nlohmann::json::parse(R"([["breakfast_table_3", "room_floor_home_office_0", "onfloor"],
                                      ["printer_0", "room_floor_home_office_0", "onfloor"]])"));
}

TEST_F(Import, WhatIsMissingIsNamedWithTheFix) {
  fs::remove(checkout_.graph("2_1"));
  EXPECT_NE(failure().find("file2_1.json"), std::string::npos) << failure();
  EXPECT_NE(failure().find("clone"), std::string::npos);
  fs::remove(checkout_.task_file());
  EXPECT_NE(failure().find("task_state_LTL_formula_accurate.json"), std::string::npos) << failure();
  options_.root = (folder_ / "nowhere").string();
  EXPECT_NE(failure().find("not a folder"), std::string::npos);
  fs::create_directories(options_.root);
  EXPECT_NE(failure().find("neither src/virtualhome_eval nor src/behavior_eval"), std::string::npos);
}

TEST_F(Import, BadFilesAreNamedWithThePlace) {
  EaiCheckout::write(checkout_.graph("1_1"), R"({"init_graph": {"nodes": [{"id": "x"}], "edges": []}})");
  EXPECT_NE(failure().find("file1_1.json: error: init_graph, node 1: 'id' is not a number"), std::string::npos)
      << failure();
  EaiCheckout::write(checkout_.graph("1_1"), "version https://git-lfs.github.com/spec/v1");
  EXPECT_NE(failure().find("git lfs pull"), std::string::npos);
}

TEST_F(Import, WithoutATemplateTheCommandThatMakesPromptsIsNamed) {
  EaiCheckout::write(checkout_.action_template(), "prompt = \"\"\"old <object_in_scene>\"\"\"");
  const ImportResult result = import_eai(options_);
  ASSERT_EQ(result.missing.size(), 1U);
  EXPECT_NE(result.missing[0].find("eai-eval --dataset virtualhome --mode generate_prompts"), std::string::npos);
  EXPECT_FALSE(fs::exists(out("eai_vh/as_prompts.json")));
  EXPECT_TRUE(fs::exists(out("eai_vh/as.jsonl")));
  expect_solved("vh-sd", "eai_vh/sd_prompts.json", "eai_vh/sd.jsonl");
  // As made by that command.
  EaiCheckout::write(checkout_.root() / "output/virtualhome/generate_prompts/action_sequencing/helm_prompt.json",
                     R"([{"identifier": "1_1", "llm_prompt": "mine"}])");
  const ImportResult again = import_eai(options_);
  ASSERT_EQ(again.missing.size(), 1U);  // of the other task
  EXPECT_NE(again.missing[0].find("2_1"), std::string::npos);
  EXPECT_EQ(read_prompts(out("eai_vh/as_prompts.json").string()).at(0).prompt, "mine");
}

TEST_F(Import, GoesOnWhereItWasStopped) {
  int asked = 0;
  options_.cancelled = [&] { return ++asked > 1; };
  EXPECT_TRUE(import_eai(options_).cancelled);
  EXPECT_TRUE(fs::exists(out("eai_vh/import.partial")));
  EXPECT_FALSE(fs::exists(out("eai_vh/as.jsonl")));
  options_.cancelled = nullptr;
  options_.resume = true;
  fs::remove(checkout_.graph("1_1"));  // is done already
  EXPECT_TRUE(import_eai(options_).missing.empty());
  EXPECT_EQ(rows(out("eai_vh/as.jsonl")).size(), 2U);
  expect_solved("vh-as", "eai_vh/as_prompts.json", "eai_vh/as.jsonl");
}

TEST_F(Import, OneHalfAloneIsEnough) {
  fs::remove_all(checkout_.virtualhome());
  const ImportResult result = import_eai(options_);
  EXPECT_EQ(result.files.size(), 5U);
  EXPECT_NE(result.notes.at(0).find("src/virtualhome_eval"), std::string::npos);
}

}  // namespace
}  // namespace metactrl::benchmarks::import_test
