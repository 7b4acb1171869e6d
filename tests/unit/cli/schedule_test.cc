// Plans in time on the command line: check, search, validate, plan, explain, export.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/command_line.h"

namespace metactrl::schedule_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class ScheduleCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write("d.pddl", R"((define (domain d) (:requirements :strips :typing :durative-actions)
      (:types robot) (:predicates (ready ?r - robot) (done ?r - robot) (light))
      (:durative-action work :parameters (?r - robot) :duration (= ?duration 2.5)
        :condition (at start (ready ?r)) :effect (and (at start (not (ready ?r))) (at end (done ?r))))))");
    write("p.pddl", R"((define (problem p) (:domain d) (:objects x y - robot) (:init (ready x) (ready y))
      (:goal (and (done x) (done y)))))");
  }
};

TEST_F(ScheduleCli, SearchPrintsASchedule) {
  EXPECT_CONTAINS(run("check -d d.pddl -p p.pddl").out, "ok: ");
  const Result one = run("search -d d.pddl -p p.pddl");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_CONTAINS(one.out, "0.000: (work x) [2.500]\n2.501: (work y) [2.500]\n; ends at 5.001\n");
  const Result both = run("search -d d.pddl -p p.pddl --schedule concurrent");
  EXPECT_CONTAINS(
      both.out,
      "0.000: (work x) [2.500]\n0.000: (work y) [2.500]\n; ends at 2.500; at the same time: (work x) and (work y)\n");
  const Json json = Json::parse(run("search -d d.pddl -p p.pddl --schedule concurrent --output json").out);
  EXPECT_EQ(json["schedule"]["makespan"], 2.5);
  EXPECT_EQ(json["schedule"]["steps"].size(), 2U);
  EXPECT_EQ(json["schedule"]["steps"][0]["action"], "(work x)");
  EXPECT_EQ(json["schedule"]["overlaps"].size(), 1U);
  EXPECT_EQ(run("search -d d.pddl -p p.pddl --schedule backwards").code, 30);
}

// The cost adds durations up, whatever overlaps; the metric is that of the times that are shown.
TEST_F(ScheduleCli, AMetricOfTimeIsThatOfTheSchedule) {
  write("p.pddl", R"((define (problem p) (:domain d) (:objects x y - robot) (:init (ready x) (ready y))
      (:goal (and (done x) (done y))) (:metric minimize (total-time))))");
  const Result one = run("search -d d.pddl -p p.pddl --optimal");
  EXPECT_CONTAINS(one.out,
                  "; ends at 5.001, metric 5.001\n; 2 actions, cost = 5 with durations added up, shortest, cheapest\n");
  const Result both = run("search -d d.pddl -p p.pddl --schedule concurrent");
  EXPECT_CONTAINS(both.out, "; ends at 2.500, metric 2.5; at the same time: ");
  const Json json = Json::parse(run("search -d d.pddl -p p.pddl --schedule concurrent --output json").out);
  EXPECT_EQ(json["cost"], 5);
  EXPECT_EQ(json["schedule"]["metric"], 2.5);
  const Result plan = run("plan -d d.pddl -p p.pddl --guidance search --schedule concurrent");
  EXPECT_CONTAINS(plan.out, "; cost = 5 with durations added up, guarantee: full\n");
  write("good.plan", "0.000: (work x) [2.500]\n1.000: (work y) [2.500]\n");
  EXPECT_CONTAINS(run("validate -d d.pddl -p p.pddl good.plan").out,
                  "valid: 2 actions, cost 5, ends at 3.500, metric 3.5");
  EXPECT_EQ(Json::parse(run("validate -d d.pddl -p p.pddl good.plan --output json").out)["metric"], 3.5);
}

