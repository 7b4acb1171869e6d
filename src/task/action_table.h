// The actions of a ground task, hundreds of thousands of them in large scenes, in a sixth of the memory that a structure
// for each would take: objects, literals, effects and facts lie in one list each, and an action knows where its own are.
//
//     const ActionId a = actions.next_id();
//     actions.push_back(action);                               // copied
//     actions.arguments(a), actions.cost(a)                    // where they are
//     for (const ActionTable::Effect& effect : actions.effects(a)) use(actions.facts(effect.add));
//     actions.change(a, [](ActionDefinition& whole) { whole.cost = 2; });
//     const ActionDefinition whole = actions[a];               // put together again: equal to what was put in
//
// Looking at parts allocates nothing, a whole action does; what was changed leaves its old memory behind. Spans and
// views hold until something is added or changed. Nothing is found in a list beyond 2^32 entries: std::bad_alloc.
#ifndef METACTRL_SRC_TASK_ACTION_TABLE_H_
#define METACTRL_SRC_TASK_ACTION_TABLE_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "task/formula.h"
#include "task/symbol.h"

namespace metactrl::task {

struct EffectDefinition {
  Formula when;  // evaluated before the action
  std::vector<FactId> add;
  std::vector<FactId> del;  // deletes first: a fact in both ends up true
  bool operator==(const EffectDefinition&) const = default;
};

struct ActionDefinition {
  ActionSymbol symbol;
  Formula precondition;
  std::vector<EffectDefinition> effects;
  double cost = 1;
  bool operator==(const ActionDefinition&) const = default;
};

class ActionTable {
 public:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t size = 0;
  };
  // Literals that all hold, or, if it is `other`, the formula with the number `first`.
  struct Condition {
    static constexpr std::uint32_t kOther = 0xffffffffU;
    std::uint32_t first = 0;
    std::uint32_t size = 0;
    bool other() const { return size == kOther; }
  };
  struct Effect {
    Condition when;
    Range add;
    Range del;
  };

  std::size_t size() const { return actions_.size(); }
  bool empty() const { return actions_.empty(); }
  bool contains(ActionId action) const { return actions_.contains(action); }
  internal::IdRange<ActionId> all() const { return actions_.all(); }
  ActionId next_id() const { return actions_.next_id(); }
  struct Sizes {
    std::size_t actions = 0;
    std::size_t arguments = 0;
    std::size_t literals = 0;
    std::size_t effects = 0;
    std::size_t facts = 0;
  };
  void reserve(const Sizes& sizes);
  void push_back(const ActionDefinition& action);
  ActionDefinition operator[](ActionId action) const;
  template <typename Change>
  void change(ActionId action, const Change& change) {
    ActionDefinition whole = (*this)[action];
    change(whole);
    actions_[action] = stored(whole);
  }
  std::size_t memory_bytes() const;

  // --- parts ---------------------------------------------------------------------------------------------------------
  ActionNameId name(ActionId action) const { return actions_[action].name; }
  std::span<const ObjectId> arguments(ActionId action) const {
    const Range& range = actions_[action].arguments;
    return {arguments_.data() + range.first, range.size};
  }
  ActionSymbol symbol(ActionId action) const {
    return {name(action), {arguments(action).begin(), arguments(action).end()}};
  }
  double cost(ActionId action) const { return actions_[action].cost; }
  ConditionView precondition(ActionId action) const { return view(actions_[action].precondition); }
  std::span<const Effect> effects(ActionId action) const {
    const Range& range = actions_[action].effects;
    return {effects_.data() + range.first, range.size};
  }
  std::span<const FactId> facts(Range range) const { return {facts_.data() + range.first, range.size}; }
  ConditionView view(Condition condition) const {
    if (condition.other()) return {{}, &formulas_[condition.first]};
    return {{literals_.data() + condition.first, condition.size}, nullptr};
  }

  // --- for who rewrites all of them ----------------------------------------------------------------------------------
  // In place, to no more than there was.
  Condition& stored_precondition(ActionId action) { return actions_[action].precondition; }
  std::span<Effect> effects(ActionId action) {
    const Range& range = actions_[action].effects;
    return {effects_.data() + range.first, range.size};
  }
  void keep_effects(ActionId action, std::size_t count) {
    assert(count <= actions_[action].effects.size);
    actions_[action].effects.size = static_cast<std::uint32_t>(count);
  }
  std::span<FactId> facts(Range range) { return {facts_.data() + range.first, range.size}; }
  std::span<FactLiteral> literals(Condition condition) {
    assert(!condition.other());
    return {literals_.data() + condition.first, condition.size};
  }
  Range add_facts(std::span<const FactId> facts);
  Condition add_condition(const Formula& formula);
  void replace(Condition& condition, Formula formula);
  // `to` becomes what `from` is.
  void move(ActionId from, ActionId to) { actions_[to] = actions_[from]; }
  // Leaves the first ones.
  void truncate(std::size_t count) { actions_.resize(count); }

 private:
  struct Action {
    ActionNameId name{};
    Range arguments;
    Range effects;
    Condition precondition;
    double cost = 1;
  };
  Action stored(const ActionDefinition& action);

  IdVector<ActionId, Action> actions_;
  std::vector<ObjectId> arguments_;
  std::vector<FactLiteral> literals_;
  std::vector<Effect> effects_;
  std::vector<FactId> facts_;
  std::vector<Formula> formulas_;
};

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_ACTION_TABLE_H_
