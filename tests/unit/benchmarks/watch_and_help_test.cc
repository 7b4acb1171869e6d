// Watch-And-Help without a model: task files, goals, the strict executor, what is listed, the verdicts.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/watch_and_help/executor.h"
#include "benchmarks/watch_and_help/goal.h"
#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/scorer.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "metactrl/error.h"
#include "support/small_apartment.h"

namespace metactrl::benchmarks::watch_and_help::watch_and_help_test {
namespace {

using testing::SmallApartment;
using virtualhome::Action;
using virtualhome::Relation;
using virtualhome::State;
using Json = nlohmann::json;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

GoalLine line(const char* text) { return read_goal_line(text).value(); }

std::string error_of(const SmallApartment& home) {
  try {
    home.read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// --- goals ----------------------------------------------------------------------------------------------------------

TEST(WatchAndHelpGoal, LinesAreReadAndWritten) {
  for (const char* text : {"on(apple, coffeetable)", "inside(water_glass, dishwasher)", "turnOn(lamp)"}) {
    ASSERT_TRUE(read_goal_line(text)) << text;
    EXPECT_EQ(to_text(*read_goal_line(text)), text);
  }
  EXPECT_EQ(to_text(line("on(apple,table)")), "on(apple, table)");
  for (const char* text : {"", "on", "on()", "on(apple)", "on(apple, table", "ON(apple, table)", "turnOn(a, b)",
                           "on(apple, table) ", "on(a, b, c)", "on(, b)", "near(apple, table)", "on(a b, c)"}) {
    EXPECT_FALSE(read_goal_line(text)) << text;
  }
}

TEST(WatchAndHelpGoal, AnAnswerMayBeginWithOne) {
  std::string_view rest = "untouched";
  const auto goal = read_goal(" {\"goal\": [\"on(apple, table)\", \"turnOn(lamp)\"]}\n{\"WALK\": []}", rest);
  ASSERT_TRUE(goal);
  EXPECT_EQ(*goal, (std::vector<GoalLine>{line("on(apple, table)"), line("turnOn(lamp)")}));
  EXPECT_EQ(rest, "{\"WALK\": []}");
  for (const char* text : {"", "{", "{\"WALK\": [\"apple\", \"3\"]}", "{\"goal\": [\"apple\"]}", "{\"goal\": [1]}",
                           "[{\"goal\": []}]", "{\"goal\": [], \"more\": 1}"}) {
    rest = "untouched";
    EXPECT_FALSE(read_goal(text, rest)) << text;
    EXPECT_EQ(rest, "untouched");
  }
}

TEST(WatchAndHelpGoal, AllIsJudgedOnOneTarget) {
  SmallApartment home;
  home.add_task({SmallApartment::goal("on", "mug", "coffeetable"), SmallApartment::goal("on", "apple", "coffeetable"),
                 SmallApartment::goal("on", "apple", "coffeetable")});
  // An apple on each of the two; the mug is on 26.
  home.edges().push_back({31, "ON", 25});
  home.edges().push_back({30, "ON", 26});
  const HelpTask task = home.task();
  const Judgement judgement = judge(task.goal, *task.scene, initial_view(*task.scene));
  EXPECT_EQ(judgement.targets.at("coffeetable"), 26);
  EXPECT_EQ(judgement.reached, (std::vector<bool>{true, true, false}));
  EXPECT_EQ(judgement.count(), 2U);
  EXPECT_FALSE(judgement.all());
  EXPECT_EQ(judge({line("on(mug, unicorn)")}, *task.scene, initial_view(*task.scene)).count(), 0U);
  EXPECT_TRUE(judge({line("turnOn(safe)")}, *task.scene, initial_view(*task.scene)).all());
}

// --- task files -----------------------------------------------------------------------------------------------------

TEST(WatchAndHelpTaskFile, ATaskIsAnApartmentWithDifferences) {
  SmallApartment home;
  Json& row = home.add_task(
      {SmallApartment::goal("on", "apple", "coffeetable", 2), SmallApartment::goal("turnOn", "", "lamp")});
  row["remove"] = {35};
  row["add"] = Json::parse(R"([{"id": 1000, "class_name": "apple", "rel": "INSIDE", "to": 20, "room": 12}])");
  const HelpTask task = home.task();
  EXPECT_EQ(task.id, "1");
  EXPECT_EQ(task.family, "tidy_up");
  EXPECT_EQ(task.instructions.size(), 2U);
  EXPECT_EQ(task.goal, (std::vector<GoalLine>{line("on(apple, coffeetable)"), line("on(apple, coffeetable)"),
                                              line("turnOn(lamp)")}));
  EXPECT_FALSE(task.scene->contains(35));
  ASSERT_TRUE(task.scene->contains(1000));
  EXPECT_TRUE(task.scene->node(1000).has(virtualhome::Property::kGrabbable));
  EXPECT_TRUE(task.scene->has_edge(1000, Relation::kInside, 20));
  EXPECT_EQ(room_of(*task.scene, 1000), 12);
  EXPECT_EQ(room_of(*task.scene, task.scene->character()), 11);
}

// The same task, as the benchmark's own file has it.
TEST(WatchAndHelpTaskFile, TheBenchmarksOwnFormIsReadToo) {
  SmallApartment home;
  home.add_task({SmallApartment::goal("on", "apple", "coffeetable", 2), SmallApartment::goal("turnOn", "", "lamp")});
  const HelpTask ours = home.task();
  Json nodes = home.nodes();
  for (Json& node : nodes) {
    node["prefab_name"] = "x";
    node["bounding_box"] = nullptr;
    node["states"].push_back("SHINY");
  }
  nodes.push_back({{"id", 5},
                   {"class_name", "character"},
                   {"category", "Characters"},
                   {"properties", Json::array()},
                   {"states", Json::array()}});
  Json edges = Json::array();
  for (const Json& edge : home.edges()) {
    edges.push_back({{"from_id", edge[0]}, {"relation_type", edge[1]}, {"to_id", edge[2]}});
  }
  edges.push_back({{"from_id", 5}, {"relation_type", "INSIDE"}, {"to_id", 13}});
  edges.push_back({{"from_id", 5}, {"relation_type", "CLOSE"}, {"to_id", 35}});
  edges.push_back({{"from_id", 20}, {"relation_type", "ABOVE"}, {"to_id", 22}});
  const Json file = {{{"task_id", 7},
                      {"task_name", "tidy_up"},
                      {"env_id", 3},
                      {"init_room", "bathroom"},
                      {"init_graph", {{"nodes", nodes}, {"edges", edges}}},
                      {"task_goal", {{"on_apple_coffeetable", 2}, {"turnOn_lamp", 1}}},
                      {"nl_instructions", {"Please tidy up."}}}};
  home.write("official.json", file.dump(1));
  const std::vector<HelpTask> tasks = read_tasks(home.path("official.json"), "no such folder");
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].id, "7");
  EXPECT_EQ(tasks[0].family, "tidy_up");
  EXPECT_EQ(tasks[0].goal, ours.goal);
  EXPECT_EQ(tasks[0].scene->character(), 5);
  EXPECT_EQ(room_of(*tasks[0].scene, 5), 11) << "the robot begins in init_room";
  EXPECT_EQ(tasks[0].scene->nodes().size(), ours.scene->nodes().size());
  EXPECT_EQ(list_things(*tasks[0].scene, tasks[0].goal).things(), list_things(*ours.scene, ours.goal).things());
}

TEST(WatchAndHelpTaskFile, GoalsOfClassesWithUnderscoresAreSplitByWhatThereIs) {
  const Json node = {{"properties", Json::array()}, {"states", Json::array()}};
  Json file = {{{"task_id", 0},
                {"task_name", "x"},
                {"init_room", "kitchen"},
                {"init_graph",
                 {{"nodes",
                   {{{"id", 2}, {"class_name", "kitchen"}, {"category", "Rooms"}},
                    {{"id", 3}, {"class_name", "wine_glass"}, {"category", "Props"}},
                    {{"id", 4}, {"class_name", "coffee_table"}, {"category", "Furniture"}}}},
                  {"edges", Json::array()}}},
                {"task_goal", {{"on_wine_glass_coffee_table", 1}}},
                {"nl_instructions", {"x"}}}};
  for (Json& each : file[0]["init_graph"]["nodes"]) each.update(node);
  const SmallApartment home;
  home.write("official.json", file.dump());
  EXPECT_EQ(read_tasks(home.path("official.json"), "")[0].goal,
            std::vector<GoalLine>{line("on(wine_glass, coffee_table)")});
  file[0]["task_goal"] = {{"under_wine_glass_coffee_table", 1}};
  home.write("official.json", file.dump());
  EXPECT_THROW(read_tasks(home.path("official.json"), ""), InputError);
}

// The benchmark's files have them.
TEST(WatchAndHelpTaskFile, WhatNoRuleAsksForMayBeOdd) {
  SmallApartment home;
  home.add_task(
      {SmallApartment::goal("on", "apple", "coffeetable"), SmallApartment::goal("on", "mug", "coffeetable", 0)});
  home.edges().push_back({30, "FACING", 999});
  home.edges().push_back({998, "CLOSE", 30});
  const HelpTask task = home.task();
  EXPECT_EQ(task.goal, std::vector<GoalLine>{line("on(apple, coffeetable)")}) << "a count of 0 is no goal";
  EXPECT_TRUE(task.scene->targets(30, Relation::kFacing).empty());
}

TEST(WatchAndHelpTaskFile, MistakesAreNamed) {
  {
    SmallApartment home;
    home.add_task("on", "apple", "coffeetable");
    home.add_task("on", "apple", "coffeetable")["init_room"] = "attic";
    const std::string error = error_of(home);
    EXPECT_TRUE(has(error, "tasks.jsonl:2")) << error;
    EXPECT_TRUE(has(error, "begins in the room 'attic', which the apartment does not have")) << error;
  }
  const auto broken = [](const auto& change) {
    SmallApartment home;
    change(home, home.add_task("on", "apple", "coffeetable"));
    return error_of(home);
  };
  EXPECT_TRUE(has(broken([](SmallApartment&, Json& row) { row.erase("goal"); }), "has no field 'goal'"));
  EXPECT_TRUE(has(broken([](SmallApartment&, Json& row) { row["goal"][0]["rel"] = "under"; }),
                  "'goal[0].rel' is none of on, inside, turnOn"));
  EXPECT_TRUE(
      has(broken([](SmallApartment&, Json& row) { row["goal"][0]["count"] = 0; }), "of task 1 asks for nothing"));
  EXPECT_TRUE(has(broken([](SmallApartment&, Json& row) { row["goal"][0]["count"] = 21; }), "asks for 21 things"));
  EXPECT_TRUE(has(broken([](SmallApartment&, Json& row) { row["goal"] = Json::array(); }), "asks for nothing"));
  EXPECT_TRUE(has(broken([](SmallApartment&, Json& row) { row["instructions"] = Json::array(); }), "is empty"));
  EXPECT_TRUE(has(broken([](SmallApartment&, Json& row) { row["scene"] = 9; }), "scene_9.json"));
  EXPECT_TRUE(has(broken([](SmallApartment& home, Json&) {
                    home.edges().push_back({30, "ON", 999});
                  }),
                  "(task 1) has the relation 30 ON 999, one end of which is not in the apartment"));
  EXPECT_TRUE(has(broken([](SmallApartment& home, Json&) {
                    home.edges().push_back({30, "ON", 999});
                  }),
                  "add the thing 999 to the nodes, or remove the relation from the edges"));
  EXPECT_TRUE(has(broken([](SmallApartment& home, Json&) {
                    for (const int x : {30, 31, 32}) home.edges().push_back({1, "HOLDS_RH", x});
                  }),
                  "lets the robot hold 3 things"));
  EXPECT_TRUE(has(broken([](SmallApartment& home, Json&) { home.nodes().push_back(home.nodes()[3]); }),
                  "two things with the id 20"));
  EXPECT_TRUE(has(broken([](SmallApartment&, Json& row) {
                    row["add"] =
                        Json::parse(R"([{"id": 1000, "class_name": "unicorn", "rel": "ON", "to": 20, "room": 12}])");
                  }),
                  "has no field 'unicorn'"));
  EXPECT_TRUE(has(broken([](SmallApartment& home, Json&) { home.add_task("on", "apple", "table")["id"] = 1; }),
                  "has the id 1, as an earlier one has"));
  const SmallApartment home;
  home.write("empty.jsonl", "\n");
  EXPECT_THROW(read_tasks(home.path("empty.jsonl"), home.folder()), InputError);
  home.write("cut.json", "[{\"task_id\": 1");
  EXPECT_THROW(read_tasks(home.path("cut.json"), home.folder()), InputError);
}

// --- executor -------------------------------------------------------------------------------------------------------

// Executes "WALK 31; GRAB 31" and returns the rule that the last step breaks; the others must succeed.
std::string last_rule(const HelpTask& task, const std::string& plan) {
  Executor executor(*task.scene);
  std::string rule = "none";
  std::istringstream steps(plan);
  for (std::string step; std::getline(steps, step, ';');) {
    EXPECT_TRUE(rule == "none" || rule.empty()) << step << " comes after a step that failed: " << rule;
    std::istringstream words(step);
    Action action;
    words >> action.name;
    for (int id = 0; words >> id;) action.arguments.push_back({"", id});
    const std::optional<Failure> failure = executor.execute(action);
    rule = failure ? failure->rule : "";
    EXPECT_EQ(failure ? failure->reason.empty() : false, false) << step;
  }
  return rule;
}

TEST(WatchAndHelpExecutor, KeepsTheRules) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  const std::vector<std::pair<std::string, std::string>> cases = {
      // Near is what was walked to, what is on it or in it, and what it is on or in.
      {"GRAB 31", "not close"},
      {"WALK 31; GRAB 31", ""},
      {"WALK 22; GRAB 31", ""},
      {"WALK 32; GRAB 31", "not close"},
      {"WALK 33; GRAB 32", ""},
      {"WALK 32; GRAB 33", ""},
      {"WALK 32; GRAB 32; GRAB 33", "not close"},  // it was near because the plate was
      {"WALK 12; GRAB 31", "not close"},
      {"WALK 31; WALK 25; GRAB 31", "not close"},
      {"WALK 29; GRAB 36", "not close"},  // the shelf has no door, and VirtualHome's executor wants one
      {"WALK 36; GRAB 36", ""},
      // Doors.
      {"WALK 30; GRAB 30", "inside closed"},
      {"WALK 30; OPEN 23; GRAB 30", ""},
      {"WALK 23; OPEN 23; OPEN 23", "not closed"},
      {"WALK 23; CLOSE 23", "not open"},
      {"OPEN 23", "not close"},
      {"WALK 22; OPEN 22", "not openable"},
      {"WALK 27; OPEN 27", "still on"},
      // Hands.
      {"WALK 22; GRAB 31; GRAB 31", "already held"},
      {"WALK 22; GRAB 31; GRAB 32; WALK 35; GRAB 35", "no free hand"},
      {"WALK 22; GRAB 31; GRAB 32; WALK 23; OPEN 23", "no free hand"},
      {"WALK 21; OPEN 21; WALK 22; GRAB 31; GRAB 32; WALK 21; CLOSE 21", "no free hand"},
      {"WALK 22; GRAB 31; GRAB 32; WALK 28; SWITCHON 28", "no free hand"},
      {"WALK 22; GRAB 22", "not grabbable"},
      // Putting down.
      {"WALK 25; PUTBACK 31 25", "not holding"},
      {"WALK 31; GRAB 31; PUTBACK 31 25", "target not close"},
      {"WALK 31; GRAB 31; WALK 25; PUTBACK 31 25", ""},
      {"WALK 31; GRAB 31; WALK 25; PUTBACK 31 25; GRAB 31", ""},
      {"WALK 31; GRAB 31; WALK 20; PUTIN 31 20", "closed"},
      {"WALK 31; GRAB 31; WALK 20; OPEN 20; PUTIN 31 20", ""},
      {"WALK 31; GRAB 31; WALK 20; PUTBACK 31 20", "no surface"},
      {"WALK 31; GRAB 31; WALK 25; PUTIN 31 25", "no container"},
      {"WALK 31; GRAB 31; WALK 29; PUTIN 31 29", ""},
      {"WALK 32; GRAB 32; PUTBACK 32 32", "onto itself"},
      // Switches.
      {"WALK 28; SWITCHON 28", ""},
      {"WALK 28; SWITCHON 28; SWITCHON 28", "not off"},
      {"WALK 22; SWITCHON 22", "no switch"},
      {"WALK 20; SWITCHON 20", "not off"},
      {"WALK 21; OPEN 21; SWITCHON 21", "not closed"},
      {"WALK 21; OPEN 21; CLOSE 21; SWITCHON 21", ""},
      {"WALK 21; SWITCHON 21; OPEN 21", "still on"},
  };
  for (const auto& [plan, rule] : cases) EXPECT_EQ(last_rule(task, plan), rule) << plan;
}

TEST(WatchAndHelpExecutor, GrabbingEndsWhatWasOnIt) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  Executor executor(*task.scene);
  EXPECT_TRUE(executor.related(33, Relation::kOn, 32));
  EXPECT_FALSE(executor.execute({"WALK", {{"plate", 32}}}));
  EXPECT_FALSE(executor.execute({"GRAB", {{"plate", 32}}}));
  EXPECT_TRUE(executor.holds(32));
  EXPECT_FALSE(executor.related(33, Relation::kOn, 32));
  EXPECT_FALSE(executor.related(32, Relation::kOn, 22));
  EXPECT_THROW(executor.execute({"FLY", {{"plate", 32}}}), std::logic_error);
}

