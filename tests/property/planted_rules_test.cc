// Engine, interpreter and the checker of certificates share no rule (scripts/check_layers), so a wrong rule in one of them is
// noticed by the others. Here one is planted: one of the two reads the domain with a rule changed, the other as it is written.
// That is what a mistake in its code for that rule would amount to, without a hook in the code. Each of them must be
// noticed in each place; and with nothing planted there must be nothing to notice.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/certificate.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "support/certificate_court.h"
#include "support/random.h"
#include "task/program.h"

namespace metactrl::planted_rules_test {

using testing::Random;
using Json = nlohmann::ordered_json;

constexpr const char* kDomain = R"((define (domain planted)
  (:types place thing - object box - thing)
  (:constants home - place)
  (:predicates (at ?t - thing ?p - place) (robot ?p - place) (holding ?t - thing) (link ?a ?b - place) (open ?b - box)
    (in ?t - thing ?b - box) (dirty ?t - thing) (wet ?p - place) (hand-free) (reachable ?p - place) (done))
  (:derived (reachable ?p - place)
    (or (robot ?p) (exists (?q - place) (and (reachable ?q) (link ?q ?p) (not (wet ?p))))))
  (:action go :parameters (?a ?b - place)
    :precondition (and (robot ?a) (link ?a ?b) (not (= ?a ?b)) (not (wet ?b)))
    :effect (and (robot ?b) (not (robot ?a)) (forall (?t - thing) (when (and (holding ?t) (dirty ?t)) (wet ?a)))))
  (:action grab :parameters (?t - thing ?p - place)
    :precondition (and (robot ?p) (at ?t ?p) (hand-free) (forall (?b - box) (imply (in ?t ?b) (open ?b))))
    :effect (and (holding ?t) (not (hand-free)) (not (at ?t ?p)) (forall (?b - box) (when (in ?t ?b) (not (in ?t ?b))))))
  (:action put :parameters (?t - thing ?p - place)
    :precondition (and (holding ?t) (robot ?p))
    :effect (and (at ?t ?p) (hand-free) (not (holding ?t))))
  (:action put-in :parameters (?t - thing ?b - box ?p - place)
    :precondition (and (holding ?t) (robot ?p) (at ?b ?p) (open ?b))
    :effect (and (in ?t ?b) (at ?t ?p) (hand-free) (not (holding ?t))))
  (:action open :parameters (?b - box ?p - place)
    :precondition (and (robot ?p) (at ?b ?p) (not (open ?b)) (or (hand-free) (holding ?b)))
    :effect (open ?b))
  (:action close :parameters (?b - box ?p - place)
    :precondition (and (robot ?p) (at ?b ?p) (open ?b))
    :effect (not (open ?b)))
  (:action wash :parameters (?t - thing)
    :precondition (and (holding ?t) (robot home) (dirty ?t))
    :effect (not (dirty ?t)))
  (:action mop :parameters (?p - place)
    :precondition (and (wet ?p) (exists (?q - place) (and (robot ?q) (link ?q ?p))) (hand-free))
    :effect (not (wet ?p)))
  (:action finish :parameters () :precondition (forall (?p - place) (reachable ?p)) :effect (done))))";

constexpr const char* kProblem = R"((define (problem p) (:domain planted)
  (:objects a b - place cup - thing chest - box)
  (:init (robot home) (link home home) (link home a) (link a home) (link a b) (link b a)
    (at cup a) (at chest b) (dirty cup) (hand-free))
  (:goal (done))))";

struct Planted {
  const char* what;
  const char* rule;
  const char* instead;
};

