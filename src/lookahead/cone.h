// Cone: the part of an enumerated space that lies on plans of at most `horizon` actions from the initial state, copied
// to compressed rows of its own. Tables of weights are built over it.
//
//     Cone cone(space, horizon);
//     cone.copy_rows(space, labels);          // labels[action] is what an edge carries
//     for (const ConeId s : ids<ConeId>(cone.num_states(k))) ...  cone.edges(s)
//
// A weight V_k(s), with k actions left, is asked for and positive where distance(s) <= k <= horizon - depth(s). In the
// order of ids depth ascends, so the states that layer k needs (depth <= horizon - k) are the first num_states(k).
//
// Costs: linear in live states and edges; 4 bytes per live state, 20 per state of the cone, 8 per edge.
#ifndef METACTRL_SRC_LOOKAHEAD_CONE_H_
#define METACTRL_SRC_LOOKAHEAD_CONE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lookahead/space.h"

namespace metactrl::lookahead {

// A state of a Cone.
enum class ConeId : std::uint32_t {};

class Cone {
 public:
  static constexpr ConeId kOutside{0xffffffffU};
  struct Edge {
    ConeId target;
    std::uint32_t label;
  };

  // Numbers the states and counts the edges; the rows come later, when their size is known to fit.
  Cone(const Space& space, unsigned horizon);
  // Edges keep the order of the space: ascending by action.
  void copy_rows(const Space& space, const IdVector<ActionId, std::uint32_t>& labels);

  unsigned horizon() const { return horizon_; }
  std::size_t num_states() const { return distance_.size(); }
  // At depth <= horizon - k.
  std::size_t num_states(unsigned k) const {
    return end_of_depth_[std::min<std::size_t>(horizon_ - k, end_of_depth_.size() - 1)];
  }
  std::size_t num_edges() const { return num_edges_; }
  // The number of a live state in the cone, or kOutside.
  const IdVector<StateId, ConeId>& number() const { return number_; }
  unsigned distance(ConeId s) const { return distance_[s]; }
  // The largest k that is asked for.
  unsigned most_left(ConeId s) const { return most_left_[s]; }
  std::span<const Edge> edges(ConeId s) const {
    return {edges_.data() + first_edge_[s], first_edge_[next_of(s)] - first_edge_[s]};
  }
  std::size_t memory_bytes() const;
  // What memory_bytes() will be with rows.
  std::size_t expected_bytes() const {
    return number_.size() * sizeof(ConeId) + num_states() * (sizeof(std::size_t) + 2 * sizeof(std::uint32_t)) +
           num_edges_ * sizeof(Edge);
  }

 private:
  // Does an edge from a state at `depth` to `target` lie on a plan of at most horizon_ actions?
  bool on_plan(const Space& space, unsigned depth, StateId target) const {
    return space.distance(target) < horizon_ - depth;
  }

  unsigned horizon_;
  IdVector<StateId, ConeId> number_;  // of live states
  IdVector<ConeId, std::uint32_t> distance_;
  IdVector<ConeId, std::uint32_t> most_left_;
  std::vector<std::size_t> end_of_depth_;
  std::size_t num_edges_ = 0;
  IdVector<ConeId, std::size_t> first_edge_;
  std::vector<Edge> edges_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_CONE_H_