// --- listing --------------------------------------------------------------------------------------------------------

TEST(WatchAndHelpListing, ThingsToCarryTargetsAndWhatHidesThem) {
  SmallApartment home;
  home.add_task(
      {SmallApartment::goal("on", "apple", "coffeetable"), SmallApartment::goal("on", "fork", "coffeetable")});
  home.nodes().push_back({{"id", 40},
                          {"class_name", "apple"},
                          {"category", "Props"},
                          {"properties", {"GRABBABLE"}},
                          {"states", Json::array()}});  // in no room
  const HelpTask task = home.task();
  const Listing listing = list_things(*task.scene, task.goal);
  EXPECT_EQ(listing.rooms, (std::vector<int>{11, 12, 13}));
  EXPECT_EQ(listing.carried, (std::vector<int>{30, 31, 33}));
  EXPECT_EQ(listing.places, (std::vector<int>{22, 23, 25, 26, 32})) << "table, cupboard, two targets, the plate";
  EXPECT_TRUE(listing.held.empty());
  EXPECT_TRUE(listing.is_place(32));
  EXPECT_FALSE(listing.is_carried(32));
}

TEST(WatchAndHelpListing, WhatIsHeldCounts) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  home.nodes().push_back({{"id", 1},
                          {"class_name", "character"},
                          {"category", "Characters"},
                          {"properties", Json::array()},
                          {"states", Json::array()}});
  home.edges().push_back({1, "HOLDS_RH", 37});
  const HelpTask task = home.task();
  const Listing listing = list_things(*task.scene, task.goal);
  EXPECT_EQ(listing.held, std::vector<int>{37});
  EXPECT_TRUE(listing.is_carried(37));
}

