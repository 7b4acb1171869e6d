// The PDDL reader: text to resolved tree. Messages are compared to the letter in pddl_golden_test.cc; here it is what
// the tree says, which inputs are accepted, and that bad input ends quickly and quietly.
#include "pddl/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/error.h"
#include "pddl/ast.h"
#include "pddl/parser.h"
#include "pddl/report.h"
#include "pddl/sexpr.h"
#include "support/id_list.h"

namespace metactrl::pddl::parse_test {
namespace {

using metactrl::testing::id_list;

using Kind = Condition::Kind;

struct Result {
  Ast ast;
  Diagnostics diagnostics;

  std::string text() const {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics.items()) out += to_string(diagnostic) + "\n";
    return out;
  }
  bool says(std::string_view part) const { return text().find(part) != std::string::npos; }
};

Result read(std::string_view domain, std::string_view problem) {
  Result result;
  result.ast = parse({"d.pddl", domain}, {"p.pddl", problem}, result.diagnostics);
  return result;
}

constexpr std::string_view kRequirements = "(:requirements :adl :action-costs :derived-predicates :constraints)";

// A domain around `sections`; the problem's goal needs no names.
Result read_domain(const std::string& sections) {
  return read("(define (domain d) " + std::string(kRequirements) + sections + ")",
              "(define (problem p) (:domain d) (:init) (:goal (or)))");
}

constexpr std::string_view kBlocks = R"((define (domain blocks)
  (:requirements :adl :action-costs :constraints)
  (:types block place - object  red blue - block)
  (:constants table - place)
  (:predicates (on ?x - block ?y - object) (clear ?x - block) (free))
  (:functions (total-cost) - number (weight ?b - block) - number)
  (:action lift
    :parameters (?x - block ?y - object)
    :precondition (and (on ?x ?y) (clear ?x) (free))
    :effect (and (not (on ?x ?y)) (not (free)))))
)";

// A problem for kBlocks with objects a, b (red), c (blue) and the given sections.
Result read_blocks(const std::string& sections) {
  return read(kBlocks, "(define (problem p) (:domain blocks) (:objects a b - red c - blue) " + sections + ")");
}

Result read_goal(const std::string& goal) { return read_blocks("(:init) (:goal " + goal + ")"); }

Result read_constraints(const std::string& constraints) {
  return read_blocks("(:init) (:goal (free)) (:constraints " + constraints + ")");
}

std::string goal_text(const Result& result) {
  return to_string(result.ast, result.ast.goal.variables, result.ast.goal.condition);
}

ObjectId object(const Ast& ast, std::string_view name) {
  for (const ObjectId id : ast.objects.all()) {
    if (ast.objects[id].name == name) return id;
  }
  ADD_FAILURE() << "no object " << name;
  return {};
}

#define EXPECT_CLEAN(result)                                           \
  EXPECT_EQ((result).diagnostics.num_errors(), 0U) << (result).text(); \
  EXPECT_EQ((result).diagnostics.num_warnings(), 0U) << (result).text()

// ---- s-expressions

TEST(SExpr, NamesListsAndPositions) {
  Reporter reporter("d", "p");
  const SExprTree tree = read_sexpr(0, "; a comment (\r\n(Define\t(A b)\n\n  C () )", reporter);
  ASSERT_FALSE(reporter.has_errors());
  ASSERT_TRUE(tree.root().has_value());
  const SExpr root = *tree.root();
  EXPECT_EQ(root.head(), "define");
  ASSERT_EQ(root.size(), 4U);
  EXPECT_EQ(root.where().line, 2U);
  EXPECT_EQ(root.where().column, 1U);
  EXPECT_TRUE(root[1].is_list());
  EXPECT_EQ(root[1].size(), 2U);
  EXPECT_EQ(root[1][0].text(), "a");
  EXPECT_EQ(root[1][1].where().column, 12U);
  EXPECT_EQ(root[2].text(), "c");
  EXPECT_EQ(root[2].where().line, 4U);
  EXPECT_EQ(root[2].where().column, 3U);
  EXPECT_EQ(root[3].size(), 0U);
  EXPECT_EQ(root[3].head(), "");
  EXPECT_EQ(root.to_text(100), "(define (a b) c ())");
  EXPECT_EQ(root.to_text(5), "(defi ...");
}

TEST(SExpr, LineEndsAndByteOrderMark) {
  for (const char* text : {"(a\nb)", "(a\r\nb)", "(a\rb)", "\xef\xbb\xbf(a ; x\nb)", "(a ; x\rb)"}) {
    Reporter reporter("d", "p");
    const SExprTree tree = read_sexpr(1, text, reporter);
    ASSERT_TRUE(tree.root().has_value()) << text;
    ASSERT_EQ(tree.root()->size(), 2U) << text;
    EXPECT_EQ((*tree.root())[0].where().column, 2U) << text;
    EXPECT_EQ((*tree.root())[1].where().line, 2U) << text;
    EXPECT_EQ((*tree.root())[1].where().column, 1U) << text;
    EXPECT_EQ((*tree.root())[1].where().file, 1U) << text;
  }
}

