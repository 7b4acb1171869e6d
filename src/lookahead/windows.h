// A cheaper plan by planning parts of it again.
//
//     while (auto better = replan_windows(tools, state, plan, limits, meter, spent)) plan = *better;
//
// A window is some actions of a plan in a row. Whatever leads from the state before it to one in which all holds that
// the rest of the plan needs (plan_needs.h) can take its place. A search for that is short, for its goal is near, and
// what one window cannot mend, a wider one may: two errands on one way, instead of one after the other.
//
// Costs: a search of at most so many evaluations for each window. Deterministic.
#ifndef METACTRL_SRC_LOOKAHEAD_WINDOWS_H_
#define METACTRL_SRC_LOOKAHEAD_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/focus.h"
#include "lookahead/relaxed.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

// What the searches use: the actions of `space`, and an evaluator of them with these weights, by action.
struct WindowTools {
  const ActionSpace& space;
  RelaxedEvaluator& evaluator;
  const ActionCosts& costs;
  std::span<const std::uint32_t> weights;
};

struct WindowLimits {
  std::size_t actions = 16;       // of a window
  std::size_t evaluations = 200;  // for one window
  unsigned greed = 2;             // as of WeightedSearch
  unsigned length = kInfinite;    // of the plan
  std::uint64_t work = 0;         // steps, as Budget::work
};

// A plan in which windows were replaced, executed as a whole; nothing when none could be. `plan` must reach the goal from
// the projected `state`. Adds what it did to `spent`.
std::optional<std::vector<ActionId>> replan_windows(const WindowTools& tools, const task::Word* state,
                                                    std::vector<ActionId> plan, const WindowLimits& limits,
                                                    internal::Meter& meter, std::uint64_t& spent);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_WINDOWS_H_