// --- scorer ---------------------------------------------------------------------------------------------------------

class WatchAndHelpScorer : public ::testing::Test {
 protected:
  void SetUp() override {
    home_.add_task(
        {SmallApartment::goal("on", "apple", "coffeetable"), SmallApartment::goal("on", "mug", "coffeetable")});
    tasks_ = home_.read();
  }
  TaskScore judge(const std::string& output) const { return score_answer(tasks_[0], output); }

  SmallApartment home_;
  std::vector<HelpTask> tasks_;
};

constexpr const char* kRight =
    R"({"WALK": ["apple", "31"], "GRAB": ["apple", "31"], "WALK": ["coffeetable", "26"], "PUTBACK": ["apple", "31", "coffeetable", "26"]})";

TEST_F(WatchAndHelpScorer, ASuccess) {
  const TaskScore score = judge(kRight);
  EXPECT_EQ(score.verdict, "executed");
  EXPECT_TRUE(score.executable);
  EXPECT_EQ(score.success, 1);
  EXPECT_EQ(score.reason, "");
  ASSERT_EQ(score.steps.size(), 4U);
  EXPECT_EQ(score.steps[3].action, "PUTBACK apple 31 coffeetable 26");
  ASSERT_EQ(score.goals.size(), 2U);
  EXPECT_EQ(score.goals[0].goal, "on(apple, coffeetable)");
  EXPECT_TRUE(score.goals[0].reached);
}