TEST(SExpr, RefusesWhatIsNotOneList) {
  for (const char* text :
       {"", "  \n", "a", "(a", ")", "(a) (:b)", "(a)) ; c\n(:b)", "((((", "(a\x01)", "(\xc3)", "(\xe2\x80\x93)"}) {
    Reporter reporter("d", "p");
    const SExprTree tree = read_sexpr(0, text, reporter);
    EXPECT_FALSE(tree.root().has_value()) << text;
    EXPECT_TRUE(reporter.has_errors()) << text;
  }
}

TEST(SExpr, WhatFollowsTheListIsLeftOut) {
  for (const char* text : {"(a))", "(a) b", "(a) (b)", "(a) \xe2\x80\x93", "(a) ) ) ; b"}) {
    Reporter reporter("d", "p");
    const SExprTree tree = read_sexpr(0, text, reporter);
    ASSERT_TRUE(tree.root().has_value()) << text;
    EXPECT_EQ(tree.root()->to_text(10), "(a)");
    Diagnostics diagnostics;
    reporter.flush(diagnostics);
    EXPECT_EQ(diagnostics.num_warnings(), 1U) << text;
  }
}

TEST(SExpr, VariablesAndLettersNeedNoBlanks) {
  Reporter reporter("d", "p");
  const SExprTree tree = read_sexpr(0,
                                    "(at?x?Y \xc3\x9c"
                                    "ber\xc2\xa0z)",
                                    reporter);
  ASSERT_TRUE(tree.root().has_value());
  EXPECT_EQ(tree.root()->to_text(40),
            "(at ?x ?y \xc3\x9c"
            "ber z)");
  EXPECT_EQ((*tree.root())[2].where().column, 6U);
}

TEST(SExpr, DepthIsLimitedButNotByTheStack) {
  const std::size_t depth = SExprTree::kMaxDepth;
  Reporter good("d", "p");
  EXPECT_TRUE(read_sexpr(0, std::string(depth, '(') + std::string(depth, ')'), good).root().has_value());
  EXPECT_FALSE(good.has_errors());
  Reporter bad("d", "p");
  EXPECT_FALSE(read_sexpr(0, std::string(depth + 1, '(') + std::string(depth + 1, ')'), bad).root().has_value());
  EXPECT_TRUE(bad.has_errors());
}

TEST(Numbers, AreDecimal) {
  EXPECT_EQ(parse_number("3"), 3.0);
  EXPECT_EQ(parse_number("-0.5"), -0.5);
  EXPECT_EQ(parse_number("+2"), 2.0);
  EXPECT_EQ(parse_number("1e3"), 1000.0);
  for (const char* text : {"", "-", "inf", "nan", "1x", "a", "1e999", "0x10", "--1"})
    EXPECT_FALSE(parse_number(text)) << text;
}

TEST(ClosestNames, NearNamesOnly) {
  const auto hint = [](std::string_view name) {
    ClosestName closest(name);
    for (const char* known : {"table", "chair", "on"}) closest.offer(known);
    return closest.hint("none");
  };
  EXPECT_EQ(hint("tabel"), "did you mean 'table'?");
  EXPECT_EQ(hint("tables"), "did you mean 'table'?");
  EXPECT_EQ(hint("hair"), "did you mean 'chair'?");
  EXPECT_EQ(hint("sofa"), "none");
  EXPECT_EQ(hint("an"), "none");
}

// ---- the domain

TEST(ParseDomain, TablesOfBlocks) {
  const Result result = read_blocks("(:init (on a b) (on b table) (clear a) (free)) (:goal (clear b))");
  EXPECT_CLEAN(result);
  const Ast& ast = result.ast;
  EXPECT_EQ(ast.domain_name, "blocks");
  EXPECT_EQ(ast.problem_name, "p");
  EXPECT_EQ(ast.files[1], "p.pddl");
  ASSERT_EQ(ast.types.size(), 5U);
  EXPECT_EQ(ast.types[TypeId{0}].name, "object");
  EXPECT_TRUE(ast.types[TypeId{0}].parents.empty());
  EXPECT_EQ(ast.types[TypeId{3}].name, "red");
  EXPECT_EQ(ast.types[ast.types[TypeId{3}].parents.at(0)].name, "block");
  ASSERT_EQ(ast.objects.size(), 4U);
  EXPECT_EQ(ast.objects[ObjectId{0}].name, "table") << "constants come first";
  EXPECT_EQ(ast.objects[ObjectId{0}].where.file, 0U);
  EXPECT_EQ(ast.objects[ObjectId{1}].where.file, 1U);
  ASSERT_EQ(ast.predicates.size(), 3U);
  EXPECT_EQ(ast.predicates[PredicateId{0}].parameters.size(), 2U);
  EXPECT_FALSE(ast.predicates[PredicateId{0}].derived);
  ASSERT_EQ(ast.functions.size(), 2U);
  ASSERT_EQ(ast.init.size(), 4U);
  EXPECT_EQ(to_string(ast, ast.init[0]), "(on a b)");
  EXPECT_FALSE(ast.has_metric);
}

