// A cheaper plan among the states around one that is known.
//
//     while (auto better = improve_nearby(space, costs, state, plan, limits, meter, spent)) plan = *better;
//
// Costs: each state that is looked at is expanded once. Deterministic.
#ifndef METACTRL_SRC_LOOKAHEAD_NEIGHBOURHOOD_H_
#define METACTRL_SRC_LOOKAHEAD_NEIGHBOURHOOD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/focus.h"
#include "support/meter.h"

namespace metactrl::lookahead {

struct NearbyLimits {
  std::size_t states = 0;
  std::uint64_t work = 0;  // steps, as Budget::work
  std::size_t length = 0;  // of the plan that is returned, at most
};

// The cheapest plan (among those the shortest) through the states of `plan`, which must reach the goal from `state`, and
// the first `limits.states` around them; nothing when it is no better than `plan`. Adds what it did to `spent`.
std::optional<std::vector<ActionId>> improve_nearby(const ActionSpace& space, const ActionCosts& costs,
                                                    const task::Word* state, std::span<const ActionId> plan,
                                                    const NearbyLimits& limits, internal::Meter& meter,
                                                    std::uint64_t& spent);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_NEIGHBOURHOOD_H_
