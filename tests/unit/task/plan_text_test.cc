#include <gtest/gtest.h>

#include "metactrl/error.h"
#include "metactrl/task.h"

namespace metactrl::plan_text_test {
namespace {

std::string errors_of(std::string_view text) {
  try {
    parse_plan(text, "plan.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PlanText, PrintsAStep) {
  EXPECT_EQ(to_string(PlanStep{"open", {"dishwasher"}}), "(open dishwasher)");
  EXPECT_EQ(to_string(PlanStep{"wait", {}}), "(wait)");
  EXPECT_EQ(to_string(PlanStep{"putin", {"cup", "dishwasher"}}), "(putin cup dishwasher)");
}

TEST(PlanText, ReadsLinesCommentsAndBlankLines) {
  const std::vector<PlanStep> plan =
      parse_plan("; found by hand\n(open dishwasher)\n\n  ( putin  cup\tdishwasher ) ; now\n(wait)", "p");
  ASSERT_EQ(plan.size(), 3U);
  EXPECT_EQ(plan[0], (PlanStep{"open", {"dishwasher"}}));
  EXPECT_EQ(plan[1], (PlanStep{"putin", {"cup", "dishwasher"}}));
  EXPECT_EQ(plan[2], (PlanStep{"wait", {}}));
}

TEST(PlanText, LowersNames) {
  EXPECT_EQ(parse_plan("(OPEN DishWasher)", "p"), (std::vector<PlanStep>{{"open", {"dishwasher"}}}));
}

TEST(PlanText, DropsTimesAndDurations) {
  const std::vector<PlanStep> expected{{"open", {"door"}}};
  EXPECT_EQ(parse_plan("0.000: (open door) [1.0]", "p"), expected);
  EXPECT_EQ(parse_plan("12 : (open door)[2]\r\n", "p"), expected);
  EXPECT_EQ(parse_plan("3:(open door) ; ok", "p"), expected);
}

TEST(PlanText, EmptyTextIsTheEmptyPlan) {
  EXPECT_TRUE(parse_plan("", "p").empty());
  EXPECT_TRUE(parse_plan("\n\r\n ; cost = 0 (unit cost)\n", "p").empty());
  EXPECT_TRUE(parse_plan("\xef\xbb\xbf; a byte order mark\n", "p").empty());
}

TEST(PlanText, NamesThePlaceOfEveryMistake) {
  EXPECT_EQ(errors_of("(open door)\nopen door\n(open\n"),
            "plan.txt:2:1: error: expected '(', found 'o'; write one step per line, as (action object ...)\n"
            "plan.txt:3:6: error: expected a name or ')', the line ends; close the step with ')'");
}

TEST(PlanText, RefusesWhatIsNotAPlan) {
  EXPECT_NE(errors_of("()").find("1:2: error: the step has no action name"), std::string::npos);
  EXPECT_NE(errors_of("(a)(b)").find("1:4: error: expected the end of the line, found '('"), std::string::npos);
  EXPECT_NE(errors_of("(a (b))").find("1:4: error: expected a name or ')', found '('"), std::string::npos);
  EXPECT_NE(errors_of("0.1 (a)").find("expected ':' after the time stamp"), std::string::npos);
  EXPECT_NE(errors_of("(a) [x]").find("expected a number after '['"), std::string::npos);
  EXPECT_NE(errors_of("(a) [1").find("expected ']', the line ends"), std::string::npos);
  EXPECT_NE(errors_of(std::string_view("(a \0)", 5)).find("found byte 0x00"), std::string::npos);
}

TEST(PlanText, PrintingAndReadingAgree) {
  const std::vector<PlanStep> plan{{"pick-up", {"b1"}}, {"stack", {"b1", "b2"}}, {"no_op", {}}};
  std::string text;
  for (const PlanStep& step : plan) text += to_string(step) + "\n";
  EXPECT_EQ(parse_plan(text, "p"), plan);
}

// Names as odd as PDDL allows them.
TEST(PlanText, EveryNameThatPddlReadsCanStandInAPlan) {
  std::string name;
  for (char c = '!'; c < 0x7f; ++c) {
    if (c != '(' && c != ')' && c != ';' && (c < 'A' || c > 'Z')) name += c;
  }
  const std::vector<PlanStep> plan{{"go", {"e\"f", "[z]", name}}, {name, {"[1.0]"}}};
  EXPECT_EQ(parse_plan("0: " + to_string(plan[0]) + " [1.000]\n" + to_string(plan[1]) + "[2]\n", "p"), plan);
}

TEST(PlanText, GarbageGivesABoundedNumberOfMessages) {
  std::string garbage = "(a step)\n";
  for (int i = 0; i < 10000; ++i) garbage += "}{\n";
  try {
    parse_plan(garbage, "p");
    FAIL() << "garbage was accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().num_errors(), 10000U);
    EXPECT_LE(error.diagnostics().items().size(), Diagnostics::kMaxItems);
  }
}

TEST(PlanText, WhatIsNoPlanAtAllIsSaidOnce) {
  std::string garbage = "\n";
  for (int i = 0; i < 10000; ++i) garbage += "}{\n";
  EXPECT_EQ(
      errors_of(garbage),
      "plan.txt:2:1: error: this is not a plan: expected '(', found '}'; write one step per line, as (action object "
      "...)");
}

}  // namespace
}  // namespace metactrl::plan_text_test
