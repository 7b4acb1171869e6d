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
#include <cstdint>
#include <vector>

#include "task/compile.h"

namespace metactrl::task {

namespace {

class RelevanceClosure {
 public:
  explicit RelevanceClosure(const Definition& definition) : definition_(definition) {
    result_.fact.assign(definition.facts.size(), false);
    result_.action.assign(definition.actions.size(), false);
    first_changer_.assign(definition.facts.size() + 1, 0);
    axioms_.resize(definition.facts.size());
    for_each_change([this](FactId fact, const Changer&) { ++first_changer_[index(fact)]; });
    std::uint32_t all = 0;
    for (std::uint32_t& first : first_changer_) first = all += first;
    changers_.resize(all);
    result_.changes = all;
    // Backwards: each begins where the last that was written does.
    for_each_change(
        [this](FactId fact, const Changer& changer) { changers_[--first_changer_[index(fact)]] = changer; });
    for (std::uint32_t x = 0; x < definition.axioms.size(); ++x) axioms_[definition.axioms[x].head].push_back(x);
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
    while (!queue_.empty()) {
      const FactId fact = queue_.back();
      queue_.pop_back();
      for (std::uint32_t i = first_changer_[index(fact)]; i < first_changer_[index(fact) + 1]; ++i) {
        const Changer& changer = changers_[i];
        add_action(changer.action);
        add(definition_.actions[changer.action].effects[changer.effect].when);
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

  template <typename Use>
  void for_each_change(const Use& use) const {
    for (const ActionId a : definition_.actions.all()) {
      const std::vector<EffectDefinition>& effects = definition_.actions[a].effects;
      for (std::uint32_t e = 0; e < effects.size(); ++e) {
        for (const FactId fact : effects[e].add) use(fact, {a, e});
        for (const FactId fact : effects[e].del) use(fact, {a, e});
      }
    }
  }

  void add(const Formula& formula) {
    for_each_literal(formula, [this](FactId fact, bool) {
      if (result_.fact[fact]) return;
      result_.fact[fact] = true;
      queue_.push_back(fact);
    });
  }

  void add_action(ActionId action) {
    if (result_.action[action]) return;
    result_.action[action] = true;
    add(definition_.actions[action].precondition);
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
