// Numbers as facts of the ground task: a fact for every value, what comparisons say of them, and what changes do to them.
//
// A comparison holds where one of the choices of values does that satisfy it. A change becomes one conditional effect for
// each choice of the values that it reads. Where several changes of one number may happen together, each way in which
// they can is a case of its own, and what has no meaning there (two assignments, a value that is missing) becomes part
// of the precondition.
#include <algorithm>
#include <utility>

#include "pddl/ground_numbers.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;
using task::Formula;

void NumberTable::add_facts(task::Definition& definition) {
  std::map<std::pair<FunctionId, Rational>, task::PredicateId> predicates;
  for (const NumberId id : numbers_.all()) {
    Number& number = numbers_[id];
    for (const Rational& value : number.values) {
      const auto [found, is_new] =
          predicates.try_emplace({number.symbol.name, value}, definition.predicate_names.next_id());
      if (is_new) {
        definition.predicate_names.push_back(str_cat(ast_.functions[number.symbol.name].name, '=', value.text()));
      }
      number.facts[value] = definition.facts.next_id();
      definition.facts.push_back({found->second, number.symbol.arguments});
      definition.fact_layer.push_back(-1);
      definition.init.push_back(number.initial && clamp(id, *number.initial) == value);
    }
    definition.numbers.push_back({text(id), number.values.size(),
                                  number.values.empty() ? "" : number.values.begin()->text(),
                                  number.values.empty() ? "" : number.values.rbegin()->text(), number.cut});
    if (number.cut && number.values.empty()) {
      definition.cut.push_back(text(id));
    } else if (number.cut) {
      definition.cut.push_back(
          str_cat(text(id), " beyond ", number.values.begin()->text(), " .. ", number.values.rbegin()->text()));
    }
  }
  definition.cut_depth = depth_;
}

// --- formulas --------------------------------------------------------------------------------------------------------

Formula NumberTable::literals(const Values& values) const {
  std::vector<Formula> out;
  for (const auto& [number, value] : values) out.push_back(Formula::literal(numbers_[number].facts.at(value), false));
  return task::make_and(std::move(out));
}

Formula NumberTable::compare(const Condition& condition, const Binding& binding) {
  const GroundComparison comparison{condition.comparison, ground(condition.sides[0], binding),
                                    ground(condition.sides[1], binding)};
  std::set<NumberId> numbers;
  collect(comparison.left, numbers);
  collect(comparison.right, numbers);
  std::vector<Formula> out;
  bool all = std::all_of(numbers.begin(), numbers.end(), [&](NumberId id) { return numbers_[id].initial.has_value(); });
  for_each_choice(numbers, {}, [&](const Values& values) {
    if (holds(comparison, values)) {
      out.push_back(literals(values));
    } else {
      all = false;
    }
  });
  return all && !out.empty() ? Formula::constant(true) : task::make_or(std::move(out));
}

void NumberTable::add_effects(std::vector<GroundChange> changes, std::vector<task::EffectDefinition>& effects,
                              Formula& precondition) {
  if (changes.empty()) return;
  const NumberId target = changes.front().target;
  std::vector<Formula> needed = {std::move(precondition)};
  for_each_mode(changes, [&](const auto& happen, const auto& not_happen) {
    std::vector<Formula> parts;
    for (const GroundChange* change : happen) parts.push_back(change->when);
    for (const GroundChange* change : not_happen) parts.push_back(task::negate(change->when));
    const Formula mode = task::make_and(std::move(parts));
    if (mode.is_false()) return;
    const auto not_adding = [](const GroundChange* change) { return !adds(*change); };
    if (happen.size() > 1 && std::any_of(happen.begin(), happen.end(), not_adding)) {
      needed.push_back(task::negate(mode));
      return;
    }
    std::vector<GroundComparison> guards;
    for (const GroundChange* change : happen) guards.insert(guards.end(), change->guards.begin(), change->guards.end());
    const std::set<NumberId> numbers = reads(happen);
    for (const NumberId number : numbers) {
      if (numbers_[number].initial) continue;
      std::vector<Formula> defined = {task::negate(mode)};
      for (const auto& [value, fact] : numbers_[number].facts) defined.push_back(Formula::literal(fact, false));
      needed.push_back(task::make_or(std::move(defined)));
    }
    for_each_choice(numbers, guards, [&](const Values& values) {
      const Formula here = task::make_and({mode, literals(values)});
      const std::optional<Rational> next = result(happen, values);
      if (!next) {
        needed.push_back(task::negate(here));
        return;
      }
      task::EffectDefinition effect;
      effect.when = here;
      const auto old = values.find(target);
      if (old != values.end() && old->second == *next) return;
      if (!numbers_[target].facts.contains(*next)) {
        // Beyond its limits it cannot happen; beyond what is followed it may not.
        if (numbers_[target].cut) needed.push_back(task::negate(here));
        return;
      }
      for (const auto& [value, fact] : numbers_[target].facts) {
        if (value == *next) {
          effect.add.push_back(fact);
        } else if (old == values.end() || value == old->second) {
          effect.del.push_back(fact);
        }
      }
      effects.push_back(std::move(effect));
    });
  });
  precondition = task::make_and(std::move(needed));
}

}  // namespace metactrl::pddl
