// Actions that may take several durations: what plans give them, what their schedules may give them, and what is said
// where there is no plan.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/schedule.h"
#include "task/program.h"

namespace metactrl::bounded_durations_test {
namespace {

// Charging adds as much as it takes; going needs 5.
std::string charging(const std::string& duration, const std::string& rest = "") {
  return "(define (domain d) (:requirements :adl :durative-actions :numeric-fluents :duration-inequalities)\n"
         " (:predicates (plugged) (done)) (:functions (battery) (most) (speed))\n"
         " (:durative-action charge :parameters () :duration " +
         duration +
         "\n  :condition (at start (plugged)) :effect (and (at start (not (plugged))) (at end (increase (battery) "
         "?duration))))\n"
         " (:durative-action go :parameters () :duration (= ?duration 3) :condition (at start (>= (battery) 5))\n"
         "  :effect (and (at start (decrease (battery) 5)) (at end (done))))\n" +
         rest + ")";
}

std::string charging_problem(const std::string& goal, const std::string& more = "") {
  return "(define (problem d) (:domain d) (:init (plugged) (= (battery) 0) " + more + ") (:goal " + goal + "))";
}

// The lamp gives light while it is on.
std::string lamp(const std::string& duration, const std::string& rest = "") {
  return "(define (domain w) (:requirements :adl :durative-actions :duration-inequalities :timed-initial-literals)\n"
         " (:predicates (light) (unused) (mended) (day) (open) (seen))\n"
         " (:durative-action lamp :parameters () :duration " +
         duration +
         "\n  :condition (at start (unused)) :effect (and (at start (not (unused))) (at start (light)) (at end (not "
         "(light)))))\n"
         " (:durative-action mend :parameters () :duration (= ?duration 4) :condition (over all (light))\n"
         "  :effect (at end (mended)))\n" +
         rest + ")";
}

std::string lamp_problem(const std::string& init = "(unused)", const std::string& goal = "(mended)") {
  return "(define (problem w) (:domain w) (:init " + init + ") (:goal " + goal + "))";
}

std::vector<PlanStep> plan_of(const Task& task, const Lookahead& lookahead) {
  std::vector<PlanStep> plan;
  for (const ActionId action : lookahead.plan()) plan.push_back(task.step(action));
  return plan;
}

// The schedule of the plan that is found, or why there is none.
std::string planned(const Task& task) {
  const auto lookahead = Lookahead::compile(task, {});
  if (lookahead->verdict() == Verdict::kInfeasible) return "infeasible: " + lookahead->reason();
  if (lookahead->verdict() == Verdict::kUndecided) return "undecided: " + lookahead->reason();
  std::string out;
  for (const TimedStep& step : make_schedule(task, plan_of(task, *lookahead), ScheduleKind::kSequential))
    out += to_string(step) + "\n";
  return out;
}

// What is wrong with the schedule.
std::string judged(const Task& task, const std::string& lines) {
  const Validation validation = validate(task, parse_schedule(lines, "plan").schedule);
  return validation.problem.empty() ? validation.reason : validation.problem;
}

TEST(BoundedDurations, ThePlanTakesWhatIsNeeded) {
  const Task task = load_pddl_text(charging("(and (>= ?duration 2) (<= ?duration 9))"), charging_problem("(done)"));
  EXPECT_EQ(planned(task), "0.000: (charge) [5.000]\n5.001: (go) [3.000]\n");
}

TEST(BoundedDurations, TheJudgeAcceptsWhatIsWithinAllBounds) {
  const Task task = load_pddl_text(
      charging(
          "(and (>= ?duration 2) (at start (>= ?duration (speed))) (at end (<= ?duration (most))) (<= ?duration 9))"),
      charging_problem("(done)", "(= (most) 8) (= (speed) 3)"));
  const auto charge = [&](const std::string& duration) {
    return judged(task, "0.000: (charge) [" + duration + "]\n20.000: (go) [3.000]\n");
  };
  EXPECT_EQ(charge("5.000"), "");
  EXPECT_EQ(charge("6.125"), "");
  EXPECT_EQ(charge("8.000"), "");
  EXPECT_EQ(charge("8.500"), "it takes at most 8, not 8.500");
  EXPECT_EQ(charge("2.500"), "it takes at least 3, not 2.500");
  // What it takes is what it charges.
  EXPECT_EQ(charge("4.500"), "condition at start (>= (battery) 5) is false: (battery) is 4.5");
  EXPECT_EQ(charge("3.000"), "condition at start (>= (battery) 5) is false: (battery) is 3");
}

TEST(BoundedDurations, ABoundThatIsRoundedIsTheBound) {
  const Task task = load_pddl_text(charging("(and (>= ?duration 1) (<= ?duration (/ 16 3)))"),
                                   charging_problem("(>= (* 3 (battery)) 16)"));
  EXPECT_EQ(planned(task), "0.000: (charge) [5.333333]\n");
  EXPECT_EQ(judged(task, "0.000: (charge) [5.333333]\n"), "");
  EXPECT_NE(judged(task, "0.000: (charge) [5.332]\n"), "");
}

TEST(BoundedDurations, WithOthersLeftNothingIsInfeasible) {
  // No number of these is the one that is needed, and nothing says which is.
  const Task task = load_pddl_text(charging("(and (>= ?duration 2) (<= ?duration 4))"),
                                   charging_problem("(= (* (battery) (battery)) 6.25)"));
  EXPECT_EQ(planned(task).substr(0, 11), "undecided: ");
  EXPECT_NE(planned(task).find("not tried: the durations of charge but for 2, 3, 4"), std::string::npos)
      << planned(task);
  EXPECT_EQ(judged(task, "0.000: (charge) [2.500]\n"), "");
}

TEST(BoundedDurations, WhatNoDurationReachesIsInfeasible) {
  const std::string assigns =
      "(:durative-action set :parameters () :duration (and (>= ?duration 2) (<= ?duration 9))\n"
      " :effect (at end (assign (speed) (* 2 ?duration))))";
  const Task task =
      load_pddl_text(charging("(= ?duration 1)", assigns), charging_problem("(>= (speed) 19)", "(= (speed) 0)"));
  EXPECT_EQ(planned(task).substr(0, 12), "infeasible: ");
  EXPECT_NE(planned(task).find("in which set takes one of 2, "), std::string::npos) << planned(task);
  const Task other =
      load_pddl_text(charging("(= ?duration 1)", assigns), charging_problem("(>= (speed) 17)", "(= (speed) 0)"));
  EXPECT_NE(planned(other).find("(set)"), std::string::npos) << planned(other);
}

TEST(BoundedDurations, BoundsThatExcludeEachOtherForbidTheAction) {
  const Task task = load_pddl_text(charging("(and (>= ?duration 2) (>= ?duration (speed)) (<= ?duration (most)))"),
                                   charging_problem("(done)", "(= (most) 6) (= (speed) 7)"));
  EXPECT_EQ(planned(task).substr(0, 12), "infeasible: ");
  EXPECT_NE(judged(task, "0.000: (charge) [6.500]\n"), "");
}

TEST(BoundedDurations, WhatDoesNotMatterIsNotChosen) {
  const Task task = load_pddl_text(charging("(= ?duration 1)",
                                            "(:durative-action rest :parameters () :duration (>= ?duration 2) :effect "
                                            "(at end (done)))"),
                                   charging_problem("(and (done) (>= (battery) 2))"));
  EXPECT_EQ(task.num_action_names(), 3U);
  EXPECT_EQ(planned(task).substr(0, 12), "infeasible: ");
  EXPECT_EQ(judged(task, "0.000: (rest) [100.000]\n"),
            "the goal is not reached: (>= (battery) 2) does not hold at the end");
}

TEST(BoundedDurations, AHostTakesTheLargest) {
  const Task task = load_pddl_text(lamp("(and (>= ?duration 1) (<= ?duration 9))"), lamp_problem());
  EXPECT_EQ(planned(task), "0.000: (lamp) [9.000]\n0.001: (mend) [4.000]\n");
  EXPECT_EQ(judged(task, "0.000: (lamp) [4.500]\n0.001: (mend) [4.000]\n"), "");
  EXPECT_NE(judged(task, "0.000: (lamp) [3.500]\n0.001: (mend) [4.000]\n"), "");
  // Where the largest has no room, none has.
  EXPECT_EQ(planned(load_pddl_text(lamp("(and (>= ?duration 1) (<= ?duration 3))"), lamp_problem())).substr(0, 12),
            "infeasible: ");
  EXPECT_EQ(planned(load_pddl_text(lamp("(>= ?duration 1)"), lamp_problem())).substr(0, 11), "undecided: ");
}

TEST(BoundedDurations, WhatMustOverlapIsStretched) {
  // Beside derived predicates nothing runs inside others.
  const Task task =
      load_pddl_text(lamp("(and (>= ?duration 1) (<= ?duration 9))", "(:derived (seen) (mended))"), lamp_problem());
  EXPECT_EQ(planned(task).substr(0, 12), "infeasible: ");
  const WhyInfeasible why = why_infeasible(task);
  ASSERT_EQ(why.reasons.size(), 2U);
  EXPECT_EQ(why.reasons[0], "it needs concurrency that is not planned for: at the same time (lamp) and (mend)");
}

TEST(BoundedDurations, BesideWhatHappensByItselfTheLargestIsTried) {
  const std::string watch =
      "(:durative-action watch :parameters () :duration (and (>= ?duration 1) (<= ?duration 9)) :condition (and (at "
      "start (day)) (at end (open))) :effect (at end (seen)))";
  const Task task =
      load_pddl_text(lamp("(= ?duration 1)", watch), lamp_problem("(day) (at 2 (not (day))) (at 6 (open))", "(seen)"));
  EXPECT_NE(planned(task).find("(watch) [9.000]"), std::string::npos) << planned(task);
  // In between there may be another one.
  const Task other =
      load_pddl_text(lamp("(= ?duration 1)", watch),
                     lamp_problem("(day) (at 2 (not (day))) (at 6 (open)) (at 7 (not (open)))", "(seen)"));
  EXPECT_EQ(planned(other).substr(0, 11), "undecided: ");
  EXPECT_EQ(judged(other, "0.000: (watch) [6.500]\n"), "");
}

TEST(BoundedDurations, TheMetricIsOfWhatIsGiven) {
  std::string problem = charging_problem("(done)");
  problem.insert(problem.rfind(')'), "(:metric minimize (total-time))");
  const Task task = load_pddl_text(charging("(and (>= ?duration 2) (<= ?duration 9))"), problem);
  const Validation validation =
      validate(task, parse_schedule("0.000: (charge) [6.000]\n6.001: (go) [3.000]\n", "plan").schedule);
  ASSERT_TRUE(validation.valid) << validation.reason;
  EXPECT_DOUBLE_EQ(validation.cost, 9);
  const Schedule schedule = parse_schedule("0.000: (charge) [6.000]\n6.001: (go) [3.000]\n", "plan").schedule;
  EXPECT_NEAR(*metric_of(task, schedule), 9.001, 1e-9);
}

TEST(BoundedDurations, TheyAreToldWhereTheyMatter) {
  const auto told = [](const std::string& domain, const std::string& problem) {
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    load_pddl_text(domain, problem, options);
    return diagnostics.items().empty() ? std::string() : diagnostics.items()[0].message;
  };
  EXPECT_EQ(told(charging("(and (>= ?duration 2) (<= ?duration 9))"), charging_problem("(done)")),
            "of the durations of charge plans use 2, 3, 4, 5, 6, 7, 8, 9; others are never tried");
  EXPECT_EQ(
      told(charging("(and (>= ?duration 2) (<= ?duration (most)))"), charging_problem("(done)", "(= (most) 900)")),
      "of the durations of charge plans use 2, 5, the largest; others are never tried");
  EXPECT_EQ(told(lamp("(and (>= ?duration 1) (<= ?duration 9))", ""), lamp_problem()),
            "of the durations of lamp plans use 1, 9; others are never tried");
  EXPECT_EQ(told(lamp("(and (>= ?duration 9) (<= ?duration 9))", ""), lamp_problem()), "");
}

TEST(BoundedDurations, NumbersOfTheEndAreRefused) {
  try {
    load_pddl_text(charging("(at end (<= ?duration (battery)))"), charging_problem("(done)"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("a duration that depends on numbers at the end is not supported"),
              std::string::npos)
        << error.what();
  }
}

TEST(BoundedDurations, OrdersOfActionsSpeakOfAllOfThem) {
  const std::string domain = charging("(and (>= ?duration 2) (<= ?duration 9))");
  const Task task = load_pddl_text(domain,
                                   "(define (problem d) (:domain d) (:init (plugged) (= (battery) 0)) (:goal (done)) "
                                   "(:constraints (actions-in-order "
                                   "charge go)))");
  EXPECT_EQ(planned(task), "0.000: (charge) [5.000]\n5.001: (go) [3.000]\n");
}

}  // namespace
}  // namespace metactrl::bounded_durations_test