TEST_F(ScheduleCli, ValidateJudgesTimes) {
  write("good.plan", "0.000: (work x) [2.500]\n0.000: (work y) [2.500]\n");
  const Result good = run("validate -d d.pddl -p p.pddl good.plan");
  EXPECT_EQ(good.code, 0) << good.out;
  EXPECT_CONTAINS(good.out, "valid: 2 actions, cost 2, ends at 2.500");
  EXPECT_EQ(Json::parse(run("validate -d d.pddl -p p.pddl good.plan --output json").out)["makespan"], 2.5);
  write("long.plan", "0.000: (work x) [3.500]\n0.000: (work y) [2.500]\n");
  const Result bad = run("validate -d d.pddl -p p.pddl long.plan");
  EXPECT_EQ(bad.code, 12);
  EXPECT_EQ(bad.out, "invalid: step 1 (work x): it takes 2.5, not 3.500\n");
  write("plain.plan", "(work x)\n(work y)\n");
  EXPECT_EQ(run("validate -d d.pddl -p p.pddl plain.plan").code, 0);
  write("odd.plan", "0.0.0: (work x) [2.500]\n");
  EXPECT_EQ(run("validate -d d.pddl -p p.pddl odd.plan").code, 31);
}

// Plans take the durations that they need, under names of their own; schedules and exports call the action by its name.
TEST_F(ScheduleCli, ActionsOfSeveralDurations) {
  write("c.pddl", R"((define (domain c) (:requirements :durative-actions :numeric-fluents :duration-inequalities)
      (:predicates (plugged) (done)) (:functions (battery))
      (:durative-action charge :parameters () :duration (and (>= ?duration 2) (<= ?duration 9))
        :condition (at start (plugged)) :effect (and (at start (not (plugged))) (at end (increase (battery) ?duration))))
      (:durative-action go :parameters () :duration (= ?duration 3) :condition (at start (>= (battery) 5))
        :effect (and (at start (decrease (battery) 5)) (at end (done))))))");
  write("cp.pddl", "(define (problem p) (:domain c) (:init (plugged) (= (battery) 0)) (:goal (done)))");
  EXPECT_CONTAINS(run("check -d c.pddl -p cp.pddl").err,
                  "of the durations of charge plans use 2, 3, 4, 5, 6, 7, 8, 9; others are never tried");
  const Result found = run("search -d c.pddl -p cp.pddl --out found.plan");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_CONTAINS(run("validate -d c.pddl -p cp.pddl found.plan").out, "valid: 2 actions");
  EXPECT_CONTAINS(found.out + run("search -d c.pddl -p cp.pddl").out,
                  "0.000: (charge) [5.000]\n5.001: (go) [3.000]\n; ends at 8.001\n");
  write("other.plan", "0.000: (charge) [6.250]\n6.300: (go) [3.000]\n");
  EXPECT_EQ(run("validate -d c.pddl -p cp.pddl other.plan").code, 0);
  write("short.plan", "0.000: (charge) [1.500]\n6.300: (go) [3.000]\n");
  EXPECT_EQ(run("validate -d c.pddl -p cp.pddl short.plan").out,
            "invalid: step 1 (charge): it takes at least 2, not 1.500\n");
  write("named.plan", "(charge-for-5)\n(go)\n");
  EXPECT_EQ(run("validate -d c.pddl -p cp.pddl named.plan").code, 0);
  EXPECT_CONTAINS(run("export plansys2 named.plan -d c.pddl -p cp.pddl").out, "0.000: (charge) [5.000]\n");
  // The times in a file say which of the durations it is, whatever is made of them.
  EXPECT_EQ(run("export plansys2 found.plan -d c.pddl -p cp.pddl").out,
            "0.000: (charge) [5.000]\n5.001: (go) [3.000]\n");
  EXPECT_EQ(run("export plansys2 found.plan -d c.pddl -p cp.pddl --schedule concurrent").out,
            "0.000: (charge) [5.000]\n5.001: (go) [3.000]\n");
  EXPECT_CONTAINS(run("export bt found.plan -d c.pddl -p cp.pddl").out, "charge");
  EXPECT_EQ(run("export plansys2 other.plan -d c.pddl -p cp.pddl").out,
            "0.000: (charge) [6.250]\n6.300: (go) [3.000]\n");
}

