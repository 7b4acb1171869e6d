// UniformTable: how likely a writer who picks every symbol at random finishes a plan that reaches the goal.
//
//     std::optional<UniformTable> table = UniformTable::build(program, space, horizon, max_bytes);
//     double w = table->log_weight(*space.find(projected), left);
//
// The surrogate writes an action as its name followed by one symbol per argument, and one symbol for the end of the
// plan; every symbol is drawn uniformly from an alphabet of M = action names + objects + 1. The probability that it
// reaches the goal from s with at most k actions, every one of them legal, is
//
//     V_k(s) = [s is a goal state] / M  +  sum over actions a legal in s of  M^-(1 + arity(a)) * V_(k-1)(s after a)
//     V_0(s) = [s is a goal state] / M
//
// The sum runs over goal-relevant actions. So V is exact for the projected task, in which the others do not exist, and
// a lower bound for the full task, in which a plan may also contain actions that change nothing relevant.
//
// Support never depends on these numbers: V_k(s) is positive exactly when space.distance(s) <= k, whatever its size.
// Values fall below what a double can hold (M^-120 for forty actions of two arguments), so they are stored with an
// exponent of their own where a layer needs it; each has the relative precision of a double.
//
// The table holds what decoding from the initial state with `horizon` actions can ask and has a positive answer: V_k(s)
// for distance(s) <= k <= horizon - depth(s). With a horizon a few actions beyond the shortest plan that is a small
// part of the space.
//
// Costs: a few ns per edge and layer within that cone; 8 bytes per value (12 in a table with tiny values) and 8 to 16
// per live state, plus 24 per state and 8 per edge of the cone while it is built. Immutable; may be read from many
// threads.
#ifndef METACTRL_SRC_LOOKAHEAD_UNIFORM_H_
#define METACTRL_SRC_LOOKAHEAD_UNIFORM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lookahead/cone.h"
#include "lookahead/space.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

// M: the action names of the domain, the objects, and the end of the plan.
std::size_t alphabet_size(const task::Program& program);

class UniformTable {
 public:
  // Nothing when it would take more than `max_bytes`, or when `horizon` exceeds the depth to which `space` is known.
  // The table keeps no reference to either.
  static std::optional<UniformTable> build(const task::Program& program, const Space& space, unsigned horizon,
                                           std::size_t max_bytes, internal::Meter& meter = internal::no_meter());

  // log V_left(state); -infinity exactly when space.distance(state) > left. Outside of the cone (left > horizon -
  // depth(state)), where decoding from the initial state never gets, it is a lower bound: the value with fewer actions
  // left or, where the goal is too far for that, the probability of a single plan.
  double log_weight(StateId state, unsigned left) const;

  unsigned horizon() const { return horizon_; }
  // States that lie on a plan of at most horizon() actions from the initial state.
  std::size_t num_cone_states() const { return first_value_.size() - 1; }
  std::size_t memory_bytes() const;

 private:
  friend class UniformBuilder;

  UniformTable() = default;

  unsigned horizon_ = 0;
  double log_alphabet_ = 0;
  std::size_t max_symbols_ = 1;                // of an action
  IdVector<StateId, std::uint32_t> distance_;  // of live states
  IdVector<StateId, ConeId> cone_;             // of live states; or Cone::kOutside
  // Per cone state, and one more: where V_distance(s)(s), V_distance(s)+1(s), ... begin.
  IdVector<ConeId, std::size_t> first_value_;
  std::vector<double> mantissa_;     // a value is mantissa * 2^(480 * block)
  std::vector<std::int32_t> block_;  // empty: all zero
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_UNIFORM_H_
