// Behavior trees of the robot's table, run by a small ticker against the reference meaning of the domain.
#include "support/behavior_tree.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/exchange/export.h"
#include "metactrl/lookahead.h"
#include "support/lifted_world.h"
#include "support/test_data.h"

namespace metactrl::behavior_tree_test {
namespace {

using testing::BehaviorTree;
using testing::LiftedWorld;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Table {
  std::string domain = read(testing::source_dir() / "domains/tabletop/domain.pddl");
  std::string problem;
  Task task;

  explicit Table(const std::string& name)
      : problem(read(testing::source_dir() / "domains/tabletop" / (name + ".pddl"))),
        task(load_pddl_text(domain, problem)) {}
  LiftedWorld world(std::size_t patience = 0) const {
    return LiftedWorld(testing::lifted_interpreter(domain, problem), patience);
  }
};

std::vector<PlanStep> shortest_plan(const Task& task) {
  const auto lookahead = Lookahead::compile(task, {});
  std::vector<PlanStep> plan;
  for (const ActionId action : lookahead->plan()) plan.push_back(task.step(action));
  return plan;
}

// --- the eight tasks -------------------------------------------------------------------------------------------------

struct Demo {
  std::string problem;
  std::string plan;  // as the robot carried it out; empty: a shortest one
};

class TreeOfADemo : public ::testing::TestWithParam<Demo> {};

TEST_P(TreeOfADemo, Succeeds) {
  const Table table(GetParam().problem);
  for (const bool own : {false, true}) {
    const std::vector<PlanStep> plan = own ? parse_plan(GetParam().plan, "plan") : shortest_plan(table.task);
    ASSERT_TRUE(table.task.validate(plan).valid) << table.task.validate(plan).reason;
    BehaviorTree tree(behavior_tree_xml(table.task, plan));
    LiftedWorld world = table.world();
    const BehaviorTree::Outcome outcome = tree.run(world);
    EXPECT_TRUE(outcome.success) << outcome.step << ": " << outcome.leaf << ' ' << outcome.detail;
    EXPECT_EQ(outcome.actions, plan.size());
    EXPECT_EQ(outcome.ticks, 1U);
    EXPECT_TRUE(world.goal_holds());
  }
}

TEST_P(TreeOfADemo, WaitsForActionsThatTakeTime) {
  const Table table(GetParam().problem);
  const std::vector<PlanStep> plan = shortest_plan(table.task);
  BehaviorTree tree(behavior_tree_xml(table.task, plan));
  LiftedWorld patient = table.world(3);
  const BehaviorTree::Outcome outcome = tree.run(patient);
  EXPECT_TRUE(outcome.success);
  EXPECT_EQ(outcome.ticks, 1 + 3 * plan.size());
  // Conditions are asked once, not at every tick.
  LiftedWorld quick = table.world();
  BehaviorTree(behavior_tree_xml(table.task, plan)).run(quick);
  EXPECT_EQ(patient.questions(), quick.questions());
}

TEST_P(TreeOfADemo, FailsWhenAnActionFails) {
  const Table table(GetParam().problem);
  BehaviorTree tree(behavior_tree_xml(table.task, shortest_plan(table.task)));
  LiftedWorld world = table.world();
  world.break_actions();
  const BehaviorTree::Outcome outcome = tree.run(world);
  EXPECT_FALSE(outcome.success);
  EXPECT_EQ(outcome.actions, 0U);
  EXPECT_TRUE(tree.actions().contains(outcome.leaf)) << outcome.leaf;
}

INSTANTIATE_TEST_SUITE_P(
    Eight, TreeOfADemo,
    ::testing::Values(
        Demo{"clean_dishes",
             "(grab spray_bottle)\n(spray plate)\n(spray bowl)\n(puton spray_bottle stool)\n(grab orange_rag)\n"
             "(soak cup_of_water)\n(clean plate)\n(clean bowl)\n(puton orange_rag stool)\n"},
        Demo{"dishwasher",
             "(open dishwasher)\n(grab blue_mug)\n(putin blue_mug dishwasher)\n(grab white_cup)\n"
             "(putin white_cup dishwasher)\n(grab gray_pot)\n(putin gray_pot dishwasher)\n"},
        Demo{"fridge_to_stove",
             "(open fridge)\n(grab orange)\n(putin orange pot)\n(grab syrup)\n(putin syrup pot)\n(grab pot)\n"
             "(puton pot stove)\n(toggleon stove)\n"},
        Demo{"breakfast_table",
             "(grab bowl)\n(puton bowl stool)\n(grab bread)\n(putin bread bowl)\n(grab oat_milk_carton)\n"
             "(puton oat_milk_carton stool)\n(grab blue_tuna_can)\n(puton blue_tuna_can stool)\n"},
        Demo{"boxed_tools",
             "(open box_1)\n(open shelf_1)\n(grab pliers)\n(putin pliers shelf_1)\n(close shelf_1)\n(open box_2)\n"
             "(open shelf_2)\n(grab screwdriver)\n(putin screwdriver shelf_2)\n(close shelf_2)\n"},
        Demo{"donut_canister", "(open canister)\n(grab donut)\n(putin donut canister)\n"},
        Demo{"green_block", "(grab blocker)\n(puton blocker table)\n(grab green_block)\n"},
        Demo{"stack_dishes",
             "(grab medium_plate)\n(puton medium_plate large_plate)\n(grab small_plate)\n"
             "(puton small_plate medium_plate)\n"}),
    [](const auto& info) { return info.param.problem; });

// --- the five plans of an unconstrained model ------------------------------------------------------------------------

struct Baseline {
  std::string problem;
  std::string plan;
  std::size_t actions;  // carried out before it fails
  std::string step;     // where it fails
  std::string fact;     // what is asked last
};

class TreeOfABaseline : public ::testing::TestWithParam<Baseline> {};

TEST_P(TreeOfABaseline, FailsWhereThePlanFails) {
  const Baseline& baseline = GetParam();
  const Table table(baseline.problem);
  const std::vector<PlanStep> plan = parse_plan(baseline.plan, "plan");
  ASSERT_FALSE(table.task.validate(plan).valid);
  BehaviorTree tree(behavior_tree_xml(table.task, plan));
  LiftedWorld world = table.world();
  const BehaviorTree::Outcome outcome = tree.run(world);
  EXPECT_FALSE(outcome.success);
  EXPECT_EQ(outcome.actions, baseline.actions);
  EXPECT_EQ(outcome.step, baseline.step);
  EXPECT_EQ(outcome.leaf, "Holds");
  EXPECT_EQ(outcome.detail, baseline.fact);
  EXPECT_EQ(outcome.actions, table.task.validate(plan).steps_executed);
}

INSTANTIATE_TEST_SUITE_P(
    Paper, TreeOfABaseline,
    ::testing::Values(
        Baseline{"clean_dishes", "(grab orange_rag)\n(clean plate)\n(clean bowl)\n(puton orange_rag stool)\n", 1,
                 "2 clean plate", "(soaped plate)"},
        Baseline{"dishwasher",
                 "(grab blue_mug)\n(putin blue_mug dishwasher)\n(grab white_cup)\n(putin white_cup dishwasher)\n"
                 "(grab gray_pot)\n(putin gray_pot dishwasher)\n",
                 1, "2 putin blue_mug dishwasher", "(open dishwasher)"},
        Baseline{"fridge_to_stove",
                 "(grab orange)\n(putin orange pot)\n(grab syrup)\n(putin syrup pot)\n(grab pot)\n(puton pot stove)\n"
                 "(toggleon stove)\n",
                 0, "1 grab orange", "(shut-in orange)"},
        Baseline{"breakfast_table",
                 "(grab bowl)\n(puton bowl stool)\n(grab bread)\n(grab oat_milk_carton)\n(grab blue_tuna_can)\n"
                 "(puton blue_tuna_can stool)\n",
                 3, "4 grab oat_milk_carton", "(hand-empty)"},
        Baseline{"boxed_tools",
                 "(open box_1)\n(open shelf_1)\n(grab box_1)\n(putin box_1 shelf_1)\n(close shelf_1)\n(open box_2)\n"
                 "(open shelf_2)\n(grab box_2)\n(putin box_2 shelf_2)\n(close shelf_2)\n",
                 10, "goal", "(inside pliers shelf_1)"}),
    [](const auto& info) { return info.param.problem; });

// --- details ---------------------------------------------------------------------------------------------------------

TEST(BehaviorTreeXml, AWorldThatDiffersIsNoticed) {
  const Table table("dishwasher");
  BehaviorTree tree(behavior_tree_xml(table.task, shortest_plan(table.task)));
  LiftedWorld world = table.world();
  world.forget("(hand-empty)");
  const BehaviorTree::Outcome outcome = tree.run(world);
  EXPECT_FALSE(outcome.success);
  EXPECT_EQ(outcome.leaf, "Holds");
  EXPECT_EQ(outcome.detail, "(hand-empty)");
}

TEST(BehaviorTreeXml, TheModelDeclaresEveryAction) {
  const Table table("dishwasher");
  const BehaviorTree tree(behavior_tree_xml(table.task, {}));
  const std::map<std::string, std::vector<std::string>> expected = {
      {"Open", {"x"}},  {"Close", {"x"}}, {"Grab", {"x"}},  {"Putin", {"x", "y"}}, {"Puton", {"x", "y"}},
      {"Spray", {"y"}}, {"Soak", {"y"}},  {"Clean", {"y"}}, {"Toggleon", {"y"}}};
  EXPECT_EQ(tree.actions(), expected);
  EXPECT_EQ(tree.main_tree(), "Dishwasher");
}

constexpr const char* kOddDomain = R"((define (domain odd)
  (:requirements :adl)
  (:predicates (at<> ?x) (a&b ?x ?y) (done))
  (:action sequence :parameters (?name ?id) :effect (and (at<> ?name) (a&b ?name ?id)))
  (:action pick-up :parameters (?x-1 ?x_1) :effect (done))
  (:action pick_up :parameters () :precondition (and (done) (exists (?x) (at<> ?x))) :effect (not (done)))
  (:action 2go :parameters (?2) :effect (done))))";
