// Actions that run inside others, example by example: what fits, what ends when, schedules, and where it is not done.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/schedule.h"

namespace metactrl::hosts_test {
namespace {

std::string domain(const std::string& rest) {
  return "(define (domain d) (:requirements :adl :numeric-fluents :durative-actions :derived-predicates)\n"
         "(:types match fuse)\n"
         "(:predicates (free) (unused ?m - match) (light ?m - match) (mended ?f - fuse) (hot) (ready) (done) (out))\n"
         "(:functions (fuel))\n" +
         rest + ")";
}

std::string problem(const std::string& init, const std::string& goal) {
  return "(define (problem p) (:domain d) (:objects m n - match f g h - fuse)\n(:init " + init + ") (:goal " + goal +
         "))";
}

// Of match-cellar (IPC 2011).
constexpr const char* kCellar =
    "(:durative-action light-match :parameters (?m - match) :duration (= ?duration 5)\n"
    " :condition (at start (unused ?m))\n"
    " :effect (and (at start (not (unused ?m))) (at start (light ?m)) (at end (not (light ?m)))))\n"
    "(:durative-action mend-fuse :parameters (?f - fuse ?m - match) :duration (= ?duration 2)\n"
    " :condition (and (at start (free)) (over all (light ?m)))\n"
    " :effect (and (at start (not (free))) (at end (free)) (at end (mended ?f))))\n"
    "(:durative-action rest :parameters () :duration (= ?duration 4) :effect (at end (done)))\n";
constexpr const char* kTwoMatches = "(free) (unused m) (unused n)";
constexpr const char* kThreeFuses = "(and (mended f) (mended g) (mended h))";

Task cellar() { return load_pddl_text(domain(kCellar), problem(kTwoMatches, kThreeFuses)); }

std::vector<PlanStep> steps(const std::string& text) { return parse_plan(text, "plan"); }

std::string lines(const Schedule& schedule) {
  std::string out;
  for (const TimedStep& step : schedule) out += to_string(step) + "\n";
  return out;
}

std::string sequential(const Task& task, const std::string& plan) {
  return lines(make_schedule(task, steps(plan), ScheduleKind::kSequential));
}

std::string concurrent(const Task& task, const std::string& plan) {
  return lines(make_schedule(task, steps(plan), ScheduleKind::kConcurrent));
}

TEST(Hosts, WhatANeedsRunsInsideIt) {
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  const Task task = load_pddl_text(domain(kCellar), problem(kTwoMatches, kThreeFuses), options);
  EXPECT_EQ(diagnostics.num_warnings(), 0U);
  const auto lookahead = Lookahead::compile(task, {});
  EXPECT_EQ(lookahead->verdict(), Verdict::kSolvable);
  EXPECT_EQ(lookahead->plan().size(), 5U);
  const std::string plan = "(light-match m)\n(mend-fuse f m)\n(mend-fuse g m)\n(light-match n)\n(mend-fuse h n)\n";
  EXPECT_TRUE(task.validate(steps(plan)).valid) << task.validate(steps(plan)).reason;
  EXPECT_EQ(sequential(task, plan),
            "0.000: (light-match m) [5.000]\n0.001: (mend-fuse f m) [2.000]\n2.002: (mend-fuse g m) [2.000]\n"
            "5.001: (light-match n) [5.000]\n5.002: (mend-fuse h n) [2.000]\n");
  // The second match need not wait for the first one's end, but its own must not come before that of the last fuse.
  EXPECT_EQ(concurrent(task, plan),
            "0.000: (light-match m) [5.000]\n0.001: (mend-fuse f m) [2.000]\n2.002: (mend-fuse g m) [2.000]\n"
            "1.004: (light-match n) [5.000]\n4.003: (mend-fuse h n) [2.000]\n");
}

TEST(Hosts, OnlySoMuchFits) {
  const Task task = cellar();
  const Validation third = task.validate(steps("(light-match m)\n(mend-fuse f m)\n(mend-fuse g m)\n(mend-fuse h m)\n"));
  EXPECT_EQ(third.steps_executed, 3U);
  EXPECT_EQ(third.reason,
            "step 4 (mend-fuse h m): condition over all (light m) is false; inside (light-match m) it takes longer "
            "than is left");
  EXPECT_EQ(task.validate(steps("(mend-fuse f m)\n")).problem, "condition over all (light m) is false");
  const Task one = load_pddl_text(domain(kCellar), problem("(free) (unused m)", kThreeFuses));
  const auto lookahead = Lookahead::compile(one, {});
  EXPECT_EQ(lookahead->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(lookahead->reason().find("of plans that run one action at a time, inside light-match too: "), 0U);
  EXPECT_EQ(
      why_infeasible(one).reasons,
      std::vector<std::string>{"it may need concurrency that is not planned for: at the same time (light-match m) and "
                               "(mend-fuse f m), (light-match m) and (mend-fuse g m), (light-match m) and (mend-fuse h "
                               "m)"});
}

// Cooling must begin while it is hot, and end behind the end of heating.
TEST(Hosts, WhatEndsBehindItsHostIsNamed) {
  const Task task = load_pddl_text(
      domain("(:durative-action heat :parameters () :duration (= ?duration 5)\n"
             " :effect (and (at start (hot)) (at end (not (hot))) (at end (not (done))) (at end (ready))))\n"
             "(:durative-action cool :parameters () :duration (= ?duration 4) :condition (at start (hot)) :effect (at "
             "end (done)))\n"
             "(:durative-action rest :parameters () :duration (= ?duration 1) :effect (at end (out)))\n"),
      problem("", "(and (done) (out))"));
  EXPECT_EQ(Lookahead::compile(task, {})->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(why_infeasible(task).reasons,
            std::vector<std::string>{"it needs concurrency that is not planned for: at the same time (heat) and "
                                     "(cool), which ends behind it"});
}

TEST(Hosts, WhatHasNothingToDoWithAHostLetsItRun) {
  const Task task = cellar();
  const std::string plan = "(light-match m)\n(rest)\n(mend-fuse f m)\n";
  EXPECT_EQ(task.validate(steps(plan)).steps_executed, 2U);
  // It takes four of five seconds, and one after the other is how it is carried out where that is possible.
  EXPECT_EQ(sequential(task, "(light-match m)\n(rest)\n"), "0.000: (light-match m) [5.000]\n5.001: (rest) [4.000]\n");
}

TEST(Hosts, APlanOneActionAtATimeStaysOne) {
  // It could run inside the host, but then the host's end would undo it.
  const Task task = load_pddl_text(
      domain("(:durative-action heat :parameters () :duration (= ?duration 5)\n"
             " :effect (and (at start (hot)) (at end (not (hot))) (at end (not (done)))))\n"
             "(:durative-action look :parameters () :duration (= ?duration 1) :condition (at start (hot)) :effect (at "
             "end (ready)))\n"
             "(:durative-action work :parameters () :duration (= ?duration 1) :effect (at end (done)))\n"),
      problem("", "(and (ready) (done))"));
  EXPECT_TRUE(task.validate(steps("(heat)\n(look)\n(work)\n")).valid);
  EXPECT_EQ(sequential(task, "(heat)\n(look)\n(work)\n"),
            "0.000: (heat) [5.000]\n0.001: (look) [1.000]\n5.001: (work) [1.000]\n");
  EXPECT_FALSE(task.validate(steps("(work)\n(heat)\n(look)\n")).valid);
  EXPECT_EQ(Lookahead::compile(task, {})->plan().size(), 3U);
}

TEST(Hosts, HostsInsideHosts) {
  const std::string nested =
      "(:durative-action fire :parameters () :duration (= ?duration 8) :effect (and (at start (hot)) (at end (not "
      "(hot)))))\n"
      "(:durative-action bake :parameters () :duration (= ?duration 5) :condition (over all (hot))\n"
      " :effect (and (at start (ready)) (at end (not (ready))) (at end (out))))\n"
      "(:durative-action treat :parameters () :duration (= ?duration 3) :condition (over all (ready)) :effect (at end "
      "(done)))\n";
  const Task task = load_pddl_text(domain(nested), problem("", "(and (out) (done))"));
  const auto lookahead = Lookahead::compile(task, {});
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable) << lookahead->reason();
  EXPECT_EQ(lookahead->plan().size(), 3U);
  EXPECT_EQ(sequential(task, "(fire)\n(bake)\n(treat)\n"),
            "0.000: (fire) [8.000]\n0.001: (bake) [5.000]\n0.002: (treat) [3.000]\n");
  // Two do not fit into the fire.
  EXPECT_EQ(task.validate(steps("(fire)\n(bake)\n(bake)\n")).steps_executed, 2U);
}

TEST(Hosts, WhatAHostNeedsIsKept) {
  const Task task = load_pddl_text(
      domain(
          "(:durative-action heat :parameters () :duration (= ?duration 5) :condition (and (over all (free)) (at end "
          "(ready)))\n"
          " :effect (and (at start (hot)) (at end (not (hot)))))\n"
          "(:durative-action take :parameters () :duration (= ?duration 1) :condition (over all (hot))\n"
          " :effect (and (at end (not (free))) (at end (done))))\n"
          "(:durative-action check :parameters () :duration (= ?duration 1) :condition (at start (hot)) :effect (at "
          "end (ready)))\n"),
      problem("(free)", "(ready)"));
  EXPECT_EQ(
      task.validate(steps("(heat)\n(take)\n")).problem,
      "(heat) cannot end: condition at end (ready) is false; inside (heat) condition over all of (heat) (free) is "
      "false");
  const Validation begun = task.validate(steps("(heat)\n"));
  EXPECT_FALSE(begun.valid);
  EXPECT_EQ(begun.reason, "behind the last step: (heat) cannot end: condition at end (ready) is false");
  EXPECT_THROW(make_schedule(task, steps("(heat)\n"), ScheduleKind::kSequential), InputError);
  EXPECT_EQ(Lookahead::compile(task, {})->plan().size(), 2U);
}

TEST(Hosts, TheEndOfAHostKeepsWhatThoseAroundItNeed) {
  const Task task = load_pddl_text(
      domain(
          "(:durative-action outer :parameters () :duration (= ?duration 9) :condition (over all (free))\n"
          " :effect (and (at start (hot)) (at end (not (hot))) (at end (done))))\n"
          "(:durative-action inner :parameters () :duration (= ?duration 5) :condition (at start (hot))\n"
          " :effect (and (at start (ready)) (at end (not (ready))) (at end (not (free)))))\n"
          "(:durative-action work :parameters () :duration (= ?duration 1) :condition (over all (ready)) :effect (at "
          "end (out)))\n"),
      problem("(free)", "(and (done) (out))"));
  const Validation validation = task.validate(steps("(outer)\n(inner)\n(work)\n"));
  EXPECT_EQ(validation.steps_executed, 3U);
  EXPECT_EQ(validation.reason,
            "behind the last step: (inner) cannot end: condition over all of (outer) (free) is false");
  EXPECT_EQ(Lookahead::compile(task, {})->verdict(), Verdict::kInfeasible);
}

// Without a goal a plan must not end with an action that cannot.
TEST(Hosts, WithoutGoalsWhatHasBegunMustEnd) {
  const Task task = load_pddl_text(
      domain("(:durative-action heat :parameters () :duration (= ?duration 5) :condition (at end (ready))\n"
             " :effect (and (at start (hot)) (at end (not (hot)))))\n"
             "(:action check :parameters () :precondition (hot) :effect (ready))\n"),
      problem("", "(and)"));
  State state = task.initial_state();
  EXPECT_TRUE(task.is_goal(state));
  for (const char* step : {"heat", "check"}) {
    for (const ActionId action : task.applicable_actions(state)) {
      if (task.step(action).action != step) continue;
      state = *task.apply(state, action);
      break;
    }
    EXPECT_EQ(task.is_goal(state), step == std::string("check")) << step;
  }
}

TEST(Hosts, NotWhereItCannotBePutOff) {
  const auto warning = [](const std::string& effect, const std::string& duration, const std::string& rest) {
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    const Task task = load_pddl_text(
        domain("(:durative-action heat :parameters () :duration (= ?duration " + duration +
               ") :effect (and (at start (hot)) (at end (not (hot)))" + effect + "))\n" +
               "(:durative-action use :parameters () :duration (= ?duration 2) :condition (and (over all (hot)) (at "
               "start (>= (fuel) 0))) :effect (and (at end (done)) (at end (decrease (fuel) 1))))\n" +
               rest),
        problem("(= (fuel) 3)", "(done)"), options);
    const bool solvable = Lookahead::compile(task, {})->verdict() == Verdict::kSolvable;
    EXPECT_EQ(solvable, diagnostics.num_warnings() == 0);
    return diagnostics.num_warnings() == 0 ? "" : diagnostics.items().back().hint;
  };
  EXPECT_EQ(warning("", "5", ""), "");
  EXPECT_EQ(warning("(at end (decrease (fuel) 1))", "5", ""),
            "plans run one action at a time here, since it changes numbers at its end, so none uses it");
  EXPECT_EQ(warning("", "(+ 5 (fuel))", ""),
            "plans run one action at a time here, since its duration depends on the state, so none uses it");
  EXPECT_EQ(warning("", "5", "(:derived (ready) (hot))"),
            "plans run one action at a time here, since the domain has derived predicates, so none uses it");
}

}  // namespace
}  // namespace metactrl::hosts_test
