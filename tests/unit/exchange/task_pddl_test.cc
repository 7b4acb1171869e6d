// Tasks as PDDL: what is written, and that it is the same task when it is read again. Random tasks are in
// property/exchange_property_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/exchange/export.h"
#include "metactrl/exchange/sas.h"
#include "metactrl/lookahead.h"
#include "support/same_plans.h"
#include "support/test_data.h"

namespace metactrl::task_pddl_test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(contains(text, part)) << (text)
#define EXPECT_LACKS(text, part) EXPECT_FALSE(contains(text, part)) << (text)

void expect_same(const Task& task, const PddlTask& text, bool delayed, std::size_t limit = 500) {
  SCOPED_TRACE(text.domain + text.problem);
  Diagnostics diagnostics;
  LoadOptions options;
  options.diagnostics = &diagnostics;
  const Task again = load_pddl_text(text.domain, text.problem, options);
  // A goal such as (forn (0) ...) asks for nothing, and comes out empty.
  for (const Diagnostic& d : diagnostics.items())
    EXPECT_TRUE(d.message.starts_with("the goal is empty")) << to_string(d);
  testing::SamePlans(task, again, delayed, limit, text.cost_factor).run();
}

TEST(PddlTask, TheTableIsTheSameTask) {
  for (const char* name : {"clean_dishes", "dishwasher", "fridge_to_stove", "breakfast_table", "boxed_tools",
                           "donut_canister", "green_block", "stack_dishes"}) {
    SCOPED_TRACE(name);
    const std::string folder = (testing::source_dir() / "domains/tabletop/").string();
    const Task task = load_pddl(folder + "domain.pddl", folder + name + ".pddl");
    const PddlTask text = pddl_task(task);
    EXPECT_TRUE(text.notes.empty()) << text.notes[0];
    EXPECT_CONTAINS(text.domain, "(:requirements :adl :derived-predicates)");
    EXPECT_CONTAINS(text.domain, "(define (domain tabletop)");
    expect_same(task, text, false, 200);
  }
}

// What takes time goes out as one step, from its start to its end, whatever its duration is made of.
TEST(PddlTask, WhatTakesTimeIsTheSameTask) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :typing :durative-actions) (:types robot place)\n"
      "(:predicates (at ?r - robot ?p - place) (seen ?p - place) (busy))\n"
      "(:durative-action drive :parameters (?r - robot ?a ?b - place) :duration (= ?duration 5)\n"
      " :condition (and (at start (at ?r ?a)) (at start (not (busy))) (over all (busy)))\n"
      " :effect (and (at start (not (at ?r ?a))) (at start (busy)) (at end (not (busy))) (at end (at ?r ?b))))\n"
      "(:durative-action look :parameters (?r - robot ?p - place) :duration (= ?duration 2)\n"
      " :condition (and (over all (at ?r ?p)) (at end (not (busy)))) :effect (at end (seen ?p))))",
      "(define (problem d) (:domain d) (:objects x - robot k l - place) (:init (at x k)) (:goal (and (seen k) (seen "
      "l))))");
  expect_same(task, pddl_task(task), false);
  const std::string folder = (testing::source_dir() / "examples/patrol/").string();
  const Task numbers = load_pddl(folder + "domain.pddl", folder + "two_rooms.pddl");
  expect_same(numbers, pddl_task(numbers), false);
}

TEST(PddlTask, ShippedDomainsOfBenchmarksAreWritten) {
  // A small scene is enough: what counts is that every construct of the domains has a form.
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :adl) (:types a b - object c - a) (:constants k - c)"
      "(:predicates (p ?x - a) (q ?x - object ?y - b))"
      "(:action go :parameters (?x - a ?y - b) :precondition (imply (p ?x) (exists (?z - c) (p ?z)))"
      " :effect (and (forall (?z - a) (when (not (= ?z ?x)) (p ?z))) (q k ?y))))",
      "(define (problem x) (:domain d) (:objects m - a n - b) (:init (p k)) (:goal (q k n)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(:types\n    a - object\n    b - object\n    c - a)");
  EXPECT_CONTAINS(text.domain, "(:constants\n    k - c)");
  EXPECT_CONTAINS(text.problem, "(:objects\n    m - a\n    n - b)");
  expect_same(task, text, false);
}

