// LM-cut is not consistent, so a state may be opened again; with that, A* is right with any admissible estimate: the
// cheapest plan has at every time a state on it that is open with the cost of the plan's beginning, and f of that is at
// most the plan's cost. Hence the smallest f of what is open bounds all plans from below, and a goal that is popped first
// is cheapest. States whose f reaches the bound cannot lead to a cheaper plan and are not kept.
#include "lookahead/optimal_search.h"

#include <algorithm>

namespace metactrl::lookahead {

using task::Word;

OptimalSearch::OptimalSearch(const task::Program& program, const RelaxedTask& relaxed, const ActionCosts& costs,
                             const Word* state, Cost bound, std::uint64_t most_work)
    : program_(program),
      costs_(costs),
      estimate_(relaxed, costs),
      successor_work_(successor_work(program)),
      bound_(bound),
      most_work_(most_work),
      nodes_(program),
      current_(state, state + program.total_words()) {
  nodes_.insert(state, kNoNode, kNoAction);
  info_.push_back({0, 0});
  open(StoredId{0}, current_);
}

// Evaluates a new state.
void OptimalSearch::open(StoredId id, const std::vector<Word>& state) {
  const Cost enough = bound_ - std::min(bound_, info_[id].cost);
  info_[id].h = estimate_.evaluate(state.data(), enough, most_work_ - std::min(most_work_, work()));
  push(id);
}

void OptimalSearch::push(StoredId id) {
  const Info& info = info_[id];
  if (info.h == kNoCost || info.cost + info.h >= bound_) return;
  open_.push_back({info.cost + info.h, info.h, info.cost, id});
  std::push_heap(open_.begin(), open_.end(), Later());
}

Status OptimalSearch::run(Spending& spending, const Others& others, Limit& limit) {
  for (;;) {
    while (!open_.empty() && open_.front().cost != info_[open_.front().node].cost) {
      std::pop_heap(open_.begin(), open_.end(), Later());
      open_.pop_back();
    }
    if (open_.empty()) {
      lower_bound_ = bound_;
      return Status::kExhausted;
    }
    lower_bound_ = std::max(lower_bound_, open_.front().f);
    limit = check(spending, *this, others);
    if (limit != Limit::kNone) return Status::kLimit;
    const Entry entry = open_.front();
    std::pop_heap(open_.begin(), open_.end(), Later());
    open_.pop_back();
    nodes_.load(entry.node, current_);
    if (program_.is_goal(current_.data())) {
      plan_ = nodes_.plan_to(entry.node);
      lower_bound_ = entry.cost;
      return Status::kFound;
    }
    expand(entry);
  }
}

// current_ is the entry's state.
void OptimalSearch::expand(const Entry& entry) {
  actions_.clear();
  program_.relevant_actions(current_.data(), actions_);
  for (const ActionId action : actions_) {
    const Cost cost = entry.cost + costs_.of(action);
    if (cost >= bound_) continue;
    ++successors_;
    if (!nodes_.successor(current_, action, next_)) continue;
    const auto [id, fresh] = nodes_.insert(next_.data(), entry.node, action);
    if (fresh) {
      info_.push_back({cost, 0});
      open(id, next_);
    } else if (cost < info_[id].cost) {
      nodes_.redirect(id, entry.node, action);
      info_[id].cost = cost;
      push(id);
    }
  }
}

}  // namespace metactrl::lookahead
