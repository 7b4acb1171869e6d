// Ground tasks by hand, for tests: facts and actions without arguments, numbered in the order in which they are added.
//
//     SmallDefinition d;
//     const auto door = d.fact("door-open", false);
//     d.action("open", negative(door), {{yes(), {door}, {}}});
//     d.goal(positive(door));
//     auto program = task::compile(d.take());
#ifndef METACTRL_TESTS_SUPPORT_SMALL_DEFINITION_H_
#define METACTRL_TESTS_SUPPORT_SMALL_DEFINITION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "task/definition.h"

namespace metactrl::testing {

inline task::Formula yes() { return task::Formula::constant(true); }
inline task::Formula positive(task::FactId fact) { return task::Formula::literal(fact, false); }
inline task::Formula positive(std::uint32_t number) { return positive(task::FactId{number}); }
inline task::Formula negative(task::FactId fact) { return task::Formula::literal(fact, true); }
inline task::Formula negative(std::uint32_t number) { return negative(task::FactId{number}); }

// Children row by row; at least `count` in distinct rows and columns.
inline task::Formula matching(std::uint32_t count, std::uint32_t columns, std::vector<task::Formula> children,
                              bool negated = false) {
  task::Formula formula;
  formula.kind = task::Formula::Kind::kMatching;
  formula.count = count;
  formula.count2 = columns;
  formula.negated = negated;
  formula.children = std::move(children);
  return formula;
}

class SmallDefinition {
 public:
  SmallDefinition() { definition_.name = "small"; }

  task::FactId fact(const std::string& name, bool init) { return add_fact(name, -1, init); }
  task::FactId derived(const std::string& name, std::int32_t layer) { return add_fact(name, layer, false); }
  void axiom(task::FactId head, task::Formula body) { definition_.axioms.push_back({head, std::move(body)}); }
  ActionId action(const std::string& name, task::Formula precondition, std::vector<task::EffectDefinition> effects) {
    const ActionId id = definition_.actions.next_id();
    definition_.action_names.push_back({name, 0});
    definition_.actions.push_back(
        {{ActionNameId{internal::index(id)}, {}}, std::move(precondition), std::move(effects), 1});
    return id;
  }
  void goal(task::Formula condition) { definition_.goals.push_back({std::move(condition), "goal"}); }
  void monitor(task::MonitorDefinition::Kind kind, task::Formula first, task::Formula second = {}) {
    task::MonitorDefinition monitor;
    monitor.kind = kind;
    monitor.first = std::move(first);
    monitor.second = std::move(second);
    monitor.text = "monitor";
    definition_.monitors.push_back(std::move(monitor));
  }
  void actions_in_order(std::vector<std::vector<ActionId>> steps) {
    monitor(task::MonitorDefinition::Kind::kActionsInOrder, {});
    definition_.monitors.back().steps = std::move(steps);
  }
  task::Definition take() { return std::move(definition_); }

 private:
  task::FactId add_fact(const std::string& name, std::int32_t layer, bool init) {
    const task::FactId id = definition_.facts.next_id();
    definition_.facts.push_back({definition_.predicate_names.next_id(), {}});
    definition_.predicate_names.push_back(name);
    definition_.fact_layer.push_back(layer);
    definition_.init.push_back(init);
    return id;
  }

  task::Definition definition_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_SMALL_DEFINITION_H_
