// The reference meaning of PDDL, checked on small tasks whose answers are worked out by hand.
#include "pddl/interpret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "metactrl/error.h"
#include "pddl/parse.h"

namespace metactrl::pddl::interpret_test {
namespace {

LiftedInterpreter make(std::string_view domain, std::string_view problem) {
  Diagnostics diagnostics;
  auto ast = std::make_shared<Ast>(parse({"domain.pddl", domain}, {"problem.pddl", problem}, diagnostics));
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  return LiftedInterpreter(std::move(ast));
}

Validation judge(const LiftedInterpreter& interpreter, std::string_view plan) {
  return interpreter.validate(parse_plan(plan, "plan"));
}

constexpr const char* kKitchen = R"((define (domain kitchen)
  (:requirements :adl)
  (:types item place - object  container - place)
  (:predicates (at ?i - item ?p - place) (holding ?i - item) (open ?c - container) (clean ?i - item) (broken ?i - item))
  (:action grab :parameters (?i - item ?p - place)
    :precondition (and (at ?i ?p) (not (exists (?o - item) (holding ?o))))
    :effect (and (holding ?i) (not (at ?i ?p))))
  (:action putin :parameters (?i - item ?c - container)
    :precondition (and (holding ?i) (open ?c))
    :effect (and (at ?i ?c) (not (holding ?i))))
  (:action open :parameters (?c - container) :precondition (not (open ?c)) :effect (open ?c))
  (:action close :parameters (?c - container) :precondition (open ?c) :effect (not (open ?c)))
  (:action run :parameters (?c - container)
    :precondition (and (not (open ?c)) (forall (?i - item) (imply (at ?i ?c) (not (broken ?i)))))
    :effect (forall (?i - item) (when (at ?i ?c) (clean ?i))))
  (:action wait :parameters ())))";

std::string kitchen_problem(const std::string& goal, const std::string& more = "") {
  return "(define (problem p) (:domain kitchen) (:objects cup plate - item table - place dishwasher - container)"
         "(:init (at cup table) (at plate table) (broken plate)) (:goal " +
         goal + ")" + more + ")";
}

TEST(Interpret, AcceptsAValidPlan) {
  const LiftedInterpreter interpreter = make(kKitchen, kitchen_problem("(and (clean cup) (at cup dishwasher))"));
  const Validation v = judge(
      interpreter, "(open dishwasher)\n(grab cup table)\n(putin cup dishwasher)\n(close dishwasher)\n(run dishwasher)");
  EXPECT_TRUE(v.valid) << v.reason;
  EXPECT_EQ(v.steps_executed, 5U);
  EXPECT_EQ(v.cost, 5);
  EXPECT_TRUE(v.reason.empty());
  EXPECT_TRUE(v.unmet_goals.empty());
}

TEST(Interpret, NamesThePreconditionThatFails) {
  const LiftedInterpreter interpreter = make(kKitchen, kitchen_problem("(clean cup)"));
  const Validation v = judge(interpreter, "(grab cup table)\n(wait)\n(putin cup dishwasher)");
  EXPECT_FALSE(v.valid);
  EXPECT_EQ(v.steps_executed, 2U);
  EXPECT_EQ(v.reason, "step 3 (putin cup dishwasher): precondition (open dishwasher) is false");
  EXPECT_EQ(v.cost, 2);
}

TEST(Interpret, NamesTheWitnessOfAQuantifier) {
  const LiftedInterpreter interpreter = make(kKitchen, kitchen_problem("(clean cup)"));
  EXPECT_EQ(judge(interpreter, "(grab cup table)\n(grab plate table)").reason,
            "step 2 (grab plate table): precondition (not (holding cup)) is false for ?o = cup");
  EXPECT_EQ(
      judge(interpreter,
            "(open dishwasher)\n(grab plate table)\n(putin plate dishwasher)\n(close dishwasher)\n(run dishwasher)")
          .reason,
      "step 5 (run dishwasher): precondition (or (not (at plate dishwasher)) (not (broken plate))) is false for ?i = "
      "plate");
}

