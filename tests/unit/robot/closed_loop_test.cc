// The loop in worlds that behave, misbehave and break.
#include "metactrl/robot/closed_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/planner_setting.h"
#include "support/scripted_world.h"
#include "support/str_cat.h"

namespace metactrl::closed_loop_test {
namespace {

using testing::ScriptedWorld;
using testing::searching;
using testing::tabletop;

TEST(ClosedLoop, ReachesTheGoalInAWorldThatKeepsTheRules) {
  const Scene scene = tabletop("dishwasher");
  ClosedLoop loop(scene, searching());
  ScriptedWorld world(scene);
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
  EXPECT_EQ(report.actions, 7U);
  EXPECT_EQ(report.replans, 0U);
  EXPECT_EQ(report.surprises, 0U);
  EXPECT_EQ(report.observations, 8U);
  EXPECT_GE(report.checks, 1U);
  EXPECT_EQ(report.goal_probability, 1);
  EXPECT_TRUE(scene.is_goal(world.truth));
  ASSERT_GE(report.events.size(), 3U);
  EXPECT_EQ(report.events[0].kind, LoopEvent::Kind::kObserved);
  EXPECT_EQ(report.events[1].kind, LoopEvent::Kind::kPlanned);
  EXPECT_EQ(to_string(report.events[2]).substr(0, 5), "act (");
}

// Behind the goal and before it, and reported one by one; what cannot be had together is weighed.
TEST(ClosedLoop, PursuesPreferences) {
  const std::string domain =
      "(define (domain d) (:requirements :preferences) (:predicates (fetched) (tidy) (lit) (dark))\n"
      "(:action fetch :parameters () :precondition (lit) :effect (fetched))\n"
      "(:action light :parameters () :effect (and (lit) (not (dark))))\n"
      "(:action out :parameters () :effect (and (dark) (not (lit))))\n"
      "(:action clear :parameters () :precondition (fetched) :effect (tidy)))";
  const auto problem = [](const std::string& init) {
    return "(define (problem d) (:domain d) (:init " + init +
           ") (:goal (and (fetched) (preference clean (tidy)) (preference save (dark)) (preference see (lit))))\n"
           "(:metric minimize (+ (is-violated clean) (* 3 (is-violated save)) (* 2 (is-violated see)))))";
  };
  for (const std::string init : {"(dark)", "(fetched) (lit)"}) {
    const Scene scene = Scene::load_text(domain, problem(init));
    ClosedLoop loop(scene, searching());
    ScriptedWorld world(scene);
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
    ASSERT_EQ(report.preferences.size(), 3U);
    EXPECT_EQ(report.preferences[0].name, "clean");
    EXPECT_TRUE(report.preferences[0].satisfied);
    EXPECT_TRUE(report.preferences[1].satisfied);
    EXPECT_FALSE(report.preferences[2].satisfied);
    EXPECT_EQ(world.steps.size(), init == "(dark)" ? 4U : 2U);
  }
}

// What looks back, deadlines too, is left out with a warning, and nothing of its clock is left; a constraint is refused.
TEST(ClosedLoop, LeavesOutPreferencesThatLookBack) {
  const std::string domain =
      "(define (domain d) (:requirements :adl :preferences :constraints) (:predicates (fetched) (lit))\n"
      "(:action fetch :parameters () :precondition (lit) :effect (fetched))\n"
      "(:action light :parameters () :effect (lit)))";
  const auto problem = [](const std::string& constraints) {
    return "(define (problem d) (:domain d) (:init) (:goal (fetched))\n(:constraints (and " + constraints + ")))";
  };
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  const Scene scene = Scene::load_text(
      domain, problem("(preference soon (within 90 (lit))) (preference dark (hold-during 1 2 (not (lit))))"), options);
  ASSERT_EQ(diagnostics.items().size(), 2U);
  EXPECT_EQ(diagnostics.items()[0].message,
            "the preference soon looks back, and is not pursued in a scene that is acted in");
  ClosedLoop loop(scene, searching());
  ScriptedWorld world(scene);
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
  EXPECT_EQ(world.steps.size(), 2U);
  EXPECT_TRUE(report.preferences.empty());
  for (const char* constraint : {"(within 90 (lit))", "(preference soon (within 90 (lit))) (hold-after 90 (lit))"})
    EXPECT_THROW(Scene::load_text(domain, problem(constraint)), InputError) << constraint;
}

TEST(ClosedLoop, TriesAgainAfterAFailureAndPlansAgainAfterASurprise) {
  const Scene scene = tabletop("dishwasher");
  ClosedLoop loop(scene, searching());
  ScriptedWorld world(scene);
  int number = 0;
  world.on_execute = [&](const PlanStep& step) -> Execution {
    ++number;
    if (number == 1) return {false, "the gripper slipped"};
    const Execution execution = world.follow(step);
    if (number == 3) world.replace("(open dishwasher)", "");  // the door falls shut behind our back
    return execution;
  };
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
  EXPECT_EQ(report.failures, 1U);
  EXPECT_EQ(report.retries, 1U);
  EXPECT_EQ(report.surprises, 1U);
  EXPECT_EQ(report.replans, 1U);
  EXPECT_TRUE(scene.is_goal(world.truth));
  for (const LoopEvent& event : report.events) {
    if (event.kind != LoopEvent::Kind::kPlanned || &event == &report.events[1]) continue;
    EXPECT_NE(event.because.find("the rest of the plan no longer holds: step 1 ("), std::string::npos) << event.because;
    EXPECT_NE(event.because.find("(open dishwasher)) is false"), std::string::npos) << event.because;
    EXPECT_TRUE(to_string(event).starts_with("plan again, because ")) << to_string(event);
    EXPECT_GT(event.replaced, 0U);
    const std::string lengths =
        internal::str_cat(": ", event.plan.size(), " actions where ", event.replaced, " were left (");
    EXPECT_NE(to_string(event).find(lengths), std::string::npos) << to_string(event);
  }
}

// Of every plan that still holds nothing is replaced, whatever the model would write instead.
TEST(ClosedLoop, AFailureThatChangesNothingChangesNoPlan) {
  const Scene scene = tabletop("dishwasher");
  ClosedLoop loop(scene, searching());
  ScriptedWorld undisturbed(scene);
  const unsigned actions = loop.run(undisturbed).actions;
  ScriptedWorld world(scene);
  int number = 0;
  world.on_execute = [&](const PlanStep& step) -> Execution {
    return ++number % 2 == 1 ? Execution{false, "the gripper slipped"} : world.follow(step);
  };
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
  EXPECT_EQ(report.plans, 1U);
  EXPECT_EQ(report.retries, actions);
  EXPECT_EQ(report.actions, 2 * actions);
}

TEST(ClosedLoop, AStepThatKeepsFailingIsPlannedAnew) {
  const Scene scene = tabletop("dishwasher");
  ClosedLoop loop(scene, searching());
  ScriptedWorld world(scene);
  int number = 0;
  world.on_execute = [&](const PlanStep& step) -> Execution {
    return ++number <= 5 ? Execution{false, "stuck"} : world.follow(step);
  };
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
  EXPECT_EQ(report.replans, 1U);
  EXPECT_EQ(report.retries, 4U);
  const auto again = std::find_if(report.events.begin() + 2, report.events.end(),
                                  [](const LoopEvent& event) { return event.kind == LoopEvent::Kind::kPlanned; });
  ASSERT_NE(again, report.events.end());
  EXPECT_NE(again->because.find(" failed 4 times"), std::string::npos) << again->because;
}

// The second way has more steps than are left of the first, and the model, which takes whatever is allowed, often writes it.
TEST(ClosedLoop, WhatStillHoldsIsNotReplacedByALongerPlan) {
  const Scene scene = Scene::load_text(
      "(define (domain d) (:predicates (here) (half) (there))\n"
      "(:action go :parameters () :precondition (here) :effect (and (there) (not (here))))\n"
      "(:action walk :parameters () :precondition (here) :effect (and (half) (not (here))))\n"
      "(:action walk-on :parameters () :precondition (half) :effect (and (there) (not (half)))))",
      "(define (problem d) (:domain d) (:init (here)) (:goal (there)))");
  LoopOptions options;
  options.plan.guidance = Guidance::kMask;
  options.plan.generate.mode = DecodeMode::kSample;
  const testing::Setting setting = testing::random_setting(7);
  std::size_t kept = 0;
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    options.plan.generate.seed = seed;
    ClosedLoop loop(scene, options, setting.model.get(), setting.words);
    ScriptedWorld world(scene);
    int number = 0;
    world.on_execute = [&](const PlanStep& step) -> Execution {
      return ++number <= 4 ? Execution{false, "stuck"} : world.follow(step);
    };
    const LoopReport report = loop.run(world);
    ASSERT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
    ASSERT_EQ(report.replans, 1U);
    std::vector<LoopEvent> plans;
    for (const LoopEvent& event : report.events) {
      if (event.kind == LoopEvent::Kind::kPlanned) plans.push_back(event);
    }
    ASSERT_EQ(plans.size(), 2U);
    EXPECT_EQ(plans[1].because, to_string(plans[0].plan[0]) + " failed 4 times");
    EXPECT_EQ(plans[1].replaced, plans[0].plan.size());
    EXPECT_LE(plans[1].plan.size(), plans[1].replaced) << "seed " << seed;
    if (plans[1].rejected > 0) {
      ++kept;
      EXPECT_EQ(plans[1].plan, plans[0].plan);
      EXPECT_EQ(plans[1].rejected, 2U);
      EXPECT_NE(to_string(plans[1]).find(": 1 action where 1 was left, kept, since a new plan has 2 (go)"),
                std::string::npos)
          << to_string(plans[1]);
    } else {
      ++taken;
    }
  }
  EXPECT_GT(kept, 0U);
  EXPECT_GT(taken, 0U);
}

TEST(ClosedLoop, ASurpriseThatDoesNotMatterChangesNothing) {
  const Scene scene = tabletop("fridge_to_stove");
  ClosedLoop loop(scene, searching());
  ScriptedWorld world(scene);
  bool done = false;
  world.on_execute = [&](const PlanStep& step) {
    const Execution execution = world.follow(step);
    if (!done) world.replace("", "(soaped table)");
    done = true;
    return execution;
  };
  const LoopReport report = loop.run(world);
  EXPECT_TRUE(is_success(report.end));
  EXPECT_EQ(report.surprises, 1U);
  EXPECT_EQ(report.replans, 0U);
}

TEST(ClosedLoop, WithoutReplanningTheFirstFailureIsTheEnd) {
  const Scene scene = tabletop("dishwasher");
  LoopOptions options = searching();
  options.max_replans = 0;
  ClosedLoop loop(scene, options);
  ScriptedWorld world(scene);
  world.on_execute = [&](const PlanStep&) -> Execution { return {false, "no"}; };
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kOutOfReplans);
  EXPECT_EQ(report.actions, 1U);
  EXPECT_NE(report.reason.find("not reached"), std::string::npos);
}

