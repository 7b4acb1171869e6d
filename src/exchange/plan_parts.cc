// Series and parallel. Steps that no chain of orders connects stand side by side. Steps of which the first ones all come
// before all of the others are put one after the other. Where neither is the case (a before c and d, b before d alone),
// nesting cannot say what is meant: those that wait for nobody come first, all of them, and the rest behind them. That
// keeps every order and adds some.
#include "exchange/plan_parts.h"

#include <algorithm>
#include <numeric>

namespace metactrl::exchange {

namespace {

using Steps = std::vector<std::size_t>;

class Nester {
 public:
  Nester(std::size_t num_steps, std::span<const std::pair<std::size_t, std::size_t>> orders)
      : before_(num_steps, std::vector<bool>(num_steps, false)) {
    for (const auto& [a, b] : orders) before_[a][b] = true;
    // Orders lead forward, so one pass closes them.
    for (std::size_t j = 0; j < num_steps; ++j) {
      for (std::size_t i = j; i-- > 0;) {
        if (!before_[i][j]) continue;
        for (std::size_t k = 0; k < i; ++k) {
          if (before_[k][i]) before_[k][j] = true;
        }
      }
    }
  }

  PlanParts nest(const Steps& steps) const {
    if (steps.size() == 1) return {PlanParts::Kind::kStep, steps[0], {}};
    std::vector<Steps> groups = connected(steps, true);
    if (groups.size() > 1) return join(PlanParts::Kind::kSideBySide, groups);
    groups = connected(steps, false);
    if (groups.size() == 1) {
      const auto waits = [&](std::size_t step) {
        return std::any_of(steps.begin(), steps.end(), [&](std::size_t other) { return before_[other][step]; });
      };
      groups.assign(2, {});
      for (const std::size_t step : steps) groups[waits(step) ? 1 : 0].push_back(step);
    }
    return join(PlanParts::Kind::kInTurn, groups);
  }

 private:
  // Groups that hang together by pairs that have an order, or by those that have none; by their first step.
  std::vector<Steps> connected(const Steps& steps, bool ordered) const {
    std::vector<Steps> groups;
    std::vector<bool> taken(before_.size(), false);
    for (const std::size_t first : steps) {
      if (taken[first]) continue;
      Steps group = {first};
      taken[first] = true;
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (const std::size_t step : steps) {
          const bool has_order = before_[group[i]][step] || before_[step][group[i]];
          if (taken[step] || has_order != ordered) continue;
          taken[step] = true;
          group.push_back(step);
        }
      }
      std::sort(group.begin(), group.end());
      groups.push_back(std::move(group));
    }
    return groups;
  }

  PlanParts join(PlanParts::Kind kind, const std::vector<Steps>& groups) const {
    PlanParts result{kind, 0, {}};
    for (const Steps& group : groups) {
      PlanParts part = nest(group);
      if (part.kind != kind) {
        result.parts.push_back(std::move(part));
        continue;
      }
      std::move(part.parts.begin(), part.parts.end(), std::back_inserter(result.parts));
    }
    return result;
  }

  std::vector<std::vector<bool>> before_;
};

}  // namespace

PlanParts in_turn(std::size_t num_steps) {
  PlanParts result;
  for (std::size_t i = 0; i < num_steps; ++i) result.parts.push_back({PlanParts::Kind::kStep, i, {}});
  return result;
}

PlanParts side_by_side(std::size_t num_steps, std::span<const std::pair<std::size_t, std::size_t>> orders) {
  if (num_steps < 2) return in_turn(num_steps);
  Steps all(num_steps);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return Nester(num_steps, orders).nest(all);
}

}  // namespace metactrl::exchange