constexpr const char* kOddProblem = R"((define (problem <p>) (:domain odd) (:objects "o" 'x' a&b c:d)
  (:init) (:goal (and (not (done)) (at<> "o")))))";

TEST(BehaviorTreeXml, NamesOfAllKindsAreSafe) {
  const Task task = load_pddl_text(kOddDomain, kOddProblem);
  const auto plan = parse_plan("(sequence 'x' a&b)\n(2go c:d)\n(pick_up)\n(pick-up a&b a&b)\n(pick_up)\n", "plan");
  EXPECT_FALSE(task.validate(plan).valid);
  const auto steps = parse_plan("(sequence \"o\" a&b)\n(2go c:d)\n(pick_up)\n", "plan");
  ASSERT_TRUE(task.validate(steps).valid) << task.validate(steps).reason;
  const std::string xml = behavior_tree_xml(task, steps);
  BehaviorTree tree(xml);
  const std::map<std::string, std::vector<std::string>> expected = {
      {"SequenceAction", {"name_", "id_"}}, {"PickUp", {"x_1", "x_1_2"}}, {"PickUp2", {}}, {"Do2Go", {"p2"}}};
  EXPECT_EQ(tree.actions(), expected);
  EXPECT_NE(xml.find("fact=\"(a&amp;b &quot;o&quot; a&amp;b)\""), std::string::npos) << xml;
}

