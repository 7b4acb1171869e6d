// ActionCosts: what actions cost, as whole numbers, so that sums are exact and "no plan is cheaper" is a proof.
//
//     ActionCosts costs(program);              // the task's metric; 1 each where it has none
//     Cost total = costs.sum(plan);            // in units of 1 / costs.scale()
//     std::string shown = number_text(costs.in_words(total));
#ifndef METACTRL_SRC_LOOKAHEAD_ACTION_COSTS_H_
#define METACTRL_SRC_LOOKAHEAD_ACTION_COSTS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/ids.h"
#include "task/program.h"

namespace metactrl::lookahead {

using Cost = std::uint64_t;
inline constexpr Cost kNoCost = std::numeric_limits<Cost>::max();  // more than any plan

class ActionCosts {
 public:
  explicit ActionCosts(const task::Program& program);

  Cost of(ActionId action) const { return costs_[action]; }
  Cost sum(std::span<const ActionId> plan) const;
  // As the task writes it.
  double in_words(Cost cost) const { return static_cast<double>(cost) / scale_; }
  // Are all of them whole numbers in this unit? Where they are not (a 101st, say), sums are rounded, and prove nothing.
  bool exact() const { return exact_; }
  // Does the task ask for cheap plans, or for short ones?
  bool has_metric() const { return has_metric_; }
  // Small numbers, at least 1, that rank as the costs do; by action.
  std::vector<std::uint32_t> weights() const;

 private:
  internal::IdVector<ActionId, Cost> costs_;
  double scale_ = 1;
  bool exact_ = true;
  bool has_metric_ = false;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_ACTION_COSTS_H_
