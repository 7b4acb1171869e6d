#include "support/random_definition.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "task/compile.h"
#include "task/reference.h"

namespace metactrl::testing {

namespace {

using task::Definition;
using task::FactId;
using task::Formula;
using Facts = internal::IdVector<FactId, bool>;
using task::MonitorDefinition;

// splitmix64: the standard library's distributions differ between platforms.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(next() % bound); }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomOptions& options)
      : random_(seed), options_(options), shape_(static_cast<Shape>(random_.below(3))) {}

  Definition run() {
    definition_.name = "random";
    add_facts();
    add_axioms();
    add_actions();
    add_monitors();
    if (shape_ == Shape::kLoose || random_.chance(25) || !add_goals_of_a_walk()) {
      const std::uint32_t goals = random_.between(1, 2);
      for (std::uint32_t i = 0; i < goals; ++i) definition_.goals.push_back({formula(2), "goal"});
    }
    return std::move(definition_);
  }

 private:
  enum class Shape : std::uint8_t {
    kLoose,   // few actions that change much
    kSparse,  // many that change little
    kPlaces,  // a walker between places, with flags to raise: the longest plans
  };
  struct Allowed {
    FactId fact;
    bool may_negate;
  };

  void add_facts() {
    stored_ = random_.between(options_.min_facts, options_.max_facts);
    const std::uint32_t derived = random_.chance(40) ? random_.below(options_.max_derived + 1) : 0;
    for (std::uint32_t f = 0; f < stored_ + derived; ++f) {
      definition_.predicate_names.push_back("p" + std::to_string(f));
      definition_.facts.push_back({task::PredicateId{f}, {}});
      definition_.fact_layer.push_back(f < stored_ ? -1 : static_cast<std::int32_t>(random_.below(3)));
      definition_.init.push_back(f < stored_ && random_.chance(35));
      everything_.push_back({FactId{f}, true});
    }
    if (shape_ == Shape::kPlaces) {
      for (std::uint32_t f = 0; f < num_places(); ++f) definition_.init[FactId{f}] = f == 0;
    }
  }

  // Stratified: a body negates only what lower layers settle.
  void add_axioms() {
    for (const FactId f : internal::ids(FactId{stored_}, definition_.facts.next_id())) {
      std::vector<Allowed> allowed;
      for (const FactId g : definition_.facts.all()) {
        if (definition_.fact_layer[g] > definition_.fact_layer[f]) continue;
        allowed.push_back({g, definition_.fact_layer[g] < definition_.fact_layer[f]});
      }
      const std::uint32_t count = random_.between(1, 2);
      for (std::uint32_t i = 0; i < count; ++i) definition_.axioms.push_back({f, formula(1, allowed, false)});
    }
  }

  ActionId any_action_id() { return ActionId{random_.below(static_cast<std::uint32_t>(definition_.actions.size()))}; }

  Formula formula(std::uint32_t depth) { return formula(depth, everything_, true); }

  Formula formula(std::uint32_t depth, const std::vector<Allowed>& allowed, bool may_negate_matching) {
    const std::uint32_t kind = depth == 0 ? 0 : random_.below(10);
    if (kind < 4) {
      const Allowed& pick = allowed[random_.below(static_cast<std::uint32_t>(allowed.size()))];
      return Formula::literal(pick.fact, pick.may_negate && random_.chance(35));
    }
    std::vector<Formula> children;
    const std::uint32_t size = random_.between(2, kind == 9 ? 4 : 3);
    for (std::uint32_t i = 0; i < size; ++i) children.push_back(formula(depth - 1, allowed, may_negate_matching));
    if (kind < 6) return task::make_and(std::move(children));
    if (kind < 8) return task::make_or(std::move(children));
    if (kind == 8) return task::make_at_least(random_.between(1, size), std::move(children));
    return matching(std::move(children), may_negate_matching);
  }