TEST(PddlTask, ActionsThatTakeTimeAreWrittenWhole) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :durative-actions) (:predicates (plugged) (charged) (free)) "
      "(:durative-action plug :parameters () :duration (= ?duration 1) :condition (at start (free)) "
      ":effect (and (at start (not (free))) (at end (plugged)))) "
      "(:durative-action charge :parameters () :duration (= ?duration 4) :condition (over all (plugged)) "
      ":effect (and (at end (charged)) (at end (free)))))",
      "(define (problem x) (:domain d) (:init (free)) (:goal (charged)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "; actions take no time: each is over before the next one begins\n");
  EXPECT_LACKS(text.domain, "durative");
  expect_same(task, text, false);
}

TEST(PddlTask, StripsStaysStrips) {
  const Task task = load_pddl_text(
      "(define (domain d) (:predicates (p ?x) (q ?x)) (:action a :parameters (?x) :precondition (p ?x)"
      " :effect (and (q ?x) (not (p ?x)))))",
      "(define (problem x) (:domain d) (:objects m n) (:init (p m)) (:goal (q m)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(:requirements :strips)");
  EXPECT_LACKS(text.domain, ":constants");
  expect_same(task, text, false);
}

TEST(PddlTask, ConstraintsBecomeFactsThatRemember) {
  const std::string domain =
      "(define (domain rooms) (:requirements :adl :constraints) (:predicates (in ?r) (door ?r ?s))"
      "(:action go :parameters (?r ?s) :precondition (and (in ?r) (door ?r ?s)) :effect (and (in ?s) (not (in ?r)))))";
  const auto load = [&](const std::string& constraint) {
    return load_pddl_text(domain,
                          "(define (problem p) (:domain rooms) (:objects hall den bath)"
                          "(:init (in hall) (door hall den) (door den hall) (door hall bath) (door bath hall))"
                          "(:goal (in hall)) (:constraints " +
                              constraint + "))");
  };
  for (const char* constraint :
       {"(always (not (in bath)))", "(sometime (in bath))", "(at-most-once (in bath))",
        "(sometime-after (in bath) (in den))", "(sometime-before (in bath) (in den))", "(always (in bath))",
        "(actions-in-order (go hall *) (one-of (go den hall) (go * bath)) go)", "(forall (?r) (sometime (in ?r)))",
        "(forall (?r) (at-most-once (in ?r)))", "(forall (?r) (sometime-before (in ?r) (in hall)))",
        "(and (sometime (in den)) (at end (not (in den))))"}) {
    SCOPED_TRACE(constraint);
    const Task task = load(constraint);
    const PddlTask text = pddl_task(task);
    EXPECT_LACKS(text.domain, "(:constraints");
    EXPECT_LACKS(text.problem, "(:constraints");
    ASSERT_FALSE(text.notes.empty());
    EXPECT_CONTAINS(text.domain, text.notes[0]);
    expect_same(task, text, true);
    const auto ours = Lookahead::compile(task, {});
    const auto theirs = Lookahead::compile(load_pddl_text(text.domain, text.problem), {});
    EXPECT_EQ(ours->verdict(), theirs->verdict());
    EXPECT_EQ(ours->shortest_plan_length(), theirs->shortest_plan_length());
  }
}

TEST(PddlTask, ConstraintsDoNotMultiplyTheActions) {
  // No action has a disjunction in its precondition: planners would write one action per way.
  const Task task = load_pddl_text(
      "(define (domain rooms) (:requirements :adl :constraints) (:predicates (in ?r) (constraint-1-ok))"
      "(:action go :parameters (?r ?s) :precondition (in ?r) :effect (and (in ?s) (not (in ?r)))))",
      "(define (problem p) (:domain rooms) (:objects hall den bath attic cellar) (:init (in hall)) (:goal (in hall))"
      "(:constraints (and (sometime-before (in bath) (in den)) (at-most-once (in den)) (sometime (in bath))"
      " (sometime-after (in bath) (in attic)) (always (or (in hall) (in den) (in bath) (in attic)))"
      " (always (not (in cellar))) (forall (?r) (at-most-once (in ?r))))))");
  const PddlTask text = pddl_task(task);
  const std::string actions = text.domain.substr(text.domain.find("(:action"));
  EXPECT_LACKS(actions, "(or");
  EXPECT_LACKS(text.problem, "(or");
  EXPECT_CONTAINS(text.domain, "(:derived (constraint-1-ok-2)\n    (or (constraint-1-seen) (not (in bath))))");
  EXPECT_CONTAINS(actions, "(not (in cellar))");
  expect_same(task, text, true);
}

