// Expanding quantifiers without touching every object.
//
// (exists (?x) c) becomes a disjunction over the bindings of ?x under which c can hold. Those are found by joining the
// atoms c requires against the reachable atoms: in "no closed container around the cup" only containers that the cup
// can ever be inside are looked at. (forall (?x) c) is the conjunction over the bindings under which c can *fail*; for
// the others c is certain and contributes nothing.
#include "pddl/ground_formula.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace metactrl::pddl {

using task::Formula;

task::FactId FormulaBuilder::fact(const Atom& atom, const Binding& binding) {
  scratch_.clear();
  for (const Term& term : atom.arguments) scratch_.push_back(term.under(binding));
  const std::optional<AtomId> id = reachable_.atoms.find(atom.predicate, scratch_);
  return id ? fact_of_atom_[*id] : kNoFact;
}

Formula FormulaBuilder::build_atom(const Atom& atom, const Binding& binding, bool negated) {
  scratch_.clear();
  for (const Term& term : atom.arguments) scratch_.push_back(term.under(binding));
  const std::optional<AtomId> id = reachable_.atoms.find(atom.predicate, scratch_);
  if (!id) return Formula::constant(negated);
  if (reachable_.is_static[atom.predicate]) return Formula::constant(!negated);
  return Formula::literal(fact_of_atom_[*id], negated);
}

void FormulaBuilder::build_precondition(const VariableTable& table, const Condition& condition, Binding& binding,
                                        Formula& result) {
  if (condition.kind != Condition::Kind::kAnd) {
    result = build(table, condition, binding);
    return;
  }
  std::vector<Formula> children = std::move(result.children);
  children.clear();
  for (const Condition& child : condition.children) {
    if (child.kind == Condition::Kind::kAtom && reachable_.is_static[child.atom.predicate]) {
      assert(build_atom(child.atom, binding, false).is_true());
      continue;
    }
    Formula part = build(table, child, binding);
    if (part.is_false()) {
      result = std::move(part);
      return;
    }
    if (!part.is_true()) children.push_back(std::move(part));
  }
  result = task::make_and(std::move(children));
}

Formula FormulaBuilder::build(const VariableTable& table, const Condition& condition, Binding& binding, bool negated) {
  using Kind = Condition::Kind;
  meter_.piece();
  switch (condition.kind) {
    case Kind::kTrue:
      return Formula::constant(!negated);
    case Kind::kFalse:
      return Formula::constant(negated);
    case Kind::kAtom:
      return build_atom(condition.atom, binding, negated);
    case Kind::kEquals:
      return Formula::constant((condition.terms[0].under(binding) == condition.terms[1].under(binding)) != negated);
    case Kind::kCompare: {
      Formula compared = numbers_->compare(condition, binding);
      return negated ? task::negate(compared) : compared;
    }
    case Kind::kNot:
      return build(table, condition.children[0], binding, !negated);
    case Kind::kAnd:
    case Kind::kOr: {
      const bool conjunctive = (condition.kind == Kind::kAnd) != negated;
      std::vector<Formula> children;
      children.reserve(condition.children.size());
      for (const Condition& child : condition.children) {
        Formula part = build(table, child, binding, negated);
        if (conjunctive ? part.is_false() : part.is_true()) return part;
        if (part.is_true() || part.is_false()) continue;  // most static facts: they decide nothing
        children.push_back(std::move(part));
      }
      return conjunctive ? task::make_and(std::move(children)) : task::make_or(std::move(children));
    }
    case Kind::kForall:
    case Kind::kExists:
      return build_quantifier(table, condition, binding, negated);
    case Kind::kAtLeast:
      return build_at_least(table, condition, binding, negated);
    case Kind::kMatching:
      return build_matching(table, condition, binding, negated);
  }
  return Formula::constant(false);
}

bool FormulaBuilder::holds_anyway(const VariableTable& table, const Condition& condition, Binding& binding,
                                  bool negated) {
  using Kind = Condition::Kind;
  const auto does = [&](const Condition& child) { return holds_anyway(table, child, binding, negated); };
  const auto has_none = [&](VariableId variable) { return ranges_.of(table[variable]).objects.empty(); };
  if (condition.kind == Kind::kNot) return holds_anyway(table, condition.children[0], binding, !negated);
  if (condition.kind == Kind::kAnd || condition.kind == Kind::kOr) {
    return (condition.kind == Kind::kAnd) != negated ? std::ranges::all_of(condition.children, does)
                                                     : std::ranges::any_of(condition.children, does);
  }
  if (condition.kind == (negated ? Kind::kExists : Kind::kForall) && std::ranges::any_of(condition.bound, has_none))
    return true;
  return !can_change(condition) && build(table, condition, binding, negated).is_true();
}

