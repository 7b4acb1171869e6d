// Trajectory constraints where actions take time, example by example: states within actions, times, schedules, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lookahead/preferences.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/schedule.h"
#include "pddl/ground_trajectories.h"
#include "task/program.h"
#include "task/remembers.h"

namespace metactrl::trajectories_test {
namespace {

// `press` rings while it lasts; `go` takes five, and is where it wants to be at its end.
constexpr const char* kDomain =
    "(define (domain d) (:requirements :adl :durative-actions :constraints :preferences :timed-initial-literals)\n"
    "(:predicates (ringing) (pressed) (home) (lit) (dark) (seen))\n"
    "(:durative-action press :parameters () :duration (= ?duration 2) :condition (at start (not (ringing)))\n"
    " :effect (and (at start (ringing)) (at end (not (ringing))) (at end (pressed))))\n"
    "(:durative-action go :parameters () :duration (= ?duration 5) :effect (at end (home)))\n"
    "(:durative-action light :parameters () :duration (= ?duration 1) :effect (at start (lit)))\n";

std::string problem(const std::string& goal, const std::string& constraints, const std::string& init = "") {
  return "(define (problem p) (:domain d) (:init " + init + ") (:goal " + goal + ") (:constraints " + constraints +
         "))";
}

Task task(const std::string& goal, const std::string& constraints, const std::string& init = "") {
  return load_pddl_text(std::string(kDomain) + ")", problem(goal, constraints, init));
}

std::vector<PlanStep> steps(const std::string& text) { return parse_plan(text, "plan"); }

std::string verdict(const Task& task, const std::string& plan) {
  const Validation validation = task.validate(steps(plan));
  return validation.valid ? "valid" : validation.reason;
}

std::string judged(const Task& task, const std::string& schedule) {
  const Validation validation = validate(task, parse_schedule(schedule, "plan").schedule);
  return validation.valid ? "valid" : validation.reason;
}

Verdict solvable(const Task& task) { return Lookahead::compile(task, {})->verdict(); }

TEST(Trajectories, StatesWithinAnActionCount) {
  const Task quiet = task("(pressed)", "(always (not (ringing)))");
  EXPECT_EQ(verdict(quiet, "(press)"), "step 1 (press): breaks the constraint (always (not (ringing)))");
  EXPECT_EQ(solvable(quiet), Verdict::kInfeasible);
  EXPECT_EQ(judged(quiet, "0.000: (press) [2.000]"), "the constraint (always (not (ringing))) is broken at 0.000");
  const Task rung = task("(home)", "(sometime (ringing))");
  EXPECT_EQ(verdict(rung, "(go)\n(press)"), "valid");
  EXPECT_EQ(verdict(rung, "(go)"), "the goal is not reached: (sometime (ringing)) does not hold at the end");
  const auto lookahead = Lookahead::compile(rung, {});
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable);
  EXPECT_EQ(lookahead->plan().size(), 2U);
  EXPECT_EQ(solvable(task("(pressed)", "(at-most-once (ringing))")), Verdict::kSolvable);
  EXPECT_EQ(verdict(task("(pressed)", "(at-most-once (ringing))"), "(press)\n(press)"),
            "step 2 (press): breaks the constraint (at-most-once (ringing))");
  EXPECT_EQ(verdict(task("(pressed)", "(sometime-before (ringing) (lit))"), "(press)"),
            "step 1 (press): breaks the constraint (sometime-before (ringing) (lit))");
  EXPECT_EQ(verdict(task("(pressed)", "(sometime-before (ringing) (lit))"), "(light)\n(press)"), "valid");
  EXPECT_EQ(verdict(task("(pressed)", "(sometime-after (ringing) (lit))"), "(light)\n(press)"), "valid");
  EXPECT_EQ(verdict(task("(lit)", "(sometime-after (ringing) (home))"), "(light)\n(press)"),
            "the goal is not reached: (sometime-after (ringing) (home)) does not hold at the end");
}

TEST(Trajectories, ADeadlineCountsWhenTheFactBecomesTrue) {
  const Task home = task("(and (home) (pressed))", "(within 5 (home))");
  EXPECT_EQ(verdict(home, "(go)\n(press)"), "valid");
  EXPECT_EQ(verdict(home, "(press)\n(go)"), "the goal is not reached: (within 5 (home)) does not hold at the end");
  const auto lookahead = Lookahead::compile(home, {});
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable);
  EXPECT_EQ(home.text(lookahead->plan()[0]), "(go)");
  const Task early = task("(home)", "(within 4.5 (home))");
  EXPECT_EQ(solvable(early), Verdict::kInfeasible);
  // Once, though it is a constraint and a goal.
  const std::vector<std::string> help = why_infeasible(early).would_help;
  EXPECT_EQ(
      std::count_if(help.begin(), help.end(), [](const std::string& what) { return what.starts_with("without"); }), 1);
  // It need not last.
  EXPECT_EQ(verdict(task("(pressed)", "(within 1 (ringing))"), "(press)"), "valid");
  EXPECT_EQ(verdict(task("(pressed)", "(within 1 (ringing))"), "(go)\n(press)"),
            "the goal is not reached: (within 1 (ringing)) does not hold at the end");
  EXPECT_EQ(judged(home, "0: (go) [5]\n5.001: (press) [2]"), "valid");
  EXPECT_EQ(judged(home, "1: (go) [5]\n6.001: (press) [2]"),
            "the goal is not reached: (within 5 (home)) does not hold at the end");
  // What is true at the start is in time, and so is what happens by itself.
  EXPECT_EQ(verdict(task("(and)", "(within 0 (home))", "(home)"), ""), "valid");
  EXPECT_EQ(verdict(task("(and)", "(within 3 (dark))", "(at 3 (dark))"), ""), "valid");
  EXPECT_EQ(verdict(task("(and)", "(within 3 (dark))", "(at 3.5 (dark))"), ""),
            "the goal is not reached: (within 3 (dark)) does not hold at the end");
}

