// Every recorded verdict of the BEHAVIOR evaluator: step outcomes, error classes, goal conditions, task and execution
// success of both modules; and its goal expansion, made again from the goals. On the excerpt that ships, and on all that
// was recorded where that is at hand.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/behavior/action_scorer.h"
#include "benchmarks/behavior/goal_options.h"
#include "benchmarks/behavior/subgoal_scorer.h"
#include "benchmarks/behavior/task_file.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::behavior::behavior_vectors_test {
namespace {

using nlohmann::json;

using testing::Extent;

class BehaviorVectors : public ::testing::TestWithParam<Extent> {
 protected:
  void SetUp() override { METACTRL_NEEDS_EXTENT(GetParam(), "eai_beh"); }

  bool whole() const { return GetParam() == Extent::kWhole; }
  std::string data(const std::string& name) const { return testing::data_path("eai_beh/" + name, GetParam()).string(); }
  std::vector<json> rows(const std::string& name) const {
    std::vector<json> result;
    std::ifstream file(data(name));
    for (std::string line; std::getline(file, line);) result.push_back(json::parse(line));
    return result;
  }
};

json goals_of(const TaskScore& score) {
  json goals = json::array();
  for (const GoalScore& goal : score.goals) goals.push_back(goal.reached);
  return goals;
}

std::map<std::string, std::size_t> by_id(const std::vector<ActionTask>& tasks) {
  std::map<std::string, std::size_t> result;
  for (std::size_t i = 0; i < tasks.size(); ++i) result.emplace(tasks[i].id, i);
  return result;
}

TEST_P(BehaviorVectors, Actions) {
  const std::vector<ActionTask> tasks = load_action_tasks(data("as_tasks.jsonl"));
  const auto index = by_id(tasks);
  std::size_t count = 0;
  for (const json& row : rows("as_vectors.jsonl")) {
    std::string text;
    if (row["text"].is_string()) {
      text = row["text"].get<std::string>();
    } else {
      json plan = json::array();
      for (const json& step : row["plan"]) plan.push_back({{"action", step[0]}, {"object", step[1]}});
      text = plan.dump();
    }
    const ActionTask& task = tasks[index.at(row["id"].get<std::string>())];
    const TaskScore score = score_action_answer(task, text);
    const std::string what = "vector " + std::to_string(++count) + " of " + task.id + ": " + text.substr(0, 3000);
    json steps = json::array();
    for (const StepScore& step : score.steps) {
      steps.push_back(step.outcome);
      EXPECT_EQ(step.outcome == "ok", step.reason.empty()) << what;
    }
    EXPECT_EQ(steps, row["steps"]) << what;
    EXPECT_EQ(score.executable, row["exec"].get<bool>()) << what;
    EXPECT_EQ(score.success == 1, row["task"].get<bool>()) << what;
    if (row["format_error"].is_string()) {
      EXPECT_EQ(score.verdict, row["format_error"].get<std::string>()) << what;
    } else {
      EXPECT_EQ(goals_of(score), row["goal"]) << what;
    }
    EXPECT_EQ(score.reason.empty(), score.executable && score.success == 1) << what;
  }
  EXPECT_EQ(count, whole() ? 1096U : 240U);
}

TEST_P(BehaviorVectors, Subgoals) {
  const std::vector<ActionTask> worlds = load_action_tasks(data("as_tasks.jsonl"));
  const std::vector<SubgoalTask> tasks = load_subgoal_tasks(data("sd_tasks.jsonl"), worlds);
  std::map<std::string, const SubgoalTask*> index;
  for (const SubgoalTask& task : tasks) index.emplace(task.id, &task);
  std::size_t count = 0;
  for (const json& row : rows("sd_vectors.jsonl")) {
    const SubgoalTask& task = *index.at(row["id"].get<std::string>());
    const std::string text = json{{"output", row["plan"]}}.dump();
    const SubgoalResult result = score_subgoal_answer(task, worlds[task.world], text);
    const std::string what = "vector " + std::to_string(++count) + " of " + task.id + ": " + text;
    const std::string verdict = row["result"].get<std::string>();
    EXPECT_EQ(result.score.verdict, verdict) << what;
    EXPECT_EQ(result.score.executable, verdict == "Correct" || verdict == "GoalUnreachable") << what;
    EXPECT_EQ(result.score.success, verdict == "Correct" ? 1 : 0) << what;
    if (!row.contains("actions")) continue;
    json actions = json::array();
    for (const auto& [action, object] : result.actions) actions.push_back({action, object});
    EXPECT_EQ(actions, row["actions"]) << what;
    json errors = json::array();
    for (const SubgoalError& error : result.errors) {
      errors.push_back(json::array({error.subgoal,
                                    {{"action", error.action}, {"object", error.object}},
                                    json::array({"ErrorType." + error.error})}));
    }
    if (verdict == "GoalUnreachable") {
      errors.push_back(json::array({"None", nullptr, json::array({"ErrorType.GOAL_FAILED"})}));
    }
    EXPECT_EQ(errors, row["errors"]) << what;
    EXPECT_EQ(goals_of(result.score), row["goal"]) << what;
  }
  EXPECT_EQ(count, whole() ? 432U : 88U);
}

TEST_P(BehaviorVectors, GoalExpansion) {
  const std::vector<ActionTask> tasks = load_action_tasks(data("as_tasks.jsonl"));
  const std::vector<json> task_rows = rows("as_tasks.jsonl");
  ASSERT_EQ(tasks.size(), task_rows.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t g = 0; g < tasks[i].goals.size(); ++g) {
      EXPECT_EQ(expand_goal(task_rows[i]["goal"][g], tasks[i].scene), tasks[i].goals[g].options)
          << tasks[i].id << ": " << tasks[i].goals[g].text;
    }
  }
}

