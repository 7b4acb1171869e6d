// Steps of a plan that it does not need.
//
//     std::vector<std::size_t> needless = needless_steps(program, state, plan);
//
// One step after the other is left out for trial, together with whatever is no longer legal then; where the rest still
// reaches the goal, it stays out; and so on until every step is needed. Every removal is thus proved by execution, of
// the plan as a whole. What is left may still be longer than the shortest plan: no step is replaced by another. A pass is
// quadratic in the length of the plan, and few plans need a third one.
#ifndef METACTRL_SRC_LOOKAHEAD_NEEDLESS_H_
#define METACTRL_SRC_LOOKAHEAD_NEEDLESS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

// Places in `plan`, ascending: all of them can be left out together. The plan must reach the goal from `state`.
std::vector<std::size_t> needless_steps(const task::Program& program, const task::Word* state,
                                        std::span<const ActionId> plan, internal::Meter& meter = internal::no_meter());

// The plan without them.
std::vector<ActionId> without_steps(std::span<const ActionId> plan, std::span<const std::size_t> needless);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_NEEDLESS_H_
