// Preferences, example by example: what they mean, what they weigh, what is refused.
#include "lookahead/preferences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/schedule.h"

namespace metactrl::preferences_test {
namespace {

// Lamps that go on and off; `break` makes one useless for good.
std::string domain(const std::string& rest = "") {
  return "(define (domain lamps) (:requirements :adl :preferences :constraints :action-costs)\n"
         "(:types lamp) (:predicates (on ?l - lamp) (broken ?l - lamp)) (:functions (total-cost) - number)\n"
         "(:action press :parameters (?l - lamp) :precondition (and (not (on ?l)) (not (broken ?l)))\n"
         " :effect (and (on ?l) (increase (total-cost) 2)))\n"
         "(:action release :parameters (?l - lamp) :precondition (on ?l)\n"
         " :effect (and (not (on ?l)) (increase (total-cost) 1)))\n"
         "(:action break :parameters (?l - lamp) :precondition (not (broken ?l))\n"
         " :effect (and (broken ?l) (not (on ?l)) (increase (total-cost) 1)))\n" +
         rest + ")";
}

std::string problem(const std::string& goal, const std::string& rest = "") {
  return "(define (problem p) (:domain lamps) (:objects a b c - lamp) (:init) (:goal " + goal + ")" + rest + ")";
}

std::vector<Validation::Preference> judged(const Task& task, const std::string& plan) {
  return task.validate(parse_plan(plan, "plan")).preferences;
}

std::string verdicts(const Task& task, const std::string& plan) {
  std::string out;
  for (const Validation::Preference& one : judged(task, plan)) out += one.satisfied ? '+' : '-';
  return out;
}

Diagnostics messages(const std::string& domain_text, const std::string& problem_text) {
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  try {
    load_pddl_text(domain_text, problem_text, options);
  } catch (const InputError&) {
  }
  return diagnostics;
}

std::string first_error(const std::string& domain_text, const std::string& problem_text) {
  const Diagnostics diagnostics = messages(domain_text, problem_text);
  for (const Diagnostic& item : diagnostics.items()) {
    if (item.severity == Diagnostic::Severity::kError) return item.message;
  }
  return "";
}

TEST(Preferences, ForbidNothing) {
  const Task task = load_pddl_text(domain(), problem("(and (on a) (preference p (on b)) (preference (not (on c))))"));
  EXPECT_EQ(task.num_goals(), 1U);
  const Validation validation = task.validate(parse_plan("(press a)", "plan"));
  EXPECT_TRUE(validation.valid) << validation.reason;
  ASSERT_EQ(validation.preferences.size(), 2U);
  EXPECT_EQ(validation.preferences[0].name, "p");
  EXPECT_EQ(validation.preferences[0].text, "(on b)");
  EXPECT_FALSE(validation.preferences[0].satisfied);
  EXPECT_EQ(validation.preferences[1].name, "");
  EXPECT_TRUE(validation.preferences[1].satisfied);
  EXPECT_EQ(metric_value(task, validation), 1);
  EXPECT_TRUE(task.validate(parse_plan("(press b)", "plan")).preferences[0].satisfied);
  // Of a plan that cannot be carried out nothing is said.
  EXPECT_TRUE(judged(task, "(release a)").empty());
}

TEST(Preferences, OneForEachBindingOrOneForAll) {
  const Task task =
      load_pddl_text(domain(), problem("(and (forall (?l - lamp) (and (not (broken ?l)) (preference each (on ?l)))) "
                                       "(preference all (forall (?l - lamp) (on ?l))))",
                                       "(:metric minimize (+ (* 3 (is-violated each)) (is-violated all)))"));
  EXPECT_EQ(verdicts(task, "(press b)"), "-+--");
  EXPECT_EQ(judged(task, "")[1].text, "(on ?l) for ?l = b");
  EXPECT_EQ(metric_value(task, task.validate(parse_plan("(press b)", "plan"))), 7);
  // What stands beside a preference below `forall` is a goal all the same.
  EXPECT_EQ(task.num_goals(), 1U);
  EXPECT_FALSE(task.validate(parse_plan("(break a)", "plan")).valid);
}

TEST(Preferences, OfTheWholeWay) {
  const Task task = load_pddl_text(
      domain(),
      problem("(on a)",
              "(:constraints (and (preference always (always (not (on b)))) (preference sometime (sometime (on b)))"
              " (preference once (at-most-once (on a))) (preference after (sometime-after (on b) (on c)))"
              " (preference before (sometime-before (on a) (on c))) (preference end (at end (on c)))"
              " (preference order (actions-in-order (press a) (press *)))"
              " (preference both (and (sometime (on b)) (sometime (on c))))))"));
  EXPECT_EQ(verdicts(task, "(press a)"), "+-++----");
  EXPECT_EQ(verdicts(task, "(press c)\n(press a)"), "+-++++--");
  EXPECT_EQ(verdicts(task, "(press c)\n(press b)\n(press a)"), "-+++++-+");
}

TEST(Preferences, BestChoiceIsProved) {
  // All three lamps cannot be on and one of them broken; pressing costs 2.
  const Task task = load_pddl_text(
      domain(), problem("(and (preference pa (on a)) (preference pb (on b)) (preference pc (on c)) "
                        "(preference none (broken a)))",
                        "(:metric minimize (+ (total-cost) (* 3 (is-violated pa)) (* 1.5 (is-violated pb)) "
                        "(* 4 (is-violated pc)) (* 2.5 (is-violated none))))"));
  PreferenceOptions options;
  options.prove = true;
  const PreferenceChoice choice = choose_preferences(task, options);
  // pc for 2 instead of 4; either pa for 2 and `none` violated, or `none` for 1 and pa violated: 4.5 against 4; pb is not
  // worth its price.
  EXPECT_TRUE(choice.optimal);
  EXPECT_DOUBLE_EQ(choice.value, 2 + 1 + 3 + 1.5);
  EXPECT_EQ(choice.chosen, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(choice.task.num_goals(), 2U);
  EXPECT_EQ(choice.plan.size(), 2U);
}

TEST(Preferences, WithoutAMetricEachCountsOne) {
  const Task task =
      load_pddl_text(domain(), problem("(and (preference (on a)) (preference (broken a)) (preference (on b)))"));
  const PreferenceChoice choice = choose_preferences(task, {});
  EXPECT_TRUE(choice.optimal);
  EXPECT_DOUBLE_EQ(choice.value, 1);
  EXPECT_EQ(choice.chosen.size(), 2U);
}

TEST(Preferences, WhatTheMetricDoesNotNameIsNotPursued) {
  const Task task = load_pddl_text(
      domain(), problem("(and (preference p (on a)) (preference q (on b)))", "(:metric minimize (is-violated q))"));
  const PreferenceChoice choice = choose_preferences(task, {});
  EXPECT_EQ(choice.chosen, std::vector<std::size_t>{1});
  EXPECT_DOUBLE_EQ(choice.value, 0);
  EXPECT_EQ(judged(task, "")[0].weight, 0);
}

TEST(Preferences, MaximizingWhatIsLeftIsTheSame) {
  const Task task = load_pddl_text(domain(), problem("(and (preference p (on a)) (preference q (on b)))",
                                                     "(:metric maximize (- 100 (+ (total-cost) (* 5 (is-violated p)) "
                                                     "(* (is-violated q) 1))))"));
  const PreferenceChoice choice = choose_preferences(task, {});
  EXPECT_EQ(choice.chosen, std::vector<std::size_t>{0});
  EXPECT_DOUBLE_EQ(choice.value, 3);
}

TEST(Preferences, NothingIsChosenWhereTheGoalsAreOutOfReach) {
  const Task task = load_pddl_text(domain(), problem("(and (on a) (broken a) (preference p (on b)))"));
  const PreferenceChoice choice = choose_preferences(task, {});
  EXPECT_TRUE(choice.chosen.empty());
  EXPECT_TRUE(choice.plan.empty());
  EXPECT_EQ(choice.task.num_goals(), 2U);
}

TEST(Preferences, OfTheLastStateBesideDurations) {
  const std::string timed =
      "(define (domain d) (:requirements :typing :durative-actions :preferences) (:predicates (p) (q))\n"
      "(:durative-action go :parameters () :duration (= ?duration 2) :condition (at start (not (p)))\n"
      " :effect (and (at start (p)) (at end (q)))))";
  const auto of = [](const std::string& rest) { return "(define (problem x) (:domain d) (:init) " + rest + ")"; };
  const Task task = load_pddl_text(timed, of("(:goal (and (p) (preference w (not (q)))))"));
  const TimedPlan plan = parse_schedule("0.000: (go) [2.000]\n", "plan");
  const Validation validation = validate(task, plan.schedule);
  EXPECT_TRUE(validation.valid) << validation.reason;
  ASSERT_EQ(validation.preferences.size(), 1U);
  EXPECT_FALSE(validation.preferences[0].satisfied);
}

TEST(Preferences, RefusedWithTheirPlace) {
  EXPECT_EQ(first_error(domain("(:action a :parameters () :precondition (preference p (on a)) :effect (on a))"),
                        problem("(on a)")),
            "preferences in conditions of actions and of derived predicates are not supported");
  EXPECT_EQ(first_error(domain(), problem("(or (on b) (preference p (on a)))")),
            "a preference stands in (and ...) or (forall ...), nowhere else");
  EXPECT_EQ(first_error(domain(), problem("(not (preference p (on a)))")),
            "a preference stands in (and ...) or (forall ...), nowhere else");
  EXPECT_EQ(first_error(domain(), problem("(preference p (preference q (on a)))")), "a preference inside another one");
  EXPECT_EQ(first_error(domain(), problem("(preference p)")), "expected a preference but found (preference p)");
  EXPECT_EQ(first_error(domain(), problem("(preference early (on a))", "(:metric minimize (is-violated earli))")),
            "there is no preference 'earli'");
  EXPECT_EQ(first_error(domain(), problem("(on a)", "(:constraints (preference p (always-within 5 (on a) (on b))))")),
            "(always-within ...) is not supported: every state would need a clock of its own");
  const Diagnostics rewarded =
      messages(domain(), problem("(preference p (on a))", "(:metric maximize (is-violated p))"));
  EXPECT_FALSE(rewarded.has_errors());
  EXPECT_TRUE(std::any_of(rewarded.items().begin(), rewarded.items().end(), [](const Diagnostic& item) {
    return item.message == "the metric rewards the violation of 'p'";
  }));
}

}  // namespace
}  // namespace metactrl::preferences_test