const std::vector<Planted> kPlanted = {
    {"a precondition is forgotten", "(not (= ?a ?b)) (not (wet ?b))", "(not (= ?a ?b))"},
    {"a static precondition is forgotten", "(robot ?a) (link ?a ?b)", "(robot ?a)"},
    {"equality is forgotten", "(not (= ?a ?b)) ", ""},
    {"inequality is equality", "(not (= ?a ?b))", "(= ?a ?b)"},
    {"a delete is forgotten", "(robot ?b) (not (robot ?a))", "(robot ?b)"},
    {"a delete is an add", "(not (at ?t ?p)) (forall", "(at ?t ?p) (forall"},
    {"an add is a delete", "(and (holding ?t) (not (hand-free))", "(and (not (holding ?t)) (not (hand-free))"},
    {"half a condition of an effect is forgotten", "(when (and (holding ?t) (dirty ?t))", "(when (holding ?t)"},
    {"an effect's condition is turned around", "(holding ?t) (dirty ?t)) (wet", "(holding ?t) (not (dirty ?t))) (wet"},
    {"an effect has the wrong argument", "(wet ?a)", "(wet ?b)"},
    {"a conditional effect always happens", "(when (and (holding ?t) (dirty ?t)) (wet ?a))", "(wet ?a)"},
    {"a fact without arguments is forgotten", "(at ?t ?p) (hand-free) (forall", "(at ?t ?p) (forall"},
    {"an atom is forgotten", "(robot ?p) (at ?t ?p) (hand-free)", "(robot ?p) (hand-free)"},
    {"a universal precondition is forgotten", "(forall (?b - box) (imply (in ?t ?b) (open ?b)))", "(and)"},
    {"imply is turned around", "(imply (in ?t ?b) (open ?b))", "(imply (open ?b) (in ?t ?b))"},
    {"a delete of a fact without arguments is forgotten", "(holding ?t) (not (hand-free))", "(holding ?t)"},
    {"a universal effect is forgotten", " (forall (?b - box) (when (in ?t ?b) (not (in ?t ?b))))", ""},
    {"an add is forgotten", "(at ?t ?p) (hand-free) (not (holding ?t))))\n  (:action put-in",
     "(at ?t ?p) (not (holding ?t))))\n  (:action put-in"},
    {"an atom of three is forgotten", "(at ?b ?p) (open ?b))\n    :effect (and (in",
     "(at ?b ?p))\n    :effect (and (in"},
    {"one of two adds is forgotten", "(in ?t ?b) (at ?t ?p)", "(in ?t ?b)"},
    {"a negation is forgotten", "(at ?b ?p) (not (open ?b))", "(at ?b ?p) (open ?b)"},
    {"a disjunction is forgotten", " (or (hand-free) (holding ?b))", ""},
    {"a disjunction is a conjunction", "(or (hand-free) (holding ?b))", "(and (hand-free) (holding ?b))"},
    {"the only effect is forgotten", ":effect (not (open ?b))", ":effect ()"},
    {"a constant is forgotten", "(holding ?t) (robot home)", "(holding ?t)"},
    {"an existential precondition is forgotten", "(exists (?q - place) (and (robot ?q) (link ?q ?p)))", "(and)"},
    {"exists is forall", "(exists (?q - place) (and (robot", "(forall (?q - place) (and (robot"},
    {"forall is exists", "(forall (?p - place) (reachable", "(exists (?p - place) (reachable"},
    {"an axiom's condition is forgotten", "(link ?q ?p) (not (wet ?p))", "(link ?q ?p)"},
    {"an axiom does not recur", "(reachable ?q) (link ?q ?p)", "(robot ?q) (link ?q ?p)"},
    {"half an axiom is forgotten", "(or (robot ?p) (exists", "(or (exists"},
};

std::string planted_domain(const Planted& planted) {
  std::string text = kDomain;
  const std::size_t place = text.find(planted.rule);
  EXPECT_NE(place, std::string::npos) << planted.what;
  EXPECT_EQ(text.find(planted.rule, place + 1), std::string::npos) << planted.what;
  return text.replace(place, std::string(planted.rule).size(), planted.instead);
}

// The first difference between the engine's meaning of one text and the interpreter's of another, over all states and all
// that leads from one to another; empty when there is none.
std::string difference(const std::string& engines, const std::string& interpreters) {
  const Task task = load_pddl_text(engines, kProblem);
  Diagnostics diagnostics;
  const pddl::LiftedInterpreter interpreter(
      std::make_shared<const pddl::Ast>(pddl::parse({"domain", interpreters}, {"problem", kProblem}, diagnostics)));
  EXPECT_FALSE(diagnostics.has_errors());
  const task::Definition& definition = task.program().definition();
  // What the engine does not keep as a fact never changes.
  std::set<std::string> constant;
  for (const std::string& fact : task.initial_facts()) constant.insert(fact);
  for (const task::FactId fact : definition.facts.all()) constant.erase(task::fact_text(definition, fact));
  const auto same = [&](const State& state, const pddl::Facts& facts) {
    std::set<std::string> held = constant;
    for (const std::string& fact : task.facts(state)) held.insert(fact);
    std::set<std::string> wanted;
    for (const pddl::Fact& fact : facts) wanted.insert(interpreter.fact_text(fact));
    // The engine keeps no derived fact that is always true.
    const auto derived = [](const std::string& fact) { return fact.starts_with("(reachable"); };
    std::erase_if(held, derived);
    std::erase_if(wanted, derived);
    return held == wanted && task.is_goal(state) == interpreter.goal_holds(facts);
  };
  std::deque<std::pair<State, pddl::Facts>> queue = {{task.initial_state(), interpreter.initial()}};
  std::set<std::vector<pddl::Fact>> seen = {pddl::LiftedInterpreter::sorted(interpreter.initial())};
  if (!same(queue.front().first, queue.front().second)) return "the start";
  for (; !queue.empty(); queue.pop_front()) {
    const auto& [state, facts] = queue.front();
    std::size_t taken = 0;
    for (auto& [instance, next] : interpreter.successors(facts)) {
      const PlanStep step = interpreter.step(instance);
      const auto action = task.find(step);
      const auto after = action ? task.apply(state, *action) : std::nullopt;
      if (!after) return "the engine does not allow " + to_string(step);
      if (!same(*after, next)) return "what comes of " + to_string(step);
      ++taken;
      if (seen.insert(pddl::LiftedInterpreter::sorted(next)).second) queue.emplace_back(*after, std::move(next));
    }
    if (task.applicable_actions(state).size() != taken) return "the interpreter does not allow an action";
  }
  return "";
}

