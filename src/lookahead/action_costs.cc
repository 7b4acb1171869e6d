// The unit is one in which every cost is a whole number below 2^40, so that a plan of millions of actions does not
// overflow: the largest of 1, 1/10, ... 1/1,000,000 that will do, or else of 1/n, 1/10n, ... for the smallest n that will
// do, since a way of 8 at a speed of 0.3 takes 80/3. Small n, because any number is nearly a fraction of large ones.
#include "lookahead/action_costs.h"

#include <algorithm>
#include <cmath>

namespace metactrl::lookahead {

namespace {

constexpr double kFinest = 1e6;
constexpr double kMostParts = 100;
constexpr double kLargest = 0x1p40;
// A decimal number times a power of ten is a whole number but for the rounding of the two, and of sums that it came of.
constexpr double kRounding = 0x1p-44;

bool is_whole(double number) { return std::abs(number - std::round(number)) <= kRounding * std::max(1.0, number); }

}  // namespace

ActionCosts::ActionCosts(const task::Program& program)
    : costs_(program.num_actions(), 1), has_metric_(program.definition().has_metric) {
  if (!has_metric_) return;
  const task::ActionTable& actions = program.definition().actions;
  double largest = 0;
  for (const ActionId a : actions.all()) largest = std::max(largest, actions.cost(a));
  const auto whole = [&](double scale) {
    return std::ranges::all_of(actions.all(), [&](ActionId action) { return is_whole(actions.cost(action) * scale); });
  };
  const auto refine = [&](double coarsest) {
    scale_ = coarsest;
    while (scale_ < kFinest && largest * scale_ * 10 < kLargest && !whole(scale_)) scale_ *= 10;
    return whole(scale_) && largest * scale_ < kLargest;
  };
  exact_ = false;
  for (double parts = 1; parts < kMostParts && !exact_; ++parts) exact_ = refine(parts);
  if (!exact_) refine(1);
  for (const ActionId a : actions.all()) {
    costs_[a] = static_cast<Cost>(std::llround(std::min(actions.cost(a) * scale_, kLargest)));
  }
}

Cost ActionCosts::sum(std::span<const ActionId> plan) const {
  Cost total = 0;
  for (const ActionId action : plan) total += costs_[action];
  return total;
}

// The largest becomes 64: fine enough to rank, and small enough for queues with a bucket for each value.
std::vector<std::uint32_t> ActionCosts::weights() const {
  if (!has_metric_) return std::vector<std::uint32_t>(costs_.size(), 1);
  constexpr double kLargestWeight = 64;
  const auto largest = static_cast<double>(*std::max_element(costs_.begin(), costs_.end()));
  const double factor = largest > kLargestWeight ? kLargestWeight / largest : 1;
  std::vector<std::uint32_t> result;
  result.reserve(costs_.size());
  for (const Cost cost : costs_) {
    const auto scaled = static_cast<std::uint32_t>(std::lround(static_cast<double>(cost) * factor));
    result.push_back(1 + scaled);
  }
  return result;
}

}  // namespace metactrl::lookahead
