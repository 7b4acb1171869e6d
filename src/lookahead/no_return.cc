#include "lookahead/no_return.h"

#include <algorithm>

namespace metactrl::lookahead {

using task::Word;

NoReturn::NoReturn(const task::Program& program, const Space* space)
    : program_(program),
      space_(space),
      passed_(program.relevant_words()),
      current_(program.total_words()),
      next_(program.total_words()) {}

NoReturn::NoReturn(const NoReturn& other) : NoReturn(other.program_, other.space_) { set_path(other.path_); }

void NoReturn::set_path(std::span<const State> states) {
  path_.assign(states.begin(), states.end());
  passed_.clear();
  passed_ids_.clear();
  failed_.clear();
  for (const State& state : path_) {
    std::copy(state.words().begin(), state.words().end(), current_.begin());
    program_.project(current_.data());
    passed_.insert(current_.data());
    if (const std::optional<StateId> id = space_ != nullptr ? space_->find(current_.data()) : std::nullopt) {
      passed_ids_.insert(*id);
    }
  }
}

bool NoReturn::avoids(const Word* state, std::span<const ActionId> plan, bool from_here) {
  if (!from_here && passed(state)) return false;
  std::copy(state, state + program_.total_words(), current_.begin());
  for (const ActionId action : plan) {
    program_.apply(current_.data(), action, next_.data());
    program_.project(next_.data());
    current_.swap(next_);
    if (passed(current_.data())) return false;
  }
  return true;
}

std::optional<unsigned> NoReturn::distance(StateId from, unsigned left, internal::Meter& meter) {
  struct Node {
    StateId id{};
    unsigned taken = 0;
  };
  const Space& space = *space_;
  if (space.distance(from) > left || passed_ids_.contains(from)) return std::nullopt;
  // By the number of actions that a plan through the node has at least. The estimate is consistent, so a state is
  // first taken out by a shortest way to it.
  std::vector<std::vector<Node>> open(left + std::size_t{1});
  std::unordered_map<StateId, unsigned> closed;
  open[space.distance(from)].push_back({from, 0});
  for (std::size_t length = space.distance(from); length <= left; ++length) {
    while (!open[length].empty()) {
      const Node node = open[length].back();
      open[length].pop_back();
      if (!closed.emplace(node.id, node.taken).second) continue;
      if (space.is_goal(node.id)) return node.taken;
      const auto failed = failed_.find(node.id);
      if (failed != failed_.end() && failed->second >= left - node.taken) continue;
      const std::span<const StateId> targets = space.targets(node.id);
      meter.step(targets.size() + 1);
      for (const StateId target : targets) {
        const std::size_t least = std::size_t{node.taken} + 1 + space.distance(target);
        if (least <= left && !closed.contains(target) && !passed_ids_.contains(target)) {
          open[least].push_back({target, node.taken + 1});
        }
      }
    }
  }
  for (const auto& [id, taken] : closed) failed_[id] = std::max(failed_[id], left - taken);
  return std::nullopt;
}

}  // namespace metactrl::lookahead
