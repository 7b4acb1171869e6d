// The loop where nobody knows for certain where things are: plans that hold in every state they must hold in, bets, and looks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metactrl/robot/closed_loop.h"
#include "support/scripted_world.h"

namespace metactrl::uncertain_loop_test {
namespace {

using testing::ScriptedWorld;
using testing::searching;
using testing::tabletop;

Observation pliers_somewhere(const SceneState& truth, double first) {
  Observation observation;
  for (const std::string& fact : truth) {
    if (Scene::subject(fact) != "pliers") observation.sightings.push_back({{{{fact}, 1}}});
  }
  observation.sightings.push_back({{{{"(inside pliers box_1)"}, first}, {{"(inside pliers box_2)"}, 1 - first}}});
  return observation;
}

TEST(ClosedLoop, APlanHoldsInEveryStateItMustHoldIn) {
  const Scene scene = tabletop("boxed_tools");
  for (const bool second : {false, true}) {
    ClosedLoop loop(scene, searching());
    ScriptedWorld world(scene);
    if (second) world.replace("(inside pliers box_1)", "(inside pliers box_2)");
    bool touched = false;
    world.on_observe = [&] { return touched ? Observation::certain(world.truth) : pliers_somewhere(world.truth, 0.6); };
    world.on_execute = [&](const PlanStep& step) {
      if (step.action == "grab" && step.arguments[0] == "pliers") touched = true;
      return world.follow(step);
    };
    const LoopReport report = loop.run(world);
    EXPECT_TRUE(is_success(report.end)) << report.reason;
    EXPECT_EQ(report.failures, 0U) << "the plan opened both boxes before it reached for the pliers";
    ASSERT_EQ(report.events[1].kind, LoopEvent::Kind::kPlanned);
    EXPECT_EQ(report.events[1].states, 2U);
    EXPECT_EQ(report.events[1].holds_in, 2U);
    EXPECT_NEAR(report.events[1].covered, 1, 1e-9);
    EXPECT_TRUE(scene.is_goal(world.truth));
  }
}

// Counting needs as many states as it has steps. One believed state is searched as long as by anybody else.
TEST(ClosedLoop, SearchesForABeliefHaveABudgetOfTheirOwn) {
  const Scene scene = Scene::load_text(
      R"((define (domain counter) (:requirements :negative-preconditions) (:predicates (a) (b) (c) (d) (seen))
        (:action one :parameters () :precondition (and (seen) (not (a))) :effect (a))
        (:action two :parameters () :precondition (and (a) (not (b))) :effect (and (b) (not (a))))
        (:action four :parameters () :precondition (and (a) (b) (not (c))) :effect (and (c) (not (a)) (not (b))))
        (:action eight :parameters () :precondition (and (a) (b) (c) (not (d)))
          :effect (and (d) (not (a)) (not (b)) (not (c))))
        (:action see :parameters () :precondition (and) :effect (seen))))",
      "(define (problem p) (:domain counter) (:init) (:goal (and (a) (b) (c) (d))))");
  LoopOptions options = searching();
  options.belief_search_states = 1;
  ClosedLoop loop(scene, options);
  ScriptedWorld certain(scene);
  EXPECT_EQ(loop.run(certain).end, LoopEnd::kGoalObserved);
  ScriptedWorld unsure(scene);
  unsure.on_observe = [&] {
    Observation observation = Observation::certain(unsure.truth);
    observation.sightings.push_back({{{{"(seen)"}, 0.6}}});
    return observation;
  };
  const LoopReport report = loop.run(unsure);
  EXPECT_EQ(report.end, LoopEnd::kUndecided) << report.reason;
  EXPECT_EQ(report.events[1].states, 2U);
}

TEST(ClosedLoop, ALowerConfidenceBetsOnTheLikelyState) {
  const Scene scene = tabletop("boxed_tools");
  LoopOptions options = searching();
  options.confidence = 0.9;
  ClosedLoop loop(scene, options);
  ScriptedWorld world(scene);
  world.on_observe = [&] { return pliers_somewhere(world.truth, 0.95); };
  world.on_execute = [&](const PlanStep& step) {
    world.on_observe = nullptr;
    return world.follow(step);
  };
  const LoopReport report = loop.run(world);
  EXPECT_TRUE(is_success(report.end)) << report.reason;
  EXPECT_EQ(report.events[1].states, 1U);
  EXPECT_NEAR(report.events[1].covered, 0.95, 1e-9);
}

