// What reports say about plans beyond success.
#include "benchmarks/plan_quality.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "benchmarks/prompt_knowledge.h"
#include "benchmarks/report.h"
#include "metactrl/domain.h"

namespace metactrl::benchmarks::plan_quality_test {
namespace {

constexpr const char* kDomain = R"(
(define (domain house)
  (:requirements :strips :negative-preconditions)
  (:predicates (open ?d) (lit ?l) (held ?x) (free) (in ?x ?d))
  (:action open  :parameters (?d) :precondition (not (open ?d)) :effect (open ?d))
  (:action close :parameters (?d) :precondition (open ?d) :effect (not (open ?d)))
  (:action light :parameters (?l) :precondition () :effect (lit ?l))
  (:action dark  :parameters (?l) :precondition () :effect (not (lit ?l)))
  (:action take  :parameters (?x ?d) :precondition (and (free) (in ?x ?d) (open ?d))
                 :effect (and (held ?x) (not (free)) (not (in ?x ?d)))))
)";
constexpr const char* kProblem = R"(
(define (problem p) (:domain house) (:objects fridge lamp cup) (:init (free) (in cup fridge))
  (:goal (held cup)))
)";

class Quality : public ::testing::Test {
 protected:
  std::optional<PlanQuality> of(const std::string& text) const {
    std::vector<ActionId> plan;
    for (const PlanStep& step : parse_plan(text, "plan")) plan.push_back(task_.find(step).value());
    return plan_quality(task_, plan);
  }
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

  Task task_ = load_pddl_text(kDomain, kProblem);
};

TEST_F(Quality, AShortestPlanHasNothingToLeaveOut) {
  const std::optional<PlanQuality> quality = of("(open fridge)\n(take cup fridge)");
  ASSERT_TRUE(quality);
  EXPECT_EQ(quality->superfluous, 0U);
  EXPECT_TRUE(quality->undone.empty());
}

TEST_F(Quality, StepsThatUndoOneAnotherAreFoundApart) {
  const std::optional<PlanQuality> quality = of("(light lamp)\n(open fridge)\n(dark lamp)\n(take cup fridge)");
  ASSERT_TRUE(quality);
  EXPECT_EQ(quality->superfluous, 2U);
  EXPECT_EQ(quality->undone, (Pairs{{1, 3}}));
}

TEST_F(Quality, WhatWasUsedInBetweenIsNotUndone) {
  const std::optional<PlanQuality> quality = of("(open fridge)\n(take cup fridge)\n(close fridge)");
  ASSERT_TRUE(quality);
  EXPECT_EQ(quality->superfluous, 1U);
  EXPECT_TRUE(quality->undone.empty());
  // The first opening was for nothing.
  const std::optional<PlanQuality> twice = of("(open fridge)\n(close fridge)\n(open fridge)\n(take cup fridge)");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->superfluous, 2U);
  EXPECT_EQ(twice->undone, (Pairs{{1, 2}}));
}

TEST_F(Quality, AStepThatChangesNothingCanBeLeftOutAndUndoesNothing) {
  const std::optional<PlanQuality> quality = of("(dark lamp)\n(open fridge)\n(dark lamp)\n(take cup fridge)");
  ASSERT_TRUE(quality);
  EXPECT_EQ(quality->superfluous, 2U);
  EXPECT_TRUE(quality->undone.empty());
}

TEST_F(Quality, OnlyOfValidPlans) {
  EXPECT_FALSE(of("(open fridge)"));
  EXPECT_FALSE(of("(take cup fridge)"));
}

TEST(Quantiles, AreTheNearestRank) {
  const std::vector<double> values = {1, 2, 3, 4};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 0.5), 2);
  EXPECT_EQ(quantile(values, 0.51), 3);
  EXPECT_EQ(quantile(values, 0.95), 4);
  EXPECT_EQ(quantile(values, 1), 4);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

TaskScore with_error(const std::string& identifier, const std::string& error) {
  TaskScore task;
  task.identifier = identifier;
  if (!error.empty()) task.errors[error] = 1;
  return task;
}

