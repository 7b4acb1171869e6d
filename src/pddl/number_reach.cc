// A relaxed task in which nothing that was possible becomes impossible: a fact that has been true may be true ever after, one
// that has been false may be false, and intervals only widen. In turns, until nothing is new: all actions whose
// conditions may hold make facts possible, and what those actions do to numbers widens intervals. Derived facts and
// counted conditions are taken to be possible either way.
#include "pddl/number_reach.h"

#include <algorithm>
#include <utility>

namespace metactrl::pddl {

namespace {

// Conditions and effects, piece by piece.
constexpr std::uint64_t kMostWork = 5'000'000;

IdVector<NumberId, std::optional<Rational>> first_values(const NumberTable& numbers) {
  IdVector<NumberId, std::optional<Rational>> out;
  for (const NumberId number : ids<NumberId>(numbers.size())) out.push_back(numbers.initial(number));
  return out;
}

}  // namespace

NumberReach::NumberReach(const Ast& ast, const Reachable& reachable, RangeTable& ranges, NumberTable& numbers,
                         internal::Meter& meter)
    : ast_(ast),
      reachable_(reachable),
      ranges_(ranges),
      numbers_(numbers),
      meter_(meter),
      intervals_(first_values(numbers)),
      true_(reachable.atoms.size(), false),
      false_(reachable.atoms.size(), true),
      open_(reachable.actions.size(), Open::kNo) {
  for (const GroundAtom& atom : ast.init) {
    const AtomId id = *reachable.atoms.find(atom.predicate, atom.arguments);
    true_[id] = true;
    false_[id] = false;
  }
  for (const TimedFact& timed : ast.timed) {
    if (const auto id = reachable.atoms.find(timed.atom.predicate, timed.atom.arguments))
      (timed.add ? true_ : false_)[*id] = true;
  }
  for (const AtomId id : reachable.atoms.all()) {
    if (ast.predicates[reachable.atoms.name(id)].derived) true_[id] = true;
  }
  const std::vector<NumberTable::Together> announced = numbers.announced();
  do {
    open_actions();
    std::vector<NumberIntervals::Change> changes;
    for (const NumberTable::Together& together : announced) {
      if (open_[together.by] == Open::kNo) continue;
      for (const GroundChange& one : together.changes) changes.push_back({&one, together.changes.size() == 1});
    }
    changed_ = intervals_.widen(changes);
  } while (changed_ && !tired());
}

bool NumberReach::tired() { return work_ > kMostWork; }

bool NumberReach::excludes(const VariableTable& table, const Condition& condition, Binding& binding) {
  return !tired() && !may_hold(table, condition, binding, false) && !tired();
}

void NumberReach::open_actions() {
  do {
    changed_ = false;
    for (const InstanceId id : reachable_.actions.all()) {
      if (tired()) return;
      if (open_[id] != Open::kWholly) open_[id] = take(id);
    }
  } while (changed_);
}

NumberReach::Open NumberReach::take(InstanceId id) {
  const Action& action = ast_.actions[reachable_.actions.name(id)];
  Binding binding(action.variables.size(), kUnbound);
  std::ranges::copy(reachable_.actions.arguments(id), binding.begin());
  if (open_[id] == Open::kNo && !may_hold(action.variables, action.precondition, binding, false)) return Open::kNo;
  Open result = Open::kWholly;
  for (const Effect& effect : action.effects) {
    for_each(action.variables, effect.forall, binding, [&] {
      if (may_hold(action.variables, effect.when, binding, false)) {
        change(effect, binding);
      } else {
        result = Open::kPartly;
      }
    });
  }
  return result;
}

void NumberReach::change(const Effect& effect, const Binding& binding) {
  std::vector<ObjectId> objects;
  for (const Term& term : effect.atom.arguments) objects.push_back(term.under(binding));
  const std::optional<AtomId> id = reachable_.atoms.find(effect.atom.predicate, objects);
  if (!id) return;  // never true
  IdVector<AtomId, bool>& may = effect.add ? true_ : false_;
  changed_ = changed_ || !may[*id];
  may[*id] = true;
}

template <typename Visit>
void NumberReach::for_each(const VariableTable& table, std::span<const VariableId> variables, Binding& binding,
                           const Visit& visit) {
  if (tired()) return;
  if (variables.empty()) return visit();
  for (const ObjectId object : ranges_.of(table[variables[0]]).objects) {
    binding[variables[0]] = object;
    for_each(table, variables.subspan(1), binding, visit);
  }
  binding[variables[0]] = kUnbound;
}

bool NumberReach::may_be(const Atom& atom, const Binding& binding, bool negated) const {
  std::vector<ObjectId> objects;
  for (const Term& term : atom.arguments) objects.push_back(term.under(binding));
  const std::optional<AtomId> id = reachable_.atoms.find(atom.predicate, objects);
  if (!id) return negated;
  if (reachable_.is_static[atom.predicate]) return !negated;
  return negated ? false_[*id] : true_[*id];
}

bool NumberReach::may_hold(const VariableTable& table, const Condition& condition, Binding& binding, bool negated) {
  meter_.piece();
  if (++work_ > kMostWork) return true;
  const auto child_may = [&](const Condition& child) { return may_hold(table, child, binding, negated); };
  switch (condition.kind) {
    case Condition::Kind::kTrue:
      return !negated;
    case Condition::Kind::kFalse:
      return negated;
    case Condition::Kind::kAtom:
      return may_be(condition.atom, binding, negated);
    case Condition::Kind::kEquals:
      return (condition.terms[0].under(binding) == condition.terms[1].under(binding)) != negated;
    case Condition::Kind::kNot:
      return may_hold(table, condition.children[0], binding, !negated);
    case Condition::Kind::kAnd:
    case Condition::Kind::kOr:
      return (condition.kind == Condition::Kind::kAnd) != negated ? std::ranges::all_of(condition.children, child_may)
                                                                  : std::ranges::any_of(condition.children, child_may);
    case Condition::Kind::kForall:
    case Condition::Kind::kExists:
      return may_hold_for_objects(table, condition, 0, binding, negated);
    case Condition::Kind::kCompare: {
      const GroundComparison comparison{condition.comparison, numbers_.ground(condition.sides[0], binding),
                                        numbers_.ground(condition.sides[1], binding)};
      return negated ? intervals_.may_fail(comparison) : intervals_.possible(comparison);
    }
    case Condition::Kind::kAtLeast:
    case Condition::Kind::kMatching:
      return true;
  }
  return true;
}

// For all objects or for one, from the variable at `next` on.
bool NumberReach::may_hold_for_objects(const VariableTable& table, const Condition& condition, std::size_t next,
                                       Binding& binding, bool negated) {
  if (next == condition.bound.size()) return may_hold(table, condition.children[0], binding, negated);
  const bool all = (condition.kind == Condition::Kind::kForall) != negated;
  const VariableId variable = condition.bound[next];
  bool result = all;
  for (const ObjectId object : ranges_.of(table[variable]).objects) {
    binding[variable] = object;
    if (may_hold_for_objects(table, condition, next + 1, binding, negated) != all) {
      result = !all;
      break;
    }
  }
  binding[variable] = kUnbound;
  return result;
}

}  // namespace metactrl::pddl
