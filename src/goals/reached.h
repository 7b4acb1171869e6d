// States that are known to be reached, for conjunctions that one of them satisfies: a proof without a search.
#ifndef METACTRL_SRC_GOALS_REACHED_H_
#define METACTRL_SRC_GOALS_REACHED_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "goals/items.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "metactrl/task.h"

namespace metactrl::goals {

class Reached {
 public:
  // Looks at the states of `task`, whose goal is the constraints that its problem states, breadth first from the initial
  // one, to a depth of `horizon` and no more than a few thousand. `items` must outlive this.
  Reached(const Task& task, const ItemSet& items, unsigned horizon, const Stop& stop);

  // Does a state that can be reached satisfy all of them? kUnknown where not all are facts or negations of facts, or
  // not all states were looked at.
  Answer together(std::span<const ActionId> items) const;

 private:
  using Bits = std::vector<std::uint64_t>;  // by state

  const ItemSet& items_;
  std::map<ActionId, Bits> holds_;  // by the item that says that it holds
  Bits good_;                       // states in which a plan may end
  bool complete_ = false;
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_REACHED_H_