TEST(ClosedLoop, EveryBoundEndsIt) {
  const Scene scene = tabletop("dishwasher");
  const auto never = [](const PlanStep&) -> Execution { return {false, "no"}; };
  {
    LoopOptions options = searching();
    options.max_replans = 5;
    ClosedLoop loop(scene, options);
    ScriptedWorld world(scene);
    world.on_execute = never;
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.end, LoopEnd::kOutOfReplans);
    EXPECT_EQ(report.plans, 6U);
  }
  {
    LoopOptions options = searching();
    options.max_replans = 1000;
    options.max_actions = 4;
    ClosedLoop loop(scene, options);
    ScriptedWorld world(scene);
    world.on_execute = never;
    EXPECT_EQ(loop.run(world).end, LoopEnd::kOutOfActions);
  }
  {
    LoopOptions options = searching();
    options.seconds = 1e-9;
    ClosedLoop loop(scene, options);
    ScriptedWorld world(scene);
    EXPECT_EQ(loop.run(world).end, LoopEnd::kOutOfTime);
  }
  {
    ClosedLoop loop(scene, searching());
    ScriptedWorld world(scene);
    LoopObserver observer;
    int asked = 0;
    observer.cancelled = [&] { return ++asked > 5; };
    EXPECT_EQ(loop.run(world, observer).end, LoopEnd::kInterrupted);
  }
}

