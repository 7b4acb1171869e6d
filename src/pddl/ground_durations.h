// Durative actions as instantaneous ones: what is true before and after when one of them runs alone.
#ifndef METACTRL_SRC_PDDL_GROUND_DURATIONS_H_
#define METACTRL_SRC_PDDL_GROUND_DURATIONS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "pddl/ast.h"
#include "task/definition.h"

namespace metactrl::pddl {

// The same tree in which no action takes time, for relaxed reachability: an action can be taken there whenever it can in
// truth, and adds whatever it adds at either point. Conditions on what its effects at the start change are left out.
Ast without_time(const Ast& ast);

// One of the two points of a ground action.
struct GroundPoint {
  task::Formula condition;
  std::vector<task::EffectDefinition> effects;
};

// What a ground action is before it is known when it begins. Without a duration it is its start alone.
struct GroundRun {
  GroundPoint start;
  bool durative = false;
  task::Formula over_all;
  GroundPoint end;
  std::int64_t duration = 0;
};

// The action that does both. The end's formulas speak of the state behind the effects at the start.
GroundPoint one_after_the_other(GroundPoint start, GroundPoint end);

// `formula` where the values of these facts are known.
task::Formula given(const task::Formula& formula, const std::map<task::FactId, bool>& known);
// The conjunction, where what its literals say is put into its other members.
task::Formula tidy(std::vector<task::Formula> parts);
// Of a conjunction its members, of anything else itself.
std::vector<task::Formula> conjuncts_of(const task::Formula& formula);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_DURATIONS_H_