TEST_F(ScheduleCli, InspectListsWhatIsNoFact) {
  write("n.pddl", R"((define (domain n) (:requirements :numeric-fluents) (:functions (x) (y))
      (:action up :precondition (< (x) 3) :effect (increase (x) 1))
      (:action more :effect (increase (y) (x)))))");
  write("np.pddl",
        R"((define (problem p) (:domain n) (:init (= (x) 0) (= (y) 0)) (:goal (and (= (x) 2) (> (y) (x))))))");
  const Result text = run("inspect -d n.pddl -p np.pddl");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_CONTAINS(text.out, "numbers                 (x): 4 values, 0 .. 3\n");
  EXPECT_CONTAINS(text.out, "(y): 100 values, 0 .. ");
  EXPECT_CONTAINS(text.out, ", not all\n");
  const Json json = Json::parse(run("inspect -d n.pddl -p np.pddl --output json").out);
  ASSERT_EQ(json["numbers"].size(), 2U);
  EXPECT_EQ(json["numbers"][0]["number"], "(x)");
  EXPECT_EQ(json["numbers"][0]["values"], 4);
  EXPECT_EQ(json["numbers"][0]["largest"], "3");
  EXPECT_EQ(json["numbers"][0]["cut"], false);
  EXPECT_EQ(json["numbers"][1]["cut"], true);
  EXPECT_FALSE(json.contains("hosts"));
  write("t.pddl", R"((define (domain t) (:requirements :durative-actions :timed-initial-literals :duration-inequalities)
      (:predicates (day) (done))
      (:durative-action work :parameters () :duration (<= ?duration 2) :condition (at start (day))
        :effect (at end (done)))))");
  write("tp.pddl", "(define (problem p) (:domain t) (:init (day) (at 9 (not (day)))) (:goal (done)))");
  const Result timed = run("inspect -d t.pddl -p tp.pddl");
  EXPECT_CONTAINS(timed.out, "clock                   actions begin at multiples of 0.010, ");
  EXPECT_CONTAINS(timed.out, "not tried               durations of work but for 0.001, 2\n");
  const Json clock = Json::parse(run("inspect -d t.pddl -p tp.pddl --output json").out);
  EXPECT_EQ(clock["clock"]["tick"], 0.01);
  EXPECT_EQ(clock["durations_not_tried"].size(), 1U);
  write("h.pddl", R"((define (domain h) (:requirements :durative-actions) (:predicates (light) (mended))
      (:durative-action lamp :parameters () :duration (= ?duration 5)
        :condition (and) :effect (and (at start (light)) (at end (not (light)))))
      (:durative-action mend :parameters () :duration (= ?duration 4) :condition (over all (light))
        :effect (at end (mended)))))");
  write("hp.pddl", "(define (problem p) (:domain h) (:init) (:goal (mended)))");
  EXPECT_CONTAINS(run("inspect -d h.pddl -p hp.pddl").out,
                  "hosts                   1 action inside which others run, 1 at once at most\n");
  EXPECT_FALSE(Json::parse(run("inspect -d d.pddl -p p.pddl --output json").out).contains("numbers"));
}

TEST_F(ScheduleCli, PlanPrintsASchedule) {
  const Result search = run("plan -d d.pddl -p p.pddl --guidance search --schedule concurrent");
  EXPECT_EQ(search.code, 0) << search.err;
  EXPECT_CONTAINS(search.out, "0.000: (work y) [2.500]\n");
  EXPECT_CONTAINS(search.out, "guarantee: full\n");
  const Result model = run("plan -d d.pddl -p p.pddl --model random:3 --output pddl");
  EXPECT_EQ(model.code, 0) << model.err;
  EXPECT_CONTAINS(model.out, "2.501: (work ");
  // Otherwise what the model wrote, in its format.
  const Result text = run("plan -d d.pddl -p p.pddl --model random:3");
  EXPECT_EQ(text.out.substr(0, 6), "(work ");
  const Json json =
      Json::parse(run("plan -d d.pddl -p p.pddl --model random:3 --output json --schedule concurrent").out);
  EXPECT_EQ(json["schedule"]["makespan"], 2.5);
  EXPECT_CONTAINS(run("explain -d d.pddl -p p.pddl --guidance search").out, "condition at start (ready x) is false");
}

TEST_F(ScheduleCli, ExportsThePlanSys2Lines) {
  write("a.plan", "(work y)\n(work x)\n");
  EXPECT_EQ(run("export plansys2 a.plan -d d.pddl -p p.pddl").out,
            "0.000: (work y) [2.500]\n2.501: (work x) [2.500]\n");
  EXPECT_EQ(run("export plansys2 a.plan -d d.pddl -p p.pddl --schedule concurrent").out,
            "0.000: (work y) [2.500]\n0.000: (work x) [2.500]\n");
  EXPECT_EQ(run("export plansys2 a.plan -d d.pddl -p p.pddl --duration 3").code, 30);
  EXPECT_EQ(run("export pddl a.plan -d d.pddl -p p.pddl --schedule concurrent").code, 30);
}