TEST(ParseDomain, SubtypesAndObjectsOf) {
  const Result result = read_goal("(free)");
  const Ast& ast = result.ast;
  EXPECT_TRUE(ast.is_subtype(TypeId{3}, TypeId{1}));
  EXPECT_TRUE(ast.is_subtype(TypeId{3}, TypeId{0}));
  EXPECT_TRUE(ast.is_subtype(TypeId{0}, TypeId{0}));
  EXPECT_FALSE(ast.is_subtype(TypeId{1}, TypeId{3}));
  EXPECT_FALSE(ast.is_subtype(TypeId{3}, TypeId{4}));
  EXPECT_EQ(ast.objects_of({TypeId{1}}), id_list<ObjectId>({1, 2, 3}));
  EXPECT_EQ(ast.objects_of({TypeId{3}}), id_list<ObjectId>({1, 2}));
  EXPECT_EQ(ast.objects_of({TypeId{4}, TypeId{2}}), id_list<ObjectId>({0, 3}));
  EXPECT_EQ(ast.objects_of({TypeId{0}}).size(), 4U);
}

TEST(ParseDomain, EitherAndCase) {
  const Result result = read(
      "(DEFINE (DOMAIN D) (:REQUIREMENTS :TYPING) (:TYPES A B C - OBJECT) (:PREDICATES (P ?X - (EITHER A B))))",
      "(define (problem p) (:domain d) (:objects X - a Y - (either b c) Z - c) (:init (P x) (p Y)) (:goal (p X)))");
  EXPECT_CLEAN(result);
  EXPECT_EQ(result.ast.predicates[PredicateId{0}].parameters[VariableId{0}].types, id_list<TypeId>({1, 2}));
  EXPECT_EQ(result.ast.objects_of(result.ast.predicates[PredicateId{0}].parameters[VariableId{0}].types),
            id_list<ObjectId>({0, 1}));
  EXPECT_EQ(result.ast.objects[ObjectId{1}].name, "y");
}

TEST(ParseDomain, SectionsInAnyOrder) {
  const Result result = read(
      "(define (domain d) (:action a :parameters (?x - t) :effect (p ?x)) (:predicates (p ?x - t)) (:types t)"
      "(:requirements :typing))",
      "(define (problem p) (:goal (p o)) (:init) (:objects o - t) (:domain d))");
  EXPECT_CLEAN(result);
  EXPECT_EQ(result.ast.actions[ActionNameId{0}].effects.size(), 1U);
}

TEST(ParseDomain, MissingPartsOfActions) {
  const Result result =
      read_domain("(:predicates (p)) (:action a :effect (p)) (:action b :precondition (p)) (:action c)");
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_EQ(result.diagnostics.num_warnings(), 2U) << "b and c change nothing";
  ASSERT_EQ(result.ast.actions.size(), 3U);
  EXPECT_EQ(result.ast.actions[ActionNameId{0}].precondition.kind, Kind::kTrue);
  EXPECT_EQ(result.ast.actions[ActionNameId{0}].num_parameters, 0U);
  EXPECT_TRUE(result.ast.actions[ActionNameId{2}].effects.empty());
}

TEST(ParseDomain, RedeclaredObjectTypeIsTheRoot) {
  const Result result = read(
      "(define (domain d) (:requirements :typing) (:types object character) (:predicates (sees ?c - character ?o - "
      "object)))",
      "(define (problem p) (:domain d) (:objects me - character sofa - object) (:init (sees me sofa) (sees sofa sofa))"
      "(:goal (sees me me)))");
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_EQ(result.diagnostics.num_warnings(), 2U) << result.text();
  EXPECT_TRUE(result.says("type 'object' is declared"));
  EXPECT_TRUE(result.says("ill-typed fact (sees sofa sofa)"));
  EXPECT_EQ(result.ast.init.size(), 2U) << "the ill-typed fact is kept";
}

TEST(ParseDomain, UndeclaredSupertypeIsAdded) {
  const Result result = read_domain("(:types cat dog - animal) (:predicates (p ?x - animal))");
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_TRUE(result.says("supertype 'animal' is not declared"));
  ASSERT_EQ(result.ast.types.size(), 4U);
  EXPECT_TRUE(result.ast.is_subtype(TypeId{1}, TypeId{3}));
}

TEST(ParseDomain, TypeCyclesAndDepth) {
  EXPECT_TRUE(read_domain("(:types a - b b - a)").says("its own supertype"));
  EXPECT_TRUE(read_domain("(:types a - b b - c c - a c - d d - b)").says("its own supertype"));
  EXPECT_TRUE(read_domain("(:types a - a)").says("below itself"));
  std::string chain = "(:types ";
  for (int i = 0; i < 300; ++i) chain += "t" + std::to_string(i) + " - t" + std::to_string(i + 1) + " ";
  EXPECT_TRUE(read_domain(chain + ")").says("levels below 'object'"));
}

// ---- conditions