TEST(PddlTask, ManyDisjunctionsArePredicates) {
  std::string parts;
  for (int i = 0; i < 12; ++i) parts += " (or (p k" + std::to_string(i) + ") (q ?x))";
  std::string constants;
  for (int i = 0; i < 12; ++i) constants += " k" + std::to_string(i);
  const auto load = [&](const std::string& precondition, const std::string& goal) {
    return load_pddl_text("(define (domain d) (:requirements :adl) (:constants" + constants +
                              ") (:predicates (p ?x) (q ?x) (r ?x))"
                              "(:action a :parameters (?x) :precondition " +
                              precondition + " :effect (r ?x)) (:action b :parameters (?x) :effect (q ?x)))",
                          "(define (problem x) (:domain d) (:init (p k1) (p k2)) (:goal " + goal + "))");
  };
  const Task many = load("(and" + parts + ")", "(forall (?x) (not (and (r ?x) " + parts + ")))");
  const PddlTask text = pddl_task(many);
  EXPECT_CONTAINS(text.domain, "(a-case-12 ?x)");
  EXPECT_LACKS(text.domain, "(a-case-13 ?x)");
  EXPECT_CONTAINS(text.domain, "24 disjunctions are derived predicates");
  EXPECT_LACKS(text.domain.substr(text.domain.find("(:action a")), "(or");
  expect_same(many, text, false, 100);
  // The negation of what stands in a `forall` is what a planner multiplies out.
  const Task goal = load("(q ?x)", "(forall (?x) (or (q ?x) (not (or (r ?x) (not (and" + parts + "))))))");
  expect_same(goal, pddl_task(goal), false, 100);
  std::string conjunctions;
  for (int i = 0; i < 12; ++i) conjunctions += " (and (p k" + std::to_string(i) + ") (q ?x))";
  const Task inner = load("(q ?x)", "(forall (?x) (or" + conjunctions + "))");
  const PddlTask inner_text = pddl_task(inner);
  EXPECT_CONTAINS(inner_text.domain, "(goal-case-12 ?x)");
  expect_same(inner, inner_text, false, 100);
  // A few are left alone.
  const Task few = load("(and (or (p k1) (q ?x)) (or (p k2) (r ?x)))", "(r k3)");
  EXPECT_TRUE(pddl_task(few).notes.empty());
}

TEST(PddlTask, RecursionThroughQuantifiersIsWrittenOut) {
  struct Case {
    const char* rules;
    bool rewritten;
  };
  for (const Case& c : {
           Case{"(:derived (safe ?x) (and (not (bad ?x)) (forall (?y) (or (not (e ?x ?y)) (safe ?y)))))", true},
           {"(:derived (safe ?x) (and (not (bad ?x)) (not (exists (?y) (and (e ?x ?y) (not (safe ?y)))))))", true},
           {"(:derived (safe ?x) (or (not (bad ?x)) (forall (?y) (safe ?y))))", true},
           {"(:derived (safe ?x) (or (not (bad ?x)) (exists (?z) (forall (?y ?w - t) (or (e ?z ?y) (safe ?w))))))",
            true},
           {"(:derived (safe ?x) (or (not (bad ?x)) (exists (?z) (forall (?y - none) (safe ?y)))))", true},
           // Around two corners.
           {"(:derived (safe ?x) (or (not (bad ?x)) (good ?x))) (:derived (good ?x) (forall (?y) (imply (e ?x ?y) (safe"
            " ?y))))",
            true},
           {"(:derived (safe ?x) (forn (5) (?y) (or (not (bad ?x)) (safe ?y))))", true},
           {"(:derived (safe ?x) (forall (?y - (either t u)) (or (not (bad ?y)) (safe ?x))))", true},
           // No circle goes through these.
           {"(:derived (safe ?x) (or (not (bad ?x)) (exists (?y) (and (e ?x ?y) (safe ?y)))))", false},
           {"(:derived (good ?x) (forall (?y) (imply (e ?x ?y) (not (bad ?y))))) (:derived (safe ?x) (or (good ?x)"
            " (forall (?y) (good ?y)) (exists (?y) (and (e ?x ?y) (safe ?y)))))",
            false},
       }) {
    SCOPED_TRACE(c.rules);
    const Task task = load_pddl_text(
        std::string(
            "(define (domain d) (:requirements :adl :derived-predicates) (:types t u none) (:predicates (e ?x ?y)"
            " (bad ?x) (safe ?x) (good ?x)) ") +
            c.rules + "(:action clear :parameters (?x) :effect (not (bad ?x)))" +
            "(:action cut :parameters (?x ?y) :precondition (and (e ?x ?y) (not (safe ?x))) :effect (not (e ?x ?y))))",
        "(define (problem x) (:domain d) (:objects a b c - t m n - u)"
        "(:init (e a b) (e b c) (e m m) (bad c) (bad m) (bad a)) (:goal (forall (?x) (safe ?x))))");
    const PddlTask text = pddl_task(task);
    EXPECT_EQ(contains(text.domain, " written out for the objects of this problem"), c.rewritten) << text.domain;
    expect_same(task, text, false);
  }
}