// BehaviorTree.CPP refuses a tree that is called like a node.
TEST(BehaviorTreeXml, TheTreeAndEveryNodeHaveNamesOfTheirOwn) {
  const auto tree_of = [](const std::string& problem, const std::vector<std::string>& actions) {
    std::string domain = "(define (domain d) (:requirements :adl) (:predicates (p))";
    for (const std::string& action : actions) domain += " (:action " + action + " :parameters () :effect (p))";
    const Task task =
        load_pddl_text(domain + ")", "(define (problem " + problem + ") (:domain d) (:init) (:goal (p)))");
    return BehaviorTree(behavior_tree_xml(task, {}));
  };
  using Nodes = std::map<std::string, std::vector<std::string>>;
  EXPECT_EQ(tree_of("tidy", {"go"}).main_tree(), "Tidy");
  EXPECT_EQ(tree_of("tidy", {"tidy"}).main_tree(), "TidyTree");
  const BehaviorTree both = tree_of("tidy", {"tidy", "tidy-tree", "tidy-tree-2"});
  EXPECT_EQ(both.actions(), (Nodes{{"Tidy", {}}, {"TidyTree", {}}, {"TidyTree2", {}}}));
  EXPECT_EQ(both.main_tree(), "TidyTree3");
  // Nor may a number, or Tree, lead to a name that the library has itself.
  EXPECT_EQ(tree_of("sub", {"sub"}).main_tree(), "SubTree2");
  EXPECT_EQ(tree_of("p", {"switch", "switch_"}).actions(), (Nodes{{"Switch", {}}, {"Switch7", {}}}));
}