TEST(ParseCondition, SugarIsGone) {
  EXPECT_EQ(goal_text(read_goal("(imply (free) (clear a))")), "(or (not (free)) (clear a))");
  EXPECT_EQ(read_goal("(and)").ast.goal.condition.kind, Kind::kTrue);
  EXPECT_EQ(read_goal("()").ast.goal.condition.kind, Kind::kTrue);
  EXPECT_EQ(read_goal("(or)").ast.goal.condition.kind, Kind::kFalse);
  EXPECT_EQ(goal_text(read_goal("(forall () (free))")), "(free)");
}

TEST(ParseCondition, AllOperatorsKeepTheirShape) {
  for (const char* text :
       {"(and (free) (not (clear a)))", "(or (on a b) (on a table))", "(= a b)", "(not (= a b))",
        "(forall (?x - block ?y - object) (on ?x ?y))", "(exists (?x - (either red place)) (= ?x a))",
        "(forn (2) (?x - block) (clear ?x))", "(forpairs (?x - red) (?y - blue) (on ?x ?y))",
        "(fornpairs (1) (?x - red) (?y - blue) (on ?x ?y))"}) {
    const Result result = read_goal(text);
    EXPECT_CLEAN(result);
    EXPECT_EQ(goal_text(result), text);
  }
}

TEST(ParseCondition, PositionsAreKept) {
  const Result result = read_blocks("(:init) (:goal\n (and\n   (free) (clear a)))");
  const Condition& goal = result.ast.goal.condition;
  EXPECT_EQ(goal.where.file, 1U);
  EXPECT_EQ(goal.where.line, 2U);
  EXPECT_EQ(goal.children[1].where.line, 3U);
  EXPECT_EQ(goal.children[1].where.column, 11U);
  EXPECT_EQ(goal.children[1].atom.where.column, 11U);
}

TEST(ParseCondition, InnerVariablesShadowOuterOnes) {
  const Result result = read_goal("(forall (?x - red) (and (clear ?x) (exists (?x - blue) (clear ?x)) (on ?x table)))");
  EXPECT_CLEAN(result);
  const Condition& all = result.ast.goal.condition;
  ASSERT_EQ(result.ast.goal.variables.size(), 2U);
  EXPECT_EQ(all.bound, id_list<VariableId>({0}));
  const Condition& inner = all.children[0].children[1];
  EXPECT_EQ(inner.bound, id_list<VariableId>({1}));
  EXPECT_EQ(inner.children[0].atom.arguments[0].variable(), VariableId{1});
  EXPECT_EQ(all.children[0].children[0].atom.arguments[0].variable(), VariableId{0});
  EXPECT_EQ(all.children[0].children[2].atom.arguments[0].variable(), VariableId{0}) << "the outer ?x is back";
}

TEST(ParseCondition, QuantifiersAddSlotsBehindTheParameters) {
  const Result result = read_domain(
      "(:predicates (p ?x ?y)) (:action a :parameters (?x ?y)"
      " :precondition (and (forall (?z) (p ?x ?z)) (exists (?z) (p ?z ?y))) :effect (forall (?z) (not (p ?z ?z))))");
  EXPECT_CLEAN(result);
  const Action& action = result.ast.actions[ActionNameId{0}];
  EXPECT_EQ(action.num_parameters, 2U);
  ASSERT_EQ(action.variables.size(), 5U);
  EXPECT_EQ(action.precondition.children[0].bound, id_list<VariableId>({2}));
  EXPECT_EQ(action.precondition.children[1].bound, id_list<VariableId>({3}));
  EXPECT_EQ(action.effects[0].forall, id_list<VariableId>({4}));
}

TEST(ParseCondition, CountsOfMatchings) {
  const Condition pairs = read_goal("(forpairs (?x - red) (?y - blue) (on ?x ?y))").ast.goal.condition;
  EXPECT_EQ(pairs.kind, Kind::kMatching);
  EXPECT_EQ(pairs.count, Condition::kAllPairs);
  EXPECT_EQ(pairs.bound, id_list<VariableId>({0, 1}));
  const Condition count = read_goal("(forn 3 (?x - red) (clear ?x))").ast.goal.condition;
  EXPECT_EQ(count.kind, Kind::kAtLeast);
  EXPECT_EQ(count.count, 3U);
}

TEST(ParseCondition, BddlWordsMayBePredicates) {
  const Result result =
      read("(define (domain d) (:predicates (forn ?x) (at ?x) (sometime)))",
           "(define (problem p) (:domain d) (:objects a) (:init (forn a) (at a)) (:goal (and (forn a) (sometime))))");
  EXPECT_CLEAN(result);
}

TEST(ParseCondition, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "(not ";
    return text + "(free)" + std::string(depth, ')');
  };
  EXPECT_FALSE(read_goal(nested(200)).diagnostics.has_errors());
  EXPECT_TRUE(read_goal(nested(400)).says("nested more than"));
  EXPECT_TRUE(read_goal(nested(1900)).says("nested more than"));
}

// ---- effects and costs

