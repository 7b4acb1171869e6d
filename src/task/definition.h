// A ground task as plain data: what the PDDL grounder and the SAS reader produce, and what compile.h turns into a
// Program.
//
// A `Definition` names facts (ground atoms that may be true or false), actions over them, axioms that derive facts from
// others, trajectory monitors and the goal. It is not optimised: facts may be constant and actions may never become
// applicable. `simplify` (simplify.h) removes what relaxed reachability proves useless.
#ifndef METACTRL_SRC_TASK_DEFINITION_H_
#define METACTRL_SRC_TASK_DEFINITION_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "support/ids.h"

namespace metactrl::task {

using internal::ids;
using internal::IdVector;
using internal::index;
using internal::to_id;

// A ground atom that may be true or false.
enum class FactId : std::uint32_t {};
// The name of a fact without its objects.
enum class PredicateId : std::uint32_t {};

// A condition over facts in negation normal form.
struct Formula {
  enum class Kind : std::uint8_t {
    kTrue,
    kFalse,
    kLiteral,
    kAnd,
    kOr,
    kAtLeast,   // at least `count` children hold
    kMatching,  // children are a matrix with `count2` columns, row-major; `count` entries in distinct rows and columns
                // hold at once; `negated` turns the whole around (the only kind besides kLiteral that uses it)
  };
  Kind kind = Kind::kTrue;
  bool negated = false;
  FactId fact{};
  std::uint32_t count = 0;
  std::uint32_t count2 = 0;
  std::vector<Formula> children;

  static Formula literal(FactId fact, bool negated) {
    Formula formula;
    formula.kind = Kind::kLiteral;
    formula.fact = fact;
    formula.negated = negated;
    return formula;
  }
  static Formula constant(bool value) {
    Formula formula;
    formula.kind = value ? Kind::kTrue : Kind::kFalse;
    return formula;
  }
  bool is_true() const { return kind == Kind::kTrue; }
  bool is_false() const { return kind == Kind::kFalse; }
  // The same tree; formulas that mean the same may still differ.
  bool operator==(const Formula&) const = default;
};

// kAnd / kOr with constants folded and nested nodes of the same kind spliced in.
Formula make_and(std::vector<Formula> children);
Formula make_or(std::vector<Formula> children);
// kAtLeast with constant children folded.
Formula make_at_least(std::uint32_t count, std::vector<Formula> children);
// The negation, pushed to the literals.
Formula negate(const Formula& formula);
// Calls `visit(fact, negated)` for each literal, in order.
template <typename Visit>
void for_each_literal(const Formula& formula, const Visit& visit) {
  if (formula.kind == Formula::Kind::kLiteral) visit(formula.fact, formula.negated);
  for (const Formula& child : formula.children) for_each_literal(child, visit);
}

// A name applied to objects: a fact or an action.
template <typename NameId>
struct Symbol {
  NameId name{};
  std::vector<ObjectId> arguments;
  auto operator<=>(const Symbol&) const = default;
};
using FactSymbol = Symbol<PredicateId>;
using ActionSymbol = Symbol<ActionNameId>;

struct EffectDefinition {
  Formula when;  // evaluated before the action
  std::vector<FactId> add;
  std::vector<FactId> del;  // deletes first: a fact in both ends up true
};

struct ActionDefinition {
  ActionSymbol symbol;
  Formula precondition;
  std::vector<EffectDefinition> effects;
  double cost = 1;
};

struct AxiomDefinition {
  FactId head{};
  Formula body;
};

// A trajectory constraint: a small automaton beside the state, stepped after every action and once for the initial
// state.
struct MonitorDefinition {
  enum class Kind : std::uint8_t {
    kAlways,          // `first` in every state
    kSometime,        // `first` in some state
    kAtMostOnce,      // `first` during at most one uninterrupted stretch
    kSometimeAfter,   // after `first`, then or later, `second`
    kSometimeBefore,  // `first` only after a strictly earlier `second`
    kActionsInOrder,  // the steps happen in order, one action each
  };
  Kind kind = Kind::kAlways;
  Formula first;
  Formula second;
  std::vector<std::vector<ActionId>> steps;  // each: ascending
  std::string text;
};

struct GoalDefinition {
  Formula condition;
  std::string text;
  bool never = false;  // proved to be false in every state that can be reached, even if numbers were not cut
};

// What is to hold at the end if it can be, and what it costs where it does not. Preferences of what happens on the way
// look at facts that remember it.
struct PreferenceDefinition {
  std::string name;
  Formula condition;
  std::string text;
  double weight = 1;
};

struct ActionName {
  std::string name;
  std::uint32_t arity = 0;
};

struct Definition {
  std::string name;
  IdVector<ObjectId, std::string> objects;
  IdVector<PredicateId, std::string> predicate_names;
  IdVector<ActionNameId, ActionName> action_names;  // every action the domain declares, grounded or not
  IdVector<FactId, FactSymbol> facts;
  IdVector<FactId, std::int32_t> fact_layer;  // -1: stored in the state; >= 0: derived, in this stratum
  IdVector<FactId, bool> init;                // false for derived ones
  IdVector<ActionId, ActionDefinition> actions;
  std::vector<AxiomDefinition> axioms;  // of layer fact_layer[head]
  std::vector<MonitorDefinition> monitors;
  std::vector<GoalDefinition> goals;  // all must hold at the end
  std::vector<PreferenceDefinition> preferences;
  // Numbers of which not all values are facts, each with what is: "(x boat) beyond -30 .. 30". An action that would lead
  // beyond cannot be taken, so plans are plans, but that there is none proves nothing; of plans of at most `cut_depth`
  // actions none is lost.
  std::vector<std::string> cut;
  std::uint32_t cut_depth = 0;
  bool has_costs = false;   // some action states one
  bool has_metric = false;  // the sum of costs is to be small; without, the number of actions
};

// "(at truck1 depot)". A symbol without arguments prints its name in parentheses.
std::string fact_text(const Definition& definition, FactId fact);
std::string action_text(const Definition& definition, ActionId action);

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_DEFINITION_H_
