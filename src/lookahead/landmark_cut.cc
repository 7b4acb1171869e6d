// Each round: (1) h_max of every proposition under the costs that are left. An operator's decisive precondition is the
// one that made it fire, the dearest of those it needs. (2) The goal zone: what reaches the goal through operators that
// cost nothing more, backwards along decisive preconditions. (3) The cut: operators by which the zone is entered from
// what can be reached without it.
//
// Every plan contains an action of the cut. Take the first step that makes something in the zone true: one of the
// operator's decisive preconditions held before, outside of the zone, and by the same argument it is reached in (3);
// so the operator is in the cut. It is not free, or its decisive preconditions would belong to the zone.
//
// An operator that needs n of its k preconditions has several decisive ones: all that are at least as dear as the n-th
// cheapest. Any n of the k contain one of these.
//
// An action has an operator for each of its conditional effects. Costs are kept by action, not by operator: a plan pays
// for the action once, whichever effects it wants, so the sets may share what it costs and no more.
#include "lookahead/landmark_cut.h"

#include <algorithm>

namespace metactrl::lookahead {

LandmarkCut::LandmarkCut(const RelaxedTask& task, const ActionCosts& costs)
    : task_(task),
      costs_(costs),
      left_(task.program().num_actions()),
      cost_(task.num_propositions()),
      missing_(task.num_operators()),
      decisive_(task.num_operators()),
      in_zone_(task.num_propositions()),
      seen_(task.num_propositions()) {}

Cost LandmarkCut::evaluate(const task::Word* state, Cost enough, std::uint64_t most_work) {
  for (const RelaxedTask::Operator& op : task_.operators_) {
    if (op.action != task::kNoAction) left_[op.action] = costs_.of(op.action);
  }
  const std::uint64_t until = most_work > ~work_ ? ~std::uint64_t{0} : work_ + most_work;
  Cost total = 0;
  Cost h_max = 0;  // that of the first round, under the full costs; more than the sum where an action is needed twice
  for (bool first = true;; first = false) {
    const Cost goal = explore(state);
    if (goal == kNoCost) return kNoCost;
    if (first) h_max = goal;
    if (goal == 0 || total >= enough || work_ > until) return std::max(total, h_max);
    find_goal_zone();
    find_cut(state);
    Cost least = kNoCost;
    for (const ActionId action : cut_) least = std::min(least, left_[action]);
    for (const ActionId action : cut_) left_[action] -= least;
    total += least;
  }
}

Cost LandmarkCut::operator_cost(std::uint32_t o) const {
  const ActionId action = task_.operators_[o].action;
  return action == task::kNoAction ? 0 : left_[action];
}

void LandmarkCut::reach(PropositionId proposition, Cost cost) {
  if (cost_[proposition] <= cost) return;
  cost_[proposition] = cost;
  heap_.push_back({cost, proposition});
  std::push_heap(heap_.begin(), heap_.end(), Costlier());
}

// h_max by Dijkstra's algorithm; returns that of the goal, kNoCost when it is out of reach.
Cost LandmarkCut::explore(const task::Word* state) {
  std::fill(cost_.begin(), cost_.end(), kNoCost);
  std::copy(task_.needed_.begin(), task_.needed_.end(), missing_.begin());
  heap_.clear();
  work_ += task_.evaluation_work();
  task_.for_each_true(state, [this](PropositionId proposition) { reach(proposition, 0); });
  while (!heap_.empty()) {
    const Entry entry = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), Costlier());
    heap_.pop_back();
    if (cost_[entry.proposition] < entry.cost) continue;
    const PropositionId proposition = entry.proposition;
    for (std::uint32_t u = task_.first_user_[proposition]; u < task_.first_user_[next_of(proposition)]; ++u) {
      const std::uint32_t o = task_.users_[u];
      if (--missing_[o] != 0) continue;  // one that fired wraps around and never gets back to 0
      decisive_[o] = proposition;
      const Cost reached = entry.cost + operator_cost(o);
      for (const PropositionId effect : task_.effects(task_.operators_[o])) reach(effect, reached);
    }
  }
  return cost_[task_.goal_];
}

// Is this one of the preconditions of which one must have held when the operator fires?
bool LandmarkCut::decides(std::uint32_t o, PropositionId precondition) const {
  const RelaxedTask::Operator& op = task_.operators_[o];
  if (op.needed == op.num_preconditions) return decisive_[o] == precondition;
  return cost_[precondition] >= cost_[decisive_[o]];
}

void LandmarkCut::find_goal_zone() {
  std::fill(in_zone_.begin(), in_zone_.end(), false);
  const auto enter = [this](PropositionId proposition) {
    if (in_zone_[proposition]) return;
    in_zone_[proposition] = true;
    stack_.push_back(proposition);
  };
  enter(task_.goal_);
  while (!stack_.empty()) {
    const PropositionId proposition = stack_.back();
    stack_.pop_back();
    for (std::uint32_t m = task_.first_maker_[proposition]; m < task_.first_maker_[next_of(proposition)]; ++m) {
      const std::uint32_t o = task_.makers_[m];
      ++work_;
      const bool fired = missing_[o] == 0 || missing_[o] > task_.operators_[o].needed;
      if (!fired || operator_cost(o) != 0) continue;
      for (const PropositionId precondition : task_.preconditions(task_.operators_[o])) {
        if (decides(o, precondition)) enter(precondition);
      }
    }
  }
}

// Leaves the actions of the cut in cut_, each once.
void LandmarkCut::find_cut(const task::Word* state) {
  cut_.clear();
  std::fill(seen_.begin(), seen_.end(), false);
  const auto see = [this](PropositionId proposition) {
    if (seen_[proposition]) return;
    seen_[proposition] = true;
    stack_.push_back(proposition);
  };
  task_.for_each_true(state, see);
  while (!stack_.empty()) {
    const PropositionId proposition = stack_.back();
    stack_.pop_back();
    for (std::uint32_t u = task_.first_user_[proposition]; u < task_.first_user_[next_of(proposition)]; ++u) {
      const std::uint32_t o = task_.users_[u];
      ++work_;
      const RelaxedTask::Operator& op = task_.operators_[o];
      const bool fired = missing_[o] == 0 || missing_[o] > op.needed;
      if (!fired || !decides(o, proposition)) continue;
      const auto effects = task_.effects(op);
      if (std::any_of(effects.begin(), effects.end(), [this](PropositionId p) { return in_zone_[p]; })) {
        cut_.push_back(op.action);
        // What else it makes true may enter the zone elsewhere.
      }
      for (const PropositionId effect : effects) {
        if (!in_zone_[effect]) see(effect);
      }
    }
  }
  std::sort(cut_.begin(), cut_.end());
  cut_.erase(std::unique(cut_.begin(), cut_.end()), cut_.end());
}

}  // namespace metactrl::lookahead