// A tick is 0.001 here.
TEST(Trajectories, StepsThatTakeNoTimeBeginATickBehindEachOther) {
  const auto of = [](const std::string& time) {
    return load_pddl_text(
        "(define (domain d) (:requirements :strips :constraints) (:predicates (p) (q))\n"
        "(:action a :parameters () :effect (p)) (:action b :parameters () :precondition (p) :effect (q)))",
        problem("(q)", "(within " + time + " (q))"));
  };
  EXPECT_EQ(verdict(of("0"), "(a)\n(b)"), "the goal is not reached: (within 0 (q)) does not hold at the end");
  EXPECT_EQ(verdict(of("0.001"), "(a)\n(b)"), "valid");
}

TEST(Trajectories, WhatHoldsFromATimeOn) {
  EXPECT_EQ(verdict(task("(pressed)", "(hold-after 3 (lit))"), "(light)\n(press)"), "valid");
  EXPECT_EQ(verdict(task("(pressed)", "(hold-after 3 (lit))"), "(press)"),
            "the goal is not reached: (hold-after 3 (lit)) does not hold at the end");
  EXPECT_EQ(verdict(task("(pressed)", "(hold-after 3 (lit))"), "(go)\n(light)"),
            "step 1 (go): breaks the constraint (hold-after 3 (lit))");
  EXPECT_EQ(verdict(task("(pressed)", "(hold-during 1 4 (ringing))"), "(press)"),
            "step 1 (press): breaks the constraint (hold-during 1 4 (ringing))");
  EXPECT_EQ(verdict(task("(pressed)", "(hold-during 0.5 1.5 (ringing))"), "(press)"), "valid");
  EXPECT_EQ(verdict(task("(pressed)", "(hold-during 0 1.5 (ringing))"), "(press)"),
            "the initial state breaks the constraint (hold-during 0 1.5 (ringing))");
  EXPECT_EQ(verdict(task("(home)", "(hold-during 0 2 (not (home)))"), "(go)"), "valid");
  EXPECT_EQ(solvable(task("(home)", "(hold-after 20 (home))")), Verdict::kSolvable);
}

// Start and end of what takes no time are at the same time.
TEST(Trajectories, WithinWhatTakesNoTimeThereIsNoState) {
  const std::string flash =
      "(:durative-action flash :parameters () :duration (= ?duration 0) :effect (and (at start (dark)) (at end "
      "(seen)))))";
  const auto of = [&](const std::string& constraints) {
    return load_pddl_text(kDomain + flash, problem("(seen)", constraints));
  };
  for (const char* deadline : {"", " (within 5 (seen))"}) {
    const std::string rest = std::string(deadline) + ")";
    const Task between = of("(and (sometime (and (dark) (not (seen))))" + rest);
    EXPECT_EQ(verdict(between, "(flash)"),
              "the goal is not reached: (sometime (and (dark) (not (seen)))) does not hold at the end");
    EXPECT_EQ(solvable(between), Verdict::kInfeasible);
    const Task calm = of("(and (always (imply (dark) (seen)))" + rest);
    EXPECT_EQ(verdict(calm, "(flash)"), "valid");
    EXPECT_EQ(solvable(calm), Verdict::kSolvable);
    EXPECT_EQ(make_schedule(calm, steps("(flash)"), ScheduleKind::kConcurrent).size(), 1U);
  }
}