  Formula matching(std::vector<Formula> children, bool may_negate) {
    while (children.size() % 2 != 0) children.push_back(children.front());
    Formula result;
    result.kind = Formula::Kind::kMatching;
    result.count = random_.between(1, 2);
    result.count2 = 2;
    result.negated = may_negate && random_.chance(40);
    result.children = std::move(children);
    return result;
  }

  // Goals that hold, though not from the start, at the end of a random walk: a task that probably has a plan.
  bool add_goals_of_a_walk() {
    std::optional<PlainState> state = plain_initial(definition_);
    if (!state) return false;
    for (std::uint32_t i = 0; i < 60; ++i) {
      const ActionId action = any_action_id();
      if (const auto next = plain_apply(definition_, *state, action)) state = next;
    }
    for (const FactId f : internal::ids<FactId>(stored_)) {
      const bool changed = state->facts[f] != definition_.init[f];
      if (random_.chance(changed ? 80 : 25))
        definition_.goals.push_back({Formula::literal(f, !state->facts[f]), "goal"});
    }
    return !definition_.goals.empty();
  }

  std::vector<FactId> some_stored(std::uint32_t percent) {
    std::vector<FactId> facts;
    if (shape_ != Shape::kLoose) {
      if (random_.chance(2 * percent + 20)) facts.push_back(FactId{random_.below(stored_)});
      return facts;
    }
    for (const FactId f : internal::ids<FactId>(stored_)) {
      if (random_.chance(percent)) facts.push_back(f);
    }
    return facts;
  }

  void add_actions() {
    const std::uint32_t count =
        random_.between(shape_ == Shape::kLoose ? 2 : options_.max_actions / 2, options_.max_actions);
    for (std::uint32_t a = 0; a < count; ++a) {
      definition_.action_names.push_back({"a" + std::to_string(a), 0});
      const bool visit = shape_ == Shape::kPlaces && random_.chance(90);
      task::ActionDefinition action = visit ? place_action() : any_action();
      action.symbol = {ActionNameId{a}, {}};
      definition_.actions.push_back(action);
    }
  }

  task::ActionDefinition any_action() {
    task::ActionDefinition action;
    action.precondition = random_.chance(10) ? Formula::constant(true) : formula(random_.chance(60) ? 1 : 2);
    if (random_.chance(8)) return action;  // it changes nothing
    action.effects.push_back({Formula::constant(true), some_stored(22), some_stored(18)});
    const std::uint32_t conditional = random_.chance(40) ? random_.between(1, 2) : 0;
    for (std::uint32_t e = 0; e < conditional; ++e) {
      action.effects.push_back({formula(1), some_stored(25), some_stored(20)});
    }
    return action;
  }

  // Goes from one place to another, or flips a flag at a place; sometimes only under a further condition.
  task::ActionDefinition place_action() {
    const std::uint32_t places = num_places();
    const FactId from{random_.below(places)};
    const FactId to{random_.below(places)};
    task::ActionDefinition action;
    action.precondition = Formula::literal(from, false);
    if (random_.chance(20)) action.precondition = task::make_and({action.precondition, formula(1)});
    if (to != from) {
      action.effects.push_back({Formula::constant(true), {to}, {from}});
    } else {
      const FactId flag{places + random_.below(stored_ - places)};
      action.effects.push_back({Formula::constant(true), {}, {}});
      (random_.chance(75) ? action.effects[0].add : action.effects[0].del).push_back(flag);
    }
    if (random_.chance(15)) action.effects.push_back({formula(1), {}, some_stored(20)});
    return action;
  }

  // The first facts say where the walker is.
  std::uint32_t num_places() const { return std::max(2U, 2 * stored_ / 3); }

  void add_monitors() {
    const std::uint32_t count = random_.chance(50) ? random_.below(options_.max_monitors + 1) : 0;
    for (std::uint32_t m = 0; m < count; ++m) {
      MonitorDefinition monitor;
      monitor.kind = static_cast<MonitorDefinition::Kind>(random_.below(6));
      monitor.text = "monitor";
      if (monitor.kind == MonitorDefinition::Kind::kActionsInOrder) {
        add_steps(monitor);
      } else {
        monitor.first = formula(1);
        monitor.second = formula(1);
      }
      definition_.monitors.push_back(std::move(monitor));
    }
  }