// A puzzle whose search takes far longer than the run may.
TEST(ClosedLoop, ABoundInterruptsASearch) {
  std::string domain = "(define (domain counter) (:requirements :strips :negative-preconditions) (:predicates";
  std::string goal;
  for (int i = 0; i < 40; ++i) {
    domain += " (b" + std::to_string(i) + ")";
    goal += " (b" + std::to_string(i) + ")";
  }
  domain += ")";
  for (int i = 0; i < 40; ++i) {
    std::string condition = "(not (b" + std::to_string(i) + "))";
    std::string effect = "(b" + std::to_string(i) + ")";
    for (int j = 0; j < i; ++j) {
      condition += " (b" + std::to_string(j) + ")";
      effect += " (not (b" + std::to_string(j) + "))";
    }
    domain += " (:action inc" + std::to_string(i) + " :parameters () :precondition (and " + condition +
              ") :effect (and " + effect + "))";
  }
  const Scene scene =
      Scene::load_text(domain + ")", "(define (problem count) (:domain counter) (:init) (:goal (and" + goal + ")))");
  LoopOptions options = searching();
  options.plan.lookahead.exact = {1'000'000'000, std::size_t{1} << 40};
  options.plan.lookahead.search = options.plan.lookahead.exact;
  options.seconds = 3600;
  ClosedLoop loop(scene, options);
  ScriptedWorld world(scene);
  LoopObserver observer;
  int asked = 0;
  observer.cancelled = [&] { return ++asked > 20; };
  const LoopReport report = loop.run(world, observer);
  EXPECT_EQ(report.end, LoopEnd::kInterrupted);
  EXPECT_EQ(report.plans, 1U);
}

TEST(ClosedLoop, NoPlanIsProven) {
  const Scene scene = tabletop("dishwasher");
  ClosedLoop loop(scene, searching());
  ScriptedWorld world(scene);
  // The hand is neither empty nor does it hold anything: nothing can be done.
  world.replace("(hand-empty)", "");
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kNoPlan) << report.reason;
  EXPECT_NE(report.reason.find("proven"), std::string::npos);
  EXPECT_EQ(report.actions, 0U);
}

