// Dijkstra's algorithm from the goal states, against the edges.
#include "lookahead/cost_table.h"

#include <cassert>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace metactrl::lookahead {

CostTable::CostTable(const task::Program& program, const Space& space, internal::Meter& meter) : program_(program) {
  const std::size_t live = space.num_live();
  constexpr Worth kNever{std::numeric_limits<double>::infinity(), 0};
  best_.assign(live, kNever);
  // The edges by target.
  struct Reverse {
    StateId from{};
    ActionId action{};
  };
  std::vector<std::size_t> first(live + 1, 0);
  for (const StateId id : best_.all()) {
    for (const StateId target : space.targets(id)) ++first[index(target) + 1];
  }
  for (std::size_t i = 0; i < live; ++i) first[i + 1] += first[i];
  std::vector<Reverse> edges(first.back());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (const StateId id : best_.all()) {
    const std::span<const StateId> targets = space.targets(id);
    for (std::size_t e = 0; e < targets.size(); ++e) {
      edges[next[index(targets[e])]++] = {id, space.actions(id)[e]};
    }
    meter.step(targets.size() + 1);
  }
  using Entry = std::pair<Worth, StateId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (const StateId id : best_.all()) {
    if (!space.is_goal(id)) continue;
    best_[id] = {};
    open.push({{}, id});
  }
  while (!open.empty()) {
    const auto [worth, id] = open.top();
    open.pop();
    if (worth > best_[id]) continue;
    for (std::size_t e = first[index(id)]; e < first[index(id) + 1]; ++e) {
      const Worth before = behind(edges[e].action, id);
      if (before >= best_[edges[e].from]) continue;
      best_[edges[e].from] = before;
      open.push({before, edges[e].from});
    }
    meter.step(first[index(id) + 1] - first[index(id)] + 1);
  }
}

std::vector<ActionId> CostTable::cheapest_plan(const Space& space, StateId id) const {
  std::vector<ActionId> plan;
  if (!space.is_live(id)) return plan;
  while (!space.is_goal(id)) {
    const std::span<const StateId> targets = space.targets(id);
    std::size_t e = 0;
    while (e < targets.size() && behind(space.actions(id)[e], targets[e]) != best_[id]) ++e;
    assert(e < targets.size());
    plan.push_back(space.actions(id)[e]);
    id = targets[e];
  }
  return plan;
}

}  // namespace metactrl::lookahead
