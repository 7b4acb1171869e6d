// The readers of BEHAVIOR prompts, and what the problems they write allow.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/behavior/prompt_goal.h"
#include "benchmarks/behavior/prompt_reader.h"
#include "benchmarks/behavior/taxonomy.h"
#include "benchmarks/shipped_files.h"
#include "lookahead/drop_goals.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"

namespace metactrl::benchmarks::behavior::behavior_reader_test {
namespace {

using prompt::Atom;
using prompt::Expansion;
using prompt::Goal;
using prompt::Kinds;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Goal flat(const std::string& text) { return prompt::read_flat_goal(words(text)); }

std::string show(const Goal& goal) {
  using Kind = Goal::Kind;
  static const char* const kNames[] = {"", "not", "and", "or", "forall", "exists", "forn", "forpairs", "fornpairs"};
  std::string out = "(";
  if (goal.kind == Kind::kAtom) {
    out += goal.atom.predicate;
    for (const std::string& argument : goal.atom.arguments) out += " " + argument;
    return out + ")";
  }
  out += kNames[static_cast<std::size_t>(goal.kind)];
  if (goal.count > 0) out += " " + std::to_string(goal.count);
  for (std::size_t i = 0; i < goal.variables.size(); ++i) out += " " + goal.variables[i] + ":" + goal.kinds[i];
  for (const Goal& child : goal.children) out += " " + show(child);
  return out + ")";
}

TEST(BehaviorGoal, FlatWordsTakeAsManyConditionsAsTheirFirstWordSays) {
  EXPECT_EQ(show(flat("not open jar_0")), "(not (open jar_0))");
  EXPECT_EQ(show(flat("and soaked rag_0 inside rag_0 bucket_0")), "(and (soaked rag_0) (inside rag_0 bucket_0))");
  EXPECT_EQ(show(flat("not or dusty floor_0 stained floor_0")), "(not (or (dusty floor_0) (stained floor_0)))");
  EXPECT_EQ(show(flat("exists c.n.01 - c.n.01 and forall p.n.01 - p.n.01 inside p.n.01 c.n.01 inside d_0 c.n.01")),
            "(exists ?1:c.n.01 (and (forall ?2:p.n.01 (inside ?2 ?1)) (inside d_0 ?1)))");
  EXPECT_EQ(show(flat("forn 2 b.n.08 - b.n.08 ontop b.n.08 sofa_1")), "(forn 2 ?1:b.n.08 (ontop ?1 sofa_1))");
  EXPECT_EQ(show(flat("forpairs a.n.01 - a.n.01 b.n.01 - b.n.01 nextto a.n.01 b.n.01")),
            "(forpairs ?1:a.n.01 ?2:b.n.01 (nextto ?1 ?2))");
}

TEST(BehaviorGoal, ListsOfTheSameKindStandBesideEachOtherInsideTheOther) {
  EXPECT_EQ(show(flat("or and open a_0 open b_0 and open c_0 open d_0")),
            "(or (and (open a_0) (open b_0)) (and (open c_0) (open d_0)))");
}

TEST(BehaviorGoal, TwoQuantifiersMayShareTheirCategory) {
  EXPECT_EQ(show(flat("forpairs a.n.01 - a.n.01 a.n.01 - a.n.01 nextto a.n.01 a.n.01")),
            "(forpairs ?1:a.n.01 ?2:a.n.01 (nextto ?1 ?2))");
  EXPECT_EQ(show(prompt::read_bracketed_goal("forall(a_n_01, exists(a_n_01, ontop(a_n_01, a_n_01)))")),
            "(forall ?1:a.n.01 (exists ?2:a.n.01 (ontop ?1 ?2)))");
}

TEST(BehaviorGoal, MistakesAreNamed) {
  EXPECT_THROW(flat("flies jar_0"), prompt::ReadError);
  EXPECT_THROW(flat("inside jar_0"), prompt::ReadError);
  EXPECT_THROW(flat("open jar_0 jar_1"), prompt::ReadError);
  EXPECT_THROW(flat("forall jar.n.01 open jar.n.01"), prompt::ReadError);
  EXPECT_THROW(prompt::read_bracketed_goal("inside(jar.0 fridge.1)"), prompt::ReadError);
  EXPECT_THROW(prompt::read_bracketed_goal("forall(jar_n_01, open(jar_n_01)"), prompt::ReadError);
  EXPECT_THROW(prompt::read_bracketed_goal(std::string(5000, '(')), prompt::ReadError);
}

TEST(BehaviorGoal, BracketsReadAsTheSameGoals) {
  const auto same = [](const char* bracketed, const char* words) {
    EXPECT_EQ(show(prompt::read_bracketed_goal(bracketed)), show(flat(words)));
  };
  same("forall(jar_n_01, (not open(jar_n_01)))", "forall jar.n.01 - jar.n.01 not open jar.n.01");
  same("toggled.on(light_a.0)", "toggled_on light_a_0");
  same("(not dusty(a.1)) and (not dusty(b.2))", "and not dusty a_1 not dusty b_2");
  same("not (dusty(a.1) or stained(a.1))", "not or dusty a_1 stained a_1");
  same("forn(3, candle_n_01, ontop(candle_n_01, table.1))",
       "forn 3 candle.n.01 - candle.n.01 ontop candle.n.01 table_1");
}

Kinds four_by_four() {
  return {
      {"a.n.01", {"a_0", "a_1", "a_2", "a_3"}}, {"b.n.01", {"b_0", "b_1", "b_2", "b_3"}}, {"c.n.01", {"c_0", "c_1"}}};
}

TEST(BehaviorExpansion, ForallLosesWhatTheEvaluatorLoses) {
  // 16 combinations; of 20 attempts in order of their sum, 9 run out of the range.
  const std::optional<Expansion> e =
      expand(flat("forall a.n.01 - a.n.01 or open a.n.01 frozen a.n.01"), four_by_four());
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->cut);
  EXPECT_EQ(e->options.size(), 11U);
  EXPECT_EQ(e->options.front().size(), 4U);
}

TEST(BehaviorExpansion, NothingIsLostWhereAllCombinationsFit) {
  const std::optional<Expansion> e =
      expand(flat("forall c.n.01 - c.n.01 or open c.n.01 frozen c.n.01"), four_by_four());
  ASSERT_TRUE(e.has_value());
  EXPECT_FALSE(e->cut);
  EXPECT_EQ(e->options.size(), 4U);
}

TEST(BehaviorExpansion, PairsKeepTenAssignments) {
  const std::string body = " nextto a.n.01 b.n.01";
  const std::optional<Expansion> large =
      expand(flat("forpairs a.n.01 - a.n.01 b.n.01 - b.n.01" + body), four_by_four());
  ASSERT_TRUE(large.has_value());
  EXPECT_TRUE(large->cut);
  ASSERT_EQ(large->options.size(), 10U);
  EXPECT_EQ(large->options[1][2], (Atom{false, "nextto", {"a_3", "b_2"}}));
  const std::optional<Expansion> small =
      expand(flat("forpairs c.n.01 - c.n.01 b.n.01 - b.n.01 inside c.n.01 b.n.01"), four_by_four());
  ASSERT_TRUE(small.has_value());
  EXPECT_TRUE(small->cut);  // 4 * 3 assignments
  EXPECT_EQ(small->options.size(), 10U);
}

TEST(BehaviorExpansion, NegationAndCounting) {
  const std::optional<Expansion> none = expand(flat("not or dusty x_0 stained x_0"), {});
  ASSERT_TRUE(none.has_value());
  ASSERT_EQ(none->options.size(), 1U);
  EXPECT_EQ(none->options[0], (std::vector<Atom>{{true, "dusty", {"x_0"}}, {true, "stained", {"x_0"}}}));
  const std::optional<Expansion> two = expand(flat("forn 2 a.n.01 - a.n.01 ontop a.n.01 t_0"), four_by_four());
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->options.size(), 6U);
  EXPECT_FALSE(two->cut);
}