TEST(PddlTask, CountingBecomesQuantifiers) {
  for (const char* goal : {"(forn (0) (?x) (lit ?x))", "(forn (1) (?x) (lit ?x))", "(forn (2) (?x) (lit ?x))",
                           "(forn (3) (?x) (lit ?x))", "(forn (4) (?x) (lit ?x))", "(forpairs (?x) (?y) (near ?x ?y))",
                           "(fornpairs (2) (?x) (?y) (near ?x ?y))", "(not (forn (2) (?x) (lit ?x)))"}) {
    SCOPED_TRACE(goal);
    const Task task = load_pddl_text(
        "(define (domain d) (:requirements :adl) (:predicates (lit ?x) (near ?x ?y))"
        "(:action press :parameters (?x) :effect (lit ?x)) (:action push :parameters (?x ?y) :effect (near ?x ?y)))",
        std::string("(define (problem p) (:domain d) (:objects a b c) (:init) (:goal ") + goal + "))");
    const PddlTask text = pddl_task(task);
    EXPECT_LACKS(text.problem, "forn");
    EXPECT_LACKS(text.problem, "forpairs");
    expect_same(task, text, false);
  }
}

TEST(PddlTask, ManyObjectsAreCountedOneByOne) {
  // As `exists` these would be thousands of tuples.
  for (const char* goal :
       {"(forn (4) (?x - lamp) (lit ?x))", "(not (forn (3) (?x - lamp) (not (lit ?x))))",
        "(forall (?r - room) (forn (3) (?x - lamp) (and (in ?x ?r) (bright ?x))))",
        "(and (forn (7) (?x - lamp) (forn (8) (?y) (not (in ?y ?x)))) (forn (5) (?x - lamp) (bright ?x)))",
        "(forn (6) (?x - (either lamp room)) (bright ?x))"}) {
    SCOPED_TRACE(goal);
    const Task task = load_pddl_text(
        "(define (domain d) (:requirements :adl :derived-predicates) (:types lamp room)"
        "(:predicates (lit ?x) (in ?x ?y) (bright ?x))"
        // Brightness spreads once five lamps are on: counting inside of a recursion.
        "(:derived (bright ?x) (or (lit ?x) (forn (5) (?y) (bright ?y))))"
        "(:action press :parameters (?x - lamp) :precondition (not (forn (7) (?y) (lit ?y))) :effect (lit ?x))"
        "(:action carry :parameters (?x - lamp ?y - room) :precondition (forn (2) (?z) (bright ?z)) :effect (in ?x "
        "?y)))",
        std::string(
            "(define (problem p) (:domain d) (:objects a b c e f g h - lamp k l m - room) (:init (lit a) (in b k)) "
            "(:goal ") +
            goal + "))");
    const PddlTask text = pddl_task(task);
    EXPECT_LACKS(text.domain + text.problem, "(forn");
    EXPECT_CONTAINS(text.domain, "(count-next ?x ?y)");
    expect_same(task, text, false, 60);
  }
}

