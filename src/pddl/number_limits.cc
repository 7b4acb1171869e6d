// A potential. Give weights w(p) >= 0 to some facts, and let x be a number. When every action changes x by at least
//
//     (sum of w(p) over the facts p that it makes true) - (sum of w(p) over those that it requires and makes false)
//
// then x - (sum of w(p) over the facts that hold) never falls: so x is never less than its first value minus the weights
// of the facts that hold then. The weights are guessed: an action that takes w from x gives the weight w to a fact that
// it requires and deletes, and that nothing makes true without adding at least w to x. The condition above is then
// checked for every action, and where it fails nothing is said. The same with -x gives an upper limit.
#include "pddl/number_limits.h"

#include <algorithm>
#include <set>

namespace metactrl::pddl {

NumberLimits::NumberLimits(const Ast& ast, const Reachable& reachable)
    : reachable_(reachable), plain_(ast.predicates.size(), true) {
  for (const Action& action : ast.actions) {
    for (const Effect& effect : action.effects) {
      const bool plain = effect.forall.empty() && effect.when.kind == Condition::Kind::kTrue;
      if (effect.add && !plain) plain_[effect.atom.predicate] = false;
    }
  }
  for (const Axiom& axiom : ast.axioms) plain_[axiom.head] = false;
  for (const GroundAtom& atom : ast.init) {
    if (const auto id = reachable.atoms.find(atom.predicate, atom.arguments)) initial_[*id] = true;
  }
}

std::optional<AtomId> NumberLimits::atom(const Atom& atom, const Binding& binding) const {
  std::vector<ObjectId> arguments;
  for (const Term& term : atom.arguments) arguments.push_back(term.under(binding));
  return reachable_.atoms.find(atom.predicate, arguments);
}

void NumberLimits::collect_required(const Condition& condition, const Binding& binding,
                                    std::vector<AtomId>& out) const {
  if (condition.kind == Condition::Kind::kAnd) {
    for (const Condition& child : condition.children) collect_required(child, binding, out);
  } else if (condition.kind == Condition::Kind::kAtom && plain_[condition.atom.predicate]) {
    if (const auto id = atom(condition.atom, binding)) out.push_back(*id);
  }
}

// What the changes add up to; nothing when that depends on the state.
std::optional<Rational> NumberLimits::total(const std::vector<GroundChange>& changes) {
  std::optional<Rational> sum = Rational(0);
  for (const GroundChange& change : changes) {
    const bool constant = change.amount.kind == Expression::Kind::kNumber && change.amount.number;
    if (!sum || !constant || change.conditional) return std::nullopt;
    if (change.change == NumericEffect::Change::kIncrease) {
      sum = internal::add(*sum, *change.amount.number);
    } else if (change.change == NumericEffect::Change::kDecrease) {
      sum = internal::subtract(*sum, *change.amount.number);
    } else {
      return std::nullopt;
    }
  }
  return sum;
}

void NumberLimits::add(const Action& action, const Binding& binding,
                       const std::map<NumberId, std::vector<GroundChange>>& changes) {
  Instance instance;
  std::vector<AtomId> required;
  collect_required(action.precondition, binding, required);
  std::set<AtomId> deleted;
  std::set<AtomId> added;
  for (const Effect& effect : action.effects) {
    if (!effect.forall.empty() || effect.when.kind != Condition::Kind::kTrue) continue;
    if (const auto id = atom(effect.atom, binding)) (effect.add ? added : deleted).insert(*id);
  }
  for (const AtomId id : required) {
    if (deleted.contains(id) && !added.contains(id)) instance.consumed.push_back(id);
  }
  std::sort(instance.consumed.begin(), instance.consumed.end());
  instance.consumed.erase(std::unique(instance.consumed.begin(), instance.consumed.end()), instance.consumed.end());
  for (const AtomId id : added) {
    // What is required and added stays as it is.
    if (std::find(required.begin(), required.end(), id) == required.end()) instance.produced.push_back(id);
  }
  for (const auto& [number, list] : changes) {
    const std::optional<Rational> sum = total(list);
    known_.try_emplace(number, true);
    if (sum) {
      instance.delta[number] = *sum;
    } else {
      known_[number] = false;
    }
  }
  for (const AtomId id : instance.produced) producers_[id].push_back(instances_.size());
  instances_.push_back(std::move(instance));
}

std::optional<Rational> NumberLimits::delta(const Instance& instance, NumberId number, bool downwards) const {
  const auto found = instance.delta.find(number);
  if (found == instance.delta.end()) return Rational(0);
  return downwards ? std::optional(found->second) : internal::subtract(Rational(0), found->second);
}

std::optional<Rational> NumberLimits::fall(NumberId number, bool downwards) const {
  const Rational zero(0);
  Weights weights;
  for (const Instance& instance : instances_) {
    const std::optional<Rational> change = delta(instance, number, downwards);
    if (!change) return std::nullopt;
    if (*change >= zero) continue;
    const std::optional<Rational> taken = internal::subtract(zero, *change);
    if (!taken) return std::nullopt;
    const auto paid_for = [&](AtomId id) {
      const auto makers = producers_.find(id);
      return makers == producers_.end() || std::ranges::all_of(makers->second, [&](std::size_t maker) {
               const std::optional<Rational> given = delta(instances_[maker], number, downwards);
               return given && *given >= *taken;
             });
    };
    const auto token = std::find_if(instance.consumed.begin(), instance.consumed.end(), paid_for);
    if (token == instance.consumed.end()) return std::nullopt;
    Rational& weight = weights[*token];
    weight = std::max(weight, *taken);
  }
  for (const Instance& instance : instances_) {
    std::optional<Rational> left = delta(instance, number, downwards);
    for (const AtomId id : instance.consumed) {
      const auto weight = weights.find(id);
      if (left && weight != weights.end()) left = internal::add(*left, weight->second);
    }
    for (const AtomId id : instance.produced) {
      const auto weight = weights.find(id);
      if (left && weight != weights.end()) left = internal::subtract(*left, weight->second);
    }
    if (!left || *left < zero) return std::nullopt;
  }
  std::optional<Rational> sum = zero;
  for (const auto& [id, weight] : weights) {
    if (sum && initial_.contains(id)) sum = internal::add(*sum, weight);
  }
  return sum;
}

void NumberLimits::apply(NumberTable& numbers) const {
  constexpr std::size_t kMostWork = 20'000'000;
  if (known_.size() * instances_.size() > kMostWork) return;
  for (const auto& [number, known] : known_) {
    const std::optional<Rational> first = numbers.initial(number);
    if (!known || !first) continue;
    const std::optional<Rational> down = fall(number, true);
    const std::optional<Rational> up = fall(number, false);
    numbers.limit(number, down ? internal::subtract(*first, *down) : std::nullopt,
                  up ? internal::add(*first, *up) : std::nullopt);
  }
}

}  // namespace metactrl::pddl
