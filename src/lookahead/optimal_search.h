// OptimalSearch: the cheapest plan, or how cheap one can be at most.
//
//     OptimalSearch search(program, relaxed, costs, state, bound, most_work);
//     Status status = search.run(spending, {}, limit);
//     if (status == Status::kFound) search.plan();          // cheaper than the bound, and no plan is cheaper
//     search.lower_bound();                                 // no plan costs less, however the search ended
//
// A* with LM-cut (landmark_cut.h) over all relevant actions, states opened again when a cheaper way is found. Exhausted:
// no plan is cheaper than the bound, so a plan that has the bound's cost is cheapest; without a bound, there is none.
#ifndef METACTRL_SRC_LOOKAHEAD_OPTIMAL_SEARCH_H_
#define METACTRL_SRC_LOOKAHEAD_OPTIMAL_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/landmark_cut.h"
#include "lookahead/search_nodes.h"
#include "lookahead/spending.h"

namespace metactrl::lookahead {

class OptimalSearch {
 public:
  // Looks for plans that cost less than `bound`. An evaluation may take long in itself: one that would bring the work
  // above `most_work` ends there, with a smaller estimate.
  OptimalSearch(const task::Program& program, const RelaxedTask& relaxed, const ActionCosts& costs,
                const task::Word* state, Cost bound, std::uint64_t most_work);

  // Until it is decided or the budget ends.
  Status run(Spending& spending, const Others& others, Limit& limit);
  const std::vector<ActionId>& plan() const { return plan_; }
  // No plan costs less; at most the bound.
  Cost lower_bound() const { return lower_bound_; }

  std::size_t size() const { return nodes_.size(); }
  std::uint64_t work() const { return estimate_.work() + successors_ * successor_work_; }
  std::size_t memory_bytes() const {
    return nodes_.memory_bytes() + info_.capacity() * sizeof(Info) + open_.capacity() * sizeof(Entry);
  }

 private:
  struct Info {
    Cost cost;  // of the cheapest way there that is known
    Cost h;     // kNoCost: dead
  };
  struct Entry {
    Cost f;
    Cost h;
    Cost cost;  // of the way that the entry stands for
    StoredId node;
  };
  // The smallest f first, then the one closest to the goal, then the newest.
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.f != b.f) return a.f > b.f;
      if (a.h != b.h) return a.h > b.h;
      return a.node < b.node;
    }
  };

  void open(StoredId id, const std::vector<task::Word>& state);
  void push(StoredId id);
  void expand(const Entry& entry);

  const task::Program& program_;
  const ActionCosts& costs_;
  LandmarkCut estimate_;
  std::uint64_t successor_work_;
  Cost bound_;
  std::uint64_t most_work_;
  Cost lower_bound_ = 0;
  Nodes nodes_;
  IdVector<StoredId, Info> info_;
  std::vector<Entry> open_;  // a heap
  std::vector<ActionId> plan_;
  std::vector<task::Word> current_;
  std::vector<task::Word> next_;
  std::vector<ActionId> actions_;
  std::size_t successors_ = 0;  // computed
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_OPTIMAL_SEARCH_H_
