#include "lookahead/cone.h"

#include <cassert>
#include <utility>

namespace metactrl::lookahead {

Cone::Cone(const Space& space, unsigned horizon) : horizon_(horizon), number_(space.num_live(), kOutside) {
  StateId next{0};
  for (unsigned depth = 0; index(next) < space.num_live() && depth <= horizon; ++depth) {
    const auto end = to_id<StateId>(space.num_live_within(depth));
    for (const StateId id : ids(std::exchange(next, end), end)) {
      const unsigned distance = space.distance(id);
      if (distance > horizon - depth) continue;
      number_[id] = distance_.next_id();
      distance_.push_back(distance);
      most_left_.push_back(horizon - depth);
      for (const StateId target : space.targets(id)) num_edges_ += on_plan(space, depth, target) ? 1 : 0;
    }
    end_of_depth_.push_back(num_states());
  }
  if (end_of_depth_.empty()) end_of_depth_.push_back(0);
}

void Cone::copy_rows(const Space& space, const IdVector<ActionId, std::uint32_t>& labels) {
  edges_.reserve(num_edges_);
  first_edge_.reserve(num_states() + 1);
  StateId next{0};
  for (unsigned depth = 0; depth < end_of_depth_.size(); ++depth) {
    const auto end = to_id<StateId>(space.num_live_within(depth));
    for (const StateId id : ids(std::exchange(next, end), end)) {
      if (number_[id] == kOutside) continue;
      first_edge_.push_back(edges_.size());
      const auto targets = space.targets(id);
      const auto actions = space.actions(id);
      for (std::size_t e = 0; e < targets.size(); ++e) {
        if (on_plan(space, depth, targets[e])) edges_.push_back({number_[targets[e]], labels[actions[e]]});
      }
    }
  }
  first_edge_.push_back(edges_.size());
  assert(first_edge_.size() == num_states() + 1 && edges_.size() == num_edges_);
}

std::size_t Cone::memory_bytes() const {
  return (number_.capacity() + distance_.capacity() + most_left_.capacity()) * sizeof(std::uint32_t) +
         (end_of_depth_.capacity() + first_edge_.capacity()) * sizeof(std::size_t) + edges_.capacity() * sizeof(Edge);
}

}  // namespace metactrl::lookahead
