// The idea: over-approximate which facts can ever be true and which can ever be false, by a fixpoint that ignores
// interactions. A literal is "possible" when the initial state satisfies it or some possible effect makes it so. An
// action is possible when its precondition is satisfied by possible literals. A fact whose positive literal is
// impossible is constant false, one whose negative literal is impossible is constant true. Every reachable state
// satisfies only possible literals (by induction over the steps), so folding the constants changes the truth of no
// condition in any reachable state.
//
// The fixpoint is a work list over literals: each formula is re-evaluated only when a literal in it becomes possible, and
// a conjunction of literals, which most are, is counted down instead.
//
// In large tasks the answer is mostly that every condition is possible, and grounding numbers facts in the order in
// which it finds them. So that is tried first: where each fact is initial or added under facts of smaller numbers alone,
// all of them are possible by induction, and one pass over the effects says which can be false.
//
// Once is enough. What is folded away is constant, so a formula is possible after the folding if it was before, by
// possible literals of facts that vary; effects that could happen still can, and make the same literals of those facts
// possible. A second fixpoint would be the first one.
#include "task/simplify.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

namespace metactrl::task {

namespace {

// Which literals can hold in some reachable state, over-approximated.
class Possibility {
 public:
  Possibility(const Definition& definition, internal::Meter& meter) : definition_(definition), meter_(meter) {
    const std::size_t num_facts = definition.facts.size();
    positive_.assign(num_facts, false);
    negative_.assign(num_facts, false);
    action_possible_.assign(definition.actions.size(), false);
    if (all_in_order()) return;
    index_formulas();
    for (const FactId fact : definition.facts.all()) {
      const bool derived = definition.fact_layer[fact] >= 0;
      // A derived fact may be false in any state as far as we know, and is true when an axiom says so.
      if (definition.init[fact]) {
        mark(fact, false);
      } else {
        mark(fact, true);
      }
      if (derived) mark(fact, true);
    }
    for (std::uint32_t watcher = 0; watcher < watchers_.size(); ++watcher) fire(watcher);
    run();
  }

  bool possible(FactId fact, bool negated) const { return negated ? negative_[fact] : positive_[fact]; }
  bool action_possible(ActionId action) const { return action_possible_[action]; }

  bool possible(const ConditionView& condition) const {
    if (condition.other != nullptr) return possible(*condition.other);
    meter_.piece();
    return std::all_of(condition.literals.begin(), condition.literals.end(), [this](FactLiteral literal) {
      meter_.piece();
      return possible(literal.fact(), literal.negated());
    });
  }
  bool possible(const Formula& formula) const {
    meter_.piece();
    const auto child_possible = [this](const Formula& child) { return possible(child); };
    switch (formula.kind) {
      case Formula::Kind::kTrue:
        return true;
      case Formula::Kind::kFalse:
        return false;
      case Formula::Kind::kLiteral:
        return possible(formula.fact, formula.negated);
      case Formula::Kind::kAnd:
        return std::all_of(formula.children.begin(), formula.children.end(), child_possible);
      case Formula::Kind::kOr:
        return std::any_of(formula.children.begin(), formula.children.end(), child_possible);
      case Formula::Kind::kAtLeast:
        return std::count_if(formula.children.begin(), formula.children.end(), child_possible) >=
               static_cast<std::ptrdiff_t>(formula.count);
      case Formula::Kind::kMatching:
        return true;
    }
    return true;
  }

 private:
  // Whether each fact is possible by those of smaller numbers, and with them everything; the flags then say so.
  bool all_in_order() {
    std::vector<bool> known(definition_.facts.size(), false);  // possible, as those before it are
    IdVector<FactId, bool> deleted(definition_.facts.size(), false);
    const auto add = [&](const Behind& behind, FactId fact) {
      if (behind.first <= index(fact)) known[index(fact)] = true;
    };
    const ActionTable& actions = definition_.actions;
    for (const ActionId a : actions.all()) {
      const std::optional<Behind> before = behind(actions.precondition(a), {});
      if (!before) return false;
      for (const ActionTable::Effect& effect : actions.effects(a)) {
        const std::optional<Behind> both = behind(actions.view(effect.when), *before);
        if (!both) return false;
        for (const FactId fact : actions.facts(effect.add)) add(*both, fact);
        for (const FactId fact : actions.facts(effect.del)) deleted[fact] = true;
      }
    }
    for (const AxiomDefinition& axiom : definition_.axioms) {
      const std::optional<Behind> body = behind(axiom.body, {});
      if (!body) return false;
      add(*body, axiom.head);
    }
    for (const FactId fact : definition_.facts.all()) {
      if (!definition_.init[fact] && !known[index(fact)]) return false;
    }
    positive_.assign(positive_.size(), true);
    action_possible_.assign(action_possible_.size(), true);
    for (const FactId fact : definition_.facts.all()) negative_[fact] = initially_false(fact) || deleted[fact];
    return true;
  }

