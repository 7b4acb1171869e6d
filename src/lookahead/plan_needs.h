// What the rest of a plan needs, place by place.
//
//     std::vector<std::vector<std::uint32_t>> needs = needs_along(program, plan);
//     if (all of needs[i] hold in a state) ...        // plan[i], plan[i + 1], ... most likely lead to the goal from there
//
// A guess, not a proof: only literals are followed, and only effects without a condition.
#ifndef METACTRL_SRC_LOOKAHEAD_PLAN_NEEDS_H_
#define METACTRL_SRC_LOOKAHEAD_PLAN_NEEDS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "task/program.h"

namespace metactrl::lookahead {

// For each place of the plan, and one more for its end: codes of literals, ascending.
std::vector<std::vector<std::uint32_t>> needs_along(const task::Program& program, std::span<const ActionId> plan);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_PLAN_NEEDS_H_