TEST(Interpret, ExplainsNamesThatDoNotExist) {
  const LiftedInterpreter interpreter = make(kKitchen, kitchen_problem("(clean cup)"));
  EXPECT_EQ(judge(interpreter, "(opn dishwasher)").reason,
            "step 1 (opn dishwasher): there is no action 'opn'; did you mean 'open'?");
  EXPECT_EQ(
      judge(interpreter, "(open dishwahser)").reason,
      "step 1 (open dishwahser): argument 1 of open: there is no object 'dishwahser'; did you mean 'dishwasher'?");
  EXPECT_EQ(judge(interpreter, "(open)").reason, "step 1 (open): action 'open' takes 1 arguments, not 0");
  EXPECT_EQ(judge(interpreter, "(putin cup table)").reason,
            "step 1 (putin cup table): argument 2 of putin: 'table' is not of type container");
}

TEST(Interpret, ListsUnmetGoals) {
  const LiftedInterpreter interpreter = make(
      kKitchen,
      kitchen_problem("(and (clean cup) (at plate table) (and (open dishwasher) (forall (?i - item) (clean ?i))))"));
  const Validation v = judge(interpreter, "(wait)");
  EXPECT_FALSE(v.valid);
  EXPECT_EQ(v.steps_executed, 1U);
  EXPECT_EQ(v.unmet_goals,
            (std::vector<std::string>{"(clean cup)", "(open dishwasher)", "(forall (?i - item) (clean ?i))"}));
  EXPECT_EQ(v.reason,
            "the goal is not reached: (clean cup), (open dishwasher), (forall (?i - item) (clean ?i)) do not hold at "
            "the end");
}

TEST(Interpret, ConditionalEffectsSeeTheOldStateAndAddsWin) {
  const LiftedInterpreter interpreter =
      make(R"((define (domain d) (:requirements :adl) (:predicates (p) (q) (r))
      (:action swap :parameters () :effect (and (when (p) (and (not (p)) (q))) (when (q) (and (not (q)) (p)))))
      (:action both :parameters () :effect (and (not (r)) (r)))))",
           "(define (problem x) (:domain d) (:init (p)) (:goal (and (q) (not (p)) (r))))");
  EXPECT_TRUE(judge(interpreter, "(swap)\n(both)").valid);
  EXPECT_FALSE(judge(interpreter, "(swap)\n(swap)\n(both)").valid);
  EXPECT_TRUE(judge(interpreter, "(both)\n(swap)\n(swap)\n(swap)").valid);
}

TEST(Interpret, AxiomsByStrata) {
  const LiftedInterpreter interpreter = make(R"((define (domain d) (:requirements :adl :derived-predicates)
      (:predicates (edge ?a ?b) (reach ?a ?b) (isolated ?a))
      (:derived (isolated ?a) (not (exists (?b) (reach ?a ?b))))
      (:derived (reach ?a ?b) (or (edge ?a ?b) (exists (?c) (and (edge ?a ?c) (reach ?c ?b)))))
      (:action cut :parameters (?a ?b) :precondition (edge ?a ?b) :effect (not (edge ?a ?b)))))",
                                             R"((define (problem x) (:domain d) (:objects a b c)
      (:init (edge a b) (edge b c)) (:goal (and (isolated a) (reach b c)))))");
  const Facts initial = interpreter.initial();
  std::set<std::string> text;
  for (const Fact& fact : LiftedInterpreter::sorted(initial)) text.insert(interpreter.fact_text(fact));
  EXPECT_EQ(text, (std::set<std::string>{"(edge a b)", "(edge b c)", "(reach a b)", "(reach a c)", "(reach b c)",
                                         "(isolated c)"}));
  EXPECT_TRUE(judge(interpreter, "(cut a b)").valid);
  EXPECT_EQ(judge(interpreter, "(cut b c)").unmet_goals, (std::vector<std::string>{"(isolated a)", "(reach b c)"}));
}