TEST(PlantedRules, NothingPlantedNothingNoticed) { EXPECT_EQ(difference(kDomain, kDomain), ""); }

TEST(PlantedRules, InTheEngineAreNoticedByTheInterpreter) {
  EXPECT_GE(kPlanted.size(), 20U);
  for (const Planted& planted : kPlanted) EXPECT_NE(difference(planted_domain(planted), kDomain), "") << planted.what;
}

TEST(PlantedRules, InTheInterpreterAreNoticedByTheEngine) {
  for (const Planted& planted : kPlanted) EXPECT_NE(difference(kDomain, planted_domain(planted)), "") << planted.what;
}

// What the engine says of a domain, as certificates: plans that wander, and that there is none for a goal, or no short one.
std::vector<std::string> certificates(const std::string& domain) {
  std::vector<std::string> result;
  const Task task = load_pddl_text(domain, kProblem);
  const auto add_plan = [&](const std::vector<ActionId>& plan) {
    result.push_back(lookahead::certify_plan(task, plan, {kDomain, kProblem, "(and)"}).text);
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    State state = task.initial_state();
    std::vector<ActionId> plan;
    for (int step = 0; step < 20 && !task.applicable_actions(state).empty(); ++step) {
      plan.push_back(random.pick(task.applicable_actions(state)));
      state = *task.apply(state, plan.back());
    }
    add_plan(plan);
  }
  // Where chance does not lead: each step, if it is legal.
  for (const char* script :
       {"(go home home)\n(go home a)\n(go a b)\n(open chest b)\n(go b a)\n(grab cup a)\n(go a b)\n(put-in cup chest "
        "b)\n"
        "(close chest b)\n(grab cup b)\n(go b a)\n(open chest b)\n(grab cup b)\n(finish)\n",
        "(go home a)\n(grab cup a)\n(go a b)\n(grab chest b)\n(open chest b)\n(wash cup)\n(put-in cup chest b)\n",
        "(go home a)\n(grab cup a)\n(go a b)\n(put-in cup chest b)\n",
        "(go home a)\n(grab cup a)\n(go a home)\n(put cup home)\n(mop a)\n(grab cup home)\n(go home a)\n(go a b)\n(put "
        "cup b)\n"
        "(mop home)\n"}) {
    State state = task.initial_state();
    std::vector<ActionId> plan;
    for (const PlanStep& step : parse_plan(script, "script")) {
      const auto action = task.find(step);
      if (!action || !task.legal(state, *action)) continue;
      plan.push_back(*action);
      state = *task.apply(state, *action);
    }
    add_plan(plan);
  }
  std::string problem = kProblem;
  const std::size_t place = problem.find("(done)");
  for (const char* goal :
       {"(done)", "(robot b)", "(wet a)", "(holding cup)", "(open chest)", "(in cup chest)", "(not (dirty cup))",
        "(and (wet home) (robot a))", "(and (wet home) (hand-free))", "(and (in cup chest) (not (open chest)))",
        "(and (at chest home) (hand-free))", "(and (open chest) (holding cup) (robot b))"}) {
    const Task asked = load_pddl_text(domain, std::string(problem).replace(place, 6, goal));
    for (const std::optional<unsigned> horizon :
         {std::optional<unsigned>(), std::optional<unsigned>(1), std::optional<unsigned>(6)}) {
      const lookahead::Certificate proof =
          lookahead::certify_infeasible(asked, horizon, lookahead::certificate_budget(), {kDomain, kProblem, goal});
      if (proof.missing.empty()) result.push_back(proof.text);
    }
  }
  return result;
}

TEST(PlantedRules, InTheEngineAreNoticedByTheCheckerOfCertificates) {
  testing::Court court;
  for (const std::string& text : certificates(kDomain)) court.add({kDomain, kProblem}, text, true, "nothing planted");
  court.judge();
  EXPECT_GE(court.count("nothing planted"), 15U);
  testing::Court all;
  for (const Planted& planted : kPlanted) {
    for (const std::string& text : certificates(planted_domain(planted))) {
      all.add({kDomain, kProblem}, text, false, planted.what);
    }
  }
  const std::vector<std::string> rejected = all.rejected();
  const std::set<std::string> noticed(rejected.begin(), rejected.end());
  for (const Planted& planted : kPlanted) EXPECT_TRUE(noticed.contains(planted.what)) << planted.what;
}

}  // namespace metactrl::planted_rules_test