TEST(BehaviorTaxonomy, KnowsBothVersions) {
  const Taxonomy& taxonomy = Taxonomy::builtin();
  const Taxonomy::Class* bucket = taxonomy.of_category("bucket");
  ASSERT_NE(bucket, nullptr);
  EXPECT_TRUE(bucket->all.contains("openable"));
  EXPECT_FALSE(bucket->evaluator.contains("openable"));
  ASSERT_NE(taxonomy.of_category("fridge"), nullptr);
  EXPECT_EQ(taxonomy.of_category("fridge")->synset, "electric_refrigerator.n.01");
  EXPECT_TRUE(taxonomy.is_a("bucket.n.01", "container.n.01"));
  EXPECT_FALSE(taxonomy.is_a("container.n.01", "bucket.n.01"));
  EXPECT_EQ(taxonomy.of_synset("no_such.n.01"), nullptr);
  EXPECT_THROW(Taxonomy("one\ttwo\n"), InputError);
}

// A prompt in the form of the benchmark's; an example stands before the task.
std::string action_prompt(const std::string& init, const std::string& goal, const std::string& objects) {
  return "Example 1:\ninitial environment state:\n['open', 'jar_0']\n\ntarget environment state:\n['open', "
         "'jar_0']\n\ninteractable objects:\n{'name': 'jar_0', 'category': 'jar.n.01'}\n\nYour task:\nInput:\n"
         "initial environment state:\n" +
         init + "\n\ntarget environment state:\n" + goal + "\n\ninteractable objects:\n" + objects +
         "\n\nPlease output the list of action commands.\n\nOutput:\n";
}

