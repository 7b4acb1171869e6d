// Preferences on the command line: check, search, validate, plan, explain, inspect, export.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/command_line.h"

namespace metactrl::preferences_cli_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class PreferencesCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write("d.pddl", R"((define (domain house) (:requirements :adl :preferences :constraints :action-costs)
      (:types door) (:predicates (open ?d - door) (locked ?d - door) (warm)) (:functions (total-cost) - number)
      (:action shut :parameters (?d - door) :precondition (open ?d)
        :effect (and (not (open ?d)) (increase (total-cost) 2)))
      (:action lock :parameters (?d - door) :precondition (not (open ?d))
        :effect (and (locked ?d) (increase (total-cost) 1)))
      (:action heat :parameters () :precondition (and) :effect (and (warm) (increase (total-cost) 9)))))");
    write("p.pddl", R"((define (problem p) (:domain house) (:objects front back - door) (:init (open front) (open back))
      (:goal (and (locked front) (preference warmth (warm)) (forall (?d - door) (preference shut (not (open ?d))))))
      (:constraints (preference air (always (open back))))
      (:metric minimize (+ (total-cost) (* 5 (is-violated warmth)) (* 3 (is-violated shut)) (* 2 (is-violated air))))))");
  }
};

TEST_F(PreferencesCli, SearchSaysWhatHoldsAndTheBound) {
  EXPECT_CONTAINS(run("check -d d.pddl -p p.pddl").out, "ok: ");
  const Result found = run("search -d d.pddl -p p.pddl --optimal");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.out,
            "(shut front)\n(lock front)\n; 2 actions, cost = 3, shortest, cheapest\n"
            "; preferences: 2 of 4 hold, metric 11, which no plan betters\n"
            ";   violated  warmth, weight 5: (warm)\n"
            ";   satisfied shut, weight 3: (not (open ?d)) for ?d = front\n"
            ";   violated  shut, weight 3: (not (open ?d)) for ?d = back\n"
            ";   satisfied air, weight 2: (always (open back))\n");
  const Json json = Json::parse(run("search -d d.pddl -p p.pddl --optimal --output json").out);
  EXPECT_EQ(json["metric"], Json({{"value", 11}, {"lower_bound", 11}, {"proved_optimal", true}}));
  ASSERT_EQ(json["preferences"].size(), 4U);
  EXPECT_EQ(json["preferences"][0],
            Json({{"name", "warmth"}, {"text", "(warm)"}, {"weight", 5}, {"satisfied", false}}));
}

TEST_F(PreferencesCli, ValidateJudgesEach) {
  write("warm.plan", "(heat)\n(shut front)\n(lock front)\n(shut back)\n");
  const Result judged = run("validate -d d.pddl -p p.pddl warm.plan");
  EXPECT_EQ(judged.code, 0) << judged.out;
  EXPECT_EQ(judged.out,
            "valid: 4 actions, cost 14\n"
            "  satisfied warmth, weight 5: (warm)\n"
            "  satisfied shut, weight 3: (not (open ?d)) for ?d = front\n"
            "  satisfied shut, weight 3: (not (open ?d)) for ?d = back\n"
            "  violated  air, weight 2: (always (open back))\n");
  const Json json = Json::parse(run("validate -d d.pddl -p p.pddl warm.plan --output json").out);
  EXPECT_EQ(json["preferences"][3]["satisfied"], false);
}

TEST_F(PreferencesCli, PlanPromisesWhatWasChosen) {
  const Result planned = run("plan -d d.pddl -p p.pddl --model random:3 --output json");
  EXPECT_EQ(planned.code, 0) << planned.err;
  const Json json = Json::parse(planned.out);
  EXPECT_EQ(json["guarantee"], "full");
  ASSERT_EQ(json["preferences"].size(), 4U);
  for (const std::size_t promised : {1, 3}) {
    EXPECT_EQ(json["preferences"][promised]["promised"], true);
    EXPECT_EQ(json["preferences"][promised]["satisfied"], true);
  }
  EXPECT_EQ(json["metric"]["lower_bound"], 11);
  EXPECT_GE(json["metric"]["value"], 11);
  const Result text = run("plan -d d.pddl -p p.pddl --model random:3");
  EXPECT_CONTAINS(text.err, "satisfied air, weight 2: (always (open back))");
  EXPECT_CONTAINS(text.err, "; preferences: ");
  const Result explained = run("explain -d d.pddl -p p.pddl --model random:3");
  EXPECT_CONTAINS(explained.out,
                  "prefers   (not (open ?d)) for ?d = front, (always (open back)) (2 of 4 preferences, as goals)\n");
}

TEST_F(PreferencesCli, ExportedAsCosts) {
  const Result exported = run("export task -d d.pddl -p p.pddl --out costs");
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_CONTAINS(exported.err, "preferences are costs");
  // The same best plan, by costs alone, with what stands for preferences behind it.
  const Result found = run("search -d costs/domain.pddl -p costs/problem.pddl --optimal");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_CONTAINS(found.out, "cost = 11, ");
  EXPECT_CONTAINS(found.out, "(finish)\n(forgo-0)\n(collect-1)\n(forgo-2)\n(collect-3)\n");
}

}  // namespace
}  // namespace metactrl::preferences_cli_test