TEST(FormatErrorClasses, AreThoseOfThePaper) {
  EXPECT_EQ(format_error(with_error("a", "parsing")), FormatError::kParsing);
  EXPECT_EQ(format_error(with_error("a", "NotParseable")), FormatError::kParsing);
  EXPECT_EQ(format_error(with_error("a", "hullucination")), FormatError::kHallucination);
  EXPECT_EQ(format_error(with_error("a", "arguments")), FormatError::kParameter);
  EXPECT_EQ(format_error(with_error("a", "missing_step")), FormatError::kNone);
  Score score;
  score.tasks = {with_error("a", "parsing"), with_error("b", "parsing"), with_error("c", "Hallucination"),
                 with_error("d", "")};
  const auto errors = count_format_errors(score, {"a", "d"});
  EXPECT_EQ(errors.at(FormatError::kParsing).total, 2U);
  EXPECT_EQ(errors.at(FormatError::kParsing).benchmark_side, 1U);
  EXPECT_EQ(errors.at(FormatError::kHallucination).total, 1U);
  EXPECT_EQ(errors.at(FormatError::kHallucination).benchmark_side, 0U);
  EXPECT_EQ(errors.at(FormatError::kParameter).total, 0U);
}

Answer answer_with(const std::string& identifier, const std::string& output, std::size_t steps, double probability) {
  Answer answer;
  answer.identifier = identifier;
  answer.output = output;
  answer.outcome = "plan";
  answer.guarantee = "full";
  answer.steps.assign(steps, "(walk a)");
  answer.log_probability = probability;
  return answer;
}

TEST(RunComparisons, LookAtWhatBothHave) {
  const std::vector<Answer> mask = {answer_with("a", "x", 3, -2), answer_with("b", "y", 4, -3)};
  const std::vector<Answer> uniform = {answer_with("a", "x", 3, -2), answer_with("b", "z", 2, -1),
                                       answer_with("c", "w", 2, -1)};
  const RunComparison c = compare_runs(mask, uniform);
  EXPECT_EQ(c.plans, 2U);
  EXPECT_EQ(c.same, 1U);
  EXPECT_EQ(c.steps, 7U);
  EXPECT_EQ(c.other_steps, 5U);
  EXPECT_DOUBLE_EQ(c.log_probability, -5);
  EXPECT_DOUBLE_EQ(c.other_log_probability, -3);
  EXPECT_EQ(c.more_probable, 0U);
  EXPECT_EQ(c.less_probable, 1U);
  Report report;
  report.run.answers = mask;
  report.other.answers = uniform;
  report.other.settings = {{"guidance", "uniform"}, {"model", "random:1"}};
  EXPECT_NE(report_markdown(report).find("Beside uniform, random:1"), std::string::npos);
  EXPECT_EQ(quality_json(report)["comparison"]["same"], 1);
}

// The prompt says that the printer is off, and not that it can be switched.
TEST(PromptKnowledge, WhatNoLineSaysIsNotDerivable) {
  const char* prompt =
      "initial environment state:\n['onfloor', 'printer_0', 'room_floor_home_office_0']\n"
      "['not', 'toggled_on', 'printer_0']\n\n\ntarget environment state:\n['toggled_on', 'printer_0']\n\n\n"
      "interactable objects:\n{'name': 'printer_0', 'category': 'printer.n.03'}\n"
      "{'name': 'room_floor_home_office_0', 'category': 'floor.n.01'}\n\n\nPlease output\n";
  const std::vector<PlanStep> plan = {{"toggle_on", {"printer_0"}}};
  // toggleable: no; not on: said; not open: not said; not shut in: it is on the floor.
  const DeclaredConditions conditions = declared_conditions(*find_module("beh-as"), prompt, plan);
  EXPECT_EQ(conditions.declared, 4U);
  EXPECT_EQ(conditions.derivable, 2U);
  // Nothing else can be done with it: what the rules do not know is left out.
  EXPECT_EQ(declared_conditions(*find_module("beh-as"), prompt, std::vector<PlanStep>{{"fly", {}}}).declared, 0U);
}

}  // namespace
}  // namespace metactrl::benchmarks::plan_quality_test