TEST(PddlTask, ManyPairsAreFoundOneByOne) {
  // As `exists` these would be thousands of tuples.
  for (const char* goal :
       {"(fornpairs (3) (?x - plug) (?y - socket) (in ?x ?y))", "(forpairs (?y - socket) (?x - plug) (in ?x ?y))",
        "(fornpairs (4) (?x - plug) (?y) (or (in ?x ?y) (in ?y ?x)))",
        "(exists (?z - plug) (fornpairs (3) (?x - plug) (?y - socket) (and (in ?x ?y) (not (in ?z ?y)))))",
        "(not (fornpairs (2) (?x) (?y) (in ?x ?y)))", "(fornpairs (3) (?x) (?y) (in ?x ?y))"}) {
    SCOPED_TRACE(goal);
    const Task task = load_pddl_text(
        "(define (domain d) (:requirements :adl) (:types plug socket) (:predicates (in ?x ?y))"
        "(:action plug-in :parameters (?x - plug ?y - socket) :effect (in ?x ?y))"
        "(:action pull :parameters (?x - plug ?y - socket) :precondition (not (fornpairs (2) (?v - plug) (?w) (in ?v"
        " ?w))) :effect (not (in ?x ?y))))",
        std::string("(define (problem p) (:domain d) (:objects a b c e f g - plug k l m n - socket)"
                    "(:init (in a k) (in b k) (in b l) (in c l)) (:goal ") +
            goal + "))");
    const PddlTask text = pddl_task(task);
    EXPECT_LACKS(text.domain + text.problem, "(fornpairs");
    EXPECT_CONTAINS(text.domain, "(count-next ?x ?y)");
    expect_same(task, text, false, 40);
  }
}

TEST(PddlTask, EitherBecomesPredicates) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :adl) (:types cup box shelf) (:predicates (held ?x) (on ?x ?y) (good ?x))"
      "(:action take :parameters (?x - (either cup box)) :effect (held ?x))"
      "(:action put :parameters (?x - cup ?y - shelf) :precondition (held ?x) :effect (and (on ?x ?y)"
      " (forall (?z - (either box shelf)) (good ?z)))))",
      "(define (problem p) (:domain d) (:objects c - cup b - box s - shelf t - (either cup shelf)) (:init)"
      "(:goal (forall (?x - (either cup box)) (held ?x))))");
  const PddlTask text = pddl_task(task);
  EXPECT_LACKS(text.domain, "(either");
  EXPECT_LACKS(text.problem, "(either");
  EXPECT_CONTAINS(text.domain, "(is-cup ?x)");
  expect_same(task, text, false);
}

TEST(PddlTask, FactsOutsideTheirTypesAreDeclaredWider) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :typing) (:types a b) (:predicates (p ?x - a) (q ?x - a))"
      "(:action go :parameters (?x - object) :precondition (p ?x) :effect (q ?x)))",
      "(define (problem x) (:domain d) (:objects m - a n - b) (:init (p n)) (:goal (q n)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(p ?x)");
  EXPECT_CONTAINS(text.domain, "(q ?x)");
  expect_same(task, text, false);
}

TEST(PddlTask, CostsAreKept) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :action-costs) (:predicates (p ?x))"
      "(:functions (total-cost) - number (w ?x) - number (v) - number)"
      "(:action one :parameters (?x) :effect (and (p ?x) (increase (total-cost) 3)))"
      "(:action two :parameters (?x) :effect (and (p ?x) (increase (total-cost) (w ?x))))"
      "(:action three :parameters (?x) :effect (and (p ?x) (increase (total-cost) (+ 1 (w ?x)))))"
      "(:action four :parameters () :effect (increase (total-cost) (v))))",
      "(define (problem x) (:domain d) (:objects m n) (:init (= (w m) 2) (= (w n) 5) (= (v) 0.5)) (:goal (p m))"
      "(:metric minimize (total-cost)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(increase (total-cost) (w ?x))");
  EXPECT_CONTAINS(text.domain, "(increase (total-cost) (cost-of-three ?x))");
  EXPECT_CONTAINS(text.domain, "(increase (total-cost) 6)");
  EXPECT_CONTAINS(text.problem, "(= (cost-of-three n) 12)");
  EXPECT_CONTAINS(text.problem, "(= (v) 1)");
  EXPECT_CONTAINS(text.problem, "(:metric minimize (total-cost))");
  EXPECT_CONTAINS(text.domain, "; costs are 2 times those of the task");
  EXPECT_EQ(text.cost_factor, 2);
  expect_same(task, text, false);
}

