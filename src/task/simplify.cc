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
    for (const ActionDefinition& action : definition_.actions) {
      const std::optional<Behind> before = behind(action.precondition, {});
      if (!before) return false;
      for (const EffectDefinition& effect : action.effects) {
        const std::optional<Behind> both = behind(effect.when, *before);
        if (!both) return false;
        for (const FactId fact : effect.add) add(*both, fact);
        for (const FactId fact : effect.del) deleted[fact] = true;
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
  std::optional<Behind> behind(const Formula& formula, Behind so_far) const {
    if (formula.kind == Formula::Kind::kLiteral) {
      meter_.step(1);
      if (!formula.negated) return Behind{std::max(so_far.first, index(formula.fact) + 1)};
      return initially_false(formula.fact) ? std::optional(so_far) : std::nullopt;
    }
    if (formula.kind == Formula::Kind::kTrue) return so_far;
    if (formula.kind != Formula::Kind::kAnd) return std::nullopt;
    for (const Formula& child : formula.children) {
      const std::optional<Behind> next =
          child.kind == Formula::Kind::kLiteral ? behind(child, so_far) : std::optional<Behind>();
      if (!next) return std::nullopt;
      so_far = *next;
    }
    return so_far;
  }

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
    for_each_formula([this](const Watcher& watcher, const Formula& formula) { add_watcher(watcher, formula); });
    // Who watches which literal, one literal after the other in one array.
    first_watching_.assign(2 * definition_.facts.size() + 1, 0);
    const auto for_each_watched = [this](const auto& use) {
      std::uint32_t id = 0;
      for_each_formula([&](const Watcher&, const Formula& formula) {
        for_each_literal(formula, [&](FactId fact, bool negated) { use(id, literal(fact, negated)); });
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
  void for_each_formula(const Use& use) const {
    for (const ActionId a : definition_.actions.all()) {
      use({Watcher::Kind::kAction, a, 0}, definition_.actions[a].precondition);
    }
    for (const ActionId a : definition_.actions.all()) {
      const std::vector<EffectDefinition>& effects = definition_.actions[a].effects;
      for (std::uint32_t e = 0; e < effects.size(); ++e) {
        if (!effects[e].when.is_true()) use({Watcher::Kind::kEffect, a, e}, effects[e].when);
      }
    }
    for (std::uint32_t x = 0; x < definition_.axioms.size(); ++x) {
      use({Watcher::Kind::kAxiom, {}, x}, definition_.axioms[x].body);
    }
  }

  void add_watcher(const Watcher& watcher, const Formula& formula) {
    if (watcher.kind == Watcher::Kind::kEffect && !first_effect_.contains(watcher.action)) {
      first_effect_[watcher.action] = static_cast<std::uint32_t>(watchers_.size());
    }
    watchers_.push_back(watcher);
    const auto is_literal = [](const Formula& part) { return part.kind == Formula::Kind::kLiteral; };
    watchers_.back().counted =
        is_literal(formula) || (formula.kind == Formula::Kind::kAnd &&
                                std::all_of(formula.children.begin(), formula.children.end(), is_literal));
  }

  bool possible(const Watcher& watcher, const Formula& formula) const {
    return watcher.counted ? watcher.missing == 0 : possible(formula);
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
        const ActionDefinition& action = definition_.actions[watcher.action];
        if (!possible(watcher, action.precondition)) return;
        watcher.fired = true;
        action_possible_[watcher.action] = true;
        std::size_t conditional = 0;
        for (const EffectDefinition& effect : action.effects) {
          if (effect.when.is_true()) {
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
        const EffectDefinition& effect = definition_.actions[watcher.action].effects[watcher.place];
        if (!action_possible_[watcher.action] || !possible(watcher, effect.when)) return;
        watcher.fired = true;
        happen(effect);
        return;
      }
      case Watcher::Kind::kAxiom: {
        const AxiomDefinition& axiom = definition_.axioms[watcher.place];
        if (!possible(watcher, axiom.body)) return;
        watcher.fired = true;
        mark(axiom.head, false);
        return;
      }
    }
  }

  void happen(const EffectDefinition& effect) {
    for (const FactId fact : effect.add) mark(fact, false);
    for (const FactId fact : effect.del) mark(fact, true);
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

  // The formula itself where no fact is constant, as in most large tasks; a conjunction stays where it is.
  Formula fold(Formula&& formula) const {
    if (num_kept_ == renumber_.size()) return std::move(formula);
    if (formula.kind != Formula::Kind::kAnd) return fold(std::as_const(formula));
    meter_.step(kFoldSteps);
    std::size_t kept = 0;
    bool nested = false;
    for (std::size_t i = 0; i < formula.children.size(); ++i) {
      Formula& child = formula.children[i];
      if (child.kind != Formula::Kind::kLiteral || renumber_[child.fact] == kDropped) {
        child = fold(std::as_const(child));
        if (child.is_false()) return Formula::constant(false);
        if (child.is_true()) continue;
        nested = nested || child.kind == Formula::Kind::kAnd;
      } else {
        child.fact = renumber_[child.fact];
      }
      if (kept != i) formula.children[kept] = std::move(child);
      ++kept;
    }
    formula.children.resize(kept);
    if (kept < 2 || nested) return make_and(std::move(formula.children));
    return std::move(formula);
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

  // The kept ones, renumbered, sorted and unique.
  std::vector<FactId> keep(std::vector<FactId> result) const {
    keep_in_place(result);
    return result;
  }
  void keep_in_place(std::vector<FactId>& facts) const {
    for (FactId& fact : facts) fact = renumber_[fact];
    std::erase(facts, kDropped);
    if (facts.size() > 1) make_set(facts);
  }

  static void make_set(std::vector<FactId>& facts) {
    std::sort(facts.begin(), facts.end());
    facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
  }

 private:
  const Possibility& possibility_;
  internal::Meter& meter_;
  IdVector<FactId, FactId> renumber_;
  std::size_t num_kept_ = 0;
};

std::vector<EffectDefinition> fold_effects(const Folder& folder, const Possibility& possibility,
                                           std::vector<EffectDefinition>& effects) {
  if (effects.size() == 1 && effects[0].when.is_true()) {
    folder.keep_in_place(effects[0].add);
    folder.keep_in_place(effects[0].del);
    if (effects[0].add.empty() && effects[0].del.empty()) effects.clear();
    return std::move(effects);
  }
  std::vector<EffectDefinition> result;
  EffectDefinition unconditional;
  for (EffectDefinition& effect : effects) {
    if (!possibility.possible(effect.when)) continue;
    EffectDefinition folded{folder.fold(std::move(effect.when)), folder.keep(std::move(effect.add)),
                            folder.keep(std::move(effect.del))};
    if (folded.when.is_false() || (folded.add.empty() && folded.del.empty())) continue;
    if (folded.when.is_true()) {
      unconditional.add.insert(unconditional.add.end(), folded.add.begin(), folded.add.end());
      unconditional.del.insert(unconditional.del.end(), folded.del.begin(), folded.del.end());
    } else {
      result.push_back(std::move(folded));
    }
  }
  if (unconditional.add.empty() && unconditional.del.empty()) return result;
  Folder::make_set(unconditional.add);
  Folder::make_set(unconditional.del);
  result.insert(result.begin(), std::move(unconditional));
  return result;
}

Definition fold(Definition&& definition, internal::Meter& meter) {
  const Possibility possibility(definition, meter);
  const Folder folder(possibility, definition.facts.size(), meter);

  IdVector<ActionId, std::optional<ActionId>> new_action(definition.actions.size());
  ActionId next{0};  // those before it are done; hundreds of thousands stay in the memory that they have
  for (const ActionId a : definition.actions.all()) {
    ActionDefinition& action = definition.actions[a];
    if (!possibility.action_possible(a)) continue;
    action.precondition = folder.fold(std::move(action.precondition));
    if (action.precondition.is_false()) continue;
    action.effects = fold_effects(folder, possibility, action.effects);
    new_action[a] = next;
    if (next != a) definition.actions[next] = std::move(action);
    next = internal::next_of(next);
  }
  definition.actions.resize(index(next));

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
void drop_overridden_deletes(ActionDefinition& action, std::vector<FactId>& always_added) {
  if (action.effects.size() == 1) {
    EffectDefinition& effect = action.effects[0];
    std::sort(effect.add.begin(), effect.add.end());
    std::erase_if(effect.del,
                  [&](FactId fact) { return std::binary_search(effect.add.begin(), effect.add.end(), fact); });
    return;
  }
  always_added.clear();
  for (EffectDefinition& effect : action.effects) {
    std::sort(effect.add.begin(), effect.add.end());
    if (effect.when.is_true()) always_added.insert(always_added.end(), effect.add.begin(), effect.add.end());
  }
  std::sort(always_added.begin(), always_added.end());
  for (EffectDefinition& effect : action.effects) {
    std::erase_if(effect.del, [&](FactId fact) {
      return std::binary_search(effect.add.begin(), effect.add.end(), fact) ||
             std::binary_search(always_added.begin(), always_added.end(), fact);
    });
  }
}

}  // namespace

Definition simplify(Definition definition, internal::Meter& meter) {
  std::vector<FactId> always_added;
  for (ActionDefinition& action : definition.actions) drop_overridden_deletes(action, always_added);
  return fold(std::move(definition), meter);
}

}  // namespace metactrl::task
