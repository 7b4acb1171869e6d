// The resolved syntax tree of a PDDL domain and problem.
//
// The parser (parse.h) produces it with every name already looked up: types, predicates, functions, objects and
// variables are indices into the tables below, so that nothing behind the parser compares strings. Sugar is gone:
// `imply` is `or (not ...)`, nested `forall`/`when`/`and` effects are a flat list, `(= a b)` is kEquals, an empty
// condition `()` is kTrue. What stays native, because expanding it costs exponentially, is kept: quantifiers,
// disjunction, conditional effects.
//
// Variables. Every scope that can bind variables (an action, an axiom, the goal, one trajectory constraint) owns a
// `VariableTable`. Parameters come first; each quantifier adds slots of its own, so a binding is a flat array of
// objects indexed by slot and no substitution ever captures a name.
#ifndef METACTRL_SRC_PDDL_AST_H_
#define METACTRL_SRC_PDDL_AST_H_

#include <array>
#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/task.h"
#include "support/ids.h"
#include "support/rational.h"
#include "task/symbol.h"

namespace metactrl::pddl {

using internal::ids;
using internal::IdVector;
using internal::index;
using internal::next_of;
using internal::Rational;
using internal::to_id;

// The ground task keeps the numbers of objects, actions and predicates.
using metactrl::ActionNameId;
using metactrl::ObjectId;
using task::PredicateId;
enum class TypeId : std::uint32_t {};
enum class FunctionId : std::uint32_t {};
// A place in a VariableTable.
enum class VariableId : std::uint32_t {};

// The type of all objects.
constexpr TypeId kObjectType{0};

// A place in one of the two files: 0 is the domain, 1 the problem (Ast::files).
struct Position {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Type {
  std::string name;
  std::vector<TypeId> parents = {};  // the types it is directly below; none for `object`
};

struct Object {
  std::string name;
  std::vector<TypeId> types;  // one, or several for (either a b)
  Position where;
};

// A variable ranges over all objects that belong to at least one of its types (or to a subtype).
struct Variable {
  std::string name;  // with the question mark
  std::vector<TypeId> types;
  Position where;
};

using VariableTable = IdVector<VariableId, Variable>;

// An object for each variable of a table; kUnbound where open.
using Binding = IdVector<VariableId, ObjectId>;
constexpr ObjectId kUnbound{0xffffffffU};

struct Predicate {
  std::string name;
  VariableTable parameters;
  Position where;
  bool derived = false;  // head of at least one axiom; never in an effect or in the initial state
};

struct Function {
  std::string name;
  VariableTable parameters;
  Position where;
  bool changes = false;  // by a numeric effect of some action
  // A condition depends on it, directly or by way of effects on another one; then its values are part of states.
  bool matters = false;
};

// A variable or an object.
class Term {
 public:
  Term(VariableId variable) : is_variable_(true), number_(index(variable)) {}  // NOLINT(google-explicit-constructor)
  Term(ObjectId object) : number_(index(object)) {}                            // NOLINT(google-explicit-constructor)

  bool is_variable() const { return is_variable_; }
  VariableId variable() const {
    assert(is_variable_);
    return VariableId{number_};
  }
  ObjectId object() const {
    assert(!is_variable_);
    return ObjectId{number_};
  }
  // What it stands for under a binding; kUnbound when that is open.
  ObjectId under(const Binding& binding) const { return is_variable_ ? binding[variable()] : object(); }
  bool operator==(const Term&) const = default;