// What is written for the costs of two actions: all are whole numbers.
PddlTask with_costs(const std::string& one, const std::string& other) {
  return pddl_task(load_pddl_text(
      "(define (domain d) (:requirements :action-costs) (:predicates (p)) (:functions (total-cost) - number (w) - "
      "number)"
      "(:action one :parameters () :effect (and (p) (increase (total-cost) (+ " +
          one + " (w))))) (:action other :parameters () :effect (and (p) (increase (total-cost) " + other + "))))",
      "(define (problem x) (:domain d) (:init (= (w) 0)) (:goal (p)) (:metric minimize (total-cost)))"));
}

TEST(PddlTask, CostsAreWholeNumbers) {
  struct Case {
    const char* one;
    const char* other;
    double factor;
    const char* one_written;
    const char* other_written;
  };
  for (const Case& c : {Case{"2", "3", 1, "2", "3"},
                        {"2.50", "0.75", 4, "10", "3"},
                        {"0.1", "0.3", 10, "1", "3"},
                        {"1.125", "7.4", 40, "45", "296"},
                        {"0.000001", "20", 1000000, "1", "20000000"},
                        {"2147483647", "1", 1, "2147483647", "1"},
                        // More than 32 bits: rounded, and what costs something still does.
                        {"0.0000000001", "123.456", 100000, "1", "12345600"},
                        {"123456789012", "1", 0.0001, "12345679", "1"}}) {
    SCOPED_TRACE(std::string(c.one) + " and " + c.other);
    const PddlTask text = with_costs(c.one, c.other);
    EXPECT_DOUBLE_EQ(text.cost_factor, c.factor);
    EXPECT_CONTAINS(text.problem, std::string("(= (cost-of-one) ") + c.one_written + ")");
    EXPECT_CONTAINS(text.domain, std::string("(increase (total-cost) ") + c.other_written + ")");
    EXPECT_EQ(contains(text.domain, "; costs are "), c.factor != 1) << text.domain;
    EXPECT_EQ(contains(text.domain, "rounded"), c.factor == 100000 || c.factor < 1) << text.domain;
  }
}

TEST(PddlTask, NamesAreMadeFit) {
  const Task task = load_pddl_text(
      "(define (domain 3d) (:predicates (p% ?x) (and-1 ?x)) (:action go! :parameters (?1) :effect (p% ?1)))",
      "(define (problem x.1) (:domain 3d) (:objects 2a o-2a) (:init) (:goal (p% 2a)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(define (domain d-3d)");
  EXPECT_CONTAINS(text.domain, "(:action go_");
  EXPECT_CONTAINS(text.domain, "; the object 2a is called o-2a-2");
  EXPECT_CONTAINS(text.domain, "; the action go! is called go_");
  EXPECT_CONTAINS(text.problem, "o-2a-2");
  const Task again = load_pddl_text(text.domain, text.problem);
  EXPECT_TRUE(again.validate(parse_plan("(go_ o-2a-2)\n", "plan")).valid);
}

TEST(PddlTask, WordsOfTheLanguageAreNoNames) {
  const Task task = load_pddl_text(
      "(define (domain domain) (:predicates (within ?name)) (:action always :parameters (?name) :effect (within "
      "?name)))",
      "(define (problem problem) (:domain domain) (:objects problem) (:init) (:goal (within problem)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(define (domain d-domain)");
  EXPECT_CONTAINS(text.domain, "(p-within ?v-name)");
  EXPECT_CONTAINS(text.problem, "(define (problem p-problem)");
  EXPECT_CONTAINS(text.problem, "(p-within o-problem)");
}

TEST(PddlTask, AtStartIsNoWord) {
  // One lexer of VAL reads "at start" and "over all" as one word each, here too: (at start-room).
  const std::string domain =
      "(define (domain d) (:predicates (at ?x) (over ?x)) (:action at :parameters (?at) :effect (at ?at))"
      "(:action over :parameters (?x) :effect (over ?x)))";
  const auto text = [&](const std::string& object) {
    return pddl_task(load_pddl_text(
        domain, "(define (problem x) (:domain d) (:objects " + object + ") (:init) (:goal (at " + object + ")))"));
  };
  EXPECT_TRUE(text("room").notes.empty());
  for (const char* object : {"start", "start-room", "endless"}) {
    SCOPED_TRACE(object);
    const PddlTask changed = text(object);
    EXPECT_CONTAINS(changed.problem, std::string("(p-at ") + object + ")");
    EXPECT_CONTAINS(changed.domain, "(:action a-at\n    :parameters (?v-at)");
    EXPECT_CONTAINS(changed.domain, "(over ?x)");
  }
  EXPECT_CONTAINS(text("all-rooms").domain, "(p-over ?x)");
  EXPECT_CONTAINS(text("all-rooms").domain, "(at ?x)");
}