// A schedule whose order of starts is no plan one after the other: it is kept as it is, and nothing else is made of it.
TEST_F(ScheduleCli, ExportsKeepTheTimesOfAFile) {
  write("d.pddl", R"((define (domain d) (:requirements :durative-actions) (:predicates (has) (sold) (sold-again))
      (:durative-action buy :parameters () :duration (= ?duration 2) :effect (at end (has)))
      (:durative-action sell :parameters () :duration (= ?duration 1) :condition (at start (has))
        :effect (and (at start (not (has))) (at end (sold))))
      (:durative-action resell :parameters () :duration (= ?duration 1) :condition (and (at start (has)) (at start (sold)))
        :effect (and (at start (not (has))) (at end (sold-again))))))");
  write("p.pddl", "(define (problem p) (:domain d) (:init) (:goal (sold-again)))");
  const std::string lines =
      "0.000: (buy) [2.000]\n0.002: (buy) [2.000]\n2.001: (sell) [1.000]\n3.002: (resell) [1.000]\n";
  write("s.plan", lines);
  EXPECT_EQ(run("validate -d d.pddl -p p.pddl s.plan").code, 0);
  EXPECT_EQ(run("export plansys2 s.plan -d d.pddl -p p.pddl").out, lines);
  for (const char* other : {"export bt", "export plansys2 --schedule sequential"}) {
    const Result refused = run(std::string(other) + " s.plan -d d.pddl -p p.pddl");
    EXPECT_EQ(refused.code, 12);
    EXPECT_CONTAINS(refused.err,
                    "(has) is false where one action follows the other; with the times of its lines it is valid");
  }
  write("late.plan", "0.000: (buy) [2.000]\n1.000: (sell) [1.000]\n");
  EXPECT_EQ(run("export plansys2 late.plan -d d.pddl -p p.pddl").code, 12);
}

// What is needed only while another action runs.
TEST_F(ScheduleCli, PutsActionsInsideThoseThatTheyNeed) {
  write("d.pddl", R"((define (domain d) (:requirements :strips :durative-actions) (:predicates (light) (mended))
      (:durative-action strike :parameters () :duration (= ?duration 5) :effect (and (at start (light)) (at end (not (light)))))
      (:durative-action mend :parameters () :duration (= ?duration 2) :condition (over all (light)) :effect (at end (mended)))))");
  write("p.pddl", "(define (problem p) (:domain d) (:init) (:goal (mended)))");
  const Result r = run("search -d d.pddl -p p.pddl");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_CONTAINS(
      r.out, "0.000: (strike) [5.000]\n0.001: (mend) [2.000]\n; ends at 5.000; at the same time: (strike) and (mend)");
}

TEST_F(ScheduleCli, SaysWhatNeedsConcurrency) {
  write(
      "d.pddl",
      R"((define (domain d) (:requirements :strips :durative-actions :numeric-fluents) (:predicates (light) (mended)) (:functions (used))
      (:durative-action strike :parameters () :duration (= ?duration 5)
       :effect (and (at start (light)) (at end (not (light))) (at end (increase (used) 1))))
      (:durative-action mend :parameters () :duration (= ?duration 2) :condition (over all (light)) :effect (at end (mended)))))");
  write("p.pddl", "(define (problem p) (:domain d) (:init (= (used) 0)) (:goal (and (mended) (>= (used) 1))))");
  const Result r = run("search -d d.pddl -p p.pddl");
  EXPECT_EQ(r.code, 10);
  EXPECT_CONTAINS(r.err,
                  "warning: (strike) makes (light) true only while it runs, and mend needs it; plans run one action at "
                  "a time here");
  EXPECT_CONTAINS(r.err, "infeasible: of plans that run one action at a time: ");
  EXPECT_CONTAINS(r.err, "because it needs concurrency that is not planned for: at the same time (strike) and (mend)");
  EXPECT_CONTAINS(r.err,
                  "because (strike) makes (light) true only while it runs, and mend needs it; nothing runs inside");
  EXPECT_CONTAINS(r.err, "there is a plan if (light) stayed true behind the end of strike");
}

}  // namespace
}  // namespace metactrl::schedule_test