  // The first number that is greater than those of the facts that a condition asks for.
  struct Behind {
    std::uint32_t first = 0;
  };
  // Of `so_far` and this conjunction of literals; nothing if it is something else, or asks for what may never be false.
  std::optional<Behind> behind(const ConditionView& condition, Behind so_far) const {
    if (condition.other != nullptr) return std::nullopt;
    meter_.step(condition.literals.size());
    for (const FactLiteral literal : condition.literals) {
      if (!literal.negated()) {
        so_far.first = std::max(so_far.first, index(literal.fact()) + 1);
      } else if (!initially_false(literal.fact())) {
        return std::nullopt;
      }
    }
    return so_far;
  }
  std::optional<Behind> behind(const Formula& formula, Behind so_far) const {
    if (formula.is_true()) return so_far;
    if (is_literal(formula)) {
      const FactLiteral literal(formula.fact, formula.negated);
      return behind(ConditionView{{&literal, 1}, nullptr}, so_far);
    }
    if (formula.kind != Formula::Kind::kAnd) return std::nullopt;
    for (const Formula& child : formula.children) {
      const std::optional<Behind> next = is_literal(child) ? behind(child, so_far) : std::nullopt;
      if (!next) return std::nullopt;
      so_far = *next;
    }
    return so_far;
  }

  static bool is_literal(const Formula& formula) { return formula.kind == Formula::Kind::kLiteral; }

  bool initially_false(FactId fact) const { return !definition_.init[fact] || definition_.fact_layer[fact] >= 0; }

  // Something that happens once its formula is possible: an action, one of its conditional effects, or an axiom.
  struct Watcher {
    enum class Kind : std::uint8_t { kAction, kEffect, kAxiom } kind = Kind::kAction;
    ActionId action{};        // kAction, kEffect
    std::uint32_t place = 0;  // of the effect in its action, of the axiom in the definition
    bool fired = false;
    bool counted = false;       // its formula is a conjunction of literals
    std::uint32_t missing = 0;  // of those, where they are counted
  };

  void index_formulas() {
    watchers_.reserve(definition_.actions.size());
    for_each_condition(
        [this](const Watcher& watcher, const ConditionView& condition) { add_watcher(watcher, condition); });
    // Who watches which literal, one literal after the other in one array.
    first_watching_.assign(2 * definition_.facts.size() + 1, 0);
    const auto for_each_watched = [this](const auto& use) {
      std::uint32_t id = 0;
      for_each_condition([&](const Watcher&, const ConditionView& condition) {
        for_each_literal(condition, [&](FactId fact, bool negated) { use(id, literal(fact, negated)); });
        ++id;
      });
    };
    for_each_watched([this](std::uint32_t id, std::size_t watched) {
      ++watchers_[id].missing;
      ++first_watching_[watched + 1];
    });
    std::partial_sum(first_watching_.begin(), first_watching_.end(), first_watching_.begin());
    watching_.resize(first_watching_.back());
    std::vector<std::uint32_t> next(first_watching_.begin(), first_watching_.end() - 1);
    for_each_watched([&](std::uint32_t id, std::size_t watched) { watching_[next[watched]++] = id; });
  }

  // In the order of the watchers.
  template <typename Use>
  void for_each_condition(const Use& use) const {
    const ActionTable& actions = definition_.actions;
    for (const ActionId a : actions.all()) use({Watcher::Kind::kAction, a, 0}, actions.precondition(a));
    for (const ActionId a : actions.all()) {
      const std::span<const ActionTable::Effect> effects = actions.effects(a);
      for (std::uint32_t e = 0; e < effects.size(); ++e) {
        const ConditionView when = actions.view(effects[e].when);
        if (!when.is_true()) use({Watcher::Kind::kEffect, a, e}, when);
      }
    }
    for (std::uint32_t x = 0; x < definition_.axioms.size(); ++x) {
      use({Watcher::Kind::kAxiom, {}, x}, {{}, &definition_.axioms[x].body});
    }
  }

