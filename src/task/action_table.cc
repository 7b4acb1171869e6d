// Lists behind one another. Nearly all conditions are conjunctions of literals and are stored as lists of numbers; the
// few others, disjunctions and counting, stay the trees that they are.
#include "task/action_table.h"

#include <algorithm>
#include <new>
#include <utility>

namespace metactrl::task {

namespace {

// Whether a list of literals says all that the formula does, so that it can be put together again.
bool is_conjunction(const Formula& formula) {
  const auto is_literal = [](const Formula& part) { return part.kind == Formula::Kind::kLiteral; };
  if (formula.kind != Formula::Kind::kAnd) return formula.is_true() || is_literal(formula);
  return formula.children.size() > 1 && std::all_of(formula.children.begin(), formula.children.end(), is_literal);
}

std::uint32_t number(std::size_t place) {
  if (place >= ActionTable::Condition::kOther) throw std::bad_alloc();
  return static_cast<std::uint32_t>(place);
}

// The last entries, from this one on.
template <typename T>
ActionTable::Range entries_from(std::size_t first, const std::vector<T>& list) {
  return {number(first), number(list.size()) - number(first)};
}

template <typename T>
ActionTable::Range append(std::span<const T> entries, std::vector<T>& list) {
  const std::size_t first = list.size();
  list.insert(list.end(), entries.begin(), entries.end());
  return entries_from(first, list);
}

}  // namespace

ActionTable::Range ActionTable::add_facts(std::span<const FactId> facts) { return append(facts, facts_); }

ActionTable::Condition ActionTable::add_condition(const Formula& formula) {
  if (!is_conjunction(formula)) {
    formulas_.push_back(formula);
    return {number(formulas_.size() - 1), Condition::kOther};
  }
  const std::size_t first = literals_.size();
  for_each_literal(formula, [this](FactId fact, bool negated) { literals_.emplace_back(fact, negated); });
  const Range range = entries_from(first, literals_);
  return {range.first, range.size};
}

void ActionTable::replace(Condition& condition, Formula formula) {
  if (condition.other() && !is_conjunction(formula)) {
    formulas_[condition.first] = std::move(formula);
  } else {
    condition = add_condition(formula);
  }
}

ActionTable::Action ActionTable::stored(const ActionDefinition& action) {
  Action result;
  result.name = action.symbol.name;
  result.arguments = append<ObjectId>(action.symbol.arguments, arguments_);
  result.precondition = add_condition(action.precondition);
  const std::size_t first = effects_.size();
  for (const EffectDefinition& effect : action.effects) {
    effects_.push_back({add_condition(effect.when), add_facts(effect.add), add_facts(effect.del)});
  }
  result.effects = entries_from(first, effects_);
  result.cost = action.cost;
  return result;
}

void ActionTable::reserve(const Sizes& sizes) {
  actions_.reserve(sizes.actions);
  arguments_.reserve(sizes.arguments);
  literals_.reserve(sizes.literals);
  effects_.reserve(sizes.effects);
  facts_.reserve(sizes.facts);
}

void ActionTable::push_back(const ActionDefinition& action) { actions_.push_back(stored(action)); }

ActionDefinition ActionTable::operator[](ActionId action) const {
  ActionDefinition result{symbol(action), precondition(action).formula(), {}, cost(action)};
  for (const Effect& effect : effects(action)) {
    const std::span<const FactId> add = facts(effect.add);
    const std::span<const FactId> del = facts(effect.del);
    result.effects.push_back({view(effect.when).formula(), {add.begin(), add.end()}, {del.begin(), del.end()}});
  }
  return result;
}

std::size_t ActionTable::memory_bytes() const {
  std::size_t bytes = actions_.size() * sizeof(Action) + arguments_.size() * sizeof(ObjectId) +
                      literals_.size() * sizeof(FactLiteral) + effects_.size() * sizeof(Effect) +
                      facts_.size() * sizeof(FactId) + formulas_.size() * sizeof(Formula);
  for (const Formula& formula : formulas_) bytes += heap_bytes(formula);
  return bytes;
}

}  // namespace metactrl::task
