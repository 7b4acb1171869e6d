// Space: the goal-relevant part of a task's state space, enumerated, with the exact goal distance of every state (tier
// A).
//
//     SpaceResult result = Space::enumerate(program, budget);
//     if (result.limit == Limit::kNone) {
//       std::optional<StateId> id = result.space->find(projected_words);
//       if (id && result.space->distance(*id) <= left) ...   // supported; result.space->shortest_plan(*id) proves it
//     }
//
// States are projected (see task/program.h) and numbered: live states, from which the goal can be reached, come first,
// in breadth-first order from the initial state; dead states follow. Edges are kept between live states only: an action
// that leads to a dead state is never supported, so nothing is to be learned from its edge. Actions that lead to the
// same successor stay separate edges, since they are different plans. Goal states have outgoing edges like all others.
//
// Cones. With a depth limit n only states at forward depth <= n (fewest actions from the initial state) are enumerated,
// and distance(s) is exact when it is <= n - depth(s); longer ones are reported as kUnreachable, and the state as dead.
// That is all a plan of at most n actions can use:
//   - Let a plan of t <= n - depth(s) actions lead from s to the goal, t smallest. The state after i of them has depth
//   <=
//     depth(s) + i <= n, so it was enumerated, and for i < t its depth is < n, so it was expanded. All of the plan
//     lies in the cone, and no path of the cone, being a path of the task, is shorter.
//   - Conversely a distance found in the cone that exceeds n - depth(s) proves that the true one does too (by the first
//     point), but need not be the true one; so it is not reported.
//   - A decoder that has taken j actions is in a state of depth d <= j and has at most n - j <= n - d left. What it
//     needs to know is always decided.
//
// Costs: time and memory linear in states and edges: 8 * relevant_words() + about 40 bytes per state, 8 per live edge,
// plus 12 per edge during enumeration. Immutable after enumeration; const functions may be called from many threads.
#ifndef METACTRL_SRC_LOOKAHEAD_SPACE_H_
#define METACTRL_SRC_LOOKAHEAD_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "lookahead/spending.h"
#include "lookahead/state_table.h"
#include "metactrl/lookahead.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

// Called now and then with the number of states found so far.
using Progress = std::function<void(std::size_t)>;

struct SpaceResult;

// A state of a Space.
enum class StateId : std::uint32_t {};

class Space {
 public:
  static constexpr unsigned kUnreachable = std::numeric_limits<std::uint32_t>::max();
  static constexpr unsigned kNoDepthLimit = std::numeric_limits<std::uint32_t>::max();

  // Enumerates states at depth <= `max_depth`. See SpaceResult for what happens at the end of the budget.
  // Throws Stopped when the meter says so.
  static SpaceResult enumerate(const task::Program& program, const Budget& budget, unsigned max_depth = kNoDepthLimit,
                               const Progress& progress = {}, internal::Meter& meter = internal::no_meter());

  // The id of a projected state; nothing when it was not enumerated (not reachable, or deeper than max_depth()).
  std::optional<StateId> find(const task::Word* projected) const;
  // The initial state's id.
  StateId initial() const { return public_id(StoredId{0}); }
  // Fewest actions to the goal; kUnreachable when dead.
  unsigned distance(StateId id) const { return is_live(id) ? distance_[id] : kUnreachable; }
  bool is_live(StateId id) const { return distance_.contains(id); }
  bool is_goal(StateId id) const { return distance(id) == 0; }
  // Fewest actions from the initial state. O(log of the number of depths).
  unsigned depth(StateId id) const;
  // Does distance(id) decide whether the goal can be reached with `left` actions? False only in a cone, for a dead
  // state that is asked about with more than max_depth() - depth(id) actions left.
  bool decides(StateId id, unsigned left) const;
  // A shortest plan from `id`, the smallest action id first wherever several would do; empty when dead or at the goal.
  std::vector<ActionId> shortest_plan(StateId id) const;

  // --- size ----------------------------------------------------------------------------------------------------------
  std::size_t num_states() const { return num_states_; }
  std::size_t num_live() const { return distance_.size(); }
  std::size_t num_dead() const { return num_states_ - distance_.size(); }
  // Legal (state, relevant action) pairs of the expanded states, and how many of them lead from live to live states.
  std::size_t num_edges() const { return num_edges_; }
  std::size_t num_live_edges() const { return targets_.size(); }
  // True when every reachable state was enumerated: then kUnreachable means that no plan of any length exists.
  bool complete() const { return complete_; }
  // The depth to which distances are decided; kNoDepthLimit when complete().
  unsigned max_depth() const { return complete_ ? kNoDepthLimit : max_depth_; }
  std::size_t memory_bytes() const;

  // --- the live graph, for tables over it ----------------------------------------------------------------------------
  // Live states are the first num_live(), ascending by depth. The edges of `id` have the same index in both spans,
  // ascending by action.
  std::span<const StateId> targets(StateId id) const {
    return {targets_.data() + first_edge_[id], first_edge_[next_of(id)] - first_edge_[id]};
  }
  std::span<const ActionId> actions(StateId id) const {
    return {actions_.data() + first_edge_[id], first_edge_[next_of(id)] - first_edge_[id]};
  }
  // How many live states have depth <= `depth`: they are the first so many.
  std::size_t num_live_within(unsigned depth) const;

 private:
  friend class SpaceBuilder;

  explicit Space(std::size_t width) : table_(width) {}
  StateId public_id(StoredId stored) const { return public_id_.empty() ? StateId{index(stored)} : public_id_[stored]; }

  StateTable table_;                           // in order of discovery, live or dead
  IdVector<StoredId, StateId> public_id_;      // empty when all states are live: then they have the same numbers
  IdVector<StateId, std::uint32_t> distance_;  // of the live states
  IdVector<StateId, std::size_t> first_edge_;  // of the live states, and one more
  std::vector<StateId> targets_;               // live; while they are enumerated, the numbers of stored states
  std::vector<ActionId> actions_;              // parallel to targets_
  std::vector<StoredId> layers_;               // per depth: its first state; and the end of the last
  std::vector<StateId> live_layers_;           // per depth: its first live state; and the end of the last
  std::size_t num_states_ = 0;
  std::size_t num_edges_ = 0;
  unsigned max_depth_ = 0;
  bool complete_ = true;
};

// When the budget ends before the enumeration does, `limit` says which part of it, and `space` is the cone to the
// deepest depth all of whose states are known (`space->max_depth()`), provided that a goal state is among them;
// otherwise there is none.
struct SpaceResult {
  std::optional<Space> space;
  Limit limit = Limit::kNone;
  std::size_t states_seen = 0;
  unsigned depth_seen = 0;  // all states at this depth and above were found
};

struct SpaceCount {
  std::size_t states = 0;
  std::size_t edges = 0;  // legal (state, action) pairs
  Limit limit = Limit::kNone;
};

// Counts reachable states: of the projection with its relevant actions, or of the full stored state with all actions.
// When the budget ends early the numbers are what was found until then. Throws Stopped when the meter says so.
SpaceCount count_reachable(const task::Program& program, const Budget& budget, bool projected,
                           const Progress& progress = {}, internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SPACE_H_
