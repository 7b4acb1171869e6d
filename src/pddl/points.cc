// Conditions are read atom by atom, with quantifiers tried for all objects; what can never change is left out.
#include "pddl/points.h"

#include <algorithm>
#include <utility>

namespace metactrl::pddl {

using Key = Touched::Key;

bool meet(const std::vector<Key>& a, const std::vector<Key>& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) return true;
    (*i < *j ? i : j)++;
  }
  return false;
}

bool touch(const Touched& a, const Touched& b) {
  return meet(a.writes, b.reads) || meet(a.writes, b.writes) || meet(a.writes, b.adds) || meet(a.adds, b.reads) ||
         meet(a.adds, b.writes) || meet(a.reads, b.writes) || meet(a.reads, b.adds);
}

bool touches_host(const PlanPoints& action, const PlanPoints& host) {
  return touch(action.start, host.end) || touch(action.over_all, host.end) || touch(action.end, host.end) ||
         touch(action.start, host.over_all) || touch(action.end, host.over_all);
}

PointReader::PointReader(const Ast& ast, internal::Meter& meter)
    : ast_(ast), meter_(meter), ranges_(ast), changes_(ast.predicates.size(), false) {
  for (const Action& action : ast.actions) {
    for (const Effect& effect : action.effects) changes_[effect.atom.predicate] = true;
    if (!action.durative) continue;
    for (const Effect& effect : action.durative->end_effects) changes_[effect.atom.predicate] = true;
  }
  for (const Axiom& axiom : ast.axioms) changes_[axiom.head] = true;
  for (const TimedFact& timed : ast.timed) changes_[timed.atom.predicate] = true;
  for (const ActionNameId a : ast.actions.all()) actions_.emplace(ast.actions[a].name, a);
  for (const ObjectId o : ast.objects.all()) objects_.emplace(ast.objects[o].name, o);
  for (const Constraint& constraint : ast.constraints) watch(constraint);
  for (const Preference& preference : ast.preferences) {
    for (const Constraint& part : preference.parts) watch(part);
  }
}

namespace {

void add_functions(const Expression& expression, std::set<FunctionId>& out) {
  if (expression.kind == Expression::Kind::kFunction) out.insert(expression.function);
  for (const Expression& child : expression.children) add_functions(child, out);
}

void add_names(const Condition& condition, std::set<PredicateId>& predicates, std::set<FunctionId>& functions) {
  if (condition.kind == Condition::Kind::kAtom) predicates.insert(condition.atom.predicate);
  for (const Expression& side : condition.sides) add_functions(side, functions);
  for (const Condition& child : condition.children) add_names(child, predicates, functions);
}

}  // namespace

void PointReader::watch(const Constraint& constraint) {
  if (constraint.kind == Constraint::Kind::kAtEnd) return;
  Watched& watched = watched_.emplace_back();
  add_names(constraint.first, watched.predicates, watched.functions);
  add_names(constraint.second, watched.predicates, watched.functions);
  for (const std::vector<ActionPattern>& step : constraint.steps) {
    for (const ActionPattern& pattern : step) watched.actions.insert(pattern.action);
  }
}

void PointReader::add_watched(const std::vector<Effect>& effects, const std::vector<NumericEffect>& changes,
                              std::optional<ActionNameId> begins, Touched& out) {
  for (std::uint32_t i = 0; i < watched_.size(); ++i) {
    const Watched& watched = watched_[i];
    const bool changed =
        (begins && watched.actions.contains(*begins)) ||
        std::any_of(effects.begin(), effects.end(),
                    [&](const Effect& effect) { return watched.predicates.contains(effect.atom.predicate); }) ||
        std::any_of(changes.begin(), changes.end(),
                    [&](const NumericEffect& change) { return watched.functions.contains(change.function); });
    if (changed) out.writes.push_back(key(Sort::kConstraint, i, {}, {}));
  }
}

PlanPoints PointReader::read(const PlanStep& step) {
  std::vector<ObjectId> arguments;
  for (const std::string& argument : step.arguments) arguments.push_back(objects_.at(argument));
  return read(actions_.at(step.action), arguments);
}

PlanPoints PointReader::read(ActionNameId name, std::span<const ObjectId> arguments) {
  const Action& action = ast_.actions[name];
  Binding binding(action.variables.size(), kUnbound);
  std::copy(arguments.begin(), arguments.end(), binding.begin());
  PlanPoints points;
  add_condition(action, action.precondition, binding, points.start);
  add_effects(action, action.effects, binding, points.start);
  add_changes(action, action.numeric_effects, binding, points.start);
  add_watched(action.effects, action.numeric_effects, name, points.start);
  if (action.durative) {
    const Durative& durative = *action.durative;
    add_changes(action, durative.idle_start_effects, binding, points.start);
    add_condition(action, durative.over_all, binding, points.over_all);
    add_condition(action, durative.at_end, binding, points.end);
    add_effects(action, durative.end_effects, binding, points.end);
    add_changes(action, durative.end_numeric_effects, binding, points.end);
    add_changes(action, durative.idle_end_effects, binding, points.end);
    add_watched(durative.end_effects, durative.end_numeric_effects, std::nullopt, points.end);
  }
  for (Touched* point : {&points.start, &points.end, &points.over_all}) {
    std::sort(point->writes.begin(), point->writes.end());
    point->alone = std::adjacent_find(point->writes.begin(), point->writes.end()) != point->writes.end();
    for (std::vector<Key>* keys : {&point->reads, &point->writes, &point->adds, &point->sums}) {
      std::sort(keys->begin(), keys->end());
      keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
    }
    point->alone = point->alone || (point->conditional && meet(point->writes, point->reads));
  }
  return points;
}

