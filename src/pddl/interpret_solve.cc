// Finding the bindings that make a condition true, without trying all objects for every variable.
//
// An atom is made true by the facts of its predicate: each gives values to the variables that are still open. A
// conjunction satisfies one conjunct after the other, those that leave the least to try first; a disjunction each of
// its parts; an existential quantifier opens its variables. Whatever else there is (negation, universal quantifiers,
// counting) is only tested, once all its variables have values, and for variables that nothing else gives a value to
// all objects are tried.
#include <algorithm>

#include "pddl/interpret.h"

namespace metactrl::pddl {

// --- the index -------------------------------------------------------------------------------------------------------

void FactView::enter(const Fact& fact) const {
  by_predicate_[fact.name].push_back(&fact);
  for (std::uint32_t position = 0; position < fact.arguments.size(); ++position) {
    by_object_[{fact.name, position, fact.arguments[position]}].push_back(&fact);
  }
}

void FactView::build() const {
  built_ = true;
  for (const Fact& fact : facts_) enter(fact);
}

void FactView::added(const Fact& fact) {
  if (built_) enter(fact);
}

// The lists are made on demand even when empty, so that a caller that goes through one while facts are added holds on
// to the list that grows.
const std::vector<const Fact*>& FactView::all(PredicateId predicate) const {
  if (!built_) build();
  return by_predicate_[predicate];
}

const std::vector<const Fact*>& FactView::with(PredicateId predicate, std::size_t position, ObjectId object) const {
  if (!built_) build();
  return by_object_[{predicate, static_cast<std::uint32_t>(position), object}];
}

// --- solving ---------------------------------------------------------------------------------------------------------

namespace {

template <typename Which>
const Term* find_term(const Expression& expression, const Which& which) {
  const auto found = std::find_if(expression.arguments.begin(), expression.arguments.end(), which);
  if (found != expression.arguments.end()) return &*found;
  for (const Expression& child : expression.children) {
    if (const Term* term = find_term(child, which)) return term;
  }
  return nullptr;
}

// A variable of the condition that has no value yet and is not bound inside it; nothing when there is none.
std::optional<VariableId> open_variable(const Condition& condition, const Binding& binding,
                                        std::vector<VariableId>& inner) {
  const auto is_open = [&](const Term& term) {
    return term.under(binding) == kUnbound && std::find(inner.begin(), inner.end(), term.variable()) == inner.end();
  };
  const std::vector<Term>& terms =
      condition.kind == Condition::Kind::kAtom ? condition.atom.arguments : condition.terms;
  const auto found = std::find_if(terms.begin(), terms.end(), is_open);
  if (found != terms.end()) return found->variable();
  for (const Expression& side : condition.sides) {
    if (const Term* term = find_term(side, is_open)) return term->variable();
  }
  const std::size_t before = inner.size();
  inner.insert(inner.end(), condition.bound.begin(), condition.bound.end());
  std::optional<VariableId> result;
  for (const Condition& child : condition.children) {
    result = open_variable(child, binding, inner);
    if (result) break;
  }
  inner.resize(before);
  return result;
}

std::optional<VariableId> open_variable(const Condition& condition, const Binding& binding) {
  std::vector<VariableId> inner;
  return open_variable(condition, binding, inner);
}

// How much there is to try, roughly: the order in which a conjunction is satisfied.
unsigned effort(const Condition& condition, const Binding& binding) {
  if (!open_variable(condition, binding)) return 0;
  switch (condition.kind) {
    case Condition::Kind::kEquals:
      return 1;
    case Condition::Kind::kAtom: {
      const auto fixed = [&](const Term& term) { return term.under(binding) != kUnbound; };
      const std::vector<Term>& terms = condition.atom.arguments;
      return std::any_of(terms.begin(), terms.end(), fixed) ? 2 : 3;
    }
    case Condition::Kind::kAnd:
    case Condition::Kind::kOr:
    case Condition::Kind::kExists:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

bool LiftedInterpreter::complete(std::span<const VariableId> variables, Scope& scope, const Next& next) const {
  std::vector<VariableId> open;
  for (const VariableId variable : variables) {
    if (scope.binding[variable] == kUnbound) open.push_back(variable);
  }
  const bool result = for_each_binding(scope, open, next);
  unbind(scope, open);
  return result;
}

bool LiftedInterpreter::for_each_solution(const Condition& condition, std::span<const VariableId> variables,
                                          Scope& scope, const FactView& facts, const Next& next) const {
  return satisfy(condition, scope, facts, [&] { return complete(variables, scope, next); });
}

bool LiftedInterpreter::satisfy(const Condition& condition, Scope& scope, const FactView& facts,
                                const Next& next) const {
  switch (condition.kind) {
    case Condition::Kind::kTrue:
      return next();
    case Condition::Kind::kAtom:
      return satisfy_atom(condition.atom, scope, facts, next);
    case Condition::Kind::kAnd: {
      std::vector<const Condition*> children;
      for (const Condition& child : condition.children) children.push_back(&child);
      return satisfy_all(children, scope, facts, next);
    }
    case Condition::Kind::kOr:
      for (const Condition& child : condition.children) {
        if (!satisfy(child, scope, facts, next)) return false;
      }
      return true;
    case Condition::Kind::kExists:
      return for_each_solution(condition.children[0], condition.bound, scope, facts, next);
    default:
      break;
  }
  if (const auto variable = open_variable(condition, scope.binding)) {
    return complete(std::span(&*variable, 1), scope, [&] { return satisfy(condition, scope, facts, next); });
  }
  return !holds(condition, scope, facts) || next();
}

bool LiftedInterpreter::satisfy_atom(const Atom& atom, Scope& scope, const FactView& facts, const Next& next) const {
  const Fact pattern = ground(scope, atom);
  if (std::find(pattern.arguments.begin(), pattern.arguments.end(), kUnbound) == pattern.arguments.end()) {
    return !facts.contains(pattern) || next();
  }
  const std::vector<const Fact*>* candidates = nullptr;
  for (std::size_t i = 0; candidates == nullptr && i < pattern.arguments.size(); ++i) {
    if (pattern.arguments[i] != kUnbound) candidates = &facts.with(pattern.name, i, pattern.arguments[i]);
  }
  if (candidates == nullptr) candidates = &facts.all(pattern.name);
  // The list may grow while `next` runs; what is added then is left to the next round.
  const std::size_t count = candidates->size();
  for (std::size_t c = 0; c < count; ++c) {
    scope.meter.piece();
    const Fact& fact = *(*candidates)[c];
    std::vector<VariableId> bound_here;
    bool matches = true;
    for (std::size_t i = 0; matches && i < fact.arguments.size(); ++i) {
      const Term& term = atom.arguments[i];
      const ObjectId object = fact.arguments[i];
      const ObjectId present = term.under(scope.binding);
      if (present != kUnbound) {
        matches = present == object;
      } else if (in_range(object, scope.variables[term.variable()])) {
        scope.binding[term.variable()] = object;
        bound_here.push_back(term.variable());
      } else {
        matches = false;
      }
    }
    const bool go_on = !matches || next();
    unbind(scope, bound_here);
    if (!go_on) return false;
  }
  return true;
}

bool LiftedInterpreter::satisfy_all(const std::vector<const Condition*>& conditions, Scope& scope,
                                    const FactView& facts, const Next& next) const {
  if (conditions.empty()) return next();
  std::size_t best = 0;
  unsigned least = ~0U;
  for (std::size_t i = 0; i < conditions.size() && least > 0; ++i) {
    const unsigned needed = effort(*conditions[i], scope.binding);
    if (needed >= least) continue;
    least = needed;
    best = i;
  }
  const Condition& chosen = *conditions[best];
  std::vector<const Condition*> rest = conditions;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(best));
  if (least == 0) return !holds(chosen, scope, facts) || satisfy_all(rest, scope, facts, next);
  return satisfy(chosen, scope, facts, [&] { return satisfy_all(rest, scope, facts, next); });
}

}  // namespace metactrl::pddl