TEST(PddlTask, AFunctionSharesItsNameWithNothing) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :action-costs) (:predicates (p ?w))"
      "(:functions (total-cost) - number (w ?x) - number (cost-of-three ?x) - number)"
      "(:action one :parameters (?w) :effect (and (p ?w) (increase (total-cost) (cost-of-three ?w))))"
      "(:action three :parameters (?x) :effect (and (p ?x) (increase (total-cost) (+ 1 (w ?x))))))",
      "(define (problem x) (:domain d) (:objects m) (:init (= (w m) 2) (= (cost-of-three m) 7)) (:goal (p m))"
      "(:metric minimize (total-cost)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(increase (total-cost) (cost-of-three ?w))");
  EXPECT_CONTAINS(text.domain, "(increase (total-cost) (cost-of-three-2 ?x))");
  EXPECT_CONTAINS(text.problem, "(= (cost-of-three-2 m) 3)");
  expect_same(task, text, false);
}

TEST(PddlTask, NothingIsLeftEmpty) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :adl :derived-predicates) (:predicates (q ?x)) (:derived (q ?x) (and)))",
      "(define (problem x) (:domain d) (:objects m) (:init) (:goal (q m)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(not (never))");
  EXPECT_CONTAINS(text.domain, "(:action nothing");
  EXPECT_TRUE(load_pddl_text(text.domain, text.problem).validate(parse_plan("", "plan")).valid);
  const PddlTask empty = pddl_task(load_pddl_text("(define (domain d) (:action a :parameters () :effect (and)))",
                                                  "(define (problem x) (:domain d) (:init) (:goal (and)))"));
  EXPECT_CONTAINS(empty.domain, "(:predicates\n    (never))");
}

TEST(PddlTask, WhatCanNeverHoldIsAFactThatNeverHolds) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :adl) (:predicates (p)) (:action a :parameters () :precondition (or) :effect "
      "(p))"
      "(:action b :parameters () :effect (p)))",
      "(define (problem x) (:domain d) (:init) (:goal (p)))");
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(never)");
  expect_same(task, text, false);
}

// A lorry with two places, as Fast Downward's translator writes it; `drop` has two operators of one name.
constexpr const char* kSas = R"(begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
var0
-1
3
Atom at(p1, l1)
Atom at(p1, l2)
Atom in(p1, t1)
end_variable
begin_variable
var1
-1
2
Atom at(t1, l1)
Atom at(t1, l2)
end_variable
0
begin_state
0
1
end_state
begin_goal
1
0 1
end_goal
6
begin_operator
drive t1 l1 l2
0
1
0 1 0 1
3
end_operator
begin_operator
drive t1 l2 l1
0
1
0 1 1 0
4
end_operator
begin_operator
load p1 t1 l1
1
1 0
1
0 0 0 2
1
end_operator
begin_operator
load p1 t1 l2
1
1 1
1
0 0 1 2
1
end_operator
begin_operator
drop p1 t1
1
1 0
1
0 0 2 0
1
end_operator
begin_operator
drop p1 t1
1
1 1
1
0 0 2 1
1
end_operator
0
)";

TEST(PddlTask, ASasFileKeepsItsPlans) {
  const Task task = load_sas_text(kSas);
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(can-load ?p1 ?p2 ?p3)");
  EXPECT_CONTAINS(text.problem, "(can-load p1 t1 l2)");
  EXPECT_CONTAINS(text.problem, "(= (cost-of-drive t1 l2 l1) 4)");
  expect_same(task, text, false);
}