TEST(ParseEffect, NestedEffectsAreFlat) {
  const Result result = read_domain(
      "(:predicates (p ?x) (q ?x) (r)) (:action a :parameters (?x) :effect"
      " (and (r) (forall (?y) (and (when (p ?y) (forall (?z) (when (q ?z) (and (p ?z) (not (q ?y)))))) (q ?y)))))");
  EXPECT_CLEAN(result);
  const Action& action = result.ast.actions[ActionNameId{0}];
  ASSERT_EQ(action.effects.size(), 4U);
  EXPECT_TRUE(action.effects[0].forall.empty());
  EXPECT_EQ(action.effects[0].when.kind, Kind::kTrue);
  EXPECT_EQ(action.effects[1].forall, id_list<VariableId>({1, 2}));
  EXPECT_TRUE(action.effects[1].add);
  EXPECT_EQ(to_string(result.ast, action.variables, action.effects[1].when), "(and (p ?y) (q ?z))");
  EXPECT_FALSE(action.effects[2].add);
  EXPECT_EQ(to_string(result.ast, action.variables, action.effects[2].atom), "(q ?y)");
  EXPECT_EQ(action.effects[3].forall, id_list<VariableId>({1}));
  EXPECT_EQ(action.effects[3].when.kind, Kind::kTrue);
}

TEST(ParseEffect, Costs) {
  const Result result = read_domain(
      "(:predicates (p)) (:functions (total-cost) - number (w ?x)) (:constants k)"
      "(:action a :parameters (?x) :effect (and (increase (total-cost) (+ 2 (w ?x) (+ 0.5 (w k)))) (increase "
      "(total-cost) 1)))"
      "(:action b :effect (p))");
  EXPECT_CLEAN(result);
  const std::vector<CostTerm>& costs = result.ast.actions[ActionNameId{0}].costs;
  ASSERT_EQ(costs.size(), 5U);
  EXPECT_EQ(costs[0].constant, 2);
  EXPECT_FALSE(costs[0].function.has_value());
  EXPECT_EQ(costs[1].function, FunctionId{1});
  EXPECT_TRUE(costs[1].arguments[0].is_variable());
  EXPECT_EQ(costs[2].constant, 0.5);
  EXPECT_FALSE(costs[3].arguments[0].is_variable());
  EXPECT_EQ(costs[4].constant, 1);
  EXPECT_TRUE(result.ast.actions[ActionNameId{1}].costs.empty());
}

TEST(ParseEffect, CostFunctionIsTheOneOfTheMetric) {
  const std::string domain =
      "(define (domain d) (:requirements :action-costs) (:predicates (p)) (:functions (fuel))"
      "(:action a :effect (and (p) (increase (fuel) 2))))";
  const Result with = read(domain, "(define (problem p) (:domain d) (:init) (:goal (p)) (:metric minimize (fuel)))");
  EXPECT_CLEAN(with);
  EXPECT_TRUE(with.ast.has_metric);
  EXPECT_EQ(with.ast.actions[ActionNameId{0}].costs.size(), 1U);
  // Without a metric it is a number that nothing reads.
  const Result without = read(domain, "(define (problem p) (:domain d) (:init) (:goal (p)))");
  EXPECT_FALSE(without.diagnostics.has_errors()) << without.text();
  EXPECT_TRUE(without.ast.actions[ActionNameId{0}].costs.empty());
  EXPECT_TRUE(without.ast.actions[ActionNameId{0}].numeric_effects.empty());
}

TEST(ParseEffect, TotalCostNeedNotBeDeclared) {
  const Result result = read_domain("(:predicates (p)) (:action a :effect (and (p) (increase (totalCost) 3)))");
  EXPECT_FALSE(result.diagnostics.has_errors()) << result.text();
  EXPECT_TRUE(result.says("function 'totalcost' is used but not declared"));
  EXPECT_EQ(result.ast.actions[ActionNameId{0}].costs.size(), 1U);
}

TEST(ParseEffect, ConditionalCostIsRefused) {
  EXPECT_TRUE(
      read_domain(
          "(:predicates (p)) (:functions (total-cost)) (:action a :effect (when (p) (increase (total-cost) 3)))")
          .says("costs inside (when ...)"));
  EXPECT_TRUE(
      read_domain(
          "(:predicates (p)) (:functions (total-cost)) (:action a :effect (forall (?x) (increase (total-cost) 3)))")
          .says("costs inside (when ...)"));
}

TEST(ParseEffect, ExplodingConditionsAreRefused) {
  std::string condition = "(and";
  for (int i = 0; i < 3000; ++i) condition += " (p)";
  std::string effects = "(and";
  for (int i = 0; i < 3000; ++i) effects += " (p)";
  const Result result = read_domain("(:predicates (p)) (:action a :effect (when " + condition + ") " + effects + ")))");
  EXPECT_TRUE(result.says("add up to more than"));
}

// ---- derived predicates

TEST(ParseDerived, HeadAndBody) {
  const Result result = read_domain(
      "(:types t) (:predicates (edge ?x ?y - t) (path ?x ?y - t))"
      "(:derived (path ?x ?y) (or (edge ?x ?y) (exists (?z - t) (and (edge ?x ?z) (path ?z ?y)))))");
  EXPECT_CLEAN(result);
  EXPECT_TRUE(result.ast.predicates[PredicateId{1}].derived);
  EXPECT_FALSE(result.ast.predicates[PredicateId{0}].derived);
  ASSERT_EQ(result.ast.axioms.size(), 1U);
  const Axiom& axiom = result.ast.axioms[0];
  EXPECT_EQ(axiom.head, PredicateId{1});
  EXPECT_EQ(axiom.num_parameters, 2U);
  EXPECT_EQ(axiom.variables.size(), 3U);
  EXPECT_EQ(axiom.variables[VariableId{0}].types, id_list<TypeId>({1})) << "taken from the declaration";
}