TEST(BehaviorTreeXml, StepsThatAreNoActionsFailInTheirPlace) {
  const Table table("donut_canister");
  const auto plan = parse_plan("(open canister)\n(fly donut)\n(grab table)\n(grab donut)\n", "plan");
  BehaviorTree tree(behavior_tree_xml(table.task, plan));
  LiftedWorld world = table.world();
  const BehaviorTree::Outcome outcome = tree.run(world);
  EXPECT_FALSE(outcome.success);
  EXPECT_EQ(outcome.actions, 1U);
  EXPECT_EQ(outcome.step, "2 fly donut");
  EXPECT_EQ(outcome.leaf, "AlwaysFailure");
  EXPECT_NE(outcome.detail.find("there is no action"), std::string::npos) << outcome.detail;
}

constexpr const char* kCountingDomain = R"((define (domain counting)
  (:requirements :adl)
  (:predicates (lit ?x) (on ?x ?y) (done))
  (:action press :parameters (?x) :effect (lit ?x))
  (:action put :parameters (?x ?y) :effect (on ?x ?y))
  (:action finish :parameters () :precondition (and (forn (2) (?x) (lit ?x)) (fornpairs (2) (?x) (?y) (on ?x ?y)))
    :effect (done))))";
constexpr const char* kCountingProblem =
    "(define (problem p) (:domain counting) (:objects a b c) (:init) (:goal (done)))";

constexpr const char* kRobots =
    "(define (domain d) (:requirements :typing :durative-actions) (:types robot place)\n"
    "(:predicates (at ?r - robot ?p - place) (clean ?p - place) (met))\n"
    "(:durative-action drive :parameters (?r - robot ?a ?b - place) :duration (= ?duration 5)\n"
    " :condition (at start (at ?r ?a)) :effect (and (at start (not (at ?r ?a))) (at end (at ?r ?b))))\n"
    "(:durative-action sweep :parameters (?r - robot ?p - place) :duration (= ?duration 3)\n"
    " :condition (over all (at ?r ?p)) :effect (at end (clean ?p)))\n"
    "(:durative-action meet :parameters (?r ?q - robot ?p - place) :duration (= ?duration 1)\n"
    " :condition (over all (and (at ?r ?p) (at ?q ?p))) :effect (at end (met))))\n";