TEST(ClosedLoop, LooksFirstWhenItPaysAndOnlyThen) {
  const Scene scene = tabletop("boxed_tools");
  const auto run = [&](double cost) {
    LoopOptions options = searching();
    options.look_cost = cost;
    ClosedLoop loop(scene, options);
    ScriptedWorld world(scene);
    bool known = false;
    world.on_observe = [&] { return known ? Observation::certain(world.truth) : pliers_somewhere(world.truth, 0.5); };
    world.on_look = [&](const std::string& object) {
      EXPECT_EQ(object, "pliers");
      known = true;
      Observation observation;
      for (const std::string& fact : world.truth) {
        if (Scene::subject(fact) == object) observation.sightings.push_back({{{{fact}, 1}}});
      }
      return observation;
    };
    world.on_execute = [&](const PlanStep& step) {
      if (step.arguments[0] == "pliers") known = true;
      return world.follow(step);
    };
    LoopReport report = loop.run(world);
    EXPECT_TRUE(is_success(report.end)) << report.reason;
    return report;
  };
  // Where the pliers are, decides whether both boxes must be opened first; the screwdriver's is opened anyway.
  const LoopReport cheap = run(0.01);
  const LoopReport dear = run(5);
  EXPECT_EQ(dear.looks, 0U);
  EXPECT_EQ(cheap.looks, 1U);
  EXPECT_LE(cheap.actions, dear.actions);
}

// Two states without a plan in common: a button that must be pressed in one and must not in the other.
constexpr const char* kTrap = R"((define (domain trap)
  (:requirements :adl)
  (:predicates (safe ?x) (armed ?x) (got ?x) (dead))
  (:action take :parameters (?x) :precondition (not (dead)) :effect (and (when (armed ?x) (dead)) (got ?x)))
  (:action disarm :parameters (?x) :precondition (armed ?x) :effect (not (armed ?x)))))";
constexpr const char* kTrapProblem =
    "(define (problem trap-1) (:domain trap) (:objects gem) (:init (safe gem)) (:goal (and (got gem) (not (dead)))))";

TEST(ClosedLoop, LooksWhenNoPlanHoldsInAllStatesOtherwiseSaysSo) {
  const Scene scene = Scene::load_text(kTrap, kTrapProblem);
  for (const bool can_look : {false, true}) {
    ClosedLoop loop(scene, searching());
    ScriptedWorld world(scene);
    world.replace("", "(armed gem)");
    bool known = false;
    world.on_observe = [&] {
      if (known) return Observation::certain(world.truth);
      Observation observation;
      for (const std::string& fact : world.truth) {
        if (fact != "(armed gem)") observation.sightings.push_back({{{{fact}, 1}}});
      }
      observation.sightings.push_back({{{{"(armed gem)"}, 0.5}}});
      return observation;
    };
    if (can_look) {
      world.on_look = [&](const std::string&) {
        known = true;
        return Observation::certain({"(armed gem)"});
      };
    }
    const LoopReport report = loop.run(world);
    if (can_look) {
      EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
      EXPECT_EQ(report.looks, 1U);
      EXPECT_EQ(world.steps, (std::vector<std::string>{"(disarm gem)", "(take gem)"}));
    } else {
      EXPECT_EQ(report.end, LoopEnd::kNoPlan) << report.reason;
      EXPECT_NE(report.reason.find("there is a plan for the most likely one"), std::string::npos) << report.reason;
      EXPECT_EQ(report.actions, 0U);
    }
  }
}

TEST(ClosedLoop, ABeliefThatIsTooWideIsNotActedUpon) {
  const Scene scene = tabletop("boxed_tools");
  LoopOptions options = searching();
  options.max_states = 1;
  options.max_looks = 0;
  ClosedLoop loop(scene, options);
  ScriptedWorld world(scene);
  world.on_observe = [&] { return pliers_somewhere(world.truth, 0.5); };
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kUndecided) << report.reason;
  EXPECT_GE(report.pruned, 0.5) << "observing the same again does not bring back what was left out";
  EXPECT_EQ(report.actions, 0U);
}

TEST(ClosedLoop, TheGoalMayBeBelieved) {
  const Scene scene = tabletop("donut_canister");
  ClosedLoop loop(scene, searching());
  ScriptedWorld world(scene);
  world.on_observe = [&] {
    Observation observation;
    for (const std::string& fact : world.truth) observation.sightings.push_back({{{{fact}, 0.99}}});
    return observation;
  };
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kGoalBelieved) << report.reason;
  EXPECT_GE(report.goal_probability, 0.95);
  EXPECT_LT(report.goal_probability, 1);
}

}  // namespace
}  // namespace metactrl::uncertain_loop_test
