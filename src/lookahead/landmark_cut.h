// LandmarkCut: an admissible estimate of what a plan still costs.
//
//     LandmarkCut estimate(relaxed, costs);
//     Cost bound = estimate.evaluate(state, kNoCost);      // no plan from here costs less; kNoCost: there is none
//
// Sets of actions of which every plan takes one are found in the relaxation, one after the other; the cheapest action of
// each counts, and the set's actions are that much cheaper from then on (Helmert and Domshlak's LM-cut).
//
// Costs: each set takes time linear in the reachable part of the relaxed task, up to a logarithm. One per thread.
#ifndef METACTRL_SRC_LOOKAHEAD_LANDMARK_CUT_H_
#define METACTRL_SRC_LOOKAHEAD_LANDMARK_CUT_H_

#include <cstdint>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/relaxed.h"

namespace metactrl::lookahead {

class LandmarkCut {
 public:
  // Keeps references to both.
  LandmarkCut(const RelaxedTask& task, const ActionCosts& costs);

  // Ends early, with what is proved so far, when that is at least `enough` or when more than `most_work` steps were
  // taken.
  Cost evaluate(const task::Word* state, Cost enough, std::uint64_t most_work = ~std::uint64_t{0});
  // Steps (Budget::work) of all evaluations so far.
  std::uint64_t work() const { return work_; }

 private:
  struct Entry {
    Cost cost;
    PropositionId proposition;
  };
  struct Costlier {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.cost != b.cost ? a.cost > b.cost : a.proposition > b.proposition;
    }
  };

  Cost operator_cost(std::uint32_t o) const;
  Cost explore(const task::Word* state);
  void reach(PropositionId proposition, Cost cost);
  void find_goal_zone();
  void find_cut(const task::Word* state);
  bool decides(std::uint32_t o, PropositionId precondition) const;

  const RelaxedTask& task_;
  const ActionCosts& costs_;
  IdVector<ActionId, Cost> left_;        // of each action's cost
  IdVector<PropositionId, Cost> cost_;   // h_max under those
  std::vector<std::uint32_t> missing_;   // per operator: preconditions still to be reached
  std::vector<PropositionId> decisive_;  // per operator: the precondition that made it fire
  std::vector<Entry> heap_;
  IdVector<PropositionId, bool> in_zone_;  // the goal costs nothing more from there
  IdVector<PropositionId, bool> seen_;
  std::vector<PropositionId> stack_;
  std::vector<ActionId> cut_;
  std::uint64_t work_ = 0;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_LANDMARK_CUT_H_
