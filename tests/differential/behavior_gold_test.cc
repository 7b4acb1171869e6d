// The benchmark's PDDL reference plans under the rules of the paper: how many of them contain a step that those rules
// reject. The paper counts 17 of 100 and takes them for the price of rules that know no task; docs/benchmarks.md has
// our number.
//
// The plans are for a robot with one hand that walks. Here walking is no action and the right hand is used. Holding a
// thing under running water becomes putting it into the sink, soaking it and taking it out. The plans put things next
// to others, often next to themselves, on something, which is read as putting them on that. Dust and stains go with one
// CLEAN, so the second of the same thing is left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/behavior/prompt_reader.h"
#include "support/behavior_tasks.h"

namespace metactrl::testing::behavior_gold_test {
namespace {

using benchmarks::Rules;

class GoldPlan {
 public:
  explicit GoldPlan(const std::string& prompt) {
    std::map<std::string, int> count;
    for (const auto& object : benchmarks::behavior::read_behavior_actions_scene(prompt).objects) {
      std::string name = object.synset;
      std::replace(name.begin(), name.end(), '.', '_');
      names_[name + "_" + std::to_string(++count[object.synset])] = object.name;
    }
  }

  void take(const std::string& line) {
    std::istringstream in(line);
    std::string action;
    in >> action;
    std::vector<std::string> objects;
    for (std::string word; in >> word;) {
      if (!word.starts_with("agent_n_01")) objects.push_back(names_.contains(word) ? names_.at(word) : word);
    }
    if (action == "navigate_to") return;
    if (action == "grasp" || action == "release") {
      add("right_" + action, {objects[0]});
    } else if (action == "place_nextto_ontop" || action == "place_onfloor") {
      add("right_place_ontop", {objects.back()});
    } else if (action.starts_with("place_")) {
      add("right_" + action, {objects[1]});
    } else if (action.starts_with("slice")) {
      add("slice", {objects[0]});
    } else if (action.starts_with("soak")) {
      add("right_place_inside", {objects[1]});
      add("soak", {objects[0]});
      add("right_grasp", {objects[0]});
    } else if (action.starts_with("clean")) {
      if (cleaned_.insert(objects[1]).second) add("clean", {objects[1]});
    } else {
      add(action, {objects[0]});  // open, close, toggle_on, freeze, cook
    }
  }

  const std::vector<PlanStep>& steps() const { return steps_; }

 private:
  void add(const std::string& action, const std::vector<std::string>& objects) { steps_.push_back({action, objects}); }

  std::map<std::string, std::string> names_;
  std::set<std::string> cleaned_;
  std::vector<PlanStep> steps_;
};

class BehaviorGold : public ::testing::TestWithParam<Extent> {};

TEST_P(BehaviorGold, TheRulesOfThePaperRejectSomeReferencePlans) {
  METACTRL_NEEDS_EXTENT(GetParam(), "eai_beh");
  std::map<std::string, std::string> prompts;
  for (const BehaviorPrompt& entry : behavior_prompts(BehaviorModule::kActions, GetParam())) {
    prompts[entry.identifier] = entry.text;
  }
  std::ifstream in(data_path("eai_beh/pddl_tasks.jsonl", GetParam()));
  int plans = 0;
  int rejected = 0;
  int lids = 0;  // because of the rule that buckets, baskets and bins have no lid
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const std::string id = row.at("id");
    ASSERT_TRUE(prompts.contains(id)) << id;
    GoldPlan plan(prompts[id]);
    for (const nlohmann::json& step : row.at("plan")) plan.take(step.get<std::string>());
    const Task task = load_behavior(BehaviorModule::kActions, prompts[id], Rules::kPaper);
    const Validation validation = task.validate(plan.steps());
    ++plans;
    if (validation.steps_executed == plan.steps().size()) continue;
    ++rejected;
    const std::string step = to_string(plan.steps()[validation.steps_executed]);
    if (step.starts_with("(open bucket") || step.starts_with("(open basket") || step.starts_with("(open trash")) ++lids;
    std::cout << id << ": " << validation.reason << '\n';
  }
  std::cout << rejected << " of " << plans << " plans rejected, " << lids << " of them for opening what has no lid\n";
  EXPECT_EQ(plans, GetParam() == Extent::kWhole ? 54 : 11);
  EXPECT_EQ(rejected, GetParam() == Extent::kWhole ? 17 : 3);
}

INSTANTIATE_TEST_SUITE_P(Data, BehaviorGold, ::testing::ValuesIn(kExtents), extent_name);

}  // namespace
}  // namespace metactrl::testing::behavior_gold_test
