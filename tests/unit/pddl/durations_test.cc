// Actions that take time, example by example: what each point asks for, schedules, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lookahead/concurrency.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/schedule.h"

namespace metactrl::durations_test {
namespace {

std::string domain(const std::string& rest) {
  return "(define (domain d) (:requirements :adl :numeric-fluents :durative-actions :duration-inequalities)\n"
         "(:types place robot) (:predicates (at ?r - robot ?p - place) (p) (q) (r) (done ?r - robot))\n"
         "(:functions (way ?a ?b - place) (fuel) (driven))\n" +
         rest + ")";
}

std::string problem(const std::string& init, const std::string& goal) {
  return "(define (problem d) (:domain d) (:objects a b - place x y - robot)\n(:init " + init + ") (:goal " + goal +
         "))";
}

std::vector<PlanStep> steps(const std::string& text) { return parse_plan(text, "plan"); }

std::string lines(const Schedule& schedule) {
  std::string out;
  for (const TimedStep& step : by_start(schedule)) out += to_string(step) + "\n";
  return out;
}

constexpr const char* kDrive =
    "(:durative-action drive :parameters (?r - robot ?a ?b - place) :duration (= ?duration (way ?a ?b))\n"
    " :condition (at start (at ?r ?a)) :effect (and (at start (not (at ?r ?a))) (at end (at ?r ?b))))\n"
    "(:durative-action work :parameters (?r - robot) :duration (= ?duration 2)\n"
    " :condition (over all (at ?r b)) :effect (at end (done ?r)))\n";

TEST(Durations, SequentialAndConcurrent) {
  const Task task =
      load_pddl_text(domain(kDrive), problem("(at x a) (at y a) (= (way a b) 2.5)", "(and (done x) (done y))"));
  EXPECT_TRUE(has_durations(task));
  const std::vector<PlanStep> plan = steps("(drive x a b)\n(work x)\n(drive y a b)\n(work y)\n");
  EXPECT_TRUE(task.validate(plan).valid);
  EXPECT_EQ(lines(make_schedule(task, plan, ScheduleKind::kSequential)),
            "0.000: (drive x a b) [2.500]\n2.501: (work x) [2.000]\n"
            "4.502: (drive y a b) [2.500]\n7.003: (work y) [2.000]\n");
  const Schedule early = make_schedule(task, plan, ScheduleKind::kConcurrent);
  EXPECT_EQ(lines(early),
            "0.000: (drive x a b) [2.500]\n0.000: (drive y a b) [2.500]\n"
            "2.501: (work x) [2.000]\n2.501: (work y) [2.000]\n");
  EXPECT_EQ(time_text(makespan(early)), "4.501");
  EXPECT_EQ(overlaps(early).size(), 2U);
}

TEST(Durations, EachPointIsJudgedInItsState) {
  const Task task =
      load_pddl_text(domain("(:durative-action own :parameters () :duration (= ?duration 1) :condition (and (over all "
                            "(p)) (at end (not (q))))\n"
                            " :effect (and (at start (p)) (at start (not (q))) (at end (not (p))) (at end (r))))"),
                     problem("(q)", "(and (r) (not (p)) (not (q)))"));
  EXPECT_TRUE(task.validate(steps("(own)")).valid);
  const auto lookahead = Lookahead::compile(task, {});
  EXPECT_EQ(lookahead->verdict(), Verdict::kSolvable);
  EXPECT_EQ(lookahead->plan().size(), 1U);
}

TEST(Durations, ReasonsNameThePoint) {
  const Task task = load_pddl_text(
      domain("(:durative-action one :parameters () :duration (= ?duration 1) :condition (at start (p)) :effect (at end "
             "(r)))\n"
             "(:durative-action two :parameters () :duration (= ?duration 1) :condition (over all (p)) :effect (and "
             "(at start (not (p)))\n"
             "(at end (r))))\n"
             "(:durative-action three :parameters () :duration (= ?duration 1) :condition (at end (q)) :effect (at end "
             "(r)))\n"
             "(:durative-action four :parameters () :duration (= ?duration (fuel)) :effect (at end (r)))"),
      problem("(= (fuel) -1)", "(r)"));
  EXPECT_EQ(task.validate(steps("(one)")).problem, "condition at start (p) is false");
  EXPECT_EQ(task.validate(steps("(two)")).problem, "condition over all (p) is false");
  EXPECT_EQ(task.validate(steps("(three)")).problem, "condition at end (q) is false");
  EXPECT_EQ(task.validate(steps("(four)")).problem, "condition at start (>= (fuel) 0) is false: (fuel) is -1");
}

TEST(Durations, NumbersAndDuration) {
  const Task task = load_pddl_text(
      domain("(:durative-action burn :parameters () :duration (= ?duration (/ (fuel) 2)) :condition (at start (>= "
             "(fuel) 2))\n"
             " :effect (and (at end (decrease (fuel) ?duration)) (at end (increase (driven) ?duration))))"),
      problem("(= (fuel) 8) (= (driven) 0)", "(<= (fuel) 1)"));
  const std::vector<PlanStep> plan = steps("(burn)\n(burn)\n(burn)\n");
  EXPECT_TRUE(task.validate(plan).valid) << task.validate(plan).reason;
  EXPECT_EQ(lines(make_schedule(task, plan, ScheduleKind::kConcurrent)),
            "0.000: (burn) [4.000]\n4.001: (burn) [2.000]\n6.002: (burn) [1.000]\n");
  EXPECT_EQ(Lookahead::compile(task, {})->plan().size(), 3U);
}

TEST(Durations, BoundsGiveTheSmallest) {
  const auto duration = [](const std::string& text) {
    const Task task =
        load_pddl_text(domain("(:durative-action a :parameters () :duration " + text + " :effect (at end (r)))"),
                       problem("(= (fuel) 3)", "(r)"));
    const std::vector<PlanStep> plan = steps("(a)");
    if (!task.validate(plan).valid) return std::string("none");
    return time_text(make_schedule(task, plan, ScheduleKind::kSequential)[0].duration);
  };
  EXPECT_EQ(duration("(= ?duration 5)"), "5.000");
  EXPECT_EQ(duration("(and (>= ?duration (fuel)) (<= ?duration 4))"), "3.000");
  EXPECT_EQ(duration("(and (<= ?duration 4) (>= ?duration 2.5))"), "2.500");
  EXPECT_EQ(duration("(<= ?duration 4)"), "0.001");
  EXPECT_EQ(duration("()"), "0.001");
  EXPECT_EQ(duration("(and (>= ?duration 5) (<= ?duration (fuel)))"), "none");
  EXPECT_EQ(duration("(= ?duration 0)"), "0.000");
  EXPECT_EQ(duration("(= ?duration (/ 1 3))"), "0.333333");
}

TEST(Durations, ThoseThatCannotBeAreTold) {
  const auto told = [](const std::string& duration, const std::string& effect) {
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    try {
      load_pddl_text(domain("(:durative-action a :parameters () :duration " + duration + " :effect " + effect + ")"),
                     problem("", "(r)"), options);
    } catch (const InputError&) {
    }
    return diagnostics.items().empty() ? std::string() : diagnostics.items()[0].message;
  };
  const std::string plain = "(at end (r))";
  EXPECT_EQ(told("(= ?duration 5)", plain), "");
  EXPECT_EQ(told("(= ?duration -2)", plain), "action 'a' can never be taken: its duration is -2");
  EXPECT_EQ(told("(and (>= ?duration 5) (<= ?duration 2))", plain),
            "action 'a' can never be taken: its duration is 5, which is not <= 2");
  EXPECT_EQ(told("(= ?duration 0)", plain), "");
  EXPECT_EQ(told("(= ?duration 0)", "(and (at start (not (r))) (at end (r)))"),
            "action 'a' can never be taken: it takes no time, and its start and end concern the same things");
  EXPECT_EQ(told("(= ?duration 99999999999999)", plain),
            "the duration 99999999999999 of action 'a' is too large to be counted");
}

// Only one may be under way: at its start it takes what it gives back at its end.
TEST(Durations, CapacityIsBounded) {
  const Task task = load_pddl_text(
      domain("(:durative-action use :parameters (?r - robot) :duration (= ?duration 3) :condition (at start (>= (fuel) "
             "1))\n"
             " :effect (and (at start (decrease (fuel) 1)) (at end (increase (fuel) 1)) (at end (done ?r))))"),
      problem("(= (fuel) 1)", "(and (done x) (done y))"));
  EXPECT_EQ(Lookahead::compile(task, {})->verdict(), Verdict::kSolvable);
  const Schedule early = make_schedule(task, steps("(use x)\n(use y)\n"), ScheduleKind::kConcurrent);
  EXPECT_TRUE(overlaps(early).empty());
}

// What its end does to a number cannot be put off, so nothing runs inside it.
TEST(Durations, EnvelopeNeedsConcurrency) {
  const std::string text = domain(
      "(:durative-action light :parameters () :duration (= ?duration 5) :effect (and (at start (p)) (at end (not "
      "(p))) (at end (decrease (fuel) 1))))\n"
      "(:durative-action mend :parameters () :duration (= ?duration 2) :condition (and (over all (p)) (at start (> "
      "(fuel) 0))) :effect (at end (r)))");
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  const Task task = load_pddl_text(text, problem("(= (fuel) 5)", "(r)"), options);
  ASSERT_EQ(diagnostics.num_warnings(), 1U);
  EXPECT_EQ(diagnostics.items()[0].message, "(light) makes (p) true only while it runs, and mend needs it");
  EXPECT_EQ(Lookahead::compile(task, {})->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(why_infeasible(task).reasons,
            (std::vector<std::string>{
                "it needs concurrency that is not planned for: at the same time (light) and (mend)",
                "(light) makes (p) true only while it runs, and mend needs it; nothing runs inside it, since it "
                "changes numbers at its end"}));
  // The judge knows such schedules.
  const Validation both = validate(task, parse_schedule("0: (light) [5]\n1: (mend) [2]\n", "plan").schedule);
  EXPECT_TRUE(both.valid) << both.reason;
  const Validation late = validate(task, parse_schedule("0: (light) [5]\n4: (mend) [2]\n", "plan").schedule);
  EXPECT_FALSE(late.valid);
  EXPECT_EQ(late.reason, "step 2 (mend): condition over all (p) is false at 5.000");
}

TEST(Durations, WhatIsFalseOnlyWhileAnActionRunsNeedsConcurrency) {
  const Task task = load_pddl_text(
      domain("(:durative-action shine :parameters () :duration (= ?duration 5) :effect (and (at start (not (p))) (at "
             "end (p))))\n"
             "(:durative-action read :parameters () :duration (= ?duration 2) :condition (over all (not (p))) :effect "
             "(at end (r)))"),
      problem("(p)", "(r)"));
  EXPECT_EQ(Lookahead::compile(task, {})->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(
      why_infeasible(task).reasons,
      std::vector<std::string>{"it needs concurrency that is not planned for: at the same time (shine) and (read)"});
}

// A number that grows keeps the task from being decided, and mend asks for it.
TEST(Durations, WhatMayHaveToOverlapIsNamedWhereNothingIsDecided) {
  const std::string more =
      "(:durative-action more :parameters () :duration (= ?duration 1) :effect (at end (increase (fuel) 1)))\n"
      "(:durative-action less :parameters () :duration (= ?duration 1) :effect (at end (decrease (fuel) 1)))\n";
  const std::string shine =
      "(:durative-action shine :parameters () :duration (= ?duration 5) :effect (and (at start (not (p))) (at end "
      "(p))))\n"
      "(:durative-action read :parameters () :duration (= ?duration 2) :condition (and (at start (> (fuel) 1)) (over "
      "all "
      "(not (p)))) :effect (at end (r)))\n";
  const Task task = load_pddl_text(domain(more + shine), problem("(p) (= (fuel) 0)", "(r)"));
  EXPECT_EQ(Lookahead::compile(task, {})->verdict(), Verdict::kUndecided);
  EXPECT_EQ(lookahead::why_undecided(task, {}),
            "it needs concurrency that is not planned for: at the same time (shine) and (read)");
  // A goal of facts alone is decided whatever grows.
  const Task other = load_pddl_text(domain(more + kDrive), problem("(at x a) (= (way a b) 2)", "(done y)"));
  EXPECT_EQ(Lookahead::compile(other, {})->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(
      lookahead::why_undecided(load_pddl_text(domain(kDrive), problem("(at x a) (= (way a b) 2)", "(done x)")), {}),
      "");
}

// Both need (p), and each takes it at its start.
TEST(Durations, OverlappingMayBeNoHelp) {
  const Task task = load_pddl_text(
      domain("(:durative-action go :parameters (?r - robot) :duration (= ?duration 5) :condition (at start (p))\n"
             " :effect (and (at start (not (p))) (at end (done ?r))))"),
      problem("(p)", "(and (done x) (done y))"));
  EXPECT_EQ(why_infeasible(task).reasons,
            (std::vector<std::string>{
                "these goals exclude each other: (done x), (done y); each can be reached, but not all of them together",
                "plans in which different actions overlap do not reach the goal either"}));
}

// The cost adds durations up, and nothing that is the same for all plans; the metric of a schedule is what the file says.
TEST(Durations, AMetricOfTimeIsThatOfTheSchedule) {
  const std::string use = domain(
      "(:durative-action use :parameters (?r - robot) :duration (= ?duration 3)\n"
      " :effect (and (at end (increase (driven) 2)) (at end (done ?r))))");
  const auto task_with = [&](const std::string& metric) {
    const std::string text = problem("(= (driven) 7)", "(and (done x) (done y))");
    return load_pddl_text(use, text.substr(0, text.size() - 1) + metric + ")");
  };
  const std::vector<PlanStep> plan = steps("(use x)\n(use y)\n");
  const auto metric = [&](const Task& task, ScheduleKind kind) {
    return metric_of(task, make_schedule(task, plan, kind));
  };
  const Task least = task_with("(:metric minimize (+ (* 2 (total-time)) (driven) 100))");
  EXPECT_DOUBLE_EQ(least.validate(plan).cost, 16);
  EXPECT_DOUBLE_EQ(metric(least, ScheduleKind::kSequential).value_or(0), 2 * 6.001 + 11 + 100);
  EXPECT_DOUBLE_EQ(metric(least, ScheduleKind::kConcurrent).value_or(0), 2 * 3 + 11 + 100);
  const Task most = task_with("(:metric maximize (- 50 (total-time)))");
  EXPECT_DOUBLE_EQ(most.validate(plan).cost, 6);
  EXPECT_DOUBLE_EQ(metric(most, ScheduleKind::kConcurrent).value_or(0), 47);
  const Task timeless = task_with("(:metric minimize (driven))");
  EXPECT_EQ(metric(timeless, ScheduleKind::kConcurrent), std::nullopt);
  const Schedule half = {make_schedule(least, plan, ScheduleKind::kConcurrent).front()};
  EXPECT_EQ(metric_of(least, half), std::nullopt);
}

TEST(Durations, PointsThatTouchMustNotCoincide) {
  const Task task =
      load_pddl_text(domain("(:durative-action give :parameters () :duration (= ?duration 1) :effect (at end (p)))\n"
                            "(:durative-action take :parameters () :duration (= ?duration 1) :condition (at start (p)) "
                            ":effect (at end (r)))"),
                     problem("(p)", "(r)"));
  const auto judge = [&](const std::string& text) { return validate(task, parse_schedule(text, "plan").schedule); };
  EXPECT_EQ(judge("0: (give) [1]\n1: (take) [1]\n").reason,
            "step 2 (take): its start coincides with the end of (give), and both concern (p)");
  EXPECT_TRUE(judge("0: (give) [1]\n1.001: (take) [1]\n").valid);
  EXPECT_TRUE(judge("0: (give) [1]\n0.999: (take) [1]\n").valid);
  EXPECT_EQ(judge("0: (take) [2]\n").problem, "it takes 1, not 2.000");
  EXPECT_EQ(judge("0: (take)\n").problem, "it takes time, and has no duration here");
  EXPECT_EQ(judge("0: (give) [1]\n").reason, "the goal is not reached: (r) does not hold at the end");
}

TEST(Durations, ForallAndWhenAtEachPoint) {
  const Task task = load_pddl_text(
      domain("(:durative-action all :parameters () :duration (= ?duration 1)\n"
             " :condition (forall (?r - robot) (and (at start (at ?r a)) (over all (not (at ?r a)))))\n"
             " :effect (and (forall (?r - robot) (at start (not (at ?r a)))) (when (at end (p)) (at end (q)))\n"
             "  (at start (p)) (at end (forall (?r - robot) (when (not (at ?r a)) (done ?r))))))"),
      problem("(at x a) (at y a)", "(and (done x) (done y) (q))"));
  EXPECT_TRUE(task.validate(steps("(all)")).valid);
  EXPECT_EQ(Lookahead::compile(task, {})->plan().size(), 1U);
}

TEST(Durations, PlanWithoutTimesHasNoSchedule) {
  const Task task = load_pddl_text("(define (domain d) (:predicates (p)) (:action a :effect (p)))",
                                   "(define (problem p) (:domain d) (:init) (:goal (p)))");
  EXPECT_FALSE(has_durations(task));
  EXPECT_THROW(make_schedule(task, steps("(a)"), ScheduleKind::kSequential), InputError);
  const Task timed = load_pddl_text(domain(kDrive), problem("(at x a) (= (way a b) 1)", "(at x b)"));
  EXPECT_THROW(make_schedule(timed, steps("(drive x b a)"), ScheduleKind::kSequential), InputError);
}

TEST(Durations, MetricsOfTimeAndFunctions) {
  const std::string ways =
      "(:durative-action slow :parameters () :duration (= ?duration 9) :effect (and (at end (r)) (at start (increase "
      "(fuel) 1))))\n"
      "(:durative-action fast :parameters () :duration (= ?duration (* 2 (driven))) :effect (and (at end (r)) (at end "
      "(increase (fuel) 5))))\n"
      "(:action jump :parameters () :effect (and (p) (increase (fuel) 2)))\n";
  const auto cost = [&](const std::string& metric, const std::string& plan) {
    std::string text = problem("(= (fuel) 0) (= (driven) 2)", "(r)");
    text.insert(text.size() - 1, " (:metric " + metric + ")");
    const Task task = load_pddl_text(domain(ways), text);
    EXPECT_EQ(task.has_costs(), metric.find("ignored") == std::string::npos);
    for (std::uint32_t i = 0; i < task.num_actions(); ++i) {
      const std::vector<PlanStep> one = {task.step(ActionId{i})};
      EXPECT_DOUBLE_EQ(task.cost(ActionId{i}), task.validate(one).cost);
    }
    return task.validate(steps(plan)).cost;
  };
  EXPECT_DOUBLE_EQ(cost("minimize (total-time)", "(slow)"), 9);
  EXPECT_DOUBLE_EQ(cost("minimize (total-time)", "(jump)\n(fast)"), 4);
  EXPECT_DOUBLE_EQ(cost("minimize (+ (* 2 (total-time)) (/ (fuel) 10))", "(jump)\n(fast)"), 8.7);
  EXPECT_DOUBLE_EQ(cost("maximize (- 7 (* (fuel) 3))", "(slow)"), 3);
}

// What a metric cannot be is told with what to write; a preference is counted by its name alone.
TEST(Durations, MetricsOfFunctionsWithArgumentsSayWhatToWrite) {
  const std::string text =
      "(define (domain d) (:requirements :numeric-fluents :preferences) (:predicates (p ?x)) (:functions (fuel ?x))"
      "(:action a :parameters (?x) :effect (and (p ?x) (increase (fuel ?x) 1))))";
  const auto said = [&](const std::string& metric) {
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    try {
      load_pddl_text(
          text,
          "(define (problem q) (:domain d) (:objects b c) (:init (= (fuel b) 0) (= (fuel c) 0)) (:goal (and (p "
          "b) (preference w (p c)))) (:metric minimize " +
              metric + "))",
          options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return diagnostics.items().empty() ? std::string() : diagnostics.items().front().hint;
  };
  const std::string instead =
      "; instead of (fuel b), minimize a function without arguments that the same effects change";
  EXPECT_TRUE(said("(fuel b)").ends_with(instead)) << said("(fuel b)");
  EXPECT_TRUE(said("(+ (total-time) (* 2 (fuel b)) (fuel c))").ends_with(instead));
  EXPECT_EQ(said("(total-time)"), "no action takes time: each counts as one step");
  EXPECT_NE(said("(is-violated w b)").find(": error: (is-violated w b) is not (is-violated NAME); it takes the name"),
            std::string::npos)
      << said("(is-violated w b)");
}

TEST(Durations, AMetricOfCostAndTimeCountsSteps) {
  const std::string plain =
      "(define (domain d) (:requirements :action-costs) (:predicates (p) (q)) (:functions (total-cost))\n"
      "(:action one :parameters () :effect (and (q) (increase (total-cost) 1)))\n"
      "(:action two :parameters () :precondition (q) :effect (and (p) (increase (total-cost) 1)))\n"
      "(:action dear :parameters () :effect (and (p) (increase (total-cost) 100))))";
  const auto cost = [&](const std::string& metric, const std::string& plan) {
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    const Task task = load_pddl_text(plain,
                                     "(define (problem d) (:domain d) (:init (= (total-cost) 0)) (:goal (p)) "
                                     "(:metric minimize " +
                                         metric + "))",
                                     options);
    return task.validate(steps(plan)).cost;
  };
  EXPECT_EQ(cost("(+ (total-cost) (total-time))", "(one)\n(two)"), 4);
  EXPECT_EQ(cost("(+ (total-cost) (total-time))", "(dear)"), 101);
  EXPECT_EQ(cost("(+ (* 2 (total-cost)) (* 0.5 (total-time)))", "(one)\n(two)"), 5);
  EXPECT_EQ(cost("(total-cost)", "(dear)"), 100);
}

TEST(Durations, RefusedByName) {
  const auto why = [](const std::string& rest, const std::string& goal) {
    try {
      load_pddl_text(domain(rest), problem("(= (fuel) 1)", goal));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string a = "(:durative-action a :parameters () :duration (= ?duration 1) :effect (at end (r)))";
  EXPECT_EQ(why(a, "(r)"), "");
  EXPECT_NE(
      why("(:derived (q) (p)) (:durative-action a :parameters () :duration (= ?duration 1) :condition (over all (q))\n"
          ":effect (and (at start (p)) (at end (r))))",
          "(r)")
          .find("the derived predicate 'q' is read after effects at the start"),
      std::string::npos);
}

}  // namespace
}  // namespace metactrl::durations_test
