// Files as people write them: what other readers take is read here, too, means the same on both roads, and is warned
// about where it may be a mistake.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/both_roads.h"

namespace metactrl::untidy_test {
namespace {

struct Case {
  std::string name;
  std::string domain;
  std::string problem;
  std::string warning;            // part of the one warning that is about the oddity; empty: none is expected
  std::vector<std::string> plan;  // its one shortest plan
};

// Rooms a -> b -> c and a key: `go` and `take` are all there is.
std::string domain(const std::string& types, const std::string& actions, const std::string& more = "") {
  return "(define (domain d)\n(:requirements :typing)\n" + types +
         "\n(:predicates (at ?r - room) (link ?r ?s - room) (in ?i - item ?r - room) (have ?i - item))\n" + more +
         "\n" + actions + ")\n";
}
const std::string kTypes = "(:types room item)";
const std::string kGo =
    "(:action go :parameters (?a ?b - room) :precondition (and (at ?a) (link ?a ?b)) :effect (and (not (at ?a)) (at "
    "?b)))\n";
const std::string kTake =
    "(:action take :parameters (?i - item ?r - room) :precondition (and (at ?r) (in ?i ?r)) :effect (have ?i))\n";
const std::string kProblem =
    "(define (problem p) (:domain d) (:objects a b c - room k - item)\n"
    "(:init (at a) (link a b) (link b c) (in k c)) (:goal (have k)))\n";
const std::vector<std::string> kPlan = {"(go a b)", "(go b c)", "(take k c)"};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

std::vector<Case> cases() {
  const std::string tidy = domain(kTypes, kGo + kTake);
  const std::string costs = "(:functions (total-cost) - number (dist ?r ?s - room) - number)";
  const std::string costly =
      domain(kTypes, replaced(kGo, "(at ?b)))", "(at ?b) (increase (total-cost) (dist ?a ?b))))") + kTake, costs);
  const std::string far = replaced(kProblem, "(in k c)", "(link a c) (in k c) (= (dist a b) 1) (= (dist b c) 1)");
  return {
      {"Tidy", tidy, kProblem, "", kPlan},
      {"NameGluedToVariable", replaced(tidy, "(at ?a) (link ?a ?b)", "(at?a) (link?a?b)"), kProblem,
       "read as 'at' and '?a'", kPlan},
      {"DashGluedToType", replaced(tidy, "?a ?b - room", "?a ?b -room"), kProblem, "'-room' is read as the type",
       kPlan},
      {"DashGluedToTypeOfObjects", tidy, replaced(kProblem, "a b c - room", "a b c -room"),
       "'-room' is read as the type", kPlan},
      {"TwoSupertypes",
       replaced(replaced(tidy, "room item)", "room item key - thing key - item)"), "(have ?i - item)",
                "(have ?i - thing)"),
       replaced(kProblem, "k - item", "k - key"), "two supertypes, 'thing' and 'item'", kPlan},
      {"TypeBelowItself", replaced(tidy, "room item)", "thing room\n item - thing)"), kProblem,
       "type 'thing' is declared below itself", kPlan},
      {"CostWithoutValue", costly, replaced(far, "(have k)))", "(have k)) (:metric minimize (total-cost)))"),
       "needs (dist a c), which has no value", kPlan},
      {"UndeclaredTypeOfPredicate", replaced(tidy, "(have ?i - item)", "(have ?i - thing)"), kProblem,
       "type 'thing' is not declared, so any object", kPlan},
      {"UndeclaredTypeOfConstants",
       replaced(replaced(replaced(replaced(tidy, "(in ?i - item", "(in ?i - gadget"), "(have ?i - item",
                                  "(have ?i - gadget"),
                         "(?i - item", "(?i - gadget"),
                "(:predicates", "(:constants k - gadget)\n(:predicates"),
       replaced(kProblem, " k - item", ""), "type 'gadget' is not declared", kPlan},
      {"ParameterTwice",
       domain(kTypes, kGo +
                          "(:action take :parameters (?i - item ?r - room ?r - room) :precondition (and (at ?r) (in ?i "
                          "?r)) :effect (have ?i))"),
       kProblem,
       "declared twice in one list",
       {"(go a b)", "(go b c)", "(take k c c)"}},
      {"TwoActionsOfOneName",
       domain(kTypes, kGo + replaced(kTake, "take", "go")),
       kProblem,
       "called 'go-2' in plans",
       {"(go a b)", "(go b c)", "(go-2 k c)"}},
      {"ActionCopied", domain(kTypes, kGo + kGo + kTake), kProblem, "word for word the same", kPlan},
      {"PredicateTwice", replaced(tidy, "(have ?i - item)", "(have ?i - item) (have ?x - item)"), kProblem,
       "predicate 'have' is declared twice", kPlan},
      {"DerivedNotDeclared",
       domain(kTypes, replaced(kGo, "(at ?a) (link ?a ?b)", "(at ?a) (way ?a ?b)") + kTake +
                          "(:derived (way ?a ?b - room) (link ?a ?b))"),
       kProblem, "derived predicate 'way' is not declared", kPlan},
      {"IdleFunction", tidy, replaced(kProblem, "(at a)", "(at a) (= (fuel a) 3) (= (fuel b) 4)"),
       "function 'fuel' is not declared, and nothing uses it", kPlan},
      {"ParenthesisBehindTheEnd", tidy + ")\n", kProblem, "')' without a matching '('", kPlan},
      {"SecondDefinition", tidy, kProblem + "\n(define (problem q) (:domain d) (:goal (have k)))", "text after the end",
       kPlan},
      {"ProseBehindTheEnd", tidy, kProblem + "This is the problem – as asked.", "text after the end", kPlan},
      {"ObjectOfTheProblemInTheDomain", replaced(tidy, "(in ?i ?r))", "(in ?i ?r) (at c))"), kProblem,
       "object 'c' is named here but declared only in the problem", kPlan},
      {"LettersOutsideAscii", replaced(tidy, "(have ?i - item)", "(have ?i - item) (größer ?i - item)"),
       replaced(replaced(kProblem, "k - item", "k clé - item"), "(at a)", "(at a) (in clé a) (größer clé)"), "", kPlan},
      {"NoBreakSpace", replaced(tidy, "(link ?a ?b)", "(link\u00a0?a\u00a0?b)"), kProblem, "", kPlan},
  };
}

class Untidy : public ::testing::TestWithParam<Case> {};

TEST_P(Untidy, MeansWhatItSays) {
  const Case& c = GetParam();
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  const Task task = load_pddl_text(c.domain, c.problem, options);
  std::vector<Diagnostic> about;
  for (const Diagnostic& d : diagnostics.items()) {
    if (d.message.find(":requirements") == std::string::npos) about.push_back(d);
  }
  const auto fits = [&](const Diagnostic& d) { return to_string(d).find(c.warning) != std::string::npos; };
  if (c.warning.empty()) {
    EXPECT_TRUE(about.empty()) << to_string(about.front());
  } else {
    EXPECT_EQ(std::count_if(about.begin(), about.end(), fits), 1);
    for (const Diagnostic& d : about) {
      EXPECT_EQ(d.severity, Diagnostic::Severity::kWarning) << to_string(d);
      EXPECT_GT(d.where.line, 0U) << to_string(d);
    }
  }
  EXPECT_GT(testing::expect_both_roads_agree(c.domain, c.problem, 50), 1U);
  const auto lookahead = Lookahead::compile(task, {});
  std::vector<std::string> plan;
  for (const ActionId action : lookahead->plan()) plan.push_back(task.text(action));
  EXPECT_EQ(plan, c.plan);
}

INSTANTIATE_TEST_SUITE_P(Files, Untidy, ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<Case>& info) { return info.param.name; });

std::string refusal(const std::string& domain, const std::string& problem) {
  try {
    load_pddl_text(domain, problem);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// Where reading on would change the meaning, or nobody can know what was meant.
TEST(UntidyRefused, WhatIsNotClear) {
  const std::string tidy = domain(kTypes, kGo + kTake);
  // A section behind the end: a ')' too many ended the definition.
  EXPECT_NE(refusal(domain(kTypes, kGo + ")" + kTake), kProblem).find("a section after the end"), std::string::npos);
  EXPECT_NE(refusal(tidy + ") ; and\n ) (:action x)", kProblem).find("a section after the end"), std::string::npos);
  // A type of constants that is nearly one that is declared.
  EXPECT_NE(refusal(replaced(tidy, "(:predicates", "(:constants k - itme)\n(:predicates"), kProblem)
                .find("did you mean 'item'?"),
            std::string::npos);
  // One name, two types.
  EXPECT_NE(refusal(replaced(tidy, "(?i - item ?r - room)", "(?i - item ?i - room)"), kProblem).find("declared twice"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(tidy, "(have ?i - item)", "(have ?i - item) (have ?i ?j - item)"), kProblem)
                .find("with different parameters"),
            std::string::npos);
  // A misspelt function is no idle one.
  const std::string costs = domain(kTypes, kGo + kTake, "(:functions (distance ?r ?s - room) - number)");
  EXPECT_NE(refusal(costs, replaced(kProblem, "(at a)", "(at a) (= (distence a b) 3)")).find("did you mean 'distance'"),
            std::string::npos);
  // A type that is not declared where objects or parameters depend on it; a circle of types.
  EXPECT_NE(refusal(replaced(tidy, "?a ?b - room)", "?a ?b - place)"), kProblem).find("type 'place' is not declared"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(tidy, "room item)", "room - item item - room)"), kProblem).find("its own supertype"),
            std::string::npos);
  // What looks like ASCII and is not; a byte that is no character.
  EXPECT_NE(refusal(replaced(tidy, "?a ?b - room", "?a ?b – room"), kProblem).find("U+2013"), std::string::npos);
  EXPECT_NE(refusal(replaced(tidy, "(have ?i)", "(have\xe9 ?i)"), kProblem).find("is not UTF-8"), std::string::npos);
}

// Two that nothing declares are no misspellings of each other, but of a declared one they are.
TEST(UntidyTypes, UndeclaredTypesOfConstantsAreComparedWithDeclaredOnes) {
  const auto of = [](const std::string& constants) {
    return "(define (domain d) (:types station) (:constants " + constants +
           ")\n(:predicates (done)) (:action a :parameters () :effect (done)))";
  };
  const std::string problem = "(define (problem p) (:domain d) (:goal (done)))";
  EXPECT_EQ(load_pddl_text(of("a - level1 b - level2 c - level1"), problem).num_actions(), 1U);
  EXPECT_NE(refusal(of("a - level1 b - statoin"), problem).find("did you mean 'station'"), std::string::npos);
}

TEST(UntidyTypes, ObjectsOfATypeBelowTwoBelongToBoth) {
  const std::string text =
      "(define (domain d) (:types top left right - top both - left both - right)\n"
      "(:predicates (l ?x - left) (r ?x - right) (t ?x - top))\n"
      "(:action al :parameters (?x - left) :effect (l ?x)) (:action ar :parameters (?x - right) :effect (r ?x))\n"
      "(:action at :parameters (?x - top) :precondition (and (l ?x) (r ?x)) :effect (t ?x)))";
  const std::string problem =
      "(define (problem p) (:domain d) (:objects b - both x - left y - right) (:init) (:goal (forall (?x - left) (l "
      "?x))))";
  EXPECT_GT(testing::expect_both_roads_agree(text, problem, 100), 8U);
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  const Task task = load_pddl_text(text, problem, options);
  EXPECT_EQ(task.num_actions(), 5U);  // al b x, ar b y, at b
  for (const Diagnostic& d : diagnostics.items())
    EXPECT_EQ(d.message.find("never be"), std::string::npos) << to_string(d);
}

}  // namespace
}  // namespace metactrl::untidy_test