TEST(ClosedLoop, ABrokenWorldIsPartOfTheReport) {
  const Scene scene = tabletop("dishwasher");
  ClosedLoop loop(scene, searching());
  {
    ScriptedWorld world(scene);
    world.on_observe = [] { return Observation::certain({"(on blue_mug tabel)"}); };
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.end, LoopEnd::kWorldFailed);
    EXPECT_NE(report.reason.find("did you mean 'table'?"), std::string::npos);
  }
  {
    ScriptedWorld world(scene);
    world.on_execute = [](const PlanStep&) -> Execution { throw WorldError("the cable is out"); };
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.end, LoopEnd::kWorldFailed);
    EXPECT_EQ(report.reason, "the cable is out");
  }
}

// A robot that was asked to do something may have done it, whatever became of the answer.
TEST(ClosedLoop, AStepWithoutAnswerIsInTheReportAndItsOutcomeUnknown) {
  const Scene scene = tabletop("donut_canister");
  ClosedLoop loop(scene, searching());
  for (const bool cancelled : {false, true}) {
    ScriptedWorld world(scene);
    bool stop = false;
    std::vector<std::string> order;
    world.on_execute = [&](const PlanStep& step) -> Execution {
      if (world.steps.size() < 2) return world.follow(step);
      order.push_back("asked");
      stop = cancelled;
      throw WorldError("the cable is out");
    };
    LoopObserver observer;
    observer.cancelled = [&] { return stop; };
    observer.acting = [&](const PlanStep& step) { order.push_back("begins " + to_string(step)); };
    observer.event = [&](const LoopEvent& event) {
      if (event.kind == LoopEvent::Kind::kActed) order.push_back(to_string(event));
    };
    const LoopReport report = loop.run(world, observer);
    EXPECT_EQ(report.end, cancelled ? LoopEnd::kInterrupted : LoopEnd::kWorldFailed);
    EXPECT_EQ(report.actions, 2U);
    EXPECT_EQ(report.failures, 0U);
    EXPECT_EQ(order, (std::vector<std::string>{"begins (open canister)", "act (open canister)", "begins (grab donut)",
                                               "asked", "act (grab donut): outcome unknown: the cable is out"}));
    const LoopEvent& last = report.events.back();
    EXPECT_EQ(last.kind, LoopEvent::Kind::kActed);
    EXPECT_FALSE(last.answered);
    EXPECT_FALSE(last.done);
    ASSERT_EQ(report.belief.size(), 2U);
    EXPECT_NEAR(report.belief[0].probability, 0.5, 1e-12);
    EXPECT_EQ(report.belief[0].facts, (SceneState{"(hand-empty)", "(on donut table)", "(open canister)"}));
    EXPECT_EQ(report.belief[1].facts, (SceneState{"(held donut)", "(open canister)"}));
  }
}