bool FormulaBuilder::can_change(const Condition& condition) const {
  if (condition.kind == Condition::Kind::kAtom) return !reachable_.is_static[condition.atom.predicate];
  if (condition.kind == Condition::Kind::kCompare) return true;
  return std::ranges::any_of(condition.children, [this](const Condition& child) { return can_change(child); });
}

Formula FormulaBuilder::build_quantifier(const VariableTable& table, const Condition& condition, Binding& binding,
                                         bool negated) {
  const Condition& child = condition.children[0];
  const bool disjunctive = (condition.kind == Condition::Kind::kExists) != negated;
  // Where a disjunct can hold, or where a conjunct can fail.
  const bool enumerate_negated = disjunctive ? negated : !negated;
  std::vector<Formula> children;
  for (const std::vector<ObjectId>& objects :
       bindings(table, condition.bound, child, enumerate_negated, nullptr, binding)) {
    for (std::size_t i = 0; i < objects.size(); ++i) binding[condition.bound[i]] = objects[i];
    children.push_back(build(table, child, binding, negated));
    for (VariableId variable : condition.bound) binding[variable] = kUnbound;
    if (disjunctive ? children.back().is_true() : children.back().is_false()) return std::move(children.back());
  }
  return disjunctive ? task::make_or(std::move(children)) : task::make_and(std::move(children));
}

Formula FormulaBuilder::build_at_least(const VariableTable& table, const Condition& condition, Binding& binding,
                                       bool negated) {
  const Condition& child = condition.children[0];
  std::vector<Formula> children;
  for (const std::vector<ObjectId>& objects : bindings(table, condition.bound, child, false, nullptr, binding)) {
    for (std::size_t i = 0; i < objects.size(); ++i) binding[condition.bound[i]] = objects[i];
    children.push_back(build(table, child, binding));
    for (VariableId variable : condition.bound) binding[variable] = kUnbound;
  }
  Formula result = task::make_at_least(condition.count, std::move(children));
  return negated ? task::negate(result) : result;
}

Formula FormulaBuilder::build_matching(const VariableTable& table, const Condition& condition, Binding& binding,
                                       bool negated) {
  const std::vector<ObjectId>& rows = ranges_.of(table[condition.bound[0]]).objects;
  const std::vector<ObjectId>& columns = ranges_.of(table[condition.bound[1]]).objects;
  Formula result;
  result.kind = Formula::Kind::kMatching;
  result.negated = negated;
  result.count2 = static_cast<std::uint32_t>(columns.size());
  result.count = condition.count == Condition::kAllPairs
                     ? static_cast<std::uint32_t>(std::min(rows.size(), columns.size()))
                     : condition.count;
  if (result.count == 0) return Formula::constant(!negated);
  if (result.count > std::min(rows.size(), columns.size())) return Formula::constant(negated);
  for (ObjectId row : rows) {
    for (ObjectId column : columns) {
      binding[condition.bound[0]] = row;
      binding[condition.bound[1]] = column;
      result.children.push_back(build(table, condition.children[0], binding));
    }
  }
  for (VariableId variable : condition.bound) binding[variable] = kUnbound;
  return result;
}

const std::vector<Conjunction>& FormulaBuilder::required(const Condition& condition, bool negated) {
  const auto [entry, is_new] = required_[negated ? 1 : 0].try_emplace(&condition);
  std::vector<VariableId> inner;
  if (is_new) entry->second = required_atoms(condition, negated, inner);
  return entry->second;
}

std::vector<std::vector<ObjectId>> FormulaBuilder::bindings(const VariableTable& table,
                                                            std::span<const VariableId> variables,
                                                            const Condition& condition, bool negated, const Atom* also,
                                                            Binding& binding) {
  std::vector<std::vector<ObjectId>> result;
  for (Conjunction conjunction : required(condition, negated)) {
    if (also != nullptr) conjunction.push_back(also);
    joiner_.enumerate(table, variables, conjunction, binding, [&] {
      if (!statically_possible(condition, negated, binding, reachable_)) return;
      std::vector<ObjectId> objects;
      objects.reserve(variables.size());
      for (VariableId variable : variables) objects.push_back(binding[variable]);
      result.push_back(std::move(objects));
    });
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace metactrl::pddl