constexpr const char* kRooms =
    "(define (problem p) (:domain d) (:objects x y - robot a b c - place) (:init (at x a) (at y b))\n"
    "(:goal (and (clean a) (clean b) (met))))";

// Side by side where the plan's order allows it, and the plan's meaning when every action takes some ticks.
TEST(BehaviorTreeXml, ConcurrentTreesHaveParallelNodes) {
  const Task task = load_pddl_text(kRobots, kRooms);
  const std::vector<PlanStep> plan =
      parse_plan("(sweep x a)\n(sweep y b)\n(drive x a c)\n(drive y b c)\n(meet x y c)\n", "plan");
  ASSERT_TRUE(task.validate(plan).valid);
  const auto run = [&](ScheduleKind kind, std::size_t ticks) {
    const std::string xml = behavior_tree_xml(task, plan, {}, 0, kind);
    LiftedWorld world(testing::lifted_interpreter(kRobots, kRooms), 4);
    BehaviorTree tree(xml);
    const BehaviorTree::Outcome outcome = tree.run(world);
    EXPECT_TRUE(outcome.success) << outcome.step << ": " << outcome.leaf << ' ' << outcome.detail << "\n" << xml;
    EXPECT_EQ(outcome.actions, plan.size());
    EXPECT_TRUE(world.goal_holds());
    EXPECT_EQ(outcome.ticks, ticks);
    return xml;
  };
  EXPECT_EQ(run(ScheduleKind::kSequential, 1 + 4 * 5).find("Parallel"), std::string::npos);
  const std::string xml = run(ScheduleKind::kConcurrent, 1 + 4 * 3);
  EXPECT_NE(xml.find("<Parallel name=\"side by side\" success_count=\"2\" failure_count=\"1\">"), std::string::npos);
  // A failure in one branch is a failure of the plan.
  LiftedWorld broken(testing::lifted_interpreter(kRobots, kRooms));
  broken.break_actions();
  EXPECT_FALSE(BehaviorTree(xml).run(broken).success);
}

// a before c and d, b before d alone: nesting cannot say it, so that b comes before c, too.
TEST(BehaviorTreeXml, OrdersThatNestingCannotSayAreKept) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :durative-actions) (:predicates (a) (b) (c) (d))\n"
      "(:durative-action one :parameters () :duration (= ?duration 1) :effect (at end (a)))\n"
      "(:durative-action two :parameters () :duration (= ?duration 1) :effect (at end (b)))\n"
      "(:durative-action three :parameters () :duration (= ?duration 1) :condition (at start (a)) :effect (at end "
      "(c)))\n"
      "(:durative-action four :parameters () :duration (= ?duration 1) :condition (at start (and (a) (b)))\n"
      " :effect (at end (d))))",
      "(define (problem p) (:domain d) (:init) (:goal (and (c) (d))))");
  const std::string xml =
      behavior_tree_xml(task, parse_plan("(one)\n(two)\n(three)\n(four)\n", "plan"), {}, 0, ScheduleKind::kConcurrent);
  const auto place = [&](const std::string& tag) { return xml.find("<" + tag + "/>"); };
  EXPECT_LT(std::max(place("One"), place("Two")), std::min(place("Three"), place("Four")));
  std::size_t parallel = 0;
  for (std::size_t at = xml.find("<Parallel"); at != std::string::npos; at = xml.find("<Parallel", at + 1)) ++parallel;
  EXPECT_EQ(parallel, 2U);
}

TEST(BehaviorTreeXml, TimedLiteralsAreRefused) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :timed-initial-literals) (:predicates (p) (q))\n"
      "(:action a :parameters () :precondition (p) :effect (q)))",
      "(define (problem p) (:domain d) (:init (at 5 (p))) (:goal (q)))");
  EXPECT_THROW(behavior_tree_xml(task, parse_plan("(a)", "plan")), InputError);
}