TEST(Interpret, CostsAreSummed) {
  const LiftedInterpreter interpreter =
      make(R"((define (domain d) (:requirements :strips :action-costs)
      (:predicates (at ?a)) (:functions (distance ?a ?b) (total-cost))
      (:action go :parameters (?a ?b) :precondition (at ?a)
        :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (distance ?a ?b))))
      (:action rest :parameters () :precondition () :effect ())))",
           R"((define (problem x) (:domain d) (:objects a b) (:init (at a) (= (total-cost) 0)
      (= (distance a b) 7) (= (distance b a) 2.5) (= (distance a a) 0) (= (distance b b) 0))
      (:goal (at a)) (:metric minimize (total-cost))))");
  const Validation v = judge(interpreter, "(go a b)\n(rest)\n(go b a)");
  EXPECT_TRUE(v.valid) << v.reason;
  EXPECT_EQ(v.cost, 9.5);
}

// One switch that can be on or off, and one lamp.
constexpr const char* kSwitches = R"((define (domain s) (:requirements :adl :constraints) (:predicates (a) (b))
    (:action a-on :parameters () :effect (a)) (:action a-off :parameters () :effect (not (a)))
    (:action b-on :parameters () :effect (b)) (:action b-off :parameters () :effect (not (b)))))";

Validation judge_constraint(const std::string& constraint, std::string_view plan, const std::string& init = "") {
  return judge(make(kSwitches, "(define (problem x) (:domain s) (:init " + init + ") (:goal (and)) (:constraints " +
                                   constraint + "))"),
               plan);
}

TEST(Trajectory, Always) {
  EXPECT_TRUE(judge_constraint("(always (not (a)))", "(b-on)").valid);
  const Validation v = judge_constraint("(always (not (a)))", "(b-on)\n(a-on)\n(a-off)");
  EXPECT_FALSE(v.valid);
  EXPECT_EQ(v.steps_executed, 1U);
  EXPECT_EQ(v.reason, "step 2 (a-on): breaks the constraint (always (not (a)))");
  EXPECT_EQ(v.cost, 1);
  EXPECT_EQ(judge_constraint("(always (not (a)))", "(a-off)", "(a)").reason,
            "the initial state breaks the constraint (always (not (a)))");
}

TEST(Trajectory, Sometime) {
  EXPECT_TRUE(judge_constraint("(sometime (a))", "(a-on)\n(a-off)").valid);
  EXPECT_TRUE(judge_constraint("(sometime (a))", "(a-off)", "(a)").valid);
  const Validation v = judge_constraint("(sometime (a))", "(b-on)");
  EXPECT_FALSE(v.valid);
  EXPECT_EQ(v.steps_executed, 1U);
  EXPECT_EQ(v.unmet_goals, (std::vector<std::string>{"(sometime (a))"}));
}

TEST(Trajectory, AtMostOnce) {
  EXPECT_TRUE(judge_constraint("(at-most-once (a))", "(a-on)\n(b-on)\n(a-off)\n(b-off)").valid);
  EXPECT_TRUE(judge_constraint("(at-most-once (a))", "(a-off)\n(b-on)", "(a)").valid);
  const Validation v = judge_constraint("(at-most-once (a))", "(a-on)\n(a-off)\n(b-on)\n(a-on)\n(a-off)");
  EXPECT_EQ(v.reason, "step 4 (a-on): breaks the constraint (at-most-once (a))");
  EXPECT_EQ(v.steps_executed, 3U);
}

TEST(Trajectory, SometimeAfter) {
  EXPECT_TRUE(judge_constraint("(sometime-after (a) (b))", "").valid);
  EXPECT_TRUE(judge_constraint("(sometime-after (a) (b))", "(a-on)\n(b-on)\n(b-off)\n(a-off)\n(b-on)").valid);
  // Still true after the last moment at which b held.
  EXPECT_FALSE(judge_constraint("(sometime-after (a) (b))", "(b-on)\n(a-on)\n(b-off)").valid);
  EXPECT_TRUE(judge_constraint("(sometime-after (a) (b))", "(b-on)\n(a-on)").valid);
}

