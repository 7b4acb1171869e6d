// Goal relevance: the least set of facts R with
//   (1) every fact of a goal condition or of a monitor's condition is in R;
//   (2) when an effect changes a fact in R, the facts of its condition and of its action's precondition are in R;
//   (3) when an axiom's head is in R, the facts of its body are in R;
//   (4) the precondition facts of an action that can move a monitor (a step of an action goal) are in R.
// An action is relevant when (2) or (4) applies to it.
//
// Why support is exact on the projection to R. Let P be a legal plan of the full task that reaches the goal, and P'
// what is left of it without its irrelevant actions. Irrelevant actions change no fact in R and move no monitor, and
// relevant actions read, for their preconditions and for their effects on R, facts in R only; so by induction the facts
// in R agree after each remaining action, P' is legal and reaches the goal, and is no longer than P. Conversely a plan
// of the projected task consists of relevant actions whose preconditions lie in R, so it is legal in the full task as
// it stands. Monitors see the same sequence of R-states up to repetition of a state, and none of the five operators can
// tell a repeated state from a single one. Hence goal distances in the projection equal those in the full task.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "task/compile.h"

namespace metactrl::task {

namespace {

class RelevanceClosure {
 public:
  explicit RelevanceClosure(const Definition& definition) : definition_(definition) {
    result_.fact.assign(definition.facts.size(), false);
    result_.action.assign(definition.actions.size(), false);
    axioms_.resize(definition.facts.size());
    for (std::uint32_t x = 0; x < definition.axioms.size(); ++x) axioms_[definition.axioms[x].head].push_back(x);
    for (const ActionId a : definition.actions.all()) {
      for (const ActionTable::Effect& effect : definition.actions.effects(a)) {
        result_.changes += effect.add.size + effect.del.size;
      }
    }
  }

  Relevance run() {
    for (const GoalDefinition& goal : definition_.goals) add(goal.condition);
    for (const MonitorDefinition& monitor : definition_.monitors) {
      add(monitor.first);
      add(monitor.second);
      for (const std::vector<ActionId>& step : monitor.steps) {
        for (const ActionId action : step) add_action(action);
      }
    }
    sweep();
    sweep();
    index_changers();
    while (!queue_.empty()) {
      const FactId fact = queue_.back();
      queue_.pop_back();
      for (std::uint32_t i = first_changer_[index(fact)]; i < first_changer_[index(fact) + 1]; ++i) {
        const Changer& changer = changers_[i];
        add_action(changer.action);
        add(definition_.actions.view(definition_.actions.effects(changer.action)[changer.effect].when));
      }
      for (std::uint32_t axiom : axioms_[fact]) add(definition_.axioms[axiom].body);
    }
    return std::move(result_);
  }

 private:
  struct Changer {
    ActionId action;
    std::uint32_t effect;
  };

  // By (2), backwards, since what uses things is mostly declared behind what fetches them. In large tasks two sweeps see
  // nearly all that is relevant, and what they see is not looked for again.
  void sweep() {
    const ActionTable& actions = definition_.actions;
    const auto touched = [this](FactId fact) { return result_.fact[fact]; };
    for (std::size_t number = actions.size(); number-- > 0;) {
      const auto action = to_id<ActionId>(number);
      if (result_.action[action] || !is_plain(action)) continue;
      for (const ActionTable::Effect& effect : actions.effects(action)) {
        if (std::ranges::any_of(actions.facts(effect.add), touched) ||
            std::ranges::any_of(actions.facts(effect.del), touched)) {
          add_action(action);
        }
      }
    }
  }

  // None of its effects has a condition: once it is relevant there is no more to say of it.
  bool is_plain(ActionId action) const {
    const ActionTable& actions = definition_.actions;
    return std::ranges::all_of(actions.effects(action),
                               [&](const ActionTable::Effect& effect) { return actions.view(effect.when).is_true(); });
  }

  void index_changers() {
    first_changer_.assign(definition_.facts.size() + 1, 0);
    for_each_change([this](FactId fact, const Changer&) { ++first_changer_[index(fact)]; });
    std::uint32_t all = 0;
    for (std::uint32_t& first : first_changer_) first = all += first;
    changers_.resize(all);
    // Backwards: each begins where the last that was written does.
    for_each_change(
        [this](FactId fact, const Changer& changer) { changers_[--first_changer_[index(fact)]] = changer; });
  }

  // Of actions of which there is more to say.
  template <typename Use>
  void for_each_change(const Use& use) const {
    const ActionTable& actions = definition_.actions;
    for (const ActionId a : actions.all()) {
      if (result_.action[a] && is_plain(a)) continue;
      const std::span<const ActionTable::Effect> effects = actions.effects(a);
      for (std::uint32_t e = 0; e < effects.size(); ++e) {
        for (const FactId fact : actions.facts(effects[e].add)) use(fact, {a, e});
        for (const FactId fact : actions.facts(effects[e].del)) use(fact, {a, e});
      }
    }
  }

  template <typename Condition>
  void add(const Condition& condition) {
    for_each_literal(condition, [this](FactId fact, bool) {
      if (result_.fact[fact]) return;
      result_.fact[fact] = true;
      queue_.push_back(fact);
    });
  }

  void add_action(ActionId action) {
    if (result_.action[action]) return;
    result_.action[action] = true;
    add(definition_.actions.precondition(action));
  }

  const Definition& definition_;
  Relevance result_;
  std::vector<std::uint32_t> first_changer_;  // per fact, and one more: where its changers begin
  std::vector<Changer> changers_;
  IdVector<FactId, std::vector<std::uint32_t>> axioms_;  // by head: places in the definition
  std::vector<FactId> queue_;
};

}  // namespace

Relevance goal_relevance(const Definition& definition) { return RelevanceClosure(definition).run(); }

}  // namespace metactrl::task