TEST(BehaviorTreeXml, WhatRunsInsideAnotherIsRefused) {
  const std::string domain =
      "(define (domain d) (:requirements :durative-actions) (:predicates (light) (done))\n"
      "(:durative-action shine :parameters () :duration (= ?duration 5) :effect (and (at start (light)) (at end (not "
      "(light)))))\n"
      "(:durative-action work :parameters () :duration (= ?duration 2) :condition (over all (light)) :effect (at end "
      "(done))))";
  const Task task = load_pddl_text(domain, "(define (problem p) (:domain d) (:init) (:goal (done)))");
  for (const ScheduleKind kind : {ScheduleKind::kSequential, ScheduleKind::kConcurrent}) {
    try {
      behavior_tree_xml(task, shortest_plan(task), {}, 0, kind);
      ADD_FAILURE();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("(work) runs inside (shine)"), std::string::npos) << error.what();
    }
  }
  const std::vector<PlanStep> alone = {{"shine", {}}};
  EXPECT_NO_THROW(behavior_tree_xml(task, alone));
}

TEST(BehaviorTreeXml, CountsWithParallel) {
  const Task task = load_pddl_text(kCountingDomain, kCountingProblem);
  const auto run = [&](const std::string& text) {
    const std::string xml = behavior_tree_xml(task, parse_plan(text, "plan"));
    EXPECT_NE(xml.find("<Parallel success_count=\"2\" failure_count=\"2\">"), std::string::npos) << xml;
    BehaviorTree tree(xml);
    LiftedWorld world(testing::lifted_interpreter(kCountingDomain, kCountingProblem));
    return tree.run(world);
  };
  EXPECT_TRUE(run("(press a)\n(press c)\n(put a b)\n(put b c)\n(finish)\n").success);
  EXPECT_EQ(run("(press a)\n(put a b)\n(put b c)\n(finish)\n").actions, 3U);
  EXPECT_EQ(run("(press a)\n(press b)\n(put a b)\n(put c b)\n(finish)\n").actions, 4U);
}

TEST(BehaviorTreeXml, TrajectoryConstraintsAreKept) {
  const std::string domain = R"((define (domain rooms) (:requirements :strips)
    (:predicates (in ?r) (door ?r ?s))
    (:action go :parameters (?r ?s) :precondition (and (in ?r) (door ?r ?s)) :effect (and (in ?s) (not (in ?r))))))";
  const auto problem = [](const std::string& constraint) {
    return "(define (problem p) (:domain rooms) (:objects hall den bath) (:init (in hall) (door hall den) (door den "
           "hall) (door hall bath) (door bath hall)) (:goal (in hall)) (:constraints " +
           constraint + "))";
  };
  const auto run = [&](const std::string& constraint, const std::string& plan) {
    const std::string text = problem(constraint);
    BehaviorTree tree(behavior_tree_xml(load_pddl_text(domain, text), parse_plan(plan, "plan")));
    LiftedWorld world(testing::lifted_interpreter(domain, text));
    return tree.run(world);
  };
  const std::string den = "(go hall den)\n(go den hall)\n";
  const std::string bath = "(go hall bath)\n(go bath hall)\n";
  EXPECT_TRUE(run("(always (not (in bath)))", den).success);
  EXPECT_EQ(run("(always (not (in bath)))", den + bath).actions, 2U);
  EXPECT_TRUE(run("(sometime (in bath))", bath).success);
  const BehaviorTree::Outcome unmet = run("(sometime (in bath))", den);
  EXPECT_FALSE(unmet.success);
  EXPECT_EQ(unmet.step, "goal");
  EXPECT_EQ(unmet.leaf, "AlwaysFailure");
  EXPECT_EQ(run("(at-most-once (in bath))", bath + bath).actions, 2U);
  EXPECT_FALSE(run("(always (in bath))", "").success);
}