TEST(ParseDerived, StrataAreChecked) {
  const std::string predicates = "(:predicates (a) (b) (c) (e))";
  // b uses the negation of a: fine. So is negation of a basic predicate inside a cycle.
  EXPECT_FALSE(read_domain(predicates + "(:derived (a) (e)) (:derived (b) (not (a)))").diagnostics.has_errors());
  EXPECT_FALSE(
      read_domain(predicates + "(:derived (a) (and (b) (not (e)))) (:derived (b) (a))").diagnostics.has_errors());
  EXPECT_FALSE(read_domain(predicates + "(:derived (a) (not (not (a))))").diagnostics.has_errors());
  EXPECT_TRUE(read_domain(predicates + "(:derived (a) (not (a)))").says("depends on its own negation"));
  EXPECT_TRUE(read_domain(predicates + "(:derived (a) (b)) (:derived (b) (c)) (:derived (c) (imply (a) (e)))")
                  .says("depend on each other"));
}

TEST(ParseDerived, NeverChangedDirectly) {
  const std::string domain =
      "(define (domain d) (:requirements :derived-predicates) (:predicates (a) (e)) (:derived (a) (e))";
  EXPECT_TRUE(
      read(domain + ")", "(define (problem p) (:domain d) (:init (a)) (:goal (a)))").says("in the initial state"));
  EXPECT_TRUE(read(domain + "(:action x :effect (not (a))))", "(define (problem p) (:domain d) (:init) (:goal (a)))")
                  .says("effect on the derived predicate 'a'"));
}

// ---- constraints

TEST(ParseConstraints, StateOperators) {
  const Result result = read_constraints(
      "(and (always (free)) (sometime (clear a)) (at-most-once (clear b))"
      " (and (sometime-after (clear a) (clear b)) (sometime-before (clear a) (free))))");
  EXPECT_CLEAN(result);
  ASSERT_EQ(result.ast.constraints.size(), 5U);
  using ConstraintKind = Constraint::Kind;
  const ConstraintKind kinds[] = {ConstraintKind::kAlways, ConstraintKind::kSometime, ConstraintKind::kAtMostOnce,
                                  ConstraintKind::kSometimeAfter, ConstraintKind::kSometimeBefore};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(result.ast.constraints[i].kind, kinds[i]);
  const Constraint& after = result.ast.constraints[3];
  EXPECT_EQ(to_string(result.ast, after.variables, after.first), "(clear a)");
  EXPECT_EQ(to_string(result.ast, after.variables, after.second), "(clear b)");
  EXPECT_EQ(after.text, "(sometime-after (clear a) (clear b))");
}

TEST(ParseConstraints, ForallGoesIntoEachConstraint) {
  const Result result = read_constraints(
      "(forall (?x - red) (and (always (clear ?x)) (forall (?y - blue) (sometime (exists (?z - block) (on ?x ?y))))))");
  EXPECT_CLEAN(result);
  ASSERT_EQ(result.ast.constraints.size(), 2U);
  EXPECT_EQ(result.ast.constraints[0].forall, id_list<VariableId>({0}));
  EXPECT_EQ(result.ast.constraints[0].variables.size(), 1U);
  EXPECT_EQ(result.ast.constraints[0].text, "(forall (?x - red) (always (clear ?x)))");
  const Constraint& second = result.ast.constraints[1];
  EXPECT_EQ(second.forall, id_list<VariableId>({0, 1}));
  EXPECT_EQ(second.variables.size(), 3U);
  EXPECT_EQ(to_string(result.ast, second.variables, second.first), "(exists (?z - block) (on ?x ?y))");
  EXPECT_EQ(second.text, "(forall (?x - red) (forall (?y - blue) (sometime (exists (?z - block) (on ?x ?y)))))");
}

TEST(ParseConstraints, AtEndIsPartOfTheGoal) {
  const Result result = read_constraints("(and (at end (clear a)) (forall (?x - red) (at end (clear ?x))))");
  EXPECT_CLEAN(result);
  EXPECT_TRUE(result.ast.constraints.empty());
  EXPECT_EQ(goal_text(result), "(and (free) (clear a) (forall (?x - red) (clear ?x)))");
}