  void add_watcher(const Watcher& watcher, const ConditionView& condition) {
    if (watcher.kind == Watcher::Kind::kEffect && !first_effect_.contains(watcher.action)) {
      first_effect_[watcher.action] = static_cast<std::uint32_t>(watchers_.size());
    }
    watchers_.push_back(watcher);
    const auto counted = [](const Formula& formula) {
      return is_literal(formula) ||
             (formula.kind == Formula::Kind::kAnd && std::ranges::all_of(formula.children, is_literal));
    };
    watchers_.back().counted = condition.other == nullptr ? !condition.literals.empty() : counted(*condition.other);
  }

  bool possible(const Watcher& watcher, const ConditionView& condition) const {
    return watcher.counted ? watcher.missing == 0 : possible(condition);
  }

  static std::size_t literal(FactId fact, bool negated) { return 2 * std::size_t{index(fact)} + (negated ? 1 : 0); }

  void mark(FactId fact, bool negated) {
    IdVector<FactId, bool>& flags = negated ? negative_ : positive_;
    if (flags[fact]) return;
    flags[fact] = true;
    queue_.push_back(literal(fact, negated));
  }

  void run() {
    while (!queue_.empty()) {
      const std::size_t possible_now = queue_.back();
      queue_.pop_back();
      for (std::uint32_t i = first_watching_[possible_now]; i < first_watching_[possible_now + 1]; ++i) {
        const std::uint32_t id = watching_[i];
        meter_.step(1);
        if (!watchers_[id].counted || --watchers_[id].missing == 0) fire(id);
      }
    }
  }

  void fire(std::uint32_t id) {
    Watcher& watcher = watchers_[id];
    if (watcher.fired) return;
    switch (watcher.kind) {
      case Watcher::Kind::kAction: {
        const ActionTable& actions = definition_.actions;
        if (!possible(watcher, actions.precondition(watcher.action))) return;
        watcher.fired = true;
        action_possible_[watcher.action] = true;
        std::size_t conditional = 0;
        for (const ActionTable::Effect& effect : actions.effects(watcher.action)) {
          if (actions.view(effect.when).is_true()) {
            happen(effect);
          } else {
            ++conditional;
          }
        }
        if (conditional == 0) return;
        for (std::uint32_t e = first_effect_.at(watcher.action); conditional > 0; ++e, --conditional) fire(e);
        return;
      }
      case Watcher::Kind::kEffect: {
        const ActionTable& actions = definition_.actions;
        const ActionTable::Effect& effect = actions.effects(watcher.action)[watcher.place];
        if (!action_possible_[watcher.action] || !possible(watcher, actions.view(effect.when))) return;
        watcher.fired = true;
        happen(effect);
        return;
      }
      case Watcher::Kind::kAxiom: {
        const AxiomDefinition& axiom = definition_.axioms[watcher.place];
        if (!possible(watcher, ConditionView{{}, &axiom.body})) return;
        watcher.fired = true;
        mark(axiom.head, false);
        return;
      }
    }
  }

  void happen(const ActionTable::Effect& effect) {
    for (const FactId fact : definition_.actions.facts(effect.add)) mark(fact, false);
    for (const FactId fact : definition_.actions.facts(effect.del)) mark(fact, true);
  }

  const Definition& definition_;
  internal::Meter& meter_;
  IdVector<FactId, bool> positive_;
  IdVector<FactId, bool> negative_;
  IdVector<ActionId, bool> action_possible_;
  std::vector<Watcher> watchers_;
  std::unordered_map<ActionId, std::uint32_t> first_effect_;  // the watcher of its first conditional effect
  std::vector<std::uint32_t> first_watching_;                 // per literal, where its watchers begin
  std::vector<std::uint32_t> watching_;
  std::vector<std::size_t> queue_;  // literals
};

// Rewrites formulas: constants folded, facts renumbered.
class Folder {
 public:
  static constexpr FactId kDropped{0xffffffffU};
  static constexpr std::uint64_t kFoldSteps = 32;

  Folder(const Possibility& possibility, std::size_t num_facts, internal::Meter& meter)
      : possibility_(possibility), meter_(meter), renumber_(num_facts) {
    std::uint32_t next = 0;
    for (const FactId fact : ids<FactId>(num_facts)) {
      const bool varies = possibility.possible(fact, false) && possibility.possible(fact, true);
      renumber_[fact] = varies ? FactId{next++} : kDropped;
    }
    num_kept_ = next;
  }