TEST(Trajectory, SometimeBefore) {
  EXPECT_TRUE(judge_constraint("(sometime-before (a) (b))", "(b-on)\n(b-off)\n(a-on)").valid);
  EXPECT_EQ(judge_constraint("(sometime-before (a) (b))", "(a-on)\n(b-on)").reason,
            "step 1 (a-on): breaks the constraint (sometime-before (a) (b))");
  // Strictly before: at the same time is too late.
  EXPECT_FALSE(judge_constraint("(sometime-before (a) (b))", "", "(a) (b)").valid);
}

TEST(Trajectory, TheEarliestBreachIsReported) {
  const Validation v =
      judge_constraint("(and (at-most-once (b)) (always (not (a))))", "(b-on)\n(a-on)\n(b-off)\n(b-on)\n(nothing)");
  EXPECT_EQ(v.reason, "step 2 (a-on): breaks the constraint (always (not (a)))");
  EXPECT_EQ(judge_constraint("(always (not (a)))", "(b-on)\n(nothing)\n(a-on)").reason,
            "step 2 (nothing): there is no action 'nothing'");
}

TEST(Trajectory, OnePerBinding) {
  const LiftedInterpreter interpreter =
      make(kKitchen, kitchen_problem("(and)", "(:constraints (forall (?i - item) (always (not (holding ?i)))))"));
  const Validation v = judge(interpreter, "(wait)\n(grab plate table)");
  EXPECT_NE(v.reason.find("step 2 (grab plate table): breaks the constraint"), std::string::npos) << v.reason;
  EXPECT_NE(v.reason.find("for ?i = plate"), std::string::npos) << v.reason;
}

TEST(Trajectory, ActionsInOrder) {
  const LiftedInterpreter interpreter = make(
      kKitchen,
      kitchen_problem("(and)", "(:constraints (actions-in-order (open *) (one-of (wait) (run dishwasher)) wait))"));
  EXPECT_TRUE(judge(interpreter, "(wait)\n(open dishwasher)\n(wait)\n(grab cup table)\n(wait)").valid);
  const Validation v = judge(interpreter, "(wait)\n(wait)\n(open dishwasher)\n(wait)");
  EXPECT_FALSE(v.valid);
  EXPECT_EQ(v.unmet_goals.size(), 1U);
  EXPECT_EQ(v.steps_executed, 4U);
}

TEST(Interpret, CountsAndMatches) {
  const char* domain =
      R"((define (domain d) (:requirements :adl) (:types sock shoe) (:predicates (fits ?a - sock ?b - shoe) (dry ?a - sock))
      (:action dry :parameters (?a - sock) :effect (dry ?a))
      (:action fit :parameters (?a - sock ?b - shoe) :effect (fits ?a ?b))))";
  const auto problem = [](const std::string& goal) {
    return "(define (problem x) (:domain d) (:objects s1 s2 s3 - sock t1 t2 - shoe) (:init) (:goal " + goal + "))";
  };
  const LiftedInterpreter two = make(domain, problem("(forn (2) (?s - sock) (dry ?s))"));
  EXPECT_FALSE(judge(two, "(dry s1)").valid);
  EXPECT_TRUE(judge(two, "(dry s1)\n(dry s3)").valid);
  EXPECT_TRUE(judge(two, "(dry s1)\n(dry s2)\n(dry s3)").valid);
  const LiftedInterpreter pairs = make(domain, problem("(forpairs (?s - sock) (?t - shoe) (fits ?s ?t))"));
  EXPECT_FALSE(judge(pairs, "(fit s1 t1)\n(fit s2 t1)").valid);
  EXPECT_FALSE(judge(pairs, "(fit s1 t1)\n(fit s1 t2)").valid);
  // Greedy pairing of s1 with t1 has to be undone.
  EXPECT_TRUE(judge(pairs, "(fit s1 t1)\n(fit s1 t2)\n(fit s2 t1)").valid);
  const LiftedInterpreter one = make(domain, problem("(fornpairs (1) (?s - sock) (?t - shoe) (fits ?s ?t))"));
  EXPECT_FALSE(judge(one, "").valid);
  EXPECT_TRUE(judge(one, "(fit s2 t2)").valid);
}