TEST(ParseConstraints, ActionsInOrder) {
  const Result result = read_constraints(
      "(forall (?b - red) (actions-in-order lift (lift ?b *) (one-of (lift a table) (one-of lift (lift * b)))))");
  EXPECT_CLEAN(result);
  ASSERT_EQ(result.ast.constraints.size(), 1U);
  const Constraint& constraint = result.ast.constraints[0];
  EXPECT_EQ(constraint.kind, Constraint::Kind::kActionsInOrder);
  ASSERT_EQ(constraint.steps.size(), 3U);
  ASSERT_EQ(constraint.steps[0].size(), 1U);
  EXPECT_EQ(constraint.steps[0][0].arguments.size(), 2U);
  EXPECT_FALSE(constraint.steps[0][0].arguments[0].has_value());
  EXPECT_TRUE(constraint.steps[1][0].arguments[0]->is_variable());
  EXPECT_FALSE(constraint.steps[1][0].arguments[1].has_value());
  ASSERT_EQ(constraint.steps[2].size(), 3U);
  EXPECT_EQ(constraint.steps[2][0].arguments[1]->object(), object(result.ast, "table"));
  EXPECT_EQ(constraint.steps[2][2].arguments[1]->object(), object(result.ast, "b"));
}

TEST(ParseConstraints, InTheDomainToo) {
  const Result result = read_domain(
      "(:predicates (p) (q)) (:action a :effect (p)) (:constraints (and (always (p)) (at end (q)) (actions-in-order "
      "a)))");
  EXPECT_CLEAN(result);
  EXPECT_EQ(result.ast.constraints.size(), 2U);
  EXPECT_EQ(goal_text(result), "(and (or) (q))");
}

// ---- the problem

TEST(ParseProblem, InitialState) {
  const Result result = read_blocks(
      "(:init (on a b) (on a b) (not (clear a)) (= (weight a) 3) (= (weight c) 0.25) (= (total-cost) 0) (on a b))"
      "(:goal (free)) (:metric minimize (total-cost)) (:length (:serial 3))");
  EXPECT_FALSE(result.diagnostics.has_errors()) << result.text();
  EXPECT_EQ(result.diagnostics.num_warnings(), 1U) << result.text();
  EXPECT_TRUE(result.says("fact (on a b) is listed twice (2 repeated facts in all)"));
  ASSERT_EQ(result.ast.init.size(), 1U);
  ASSERT_EQ(result.ast.init_values.size(), 3U);
  EXPECT_EQ(result.ast.init_values[0].value, 3);
  EXPECT_EQ(result.ast.init_values[0].arguments, (std::vector<ObjectId>{object(result.ast, "a")}));
  EXPECT_EQ(result.ast.init_values[1].value, 0.25);
  EXPECT_TRUE(result.ast.has_metric);
}

TEST(ParseProblem, TimedLiteralsAreToldFromThePredicateAt) {
  const std::string domain = "(define (domain d) (:predicates (at ?x ?y) (p)))";
  EXPECT_CLEAN(read(domain, "(define (problem p) (:domain d) (:objects 5 a) (:init (at 5 a)) (:goal (p)))"));
  EXPECT_TRUE(read(domain, "(define (problem p) (:domain d) (:objects 5 a) (:init (at 5 (p))) (:goal (p)))")
                  .says("timed initial literals are used but"));
  const auto result = read(domain, "(define (problem p) (:domain d) (:init (at 7 (not (p))) (at 5 (p))) (:goal (p)))");
  ASSERT_EQ(result.ast.timed.size(), 2U);
  EXPECT_EQ(result.ast.timed[0].time, 5'000'000);
  EXPECT_TRUE(result.ast.timed[0].add);
  EXPECT_FALSE(result.ast.timed[1].add);
}

TEST(ParseProblem, GoalMustExistInitNeedNot) {
  EXPECT_TRUE(read_blocks("(:init)").says("has no (:goal ...)"));
  const Result result = read_blocks("(:goal (free))");
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_TRUE(result.says("has no (:init ...)"));
  EXPECT_TRUE(result.ast.init.empty());
}

TEST(ParseProblem, SwappedFilesAndWrongKinds) {
  const std::string problem = "(define (problem p) (:domain blocks) (:init) (:goal (free)))";
  const Result swapped = read(problem, kBlocks);
  EXPECT_EQ(swapped.diagnostics.num_errors(), 1U);
  EXPECT_TRUE(swapped.says("the domain and the problem are swapped"));
  const Result twice = read(kBlocks, kBlocks);
  EXPECT_EQ(twice.diagnostics.num_errors(), 1U);
  EXPECT_TRUE(twice.says("p.pddl:1:9: error: this file defines a domain, but a problem is expected here"));
  EXPECT_TRUE(
      read(problem, problem).says("d.pddl:1:9: error: this file defines a problem, but a domain is expected here"));
  EXPECT_TRUE(read("", problem).says("d.pddl: error: the file is empty"));
  EXPECT_TRUE(read(kBlocks, "\n").says("p.pddl: error: the file is empty"));
}

TEST(ParseProblem, BothFilesAreCheckedAtOnce) {
  const Result result = read("(define (domain d) (:predicates (p) (p ?x)) (:action a :effect (q)))",
                             "(define (problem p) (:domain d) (:init (r)) (:goal (s)))");
  EXPECT_EQ(result.diagnostics.num_errors(), 4U) << result.text();
}

TEST(ParseProblem, AnUnreadableDomainDoesNotFloodTheProblem) {
  const Result result = read("(define (domain d)", "(define (problem p) (:domain d) (:init (r)) (:goal (s)))");
  EXPECT_EQ(result.diagnostics.num_errors(), 1U) << result.text();
}