 private:
  bool is_variable_ = false;
  std::uint32_t number_;
};

struct Atom {
  PredicateId predicate{};
  std::vector<Term> arguments;
  Position where;
};

// A number, the value of a function, or a sum, difference, product, quotient, maximum or minimum of two such. kDuration
// is ?duration in an action that may take several: its only child is the duration that plans give it, which the judge of
// a schedule replaces by the one that he is shown. Of an action with one duration the parser puts that in its place.
struct Expression {
  enum class Kind : std::uint8_t { kNumber, kFunction, kAdd, kSubtract, kMultiply, kDivide, kMost, kLeast, kDuration };
  Kind kind = Kind::kNumber;
  Rational number;        // kNumber
  FunctionId function{};  // kFunction
  std::vector<Term> arguments;
  std::vector<Expression> children;  // two, of the other kinds
};

// Of a kind with two children; nothing where that has no value.
std::optional<Rational> combined(Expression::Kind kind, const Rational& left, const Rational& right);

struct Condition {
  enum class Kind : std::uint8_t {
    kTrue,
    kFalse,
    kAtom,
    kEquals,   // terms: left, right
    kNot,      // one child
    kAnd,      // any number of children
    kOr,       // any number of children
    kForall,   // bound variables, one child
    kExists,   // bound variables, one child
    kAtLeast,  // BDDL (forn (n) (?x - t) c): c holds for at least `count` bindings of `bound`
    kCompare,  // (>= a b) and its like: sides a and b; false where one of them has no value
    kMatching  // BDDL (forpairs (?x - t) (?y - u) c), (fornpairs (n) ...): bound = {x, y}; `count` disjoint pairs
               // satisfy c at once. forpairs has count kAllPairs: as many as the smaller side has objects.
  };
  static constexpr std::uint32_t kAllPairs = 0xffffffffU;
  enum class Comparison : std::uint8_t { kLess, kAtMost, kEqual, kAtLeast, kMore };