TEST_F(WatchAndHelpScorer, Failures) {
  const TaskScore shut = judge(R"({"WALK": ["apple", "30"], "GRAB": ["apple", "30"], "WALK": ["coffeetable", "26"]})");
  EXPECT_EQ(shut.verdict, "failed at GRAB");
  EXPECT_FALSE(shut.executable);
  EXPECT_EQ(shut.errors, (std::map<std::string, int>{{"GRAB: inside closed", 1}}));
  EXPECT_EQ(shut.steps.size(), 2U);
  EXPECT_TRUE(has(shut.reason, "step 2, GRAB apple 30: apple (30) is in cupboard (23), which is closed"))
      << shut.reason;
  EXPECT_TRUE(shut.goals[1].reached) << "the mug has been there from the start";

  const TaskScore short_plan = judge(R"({"WALK": ["apple", "31"]})");
  EXPECT_TRUE(short_plan.executable);
  EXPECT_EQ(short_plan.success, 0);
  EXPECT_EQ(short_plan.reason, "not reached: on(apple, coffeetable)");

  EXPECT_EQ(judge("I would rather not.").verdict, "parsing");
  EXPECT_EQ(judge("").verdict, "parsing");
  EXPECT_EQ(judge(R"({"WALK": ["unicorn", "31"]})").verdict, "hallucination");
  EXPECT_EQ(judge(R"({"WALK": ["apple", "32"]})").verdict, "hallucination");
  EXPECT_EQ(judge(R"({"SIT": ["apple", "31"]})").verdict, "hallucination");
  EXPECT_EQ(judge(R"({"FLY": ["apple", "31"]})").verdict, "hallucination");
  EXPECT_EQ(judge(R"({"WALK": ["apple", "31", "apple", "30"]})").verdict, "parameter");
  EXPECT_FALSE(judge(R"({"WALK": ["unicorn", "31"]})").executable);
  EXPECT_EQ(judge(R"({"WALK": ["unicorn", "31"]})").reason, "the apartment has no 'unicorn' with the id '31'");
  const TaskScore small = judge(R"({"walk": ["apple", "31"]})");
  EXPECT_EQ(small.verdict, "hallucination");
  EXPECT_EQ(small.reason, "there is no action 'walk', which is not in capitals");
  const TaskScore nothing = judge("{}");
  EXPECT_EQ(nothing.verdict, "executed");
  EXPECT_TRUE(nothing.executable);
}

