// A plan as what comes one after the other and what goes on side by side.
#ifndef METACTRL_SRC_EXCHANGE_PLAN_PARTS_H_
#define METACTRL_SRC_EXCHANGE_PLAN_PARTS_H_

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace metactrl::exchange {

struct PlanParts {
  enum class Kind : unsigned char { kStep, kInTurn, kSideBySide };
  Kind kind = Kind::kInTurn;
  std::size_t step = 0;          // kStep
  std::vector<PlanParts> parts;  // of the others
};

// All steps in their order.
PlanParts in_turn(std::size_t num_steps);
// `orders`: pairs of steps, the earlier one first, that must keep their order. Of two steps that stand side by side neither
// has to come before the other; the other way round that is true as far as nesting can say it.
PlanParts side_by_side(std::size_t num_steps, std::span<const std::pair<std::size_t, std::size_t>> orders);

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_PLAN_PARTS_H_
