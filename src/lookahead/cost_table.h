// The least cost to the goal from every state of a Space.
//
//     CostTable costs(program, space, meter);
//     costs.cost(id);                  // of the cheapest plan, however many actions it has
//     costs.cheapest_plan(space, id);
//
// Of plans that cost the same, one with the fewest actions. Time O(edges log states); 16 bytes per live state, and 8 per
// edge while it is built.
#ifndef METACTRL_SRC_LOOKAHEAD_COST_TABLE_H_
#define METACTRL_SRC_LOOKAHEAD_COST_TABLE_H_

#include <compare>
#include <vector>

#include "lookahead/space.h"
#include "support/ids.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

class CostTable {
 public:
  CostTable(const task::Program& program, const Space& space, internal::Meter& meter = internal::no_meter());

  // Of a live state.
  double cost(StateId id) const { return best_[id].cost; }
  std::vector<ActionId> cheapest_plan(const Space& space, StateId id) const;

 private:
  // Compared in this order.
  struct Worth {
    double cost = 0;
    unsigned actions = 0;
    auto operator<=>(const Worth&) const = default;
  };
  Worth behind(ActionId action, StateId target) const {
    return {best_[target].cost + program_.definition().actions.cost(action), best_[target].actions + 1};
  }

  const task::Program& program_;
  IdVector<StateId, Worth> best_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_COST_TABLE_H_