  std::size_t num_kept() const { return num_kept_; }
  FactId renumber(FactId fact) const { return renumber_[fact]; }

  // A condition of an action; false when it never holds. Nothing is to be done where no fact is constant, as in most
  // large tasks; a conjunction stays where it is.
  bool fold(ActionTable& actions, ActionTable::Condition& condition) const {
    if (num_kept_ == renumber_.size()) return !actions.view(condition).is_false();
    if (condition.other()) {
      Formula folded = fold(*actions.view(condition).other);
      if (folded.is_false()) return false;
      actions.replace(condition, std::move(folded));
      return true;
    }
    meter_.step(kFoldSteps);
    const std::span<FactLiteral> literals = actions.literals(condition);
    std::uint32_t kept = 0;
    for (const FactLiteral literal : literals) {
      const FactId fact = renumber_[literal.fact()];
      if (fact != kDropped) {
        literals[kept++] = {fact, literal.negated()};
        continue;
      }
      meter_.step(kFoldSteps);
      if (!possibility_.possible(literal.fact(), literal.negated())) return false;
    }
    condition.size = kept;
    return true;
  }
  Formula fold(const Formula& formula) const {
    meter_.step(kFoldSteps);
    switch (formula.kind) {
      case Formula::Kind::kTrue:
      case Formula::Kind::kFalse:
        return formula;
      case Formula::Kind::kLiteral:
        if (renumber_[formula.fact] != kDropped) return Formula::literal(renumber_[formula.fact], formula.negated);
        return Formula::constant(possibility_.possible(formula.fact, formula.negated));
      default:
        break;
    }
    std::vector<Formula> children;
    children.reserve(formula.children.size());
    for (const Formula& child : formula.children) children.push_back(fold(child));
    if (formula.kind == Formula::Kind::kAnd) return make_and(std::move(children));
    if (formula.kind == Formula::Kind::kOr) return make_or(std::move(children));
    if (formula.kind == Formula::Kind::kAtLeast) return make_at_least(formula.count, std::move(children));
    Formula result = formula;
    result.children = std::move(children);
    return result;
  }

  // Leaves the kept ones, renumbered, sorted and unique.
  void fold(ActionTable& actions, ActionTable::Range& range) const {
    std::uint32_t kept = 0;
    const std::span<FactId> facts = actions.facts(range);
    for (const FactId fact : facts) {
      if (renumber_[fact] != kDropped) facts[kept++] = renumber_[fact];
    }
    range.size = kept;
    make_set(actions, range);
  }

  static void make_set(ActionTable& actions, ActionTable::Range& range) {
    if (range.size < 2) return;
    const std::span<FactId> facts = actions.facts(range);
    std::sort(facts.begin(), facts.end());
    range.size = static_cast<std::uint32_t>(std::unique(facts.begin(), facts.end()) - facts.begin());
  }

