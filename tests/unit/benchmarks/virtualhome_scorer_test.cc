// The rules of VirtualHome's executor and of the evaluators of its two modules, in a home of two rooms.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/python_text.h"
#include "benchmarks/virtualhome/action_scorer.h"
#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/virtualhome/python_set.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/virtualhome/subgoal_formula.h"
#include "benchmarks/virtualhome/subgoal_scorer.h"
#include "benchmarks/virtualhome/subgoal_search.h"
#include "metactrl/error.h"

namespace metactrl::benchmarks::virtualhome::virtualhome_scorer_test {
namespace {

// A kitchen with a table and a closed fridge, a bedroom with things to switch, sit and lie on.
constexpr const char* kHome = R"({"character": 65, "nodes": [
  {"id": 1, "name": "kitchen", "category": "Rooms", "properties": [], "states": []},
  {"id": 2, "name": "bedroom", "category": "Rooms", "properties": [], "states": []},
  {"id": 65, "name": "character", "category": "Characters", "properties": [], "states": []},
  {"id": 10, "name": "table", "category": "Furniture", "properties": ["SURFACES", "MOVABLE"], "states": ["DIRTY"]},
  {"id": 11, "name": "cup", "category": "Props", "properties": ["GRABBABLE", "RECIPIENT"], "states": ["CLEAN"]},
  {"id": 12, "name": "fridge", "category": "Appliances", "properties": ["CAN_OPEN", "HAS_SWITCH"], "states": ["CLOSED", "OFF"]},
  {"id": 13, "name": "milk", "category": "Food", "properties": ["GRABBABLE", "DRINKABLE", "POURABLE"], "states": []},
  {"id": 14, "name": "light", "category": "Lamps", "properties": ["HAS_SWITCH", "HAS_PLUG"], "states": ["OFF", "PLUGGED_IN"]},
  {"id": 15, "name": "chair", "category": "Furniture", "properties": ["SITTABLE"], "states": []},
  {"id": 16, "name": "television", "category": "Electronics", "properties": ["LOOKABLE", "HAS_SWITCH"], "states": ["OFF", "PLUGGED_OUT"]},
  {"id": 17, "name": "shirt", "category": "Clothes", "properties": ["CLOTHES", "GRABBABLE"], "states": []},
  {"id": 18, "name": "hands_both", "category": "Body", "properties": ["BODY_PART"], "states": []},
  {"id": 19, "name": "bed", "category": "Furniture", "properties": ["SITTABLE", "LIEABLE"], "states": []},
  {"id": 20, "name": "bread_knife", "category": "Props", "properties": ["GRABBABLE"], "states": []},
  {"id": 21, "name": "bread", "category": "Food", "properties": ["EATABLE", "CUTTABLE", "GRABBABLE"], "states": []},
  {"id": 22, "name": "floor_lamp", "category": "Lamps", "properties": ["HAS_SWITCH"], "states": ["ON"]}],
 "edges": [[65, "INSIDE", 1], [10, "INSIDE", 1], [11, "INSIDE", 1], [11, "ON", 10], [11, "CLOSE", 10], [10, "CLOSE", 11],
  [12, "INSIDE", 1], [13, "INSIDE", 12], [13, "INSIDE", 1], [14, "INSIDE", 2], [15, "INSIDE", 2], [15, "FACING", 16],
  [16, "INSIDE", 2], [17, "INSIDE", 2], [18, "INSIDE", 1], [19, "INSIDE", 2], [20, "INSIDE", 1], [20, "ON", 10],
  [21, "INSIDE", 1], [21, "ON", 10], [22, "INSIDE", 2]]})";

std::string graph_row(const std::string& id, const std::string& states = "{}") {
  return R"({"id": ")" + id + R"(", "nodes_del": [], "nodes_add": [], "states": )" + states +
         R"(, "edges_add": [], "edges_del": []})" + "\n";
}

std::string object_list(const std::vector<std::pair<std::string, int>>& objects) {
  std::string result;
  for (const auto& [name, id] : objects) {
    result += (result.empty() ? "" : ", ") + (R"({"id": )" + std::to_string(id)) + R"(, "name": ")" + name + "\"}";
  }
  return "[" + result + "]";
}

// A row of as.jsonl.
std::string action_row(const std::string& id, const std::string& goals, const std::string& gold = "[]",
                       const std::string& scored = "true") {
  return R"({"id": ")" + id + R"(", "scene": 1, "task": "Test", "scored": )" + scored + R"(, "objects": )" +
         object_list({{"character", 65},
                      {"table", 10},
                      {"cup", 11},
                      {"fridge", 12},
                      {"milk", 13},
                      {"light", 14},
                      {"chair", 15},
                      {"bed", 19},
                      {"floor_lamp", 22}}) +
         ", " + goals + R"(, "gold": )" + gold + "}\n";
}

std::string subgoal_row(const std::string& id, const std::string& goal) {
  return R"({"id": "scene_1_)" + id + R"(", "scene": 1, "task": "Test", "tl_goal": ")" + goal +
         R"x(", "goal_states": ["ON(light.14)"], "goal_actions": ["TOUCH or PUSH"]})x" + "\n";
}

class Folder {
 public:
  Folder() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = std::filesystem::temp_directory_path() / ("metactrl_vh_" + std::to_string(::getpid()) + "_" + name);
    std::filesystem::create_directories(path_);
    write("scene1_base.json", kHome);
    write("graphs.jsonl", graph_row("1_1") + graph_row("2_1", R"({"65": ["SITTING"], "14": ["OFF", "PLUGGED_OUT"]})"));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// "PUTIN milk 13 fridge 12"
Action action(const std::string& text) {
  std::istringstream in(text);
  Action result;
  in >> result.name;
  Argument argument;
  while (in >> argument.name >> argument.id) result.arguments.push_back(argument);
  return result;
}

// Executes actions from the start and gives the outcomes but "ok".
class ExecutorTest : public ::testing::Test {
 protected:
  std::string run(const std::vector<std::string>& actions) {
    std::string outcomes;
    for (const std::string& text : actions) {
      last_ = executor_.execute(action(text));
      if (last_.outcome == Outcome::kOk) continue;
      outcomes += (outcomes.empty() ? "" : " ") + std::string(outcome_name(last_.outcome));
    }
    return outcomes;
  }
  bool edge(int from, Relation relation, int to) const { return executor_.world().has_edge_now(from, relation, to); }
  bool state(int id, State state) const { return executor_.world().has_state(id, state); }