// Breadth-first search with nothing but the oracle's functions.
std::map<std::vector<Fact>, unsigned> distances(const LiftedInterpreter& interpreter) {
  std::map<std::vector<Fact>, unsigned> distance;
  std::vector<Facts> layer{interpreter.initial()};
  distance[LiftedInterpreter::sorted(layer[0])] = 0;
  for (unsigned depth = 1; !layer.empty(); ++depth) {
    std::vector<Facts> next;
    for (const Facts& facts : layer) {
      for (auto& [instance, successor] : interpreter.successors(facts)) {
        if (distance.try_emplace(LiftedInterpreter::sorted(successor), depth).second)
          next.push_back(std::move(successor));
      }
    }
    layer = std::move(next);
  }
  return distance;
}

TEST(Interpret, EnumeratesBlocksworld) {
  const LiftedInterpreter interpreter =
      make(R"((define (domain blocks) (:requirements :strips)
      (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
      (:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
        :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
      (:action put-down :parameters (?x) :precondition (holding ?x)
        :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
      (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
        :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
      (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty))
        :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y))))))",
           R"((define (problem x) (:domain blocks) (:objects a b c) (:init (ontable a) (ontable b)
      (ontable c) (clear a) (clear b) (clear c) (handempty)) (:goal (and (on a b) (on b c)))))");
  EXPECT_EQ(interpreter.instances().size(), 3U + 3U + 9U + 9U);
  const auto distance = distances(interpreter);
  EXPECT_EQ(distance.size(), 22U);  // 13 arrangements on the table, 3 * 3 with one block in the hand
  unsigned nearest = 1000;
  for (const auto& [key, depth] : distance) {
    if (interpreter.goal_holds(Facts(key.begin(), key.end()))) nearest = std::min(nearest, depth);
  }
  EXPECT_EQ(nearest, 4U);
  EXPECT_TRUE(judge(interpreter, "(pick-up b)\n(stack b c)\n(pick-up a)\n(stack a b)").valid);
}

// --- existential quantifiers, axioms and quantified effects against plain enumeration --------------------------------

// A random condition over p/1, q/2 and the variables given. With `plain`, each (exists ...) is written (not (forall ...
// (not))) instead, which the interpreter evaluates by trying all objects. The same random numbers give the same
// condition either way.
class RandomCondition {
 public:
  RandomCondition(unsigned seed, bool plain) : random_(seed), plain_(plain) {}