 private:
  const Possibility& possibility_;
  internal::Meter& meter_;
  IdVector<FactId, FactId> renumber_;
  std::size_t num_kept_ = 0;
};

// The facts that several effects add, or delete, as one list.
ActionTable::Range together(ActionTable& actions, const std::vector<ActionTable::Effect>& effects,
                            ActionTable::Range ActionTable::Effect::*part) {
  std::vector<FactId> facts;
  for (const ActionTable::Effect& effect : effects) {
    const std::span<const FactId> some = actions.facts(effect.*part);
    facts.insert(facts.end(), some.begin(), some.end());
  }
  ActionTable::Range result = actions.add_facts(facts);
  Folder::make_set(actions, result);
  return result;
}

// What always happens becomes one effect, the first.
void fold_effects(const Folder& folder, const Possibility& possibility, ActionTable& actions, ActionId action) {
  using Effect = ActionTable::Effect;
  const std::span<Effect> effects = actions.effects(action);
  const auto changes = [&](Effect& effect) {
    folder.fold(actions, effect.add);
    folder.fold(actions, effect.del);
    return effect.add.size + effect.del.size > 0;
  };
  const auto is_sure = [&](const Effect& effect) { return actions.view(effect.when).is_true(); };
  if (effects.size() == 1 && is_sure(effects[0])) return actions.keep_effects(action, changes(effects[0]) ? 1 : 0);
  std::vector<Effect> always;
  std::vector<Effect> sometimes;
  for (Effect& effect : effects) {
    if (!possibility.possible(actions.view(effect.when)) || !folder.fold(actions, effect.when)) continue;
    if (changes(effect)) (is_sure(effect) ? always : sometimes).push_back(effect);
  }
  if (always.size() > 1) {
    always = {{{}, together(actions, always, &Effect::add), together(actions, always, &Effect::del)}};
  }
  std::ranges::copy(sometimes, std::ranges::copy(always, effects.begin()).out);
  actions.keep_effects(action, always.size() + sometimes.size());
}

Definition fold(Definition&& definition, internal::Meter& meter) {
  const Possibility possibility(definition, meter);
  const Folder folder(possibility, definition.facts.size(), meter);

  IdVector<ActionId, std::optional<ActionId>> new_action(definition.actions.size());
  ActionId next{0};  // those before it are done
  ActionTable& actions = definition.actions;
  for (const ActionId a : actions.all()) {
    if (!possibility.action_possible(a) || !folder.fold(actions, actions.stored_precondition(a))) continue;
    fold_effects(folder, possibility, actions, a);
    new_action[a] = next;
    actions.move(a, next);
    next = internal::next_of(next);
  }
  actions.truncate(index(next));

  std::vector<AxiomDefinition> axioms;
  for (const AxiomDefinition& axiom : definition.axioms) {
    Formula body = folder.fold(axiom.body);
    if (folder.renumber(axiom.head) == Folder::kDropped || body.is_false()) continue;
    axioms.push_back({folder.renumber(axiom.head), std::move(body)});
  }
  definition.axioms = std::move(axioms);

  for (MonitorDefinition& monitor : definition.monitors) {
    monitor.first = folder.fold(monitor.first);
    monitor.second = folder.fold(monitor.second);
    for (std::vector<ActionId>& step : monitor.steps) {
      std::vector<ActionId> kept;
      for (const ActionId action : step) {
        if (new_action[action]) kept.push_back(*new_action[action]);
      }
      step = std::move(kept);
    }
  }
  for (GoalDefinition& goal : definition.goals) goal.condition = folder.fold(goal.condition);
  for (PreferenceDefinition& preference : definition.preferences) {
    preference.condition = folder.fold(preference.condition);
  }

  if (folder.num_kept() == definition.facts.size()) return std::move(definition);
  IdVector<FactId, FactSymbol> facts;
  IdVector<FactId, std::int32_t> layers;
  IdVector<FactId, bool> init;
  for (const FactId fact : definition.facts.all()) {
    if (folder.renumber(fact) == Folder::kDropped) continue;
    facts.push_back(std::move(definition.facts[fact]));
    layers.push_back(definition.fact_layer[fact]);
    init.push_back(definition.init[fact]);
  }
  definition.facts = std::move(facts);
  definition.fact_layer = std::move(layers);
  definition.init = std::move(init);
  return std::move(definition);
}

// A delete that always happens together with an add of the same fact does nothing, since the add comes last. Without it
// a fact such as "the channel is free", deleted and added by every use, is seen to be constant.
void drop_overridden_deletes(ActionTable& actions, ActionId action, std::vector<FactId>& always_added) {
  const std::span<ActionTable::Effect> effects = actions.effects(action);
  always_added.clear();
  for (const ActionTable::Effect& effect : effects) {
    const std::span<FactId> added = actions.facts(effect.add);
    std::sort(added.begin(), added.end());
    if (effects.size() > 1 && actions.view(effect.when).is_true()) {
      always_added.insert(always_added.end(), added.begin(), added.end());
    }
  }
  std::sort(always_added.begin(), always_added.end());
  for (ActionTable::Effect& effect : effects) {
    const std::span<const FactId> added = actions.facts(effect.add);
    const std::span<FactId> deleted = actions.facts(effect.del);
    const auto kept_end = std::remove_if(deleted.begin(), deleted.end(), [&](FactId fact) {
      return std::ranges::binary_search(added, fact) || std::ranges::binary_search(always_added, fact);
    });
    effect.del.size = static_cast<std::uint32_t>(kept_end - deleted.begin());
  }
}

}  // namespace

Definition simplify(Definition definition, internal::Meter& meter) {
  std::vector<FactId> always_added;
  for (const ActionId action : definition.actions.all()) {
    drop_overridden_deletes(definition.actions, action, always_added);
  }
  return fold(std::move(definition), meter);
}

}  // namespace metactrl::task