// ---- diagnostics

TEST(ParseDiagnostics, ComeInTheOrderOfTheText) {
  const Result result = read_domain("(:action a :effect (q)) (:predicates (p ?x - t) (p))");
  std::vector<std::uint32_t> columns;
  for (const Diagnostic& diagnostic : result.diagnostics.items()) columns.push_back(diagnostic.where.column);
  EXPECT_EQ(columns.size(), 3U) << result.text();
  EXPECT_TRUE(std::is_sorted(columns.begin(), columns.end())) << result.text();
}

TEST(ParseDiagnostics, ErrorsAreKeptBeforeWarnings) {
  std::string actions = "(:predicates (p))";
  for (int i = 0; i < 100; ++i) actions += "(:action a" + std::to_string(i) + " :effect ())";
  const Result result = read_domain(actions + "(:action b :effect (q)) (:action c :effect (r))");
  EXPECT_EQ(result.diagnostics.num_errors(), 2U);
  EXPECT_EQ(result.diagnostics.num_warnings(), 100U);
  EXPECT_EQ(result.diagnostics.items().size(), Diagnostics::kMaxItems);
  EXPECT_TRUE(result.says("predicate 'q'"));
  EXPECT_TRUE(result.says("predicate 'r'"));
}

TEST(ParseDiagnostics, AnUndefinedNameIsReportedOnce) {
  const Result result = read_goal("(and (clear zebra) (clear zebra) (tidy a) (tidy b))");
  EXPECT_EQ(result.diagnostics.num_errors(), 2U) << result.text();
}

TEST(ParseDiagnostics, RequirementsOfEitherFileCount) {
  const std::string domain = "(define (domain d) (:predicates (p) (q)))";
  EXPECT_TRUE(
      read(domain, "(define (problem p) (:domain d) (:init) (:goal (or (p) (q))))").says(":disjunctive-preconditions"));
  EXPECT_CLEAN(read(domain, "(define (problem p) (:domain d) (:requirements :adl) (:init) (:goal (or (p) (q))))"));
}

TEST(ParseDiagnostics, IllTypedArgumentsOnlyWhenTypesCannotMeet) {
  EXPECT_CLEAN(read_goal("(exists (?x - object) (clear ?x))"));  // an object may be a block
  const Result result = read_goal("(exists (?x - place) (clear ?x))");
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_TRUE(result.says("argument 1 of 'clear' is '?x' of type 'place', expected 'block'"));
}

// ---- size

// That it comes to an end at all is the point: of these sizes, nothing quadratic would in the time that a test has.
void expect_answer(const std::string& domain, const std::string& problem, bool refused = true) {
  const Result result = read(domain, problem);
  EXPECT_EQ(result.diagnostics.has_errors(), refused) << domain.substr(0, 60);
  EXPECT_LE(result.diagnostics.items().size(), Diagnostics::kMaxItems);
}

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + part.size());
  while (out.size() < bytes) out += part;
  return out;
}

TEST(ParseSize, MegabytesOfGarbage) {
  constexpr std::size_t kBytes = 10'000'000;
  const std::string problem = "(define (problem p) (:domain d) (:init) (:goal (and)))";
  for (const char* part : {"(", ")", "a", "a ", "\xff", ";", "()", "\n", "(((x)"}) {
    expect_answer(repeated(part, kBytes / 20), problem);
    expect_answer(std::string(kBlocks), repeated(part, kBytes / 20));
  }
  expect_answer(repeated("(", kBytes), problem);
  expect_answer("(define (domain d) " + repeated("a ", kBytes), problem);
  std::string random(kBytes, '\0');
  std::uint32_t state = 1;
  for (char& c : random) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  expect_answer(random, problem);
}

TEST(ParseSize, MegabytesInsideSections) {
  constexpr std::size_t kBytes = 200'000;
  const std::string problem = "(define (problem p) (:domain d) (:init) (:goal (and)))";
  for (const char* part : {"a ", "(a) ", "(p ?x - t) ", "(p ?x ?x) ", "- "}) {
    for (const char* section :
         {":predicates", ":types", ":constants", ":functions", ":action", ":derived", ":requirements"}) {
      SCOPED_TRACE(std::string(section) + " " + part);
      const Result result =
          read("(define (domain d) (" + std::string(section) + " " + repeated(part, kBytes) + "))", problem);
      EXPECT_LE(result.diagnostics.items().size(), Diagnostics::kMaxItems);
    }
  }
}

TEST(ParseSize, ManyObjectsAndFactsAreLinear) {
  std::string objects;
  std::string facts;
  for (int i = 0; i < 50'000; ++i) {
    objects += "o" + std::to_string(i) + " ";
    facts += "(p o" + std::to_string(i) + ")";
  }
  expect_answer("(define (domain d) (:predicates (p ?x)))",
                "(define (problem p) (:domain d) (:objects " + objects + ") (:init " + facts + ") (:goal (p o0)))",
                false);
}

}  // namespace
}  // namespace metactrl::pddl::parse_test