  std::string make(std::vector<std::string> variables, int depth) {
    const int kind = pick(depth > 0 ? 10 : 4);
    const auto term = [&] {
      return pick(6) == 0 ? std::string("a") : variables[pick(static_cast<int>(variables.size()))];
    };
    if (kind == 0) return "(p " + term() + ")";
    if (kind <= 2) return binary("q", term);
    if (kind == 3) return binary("=", term);
    if (kind == 4) return "(not " + make(variables, depth - 1) + ")";
    if (kind <= 7) {
      std::string out = kind == 5 ? "(or" : "(and";
      for (int i = 1 + pick(3); i > 0; --i) out += " " + make(variables, depth - 1);
      return out + ")";
    }
    const std::string name = "?v" + std::to_string(next_variable_++);
    variables.push_back(name);
    const std::string declaration = "(" + name + (pick(2) == 0 ? " - small" : " - object") + ") ";
    const std::string body = make(variables, depth - 1);
    if (kind == 8) return "(forall " + declaration + body + ")";
    return plain_ ? "(not (forall " + declaration + "(not " + body + ")))" : "(exists " + declaration + body + ")";
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  template <typename Term>
  static std::string binary(const std::string& name, const Term& term) {
    const std::string left = term();
    return "(" + name + " " + left + " " + term() + ")";
  }

  std::mt19937 random_;
  bool plain_;
  int next_variable_ = 0;
};

TEST(InterpretProperty, SolvingEqualsTryingAllObjects) {
  std::size_t hits = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const std::string body = RandomCondition(seed, false).make({"?x", "?y"}, 3);
    const std::string plain = RandomCondition(seed, true).make({"?x", "?y"}, 3);
    std::mt19937 random(seed);
    std::string init;
    for (const char* a : {"a", "b", "c", "d"}) {
      if (random() % 2 == 0) init += std::string("(p ") + a + ")";
      for (const char* b : {"a", "b", "c", "d"}) {
        if (random() % 3 == 0) init += std::string("(q ") + a + " " + b + ")";
      }
    }
    const std::string domain =
        "(define (domain d) (:requirements :adl :derived-predicates) (:types small) (:constants a b - small)"
        "(:predicates (p ?x) (q ?x ?y) (derived ?x ?y) (marked ?x ?y) (mark-done))"
        "(:derived (derived ?x - small ?y) " +
        body +
        ")"
        "(:action mark :parameters () :effect (and (mark-done) (forall (?x - small ?y) (when " +
        body + " (marked ?x ?y))))))";
    const auto problem = [&](const std::string& goal) {
      return "(define (problem x) (:domain d) (:objects c d) (:init " + init + ") (:goal " + goal + "))";
    };
    const auto same = [&](const std::string& left) {
      return "(forall (?x ?y) (or (and " + left + " (or (= ?x a) (= ?x b)) " + plain + ") (and (not " + left +
             ") (not (and (or (= ?x a) (= ?x b)) " + plain + "))))) ";
    };
    const LiftedInterpreter interpreter =
        make(domain, problem("(and " + same("(derived ?x ?y)") + same("(marked ?x ?y)") + ")"));
    const Validation v = judge(interpreter, "(mark)");
    ASSERT_TRUE(v.valid) << body << "\n" << init << "\n" << v.reason;
    const LiftedInterpreter some = make(domain, problem("(exists (?x - small ?y) " + body + ")"));
    const LiftedInterpreter some_plain = make(domain, problem("(not (forall (?x - small ?y) (not " + plain + ")))"));
    ASSERT_EQ(some.goal_holds(some.initial()), some_plain.goal_holds(some_plain.initial())) << body << "\n" << init;
    hits += some.goal_holds(some.initial()) ? 1 : 0;
  }
  EXPECT_GT(hits, 300U);
  EXPECT_LT(hits, 1400U);
}

TEST(InterpretProperty, TransitiveClosureByAxioms) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    constexpr int kNodes = 7;
    bool reach[kNodes][kNodes] = {};
    std::string init;
    for (int a = 0; a < kNodes; ++a) {
      for (int b = 0; b < kNodes; ++b) {
        if (random() % 6 != 0) continue;
        reach[a][b] = true;
        init += "(edge n" + std::to_string(a) + " n" + std::to_string(b) + ")";
      }
    }
    for (int via = 0; via < kNodes; ++via) {
      for (int a = 0; a < kNodes; ++a) {
        for (int b = 0; b < kNodes; ++b) reach[a][b] = reach[a][b] || (reach[a][via] && reach[via][b]);
      }
    }
    const LiftedInterpreter interpreter = make(
        "(define (domain d) (:requirements :adl :derived-predicates) (:predicates (edge ?a ?b) (path ?a ?b))"
        "(:derived (path ?a ?b) (or (edge ?a ?b) (exists (?c) (and (path ?a ?c) (path ?c ?b)))))"
        "(:action wait :parameters () :precondition () :effect ()))",
        "(define (problem x) (:domain d) (:objects n0 n1 n2 n3 n4 n5 n6) (:init " + init + ") (:goal (and)))");
    const Facts facts = interpreter.initial();
    std::size_t expected = 0;
    for (std::uint32_t a = 0; a < kNodes; ++a) {
      for (std::uint32_t b = 0; b < kNodes; ++b) {
        expected += reach[a][b] ? 1 : 0;
        EXPECT_EQ(facts.contains(Fact{PredicateId{1}, {ObjectId{a}, ObjectId{b}}}), reach[a][b])
            << a << ' ' << b << init;
      }
    }
    EXPECT_EQ(static_cast<std::size_t>(
                  std::count_if(facts.begin(), facts.end(), [](const Fact& f) { return f.name == PredicateId{1}; })),
              expected);
  }
}

}  // namespace
}  // namespace metactrl::pddl::interpret_test