// What remembers the way for a preference is no fact of the world; what a constraint saw within actions cannot be asked for.
TEST(BehaviorTreeXml, WhatIsRememberedIsNotAskedFor) {
  const std::string names = "(:requirements :durative-actions :constraints :preferences) (:predicates (p) (q))\n";
  const std::string problem = "(define (problem x) (:domain d) (:init) (:goal (q)) (:constraints ";
  const Task task = load_pddl_text("(define (domain d) " + names +
                                       "(:action a :parameters () :effect (p))\n"
                                       "(:action b :parameters () :precondition (p) :effect (and (not (p)) (q))))",
                                   problem + "(preference w (sometime (p)))))");
  const std::string xml = behavior_tree_xml(task, parse_plan("(a)\n(b)", "plan"));
  EXPECT_NE(xml.find("<Holds fact=\"(q)\"/>"), std::string::npos);
  EXPECT_EQ(xml.find("seen"), std::string::npos) << xml;
  const Task timed = load_pddl_text("(define (domain d) " + names +
                                        "(:durative-action a :parameters () :duration (= ?duration 2)\n"
                                        " :effect (and (at start (p)) (at end (not (p))) (at end (q)))))",
                                    problem + "(sometime (p))))");
  EXPECT_THROW(behavior_tree_xml(timed, parse_plan("(a)", "plan")), InputError);
}

TEST(BehaviorTreeXml, BracesWouldBePointers) {
  const Task task =
      load_pddl_text("(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))",
                     "(define (problem p) (:domain d) (:objects {cup} cup) (:init) (:goal (p cup)))");
  EXPECT_NO_THROW(behavior_tree_xml(task, parse_plan("(a cup)\n", "plan")));
  EXPECT_THROW(behavior_tree_xml(task, parse_plan("(a {cup})\n(a cup)\n", "plan")), InputError);
}

// Another reader of XML agrees that it is XML.
TEST(BehaviorTreeXml, PythonReadsIt) {
  const Task task = load_pddl_text(kOddDomain, kOddProblem);
  const std::vector<PlanStep> steps = {{"sequence", {"\"o\"", "a&b"}}, {"2go", {"c:d"}}, {"pick_up", {}}};
  const auto file = std::filesystem::temp_directory_path() / ("metactrl_tree_" + std::to_string(::getpid()) + ".xml");
  std::ofstream(file) << behavior_tree_xml(task, steps);
  const std::string script =
      "import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); "
      "facts = [h.get(\\\"fact\\\") for h in r.iter(\\\"Holds\\\")]; "
      "sys.exit(0 if \\\"(a&b \\\\\\\"o\\\\\\\" a&b)\\\" in facts else 1)";
  EXPECT_EQ(std::system(("python3 -c \"" + script + "\" '" + file.string() + "'").c_str()), 0);
  std::filesystem::remove(file);
}

// --- the ticker itself: what it would not load -----------------------------------------------------------------------

TEST(TreeTicker, RefusesWhatIsNotWellFormed) {
  const std::string good = behavior_tree_xml(load_pddl_text(kCountingDomain, kCountingProblem), {});
  EXPECT_NO_THROW(BehaviorTree{good});
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_THROW(BehaviorTree{changed("</Sequence>", "")}, std::runtime_error);
  EXPECT_THROW(BehaviorTree{changed("BTCPP_format=\"4\"", "BTCPP_format=\"3\"")}, std::runtime_error);
  EXPECT_THROW(BehaviorTree{changed("<Holds fact=", "<Holds fakt=")}, std::runtime_error);
  EXPECT_THROW(BehaviorTree{changed("<Holds fact=", "<Helds fact=")}, std::runtime_error);
  EXPECT_THROW(BehaviorTree{changed("ID=\"Press\"", "ID=\"Sequence\"")}, std::runtime_error);
  EXPECT_THROW(BehaviorTree{changed("(done)", "<done>")}, std::runtime_error);
  EXPECT_THROW(BehaviorTree{changed("(done)", "a & b")}, std::runtime_error);
  EXPECT_THROW(BehaviorTree{good + "x"}, std::runtime_error);
}

