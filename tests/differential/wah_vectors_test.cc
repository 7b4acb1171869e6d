// Every recorded verdict about plans of Watch-And-Help, reproduced: those of VirtualHome's graph executor and those of
// the strict one, recorded by programs that are not ours. And on plans made at random, whatever the strict one accepts the
// other accepts, with the same outcome. On an apartment of our own, whose verdicts were worked out by hand, and on the
// benchmark's where that is at hand.
//
// Planner and scorer share the reader of task files and the judge of goals. Both are held against the verdicts, and the
// reader against the files, read once more here.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/watch_and_help/executor.h"
#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::watch_and_help::wah_vectors_test {
namespace {

using testing::Extent;
using virtualhome::Action;
using virtualhome::Outcome;
using virtualhome::Relation;
using virtualhome::State;
using Json = nlohmann::json;

class WatchAndHelpVectors : public ::testing::TestWithParam<Extent> {
 protected:
  void SetUp() override { METACTRL_NEEDS_EXTENT(GetParam(), "wah_nl"); }

  bool whole() const { return GetParam() == Extent::kWhole; }
  std::string data(const std::string& name) const { return testing::data_path("wah_nl/" + name, GetParam()).string(); }
  std::vector<Json> rows(const std::string& name) const {
    std::vector<Json> result;
    std::ifstream in(data(name));
    for (std::string line; std::getline(in, line);) result.push_back(Json::parse(line));
    return result;
  }
  std::map<std::string, HelpTask> all_tasks() const {
    std::map<std::string, HelpTask> tasks;
    for (HelpTask& task : read_tasks(data("tasks.jsonl"), data(""))) tasks.emplace(task.id, std::move(task));
    return tasks;
  }
};

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

TEST_P(WatchAndHelpVectors, BothExecutorsAgreeWithTheRecords) {
  const std::map<std::string, HelpTask> tasks = all_tasks();
  std::size_t count = 0;
  std::size_t different = 0;
  for (const Json& row : rows("executor_vectors.jsonl")) {
    SCOPED_TRACE(row.dump());
    ++count;
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
  EXPECT_EQ(count, whole() ? 264U : 27U);
  EXPECT_EQ(different, 3U);
}

// What the files say, without the reader: nodes with their words, places, goals.
struct Apartment {
  std::map<int, std::set<std::string>> nodes;  // id -> class, whether it is a room, properties, states
  std::set<std::tuple<int, std::string, int>> edges;
  std::multiset<std::string> goals;
};

Apartment read_again(const Json& task, const Json& scene, const Json& classes) {
  Apartment out;
  std::map<std::string, int> rooms;
  const auto add = [&](int id, const std::string& name, const Json& about) {
    std::set<std::string>& words = out.nodes[id];
    words = {"class " + name};
    for (const char* list : {"properties", "states"}) {
      for (const Json& word : about.at(list)) words.insert(word.get<std::string>());
    }
  };
  for (const Json& node : scene.at("nodes")) {
    add(node["id"], node["class_name"], node);
    if (node["category"] != "Rooms") continue;
    rooms.emplace(node["class_name"], node["id"]);
    out.nodes[node["id"].get<int>()].insert("a room");
  }
  for (const Json& edge : scene.at("edges")) out.edges.emplace(edge[0], edge[1], edge[2]);
  for (const int id : task.at("remove")) {
    out.nodes.erase(id);
    std::erase_if(out.edges, [&](const auto& edge) { return std::get<0>(edge) == id || std::get<2>(edge) == id; });
  }
  for (const Json& thing : task.at("add")) {
    const int id = thing["id"];
    add(id, thing["class_name"], classes.at(thing["class_name"].get<std::string>()));
    out.edges.emplace(id, "INSIDE", thing["room"]);
    out.edges.emplace(id, thing["rel"], thing["to"]);
  }
  add(task.at("agent_id"), "character", {{"properties", Json::array()}, {"states", Json::array()}});
  out.edges.emplace(task["agent_id"], "INSIDE", rooms.at(task.at("init_room")));
  for (const Json& goal : task.at("goal")) {
    const std::string target = goal.at("target");
    const std::string inside = goal.contains("object") ? goal["object"].get<std::string>() + ", " + target : target;
    for (int i = 0; i < goal.at("count").get<int>(); ++i)
      out.goals.insert(goal["rel"].get<std::string>() + "(" + inside + ")");
  }
  return out;
}

Apartment as_read(const HelpTask& task) {
  Apartment out;
  for (const virtualhome::SceneNode& node : task.scene->nodes()) {
    std::set<std::string>& words = out.nodes[node.id];
    words = {"class " + node.name};
    if (node.is_room()) words.insert("a room");
    for (std::size_t i = 0; i < virtualhome::kNumProperties; ++i) {
      const auto property = static_cast<virtualhome::Property>(i);
      if (node.has(property)) words.emplace(property_name(property));
    }
    for (std::size_t i = 0; i < virtualhome::kNumStates; ++i) {
      if ((node.states >> i & 1U) != 0) words.emplace(state_name(static_cast<State>(i)));
    }
    for (std::size_t r = 0; r < virtualhome::kNumRelations; ++r) {
      const auto relation = static_cast<Relation>(r);
      for (const int to : task.scene->targets(node.id, relation)) {
        out.edges.emplace(node.id, std::string(relation_name(relation)), to);
      }
    }
  }
  for (const GoalLine& line : task.goal) out.goals.insert(to_text(line));
  return out;
}

TEST_P(WatchAndHelpVectors, TasksAreReadAsTheFilesSay) {
  const std::map<std::string, HelpTask> tasks = all_tasks();
  const Json classes = Json::parse(std::ifstream(data("object_classes.json")));
  std::size_t at_the_start = 0;
  for (const Json& row : rows("tasks.jsonl")) {
    const std::string id = std::to_string(row.at("id").get<int>());
    SCOPED_TRACE(id);
    const HelpTask& task = tasks.at(id);
    const Json scene =
        Json::parse(std::ifstream(data("scene_" + std::to_string(row.at("scene").get<int>()) + ".json")));
    const Apartment expected = read_again(row, scene, classes);
    const Apartment read = as_read(task);
    EXPECT_EQ(read.nodes, expected.nodes);
    EXPECT_EQ(read.edges, expected.edges);
    EXPECT_EQ(read.goals, expected.goals);
    const std::size_t reached = judge(task.goal, *task.scene, initial_view(*task.scene)).count();
    at_the_start += reached;
    EXPECT_NEAR(static_cast<double>(reached) / static_cast<double>(task.goal.size()),
                row.at("initial_ssr").get<double>(), 1e-5);
  }
  EXPECT_EQ(tasks.size(), whole() ? 44U : 4U);
  EXPECT_GT(at_the_start, 0U) << "no goal holds at the start, so none was compared";
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

TEST_P(WatchAndHelpVectors, WhatTheStrictExecutorAcceptsTheOtherAccepts) {
  std::mt19937 random(20);
  std::map<std::string, std::size_t> accepted;
  for (const auto& [id, task] : all_tasks()) {
    SCOPED_TRACE(id);
    Executor strict(*task.scene);
    virtualhome::Executor graph(*task.scene);
    RandomPlans plans(task, random);
    for (int i = 0; i < (whole() ? 600 : 6000); ++i) {
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
    // A switch is switched once, and our apartment has two.
    EXPECT_GT(accepted[action], whole() ? 20U : 5U) << action;
  }
}

INSTANTIATE_TEST_SUITE_P(Data, WatchAndHelpVectors, ::testing::ValuesIn(testing::kExtents), testing::extent_name);

}  // namespace
}  // namespace metactrl::benchmarks::watch_and_help::wah_vectors_test
