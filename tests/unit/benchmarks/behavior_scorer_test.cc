// The rules of the BEHAVIOR evaluator, one by one, on a small kitchen.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/behavior/action_scorer.h"
#include "benchmarks/behavior/goal_options.h"
#include "benchmarks/behavior/subgoal_scorer.h"
#include "benchmarks/behavior/task_file.h"
#include "benchmarks/python_text.h"
#include "metactrl/error.h"
#include "support/behavior_kitchen.h"

namespace metactrl::benchmarks::behavior::behavior_scorer_test {
namespace {

TaskScore run(const Names& steps, const json& goals = json::array({{"open", "fridge_1"}})) {
  return score_action_answer(kitchen(goals), answer_of(steps));
}

// The outcome of the last step, after steps that must all be fine.
std::string last(const Names& steps) {
  const TaskScore score = run(steps);
  if (score.steps.size() != steps.size()) return "ended early: " + score.reason;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (score.steps[i].outcome != "ok") return "step " + std::to_string(i + 1) + ": " + score.steps[i].outcome;
  }
  return score.steps.back().outcome;
}

// Whether the literal holds after the steps, which must all be fine.
::testing::AssertionResult holds(const Names& steps, const json& goal) {
  const TaskScore score = run(steps, json::array({goal}));
  for (const StepScore& step : score.steps) {
    if (step.outcome != "ok") {
      return ::testing::AssertionFailure() << step.action << ": " << step.outcome << ": " << step.reason;
    }
  }
  if (score.steps.size() != steps.size()) return ::testing::AssertionFailure() << score.reason;
  return score.success == 1 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << score.reason;
}

std::string verdict(const std::string& text) { return score_action_answer(kitchen(), text).verdict; }

TEST(BehaviorActionAnswer, IsAPythonList) {
  const std::string open = R"({"action": "OPEN", "object": "fridge_1"})";
  EXPECT_EQ(verdict("[" + open + "]"), "Correct");
  EXPECT_EQ(verdict("```json\n[" + open + "]\n``` and ] more ["), "Correct");
  EXPECT_EQ(verdict("[{'action': 'OPEN', 'object': ' fridge_1\\t'}, # why\n]"), "Correct");
  EXPECT_EQ(verdict("[{'action': 'OP' \"EN\", u'object': '''fridge_\\x31'''},]"), "Correct");
  EXPECT_EQ(verdict("[{'action': 'CLOSE', 'action': 'OPEN', 'object': 'fridge_1', 'n': -1.5e3},]"), "Correct");
  EXPECT_EQ(verdict("[1, None, ..., ('x', {2}), {'action': 'OPEN'}, " + open + "]"), "Correct");
  EXPECT_EQ(verdict(""), "parsing");
  EXPECT_EQ(verdict("no list"), "parsing");
  EXPECT_EQ(verdict("] ["), "parsing");
  EXPECT_EQ(verdict("[]"), "parsing");
  EXPECT_EQ(verdict("[1, 2]"), "parsing");
  EXPECT_EQ(verdict("[" + open), "parsing");
  EXPECT_EQ(verdict("Step [1]: [" + open + "]"), "parsing");
  EXPECT_EQ(verdict("[" + open + " " + open + "]"), "parsing");
  EXPECT_EQ(verdict("[" + open + ",, " + open + "]"), "parsing");
  EXPECT_EQ(verdict("[" + open + ", # see ]\n]"), "parsing");
  EXPECT_EQ(verdict("[{\"action\": \"OPEN\", \"object\": \"fridge_1\", \"done\": true}]"), "parsing");
  EXPECT_EQ(verdict("[{'action': open, 'object': 'fridge_1'}]"), "parsing");
  EXPECT_EQ(verdict("[{{}: 1}, " + open + "]"), "parsing");
  EXPECT_EQ(verdict("[{'action': 'OPEN', 'object': 'fridge\n_1'}]"), "parsing");
  EXPECT_EQ(verdict(std::string("[") + '\0' + open + "]"), "parsing");
}

TEST(BehaviorActionAnswer, NamesBeforeArgumentsOverTheWholePlan) {
  EXPECT_EQ(verdict(answer_of({"open fridge_1"})), "hullucination");
  EXPECT_EQ(verdict(answer_of({"OPEN fridge_2"})), "hullucination");
  EXPECT_EQ(verdict(answer_of({"OPEN fridge_1,"})), "hullucination");
  EXPECT_EQ(verdict(answer_of({"OPEN Fridge_1"})), "hullucination");
  EXPECT_EQ(verdict(answer_of({"OPEN jar_0, jar_1"})), "arguments");
  EXPECT_EQ(verdict(answer_of({"OPEN jar_0, jar_1, jar_0"})), "arguments");
  EXPECT_EQ(verdict(answer_of({"LEFT_PLACE_NEXTTO_ONTOP jar_0"})), "arguments");
  EXPECT_EQ(verdict(answer_of({"OPEN jar_0, jar_1", "FLY jar_0"})), "hullucination");
  EXPECT_EQ(verdict("[{'action': 3, 'object': 'jar_0'}]"), "hullucination");
  // On these the evaluator's program fails.
  EXPECT_EQ(verdict("[{'action': {}, 'object': 'jar_0'}]"), "unknown_execution_error");
  EXPECT_EQ(verdict("[{'action': 'OPEN', 'object': 3}]"), "unknown_execution_error");
  EXPECT_EQ(verdict(answer_of({"NAVIGATE_TO fridge_1"})), "unknown_execution_error");
  const TaskScore score = score_action_answer(kitchen(), answer_of({"OPEN fridge_1", "OPEN nothing"}));
  EXPECT_TRUE(score.steps.empty());
  EXPECT_FALSE(score.executable);
  EXPECT_EQ(score.success, 0);
  EXPECT_EQ(score.errors, (std::map<std::string, int>{{"hullucination", 1}}));
  EXPECT_EQ(score.reason, "step 2: there is no object 'nothing'");
}

TEST(BehaviorExecution, AnAdditionalStepIsSkippedAndAnyOtherFailureEnds) {
  const TaskScore score = run({"OPEN fridge_1", "OPEN fridge_1", "OPEN table_3", "CLOSE fridge_1"});
  ASSERT_EQ(score.steps.size(), 3U);
  EXPECT_EQ(score.steps[1].outcome, "ADDITIONAL_STEP+WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(score.steps[2].outcome, "AFFORDANCE_ERROR");
  EXPECT_FALSE(score.executable);
  // The goal is tested where the plan ended.
  EXPECT_EQ(score.success, 1);
  EXPECT_EQ(score.verdict, "AFFORDANCE_ERROR");
  EXPECT_EQ(score.errors, (std::map<std::string, int>{{"ADDITIONAL_STEP", 1}, {"AFFORDANCE_ERROR", 1}}));
  EXPECT_EQ(score.reason, "step 3, OPEN table_3: AFFORDANCE_ERROR: table_3 cannot be open");
  EXPECT_TRUE(run({"OPEN fridge_1"}).equals_gold);
  EXPECT_FALSE(run({"OPEN fridge_1", "OPEN fridge_1"}).equals_gold);
}

TEST(BehaviorExecution, Grasp) {
  EXPECT_EQ(last({"RIGHT_GRASP room_floor_kitchen_0"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(last({"RIGHT_GRASP bed_4"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_GRASP jar_0"}), "ADDITIONAL_STEP+WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "LEFT_GRASP jar_0"}), "ADDITIONAL_STEP+WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_GRASP jar_1"}), "MISSING_STEP+WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(last({"RIGHT_GRASP apple_0"}), "MISSING_STEP");
  EXPECT_EQ(last({"OPEN fridge_1", "RIGHT_GRASP apple_0"}), "ok");
  const TaskScore score = run({"RIGHT_GRASP apple_0"});
  EXPECT_EQ(score.steps.at(0).reason, "fridge_1, in which apple_0 lies, is closed");
  // Edges go, contents come along unless they are far larger.
  EXPECT_TRUE(holds({"RIGHT_GRASP table_3"}, {"not", {"onfloor", "table_3", "room_floor_kitchen_0"}}));
  EXPECT_TRUE(holds({"RIGHT_GRASP table_3"}, {"ontop", "jar_0", "table_3"}));
  EXPECT_TRUE(holds({"RIGHT_GRASP tray_9"}, {"ontop", "rag_0", "tray_9"}));
  EXPECT_TRUE(holds({"RIGHT_GRASP plate_6", "RIGHT_PLACE_ONTOP tray_9", "LEFT_GRASP tray_9"},
                    {"not", {"ontop", "plate_6", "tray_9"}}));
}

TEST(BehaviorExecution, Release) {
  EXPECT_EQ(last({"RIGHT_RELEASE saucepan_7"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_RELEASE jar_0"}), "ADDITIONAL_STEP");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_RELEASE jar_1"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "LEFT_RELEASE jar_0"}), "ADDITIONAL_STEP");
  EXPECT_TRUE(holds({"RIGHT_GRASP jar_0", "RIGHT_RELEASE jar_0"}, {"not", {"ontop", "jar_0", "table_3"}}));
  EXPECT_TRUE(
      holds({"RIGHT_GRASP jar_0", "RIGHT_RELEASE jar_0"}, {"not", {"onfloor", "jar_0", "room_floor_kitchen_0"}}));
}

TEST(BehaviorExecution, Place) {
  EXPECT_EQ(last({"RIGHT_PLACE_ONTOP table_3"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_PLACE_ONTOP jar_0"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_GRASP table_3", "RIGHT_PLACE_ONTOP jar_0"}), "MISSING_STEP");
  // No wrong order for placing; the other hand does not matter.
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_PLACE_ONTOP table_3", "RIGHT_PLACE_ONTOP table_3"}), "MISSING_STEP");
  EXPECT_TRUE(
      holds({"RIGHT_GRASP plate_6", "LEFT_GRASP tray_9", "RIGHT_PLACE_ONTOP tray_9"}, {"ontop", "plate_6", "tray_9"}));
  EXPECT_TRUE(holds({"RIGHT_GRASP jar_0", "RIGHT_PLACE_ONTOP room_floor_kitchen_0"},
                    {"onfloor", "jar_0", "room_floor_kitchen_0"}));
}

TEST(BehaviorExecution, PlaceInside) {
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_PLACE_INSIDE tray_9"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_PLACE_INSIDE fridge_1"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_PLACE_INSIDE fridge_1"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "RIGHT_PLACE_INSIDE room_floor_kitchen_0"}), "unknown_execution_error");
  EXPECT_EQ(last({"RIGHT_PLACE_INSIDE room_floor_kitchen_0"}), "MISSING_STEP");
  EXPECT_TRUE(holds({"RIGHT_GRASP plate_6", "RIGHT_PLACE_INSIDE jar_1"}, {"inside", "plate_6", "jar_1"}));
  EXPECT_TRUE(holds({"RIGHT_GRASP plate_6", "RIGHT_PLACE_INSIDE sink_2"}, {"inside", "plate_6", "sink_2"}));
  // Being inside is not passed on.
  EXPECT_TRUE(holds({"RIGHT_GRASP plate_6", "RIGHT_PLACE_INSIDE jar_1", "OPEN fridge_1", "RIGHT_GRASP jar_1",
                     "RIGHT_PLACE_INSIDE fridge_1"},
                    {"not", {"inside", "plate_6", "fridge_1"}}));
}

TEST(BehaviorExecution, NextToAndUnderInheritThePlace) {
  EXPECT_TRUE(
      holds({"RIGHT_GRASP jar_1", "RIGHT_PLACE_NEXTTO jar_0"},
            {"and", {"nextto", "jar_1", "jar_0"}, {"nextto", "jar_0", "jar_1"}, {"ontop", "jar_1", "table_3"}}));
  EXPECT_TRUE(holds({"RIGHT_GRASP jar_0", "RIGHT_PLACE_UNDER table_3"},
                    {"and", {"under", "jar_0", "table_3"}, {"onfloor", "jar_0", "room_floor_kitchen_0"}}));
  EXPECT_TRUE(holds({"RIGHT_GRASP jar_0", "RIGHT_PLACE_NEXTTO room_floor_kitchen_0"},
                    {"and",
                     {"onfloor", "jar_0", "room_floor_kitchen_0"},
                     {"nextto", "room_floor_kitchen_0", "jar_0"},
                     {"not", {"nextto", "jar_0", "room_floor_kitchen_0"}}}));
  EXPECT_TRUE(holds({"LEFT_GRASP jar_0", "LEFT_PLACE_NEXTTO_ONTOP plate_6, sink_2"},
                    {"and", {"nextto", "plate_6", "jar_0"}, {"ontop", "jar_0", "sink_2"}}));
  EXPECT_TRUE(holds({"LEFT_GRASP jar_0", "LEFT_PLACE_NEXTTO_ONTOP plate_6, room_floor_kitchen_0"},
                    {"and", {"nextto", "jar_0", "plate_6"}, {"onfloor", "jar_0", "room_floor_kitchen_0"}}));
  EXPECT_EQ(last({"LEFT_GRASP jar_0", "LEFT_PLACE_NEXTTO_ONTOP plate_6, jar_0"}), "MISSING_STEP");
}

TEST(BehaviorExecution, PouringCrashesAfterTheFirstThing) {
  EXPECT_EQ(last({"RIGHT_TRANSFER_CONTENTS_INSIDE sink_2"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_GRASP jar_1", "RIGHT_TRANSFER_CONTENTS_INSIDE sink_2"}), "ok");
  EXPECT_EQ(last({"RIGHT_GRASP jar_1", "RIGHT_TRANSFER_CONTENTS_ONTOP sink_2"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(last({"RIGHT_GRASP jar_1", "RIGHT_TRANSFER_CONTENTS_INSIDE fridge_1"}), "MISSING_STEP");
  EXPECT_EQ(last({"RIGHT_GRASP plate_6", "RIGHT_PLACE_INSIDE jar_1", "RIGHT_GRASP jar_1",
                  "RIGHT_TRANSFER_CONTENTS_INSIDE tray_9"}),
            "AFFORDANCE_ERROR");
  const TaskScore score = run(
      {"RIGHT_GRASP plate_6", "RIGHT_PLACE_INSIDE jar_1", "RIGHT_GRASP jar_1", "RIGHT_TRANSFER_CONTENTS_INSIDE sink_2"},
      json::array({{"inside", "plate_6", "sink_2"}}));
  EXPECT_EQ(score.verdict, "unknown_execution_error");
  EXPECT_FALSE(score.executable);
  EXPECT_EQ(score.success, 1);
}

TEST(BehaviorExecution, OpenAndToggle) {
  EXPECT_EQ(last({"RIGHT_GRASP jar_0", "LEFT_GRASP plate_6", "OPEN fridge_1"}), "MISSING_STEP+WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(last({"CLOSE fridge_1"}), "ADDITIONAL_STEP");
  EXPECT_EQ(last({"OPEN dishwasher_5", "TOGGLE_ON dishwasher_5"}), "MISSING_STEP+WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(last({"TOGGLE_ON dishwasher_5", "OPEN dishwasher_5"}), "MISSING_STEP+WRONG_TEMPORAL_ORDER");
  EXPECT_EQ(last({"TOGGLE_ON table_3"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(last({"TOGGLE_OFF sink_2"}), "ADDITIONAL_STEP");
  EXPECT_TRUE(holds({"OPEN dishwasher_5", "RIGHT_GRASP plate_6", "RIGHT_PLACE_INSIDE dishwasher_5",
                     "CLOSE dishwasher_5", "TOGGLE_ON dishwasher_5"},
                    {"not", {"stained", "plate_6"}}));
}

TEST(BehaviorExecution, Slice) {
  const Names sliced = {"OPEN fridge_1", "RIGHT_GRASP knife_0", "SLICE apple_0"};
  EXPECT_EQ(last({"SLICE apple_0"}), "MISSING_STEP");
  EXPECT_EQ(last(sliced), "ok");
  EXPECT_TRUE(holds(sliced, {"and", {"sliced", "apple_0"}, {"frozen", "apple_0"}, {"inside", "apple_0", "fridge_1"}}));
  const auto then = [&](const Names& more) {
    Names steps = sliced;
    steps.insert(steps.end(), more.begin(), more.end());
    return steps;
  };
  EXPECT_EQ(last(then({"LEFT_GRASP apple_0"})), "AFFORDANCE_ERROR+WRONG_TEMPORAL_ORDER");
  // One half is not enough.
  EXPECT_TRUE(holds(then({"LEFT_GRASP apple_0_part_0", "LEFT_PLACE_INSIDE jar_1"}),
                    {"and", {"not", {"inside", "apple_0", "jar_1"}}, {"not", {"inside", "apple_0", "fridge_1"}}}));
  EXPECT_TRUE(holds(then({"LEFT_GRASP apple_0_part_0", "LEFT_PLACE_INSIDE jar_1", "LEFT_GRASP apple_0_part_1",
                          "LEFT_PLACE_INSIDE jar_1"}),
                    {"inside", "apple_0", "jar_1"}));
  // An object that can be sliced and has no halves: the goal test fails.
  const TaskScore score = run({"RIGHT_GRASP knife_0", "SLICE pear_0", "OPEN fridge_1"});
  EXPECT_EQ(score.verdict, "unknown_execution_error");
  EXPECT_EQ(score.success, 0);
}

// Slicing a thing that stands in its own half would make a circle of containers.
TEST(BehaviorExecution, CirclesEnd) {
  json row = kitchen_row();
  row["sim_init"]["tree"] = {{"apple_0", "jar_1", "inside"}, {"jar_1", "apple_0_part_0", "ontop"}};
  const ActionTask task = load(row);
  const TaskScore score = score_action_answer(
      task, answer_of({"RIGHT_GRASP knife_0", "SLICE apple_0", "LEFT_GRASP jar_1", "OPEN fridge_1"}));
  ASSERT_EQ(score.steps.size(), 3U);
  EXPECT_EQ(score.steps[2].outcome, "unknown_execution_error");
  EXPECT_FALSE(score.executable);
}

TEST(BehaviorExecution, SoakDryFreezeCook) {
  const Names in_sink = {"RIGHT_GRASP rag_0", "RIGHT_PLACE_INSIDE sink_2"};
  EXPECT_EQ(last({"RIGHT_GRASP rag_0", "RIGHT_PLACE_INSIDE sink_2", "SOAK rag_0"}), "MISSING_STEP");
  EXPECT_TRUE(
      holds({"RIGHT_GRASP rag_0", "RIGHT_PLACE_ONTOP sink_2", "TOGGLE_ON sink_2", "SOAK rag_0"}, {"soaked", "rag_0"}));
  EXPECT_TRUE(holds({"RIGHT_GRASP rag_0", "RIGHT_PLACE_INSIDE sink_2", "TOGGLE_ON sink_2", "SOAK rag_0", "DRY rag_0"},
                    {"not", {"soaked", "rag_0"}}));
  EXPECT_EQ(last({"DRY rag_0"}), "ADDITIONAL_STEP");
  EXPECT_EQ(last({"FREEZE apple_0"}), "ADDITIONAL_STEP");
  EXPECT_EQ(last({"UNFREEZE apple_0"}), "MISSING_STEP");
  EXPECT_TRUE(holds({"OPEN fridge_1", "UNFREEZE apple_0"}, {"not", {"frozen", "apple_0"}}));
  EXPECT_EQ(last({"COOK pear_0"}), "MISSING_STEP");
  EXPECT_TRUE(holds({"RIGHT_GRASP pear_0", "RIGHT_PLACE_INSIDE saucepan_7", "COOK pear_0"}, {"cooked", "pear_0"}));
  EXPECT_EQ(last(in_sink), "ok");
}

TEST(BehaviorExecution, Clean) {
  EXPECT_EQ(last({"CLEAN detergent_8"}), "AFFORDANCE_ERROR");
  EXPECT_EQ(last({"CLEAN jar_0"}), "ADDITIONAL_STEP");
  EXPECT_EQ(last({"CLEAN table_3"}), "MISSING_STEP+MISSING_STEP");
  // A dry tool takes the dust and leaves the stain; that is a success.
  EXPECT_TRUE(
      holds({"RIGHT_GRASP rag_0", "CLEAN table_3"}, {"and", {"not", {"dusty", "table_3"}}, {"stained", "table_3"}}));
  // Full hands do not matter; a detergent is enough for a stain.
  EXPECT_TRUE(holds({"RIGHT_GRASP detergent_8", "LEFT_GRASP jar_0", "CLEAN plate_6"}, {"not", {"stained", "plate_6"}}));
  EXPECT_EQ(last({"RIGHT_GRASP rag_0", "RIGHT_RELEASE rag_0", "CLEAN table_3"}),
            "MISSING_STEP+WRONG_TEMPORAL_ORDER+MISSING_STEP");
  EXPECT_TRUE(holds({"RIGHT_GRASP plate_6", "RIGHT_PLACE_INSIDE sink_2", "TOGGLE_ON sink_2", "CLEAN plate_6"},
                    {"not", {"stained", "plate_6"}}));
  EXPECT_TRUE(holds({"TOGGLE_ON sink_2", "RIGHT_GRASP rag_0", "RIGHT_PLACE_INSIDE sink_2", "SOAK rag_0",
                     "RIGHT_GRASP rag_0", "CLEAN table_3"},
                    {"and", {"not", {"dusty", "table_3"}}, {"not", {"stained", "table_3"}}}));
}

// Two things and two places of one kind, four of another.
Scene shelves() {
  Scene scene;
  for (const std::string kind : {"thing", "place"}) {
    for (int i = 0; i < 6; ++i)
      scene.add({kind + std::to_string(i), (i < 2 ? "two_" : "four_") + kind, false, false, 1});
  }
  return scene;
}

json open_or_dusty() { return {"or", {"open", "x"}, {"dusty", "x"}}; }

TEST(BehaviorGoals, ExpansionIsCutOff) {
  const Scene scene = shelves();
  const auto count = [&](const json& goal) { return expand_goal(goal, scene).size(); };
  const json four = {"x", "-", "four_thing"};
  // Sixteen combinations: twenty tries, some of them behind the end.
  EXPECT_EQ(count({"forall", four, open_or_dusty()}), 11U);
  EXPECT_EQ(count({"forall", {"x", "-", "two_thing"}, open_or_dusty()}), 4U);
  EXPECT_EQ(count({"forall", {"x", "-", "nobody"}, open_or_dusty()}), 1U);
  EXPECT_EQ(count({"exists", four, open_or_dusty()}), 8U);
  EXPECT_EQ(count({"exists", {"x", "-", "nobody"}, {"open", "x"}}), 0U);
  EXPECT_EQ(count({"forn", json::array({"2"}), four, {"open", "x"}}), 6U);
  EXPECT_EQ(count({"forpairs", four, {"y", "-", "four_place"}, {"inside", "x", "y"}}), 10U);
  EXPECT_EQ(count({"forpairs", four, {"y", "-", "two_place"}, {"inside", "x", "y"}}), 10U);
  EXPECT_EQ(count({"forpairs", {"x", "-", "two_thing"}, {"y", "-", "two_place"}, {"inside", "x", "y"}}), 2U);
  EXPECT_EQ(count({"fornpairs", json::array({"1"}), four, {"y", "-", "four_place"}, {"inside", "x", "y"}}), 4U);
  // Negation picks one literal of every option.
  EXPECT_EQ(count({"not", {"and", {"open", "thing0"}, {"dusty", "thing0"}}}), 2U);
  EXPECT_EQ(count({"not", {"or", {"open", "thing0"}, {"dusty", "thing0"}}}), 1U);
  const GoalOptions negated = expand_goal(json::array({"not", {"open", "thing0"}}), scene);
  ASSERT_EQ(negated.size(), 1U);
  EXPECT_TRUE(negated[0].at(0).negated);
}

TEST(BehaviorGoals, OrderOfTheTruncatedProduct) {
  std::string order;
  for (const GoalOption& option : expand_goal({"forall", {"x", "-", "two_thing"}, open_or_dusty()}, shelves())) {
    for (const Literal& literal : option) order += literal.property == Property::kOpen ? 'o' : 'd';
    order += ' ';
  }
  EXPECT_EQ(order, "oo od do dd ");
}

TEST(BehaviorGoals, WhatIsOutsideTheListIsAFailure) {
  json row = kitchen_row();
  row["goal"] = json::array({{"or", {"open", "fridge_1"}, {"open", "jar_0"}}});
  row["goal_options"] = json::parse(R"([[[["open", "fridge_1"]]]])");
  const ActionTask task = load(row);
  EXPECT_EQ(score_action_answer(task, answer_of({"OPEN jar_0"})).success, 0);
  EXPECT_EQ(score_action_answer(task, answer_of({"OPEN fridge_1"})).success, 1);
}

TEST(BehaviorGoals, AskingForAnImpossiblePropertyFailsTheEvaluator) {
  const TaskScore score = run({"OPEN fridge_1"}, json::array({{"not", {"stained", "fridge_1"}}}));
  EXPECT_EQ(score.verdict, "unknown_execution_error");
  EXPECT_EQ(score.success, 0);
}

TEST(BehaviorScore, WholeFile) {
  json second = kitchen_row();
  second["id"] = "kitchen_2";
  const TemporaryFile file(kitchen_row().dump() + "\n\n" + second.dump() + "\n");
  const Score score = score_behavior_actions(
      file.path(), {{"kitchen_1", "nonsense"}, {"other", "[]"}, {"kitchen_1", answer_of({"OPEN fridge_1"})}});
  ASSERT_EQ(score.tasks.size(), 2U);
  EXPECT_EQ(score.tasks[0].success, 1);
  EXPECT_FALSE(score.tasks[1].answered);
  EXPECT_EQ(score.tasks[1].verdict, "unanswered");
  EXPECT_EQ(score.strangers, Names{"other"});
  EXPECT_EQ(score.n, 2U);
  EXPECT_DOUBLE_EQ(score.task_success, 50);
  EXPECT_DOUBLE_EQ(score.execution_success, 50);
  EXPECT_DOUBLE_EQ(score.rates.at("goal_conditions"), 50);
  const TemporaryFile tasks(subgoal_row().dump() + "\n");
  const Score subgoal_score =
      score_behavior_subgoals(tasks.path(), file.path(), {{"a_kitchen_b", R"*({"output": ["open(fridge.1)"]})*"}});
  ASSERT_EQ(subgoal_score.tasks.size(), 1U);
  EXPECT_EQ(subgoal_score.tasks[0].verdict, "Correct");
  EXPECT_TRUE(subgoal_score.strangers.empty());
}

std::string load_error(const json& row) {
  const TemporaryFile file("\n" + row.dump() + "\n");
  try {
    load_action_tasks(file.path());
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().items().at(0);
    EXPECT_EQ(first.where.file, file.path());
    EXPECT_EQ(first.where.line, 2U);
    return first.message;
  }
  return "no error";
}

TEST(BehaviorTaskFile, ErrorsNameTheField) {
  const auto changed = [](const auto& change) {
    json row = kitchen_row();
    change(row);
    return load_error(row);
  };
  EXPECT_EQ(changed([](json&) {}), "no error");
  EXPECT_EQ(changed([](json& row) { row.erase("id"); }), "field 'id': is missing");
  EXPECT_EQ(changed([](json& row) { row["objects"] = 3; }), "field 'objects': is not a list");
  EXPECT_EQ(changed([](json& row) { row["objects"][1].erase("vol"); }), "field 'objects[1].vol': is missing");
  EXPECT_EQ(changed([](json& row) { row["objects"][1]["vol"] = -1; }), "field 'objects[1].vol': is not a volume");
  EXPECT_EQ(changed([](json& row) { row["objects"][1]["name"] = "fridge_1"; }),
            "field 'objects[1].name': 'fridge_1' occurs twice");
  EXPECT_EQ(changed([](json& row) { row["objects"][0]["props"] = {"heavy"}; }),
            "field 'objects[0].props': there is no property 'heavy'");
  EXPECT_EQ(changed([](json& row) { row["objects"][0]["true"] = {"dusty"}; }),
            "field 'objects[0].true': 'dusty' is not among the props");
  EXPECT_EQ(changed([](json& row) { row.erase("sim_init"); }), "field 'sim_init': is missing");
  EXPECT_EQ(changed([](json& row) { row["sim_init"]["tree"][0][2] = "near"; }),
            "field 'sim_init.tree': 'near' is neither inside nor ontop");
  EXPECT_EQ(changed([](json& row) {
              row["sim_init"]["tree"].push_back({"fridge_1", "apple_0", "inside"});
            }),
            "field 'sim_init.tree': 'fridge_1' is in a circle");
  EXPECT_EQ(changed([](json& row) { row["sim_init"]["edges"][0][0] = "ghost"; }),
            "field 'sim_init.edges': there is no object 'ghost'");
  EXPECT_EQ(changed([](json& row) {
              row["goal"][0] = {"open", "ghost"};
            }),
            "field 'goal[0]': there is no object 'ghost'");
  EXPECT_EQ(changed([](json& row) {
              row["goal"][0] = {"shiny", "jar_0"};
            }),
            "field 'goal[0]': 'shiny' is not a property of an object");
  EXPECT_EQ(changed([](json& row) { row["goal_options"] = json::array(); }),
            "field 'goal_options': has not as many conditions as goal");
  EXPECT_EQ(changed([](json& row) { row["gold"] = {{"OPEN"}}; }), "field 'gold': a step is not [action, object]");
  json nested = {"open", "jar_0"};
  for (int i = 0; i < 100; ++i) nested = {"not", nested};
  EXPECT_EQ(changed([&](json& row) { row["goal"][0] = nested; }), "field 'goal[0]': it is nested too deeply");
  EXPECT_EQ(load_error(json::array()), "the line is not a JSON object");
  EXPECT_THROW(load_action_tasks("/no/such/file.jsonl"), InputError);
  EXPECT_THROW(load_action_tasks(TemporaryFile("{\"id\": ").path()), InputError);
  EXPECT_THROW(load_subgoal_tasks(TemporaryFile(subgoal_row().dump()).path(), {}), InputError);
}

TEST(BehaviorScorer, SlowLargeAndOddAnswers) {
  const ActionTask task = kitchen();
  const auto both = [&](const std::string& text) {
    return score_action_answer(task, text).verdict + " " + subgoals_text(text).score.verdict;
  };
  constexpr std::size_t kSize = 10'000'000;
  EXPECT_EQ(both(std::string(kSize, '[') + "]"), "parsing NotParseable");
  EXPECT_EQ(both(std::string(kSize, '{') + "]}"), "parsing NotParseable");
  EXPECT_EQ(both("[" + std::string(kSize, '(') + "]"), "parsing NotParseable");
  EXPECT_EQ(both("[" + std::string(kSize, '"') + "]"), "parsing NotParseable");
  EXPECT_EQ(both("{\"output\": [\"" + std::string(kSize, '(') + "\"]}"), "parsing NotParseable");
  std::string nots = "{\"output\": [\"";
  for (std::size_t i = 0; i < kSize / 4; ++i) nots += "not ";
  EXPECT_EQ(both(nots + "open(jar.0)\"]}"), "parsing NotParseable");
  EXPECT_EQ(both("{\"output\": " + std::string(kSize / 2, '[') + std::string(kSize / 2, ']') + "}"),
            "parsing NotParseable");
  EXPECT_EQ(both("[{'action': 'OPEN', 'object': '\xFF\xC0\x80'}] {\"output\": [\"open(\xFF)\"]}"),
            "hullucination NotParseable");

  std::string plan = "[";
  std::string subgoal_plan = "{\"output\": [\"open(jar.0)\"";
  constexpr std::size_t kPlanSize = 2'000'000;  // each of its actions is carried out
  while (plan.size() < kPlanSize) plan += "{'action':'OPEN','object':'jar_0'},{'action':'CLOSE','object':'jar_0'},";
  while (subgoal_plan.size() < kPlanSize) subgoal_plan += ",\"not open(jar.0)\",\"open(jar.0) or open(jar.0)\"";
  EXPECT_EQ(score_action_answer(task, plan + "{'action':'OPEN','object':'fridge_1'}]").verdict, "Correct");
  EXPECT_EQ(subgoals_text(subgoal_plan + ",\"open(fridge.1)\"]}").score.verdict, "Correct");
}

TEST(BehaviorScorer, RandomBytesAndMutations) {
  const ActionTask task = kitchen();
  const TemporaryFile worlds_file(kitchen_row().dump());
  const TemporaryFile tasks_file(subgoal_row().dump());
  const std::vector<ActionTask> worlds = load_action_tasks(worlds_file.path());
  const std::vector<SubgoalTask> tasks = load_subgoal_tasks(tasks_file.path(), worlds);
  const std::vector<std::string> seeds = {
      answer_of({"OPEN fridge_1", "RIGHT_GRASP apple_0", "RIGHT_PLACE_NEXTTO_ONTOP jar_0, table_3"}),
      "[{'action': \"OPEN\", u'object': f'jar_0'}, (1, -2.5e3, b'x'), # c\n {None}, ...]",
      R"*({"output": ["open(fridge.1) and not open(jar.1)", "inside(apple.0, jar.1) or (open(jar.0))"]})*"};
  const std::string alphabet = "[](){}'\"\\,.:#- \n_0x1eNotrandhe\xC3\xA9\xFF";
  std::mt19937 random(7);
  std::size_t executable = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = seeds[random() % seeds.size()];
    for (std::size_t i = random() % 6; i > 0; --i) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 3);
        if (text.empty()) text = "x";
      } else {
        text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
    }
    const TaskScore first = score_action_answer(task, text);
    const TaskScore second = score_subgoal_answer(tasks[0], worlds[0], text).score;
    EXPECT_FALSE(first.verdict.empty() || second.verdict.empty()) << text;
    executable += (first.executable ? 1 : 0) + (second.executable ? 1 : 0);
  }
  EXPECT_GT(executable, 100U);
}

TEST(PythonLiteral, Values) {
  const auto readable = [](const std::string& text) { return parse_python_list(text).has_value(); };
  for (const char* good : {"[]", "[1]", "[0x_1F, 0o17, 0b1, 1_000, .5, 5., 1e-3, 2j, 00, -1, ~1, +.5]", "[()]",
                           "[(1,)]", "[{1, 2}]", "[{}]", "['a' 'b']", "[r'\\']", "[b'x']", "[f'x{{}}']", "['\\N']"}) {
    EXPECT_EQ(readable(good), std::string(good) != "[r'\\']" && std::string(good) != "['\\N']") << good;
  }
  for (const char* bad : {"",
                          "[",
                          "]",
                          "[,]",
                          "[1 2]",
                          "[01]",
                          "[1__0]",
                          "[1_]",
                          "[0x]",
                          "[1e]",
                          "[1a]",
                          "[~1.5]",
                          "[x]",
                          "[f'{x}']",
                          "[f'}']",
                          "['a' b'b']",
                          "[b'\xC3\xA9']",
                          "['\\x1']",
                          "['\\U00110000']",
                          "['a]",
                          "[{1: 2, 3}]",
                          "[{1, 2: 3}]",
                          "[{[]: 1}]",
                          "[{({},)}]",
                          "[\\ 1]",
                          "[1] 2",
                          "[true]",
                          "[--]"}) {
    EXPECT_FALSE(readable(bad)) << bad;
  }
  const auto text_of = [](const std::string& text) { return parse_python_list(text)->items.at(0).text; };
  EXPECT_EQ(text_of(R"(['a\'\x41\101\u00e9\
b\q'])"),
            "a'AA\xC3\xA9"
            "b\\q");
  EXPECT_EQ(text_of("[r'\\n' '\\n']"), "\\n\n");
  EXPECT_EQ(text_of("['''a\n''']"), "a\n");
  EXPECT_EQ(python_strip("\xC2\xA0 \t\nx y\xE3\x80\x80\x1C"), "x y");
  EXPECT_EQ(python_strip("\xE2\x80\x8B"), "\xE2\x80\x8B");
}

}  // namespace
}  // namespace metactrl::benchmarks::behavior::behavior_scorer_test
