// Every recorded verdict about plans of Watch-And-Help, reproduced: those of VirtualHome's graph executor and those of
// the strict one. And on plans made at random, whatever the strict one accepts the other accepts, with the same
// outcome.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/watch_and_help/executor.h"
#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::watch_and_help::wah_vectors_test {
namespace {

using virtualhome::Action;
using virtualhome::Outcome;
using virtualhome::Relation;
using virtualhome::State;
using Json = nlohmann::json;

std::map<std::string, HelpTask> all_tasks() {
  std::map<std::string, HelpTask> tasks;
  for (HelpTask& task :
       read_tasks(testing::data_path("wah_nl/tasks.jsonl").string(), testing::data_path("wah_nl").string())) {
    tasks.emplace(task.id, std::move(task));
  }
  return tasks;
}

Action read_action(const HelpTask& task, const Json& step) {
  Action action{step.at(0), {}};
  for (std::size_t i = 1; i < step.size(); ++i) {
    const int id = step[i];
    action.arguments.push_back({task.scene->node(id).name, id});
  }
  return action;
}

GoalView view(const virtualhome::Executor& executor) {
  return {[&](int x, Relation relation, int y) { return executor.world().has_edge_now(x, relation, y); },
          [&](int x) { return executor.world().has_state(x, State::kOn); }};
}

// The benchmark's number for an error.
std::optional<int> error_type(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return std::nullopt;
    case Outcome::kWrongOrder:  // which this benchmark does not tell from a missing step
    case Outcome::kMissingStep:
      return 1;
    case Outcome::kAffordance:
      return 2;
    case Outcome::kAdditionalStep:
      return 4;
    case Outcome::kCrash:
      break;
  }
  return -1;
}

void expect_judged(const HelpTask& task, const GoalView& view, const Json& expected) {
  const Judgement judgement = judge(task.goal, *task.scene, view);
  EXPECT_EQ(judgement.all(), expected.at("goal").get<bool>());
  const double ssr = static_cast<double>(judgement.count()) / static_cast<double>(task.goal.size());
  EXPECT_NEAR(ssr, expected.at("ssr").get<double>(), 1e-5);
}

TEST(WatchAndHelpVectors, BothExecutorsAgreeWithTheRecords) {
  METACTRL_NEEDS_DATA("wah_nl/executor_vectors.jsonl");
  const std::map<std::string, HelpTask> tasks = all_tasks();
  std::ifstream in(testing::data_path("wah_nl/executor_vectors.jsonl"));
  std::size_t count = 0;
  std::size_t different = 0;
  for (std::string line; std::getline(in, line); ++count) {
    SCOPED_TRACE(line);
    const Json row = Json::parse(line);
    const HelpTask& task = tasks.at(std::to_string(row.at("task_id").get<int>()));

    Executor strict(*task.scene);
    int failed_strictly = -1;
    std::string rule;
    for (std::size_t i = 0; i < row.at("plan").size() && failed_strictly < 0; ++i) {
      const std::optional<Failure> failure = strict.execute(read_action(task, row["plan"][i]));
      if (!failure) continue;
      failed_strictly = static_cast<int>(i);
      rule = failure->rule;
    }
    const Json& expected = row.at("strict");
    EXPECT_EQ(failed_strictly, expected.at("fail_step").get<int>()) << rule;
    EXPECT_EQ(rule, expected.at("error").is_null() ? "" : expected["error"].get<std::string>());
    expect_judged(task, strict.view(), expected);

    virtualhome::Executor graph(*task.scene);
    int failed = -1;
    std::optional<int> type;
    for (std::size_t i = 0; i < row["plan"].size() && failed < 0; ++i) {
      const virtualhome::StepResult result = graph.execute(read_action(task, row["plan"][i]));
      type = error_type(result.outcome);
      if (type) failed = static_cast<int>(i);
    }
    const Json& recorded = row.at("evolving_graph");
    EXPECT_EQ(failed, recorded.at("fail_step").get<int>());
    EXPECT_EQ(type, recorded.at("error_type").is_null() ? std::nullopt
                                                        : std::optional<int>(recorded["error_type"].get<int>()));
    expect_judged(task, view(graph), recorded);
    different += failed != failed_strictly ? 1 : 0;
  }
  EXPECT_EQ(count, 264U);
  EXPECT_EQ(different, 3U);
}

// Plans that go on as long as the strict executor agrees: mostly sensible, over the things that matter and some others.
class RandomPlans {
 public:
  RandomPlans(const HelpTask& task, std::mt19937& random) : random_(random) {
    things_ = list_things(*task.scene, task.goal).things();
    for (int i = 0; i < 20; ++i) things_.push_back(task.scene->nodes()[random() % task.scene->nodes().size()].id);
    std::erase(things_, task.scene->character());
  }
  Action next(const virtualhome::Scene& scene, const Executor& executor) {
    static const std::vector<std::string> kActions = {"WALK",  "GRAB",     "GRAB",  "OPEN",
                                                      "CLOSE", "SWITCHON", "PUTIN", "PUTBACK"};
    const std::string& name = kActions[random_() % kActions.size()];
    Action action{name, {}};
    for (std::size_t i = 0; i < *arity(name); ++i) {
      int id = things_[random_() % things_.size()];
      // Most things are far away: look for one that is not.
      for (int tries = 0; tries < 30 && name != "WALK"; ++tries) {
        if (i == 0 && *arity(name) == 2 ? executor.holds(id) : executor.is_near(id)) break;
        id = things_[random_() % things_.size()];
      }
      action.arguments.push_back({scene.node(id).name, id});
    }
    return action;
  }

 private:
  std::mt19937& random_;
  std::vector<int> things_;
};

TEST(WatchAndHelpVectors, WhatTheStrictExecutorAcceptsTheOtherAccepts) {
  METACTRL_NEEDS_DATA("wah_nl/tasks.jsonl");
  std::mt19937 random(20);
  std::map<std::string, std::size_t> accepted;
  for (const auto& [id, task] : all_tasks()) {
    SCOPED_TRACE(id);
    Executor strict(*task.scene);
    virtualhome::Executor graph(*task.scene);
    RandomPlans plans(task, random);
    for (int i = 0; i < 600; ++i) {
      const Action action = plans.next(*task.scene, strict);
      if (strict.execute(action)) continue;
      const virtualhome::StepResult result = graph.execute(action);
      ASSERT_EQ(result.outcome, Outcome::kOk) << to_text(action) << ": " << result.reason;
      ++accepted[action.name];
      for (const virtualhome::Argument& argument : action.arguments) {
        for (const State state : {State::kOpen, State::kClosed, State::kOn, State::kOff}) {
          ASSERT_EQ(strict.has_state(argument.id, state), graph.world().has_state(argument.id, state))
              << to_text(action);
        }
      }
    }
    const Judgement here = judge(task.goal, *task.scene, strict.view());
    const Judgement there = judge(task.goal, *task.scene, view(graph));
    EXPECT_EQ(here.reached, there.reached);
  }
  for (const char* action : {"WALK", "GRAB", "OPEN", "CLOSE", "SWITCHON", "PUTIN", "PUTBACK"}) {
    EXPECT_GT(accepted[action], 20U) << action;
  }
}

}  // namespace
}  // namespace metactrl::benchmarks::watch_and_help::wah_vectors_test