const char* const kKitchen =
    "{'name': 'rag_0', 'category': 'rag.n.01'}\n{'name': 'cabinet_1', 'category': 'cabinet.n.01'}\n"
    "{'name': 'sink_2', 'category': 'sink.n.01'}\n{'name': 'plate_3', 'category': 'plate.n.04'}\n"
    "{'name': 'room_floor_kitchen_0', 'category': 'floor.n.01'}";
const char* const kKitchenInit =
    "['inside', 'rag_0', 'bottom_cabinet_1']\n['stained', 'plate_3']\n['onfloor', 'plate_3', 'room_floor_kitchen_0']\n"
    "['onfloor', 'agent.n.01_1', 'room_floor_kitchen_0']";

std::string kitchen_prompt(const std::string& goal) {
  std::string objects = kKitchen;
  objects.replace(objects.find("cabinet_1"), 9, "bottom_cabinet_1");
  return action_prompt(kKitchenInit, goal, objects);
}

Task load(const PromptTask& task, const std::string& domain) {
  return load_pddl_text(shipped_file(domain), task.problem);
}

std::vector<std::string> plan_of(const Task& task) {
  const ReducedTask reduced = drop_unreachable_goals(task, {});
  std::vector<std::string> out;
  for (ActionId action : reduced.lookahead->plan()) out.push_back(reduced.task.text(action));
  return out;
}

bool has(const std::vector<std::string>& plan, const std::string& step) {
  return std::find(plan.begin(), plan.end(), step) != plan.end();
}

TEST(BehaviorActions, HiddenDoorsAreOpenedAndStainsNeedWater) {
  const PromptTask prompt = read_behavior_actions(kitchen_prompt("['not', 'stained', 'plate_3']"), Rules::kEnvironment);
  EXPECT_TRUE(prompt.notes.empty());
  const Task task = load(prompt, "behavior-actions/environment.pddl");
  const std::vector<std::string> plan = plan_of(task);
  ASSERT_EQ(plan.size(), 7U);
  EXPECT_EQ(plan[0], "(open bottom_cabinet_1)");
  EXPECT_TRUE(has(plan, "(toggle_on sink_2)"));
  EXPECT_TRUE(has(plan, "(soak rag_0)"));
  EXPECT_EQ(plan.back(), "(clean plate_3)");
}

TEST(BehaviorActions, WhatIsStatedToHoldIsMadeTrueOnceMore) {
  const PromptTask prompt =
      read_behavior_actions(kitchen_prompt("['inside', 'rag_0', 'bottom_cabinet_1']"), Rules::kEnvironment);
  const std::vector<std::string> plan = plan_of(load(prompt, "behavior-actions/environment.pddl"));
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan[0], "(open bottom_cabinet_1)");
}

TEST(BehaviorActions, WhatLiesOnTheFloorIsLiftedOnlyOnAnAssumption) {
  const PromptTask prompt = read_behavior_actions(kitchen_prompt("['not', 'stained', 'plate_3']"), Rules::kEnvironment);
  EXPECT_EQ(prompt.problem.find("(graspable plate_3)"), std::string::npos);
  ASSERT_EQ(prompt.assumptions.size(), 1U);
  EXPECT_NE(prompt.problem_assuming(1).find("(graspable plate_3)"), std::string::npos);
  EXPECT_NO_THROW(load_pddl_text(shipped_file("behavior-actions/environment.pddl"), prompt.problem_assuming(1)));
}

