// Numbers: what they mean, what is said about them, and where they end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/both_roads.h"
#include "support/rational.h"
#include "task/program.h"

namespace metactrl::numbers_test {
namespace {

using internal::Rational;

TEST(Rational, IsExact) {
  EXPECT_EQ(Rational::parse("0.1")->text(), "0.1");
  EXPECT_EQ(add(*Rational::parse("0.1"), *Rational::parse("0.2")), Rational::parse("0.3"));
  EXPECT_EQ(divide(Rational(1), Rational(-3))->text(), "-1/3");
  EXPECT_EQ(multiply(*divide(Rational(1), Rational(3)), Rational(3)), Rational(1));
  EXPECT_EQ(Rational::parse("-0.250")->text(), "-0.25");
  EXPECT_EQ(Rational::parse("+7")->text(), "7");
  EXPECT_FALSE(divide(Rational(1), Rational(0)));
  EXPECT_FALSE(Rational::parse("1e3"));
  EXPECT_FALSE(Rational::parse("."));
  EXPECT_FALSE(Rational::parse("123456789012345678901"));
  EXPECT_FALSE(multiply(Rational(1LL << 40), Rational(1LL << 40)));
  EXPECT_LT(*Rational::parse("-2"), *Rational::parse("0.5"));
}

// A robot with a battery; a drive takes what the way is long, and half of it uphill.
constexpr const char* kDomain = R"((define (domain robots)
  (:requirements :adl :numeric-fluents)
  (:types robot place)
  (:predicates (at ?r - robot ?p - place) (charger ?p - place))
  (:functions (battery ?r - robot) (distance ?a ?b - place) (driven))
  (:action drive :parameters (?r - robot ?a ?b - place)
    :precondition (and (at ?r ?a) (>= (battery ?r) (distance ?a ?b)))
    :effect (and (not (at ?r ?a)) (at ?r ?b) (decrease (battery ?r) (distance ?a ?b)) (increase (driven) (distance ?a ?b))))
  (:action charge :parameters (?r - robot ?a - place)
    :precondition (and (at ?r ?a) (charger ?a) (< (battery ?r) 10))
    :effect (assign (battery ?r) 10))))";

std::string problem(const std::string& battery, const std::string& goal) {
  return "(define (problem p) (:domain robots) (:objects r - robot a b c - place)\n"
         "(:init (at r a) (charger a) (= (distance a b) 4) (= (distance b a) 4) (= (distance b c) 5.5) (= (driven) "
         "0) " +
         battery + ")\n(:goal " + goal + "))";
}

std::vector<std::string> plan_of(const Task& task) {
  LookaheadOptions options;
  options.horizon = 60;
  const auto lookahead = Lookahead::compile(task, options);
  std::vector<std::string> out;
  if (lookahead->verdict() != Verdict::kSolvable) return {to_string(lookahead->verdict())};
  for (const ActionId action : lookahead->plan()) out.push_back(task.text(action));
  EXPECT_TRUE(task.validate(lookahead->plan()).valid);
  return out;
}

TEST(Numbers, ABatteryIsObeyed) {
  const std::string start = problem("(= (battery r) 9)", "(at r c)");
  EXPECT_EQ(plan_of(load_pddl_text(kDomain, start)),
            (std::vector<std::string>{"(charge r a)", "(drive r a b)", "(drive r b c)"}));
  EXPECT_EQ(plan_of(load_pddl_text(kDomain, problem("(= (battery r) 9.5)", "(at r c)"))),
            (std::vector<std::string>{"(drive r a b)", "(drive r b c)"}));
  EXPECT_EQ(plan_of(load_pddl_text(kDomain, problem("(= (battery r) 9)", "(and (at r c) (>= (battery r) 1))"))),
            (std::vector<std::string>{"infeasible"}));
  testing::expect_both_roads_agree(kDomain, start, 60);
}

