// A problem's text, taken apart and given another goal.
#include "goals/problem_text.h"

#include <gtest/gtest.h>

#include <string>

namespace metactrl::problem_text_test {
namespace {

using goals::split_goal;
using goals::states_goal;

bool no_predicate(std::string_view) { return false; }

TEST(ProblemText, FindsWhetherThereIsAGoal) {
  EXPECT_TRUE(states_goal("(define (problem p) (:goal (on a b)))"));
  EXPECT_TRUE(states_goal("; (:goal ())\n(define (problem p) (:GOAL (and (on a b))))"));
  EXPECT_FALSE(states_goal("(define (problem p) (:init))"));
  EXPECT_FALSE(states_goal("(define (problem p) (:goal (and)))"));
  EXPECT_FALSE(states_goal("(define (problem p) (:goal (AND (and) () ; (on a b)\n )))"));
  EXPECT_FALSE(states_goal("(define (problem p) ; (:goal (on a b))\n)"));
}

TEST(ProblemText, LeavesToTheParserWhatIsBroken) {
  for (const char* text : {"", "(", "(define (problem p)", "nonsense", "(:goal"})
    EXPECT_TRUE(states_goal(text)) << text;
  EXPECT_TRUE(states_goal("(define (problem p) (:goal))"));
}

TEST(ProblemText, TakesAGoalApart) {
  const auto parts =
      split_goal("(and (on a b) (ALWAYS (not (on b a))) (forall (?x) (sometime (clear ?x))) (forall (?x) (clear ?x)))",
                 no_predicate);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->condition, "(and (on a b)\n(forall (?x) (clear ?x)))");
  EXPECT_EQ(parts->constraints,
            (std::vector<std::string>{"(ALWAYS (not (on b a)))", "(forall (?x) (sometime (clear ?x)))"}));
  EXPECT_EQ(split_goal("(on a b)", no_predicate)->condition, "(on a b)");
  EXPECT_EQ(split_goal("(always (on a b))", no_predicate)->condition, "(and )");
}

TEST(ProblemText, ADomainMayCallAPredicateAlways) {
  const auto parts = split_goal("(always a)", [](std::string_view name) { return name == "always"; });
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->condition, "(always a)");
  EXPECT_TRUE(parts->constraints.empty());
}

TEST(ProblemText, AGoalIsOneListAndNothingElse) {
  for (const char* goal :
       {"", "on a b", "(on a b", "(on a b))", "(on a b) (on b c)", "(on a b)) (:init (on b c)", ";(on a b)"}) {
    EXPECT_FALSE(split_goal(goal, no_predicate)) << goal;
  }
  EXPECT_TRUE(split_goal("  (on a b) ; so", no_predicate));
}

TEST(ProblemText, TheProblemsLinesKeepTheirNumbers) {
  const std::string problem = "(define (problem p)\n (:goal\n (on a b))\n (:constraints (always (p)))\n (:init))\n";
  const goals::Composed text = goals::with_goal(problem, {"(on b a)", {"(sometime (q))"}});
  EXPECT_EQ(text.text,
            "(define (problem p)\n       \n          \n                            \n (:init)\n(:goal (on b a)\n)\n"
            "(:constraints (and (always (p))\n(sometime (q))\n)))\n");
  EXPECT_EQ(text.first_line, 6U);
}

TEST(ProblemText, PreferencesStay) {
  const std::string problem =
      "(define (problem p) (:goal (and (on a b) (preference x (on c d)) (forall (?y) (Preference z (on ?y d))) "
      "(forall (?y) (on ?y e)))) (:metric minimize (+ (is-violated x) (is-violated z))))";
  const goals::Composed text = goals::with_goal(problem, {"(on b a)", {}});
  EXPECT_TRUE(text.text.ends_with(
      "\n(:goal (and (on b a)\n(preference x (on c d))\n(forall (?y) (Preference z (on ?y d)))\n)))\n"))
      << text.text;
}

// Where nothing is wanted at the end, what must hold on the way may be all that is asked for.
TEST(ProblemText, ConstraintsAskForSomething) {
  EXPECT_TRUE(goals::asks_for_something("(define (problem p) (:goal (on a b)))"));
  EXPECT_TRUE(goals::asks_for_something("(define (problem p) (:goal (and)) (:constraints (always (on a b))))"));
  EXPECT_TRUE(goals::asks_for_something("(define (problem p) (:constraints (and (sometime (p)))) (:goal ()))"));
  EXPECT_FALSE(goals::asks_for_something("(define (problem p) (:goal (and)) (:constraints (and)))"));
  EXPECT_FALSE(goals::asks_for_something("(define (problem p) (:goal (and)) ; (:constraints (always (p)))\n)"));
  // Without a goal the file is not whole.
  EXPECT_FALSE(goals::asks_for_something("(define (problem p) (:constraints (always (on a b))))"));
  EXPECT_FALSE(states_goal("(define (problem p) (:goal (and)) (:constraints (always (on a b))))"));
  EXPECT_TRUE(goals::asks_for_something("no list"));
}

TEST(ProblemText, WhatLooksBackIsKnown) {
  const auto looks_back = [](const std::string& goal) { return goals::looks_back(*split_goal(goal, no_predicate)); };
  EXPECT_FALSE(looks_back("(and (p) (always (q)) (forall (?x) (always (q ?x))))"));
  EXPECT_TRUE(looks_back("(and (p) (sometime (q)))"));
  EXPECT_TRUE(looks_back("(forall (?x) (at-most-once (q ?x)))"));
  EXPECT_TRUE(looks_back("(sometime-before (p) (q))"));
}

TEST(ProblemText, DeepNestingEndsNothing) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "(and ";
  deep += std::string(20'000, ')');
  EXPECT_TRUE(states_goal("(define (problem p) (:goal " + deep + "))"));
  EXPECT_TRUE(split_goal(deep, no_predicate));
  EXPECT_TRUE(
      goals::with_goal("(define (problem p) (:goal " + deep + "))", {"(q)", {}}).text.ends_with("(:goal (q)\n))\n"));
}

}  // namespace
}  // namespace metactrl::problem_text_test