TEST(BehaviorActions, GoalsNoStateFulfilsAreDroppedAndTheRestOfThemIsKept) {
  const PromptTask prompt = read_behavior_actions(
      action_prompt("['onfloor', 'plate_0', 'room_floor_kitchen_0']\n['onfloor', 'plate_1', 'room_floor_kitchen_0']",
                    "['forall', 'plate.n.04', '-', 'plate.n.04', 'ontop', 'plate.n.04', 'plate_1']",
                    "{'name': 'plate_0', 'category': 'plate.n.04'}\n{'name': 'plate_1', 'category': 'plate.n.04'}\n"
                    "{'name': 'room_floor_kitchen_0', 'category': 'floor.n.01'}"),
      Rules::kEnvironment);
  ASSERT_EQ(prompt.notes.size(), 1U);
  const Task task = load(prompt, "behavior-actions/environment.pddl");
  ASSERT_EQ(task.num_goals(), 2U);
  const ReducedTask reduced = drop_unreachable_goals(task, {});
  EXPECT_EQ(reduced.dropped, std::vector<GoalId>{GoalId{0}});
  EXPECT_EQ(reduced.lookahead->plan().size(), 2U);
}

TEST(BehaviorActions, WhatIsPutNextToAThingIsWhereThatThingIs) {
  const PromptTask prompt = read_behavior_actions(
      action_prompt(
          "['ontop', 'carrot_0', 'countertop_1']\n['ontop', 'carrot_1', 'countertop_1']",
          "['inside', 'carrot_0', 'fridge_2']\n['inside', 'carrot_1', 'fridge_2']\n['nextto', 'carrot_0', 'carrot_1']",
          "{'name': 'carrot_0', 'category': 'carrot.n.03'}\n{'name': 'carrot_1', 'category': 'carrot.n.03'}\n"
          "{'name': 'countertop_1', 'category': 'countertop.n.01'}\n"
          "{'name': 'fridge_2', 'category': 'electric_refrigerator.n.01'}"),
      Rules::kEnvironment);
  const std::vector<std::string> plan = plan_of(load(prompt, "behavior-actions/environment.pddl"));
  ASSERT_EQ(plan.size(), 5U);
  EXPECT_NE(plan.back().find("place_nextto carrot_"), std::string::npos);
}

TEST(BehaviorActions, ObjectsTheGoalInventsAreNoted) {
  const PromptTask prompt =
      read_behavior_actions(kitchen_prompt("['inside', 'unicorn_7', 'sink_2']"), Rules::kEnvironment);
  ASSERT_EQ(prompt.notes.size(), 1U);
  EXPECT_NE(prompt.notes[0].find("unicorn_7"), std::string::npos);
  EXPECT_NO_THROW(load(prompt, "behavior-actions/environment.pddl"));
}

