// A plan made better: cheaper where the task has a metric, shorter where it has none.
//
//     Improvement better = improve_plan(program, evaluator, state, plan, kInfinite, {.work = 100'000'000}, meter);
//     follow(better.plan);                                  // never worse than `plan`
//     if (better.optimal) ...                               // no plan costs less than better.cost
//
// Anytime: `on_better` hears of each plan when it is found. Ends when the work is spent or when the plan is proved best.
// Deterministic; every plan is the result of executed actions. Throws Stopped when the meter says so, or ends with what is
// known by then.
#ifndef METACTRL_SRC_LOOKAHEAD_IMPROVE_H_
#define METACTRL_SRC_LOOKAHEAD_IMPROVE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/relaxed.h"
#include "metactrl/lookahead.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

struct ImproveOptions {
  // For all of it; `states` and `bytes` for each search.
  Budget budget;
  // Plans have at most so many actions.
  unsigned max_length = kInfinite;
  // Spend most of the work on a proof rather than on better plans.
  bool prove = false;
  // Steps that were left out of the given plan already, because it does not need them.
  std::size_t left_out = 0;
  // Where the meter asks for an end: return what is known.
  bool keep_when_stopped = false;
  std::function<void(const std::vector<ActionId>& plan, Cost cost)> on_better;
};

struct CostedPlan {
  std::vector<ActionId> plan;
  Cost cost = 0;
  // Steps that were left out of it, or of those that it was made of, because the goal is reached without.
  std::size_t left_out = 0;
};

struct Improvement : CostedPlan {
  // No plan costs less, whatever its length.
  Cost lower_bound = 0;
  // No plan costs less: proved, by exact sums.
  bool optimal = false;
  bool stopped = false;  // by the meter
  std::uint64_t work = 0;
};

// `plan` must reach the goal from `state` and consist of relevant actions. `evaluator` is one of all relevant actions,
// without weights.
Improvement improve_plan(const task::Program& program, RelaxedEvaluator& evaluator, const task::Word* state,
                         std::vector<ActionId> plan, const ImproveOptions& options,
                         internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_IMPROVE_H_