Touched PointReader::read(const TimedFact& timed) {
  Touched out;
  const std::vector<Term> terms(timed.atom.arguments.begin(), timed.atom.arguments.end());
  out.writes.push_back(key(Sort::kFact, index(timed.atom.predicate), terms, {}));
  out.adds.push_back(key(Sort::kPredicate, index(timed.atom.predicate), {}, {}));
  for (std::uint32_t i = 0; i < watched_.size(); ++i) {
    if (watched_[i].predicates.contains(timed.atom.predicate)) out.writes.push_back(key(Sort::kConstraint, i, {}, {}));
  }
  std::sort(out.writes.begin(), out.writes.end());
  return out;
}

Key PointReader::key(Sort sort, std::uint32_t name, const std::vector<Term>& terms, const Binding& binding) {
  std::vector<ObjectId> objects;
  for (const Term& term : terms) objects.push_back(term.under(binding));
  return keys_.try_emplace({sort, name, std::move(objects)}, static_cast<Key>(keys_.size())).first->second;
}

template <typename Visit>
void PointReader::for_each(const VariableTable& table, std::span<const VariableId> variables, Binding& binding,
                           const Visit& visit) {
  if (variables.empty()) return visit();
  for (const ObjectId object : ranges_.of(table[variables[0]]).objects) {
    meter_.piece();
    binding[variables[0]] = object;
    for_each(table, variables.subspan(1), binding, visit);
  }
  binding[variables[0]] = kUnbound;
}

bool PointReader::can_change(const Condition& condition) const {
  if (condition.kind == Condition::Kind::kAtom) return changes_[condition.atom.predicate];
  if (condition.kind == Condition::Kind::kCompare) return true;
  return std::any_of(condition.children.begin(), condition.children.end(),
                     [&](const Condition& child) { return can_change(child); });
}

void PointReader::add_predicate(PredicateId predicate, Touched& out) {
  const Key all = key(Sort::kPredicate, index(predicate), {}, {});
  if (std::find(out.reads.begin(), out.reads.end(), all) != out.reads.end()) return;
  out.reads.push_back(all);
  for (const Axiom& axiom : ast_.axioms) {
    if (axiom.head == predicate) add_body(axiom.body, out);
  }
}

void PointReader::add_body(const Condition& condition, Touched& out) {
  if (condition.kind == Condition::Kind::kAtom) add_predicate(condition.atom.predicate, out);
  if (condition.kind == Condition::Kind::kCompare) out.reads.push_back(key(Sort::kAnyNumber, 0, {}, {}));
  for (const Condition& child : condition.children) add_body(child, out);
}

void PointReader::add_condition(const Action& action, const Condition& condition, Binding& binding, Touched& out) {
  if (!can_change(condition)) return;
  meter_.piece();
  if (condition.kind == Condition::Kind::kAtom) {
    if (ast_.predicates[condition.atom.predicate].derived) return add_predicate(condition.atom.predicate, out);
    out.reads.push_back(key(Sort::kFact, index(condition.atom.predicate), condition.atom.arguments, binding));
    return;
  }
  for (const Expression& side : condition.sides) add_expression(side, binding, out);
  for_each(action.variables, condition.bound, binding, [&] {
    for (const Condition& child : condition.children) add_condition(action, child, binding, out);
  });
}

void PointReader::add_expression(const Expression& expression, const Binding& binding, Touched& out) {
  for (const Expression& child : expression.children) add_expression(child, binding, out);
  if (expression.kind != Expression::Kind::kFunction || !ast_.functions[expression.function].changes) return;
  out.reads.push_back(key(Sort::kNumber, index(expression.function), expression.arguments, binding));
}

void PointReader::add_effects(const Action& action, const std::vector<Effect>& effects, Binding& binding,
                              Touched& out) {
  for (const Effect& effect : effects) {
    for_each(action.variables, effect.forall, binding, [&] {
      add_condition(action, effect.when, binding, out);
      out.conditional = out.conditional || effect.when.kind != Condition::Kind::kTrue;
      out.writes.push_back(key(Sort::kFact, index(effect.atom.predicate), effect.atom.arguments, binding));
    });
    // Whoever reads all facts of the predicate meets every change of one; two changes of it do not meet here.
    out.adds.push_back(key(Sort::kPredicate, index(effect.atom.predicate), {}, {}));
  }
}

void PointReader::add_changes(const Action& action, const std::vector<NumericEffect>& effects, Binding& binding,
                              Touched& out) {
  for (const NumericEffect& effect : effects) {
    const bool adds =
        effect.change == NumericEffect::Change::kIncrease || effect.change == NumericEffect::Change::kDecrease;
    for_each(action.variables, effect.forall, binding, [&] {
      add_condition(action, effect.when, binding, out);
      add_expression(effect.amount, binding, out);
      const Key number = key(Sort::kNumber, index(effect.function), effect.arguments, binding);
      (adds ? out.adds : out.writes).push_back(number);
      if (adds) out.sums.push_back(number);
    });
    out.adds.push_back(key(Sort::kAnyNumber, 0, {}, {}));
  }
}

}  // namespace metactrl::pddl