  Kind kind = Kind::kTrue;
  Atom atom;                // kAtom
  std::vector<Term> terms;  // kEquals
  std::vector<Condition> children;
  std::vector<VariableId> bound;
  std::uint32_t count = 0;
  Comparison comparison = Comparison::kEqual;
  std::vector<Expression> sides;  // kCompare
  Position where;
};

// Does `left` compare with `right` in this way?
bool compares(Condition::Comparison comparison, const Rational& left, const Rational& right);

// One primitive effect. `forall` lists the variables of every enclosing (forall ...), `when` is the conjunction of
// every enclosing (when ...); it is evaluated in the state before the action. Deletes happen before adds.
struct Effect {
  std::vector<VariableId> forall;
  Condition when;
  bool add = true;
  Atom atom;
};

// A change of a number. All right sides are read in the state before the action; increases and decreases of one number
// add up; any other two changes of one number by one action exclude each other, and where both would happen, or where a
// number that is read has no value, the action is not applicable.
struct NumericEffect {
  enum class Change : std::uint8_t { kAssign, kIncrease, kDecrease, kScaleUp, kScaleDown };
  std::vector<VariableId> forall;
  Condition when;
  Change change = Change::kAssign;
  FunctionId function{};
  std::vector<Term> arguments;
  Expression amount;
  Position where;
};

// What an action adds to (total-cost): a number, or the value of a function that no action changes.
struct CostTerm {
  double constant = 0;
  std::optional<FunctionId> function;
  std::vector<Term> arguments;
};

// What an action that takes time has besides its start: the action's own precondition, effects and numeric effects are
// what must hold and what happens then. All else (over all, at end) is read once the effects at the start have happened.
struct Durative {
  // How long it takes, worked out at the start: the smallest duration that the text allows, or another one
  // (Action::written). That it is positive, and that the text allows any, is part of the precondition.
  Expression duration;
  // The bounds as they are written, for judges; all of them hold of a duration.
  struct Bound {
    Condition::Comparison comparison = Condition::Comparison::kEqual;
    Expression value;
  };
  std::vector<Bound> bounds;
  bool flexible = false;              // none of them is an equation
  std::optional<Expression> longest;  // where it is flexible; nothing: there is no upper bound
  Condition over_all;
  Condition at_end;
  std::vector<Effect> end_effects;
  std::vector<NumericEffect> end_numeric_effects;  // on functions that matter
  // Changes of functions that do not. Two actions that make such changes can exclude each other all the same.
  std::vector<NumericEffect> idle_start_effects;
  std::vector<NumericEffect> idle_end_effects;
  bool fixed = false;  // the duration does not depend on the state
  bool hosts = false;  // others may run inside it, see Ast::has_hosts
  // Of a flexible one, see durations.h.
  enum class Others : std::uint8_t { kDoNotMatter, kMatterInside, kMatter };
  Others others = Others::kDoNotMatter;
  bool takes_longest = false;  // this is the action that takes `longest`
  bool spans = true;           // what it does to numbers lies between what the smallest and the largest duration do
  std::string planned;         // those that plans give it: "2, 5, 9"
};

struct Action {
  std::string name;
  std::string written;      // where it is an action with another duration: that one's name
  VariableTable variables;  // the first `num_parameters` are the parameters
  std::uint32_t num_parameters = 0;
  Condition precondition;
  std::vector<Effect> effects;
  std::vector<NumericEffect> numeric_effects;  // on functions that matter
  std::vector<CostTerm> costs;                 // their sum; empty when no cost is stated
  std::optional<Durative> durative;            // nothing: it takes no time
  std::optional<Expression> metric_cost;  // instead of `costs`: what it adds to a metric of several parts, or of time
  Position where;
};

// (:derived (p ?x ...) body): the head's parameters are variables 0 .. num_parameters-1.
struct Axiom {
  PredicateId head{};
  VariableTable variables;
  std::uint32_t num_parameters = 0;
  Condition body;
  Position where;
};

// One alternative of one step of an action goal: an action name and, for each of its parameters, a term, or nothing for
// "any object". Written (grab ?x), (grab *) or just grab (any arguments).
struct ActionPattern {
  ActionNameId action{};
  std::vector<std::optional<Term>> arguments;
};

// A trajectory constraint: PDDL 3 operators, and our action goals.
struct Constraint {
  enum class Kind : std::uint8_t {
    kAlways,          // (always c)
    kSometime,        // (sometime c)
    kAtMostOnce,      // (at-most-once c): c is true during at most one uninterrupted stretch
    kSometimeAfter,   // (sometime-after c d): whenever c holds, d holds then or later
    kSometimeBefore,  // (sometime-before c d): when c holds, d held strictly earlier
    kActionsInOrder,  // (actions-in-order step ...): each step is one of its patterns, one action serves one step
    kAtEnd            // c holds in the last state; of preferences alone, elsewhere it is a goal
  };
  Kind kind = Kind::kAlways;
  VariableTable variables;
  std::vector<VariableId> forall;  // (forall (?x ...) (always ...)): one constraint per binding
  Condition first;
  Condition second;
  std::vector<std::vector<ActionPattern>> steps;
  Position where;
  std::string text;  // as the user wrote it, blanks normalised, for messages
};

// (preference NAME ...), in the goal or in :constraints. Each binding of the first `num_outer` variables of the parts'
// `forall`, which stand around it and are the same for all parts, is an instance of its own: violated where one of its
// parts is.
struct Preference {
  std::string name;  // empty: nothing can speak of it
  std::size_t num_outer = 0;
  std::vector<Constraint> parts;  // at least one
  double weight = 1;              // what each violated instance adds to the metric
  Position where;
  std::string text;  // without the name
};

// Of a metric that counts the time at which a schedule ends. Its value, with the costs of the actions and the weights of
// violated preferences, is  sign * (costs + weights + factor * (end - sum of the durations) + constant):  costs count each
// duration as if nothing overlapped.
struct TimeInMetric {
  double factor = 0;
  double constant = 0;
  double sign = 1;  // -1 where the metric is maximized
};

// Does it speak of states before the last one?
bool looks_back(const Preference& preference);

struct Goal {
  Condition condition;
  VariableTable variables;
};

struct FunctionValue {
  FunctionId function{};
  std::vector<ObjectId> arguments;
  double value = 0;
  std::optional<Rational> exact = {};  // nothing where it has too many digits
  Position where = {};
};

struct GroundAtom {
  PredicateId predicate{};
  std::vector<ObjectId> arguments;
  Position where;
};

// (at 5 (open shop)), (at 9 (not (open shop))) in the initial state: what becomes true or false by itself.
struct TimedFact {
  std::int64_t time = 0;  // as in metactrl/schedule.h
  GroundAtom atom;
  bool add = true;
};

struct Ast {
  // Takes out the preferences that look back, and the deadlines that nothing else has. Returns them.
  std::vector<Preference> take_out_preferences_of_the_way();