// When the step that nobody answered for was the last of the plan, the goal is half reached.
TEST(ClosedLoop, TheGoalIsAsLikelyAsTheStepThatNobodyAnsweredFor) {
  const Scene scene = tabletop("donut_canister");
  LoopOptions options = searching();
  for (const std::size_t states : {64U, 1U}) {
    options.max_states = states;
    ClosedLoop loop(scene, options);
    ScriptedWorld world(scene);
    world.on_execute = [&](const PlanStep& step) -> Execution {
      if (step.action == "putin") throw WorldError("the cable is out");
      return world.follow(step);
    };
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.end, LoopEnd::kWorldFailed);
    EXPECT_EQ(report.belief.size(), std::min<std::size_t>(states, 2));
    EXPECT_NEAR(report.pruned, states == 1 ? 0.5 : 0, 1e-12);
    EXPECT_LE(report.goal_probability, 0.5 + 1e-12);
  }
}

TEST(ClosedLoop, TheWorldsTextHasNoPowerOverTheTerminal) {
  const Scene scene = tabletop("donut_canister");
  ClosedLoop loop(scene, searching());
  const std::string evil = "no\n\x1b[2Jgoal observed: all is well\xc2\x9b";
  {
    ScriptedWorld world(scene);
    bool first = true;
    world.on_execute = [&](const PlanStep& step) -> Execution {
      if (!std::exchange(first, false)) return world.follow(step);
      return {false, evil + std::string(900'000, 'm')};
    };
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.end, LoopEnd::kGoalObserved);
    const LoopEvent& event = report.events[2];
    ASSERT_EQ(event.kind, LoopEvent::Kind::kActed);
    const std::string line = to_string(event);
    EXPECT_EQ(line.find("act (open canister): failed: no\\n\\x1b[2Jgoal observed: all is well\\xc2\\x9bmmm"), 0U)
        << line;
    EXPECT_EQ(line.substr(line.size() - 4), "m...");
    EXPECT_LT(line.size(), 700U);
    // The report has it as it was, but not all of it.
    EXPECT_EQ(event.message.substr(0, evil.size()), evil);
    EXPECT_LT(event.message.size(), 2100U);
  }
  for (const std::string& fact : {evil, "(on donut " + evil + ")", "(on donut " + std::string(900'000, 'm') + ")"}) {
    ScriptedWorld world(scene);
    world.on_observe = [&] { return Observation::certain({fact}); };
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.end, LoopEnd::kWorldFailed);
    EXPECT_LT(report.reason.size(), 2100U);
    for (const char c : report.reason) EXPECT_GE(c, ' ') << report.reason;
  }
  {
    ScriptedWorld world(scene);
    world.on_observe = [&]() -> Observation { throw WorldError(evil + std::string(900'000, 'm')); };
    const LoopReport report = loop.run(world);
    EXPECT_EQ(report.reason.find("no\\n\\x1b[2J"), 0U) << report.reason;
    EXPECT_LT(report.reason.size(), 2100U);
  }
}

TEST(ClosedLoop, OptionsThatCannotBeAreRefused) {
  const Scene scene = tabletop("donut_canister");
  LoopOptions options = searching();
  options.confidence = 1.5;
  EXPECT_THROW(ClosedLoop(scene, options), InputError);
  options = searching();
  options.plan.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
  EXPECT_THROW(ClosedLoop(scene, options), InputError);
  EXPECT_THROW(ClosedLoop(scene, {}), InputError) << "no model";
}

}  // namespace
}  // namespace metactrl::closed_loop_test
