// The rules of the BEHAVIOR evaluator for subgoal plans: reading, the actions of atoms, verdicts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/behavior/subgoal_scorer.h"
#include "support/behavior_kitchen.h"

namespace metactrl::benchmarks::behavior::behavior_subgoal_scorer_test {
namespace {

std::string subgoal_verdict(const Names& strings) { return subgoals(strings).score.verdict; }

// "GRASP x; PLACE y"
std::string actions(const Names& strings) {
  std::string text;
  for (const auto& [action, object] : subgoals(strings).actions)
    text += (text.empty() ? "" : "; ") + action + " " + object;
  return text;
}

TEST(BehaviorSubgoalAnswer, Reading) {
  const auto verdict = [](const std::string& text) { return subgoals_text(text).score.verdict; };
  const std::string list = R"*(["open(fridge.1)"])*";
  const std::string good = "{\"output\": " + list + "}";
  EXPECT_EQ(verdict(good), "Correct");
  EXPECT_EQ(verdict("Sure! ```json\n" + good + "\n``` {}"), "Correct");
  EXPECT_EQ(verdict(good + "}"), "Correct");
  EXPECT_EQ(verdict("{\"a\": " + good + "}"), "Correct");
  EXPECT_EQ(verdict(""), "NotParseable");
  EXPECT_EQ(verdict("{\"output\": " + list), "NotParseable");
  EXPECT_EQ(verdict("{\"note\": 1} " + good), "NotParseable");
  EXPECT_EQ(verdict(R"*({"output": "open(fridge.1)"})*"), "NotParseable");
  EXPECT_EQ(verdict(R"*({"output": ["open(fridge.1)", 3]})*"), "NotParseable");
  EXPECT_EQ(verdict("{'output': ['open(fridge.1)']}"), "NotParseable");
  EXPECT_EQ(verdict(R"*({"output": []})*"), "NotParseable");
}

TEST(BehaviorSubgoalAnswer, Language) {
  EXPECT_EQ(subgoal_verdict({" open(fridge.1) ", "", "onfloor(agent.1, x)", "forall(x, open(x))"}), "Correct");
  EXPECT_EQ(subgoal_verdict({"open ( fridge.1 )"}), "Correct");
  EXPECT_EQ(subgoal_verdict({"(open(fridge.1) and (notopen(jar.1)))"}), "Correct");
  EXPECT_EQ(subgoal_verdict({"open(fridge.1) then open(jar.0)"}), "Correct");
  EXPECT_EQ(subgoal_verdict({"slice(apple.0)", "isInKitchen(jar.0)", "open(fridge.1)"}), "Correct");
  EXPECT_EQ(subgoal_verdict({"not not not open(jar.1)", "open(fridge.1)"}), "Correct");
  EXPECT_EQ(subgoal_verdict({"open(fridge.1"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"open fridge.1"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"open(fridge-door.1)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"open(fridge.x)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"open()"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"jar_n_01(jar.0)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"burn(jar.0)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"not (open(jar.0) and open(jar.1))"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"not not open(jar.1)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"(open(jar.0) then open(jar.1)) and open(fridge.1)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"holding(jar.0)"}), "Hallucination");
  EXPECT_EQ(subgoal_verdict({"not(jar.0)"}), "Hallucination");
  EXPECT_EQ(subgoal_verdict({"open(jar.0, jar.1)"}), "Hallucination");
  EXPECT_EQ(subgoal_verdict({"open(jar.7)"}), "Hallucination");
  EXPECT_EQ(subgoal_verdict({"open(jar)"}), "Hallucination");
  EXPECT_EQ(subgoal_verdict({"open(apple.0_part_0)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"open(apple_0_part.0)"}), "Hallucination");
  // Shirts lose their T.
  EXPECT_EQ(subgoals({"open(t-shirt.0)"}).score.reason, "there is no object 'shirt.0'");
}

TEST(BehaviorSubgoals, ActionsOfAtoms) {
  EXPECT_EQ(actions({"inside(jar.0, sink.2)"}), "RIGHT_GRASP jar_0; RIGHT_PLACE_INSIDE sink_2");
  EXPECT_EQ(actions({"holds_rh(jar.1)", "ontop(jar.0, sink.2)"}),
            "RIGHT_GRASP jar_1; LEFT_GRASP jar_0; LEFT_PLACE_ONTOP sink_2");
  EXPECT_EQ(actions({"holds_rh(jar.1)", "holds_lh(rag.0)", "onfloor(jar.0, room_floor_kitchen.0)"}),
            "RIGHT_GRASP jar_1; LEFT_GRASP rag_0; RIGHT_RELEASE jar_1; RIGHT_GRASP jar_0; "
            "RIGHT_PLACE_ONTOP room_floor_kitchen_0");
  EXPECT_EQ(actions({"nextto(jar.0, sink.2)", "touching(jar.0, table.3)", "under(jar.0, table.3)"}),
            "RIGHT_GRASP jar_0; RIGHT_PLACE_NEXTTO sink_2; RIGHT_GRASP jar_0; RIGHT_PLACE_NEXTTO table_3; "
            "RIGHT_GRASP jar_0; RIGHT_PLACE_UNDER table_3");
  EXPECT_EQ(actions({"ontop(jar.0, sink.2) and nextto(jar.0, jar.1)"}),
            "RIGHT_GRASP jar_0; RIGHT_PLACE_NEXTTO_ONTOP jar_1, sink_2");
  EXPECT_EQ(actions({"touching(jar.1, jar.0)", "onfloor(jar.0, room_floor_kitchen.0)"}),
            "RIGHT_GRASP jar_0; RIGHT_PLACE_NEXTTO_ONTOP jar_1, room_floor_kitchen_0");
  EXPECT_EQ(actions({"holds_rh(jar.1)", "holds_lh(rag.0)", "open(fridge.1)"}),
            "RIGHT_GRASP jar_1; LEFT_GRASP rag_0; RIGHT_RELEASE jar_1; OPEN fridge_1");
  EXPECT_EQ(actions({"open(fridge.1)", "not frozen(apple.0)", "frozen(apple.0)", "not open(fridge.1)"}),
            "OPEN fridge_1; UNFREEZE apple_0; FREEZE apple_0; CLOSE fridge_1");
  EXPECT_EQ(actions({"toggledon(sink.2)", "not toggled.on(sink.2)"}), "TOGGLE_ON sink_2; TOGGLE_OFF sink_2");
  EXPECT_EQ(actions({"holds_rh(rag.0)", "not dusty(table.3)"}), "RIGHT_GRASP rag_0; CLEAN table_3");
  EXPECT_EQ(actions({"holds_rh(rag.0)", "holds_rh(jar.0)"}),
            "RIGHT_GRASP rag_0; RIGHT_RELEASE rag_0; RIGHT_GRASP jar_0");
  EXPECT_EQ(actions({"holds_rh(rag.0)", "not holds_lh(rag.0)", "not holds_rh(rag.0)"}),
            "RIGHT_GRASP rag_0; RIGHT_RELEASE rag_0");
  EXPECT_EQ(actions({"not ontop(jar.0, table.3)", "not cooked(pear.0)", "dusty(table.3)"}), "");
}

TEST(BehaviorSubgoals, NotInsideReallyDropsTheObject) {
  EXPECT_EQ(actions({"not inside(jar.0, fridge.1)"}), "RIGHT_GRASP jar_0; RIGHT_RELEASE jar_0");
  const SubgoalResult result = subgoals({"holds_rh(rag.0)", "not inside(jar.0, fridge.1)"});
  EXPECT_EQ(result.score.verdict, "Runtime");
  ASSERT_EQ(result.errors.size(), 1U);
  EXPECT_EQ(result.errors[0].subgoal, "Not(inside(jar.0, fridge.1))");
  EXPECT_EQ(result.errors[0].error, "MISSING_STEP");
}

// The held plate_60 counts as plate_6, whose name is a piece of its own.
TEST(BehaviorSubgoals, HandsAreComparedByPiecesOfNames) {
  EXPECT_EQ(actions({"holds_rh(plate.60)", "inside(plate.6, sink.2)"}),
            "RIGHT_GRASP plate_60; RIGHT_PLACE_INSIDE sink_2");
  // The left hand is asked first.
  EXPECT_EQ(actions({"holds_rh(plate.6)", "holds_lh(plate.60)", "inside(plate.6, sink.2)"}),
            "RIGHT_GRASP plate_6; LEFT_GRASP plate_60; LEFT_PLACE_INSIDE sink_2");
}

TEST(BehaviorSubgoals, Verdicts) {
  EXPECT_EQ(subgoal_verdict({"open(fridge.1)"}), "Correct");
  EXPECT_EQ(subgoal_verdict({"open(jar.0)"}), "GoalUnreachable");
  EXPECT_TRUE(subgoals({"open(jar.0)"}).score.executable);
  EXPECT_EQ(subgoal_verdict({"open(jar.1)", "open(fridge.1)"}), "Correct");
  EXPECT_EQ(subgoals({"open(jar.1)", "open(fridge.1)"}).errors.at(0).error, "ADDITIONAL_STEP");
  EXPECT_EQ(subgoal_verdict({"open(fridge.1)", "open(table.3)"}), "Runtime");
  EXPECT_EQ(subgoals({"open(fridge.1)", "open(table.3)"}).score.success, 0);
  // The program of the evaluator fails.
  EXPECT_EQ(subgoal_verdict({"inside(jar.0, room_floor_kitchen.0)"}), "NotParseable");
  EXPECT_EQ(subgoal_verdict({"holds_rh(knife.0)", "sliced(pear.0)", "open(fridge.1)"}), "NotParseable");
}

TEST(BehaviorSubgoals, AlternativesAreAveraged) {
  const SubgoalResult half = subgoals({"open(fridge.1) or open(jar.0)"});
  EXPECT_DOUBLE_EQ(half.score.success, 0.5);
  EXPECT_EQ(half.score.verdict, "GoalUnreachable");
  EXPECT_DOUBLE_EQ(subgoals({"open(fridge.1) or open(jar.0) or open(fridge.1)"}).score.success, 2.0 / 3);
  EXPECT_EQ(subgoals({"open(jar.0) or open(saucepan.7)", "open(fridge.1)"}).score.success, 0.5);
  EXPECT_FALSE(subgoals({"open(jar.0) or open(saucepan.7)", "open(fridge.1)"}).score.executable);
  // Brackets are torn apart by the split and by nothing else.
  EXPECT_EQ(subgoals({"(open(fridge.1) or open(jar.0))"}).score.verdict, "NotParseable");
  EXPECT_DOUBLE_EQ(subgoals({"(open(fridge.1)\tor\topen(jar.0))"}).score.success, 0.5);
  EXPECT_EQ(subgoals({"open(fridge.1) or open(fridge.1)"}).score.success, 1);
  // More outcomes than are looked at.
  const SubgoalResult many = subgoals(Names(40, "open(jar.0) or not open(jar.0)"), json::array({{"open", "jar_0"}}));
  EXPECT_GT(many.score.success, 0);
  EXPECT_LT(many.score.success, 1);
}

}  // namespace
}  // namespace metactrl::benchmarks::behavior::behavior_subgoal_scorer_test