  std::array<std::string, 2> files;  // domain and problem file names, for messages
  std::string domain_name;
  std::string problem_name;
  IdVector<TypeId, Type> types;        // the first is kObjectType
  IdVector<ObjectId, Object> objects;  // constants first, then the problem's objects
  IdVector<PredicateId, Predicate> predicates;
  IdVector<FunctionId, Function> functions;
  IdVector<ActionNameId, Action> actions;
  std::vector<Axiom> axioms;
  std::vector<GroundAtom> init;  // no duplicates
  std::vector<FunctionValue> init_values;
  // By time. Where there are any, a plan is carried out like this: an action begins at a multiple of `tick`, as soon as
  // the one before it has ended, and as soon as it can be taken from its start to its end; no point of it is nearer than
  // kSeparation to what happens by itself. Behind the last of these, time no longer matters. The goal is judged when all
  // of them have happened.
  std::vector<TimedFact> timed;
  std::int64_t tick = 0;
  Goal goal;  // `at end` constraints are conjuncts of it
  std::vector<Constraint> constraints;
  std::vector<Preference> preferences;
  bool has_metric = false;  // (:metric minimize ...) of what actions cost
  std::optional<TimeInMetric> time_in_metric = {};
  bool has_numbers = false;  // some condition compares numbers
  // Some action takes time, or something happens by itself. Then the states that constraints and preferences speak of are
  // those behind each point of an action, and behind what happens by itself.
  bool has_durations = false;
  // Some action hosts others: it makes something true while it runs that others need. Then a plan is carried out like
  // this. An action that hosts begins, and goes on; whatever else comes is carried out from its start to its end, inside
  // those that have begun or when they have ended. Those that have begun are inside each other, at most kMostHosts. For
  // some m, all but the outermost m end, the innermost first; then the action begins, as soon as it can. It must fit into
  // the innermost one that is left, together with all that ran directly inside that before; what a host needs over all
  // must hold behind each point of the action, and behind the end of each host inside it. A host has kHostParts parts: an action takes as many as cover its duration
  // and the gap behind it, out of the host's duration less one gap.
  // Of several m that one is taken that comes first in this order: the most outermost hosts of which the action touches
  // neither the end nor what they need over all; fewer and fewer, down to none; then more and more. So what can be
  // carried out one action at a time is carried out to the same effect. The goal is judged when all have ended.
  bool has_hosts = false;
  std::string no_hosts;  // why nothing hosts, although it could
  static constexpr std::uint32_t kHostParts = 100;
  static constexpr std::size_t kMostHosts = 3;

  // What schedules and trajectory constraints call the action.
  const std::string& written_name(ActionNameId action) const {
    return actions[action].written.empty() ? actions[action].name : actions[action].written;
  }
  // Is `type` equal to `ancestor` or below it? Costs as many steps as there are types above `type`.
  bool is_subtype(TypeId type, TypeId ancestor) const;
  // The objects a variable with these types ranges over, ascending.
  std::vector<ObjectId> objects_of(const std::vector<TypeId>& types) const;
};

// The value of an expression that no action changes, from the values at the start; nothing where it has none.
using StartValues = std::map<std::pair<FunctionId, std::vector<ObjectId>>, double>;
// `duration`: in the place of what plans give the action, where that is given.
std::optional<double> value_at_start(const Expression& expression, const Binding& binding, const StartValues& values,
                                     const Rational* duration = nullptr);

// "(at truck1 depot)"; variables are printed by name from `variables`.
std::string to_string(const Ast& ast, const VariableTable& variables, const Atom& atom);
std::string to_string(const Ast& ast, const VariableTable& variables, const Condition& condition);
std::string to_string(const Ast& ast, const VariableTable& variables, const Expression& expression);
std::string to_string(const Ast& ast, const GroundAtom& atom);
// "<", "<=", "=", ">=", ">"
const char* to_string(Condition::Comparison comparison);
const char* to_string(NumericEffect::Change change);
const char* to_string(Expression::Kind kind);  // "+", "-", "*", "/", "max", "min", "?duration ="

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_AST_H_