// What the simulator says about the goals in the start state.
TEST_P(BehaviorVectors, InitialGoals) {
  const std::vector<ActionTask> tasks = load_action_tasks(data("as_tasks.jsonl"));
  const std::vector<json> task_rows = rows("as_tasks.jsonl");
  std::size_t compared = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const json& official = task_rows[i]["official_initial_goal"];
    if (!official.is_array() || official.size() != tasks[i].goals.size()) continue;
    for (std::size_t g = 0; g < official.size(); ++g) {
      if (!official[g].is_boolean()) continue;
      ++compared;
      EXPECT_EQ(goal_truth(tasks[i].scene, tasks[i].start, tasks[i].goals[g].options) == GoalTruth::kTrue,
                official[g].get<bool>())
          << tasks[i].id << ": " << tasks[i].goals[g].text;
    }
  }
  EXPECT_EQ(compared, whole() ? 181U : 48U);
}

TEST_P(BehaviorVectors, WholeFiles) {
  std::vector<Response> actions;
  std::vector<Response> subgoals;
  std::size_t references = 0;
  for (const json& row : rows("as_tasks.jsonl")) {
    if (!row["reference"].is_array()) continue;
    ++references;
    json plan = json::array();
    for (const json& step : row["reference"]) plan.push_back({{"action", step[0]}, {"object", step[1]}});
    actions.push_back({row["id"].get<std::string>(), plan.dump()});
  }
  std::size_t correct = 0;
  for (const json& row : rows("sd_tasks.jsonl")) {
    correct += row["derived_result"] == "Correct" ? 1 : 0;
    // The evaluator finds an answer by the name of the task.
    subgoals.push_back({"x_" + row["task"].get<std::string>(), json{{"output", row["derived_plan"]}}.dump()});
  }
  const Score first = score_behavior_actions(data("as_tasks.jsonl"), actions);
  std::size_t successes = 0;
  for (const TaskScore& task : first.tasks) successes += task.success == 1 && task.executable ? 1 : 0;
  EXPECT_EQ(first.tasks.size(), whole() ? 54U : 11U);
  EXPECT_EQ(successes, references);
  EXPECT_TRUE(first.strangers.empty());
  const Score second = score_behavior_subgoals(data("sd_tasks.jsonl"), data("as_tasks.jsonl"), subgoals);
  successes = 0;
  for (const TaskScore& task : second.tasks) successes += task.success == 1 ? 1 : 0;
  EXPECT_EQ(successes, correct);
  EXPECT_TRUE(second.strangers.empty());
}

INSTANTIATE_TEST_SUITE_P(Data, BehaviorVectors, ::testing::ValuesIn(testing::kExtents), testing::extent_name);

}  // namespace
}  // namespace metactrl::benchmarks::behavior::behavior_vectors_test