TEST(Numbers, ReasonsNameValues) {
  const Task task = load_pddl_text(kDomain, problem("(= (battery r) 9)", "(at r c)"));
  const std::vector<PlanStep> plan = {{"drive", {"r", "a", "b"}}, {"drive", {"r", "b", "c"}}};
  EXPECT_EQ(
      task.validate(plan).reason,
      "step 2 (drive r b c): precondition (>= (battery r) (distance b c)) is false: (battery r) is 5, (distance b c) "
      "is 5.5");
  const std::vector<PlanStep> unknown_way = {{"drive", {"r", "a", "c"}}};
  EXPECT_NE(task.validate(unknown_way).reason.find("(distance a c) has no value"), std::string::npos);
}

TEST(Numbers, WithoutAValueNothingHolds) {
  const std::string start = problem("", "(at r b)");
  EXPECT_EQ(plan_of(load_pddl_text(kDomain, start)), (std::vector<std::string>{"infeasible"}));
  testing::expect_both_roads_agree(kDomain, start, 10);
}

// A counter that only rises needs no value beyond the last that anything asks for.
TEST(Numbers, WhatOnlyRisesIsCutAtTheLastThreshold) {
  const std::string domain =
      "(define (domain d) (:requirements :numeric-fluents) (:functions (n)) (:action up :effect (increase (n) 1)))";
  const std::string start = "(define (problem p) (:domain d) (:init (= (n) 0)) (:goal (>= (n) 30)))";
  EXPECT_EQ(plan_of(load_pddl_text(domain, start)).size(), 30U);
  EXPECT_GT(testing::expect_both_roads_agree(domain, start, 40), 30U);
}

// A load falls when something is taken out, which must be inside: no condition bounds it from below.
TEST(Numbers, FactsBoundNumbers) {
  const std::string domain =
      "(define (domain d) (:requirements :typing :numeric-fluents) (:types crate) (:predicates (in ?c - crate) (out ?c "
      "- "
      "crate)) (:functions (load) (weight ?c - crate))\n"
      "(:action put :parameters (?c - crate) :precondition (and (out ?c) (<= (+ (load) (weight ?c)) 7)) :effect (and "
      "(in "
      "?c) (not (out ?c)) (increase (load) (weight ?c))))\n"
      "(:action get :parameters (?c - crate) :precondition (in ?c) :effect (and (out ?c) (not (in ?c)) (decrease "
      "(load) "
      "(weight ?c)))))";
  const std::string start =
      "(define (problem p) (:domain d) (:objects x y z - crate) (:init (out x) (in y) (in z) (= (load) 6) (= (weight "
      "x) "
      "4) (= (weight y) 2) (= (weight z) 4)) (:goal (and (in x) (in y))))";
  EXPECT_EQ(plan_of(load_pddl_text(domain, start)), (std::vector<std::string>{"(get z)", "(put x)"}));
  testing::expect_both_roads_agree(domain, start, 60);
}

TEST(Numbers, WhatGrowsWithoutEndIsFollowedAsFarAsItGoes) {
  const std::string domain =
      "(define (domain d) (:requirements :numeric-fluents) (:functions (x) (y)) (:action up :effect (increase (x) 1))\n"
      "(:action down :effect (decrease (x) 1)))";
  const auto start = [](const std::string& goal) {
    return "(define (problem p) (:domain d) (:init (= (x) 0)) (:goal " + goal + "))";
  };
  const Task near = load_pddl_text(domain, start("(= (x) 5)"));
  EXPECT_EQ(plan_of(near), std::vector<std::string>(5, "(up)"));
  EXPECT_EQ(Lookahead::compile(near, {})->shortest_plan_length(), 5U);
  const auto far = Lookahead::compile(load_pddl_text(domain, start("(= (x) 5000)")), {});
  EXPECT_EQ(far->verdict(), Verdict::kUndecided);
  EXPECT_NE(far->reason().find("not followed: (x) beyond -49 .. 49, which grows"), std::string::npos) << far->reason();
  EXPECT_TRUE(far->unreachable_goals().empty());
}