std::string error_of(const std::string& prompt) {
  try {
    read_behavior_actions(prompt, Rules::kEnvironment);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(BehaviorActions, UnreadableLinesAreNamed) {
  EXPECT_NE(error_of("hello").find("initial environment state"), std::string::npos);
  EXPECT_NE(error_of(action_prompt("['stands', 'a_0']", "", "")).find("prompt:14:"), std::string::npos);
  EXPECT_NE(error_of(action_prompt("", "['not', 'open']", "")).find("prompt:17:"), std::string::npos);
  EXPECT_NE(error_of(action_prompt("", "", "{'name': 'a_0'}")).find("is not an object"), std::string::npos);
  EXPECT_NE(error_of(action_prompt("", "", "{'name': 'A 0', 'category': 'a.n.01'}")).find("cannot spell"),
            std::string::npos);
}

TEST(BehaviorActions, ThePapersRulesKnowNoKnives) {
  const std::string prompt = action_prompt(
      "['ontop', 'apple_0', 'countertop_1']", "['sliced', 'apple_0']",
      "{'name': 'apple_0', 'category': 'apple.n.01'}\n{'name': 'countertop_1', 'category': 'countertop.n.01'}");
  const Task paper = load(read_behavior_actions(prompt, Rules::kPaper), "behavior-actions/paper.pddl");
  EXPECT_EQ(plan_of(paper), std::vector<std::string>{"(slice apple_0)"});
  const Task environment =
      load(read_behavior_actions(prompt, Rules::kEnvironment), "behavior-actions/environment.pddl");
  EXPECT_EQ(Lookahead::compile(environment, {})->verdict(), Verdict::kInfeasible);
}

std::string subgoal_prompt(const std::string& init, const std::string& goal, const std::string& objects) {
  return "Now, it is time for you to generate the subgoal plan for the following task.\n# Target Task: some_task\n"
         "## Relevant objects in this scene\n" +
         objects + "\n\n## Initial States\n" + init + "\n\n## Goal States\n" + goal +
         "\n\n## Output: Based on initial states in this task, achieve final goal states.";
}

TEST(BehaviorSubgoals, ThingsTheEvaluatorCannotReadAreLeftAlone) {
  const std::string objects =
      "{'name': 't-shirt.0', 'category': 'shirt_n_01'}\n{'name': 'sock.1', 'category': 'sock_n_01'}\n"
      "{'name': 'carton.2', 'category': 'carton_n_02'}\n{'name': 'bed.3', 'category': 'bed_n_01'}";
  const PromptTask prompt = read_behavior_subgoals(
      subgoal_prompt("ontop(t-shirt.0, bed.3)\nontop(sock.1, bed.3)\nonfloor(agent_n_01.1, room_floor_bedroom.0)",
                     "inside(t-shirt.0, carton.2)\ninside(sock.1, carton.2)", objects),
      Rules::kEnvironment);
  EXPECT_EQ(prompt.title, "some_task");
  const Task task = load(prompt, "behavior-subgoals/environment.pddl");
  const ReducedTask reduced = drop_unreachable_goals(task, {});
  EXPECT_EQ(reduced.dropped, std::vector<GoalId>{GoalId{0}});
  EXPECT_EQ(plan_of(task), (std::vector<std::string>{"(open carton_2)", "(inside sock_1 carton_2)"}));
}

// By the paper's rules they are not named either, and hold what is shut in them; goals about them stay goals.
TEST(BehaviorSubgoals, ThePapersRulesNameNothingThatCannotBeRead) {
  const std::string objects =
      "{'name': 't-shirt.0', 'category': 'shirt_n_01'}\n{'name': 'shirt.1', 'category': 'shirt_n_01'}\n"
      "{'name': '2x4_chest.2', 'category': 'chest_n_02'}\n{'name': 'bed.3', 'category': 'bed_n_01'}\n"
      "{'name': 'sock.4', 'category': 'sock_n_01'}";
  const PromptTask prompt =
      read_behavior_subgoals(subgoal_prompt("inside(sock.4, 2x4_chest.2)",
                                            "forall(shirt_n_01, ontop(shirt_n_01, bed.3))\nontop(sock.4, bed.3)\n"
                                            "ontop(shirt.1, bed.3)",
                                            objects),
                             Rules::kPaper);
  const Task task = load(prompt, "behavior-subgoals/paper.pddl");
  for (std::uint32_t action = 0; action < task.num_actions(); ++action) {
    const std::string text = task.text(ActionId{action});
    EXPECT_EQ(text.find("t-shirt"), std::string::npos) << text;
    EXPECT_EQ(text.find("2x4"), std::string::npos) << text;
  }
  EXPECT_EQ(task.num_goals(), 3U) << prompt.problem;
  const ReducedTask reduced = drop_unreachable_goals(task, {});
  EXPECT_EQ(reduced.dropped, (std::vector<GoalId>{GoalId{0}, GoalId{1}}));
  EXPECT_EQ(plan_of(task), std::vector<std::string>{"(ontop shirt_1 bed_3)"});
}

// The appendix: "Gate", the destination that is open, "Clean/soak chain", and anchors that are placed first.
TEST(BehaviorSubgoals, ThePapersRulesAreGateLidChainAndAnchor) {
  const std::string objects =
      "{'name': 'rag.0', 'category': 'rag_n_01'}\n{'name': 'cabinet.1', 'category': 'cabinet_n_01'}\n"
      "{'name': 'sink.2', 'category': 'sink_n_01'}\n{'name': 'bowl.3', 'category': 'bowl_n_01'}\n"
      "{'name': 'plate.4', 'category': 'plate_n_04'}\n{'name': 'table.5', 'category': 'table_n_02'}";
  const PromptTask prompt = read_behavior_subgoals(
      subgoal_prompt("inside(rag.0, cabinet.1)\nstained(bowl.3)\nontop(plate.4, cabinet.1)",
                     "not stained(bowl.3)\nontop(plate.4, table.5)\nnextto(bowl.3, plate.4)\ninside(bowl.3, cabinet.1)",
                     objects),
      Rules::kPaper);
  const Task task = load(prompt, "behavior-subgoals/paper.pddl");
  const auto stops_at = [&](const std::string& plan) {
    const Validation found = task.validate(parse_plan(plan, "plan"));
    return found.valid ? std::string("nowhere") : std::to_string(found.steps_executed);
  };
  const std::string chain =
      "(open cabinet_1)\n(inside rag_0 sink_2)\n(toggledon sink_2)\n(soaked rag_0)\n(not-stained bowl_3)\n";
  const std::string places = "(ontop plate_4 table_5)\n(nextto bowl_3 plate_4)\n(inside bowl_3 cabinet_1)";
  EXPECT_EQ(stops_at(chain + places), "nowhere");
  // Gate: nothing is said of the rag while the cabinet is shut.
  EXPECT_EQ(stops_at("(inside rag_0 sink_2)"), "0");
  // Lid: nothing is put into it either.
  EXPECT_EQ(stops_at("(inside bowl_3 cabinet_1)"), "0");
  // Chain: soaked only in running water, clean only after that.
  EXPECT_EQ(stops_at("(not-stained bowl_3)"), "0");
  EXPECT_EQ(stops_at("(open cabinet_1)\n(inside rag_0 sink_2)\n(soaked rag_0)"), "2");
  // Anchor: the plate is to be moved itself, so nothing is put next to it before.
  EXPECT_EQ(stops_at("(nextto bowl_3 plate_4)"), "0");
  // And all else is accepted, whatever a hand or the world would say.
  EXPECT_EQ(stops_at("(holds_rh bowl_3)\n(holds_rh plate_4)\n(ontop plate_4 table_5)\n(inside bowl_3 table_5)\n" +
                     chain + places),
            "nowhere");
}

TEST(BehaviorSubgoals, RestAndNeighbourAreOneAction) {
  const std::string objects =
      "{'name': 'cup.0', 'category': 'cup_n_01'}\n{'name': 'plate.1', 'category': 'plate_n_04'}\n"
      "{'name': 'table.2', 'category': 'table_n_02'}\n{'name': 'shelf.3', 'category': 'shelf_n_01'}";
  const PromptTask prompt =
      read_behavior_subgoals(subgoal_prompt("ontop(cup.0, shelf.3)\nontop(plate.1, shelf.3)",
                                            "ontop(cup.0, table.2)\nnextto(plate.1, cup.0)", objects),
                             Rules::kEnvironment);
  const Task task = load(prompt, "behavior-subgoals/environment.pddl");
  // The plate stays where it is: the cup is put next to it.
  const std::vector<PlanStep> together = parse_plan("(ontop cup_0 table_2)\n(nextto plate_1 cup_0)", "plan");
  EXPECT_TRUE(task.validate(together).valid);
  // The other order would be one action about the cup, too; it is left out.
  EXPECT_FALSE(task.validate(parse_plan("(nextto plate_1 cup_0)\n(ontop cup_0 table_2)", "plan")).valid);
}

TEST(BehaviorSubgoals, WhatTheRightHandHoldsIsLostWhenBothAreFull) {
  const std::string objects =
      "{'name': 'rag.0', 'category': 'rag_n_01'}\n{'name': 'broom.1', 'category': 'broom_n_01'}\n"
      "{'name': 'shelf.3', 'category': 'shelf_n_01'}";
  const PromptTask prompt = read_behavior_subgoals(
      subgoal_prompt("ontop(rag.0, shelf.3)\nontop(broom.1, shelf.3)\ndusty(shelf.3)", "not dusty(shelf.3)", objects),
      Rules::kEnvironment);
  const Task task = load(prompt, "behavior-subgoals/environment.pddl");
  EXPECT_TRUE(task.validate(parse_plan("(holds_rh rag_0)\n(not-dusty shelf_3)", "plan")).valid);
  EXPECT_TRUE(task.validate(parse_plan("(holds_rh rag_0)\n(holds_lh broom_1)\n(not-dusty shelf_3)", "plan")).valid);
  const Validation lost = task.validate(
      parse_plan("(holds_rh rag_0)\n(holds_lh broom_1)\n(not-dusty shelf_3)\n(not-holds_rh rag_0)", "plan"));
  EXPECT_FALSE(lost.valid);
  EXPECT_EQ(lost.steps_executed, 3U);
}

TEST(BehaviorSubgoals, UnreadableLinesAreNamed) {
  try {
    read_behavior_subgoals(subgoal_prompt("inside(a.0)", "", ""), Rules::kEnvironment);
    FAIL() << "an unreadable fact was read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("prompt:7:"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace metactrl::benchmarks::behavior::behavior_reader_test