TEST(Trajectories, PreferencesOfTheWay) {
  const Task t =
      load_pddl_text(std::string(kDomain) + ")",
                     problem("(pressed)",
                             "(and (preference quiet (always (not (ringing)))) (preference early (within 3 (lit))) "
                             "(preference first (actions-in-order light press)))"));
  const Validation validation = t.validate(steps("(light)\n(press)"));
  ASSERT_EQ(validation.preferences.size(), 3U);
  EXPECT_FALSE(validation.preferences[0].satisfied);
  EXPECT_TRUE(validation.preferences[1].satisfied);
  EXPECT_TRUE(validation.preferences[2].satisfied);
  const Validation late = validate(t, parse_schedule("0: (press) [2]\n3.5: (light) [1]", "plan").schedule);
  ASSERT_EQ(late.preferences.size(), 3U);
  EXPECT_FALSE(late.preferences[1].satisfied);
  EXPECT_FALSE(late.preferences[2].satisfied);
  const PreferenceChoice choice = choose_preferences(t, {});
  EXPECT_EQ(choice.chosen.size(), 2U);
  EXPECT_EQ(choice.value, 1);
}

// Nothing that a constraint sees changes its order.
TEST(Trajectories, SchedulesKeepWhatConstraintsSee) {
  const std::vector<PlanStep> plan = steps("(press)\n(light)");
  const Schedule free = make_schedule(task("(lit)", "(and)"), plan, ScheduleKind::kConcurrent);
  EXPECT_EQ(free[1].start, 0);
  const Task ordered = task("(lit)", "(always (imply (lit) (not (ringing))))");
  EXPECT_EQ(verdict(ordered, "(press)\n(light)"), "valid");
  const Schedule kept = make_schedule(ordered, plan, ScheduleKind::kConcurrent);
  EXPECT_EQ(kept[1].start, 2 * kTimeUnit + kSeparation);
  const Task named = task("(lit)", "(actions-in-order press light)");
  EXPECT_EQ(make_schedule(named, plan, ScheduleKind::kConcurrent)[1].start, kSeparation);
}

TEST(Trajectories, NothingRunsInsideOthersBesideThem) {
  const std::string domain =
      "(define (domain d) (:requirements :durative-actions :constraints) (:predicates (light) (mended))\n"
      "(:durative-action match :parameters () :duration (= ?duration 5) :effect (and (at start (light)) (at end (not "
      "(light)))))\n"
      "(:durative-action mend :parameters () :duration (= ?duration 2) :condition (over all (light)) :effect (at end "
      "(mended))))";
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  const Task t = load_pddl_text(domain, problem("(mended)", "(within 9 (mended))"), options);
  EXPECT_EQ(solvable(t), Verdict::kInfeasible);
  ASSERT_FALSE(diagnostics.items().empty());
  EXPECT_NE(diagnostics.items()[0].hint.find("facts change by themselves"), std::string::npos);
}

// A wish must not cost the plan.
TEST(Trajectories, PreferencesOfTheWayGiveWayToActionsInsideOthers) {
  const std::string domain =
      "(define (domain d) (:requirements :adl :durative-actions :constraints :preferences) (:predicates (light) "
      "(mended))\n"
      "(:durative-action match :parameters () :duration (= ?duration 5) :effect (and (at start (light)) (at end (not "
      "(light)))))\n"
      "(:durative-action mend :parameters () :duration (= ?duration 2) :condition (over all (light)) :effect (at end "
      "(mended))))";
  for (const char* wish : {"(within 1 (mended))", "(always (not (mended)))", "(actions-in-order mend match)"}) {
    SCOPED_TRACE(wish);
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    const std::string wishes =
        "(and (preference soon " + std::string(wish) + ") (preference dark (at end (not (light)))))";
    const Task t = load_pddl_text(domain, problem("(mended)", wishes), options);
    EXPECT_EQ(verdict(t, "(match)\n(mend)"), "valid");
    EXPECT_EQ(solvable(t), Verdict::kSolvable);
    ASSERT_EQ(diagnostics.items().size(), 1U);
    EXPECT_EQ(diagnostics.items()[0].message,
              "the preference soon looks back, and is not pursued where actions run inside others");
    const Validation validation = t.validate(steps("(match)\n(mend)"));
    ASSERT_EQ(validation.preferences.size(), 1U);
    EXPECT_EQ(validation.preferences[0].name, "dark");
  }
  // A constraint stays one.
  EXPECT_EQ(solvable(load_pddl_text(domain, problem("(mended)",
                                                    "(and (preference soon (within 1 (mended))) (sometime "
                                                    "(light)))"))),
            Verdict::kInfeasible);
}

TEST(Trajectories, NobodyIsToldWhatTimeItRemembers) {
  const Task t = task("(home)", "(and (within 5 (home)) (preference late (hold-after 3 (lit))))", "(dark)");
  EXPECT_EQ(t.initial_facts(), std::vector<std::string>{"(dark)"});
  for (const std::string& fact : t.facts(t.initial_state())) EXPECT_EQ(fact.find("time"), std::string::npos) << fact;
}