// Replaces every `from`.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(PddlTask, CapitalLettersTellNothingApart) {
  // In the facts of a SAS file `T1` and `t1` are two objects, `AT` and `at` two predicates.
  const Task task = load_sas_text(replaced(replaced(kSas, "l1", "T1"), "at(p1, l2)", "AT(p1, l2)"));
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "; the object t1 is called t1-2");
  EXPECT_CONTAINS(text.domain, "; the predicate AT is called AT-2");
  const Task again = load_pddl_text(text.domain, text.problem);
  EXPECT_EQ(Lookahead::compile(task, {})->shortest_plan_length(),
            Lookahead::compile(again, {})->shortest_plan_length());
  const std::string plan = "(drive t1-2 l2 t1-2)\n(load p1 t1-2 t1-2)\n(drive t1-2 t1-2 l2)\n(drop p1 t1-2)\n";
  const Validation validation = again.validate(parse_plan(plan, "plan"));
  EXPECT_TRUE(validation.valid) << validation.reason;
}

// Two variables with a fact that reads the same, and derived facts of one predicate of which one is the other's
// negation.
constexpr const char* kOddSas = R"(begin_version
3
end_version
begin_metric
0
end_metric
4
begin_variable
var0
-1
2
Atom p(a)
NegatedAtom p(a)
end_variable
begin_variable
var1
-1
2
Atom p(a)
NegatedAtom p(a)
end_variable
begin_variable
var2
0
2
Atom d(a)
NegatedAtom d(a)
end_variable
begin_variable
var3
1
2
Atom d(b)
NegatedAtom d(b)
end_variable
0
begin_state
1
1
1
1
end_state
begin_goal
2
0 1
3 0
end_goal
2
begin_operator
one
0
1
0 0 -1 0
1
end_operator
begin_operator
two
1
2 1
1
0 1 1 0
1
end_operator
2
begin_rule
1
0 0
2 1 0
end_rule
begin_rule
2
1 0
2 1
3 1 0
end_rule
)";

TEST(PddlTask, ASasFileMayUseNamesAsItLikes) {
  const Task task = load_sas_text(kOddSas);
  const PddlTask text = pddl_task(task);
  EXPECT_CONTAINS(text.domain, "(p-2 ?p1)");
  EXPECT_CONTAINS(text.domain, "(d-2 ?p1)");
  expect_same(task, text, false);
  EXPECT_EQ(Lookahead::compile(load_pddl_text(text.domain, text.problem), {})->shortest_plan_length(), 1U);
}

TEST(PddlTask, DroppedGoalsStayDropped) {
  const Task whole = load_pddl_text(
      "(define (domain d) (:predicates (p ?x) (q ?x)) (:action a :parameters (?x) :precondition (q ?x) :effect (p "
      "?x)))",
      "(define (problem x) (:domain d) (:objects m n) (:init (q m)) (:goal (and (p m) (p n))))");
  const std::vector<GoalId> goals{GoalId{1}};
  const Task part = whole.without_goals(goals);
  EXPECT_FALSE(whole.goals_dropped());
  EXPECT_TRUE(part.goals_dropped());
  EXPECT_EQ(Lookahead::compile(whole, {})->verdict(), Verdict::kInfeasible);
  const PddlTask text = pddl_task(part);
  expect_same(part, text, false);
  EXPECT_EQ(Lookahead::compile(load_pddl_text(text.domain, text.problem), {})->verdict(), Verdict::kSolvable);
}

TEST(PddlTask, PlanningDomainsOfOthers) {
  METACTRL_NEEDS_DATA("ipc");
  const std::filesystem::path folder = testing::data_path("ipc");
  std::size_t tasks = 0;
  for (const char* domain : {"blocks", "briefcaseworld", "driverlog", "ferry", "gripper", "hanoi", "logistics00",
                             "miconic", "miconic-simpleadl", "rovers", "satellite", "visitall"}) {
    SCOPED_TRACE(domain);
    std::vector<std::string> problems;
    for (const auto& entry : std::filesystem::directory_iterator(folder / domain)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".pddl" && !contains(name, "domain")) problems.push_back(entry.path().string());
    }
    std::sort(problems.begin(), problems.end());
    ASSERT_FALSE(problems.empty());
    const Task task = load_pddl((folder / domain / "domain.pddl").string(), problems[0]);
    expect_same(task, pddl_task(task), false, 50);
    ++tasks;
  }
  EXPECT_EQ(tasks, 12U);
}

}  // namespace
}  // namespace metactrl::task_pddl_test