// --- numbers ---------------------------------------------------------------------------------------------------------

// Asked for as the domain compares them, not value by value.
TEST(BehaviorTreeNumbers, AreAskedForByComparisons) {
  const std::string domain =
      "(define (domain d) (:requirements :typing :adl :numeric-fluents) (:types robot place)\n"
      "(:predicates (at ?r - robot ?p - place) (spare ?r - robot)) (:functions (battery ?r - robot) (load) (most) (way "
      "?a ?b - place))\n"
      "(:action drive :parameters (?r - robot ?a ?b - place)\n"
      " :precondition (and (at ?r ?a) (>= (battery ?r) (* 1.5 (way ?a ?b))) (<= (load) 6))\n"
      " :effect (and (not (at ?r ?a)) (at ?r ?b) (decrease (battery ?r) (* 1.5 (way ?a ?b)))))\n"
      "(:action get :parameters (?r - robot) :precondition (and (at ?r a) (<= (+ (load) 2) (battery ?r)))\n"
      " :effect (increase (load) 2))\n"
      "(:action swap :parameters (?r - robot) :precondition (or (spare ?r) (<= (battery ?r) 2)) :effect (assign "
      "(battery "
      "?r) 9)))";
  const std::string problem =
      "(define (problem p) (:domain d) (:objects r - robot a b - place) (:init (at r a) (= (battery r) 8) (= (load) 0) "
      "(= "
      "(way a b) 4) (= (way b a) 2.5))\n"
      "(:goal (and (at r b) (>= (load) 6) (= (battery r) 9) (<= (load) (battery r)))))";
  const Task task = load_pddl_text(domain, problem);
  const std::vector<PlanStep> plan = parse_plan("(get r)\n(get r)\n(get r)\n(drive r a b)\n(swap r)\n", "plan");
  ASSERT_TRUE(task.validate(plan).valid) << task.validate(plan).reason;
  const std::string xml = behavior_tree_xml(task, plan);
  const auto has = [&](const std::string& text) {
    return xml.find("<Holds fact=\"" + text + "\"/>") != std::string::npos;
  };
  EXPECT_TRUE(has("(&gt;= (battery r) 6)")) << xml;
  EXPECT_TRUE(has("(&lt;= (load) 6)"));
  EXPECT_TRUE(has("(&lt;= (+ (load) 2) (battery r))"));
  EXPECT_TRUE(has("(= (battery r) 9)"));
  EXPECT_TRUE(has("(&lt;= (load) (battery r))"));
  EXPECT_EQ(xml.find("(battery="), std::string::npos);
  EXPECT_EQ(xml.find("(load="), std::string::npos);
  // Five steps and the goal: what is asked is what the domain says.
  EXPECT_LT(std::count(xml.begin(), xml.end(), '\n'), 80);
  LiftedWorld world(testing::lifted_interpreter(domain, problem));
  EXPECT_TRUE(BehaviorTree(xml).run(world).success);
  EXPECT_TRUE(world.goal_holds());
  // Too little for what is to be got: the tree notices before it.
  std::string weak = problem;
  weak.replace(weak.find("(battery r) 8"), 13, "(battery r) 5");
  LiftedWorld empty(testing::lifted_interpreter(domain, weak));
  EXPECT_EQ(BehaviorTree(xml).run(empty).detail, "(<= (+ (load) 2) (battery r))");
  const std::string json = plan_json(task, plan);
  EXPECT_NE(json.find("\"(>= (battery r) 6)\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"(= (battery r) 9)\""), std::string::npos);
  EXPECT_EQ(json.find("(battery="), std::string::npos);
}

}  // namespace
}  // namespace metactrl::behavior_tree_test
