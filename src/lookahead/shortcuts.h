// A cheaper plan by doing less before the rest of one that is known.
//
//     while (auto better = take_shortcuts(space, costs, state, plan, limits, meter, spent)) plan = *better;
//
// In a large task a plan rarely meets its own states again once something else was done: a key that is left here and not
// there makes another state of all that follow. But what follows asks for little. So a shortcut leads not to a state of
// the plan but to one in which all holds that the rest of the plan needs.
//
// Costs: from each state of the plan all sequences of few actions, each looked at in the time of what it changes.
// Deterministic.
#ifndef METACTRL_SRC_LOOKAHEAD_SHORTCUTS_H_
#define METACTRL_SRC_LOOKAHEAD_SHORTCUTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/focus.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

struct ShortcutLimits {
  unsigned actions = 2;    // of a shortcut, at most
  std::uint64_t work = 0;  // steps, as Budget::work
};

// A plan with the shortcuts that were found, executed as a whole; nothing when there is none, and with derived facts or
// trajectory constraints. `plan` must reach the goal from the projected `state`. Adds what it did to `spent`.
std::optional<std::vector<ActionId>> take_shortcuts(const ActionSpace& space, const ActionCosts& costs,
                                                    const task::Word* state, std::vector<ActionId> plan,
                                                    const ShortcutLimits& limits, internal::Meter& meter,
                                                    std::uint64_t& spent);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SHORTCUTS_H_
