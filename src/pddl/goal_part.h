// What one goal depends on, and nothing else.
#ifndef METACTRL_SRC_PDDL_GOAL_PART_H_
#define METACTRL_SRC_PDDL_GOAL_PART_H_

#include <optional>
#include <string_view>

#include "pddl/ast.h"

namespace metactrl::pddl {

// The tree with the goal of this text alone, and with the actions, effects and numbers that it can depend on. Constraints,
// preferences and costs are left out. Where it has no plan, neither has the whole: what is left of a plan of the whole is
// one of it. Nothing where that is not so (things happen by themselves, or inside others), where there is no such goal,
// or where nothing would be left out.
std::optional<Ast> goal_part(const Ast& ast, std::string_view goal);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GOAL_PART_H_