  Folder folder_;
  SceneLibrary library_{folder_.path()};
  Scene scene_ = library_.scene(1, "1_1");
  Executor executor_{scene_};
  StepResult last_;
};

TEST_F(ExecutorTest, NothingIsNearBeforeAWalk) {
  EXPECT_EQ(run({"OPEN fridge 12"}), "MISSING_STEP");
  EXPECT_EQ(last_.reason, "the character is not near fridge (12)");
  EXPECT_EQ(run({"WALK fridge 12", "OPEN fridge 12"}), "");
  EXPECT_TRUE(state(12, State::kOpen));
  EXPECT_FALSE(state(12, State::kClosed));
}

TEST_F(ExecutorTest, WhatWasSoEarlierIsAWrongOrder) {
  EXPECT_EQ(run({"WALK fridge 12", "WALK light 14", "OPEN fridge 12"}), "WRONG_TEMPORAL_ORDER");
  // Near by one step only: the evaluator looks for the edge itself, and there never was one.
  EXPECT_EQ(run({"WALK table 10", "TOUCH bread 21", "WALK light 14", "TOUCH bread 21"}), "MISSING_STEP");
}

TEST_F(ExecutorTest, WalkMovesTheCharacterAndWhatIsHeld) {
  EXPECT_EQ(run({"WALK cup 11", "GRAB cup 11", "WALK light 14"}), "");
  EXPECT_TRUE(edge(65, Relation::kInside, 2));
  EXPECT_FALSE(edge(65, Relation::kInside, 1));
  EXPECT_TRUE(edge(65, Relation::kClose, 14));
  EXPECT_TRUE(edge(14, Relation::kClose, 65));
  EXPECT_TRUE(edge(65, Relation::kClose, 18)) << "body parts come along";
  EXPECT_TRUE(edge(65, Relation::kClose, 11));
  EXPECT_TRUE(edge(11, Relation::kInside, 1)) << "the room that was left";
}

TEST_F(ExecutorTest, WalkIsNearContainersContentsAndSurfaces) {
  EXPECT_EQ(run({"WALK fridge 12"}), "");
  EXPECT_TRUE(edge(65, Relation::kClose, 13));
  EXPECT_EQ(run({"WALK milk 13"}), "");
  EXPECT_TRUE(edge(65, Relation::kClose, 12));
  EXPECT_EQ(run({"WALK cup 11"}), "");
  EXPECT_TRUE(edge(65, Relation::kClose, 10));
  EXPECT_EQ(run({"WALK kitchen 1"}), "");
  EXPECT_FALSE(edge(65, Relation::kClose, 1));
}

TEST_F(ExecutorTest, FindWalksOnlyWhereItMust) {
  EXPECT_EQ(run({"WALK table 10", "TURNTO cup 11", "FIND cup 11"}), "");
  EXPECT_TRUE(edge(65, Relation::kClose, 10)) << "no walk: the cup is near already";
  EXPECT_FALSE(edge(65, Relation::kFacing, 11));
  EXPECT_EQ(run({"FIND light 14"}), "");
  EXPECT_TRUE(edge(65, Relation::kInside, 2));
}

TEST_F(ExecutorTest, FindNeverWalksToABodyPart) {
  EXPECT_EQ(run({"FIND hands_both 18"}), "MISSING_STEP");
  EXPECT_EQ(run({"WALK hands_both 18"}), "");
}

TEST_F(ExecutorTest, SittingStopsWalking) {
  EXPECT_EQ(run({"WALK chair 15", "SIT chair 15", "WALK light 14"}), "WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(last_.reason, "the character is sitting, though it was so earlier");
  EXPECT_TRUE(edge(65, Relation::kFacing, 16)) << "what the chair faces";
  EXPECT_EQ(run({"SIT chair 15"}), "ADDITIONAL_STEP");
  EXPECT_EQ(run({"STANDUP", "STANDUP"}), "ADDITIONAL_STEP");
  EXPECT_TRUE(edge(65, Relation::kOn, 15)) << "stays after standing up";
}

TEST_F(ExecutorTest, ASeatThatWasUsedIsFull) {
  EXPECT_EQ(run({"WALK chair 15", "SIT chair 15", "STANDUP", "WALK chair 15", "SIT chair 15"}), "MISSING_STEP");
  EXPECT_TRUE(last_.without_condition);
  EXPECT_EQ(run({"WALK bed 19", "LIE bed 19", "LIE bed 19"}), "ADDITIONAL_STEP");
}

TEST_F(ExecutorTest, SleepNeedsABedButAsksOnlyForLying) {
  EXPECT_EQ(run({"SLEEP"}), "MISSING_STEP");
  EXPECT_EQ(run({"WALK chair 15", "SIT chair 15", "SLEEP", "STANDUP", "SLEEP"}), "MISSING_STEP") << "sat, never lay";
  EXPECT_EQ(run({"WALK bed 19", "LIE bed 19", "WAKEUP", "STANDUP", "SLEEP"}), "WRONG_TEMPORAL_ORDER");
}

TEST_F(ExecutorTest, GrabChecks) {
  EXPECT_EQ(run({"GRAB table 10"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(run({"WALK milk 13", "GRAB milk 13"}), "MISSING_STEP") << "the fridge is closed";
  EXPECT_EQ(last_.reason, "milk (13) is inside something closed");
  EXPECT_EQ(run({"OPEN fridge 12", "GRAB milk 13", "GRAB milk 13"}), "ADDITIONAL_STEP");
  EXPECT_TRUE(edge(65, Relation::kHoldsRight, 13));
  EXPECT_FALSE(edge(13, Relation::kInside, 12));
  EXPECT_EQ(run({"WALK cup 11", "GRAB cup 11", "WALK bread 21", "GRAB bread 21"}), "WRONG_TEMPORAL_ORDER")
      << "both hands are full, and were empty at first";
  EXPECT_TRUE(edge(65, Relation::kHoldsLeft, 11));
}

TEST_F(ExecutorTest, PutChecksOnlyHandsNearnessAndDoors) {
  EXPECT_EQ(run({"PUTBACK cup 11 table 10"}), "MISSING_STEP");
  EXPECT_EQ(run({"WALK cup 11", "GRAB cup 11", "WALK fridge 12", "PUTIN cup 11 fridge 12"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(last_.reason, "fridge (12) is not open");
  EXPECT_EQ(run({"PUTBACK cup 11 fridge 12"}), "");
  EXPECT_TRUE(edge(11, Relation::kOn, 12));
  EXPECT_TRUE(edge(11, Relation::kInside, 1));
  EXPECT_EQ(run({"GRAB cup 11", "OPEN fridge 12", "PUTIN cup 11 fridge 12"}), "");
  EXPECT_TRUE(edge(11, Relation::kInside, 12));
  EXPECT_EQ(run({"GRAB cup 11", "WALK table 10", "PUTIN cup 11 table 10"}), "") << "a table cannot be closed";
  EXPECT_EQ(run({"PUTBACK cup 11 table 10"}), "WRONG_TEMPORAL_ORDER") << "held before";
}

TEST_F(ExecutorTest, PutObjectBackIsDoneOrDoesNothingOrCrashes) {
  EXPECT_EQ(run({"PUTOBJBACK cup 11"}), "crash");
  EXPECT_EQ(run({"WALK cup 11", "GRAB cup 11", "WALK light 14", "PUTOBJBACK cup 11"}), "") << "too far away";
  EXPECT_TRUE(edge(65, Relation::kHoldsRight, 11));
  EXPECT_EQ(run({"WALK table 10", "PUTOBJBACK cup 11"}), "");
  EXPECT_TRUE(edge(11, Relation::kOn, 10));
  EXPECT_FALSE(edge(65, Relation::kHoldsRight, 11));
}

TEST_F(ExecutorTest, DropForgetsTheGrab) {
  EXPECT_EQ(run({"WALK cup 11", "GRAB cup 11", "DROP cup 11", "GRAB cup 11", "RELEASE cup 11", "DROP cup 11"}),
            "WRONG_TEMPORAL_ORDER");
}

TEST_F(ExecutorTest, SwitchesAndPlugs) {
  EXPECT_EQ(run({"SWITCHON table 10"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(run({"WALK light 14", "SWITCHOFF light 14"}), "ADDITIONAL_STEP");
  EXPECT_EQ(run({"SWITCHON light 14", "SWITCHON light 14"}), "ADDITIONAL_STEP");
  EXPECT_EQ(run({"PLUGOUT light 14"}), "");
  EXPECT_TRUE(state(14, State::kOn)) << "unplugged and still on";
  EXPECT_TRUE(state(14, State::kPluggedOut));
  EXPECT_EQ(run({"PLUGIN light 14", "PLUGIN light 14"}), "ADDITIONAL_STEP");
  EXPECT_EQ(run({"WALK television 16", "SWITCHON television 16"}), "ADDITIONAL_STEP") << "unplugged";
  EXPECT_EQ(run({"PLUGIN television 16"}), "AFFORDANCE_ERROR") << "has no plug";
}

TEST_F(ExecutorTest, AThingThatIsOnIsNotOpened) {
  EXPECT_EQ(run({"WALK fridge 12", "SWITCHON fridge 12", "OPEN fridge 12"}), "ADDITIONAL_STEP");
  EXPECT_EQ(run({"SWITCHOFF fridge 12", "OPEN fridge 12", "OPEN fridge 12", "CLOSE fridge 12", "CLOSE fridge 12"}),
            "ADDITIONAL_STEP ADDITIONAL_STEP");
}

TEST_F(ExecutorTest, Looking) {
  EXPECT_EQ(run({"LOOKAT television 16"}), "MISSING_STEP");
  EXPECT_EQ(run({"TURNTO television 16", "LOOKAT television 16", "POINTAT television 16"}), "") << "from any room";
  EXPECT_EQ(run({"WATCH television 16"}), "AFFORDANCE_ERROR") << "in another room";
  EXPECT_EQ(run({"WATCH light 14"}), "AFFORDANCE_ERROR") << "not lookable";
  EXPECT_EQ(run({"WALK chair 15", "WATCH television 16"}), "WRONG_TEMPORAL_ORDER") << "walking turns away";
  EXPECT_EQ(run({"TURNTO chair 15", "WATCH television 16"}), "") << "faces what the chair faces";
  EXPECT_EQ(run({"SIT chair 15", "WATCH television 16"}), "") << "sitting, and the chair turns to it";
  EXPECT_EQ(run({"LOOKAT_MEDIUM television 16"}), "");
  EXPECT_EQ(run({"LOOKAT_SHORT television 16"}), "crash");
}

TEST_F(ExecutorTest, FoodAndDrink) {
  EXPECT_EQ(run({"DRINK table 10"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(run({"DRINK cup 11"}), "MISSING_STEP");
  EXPECT_EQ(run({"WALK table 10", "EAT table 10"}), "") << "there is bread on it";
  EXPECT_EQ(run({"WALK bread 21", "CUT bread 21"}), "MISSING_STEP");
  EXPECT_TRUE(last_.without_condition) << "no knife";
  EXPECT_EQ(run({"GRAB bread_knife 20", "CUT bread 21", "EAT bread 21"}), "");
  EXPECT_EQ(run({"READ bread 21", "GREET bread 21"}), "AFFORDANCE_ERROR AFFORDANCE_ERROR");
}

TEST_F(ExecutorTest, PouringKeepsWhatIsNotWater) {
  EXPECT_EQ(run({"WALK fridge 12", "OPEN fridge 12", "GRAB milk 13", "WALK cup 11", "POUR milk 13 cup 11"}), "");
  EXPECT_TRUE(edge(13, Relation::kInside, 11));
  EXPECT_TRUE(edge(65, Relation::kHoldsRight, 13));
  EXPECT_EQ(run({"POUR milk 13 table 10"}), "AFFORDANCE_ERROR");
}

TEST_F(ExecutorTest, CleaningClothesAndMoving) {
  EXPECT_EQ(run({"WALK table 10", "WIPE table 10"}), "MISSING_STEP");
  EXPECT_EQ(run({"WASH table 10"}), "");
  EXPECT_TRUE(state(10, State::kClean));
  EXPECT_FALSE(state(10, State::kDirty));
  EXPECT_EQ(run({"MOVE table 10", "PUSH fridge 12", "PULL fridge 12"}), "MISSING_STEP AFFORDANCE_ERROR");
  EXPECT_EQ(run({"SQUEEZE table 10", "TYPE table 10"}), "AFFORDANCE_ERROR AFFORDANCE_ERROR");
  EXPECT_EQ(run({"PUTOFF shirt 17"}), "MISSING_STEP");
  EXPECT_EQ(run({"WALK shirt 17", "GRAB shirt 17", "SQUEEZE shirt 17", "PUTON shirt 17"}), "");
  EXPECT_TRUE(edge(17, Relation::kOn, 65));
  EXPECT_EQ(run({"GRAB shirt 17"}), "ADDITIONAL_STEP") << "the grab is remembered";
  EXPECT_EQ(run({"PUTOFF shirt 17", "PUTOFF shirt 17"}), "WRONG_TEMPORAL_ORDER");
}

// Recorded with CPython 3.11.
TEST(PythonSet, OrderOfIteration) {
  PythonSet set;
  for (const int value : {1002, 65, 89, 73, 8, 16}) set.insert(value);
  EXPECT_EQ(set.elements(), (std::vector<int>{65, 8, 73, 1002, 16, 89}));
  set.discard(8);
  set.insert(97);
  EXPECT_EQ(set.elements(), (std::vector<int>{65, 97, 73, 1002, 16, 89}));
  EXPECT_EQ(set.deep_copy().elements(), (std::vector<int>{65, 97, 73, 1002, 16, 89}));
  set.remove_all({65, 97, 73, 1002});
  EXPECT_EQ(set.elements(), (std::vector<int>{16, 89}));
}

TEST(PythonText, Json) {
  EXPECT_EQ(python_json(R"(["a", 1002, -0, 1.5, null, true, NaN])")->items[1].text, "1002");
  EXPECT_EQ(python_json("[-0]")->items[0].text, "0");
  EXPECT_EQ(python_json(R"(["\u00e9\ud83d\ude00"])")->items[0].text, "\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(python_json(R"({"a": 1, "a": 2})")->find("a")->text, "2");
  for (const char* bad : {"", "[1,]", "[01]", "['a']", "[\"a\tb\"]", "[1] 2", "{1: 2}", "[\"\\x\"]", "[1.]", "[\"a"}) {
    EXPECT_FALSE(python_json(bad)) << bad;
  }
  EXPECT_FALSE(python_json(std::string(5000, '[') + std::string(5000, ']')));
  EXPECT_TRUE(python_json(std::string(500, '[') + std::string(500, ']')));
}

TEST(PythonText, Spaces) {
  EXPECT_EQ(python_strip("\xC2\xA0 a b\n\x1C"), "a b");
  EXPECT_EQ(squeeze_spaces("a \t\n b\xE3\x80\x80"), "a b ");
  EXPECT_EQ(python_strip("\xFF"), "\xFF");
}

class ActionAnswerTest : public ::testing::Test {
 protected:
  std::string verdict(const std::string& output) { return read_action_answer(output, objects_).verdict; }
  std::string plan(const std::string& output) {
    std::string result;
    for (const Action& step : read_action_answer(output, objects_).plan) result += to_script(step) + ";";
    return result;
  }

  std::map<std::string, int> objects_ = {{"cup_11", 11}, {"floor_lamp_22", 22}, {"character_65", 65}};
};

TEST_F(ActionAnswerTest, FindsActionsAnywhere) {
  EXPECT_EQ(plan(R"({"WALK": ["cup", "11"], "WALK": ["cup", 11]})"), "[WALK] <cup> (11);[WALK] <cup> (11);");
  EXPECT_EQ(plan("```json\n{'WALK' :\n['cup',\t'11']}\n```"), "[WALK] <cup> (11);");
  EXPECT_EQ(plan(R"(Sure: [{"WALK": ["cup", "11"]} {"SLEEP": [ ]}, "STANDUP": []])"), "[WALK] <cup> (11);[SLEEP];");
  EXPECT_EQ(plan(R"("WALK": ["floor", "lamp_22"])"), "[WALK] <floor> (22);") << "only the joined text is looked up";
  EXPECT_EQ(plan(R"("WALK": ["character", "65"])"), "[WALK] <character> (65);");
}

TEST_F(ActionAnswerTest, Rejects) {
  EXPECT_EQ(verdict(""), "parsing");
  EXPECT_EQ(verdict("{}"), "parsing");
  EXPECT_EQ(verdict(R"({"SLEEP": []})"), "parsing");
  EXPECT_EQ(verdict(R"({"WALK": ["cup"]})"), "parsing");
  EXPECT_EQ(verdict(R"({"WALK": [cup, 11]})"), "parsing");
  EXPECT_FALSE(read_action_answer(R"({"WALK": [cup, 11]})", objects_).is_json);
  EXPECT_EQ(verdict(R"({"WALK": [["cup", "11"]]})"), "parsing");
  EXPECT_EQ(verdict(R"({"PLUGIN": ["cup", "11"]})"), "hallucination");
  EXPECT_EQ(verdict(R"({"WALK": ["cup", "12"]})"), "hallucination");
  EXPECT_EQ(verdict(R"({"WALK": ["cup", "11 "]})"), "hallucination");
  EXPECT_EQ(verdict(R"({"WALK": ["cup", 11.0]})"), "hallucination");
  EXPECT_EQ(verdict(R"({"WALK": ["cup", "11", "cup", "11"]})"), "parameter");
  EXPECT_EQ(verdict(R"({"SLEEP": ["cup", "11"]})"), "parameter");
  EXPECT_EQ(verdict(R"({"walk": ["cup", "11"]})"), "crash");
  EXPECT_EQ(verdict(R"({"SLEEP": ["cup", "11"], "walk": ["cup", "11"]})"), "parameter");
}

TEST_F(ActionAnswerTest, SurvivesGarbage) {
  for (const char* part : {"\"", "\"a\":[", "[", "\xFF\xFE\"", "\"WALK\": [{\"a\":", " ", "'", "\xC2\xA0"}) {
    std::string text;
    while (text.size() < 300'000) text += part;
    EXPECT_EQ(verdict(text), "parsing") << part;
  }
  EXPECT_EQ(verdict(std::string(100'000, '\0')), "parsing");
}

class ActionScorerTest : public ::testing::Test {
 protected:
  ActionScorer scorer(const std::string& rows) { return ActionScorer(folder_.write("as.jsonl", rows), folder_.path()); }
  static constexpr const char* kLightGoal =
      R"("node_goals": [[14, "light", "ON"], [14, "light", "ON"]], "edge_goals": [], "action_goals": [])";

  Folder folder_;
};

TEST_F(ActionScorerTest, ReachesGoals) {
  const ActionScorer light = scorer(action_row("1_1", kLightGoal));
  const TaskScore good = light.score("1_1", R"({"WALK": ["light", "14"], "SWITCHON": ["light", "14"]})");
  EXPECT_EQ(good.verdict, "run");
  EXPECT_TRUE(good.executable);
  EXPECT_EQ(good.success, 1);
  EXPECT_EQ(good.steps.size(), 2U);
  EXPECT_EQ(good.goals.size(), 1U) << "repeated goals count once";
  EXPECT_EQ(good.reason, "");

  const TaskScore bad = light.score("1_1", R"({"SWITCHON": ["light", "14"], "WALK": ["light", "14"]})");
  EXPECT_FALSE(bad.executable);
  EXPECT_EQ(bad.success, 0);
  EXPECT_EQ(bad.errors, (std::map<std::string, int>{{"MISSING_STEP", 1}}));
  EXPECT_EQ(bad.reason, "step 1, SWITCHON light 14: MISSING_STEP: the character is not near light (14)");

  // The goal is checked where a plan stops, too.
  const TaskScore both =
      light.score("1_1", R"({"WALK": ["light", "14"], "SWITCHON": ["light", "14"], "GRAB": ["light", "14"]})");
  EXPECT_FALSE(both.executable);
  EXPECT_EQ(both.success, 1);
}

TEST_F(ActionScorerTest, AdditionalStepsAreCountedAndPassedOver) {
  const TaskScore score =
      scorer(action_row("1_1", kLightGoal))
          .score("1_1", R"("STANDUP": [ ], "STANDUP": [ ], "WALK": ["light", 14], "SWITCHON": ["light", 14])");
  EXPECT_TRUE(score.executable);
  EXPECT_EQ(score.success, 1);
  EXPECT_EQ(score.errors, (std::map<std::string, int>{{"ADDITIONAL_STEP", 2}}));
}

TEST_F(ActionScorerTest, GoldWordForWordIsNoSuccess) {
  const ActionScorer light =
      scorer(action_row("1_1", kLightGoal, R"x(["[WALK] <light> (14)", "[SWITCHON] <light> (14)"])x"));
  const std::string gold = R"({"WALK": ["light", "14"], "SWITCHON": ["light", "14"]})";
  const Score score = light.score({{"1_1", gold}});
  EXPECT_EQ(score.tasks[0].verdict, "gold_equal");
  EXPECT_TRUE(score.tasks[0].equals_gold);
  EXPECT_EQ(score.task_success, 0);
  EXPECT_EQ(score.execution_success, 100);
  EXPECT_EQ(score.equal_to_gold, 1U);
}

TEST_F(ActionScorerTest, OrderOfActionGoals) {
  const ActionScorer two =
      scorer(action_row("1_1", R"("node_goals": [], "edge_goals": [], "action_goals": ["TOUCH|PUSH", "GRAB"])"));
  const std::string grab = R"("GRAB": ["cup", "11"],)";
  const std::string touch = R"("PUSH": ["cup", "11"],)";
  const std::string walk = R"("WALK": ["cup", "11"],)";
  EXPECT_EQ(two.score("1_1", walk + grab + touch).success, 0.5);
  EXPECT_EQ(two.score("1_1", walk + touch + grab).success, 0.5);
  EXPECT_EQ(two.score("1_1", walk + touch + grab + touch).success, 1);
  EXPECT_EQ(two.score("1_1", walk + grab + touch, ActionGoalOrder::kSorted).success, 1);
  EXPECT_EQ(two.score("1_1", walk + touch + grab, ActionGoalOrder::kSorted).success, 0);
  EXPECT_EQ(two.score("1_1", walk + touch).success, 0);
  // An action that was not executed does not count.
  EXPECT_EQ(two.score("1_1", walk + touch + grab + grab).success, 0.5);
}

TEST_F(ActionScorerTest, TotalsAndRates) {
  const std::string edges =
      R"("node_goals": [], "edge_goals": [[11, "ON", 10], [11, "CLOSE", 10]], "action_goals": [])";
  const ActionScorer two = scorer(action_row("1_1", edges, "[]", "false") + action_row("2_1", kLightGoal));
  const Score score = two.score({{"2_1", "{}"}, {"9_9", ""}, {"2_1", R"({"WALK": [light]})"}});
  EXPECT_EQ(score.n, 1U);
  EXPECT_EQ(score.n_all, 2U);
  EXPECT_EQ(score.strangers, (std::vector<std::string>{"9_9"}));
  EXPECT_EQ(score.tasks[0].verdict, "excluded");
  EXPECT_FALSE(score.tasks[0].scored);
  EXPECT_EQ(score.tasks[1].errors.at("parsing"), 2) << "the last answer, whose list is not JSON";
  EXPECT_EQ(score.errors.at("parsing"), 2);
  EXPECT_EQ(score.rates, (std::map<std::string, double>{{"node_goals", 0}, {"all_goals", 0}}));
  EXPECT_EQ(two.score({}).tasks[1].verdict, "unanswered");
  EXPECT_EQ(two.score({}).task_success, 0);

  const Score done = two.score({{"2_1", R"("STANDUP": [ ], "WALK": ["light", "14"])"}});
  EXPECT_EQ(done.execution_success, 100) << "the character sits at first";
  EXPECT_EQ(done.task_success, 0);
}

TEST_F(ActionScorerTest, CrashesAreFailuresOfTheirOwn) {
  const ActionScorer light = scorer(action_row("1_1", kLightGoal));
  const TaskScore crash =
      light.score("1_1", R"("WALK": ["light", "14"], "SWITCHON": ["light", "14"], "PUTOBJBACK": ["cup", "11"])");
  EXPECT_EQ(crash.verdict, "crash");
  EXPECT_EQ(crash.success, 0);
  EXPECT_FALSE(crash.executable);
  EXPECT_EQ(crash.errors.at("crash"), 1);
  EXPECT_EQ(light.score("1_1", R"("walk": ["light", "14"])").errors.at("crash"), 1);
}

void expect_input_error(const std::function<void()>& load, const std::vector<std::string>& parts) {
  try {
    load();
    FAIL() << "no error";
  } catch (const InputError& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST_F(ActionScorerTest, OddFilesAreNamed) {
  const std::string good = action_row("1_1", kLightGoal);
  expect_input_error([&] { scorer(good + "nonsense\n"); }, {"as.jsonl:2", "not a JSON object"});
  expect_input_error([&] { scorer(good + R"({"id": "2_1"})"); }, {"as.jsonl:2", "'task'"});
  expect_input_error([&] { scorer(good + good); }, {"as.jsonl:2", "repeats '1_1'"});
  expect_input_error([&] { scorer(action_row("1_1", kLightGoal, "[]", "false")); }, {"as.jsonl:1", "'scored'"});
  expect_input_error([&] { scorer(action_row("7_7", kLightGoal)); }, {"graphs.jsonl", "7_7"});
  const std::string far = R"("node_goals": [[999, "light", "ON"]], "edge_goals": [], "action_goals": [])";
  expect_input_error([&] { scorer(action_row("1_1", far)); }, {"as.jsonl:1", "node_goals", "999"});
  const std::string odd = R"("node_goals": [[14, "light", "GREEN"]], "edge_goals": [], "action_goals": [])";
  expect_input_error([&] { scorer(action_row("1_1", odd)); }, {"as.jsonl:1", "node_goals[0][2]", "GREEN"});
  folder_.write("graphs.jsonl", R"({"id": "1_1", "nodes_del": []})");
  expect_input_error([&] { scorer(good); }, {"graphs.jsonl:1", "nodes_add"});
  std::filesystem::remove(std::filesystem::path(folder_.path()) / "graphs.jsonl");
  expect_input_error([&] { scorer(good); }, {"graphs.jsonl"});
}

TEST(SubgoalFormula, Parses) {
  const std::optional<Formula> formula = parse_formula("(exists x0. ((A(x0) or B(x0))) thenC(a.1,b) and not D())");
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->kind, Formula::Kind::kThen);
  EXPECT_EQ(formula->parts[0].kind, Formula::Kind::kExists);
  EXPECT_EQ(formula->parts[1].kind, Formula::Kind::kAnd);
  EXPECT_EQ(to_string(formula->parts[1].parts[0]), "C(a.1, b)");
  EXPECT_EQ(formula->parts[1].parts[1].kind, Formula::Kind::kNot);
  for (const char* bad :
       {"", "A", "A(", "A(x))", "A(x) then", "A(x) B(y)", "A(1)", "A(x.)", "exists x (A(x))", "A(x y)"}) {
    EXPECT_FALSE(parse_formula(bad)) << bad;
  }
  EXPECT_FALSE(parse_formula(std::string(100'000, '(')));
  EXPECT_TRUE(parse_formula("((((A(x)))))"));
}

TEST(SubgoalFormula, KnowsAtoms) {
  EXPECT_EQ(atom_kind("ON"), AtomKind::kState);
  EXPECT_EQ(atom_kind("SITTING"), AtomKind::kState);
  EXPECT_EQ(atom_kind("ONTOP"), AtomKind::kRelation);
  EXPECT_EQ(atom_kind("NEXT_TO"), AtomKind::kRelation);
  EXPECT_EQ(atom_kind("GRABBABLE"), AtomKind::kProperty);
  EXPECT_EQ(atom_kind("WIPE"), AtomKind::kAction);
  for (const char* unknown : {"POUR", "STANDUP", "PUTIN", "CLOSE", "on"})
    EXPECT_EQ(atom_kind(unknown), AtomKind::kUnknown);
  EXPECT_EQ(atom_arity("BETWEEN"), 2U);
  EXPECT_EQ(atom_arity("SLEEP"), 0U);
  EXPECT_FALSE(check_formula(*parse_formula("ON(a.1) and OFF(a.1)")));
  EXPECT_TRUE(check_formula(*parse_formula("POUR(a.1, b.2)"))->unknown_atom);
  EXPECT_FALSE(check_formula(*parse_formula("(ON(a.1) then OFF(a.1)) and ON(a.1)"))->unknown_atom);
}

TEST_F(ExecutorTest, GoalsAlongATrajectory) {
  const auto reached = [&](const char* formula, const std::vector<std::string>& plan) {
    const Goal goal(*parse_formula(formula));
    Executor executor(scene_);
    GoalProgress progress;
    for (const std::string& text : plan) {
      const Action next = action(text);
      goal.advance(progress, executor.world(), &next);
      EXPECT_EQ(executor.execute(next).outcome, Outcome::kOk) << text;
    }
    goal.advance(progress, executor.world(), nullptr);
    return goal.is_reached(progress);
  };
  const std::vector<std::string> lamp = {"WALK light 14", "SWITCHON light 14", "TOUCH light 14", "SWITCHOFF light 14"};
  EXPECT_TRUE(reached("OFF(light.14)", {})) << "the first state counts";
  EXPECT_TRUE(reached("ON(light.14)", lamp)) << "on the way";
  EXPECT_FALSE(reached("ON(light.14) and OFF(light.14)", lamp)) << "not at once";
  EXPECT_TRUE(reached("ON(light.14) then OFF(light.14)", lamp));
  EXPECT_FALSE(reached("OFF(light.14) then ON(light.14) then OFF(light.14) then ON(light.14)", lamp));
  EXPECT_TRUE(reached("exists x. (TOUCH(x) or PUSH(x)) then ON(light.14)", lamp)) << "the state after the touch";
  EXPECT_FALSE(reached("exists x. (SWITCHOFF(x)) then ON(light.14)", lamp));
  EXPECT_TRUE(reached("TOUCH(light.14) and ON(light.14)", lamp)) << "a state and the action taken in it";
  EXPECT_FALSE(reached("ON(lamp.14)", lamp)) << "another name";
  EXPECT_TRUE(reached("NEXT_TO(character.65, light.14)", lamp));
  EXPECT_FALSE(reached("GRABBABLE(cup.11)", lamp)) << "properties are no facts";
}

TEST_F(ExecutorTest, Expansion) {
  const auto expand = [&](const char* text) {
    const auto lists = expand_subgoal(*parse_formula(text), executor_.world());
    if (!lists) return std::string("exception");
    std::string result;
    for (const std::vector<Action>& list : *lists) {
      for (const Action& step : list) result += to_text(step) + ", ";
      result += "| ";
    }
    return result;
  };
  EXPECT_EQ(expand("PLUGGED_IN(light.14)"), "FIND light 14, PLUGIN light 14, | ");
  EXPECT_EQ(expand("CLEAN(cup.11)"), "FIND cup 11, WIPE cup 11, | FIND cup 11, WASH cup 11, | ");
  EXPECT_EQ(expand("ONTOP(character.65, bed.19)"), "FIND bed 19, SIT bed 19, | FIND bed 19, LIE bed 19, | ");
  EXPECT_EQ(expand("ONTOP(shirt.17, character.65)"), "PUTON shirt 17, | ");
  EXPECT_EQ(expand("ONTOP(cup.11, table.10)"), "FIND cup 11, GRAB cup 11, FIND table 10, PUTBACK cup 11 table 10, | ");
  EXPECT_EQ(expand("INSIDE(character.65, bedroom.2)"), "WALK bedroom 2, | ");
  EXPECT_EQ(expand("NEXT_TO(cup.11, table.10)"), "");
  EXPECT_EQ(expand("SITTING(character.65)"), "");
  EXPECT_EQ(expand("FACING(cup.11, light.14)"), "FIND light 14, TURNTO light 14, | ");
  EXPECT_EQ(expand("HOLDS_LH(character.65, cup.11)"), "FIND cup 11, GRAB cup 11, | ");
  EXPECT_EQ(expand("DRINK(cup.11)"), "FIND cup 11, GRAB cup 11, DRINK cup 11, | ");
  EXPECT_EQ(expand("WATCH(television.16)"), "FIND television 16, TURNTO television 16, WATCH television 16, | ");
  EXPECT_EQ(expand("SLEEP()"), "SLEEP, | ");
  EXPECT_EQ(expand("ON(light)"), "exception");
  EXPECT_EQ(run({"WALK cup 11", "GRAB cup 11"}), "");
  EXPECT_EQ(expand("DRINK(cup.11)"), "FIND cup 11, DRINK cup 11, | ");
  EXPECT_EQ(expand("INSIDE(cup.11, fridge.12)"),
            "FIND fridge 12, PUTIN cup 11 fridge 12, | FIND fridge 12, POUR cup 11 fridge 12, | ");
}

class SubgoalScorerTest : public ::testing::Test {
 protected:
  using Elements = std::vector<std::string>;

  static std::string answer(const Elements& elements) {
    std::string list;
    for (const std::string& element : elements) list += (list.empty() ? "\"" : ", \"") + element + "\"";
    return "Here: {\"output\": [" + list + "]}}";
  }
  TaskScore score(const Elements& elements, const std::string& goal = "ON(light.14)", const std::string& id = "1_1") {
    const SubgoalScorer scorer(folder_.write("sd.jsonl", subgoal_row(id, goal)), folder_.path());
    return scorer.score("scene_1_" + id, answer(elements));
  }
  std::string verdict(const Elements& elements, const std::string& goal = "ON(light.14)") {
    return score(elements, goal).verdict;
  }

  Folder folder_;
};

TEST_F(SubgoalScorerTest, Verdicts) {
  EXPECT_EQ(verdict({"ON(light.14)"}), "Correct");
  EXPECT_EQ(verdict({"NEXT_TO(character.65, light.14)"}), "GoalUnreachable");
  EXPECT_EQ(verdict({"ON(light.14)", "ON(television.16) and OPEN(light.14)"}), "Runtime");
  EXPECT_EQ(verdict({"POUR(milk.13, cup.11)"}), "Hallucination");
  EXPECT_EQ(verdict({"ON(lamp.14)"}), "Hallucination");
  EXPECT_EQ(verdict({"STANDUP"}), "Hallucination");
  EXPECT_EQ(verdict({"ON(light.14, light.14)"}), "Hallucination");
  EXPECT_EQ(verdict({}), "NotParseable");
  EXPECT_EQ(verdict({"ON(light)"}), "NotParseable");
  EXPECT_EQ(verdict({"OPEN(light.14)", "ON(light)"}), "Runtime") << "never comes to the second";
  EXPECT_EQ(verdict({"not ON(light.14)"}), "NotParseable");
  EXPECT_EQ(verdict({"exists x. (ON(x))"}), "NotParseable");
  EXPECT_EQ(verdict({"SLEEP and ON(light.14)"}), "NotParseable");
  EXPECT_EQ(verdict({"Turn on the light", "ON (light.14)", "", "ON(light.14)"}), "Correct") << "the rest is dropped";
  EXPECT_EQ(verdict({"ON(light.14)"}, "exists x. (exists y. (POUR(x,y)))"), "NotParseable");
}

TEST_F(SubgoalScorerTest, ErrorsOfTheReportedWay) {
  const TaskScore more = score({"ON(light.14)", "ON(light.14)", "ON(light.14)", "TOUCH(light.14)"});
  EXPECT_EQ(more.verdict, "Correct");
  EXPECT_TRUE(more.executable);
  EXPECT_EQ(more.success, 1);
  EXPECT_EQ(more.errors, (std::map<std::string, int>{{"ADDITIONAL_STEP", 1}})) << "once per task";
  EXPECT_EQ(more.goals.size(), 2U);
  EXPECT_TRUE(more.goals[1].reached);

  const TaskScore failed = score({"CLEAN(table.10)", "OPEN(light.14)"});
  EXPECT_FALSE(failed.executable);
  EXPECT_EQ(failed.errors, (std::map<std::string, int>{{"AFFORDANCE_ERROR", 1}})) << "the longer of two with one error";
  EXPECT_EQ(failed.reason, "step 4, OPEN light 14: AFFORDANCE_ERROR: light (14) is not CAN_OPEN");

  EXPECT_EQ(score({"ON(light.14, light.14)"}).errors, (std::map<std::string, int>{{"predicate_argument_number", 1}}));
  EXPECT_EQ(score({"ON(lamp.14)"}).errors, (std::map<std::string, int>{{"hallucination", 1}}));
  EXPECT_EQ(score({}).errors, (std::map<std::string, int>{{"parsing", 1}}));
}

TEST_F(SubgoalScorerTest, AMissingStepWithoutConditionEndsEverything) {
  EXPECT_EQ(verdict({"HOLDS_RH(character.65, cup.11)", "CUT(bread.21)"}), "NotParseable") << "no knife";
  EXPECT_EQ(verdict({"HOLDS_RH(character.65, bread_knife.20)", "CUT(bread.21)", "ON(light.14)"}), "Correct");
}

TEST_F(SubgoalScorerTest, ASeatedStartCannotMove) {
  const TaskScore seated = score({"ON(light.14)"}, "ON(light.14)", "2_1");
  EXPECT_EQ(seated.verdict, "Runtime");
  EXPECT_EQ(seated.errors, (std::map<std::string, int>{{"MISSING_STEP", 1}}));
}

TEST_F(SubgoalScorerTest, ChanceIsAMean) {
  EXPECT_EQ(score({"ON(light.14) or OFF(floor_lamp.22)"}).success, 0.5);
  EXPECT_DOUBLE_EQ(score({"ON(light.14) or OFF(floor_lamp.22)", "ON(light.14) or TOUCH(table.10)"}).success, 0.75);
  EXPECT_EQ(score({"ON(light.14)or OFF(floor_lamp.22)"}).success, 0.5) << "an 'or' the formula itself has";
}

TEST_F(SubgoalScorerTest, TooManyWaysAreACrash) {
  Elements elements = {"HOLDS_RH(character.65, cup.11)"};
  elements.insert(elements.end(), 20, "CLEAN(table.10)");
  const TaskScore crash = score(elements);
  EXPECT_EQ(crash.verdict, "crash");
  EXPECT_EQ(crash.errors, (std::map<std::string, int>{{"crash", 1}}));
  EXPECT_EQ(crash.success, 0);
}

TEST_F(SubgoalScorerTest, SurvivesGarbage) {
  const SubgoalScorer scorer(folder_.write("sd.jsonl", subgoal_row("1_1", "ON(light.14)")), folder_.path());
  for (const char* part : {"{", "}", "{\"output\": [", "[", "\xFF{\"", "(", "\"a(", "not "}) {
    std::string text;
    while (text.size() < 300'000) text += part;
    EXPECT_EQ(scorer.score("scene_1_1_1", text).verdict, "NotParseable") << part;
    EXPECT_EQ(scorer.score("scene_1_1_1", answer({text + "x(y)"})).verdict, "NotParseable") << part;
  }
  EXPECT_EQ(scorer.score("scene_1_1_1", "").verdict, "NotParseable");
  EXPECT_EQ(scorer.score("scene_1_1_1", "{\"output\": [1]}").verdict, "NotParseable");
  EXPECT_EQ(scorer.score("scene_1_1_1", "{\"output\": \"ON(light.14)\"}").verdict, "NotParseable");
}

TEST_F(SubgoalScorerTest, TotalsAndOddFiles) {
  const std::string row = subgoal_row("1_1", "ON(light.14)");
  const std::string file = folder_.write("sd.jsonl", row + subgoal_row("2_1", "ON(light.14)"));
  const Score score =
      score_virtualhome_subgoals(file, folder_.path(), {{"scene_1_1_1", answer({"ON(light.14)"})}, {"other", ""}});
  EXPECT_EQ(score.n, 2U);
  EXPECT_EQ(score.task_success, 50);
  EXPECT_EQ(score.tasks[1].verdict, "unanswered");
  EXPECT_EQ(score.rates.at("node_goals"), 50);
  EXPECT_EQ(score.rates.at("action_goals"), 0);
  EXPECT_EQ(score.strangers.size(), 1U);

  const auto load = [&](const std::string& rows) { SubgoalScorer(folder_.write("sd.jsonl", rows), folder_.path()); };
  expect_input_error([&] { load("{\"id\": \"1_1\", \"scene\": 1, \"task\": \"Test\"}"); }, {"sd.jsonl:1", "scene_1_"});
  expect_input_error([&] { load(row + subgoal_row("2_1", "ON(light.14")); }, {"sd.jsonl:2", "tl_goal"});
  expect_input_error([&] { load(subgoal_row("1_1", "(ON(light.14) then ON(light.14)) or ON(light.14)")); },
                     {"sd.jsonl:1", "tl_goal", "then"});
}

}  // namespace
}  // namespace metactrl::benchmarks::virtualhome::virtualhome_scorer_test