TEST(Numbers, IntervalsRefuteWhereValuesHaveNoEnd) {
  const std::string domain =
      "(define (domain d) (:requirements :numeric-fluents) (:functions (x) (z))\n"
      "(:action up :precondition (<= (z) 1) :effect (increase (z) 1)) (:action down :effect (decrease (z) 1))\n"
      "(:action more :precondition (>= (z) 0) :effect (and (increase (x) (z)) (increase (x) 1))))";
  const auto verdict = [&](const std::string& goal) {
    return Lookahead::compile(
        load_pddl_text(domain, "(define (problem p) (:domain d) (:init (= (x) 0) (= (z) 0)) (:goal " + goal + "))"),
        {});
  };
  const auto never = verdict("(and (>= (x) 4) (>= (z) 3))");
  EXPECT_EQ(never->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(never->reason(), "numbers never come within what the goal asks for; out of reach: (>= (z) 3)");
  EXPECT_EQ(verdict("(and (>= (x) 4) (>= (z) 2))")->verdict(), Verdict::kSolvable);
  EXPECT_EQ(verdict("(>= (x) 4000)")->verdict(), Verdict::kUndecided);
}

// (x) grows without end, both ways.
TEST(Numbers, AGoalBesideWhatGrowsIsRefuted) {
  const std::string head =
      "(define (domain d) (:requirements :adl :numeric-fluents) (:predicates (home) (away) (far) (off)) (:functions "
      "(x) "
      "(fuel) (limit))\n"
      "(:action up :effect (increase (x) 1)) (:action down :effect (decrease (x) 1))\n"
      "(:action go :precondition (and (home) (>= (fuel) 3)) :effect (and (not (home)) (away) (decrease (fuel) 3) "
      "(increase (x) 1)))\n";
  const auto load = [&](const std::string& further, const std::string& goal) {
    return load_pddl_text(
        head + "(:action further :precondition (and (away) " + further + ") :effect (and (far) (decrease (fuel) 3))))",
        "(define (problem p) (:domain d) (:objects o) (:init (home) (= (x) 0) (= (fuel) 5) (= (limit) 7)) (:goal " +
            goal + "))");
  };
  // What it depends on does not grow: two of three litres each cannot be had from five.
  const Task alone = load("(>= (fuel) 3)", "(and (= (x) 5) (far))");
  const auto lookahead = Lookahead::compile(alone, {});
  EXPECT_EQ(lookahead->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(lookahead->reason(), "a goal is out of reach, whatever grows; out of reach: (far)");
  EXPECT_EQ(why_infeasible(alone).reasons, std::vector<std::string>{"no state that can be reached satisfies (far)"});
  // It depends on what grows, and intervals show that the action is never possible.
  const auto verdict = [&](const std::string& further, const std::string& goal) {
    return Lookahead::compile(load(further, goal), {})->verdict();
  };
  EXPECT_EQ(verdict("(>= (fuel) (limit)) (< (x) 1000)", "(and (= (x) 5) (far))"), Verdict::kInfeasible);
  EXPECT_EQ(verdict("(>= (fuel) (limit)) (< (x) 1000)", "(or (far) (and (off) (= (x) 2)))"), Verdict::kInfeasible);
  EXPECT_EQ(verdict("(not (< (fuel) (limit))) (< (x) 1000)", "(exists (?o - object) (far))"), Verdict::kInfeasible);
  EXPECT_EQ(verdict("(forall (?o - object) (off)) (> (fuel) 100)", "(and (= (x) 5) (far))"), Verdict::kInfeasible);
  EXPECT_EQ(verdict("(>= (fuel) 2) (< (x) 1000)", "(and (= (x) 5) (far))"), Verdict::kSolvable);
  // Neither shows it.
  EXPECT_EQ(verdict("(>= (fuel) 2) (< (x) 1000)", "(and (= (x) 500) (far))"), Verdict::kUndecided);
}

// What the start changes is not asked for over all before it has changed.
TEST(Numbers, IntervalsOfWhatTakesTime) {
  const std::string domain =
      "(define (domain d) (:requirements :durative-actions :numeric-fluents) (:predicates (p)) (:functions (x) (y))\n"
      "(:durative-action up :parameters () :duration (= ?duration 1) :effect (at end (increase (x) 1)))\n"
      "(:durative-action down :parameters () :duration (= ?duration 1) :effect (at end (decrease (x) 1)))\n"
      "(:durative-action fill :parameters () :duration (= ?duration 1) :condition (and (over all (>= (y) 5)) (at end "
      "(> "
      "(y) 5)))\n"
      " :effect (and (at start (increase (y) 6)) (at end (p)) (at end (decrease (y) 6)))))";
  const auto verdict = [&](const std::string& goal) {
    return Lookahead::compile(
               load_pddl_text(domain,
                              "(define (problem p) (:domain d) (:init (= (x) 0) (= (y) 0)) (:goal " + goal + "))"),
               {})
        ->verdict();
  };
  EXPECT_EQ(verdict("(and (= (x) 2) (p))"), Verdict::kSolvable);
  EXPECT_EQ(verdict("(and (p) (>= (+ (x) (y)) 3000))"), Verdict::kUndecided);
}

TEST(Numbers, TwoAssignmentsExcludeEachOther) {
  const std::string domain =
      "(define (domain d) (:requirements :adl :numeric-fluents) (:predicates (p) (q)) (:functions (x))\n"
      "(:action a :effect (and (when (p) (assign (x) 1)) (when (q) (assign (x) 2)) (when (q) (not (q)))))\n"
      "(:action b :effect (not (p))) (:action c :precondition (<= (x) 3) :effect (and (increase (x) 1) (increase (x) "
      "2))))";
  const std::string start = "(define (problem p) (:domain d) (:init (p) (q) (= (x) 0)) (:goal (= (x) 5)))";
  const Task task = load_pddl_text(domain, start);
  EXPECT_EQ(plan_of(task), (std::vector<std::string>{"(b)", "(a)", "(c)"}));
  const std::vector<PlanStep> both = {{"a", {}}};
  EXPECT_EQ(task.validate(both).reason, "step 1 (a): two of its effects change (x) at once");
  testing::expect_both_roads_agree(domain, start, 60);
}

TEST(Numbers, MistakesAreToldWithTheirPlace) {
  const auto refusal = [](const std::string& precondition) {
    try {
      load_pddl_text(
          "(define (domain d) (:requirements :numeric-fluents) (:predicates (p)) (:functions (x) (w ?a))\n"
          "(:action a :precondition " +
              precondition + " :effect (p)))",
          "(define (problem p) (:domain d) (:init (= (x) 0)) (:goal (p)))");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("(>= (x) (y))").find("domain:2:34: error: function 'y' is not declared"), std::string::npos);
  EXPECT_NE(refusal("(>= (x))").find("has 1 member instead of 2"), std::string::npos);
  EXPECT_NE(refusal("(>= (w) 1)").find("function 'w' has 1 argument, not 0"), std::string::npos);
  EXPECT_NE(refusal("(> (x) 1.23456789012345678901)").find("too many digits"), std::string::npos);
  EXPECT_NE(refusal("(> (/ (x)) 1)").find("(/ ...) has 1 member"), std::string::npos);
  EXPECT_NE(refusal("(> (x) 1e3)").find("domain:2:33: error: the number '1e3' has an exponent; write it out: 1000"),
            std::string::npos);
  EXPECT_NE(refusal("(x)").find("'x' is a function, not a predicate"), std::string::npos);
  EXPECT_EQ(refusal("(and (>= (x) 0) (<= (- (x)) (* 2 (+ 1 1 1))))"), "");
  EXPECT_EQ(refusal("(>= 3 2)"), "");
}

TEST(Numbers, DividingByZeroIsTold) {
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  load_pddl_text(
      "(define (domain d) (:requirements :numeric-fluents) (:predicates (p)) (:functions (x))\n"
      "(:action a :precondition (> (/ (x) 0) 1) :effect (p)))",
      "(define (problem p) (:domain d) (:init (= (x) 0)) (:goal (p)))", options);
  ASSERT_EQ(diagnostics.items().size(), 1U);
  EXPECT_EQ(diagnostics.items()[0].message, "(/ (x) 0) divides by 0");
  EXPECT_EQ(diagnostics.items()[0].where.column, 36U);
}

TEST(Numbers, AForgottenValueIsTold) {
  const auto warnings = [](const std::string& init) {
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    load_pddl_text(
        "(define (domain d) (:requirements :typing :numeric-fluents) (:types robot place)\n"
        "(:functions (battery ?r - robot) (way ?a ?b - place) (seen) (kept))\n"
        "(:action go :parameters (?r - robot ?a ?b - place) :precondition (>= (battery ?r) (way ?a ?b))\n"
        " :effect (and (decrease (battery ?r) (way ?a ?b)) (increase (seen) 1)))\n"
        "(:action keep :precondition (< (kept) 3) :effect (assign (kept) 4)))",
        "(define (problem p) (:domain d) (:objects x y - robot a b - place) (:init " + init +
            ") (:goal (<= (battery x) 1)))",
        options);
    std::vector<std::string> out;
    for (const Diagnostic& one : diagnostics.items())
      out.push_back(std::to_string(one.where.line) + ": " + one.message);
    return out;
  };
  const std::string tail =
      " has no value in (:init ...), and no action assigns it one: comparisons with it are never true, and it cannot "
      "be "
      "changed";
  using Lines = std::vector<std::string>;
  EXPECT_EQ(warnings("(= (battery x) 3) (= (battery y) 3) (= (way a b) 2)"), Lines{});
  EXPECT_EQ(warnings("(= (battery x) 3) (= (way a b) 2)"), Lines{"2: (battery y)" + tail});
  EXPECT_EQ(warnings(""), (Lines{"2: (battery x)" + tail, "2: (way ?a ?b)" + tail}));
}

// Three counters that nothing bounds: each is followed as far as there is room for all choices of the three.
TEST(Numbers, ThoseThatAreComparedTogetherShareTheRoom) {
  const std::string domain =
      "(define (domain c) (:requirements :typing :numeric-fluents) (:types k) (:functions (x ?k - k))\n"
      "(:action up :parameters (?k - k) :effect (increase (x ?k) 1))\n"
      "(:action down :parameters (?k - k) :effect (decrease (x ?k) 1)))";
  const auto task = [&](const std::string& goal) {
    return load_pddl_text(domain,
                          "(define (problem c) (:domain c) (:objects a b e - k)\n"
                          "(:init (= (x a) 0) (= (x b) 0) (= (x e) 0)) (:goal " +
                              goal + "))");
  };
  const Task near = task("(= (+ (x a) (+ (x b) (x e))) 2)");
  const auto found = Lookahead::compile(near, {});
  EXPECT_EQ(found->verdict(), Verdict::kSolvable) << found->reason();
  EXPECT_EQ(found->shortest_plan_length(), 2U);
  EXPECT_EQ(near.program().definition().cut.size(), 3U);
  testing::expect_both_roads_agree(domain,
                                   "(define (problem c) (:domain c) (:objects a b e - k)\n"
                                   "(:init (= (x a) 0) (= (x b) 0) (= (x e) 0)) (:goal (= (+ (x a) (+ (x b) (x e))) "
                                   "2)))",
                                   20);
  const auto lost = Lookahead::compile(task("(= (+ (x a) (+ (x b) (x e))) 1000)"), {});
  EXPECT_EQ(lost->verdict(), Verdict::kUndecided);
  EXPECT_NE(lost->reason().find("not followed: (x a) beyond "), std::string::npos) << lost->reason();
  // Changes that read several are no other.
  const Task sums = load_pddl_text(
      "(define (domain s) (:requirements :numeric-fluents) (:functions (a) (b) (c) (d))\n"
      "(:action up :effect (and (increase (a) 1) (decrease (b) 1) (increase (c) 2)))\n"
      "(:action down :effect (and (decrease (a) 1) (increase (b) 2) (decrease (c) 1)))\n"
      "(:action sum :effect (assign (d) (+ (a) (+ (b) (c))))))",
      "(define (problem s) (:domain s) (:init (= (a) 0) (= (b) 0) (= (c) 0) (= (d) 0)) (:goal (= (d) 2)))");
  EXPECT_EQ(Lookahead::compile(sums, {})->verdict(), Verdict::kSolvable);
}

}  // namespace
}  // namespace metactrl::numbers_test