// `make` is what constraints look at, `wait` passes the time.
Task many(std::size_t objects, const std::string& constraint) {
  std::string names;
  for (std::size_t i = 0; i < objects; ++i) names += " o" + std::to_string(i);
  return load_pddl_text(
      "(define (domain d) (:requirements :adl :durative-actions :constraints) (:predicates (p ?x) (done))\n"
      "(:durative-action make :parameters (?x) :duration (= ?duration 5) :effect (at end (p ?x)))\n"
      "(:durative-action wait :parameters () :duration (= ?duration 50) :effect (at end (done))))",
      "(define (problem p) (:domain d) (:objects" + names + ") (:init) (:goal (done)) (:constraints " + constraint +
          "))");
}

// What the action notes, in literals.
std::size_t noted(const Task& task, const PlanStep& step) {
  const task::Definition& definition = task.program().definition();
  std::size_t result = 0;
  for (const ActionId action : definition.actions.all()) {
    if (task::action_text(definition, action) != to_string(step)) continue;
    for (const task::ActionTable::Effect& effect : definition.actions.effects(action)) {
      const auto remembered = [&](task::ActionTable::Range facts) {
        const auto all = definition.actions.facts(facts);
        return std::any_of(all.begin(), all.end(), [&](task::FactId fact) { return remembers(definition, fact); });
      };
      if (!remembered(effect.add) && !remembered(effect.del)) continue;
      task::for_each_literal(definition.actions.view(effect.when), [&](task::FactId, bool) { ++result; });
    }
  }
  return result;
}

TEST(Trajectories, AnActionNotesWhatItChangesHoweverManyObjectsThereAre) {
  for (const char* constraint : {"(forall (?x) (within 100 (p ?x)))", "(within 100 (exists (?x) (p ?x)))",
                                 "(forall (?x) (hold-after 100 (p ?x)))", "(always (forall (?x) (not (p ?x))))",
                                 "(sometime (exists (?x) (p ?x)))"}) {
    SCOPED_TRACE(constraint);
    const Task few = many(3, constraint);
    const Task more = many(60, constraint);
    for (const char* step : {"(make o1)", "(wait)"}) {
      EXPECT_LE(noted(more, steps(step)[0]), noted(few, steps(step)[0])) << step;
    }
  }
}

TEST(Trajectories, ManyDeadlines) {
  const Task t = many(300, "(forall (?x) (within 100 (p ?x)))");
  EXPECT_EQ(t.num_goals(), 301U);
  std::string plan;
  for (std::size_t i = 0; i < 300; ++i) plan += "(make o" + std::to_string(i) + ")\n";
  const Validation late = t.validate(steps(plan + "(wait)"));
  EXPECT_EQ(late.steps_executed, 301U);
  EXPECT_EQ(late.unmet_goals.size(), 281U);
}

TEST(Trajectories, WhatWouldTakeTooManyNotesIsRefused) {
  const std::string file = "problem";
  pddl::NoteCount count(file);
  const task::FactId fact{1};
  count.announce(fact, "(hold-during 60 90 (p ?x)) with ?x = o1");
  const task::Formula when = task::Formula::literal(task::FactId{0}, true);
  // One for the fact, one for the literal; what nobody announced remembers nothing.
  EXPECT_EQ(count.take(fact, when, 4'000'000), 8'000'000U);
  EXPECT_EQ(count.take(task::FactId{0}, when, 4'000'000), 0U);
  count.give_back(4'000'000);
  EXPECT_EQ(count.take(fact, when, 3'000'000), 6'000'000U);
  try {
    count.take(fact, when, 1);
    FAIL();
  } catch (const TaskTooLarge& error) {
    EXPECT_NE(std::string(error.what()).find("(hold-during 60 90 (p ?x)) with ?x = o1; use fewer objects"),
              std::string::npos)
        << error.what();
  }
}

TEST(Trajectories, RefusedWithTheirPlace) {
  const auto why = [](const std::string& constraints, const std::string& more = "") {
    try {
      load_pddl_text(kDomain + more + ")", problem("(home)", constraints));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(why("(always-within 5 (lit) (home))").find("every state would need a clock of its own"), std::string::npos);
  EXPECT_NE(why("(within soon (home))").find("the time 'soon' cannot be counted"), std::string::npos);
  EXPECT_NE(why("(within (home))").find("write (within TIME CONDITION)"), std::string::npos);
  EXPECT_NE(why("(hold-during 5 3 (home))").find("there is no time between 5 and 3"), std::string::npos);
  EXPECT_NE(why("(always (bright))", "(:derived (bright) (lit))")
                .find("trajectory constraints on derived predicates are not supported beside durative actions"),
            std::string::npos);
}

}  // namespace
}  // namespace metactrl::trajectories_test
