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
inline task::Formula positive(std::uint32_t fact) { return task::Formula::literal(fact, false); }
inline task::Formula negative(std::uint32_t fact) { return task::Formula::literal(fact, true); }

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

  std::uint32_t fact(const std::string& name, bool init) { return add_fact(name, -1, init); }
  std::uint32_t derived(const std::string& name, std::int32_t layer) { return add_fact(name, layer, false); }
  void axiom(std::uint32_t head, task::Formula body) { definition_.axioms.push_back({head, std::move(body)}); }
  std::uint32_t action(const std::string& name, task::Formula precondition,
                       std::vector<task::EffectDefinition> effects) {
    const auto index = static_cast<std::uint32_t>(definition_.actions.size());
    definition_.action_names.push_back({name, 0});
    definition_.actions.push_back({{index, {}}, std::move(precondition), std::move(effects), 1});
    return index;
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
  void actions_in_order(std::vector<std::vector<std::uint32_t>> steps) {
    monitor(task::MonitorDefinition::Kind::kActionsInOrder, {});
    definition_.monitors.back().steps = std::move(steps);
  }
  task::Definition take() { return std::move(definition_); }

 private:
  std::uint32_t add_fact(const std::string& name, std::int32_t layer, bool init) {
    const auto index = static_cast<std::uint32_t>(definition_.facts.size());
    definition_.predicate_names.push_back(name);
    definition_.facts.push_back({index, {}});
    definition_.fact_layer.push_back(layer);
    definition_.init.push_back(init);
    return index;
  }

  task::Definition definition_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_SMALL_DEFINITION_H_
