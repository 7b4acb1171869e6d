// How long and how dear the plan is that a lookahead knows, and whether any is shorter or cheaper.
#ifndef METACTRL_SRC_LOOKAHEAD_BEST_KNOWN_H_
#define METACTRL_SRC_LOOKAHEAD_BEST_KNOWN_H_

#include <cstddef>
#include <optional>

#include "metactrl/lookahead.h"

namespace metactrl {

struct BestKnown {
  std::size_t length = 0;
  bool shortest = false;
  double cost = 0;
  // Costs that nobody asked to be small are not looked at: false and 0 then.
  bool cheapest = false;
  double least_cost = 0;  // no plan costs less
};

// Nothing where no plan is known.
std::optional<BestKnown> best_known(const Lookahead& lookahead);

}  // namespace metactrl

#endif  // METACTRL_SRC_LOOKAHEAD_BEST_KNOWN_H_
