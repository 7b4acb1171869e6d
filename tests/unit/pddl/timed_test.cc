// Facts that change by themselves, example by example: waiting, windows, deadlines, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/schedule.h"

namespace metactrl::timed_test {
namespace {

std::string domain(const std::string& rest) {
  return "(define (domain d) (:requirements :adl :numeric-fluents :durative-actions :timed-initial-literals)\n"
         "(:predicates (open) (lit) (bought) (home) (seen) (any)) (:functions (fuel))\n" +
         rest + ")";
}

constexpr const char* kBuy =
    "(:durative-action buy :parameters () :duration (= ?duration 2) :condition (over all (open))\n"
    " :effect (at end (bought)))\n"
    "(:durative-action walk :parameters () :duration (= ?duration 3) :effect (at end (home)))\n";

Task task(const std::string& rest, const std::string& init, const std::string& goal) {
  return load_pddl_text(domain(rest), "(define (problem d) (:domain d) (:init " + init + ") (:goal " + goal + "))");
}

std::vector<PlanStep> steps(const std::string& text) { return parse_plan(text, "plan"); }

std::string lines(const Schedule& schedule) {
  std::string out;
  for (const TimedStep& step : by_start(schedule)) out += to_string(step) + "\n";
  return out;
}

Verdict verdict(const Task& task) { return Lookahead::compile(task, {})->verdict(); }

TEST(TimedFacts, AnActionWaitsForItsWindow) {
  const Task t = task(kBuy, "(at 5 (open)) (at 9 (not (open)))", "(and (bought) (home))");
  const auto lookahead = Lookahead::compile(t, {});
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable);
  EXPECT_TRUE(t.validate(lookahead->plan()).valid);
  // A multiple of 0.01, the tick of nine time units, and behind the literal.
  EXPECT_EQ(lines(make_schedule(t, steps("(buy)\n(walk)"), ScheduleKind::kSequential)),
            "5.010: (buy) [2.000]\n7.020: (walk) [3.000]\n");
  EXPECT_EQ(lines(make_schedule(t, steps("(buy)\n(walk)"), ScheduleKind::kConcurrent)),
            "0.000: (walk) [3.000]\n5.001: (buy) [2.000]\n");
  EXPECT_EQ(lines(make_schedule(t, steps("(walk)\n(walk)\n(buy)"), ScheduleKind::kSequential)),
            "0.000: (walk) [3.000]\n3.010: (walk) [3.000]\n6.020: (buy) [2.000]\n");
}

// Times are found for the actions side by side, so these two are what is missing.
TEST(TimedFacts, WhatWouldHaveToOverlapIsNamed) {
  const std::string read =
      "(:durative-action read :parameters () :duration (= ?duration 5) :condition (over all (open)) :effect (at end "
      "(seen)))\n"
      "(:durative-action rest :parameters () :duration (= ?duration 4) :condition (over all (open)) :effect (at end "
      "(any)))\n";
  const auto reasons = [&](const std::string& rest, const std::string& init, const std::string& goal) {
    const Task one = task(rest, init, goal);
    EXPECT_EQ(verdict(one), Verdict::kInfeasible);
    return why_infeasible(one).reasons;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(reasons(read + kBuy, "(open) (at 8 (not (open)))", "(and (seen) (any) (home))"),
            Lines{"it needs concurrency that is not planned for: at the same time (read) and (rest)"});
  // Too short for either.
  EXPECT_EQ(reasons(read, "(open) (at 4.5 (not (open)))", "(and (seen) (any))"),
            Lines{"other plans, in which actions overlap, are not looked for"});
  // What is offered while an action runs, in a window.
  const std::string lamp =
      "(:durative-action lamp :parameters () :duration (= ?duration 4) :condition (at start (open))\n"
      " :effect (and (at start (lit)) (at end (not (lit)))))\n"
      "(:durative-action make :parameters () :duration (= ?duration 3) :condition (over all (lit)) :effect (at end "
      "(bought)))\n";
  const Lines lines = reasons(lamp, "(at 5 (open)) (at 9 (not (open)))", "(bought)");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "it needs concurrency that is not planned for: at the same time (lamp) and (make)");
  // One action at a time would do, at other times.
  EXPECT_EQ(reasons(kBuy, "(at 1 (open)) (at 3.002 (not (open)))", "(bought)"),
            Lines{"it needs times that are not planned for: 1.001: (buy) [2.000]"});
  // Closed for good before it opens.
  EXPECT_EQ(reasons(kBuy, "(open) (at 1 (not (open))) (at 2 (lit))", "(and (bought) (open))").back(),
            "plans in which different actions overlap do not reach the goal either");
}

TEST(TimedFacts, ADeadlineCountsTheTimeOfEveryStep) {
  const Task t = task(kBuy, "(open) (at 6 (not (open)))", "(and (bought) (home))");
  EXPECT_TRUE(t.validate(steps("(walk)\n(buy)")).valid);
  const Validation late = t.validate(steps("(walk)\n(walk)\n(buy)"));
  EXPECT_FALSE(late.valid);
  EXPECT_EQ(late.steps_executed, 2U);
  EXPECT_EQ(late.reason, "step 3 (buy): condition over all (open) is false");
  EXPECT_EQ(task(kBuy, "(at 5 (lit))", "(bought)").validate(steps("(buy)")).reason,
            "step 1 (buy): condition over all (open) is false, now and later");
  EXPECT_EQ(verdict(task(kBuy, "(open) (at 1.5 (not (open)))", "(bought)")), Verdict::kInfeasible);
  // The window is as long as the action, but the literals have their points to themselves.
  EXPECT_EQ(verdict(task(kBuy, "(at 1 (open)) (at 3 (not (open)))", "(bought)")), Verdict::kInfeasible);
  EXPECT_EQ(verdict(task(kBuy, "(at 1 (open)) (at 3.02 (not (open)))", "(bought)")), Verdict::kSolvable);
  const auto lookahead = Lookahead::compile(task(kBuy, "(open) (at 1.5 (not (open)))", "(bought)"), {});
  EXPECT_EQ(lookahead->reason().find("of plans that run one action at a time, each as early as it can begin at a "
                                     "multiple of 0.002: "),
            0U)
      << lookahead->reason();
}

TEST(TimedFacts, TheGoalIsJudgedWhenAllHasHappened) {
  const Task undone = task(kBuy, "(open) (at 20 (not (bought)))", "(bought)");
  EXPECT_FALSE(undone.validate(steps("(buy)")).valid);
  EXPECT_EQ(undone.validate(steps("(buy)")).unmet_goals, std::vector<std::string>{"(bought)"});
  EXPECT_TRUE(task(kBuy, "(at 3 (lit))", "(lit)").validate(steps("")).valid);
  EXPECT_TRUE(Lookahead::compile(task(kBuy, "(at 3 (lit))", "(lit)"), {})->plan().empty());
}

TEST(TimedFacts, PlainActionsWait) {
  const Task t = task("(:action look :parameters () :precondition (lit) :effect (seen))", "(at 4 (lit))", "(seen)");
  EXPECT_EQ(lines(make_schedule(t, steps("(look)"), ScheduleKind::kSequential)), "4.005: (look)\n");
  EXPECT_EQ(lines(make_schedule(t, steps("(look)"), ScheduleKind::kConcurrent)), "4.001: (look)\n");
}

// What a2 adds at its start for each of two things is one effect, and not one at all times: the literal undoes it.
TEST(TimedFacts, AnEffectThatIsStatedTwiceCountsOnce) {
  const Task t = load_pddl_text(
      "(define (domain d) (:requirements :adl :numeric-fluents :durative-actions :duration-inequalities "
      ":timed-initial-literals)\n"
      " (:predicates (p ?x) (q ?x) (r) (s ?x ?y))\n"
      " (:functions (f ?x) (g) (h ?x) (idle))\n"
      " (:durative-action a0 :parameters (?x) :duration (= ?duration 2)\n"
      "  :condition (and (at start (not (r))))\n"
      "  :effect (and (at end (q ?x)) (at end (p a))))\n"
      " (:action a1 :parameters (?x) :precondition (not (q ?x)) :effect (and (p ?x) (forall (?y) (when (s ?y b) (p "
      "a)))))\n"
      " (:durative-action a2 :parameters (?x) :duration (= ?duration (h ?x))\n"
      "  :condition (and)\n"
      "  :effect (and (at start (forall (?y) (when (r) (r)))) (at start (q ?x)) (at end (q ?x)) (at start (p ?x))))\n"
      " (:durative-action a3 :parameters (?x) :duration (and (>= ?duration 0.5) (<= ?duration 3.25))\n"
      "  :condition (and (at start (not (p a))) (over all (and (p ?x) (p a))) (forall (?y) (over all (q ?y))))\n"
      "  :effect (and (at end (r)) (at start (p ?x)) (at end (when (p ?x) (not (s ?x b))))))\n"
      ")\n",
      "(define (problem d) (:domain d) (:objects a b)\n"
      " (:init (= (idle) 0) (= (g) 2) (p a) (p b) (q a) (q b) (r) (s a b) (= (f a) 2) (= (h a) 0.5) (= (f b) 1) (= (h "
      "b) 2) (at 4 (not (r))))\n"
      " (:goal (and (not (q a)) (p b) (q a))))\n");
  State state = t.initial_state();
  for (int i = 0; i < 2; ++i) {
    const std::vector<ActionId> actions = t.applicable_actions(state);
    const auto step = std::find_if(actions.begin(), actions.end(), [&](ActionId a) { return t.text(a) == "(a2 b)"; });
    ASSERT_NE(step, actions.end());
    state = *t.apply(state, *step);
  }
  EXPECT_EQ(t.facts(state), std::vector<std::string>{"(now=later)"});
}

TEST(TimedFacts, SchedulesAreJudgedWithThem) {
  const Task t = task(kBuy, "(at 5 (open)) (at 9 (not (open)))", "(bought)");
  const auto judged = [&](const std::string& text) { return validate(t, parse_schedule(text, "plan").schedule); };
  EXPECT_TRUE(judged("5.001: (buy) [2]").valid);
  EXPECT_TRUE(judged("6.999: (buy) [2]").valid);
  EXPECT_EQ(judged("4.999: (buy) [2]").reason, "step 1 (buy): condition over all (open) is false at 4.999");
  EXPECT_EQ(judged("8.000: (buy) [2]").reason, "step 1 (buy): condition over all (open) is false at 9.000");
  const Task look = task("(:action look :parameters () :precondition (lit) :effect (seen))", "(at 4 (lit))", "(seen)");
  EXPECT_EQ(validate(look, parse_schedule("4.000: (look)", "plan").schedule).reason,
            "step 1 (look): precondition (lit) is false");
}

TEST(TimedFacts, RefusedByName) {
  const auto why = [](const std::string& rest, const std::string& init) {
    try {
      task(rest, init, "(bought)");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto says = [&](const std::string& rest, const std::string& init, const std::string& what) {
    EXPECT_NE(why(rest, init).find(what), std::string::npos) << why(rest, init);
  };
  EXPECT_EQ(why(kBuy, "(at 5 (open))"), "");
  says(kBuy, "(at 5 (= (fuel) 3))", "problem:1:46: error: a number that changes by itself");
  says(kBuy, "(at 5.0000001 (open))", "the time '5.0000001' cannot be counted");
  says(kBuy, "(at 5 (open)) (at 5.0 (not (open)))", "(open) becomes true and false at the same time, 5.000");
  says(std::string(kBuy) + "(:derived (any) (or (open) (lit)))", "(at 5 (open))",
       "the derived predicate 'any' depends on a timed initial literal");
  says("(:durative-action a :parameters () :duration (= ?duration (fuel)) :effect (at end (increase (fuel) 1)))",
       "(= (fuel) 1) (at 5 (open))", "a duration that depends on the state is not supported beside timed initial");
}

}  // namespace
}  // namespace metactrl::timed_test
