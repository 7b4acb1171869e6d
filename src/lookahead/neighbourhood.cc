// Plan neighbourhood graph search (Nakhost and Mueller): breadth-first from all states of the plan at once, until there
// are enough states; then the cheapest path through what was seen. It cuts corners wherever they are, whatever the plan
// was made by, and needs no heuristic.
#include "lookahead/neighbourhood.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "lookahead/search_nodes.h"
#include "lookahead/spending.h"
#include "lookahead/state_table.h"

namespace metactrl::lookahead {

namespace {

using task::Word;

class NearbyGraph {
 public:
  NearbyGraph(const ActionSpace& space, const ActionCosts& costs, internal::Meter& meter)
      : space_(space),
        program_(space.program()),
        costs_(costs),
        meter_(meter),
        successor_work_(successor_work(program_)),
        table_(program_.relevant_words()),
        next_(program_.total_words()) {}

  void grow(const Word* state, std::span<const ActionId> plan, const NearbyLimits& limits) {
    current_.assign(state, state + program_.total_words());
    add(current_);
    for (const ActionId action : plan) {
      program_.apply(current_.data(), action, next_.data());
      program_.project(next_.data());
      current_.swap(next_);
      add(current_);
    }
    const auto more = [&] { return table_.size() < limits.states && work_ < limits.work; };
    // One level around the whole plan before the next: what is near counts, wherever it is. A level that cannot be
    // finished within the limits is left out by `more`.
    for (StoredId id{0}; index(id) < table_.size() && more(); id = next_of(id)) expand(id);
  }

  // The cheapest path from the first state to a goal among what was expanded; among the cheapest a shortest.
  std::optional<std::vector<ActionId>> path() const {
    struct Reached {
      Cost cost = kNoCost;
      std::uint32_t steps = 0;
      StoredId from = kNoNode;
      ActionId action = kNoAction;
    };
    using Entry = std::tuple<Cost, std::uint32_t, std::uint32_t>;  // cost, steps, state
    IdVector<StoredId, Reached> reached(table_.size());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    reached[StoredId{0}].cost = 0;
    open.emplace(0, 0, 0);
    while (!open.empty()) {
      const auto [cost, steps, number] = open.top();
      open.pop();
      StoredId id{number};
      if (std::tie(reached[id].cost, reached[id].steps) < std::tie(cost, steps)) continue;
      if (is_goal_[id]) {
        std::vector<ActionId> plan;
        for (; reached[id].from != kNoNode; id = reached[id].from) plan.push_back(reached[id].action);
        std::reverse(plan.begin(), plan.end());
        return plan;
      }
      if (index(id) + 1 >= first_edge_.size()) continue;
      for (std::size_t e = first_edge_[index(id)]; e < first_edge_[index(id) + 1]; ++e) {
        const Edge& edge = edges_[e];
        const Reached candidate{cost + costs_.of(edge.action), steps + 1, id, edge.action};
        Reached& best = reached[edge.to];
        if (std::tie(best.cost, best.steps) <= std::tie(candidate.cost, candidate.steps)) continue;
        best = candidate;
        open.emplace(candidate.cost, candidate.steps, index(edge.to));
      }
    }
    return std::nullopt;
  }

  std::uint64_t work() const { return work_; }

 private:
  struct Edge {
    ActionId action;
    StoredId to;
  };

  StoredId add(const std::vector<Word>& state) {
    const auto [id, fresh] = table_.insert(state.data());
    if (fresh) is_goal_.push_back(program_.is_goal(state.data()));
    return id;
  }

  void expand(StoredId id) {
    if (first_edge_.empty()) first_edge_.push_back(0);
    if (!is_goal_[id]) {
      current_.assign(program_.total_words(), 0);
      std::copy_n(table_.words(id), program_.relevant_words(), current_.begin());
      program_.complete(current_.data());
      actions_.clear();
      space_.applicable(current_.data(), actions_);
      for (const ActionId action : actions_) {
        work_ += successor_work_;
        meter_.step(successor_work_);
        if (!program_.apply(current_.data(), action, next_.data())) continue;
        program_.project(next_.data());
        edges_.push_back({action, add(next_)});
      }
    }
    first_edge_.push_back(edges_.size());
  }

  const ActionSpace& space_;
  const task::Program& program_;
  const ActionCosts& costs_;
  internal::Meter& meter_;
  std::uint64_t successor_work_;
  StateTable table_;
  IdVector<StoredId, bool> is_goal_;
  std::vector<std::size_t> first_edge_;  // of the states that were expanded, and one more
  std::vector<Edge> edges_;
  std::vector<Word> current_;
  std::vector<Word> next_;
  std::vector<ActionId> actions_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::optional<std::vector<ActionId>> improve_nearby(const ActionSpace& space, const ActionCosts& costs,
                                                    const Word* state, std::span<const ActionId> plan,
                                                    const NearbyLimits& limits, internal::Meter& meter,
                                                    std::uint64_t& spent) {
  NearbyGraph graph(space, costs, meter);
  graph.grow(state, plan, limits);
  spent += graph.work();
  std::optional<std::vector<ActionId>> better = graph.path();
  if (!better || better->size() > limits.length) return std::nullopt;
  const Cost before = costs.sum(plan);
  const Cost after = costs.sum(*better);
  if (after > before || (after == before && better->size() >= plan.size())) return std::nullopt;
  return better;
}

}  // namespace metactrl::lookahead