double figure(const Score& score, const std::string& name) {
  for (const auto& [key, value] : score.figures) {
    if (key == name) return value;
  }
  return -1;
}

TEST_F(WatchAndHelpScorer, Figures) {
  home_.add_task("inside", "egg", "dishwasher");
  home_.add_task("turnOn", "", "lamp");
  home_.write_all();
  const std::vector<Response> responses = {
      {"1", kRight}, {"2", R"({"WALK": ["egg", "37"], "GRAB": ["egg", "37"]})"}, {"77", "{}"}};
  const Score score = score_watch_and_help(home_.tasks_file(), home_.folder(), responses);
  EXPECT_EQ(score.n, 3U);
  EXPECT_EQ(score.strangers, std::vector<std::string>{"77"});
  EXPECT_NEAR(figure(score, "sr"), 1.0 / 3, 1e-9);
  EXPECT_NEAR(figure(score, "ssr"), 1.0 / 3, 1e-9);
  EXPECT_NEAR(figure(score, "exec"), 1.0 / 3, 1e-9);
  EXPECT_NEAR(figure(score, "do_nothing_ssr"), 0.5 / 3, 1e-9);
  EXPECT_EQ(figure(score, "do_nothing_sr"), 0);
  EXPECT_EQ(figure(score, "goal_recall"), -1) << "no answer has a goal";
  EXPECT_EQ(score.first_failures.at("GRAB"), 1);
  EXPECT_EQ(score.first_failures.at("PUTIN"), 0);
  EXPECT_EQ(score.tasks[2].verdict, "unanswered");
}

TEST_F(WatchAndHelpScorer, GoalsThatWereWrittenAreComparedWithTheTasks) {
  home_.add_task("inside", "egg", "dishwasher");
  home_.write_all();
  // Of task 1 one of two lines, and one that is not wanted; of task 2 exactly the goal.
  const std::vector<Response> responses = {
      {"1", std::string(R"json({"goal": ["on(mug, coffeetable)", "turnOn(lamp)"]})json") + "\n" + kRight},
      {"2", std::string(R"json({"goal": ["inside(egg, dishwasher)"]})json") + "\n{}"}};
  const Score score = score_watch_and_help(home_.tasks_file(), home_.folder(), responses);
  EXPECT_EQ(score.tasks[0].success, 1) << "the task's own goal decides";
  EXPECT_NEAR(figure(score, "goal_precision"), 2.0 / 3, 1e-9);
  EXPECT_NEAR(figure(score, "goal_recall"), 2.0 / 3, 1e-9);
  EXPECT_NEAR(figure(score, "goal_exact"), 0.5, 1e-9);
}

}  // namespace
}  // namespace metactrl::benchmarks::watch_and_help::watch_and_help_test
