// Durative actions as instantaneous ones: what is true before and after when one of them runs alone.
#ifndef METACTRL_SRC_PDDL_GROUND_DURATIONS_H_
#define METACTRL_SRC_PDDL_GROUND_DURATIONS_H_

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

// The action that does both. The end's formulas speak of the state behind the effects at the start.
GroundPoint one_after_the_other(GroundPoint start, GroundPoint end);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_DURATIONS_H_