  void add_steps(MonitorDefinition& monitor) {
    const std::uint32_t steps = random_.between(1, 3);
    for (std::uint32_t i = 0; i < steps; ++i) {
      std::vector<ActionId> step;
      for (const ActionId a : definition_.actions.all()) {
        if (random_.chance(30)) step.push_back(a);
      }
      if (step.empty()) step.push_back(any_action_id());
      monitor.steps.push_back(std::move(step));
    }
  }

  Random random_;
  RandomOptions options_;
  Shape shape_;
  Definition definition_;
  std::uint32_t stored_ = 0;
  std::vector<Allowed> everything_;
};

// Tries all ways to give each of the rows from `row` on a free column, or none.
bool place_rows(const Formula& formula, const Facts& facts, std::size_t row, std::uint32_t used,
                std::uint32_t missing) {
  if (missing == 0) return true;
  const std::size_t columns = formula.count2;
  if (columns == 0 || row == formula.children.size() / columns) return false;
  for (std::size_t c = 0; c < columns; ++c) {
    if ((used >> c & 1) != 0 || !plain_holds(formula.children[row * columns + c], facts)) continue;
    if (place_rows(formula, facts, row + 1, used | 1U << c, missing - 1)) return true;
  }
  return place_rows(formula, facts, row + 1, used, missing);
}

// Lowest layer first; within a layer until nothing changes.
void derive(const Definition& definition, Facts& facts) {
  std::int32_t layers = 0;
  for (const FactId f : facts.all()) {
    if (definition.fact_layer[f] >= 0) facts[f] = false;
    layers = std::max(layers, definition.fact_layer[f] + 1);
  }
  for (std::int32_t layer = 0; layer < layers; ++layer) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const task::AxiomDefinition& axiom : definition.axioms) {
        if (definition.fact_layer[axiom.head] != layer || facts[axiom.head] || !plain_holds(axiom.body, facts))
          continue;
        facts[axiom.head] = true;
        changed = true;
      }
    }
  }
}

// What a monitor remembers: kAtMostOnce: 0 before, 1 during, 2 after the stretch; kActionsInOrder: steps done; others:
// 0 or 1.
bool step(const MonitorDefinition& monitor, const Facts& facts, std::optional<ActionId> action, std::uint32_t& memory) {
  const bool first = plain_holds(monitor.first, facts);
  const bool second = plain_holds(monitor.second, facts);
  switch (monitor.kind) {
    case MonitorDefinition::Kind::kAlways:
      return first;
    case MonitorDefinition::Kind::kSometime:
      memory |= first ? 1 : 0;
      return true;
    case MonitorDefinition::Kind::kAtMostOnce:
      if (first && memory == 2) return false;
      if (first) memory = 1;
      if (!first && memory == 1) memory = 2;
      return true;
    case MonitorDefinition::Kind::kSometimeAfter:
      memory = second ? 0 : (memory != 0 || first ? 1 : 0);
      return true;
    case MonitorDefinition::Kind::kSometimeBefore:
      if (first && memory == 0) return false;
      memory |= second ? 1 : 0;
      return true;
    case MonitorDefinition::Kind::kActionsInOrder:
      if (action && memory < monitor.steps.size()) {
        const std::vector<ActionId>& wanted = monitor.steps[memory];
        if (std::find(wanted.begin(), wanted.end(), *action) != wanted.end()) ++memory;
      }
      return true;
  }
  return true;
}

bool step_all(const Definition& definition, std::optional<ActionId> action, PlainState& state) {
  bool legal = true;
  for (std::size_t m = 0; m < definition.monitors.size(); ++m) {
    legal = step(definition.monitors[m], state.facts, action, state.memory[m]) && legal;
  }
  return legal;
}

}  // namespace

Definition random_definition(std::uint64_t seed, const RandomOptions& options) {
  return Generator(seed, options).run();
}

bool plain_holds(const Formula& formula, const Facts& facts) {
  const auto holds = [&](const Formula& child) { return plain_holds(child, facts); };
  switch (formula.kind) {
    case Formula::Kind::kTrue:
      return true;
    case Formula::Kind::kFalse:
      return false;
    case Formula::Kind::kLiteral:
      return facts[formula.fact] != formula.negated;
    case Formula::Kind::kAnd:
      return std::all_of(formula.children.begin(), formula.children.end(), holds);
    case Formula::Kind::kOr:
      return std::any_of(formula.children.begin(), formula.children.end(), holds);
    case Formula::Kind::kAtLeast:
      return std::count_if(formula.children.begin(), formula.children.end(), holds) >=
             static_cast<std::ptrdiff_t>(formula.count);
    case Formula::Kind::kMatching:
      return place_rows(formula, facts, 0, 0, formula.count) != formula.negated;
  }
  return false;
}

std::optional<PlainState> plain_initial(const Definition& definition) {
  PlainState state{definition.init, std::vector<std::uint32_t>(definition.monitors.size())};
  derive(definition, state.facts);
  if (!step_all(definition, std::nullopt, state)) return std::nullopt;
  return state;
}

std::optional<PlainState> plain_apply(const Definition& definition, const PlainState& state, ActionId action) {
  const task::ActionDefinition source = definition.actions[action];
  if (!plain_holds(source.precondition, state.facts)) return std::nullopt;
  PlainState next = state;
  for (const task::EffectDefinition& effect : source.effects) {
    if (!plain_holds(effect.when, state.facts)) continue;
    for (const FactId fact : effect.del) next.facts[fact] = false;
  }
  for (const task::EffectDefinition& effect : source.effects) {
    if (!plain_holds(effect.when, state.facts)) continue;
    for (const FactId fact : effect.add) next.facts[fact] = true;
  }
  derive(definition, next.facts);
  if (!step_all(definition, action, next)) return std::nullopt;
  return next;
}

bool plain_goal(const Definition& definition, const PlainState& state) {
  for (const task::GoalDefinition& goal : definition.goals) {
    if (!plain_holds(goal.condition, state.facts)) return false;
  }
  for (std::size_t m = 0; m < definition.monitors.size(); ++m) {
    const MonitorDefinition& monitor = definition.monitors[m];
    if (monitor.kind == MonitorDefinition::Kind::kSometime && state.memory[m] == 0) return false;
    if (monitor.kind == MonitorDefinition::Kind::kSometimeAfter && state.memory[m] != 0) return false;
    if (monitor.kind == MonitorDefinition::Kind::kActionsInOrder && state.memory[m] < monitor.steps.size())
      return false;
  }
  return true;
}

namespace {

class PlainReference : public task::ReferenceSemantics {
 public:
  explicit PlainReference(Definition definition) : definition_(std::move(definition)) {}

  Validation validate(std::span<const PlanStep> plan, const Stop& /*stop*/, std::size_t /*bytes*/) const override {
    Validation result;
    std::optional<PlainState> state = plain_initial(definition_);
    for (const PlanStep& step : plan) {
      std::uint32_t action = 0;  // each has a name of its own
      while (definition_.action_names[ActionNameId{action}].name != step.action) ++action;
      if (state) state = plain_apply(definition_, *state, ActionId{action});
      if (!state) break;
      ++result.steps_executed;
    }
    result.valid = state && plain_goal(definition_, *state);
    return result;
  }
  std::vector<std::string> initial_facts() const override { return {}; }

 private:
  Definition definition_;
};

}  // namespace

Task random_task(std::uint64_t seed, const RandomOptions& options) {
  Definition definition = random_definition(seed, options);
  auto reference = std::make_shared<PlainReference>(definition);
  return {task::compile(std::move(definition)), std::move(reference)};
}

}  // namespace metactrl::testing
