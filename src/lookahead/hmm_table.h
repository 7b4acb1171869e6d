// HmmTable: how likely a trained surrogate finishes a plan that reaches the goal, from every state, with every number
// of actions left, for every hidden state.
//
//     std::optional<HmmTable<float>> table = HmmTable<float>::build(surrogate, space, horizon, max_bytes);
//     HmmTable<float>::Window window;             // one per reader
//     double w = table->log_value(id, left, behind, window);
//
// V_k(s)[z] is the probability that a writer who is about to emit from hidden state z reaches the goal from s with at
// most k actions, every one of them legal:
//
//     V_k(s) = [s is a goal state] e(end)  +  sum over actions (l_0, ..., l_m) legal in s that lead to s' of
//                                             e(l_0) o T ( e(l_1) o T ( ... e(l_m) o T V_(k-1)(s') ... ))
//
// where e(l) are the emissions of a letter, T the transitions and o is elementwise. Actions with a common beginning
// share the products behind it: one H x H product for each state, each (state, name), each (state, name, first
// argument), ...; O(H) per action. With one hidden state it is the recursion of uniform.h.
//
// What is kept is T V_k(s): the value behind an action, for the hidden state that emitted the action's last letter.
// Each such row has an exponent of its own, so that nothing underflows; numbers within a row have the relative
// precision of Real.
//
// Like UniformTable it holds what decoding from the initial state can ask and has a positive answer, distance(s) <= k
// <= horizon - depth(s). Where all of that would exceed `max_bytes`, only every n-th layer is kept (checkpoints) and a
// reader's Window holds the n - 1 layers between two of them, computed when they are first asked for. Decoding asks for
// ever smaller k, so each layer is computed twice in all, and values are exactly the same.
//
// Support never depends on these numbers. Immutable; may be read from many threads, each with a Window of its own.
#ifndef METACTRL_SRC_LOOKAHEAD_HMM_TABLE_H_
#define METACTRL_SRC_LOOKAHEAD_HMM_TABLE_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lookahead/cone.h"
#include "lookahead/space.h"
#include "lookahead/surrogate.h"
#include "lookahead/table_device.h"
#include "support/meter.h"

namespace metactrl::lookahead {

// Leaves new elements as the memory has them. Tables are large, and every row that is read is written first: zeros
// would cost as much as what replaces them.
template <typename T>
struct UninitialisedAllocator : std::allocator<T> {
  template <typename U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <typename Real>
class HmmTable {
 public:
  // A layer: rows of T V_k for the states of the cone, zero where the goal is too far.
  struct Layer {
    std::vector<Real, UninitialisedAllocator<Real>> rows;  // [state * width + hidden state]
    std::vector<std::int32_t> exponent;                    // a row is rows * 2^exponent
    std::vector<std::uint8_t> changed;                     // per state: not the same as in the layer below
  };
  // The layers between two checkpoints.
  struct Window {
    unsigned first = 0;         // layers[i] is layer first + i
    std::vector<Layer> layers;  // empty: none yet
  };

  // Nothing when it would take more than `max_bytes` (a window included) with any number of checkpoints, or when
  // `horizon` exceeds the depth to which `space` is known. Keeps a reference to the surrogate, none to the space. A
  // `device` (tables of floats only) does the work instead of the CPU. It is asked between blocks of states whether to go
  // on.
  static std::optional<HmmTable> build(const Surrogate& surrogate, const Space& space, unsigned horizon,
                                       std::size_t max_bytes, const LookaheadDevice* device = nullptr,
                                       internal::Meter& meter = internal::no_meter());

  // Whether log_value can be asked: false for a state, or for more actions, than decoding from the initial state meets.
  bool holds(StateId state, unsigned left) const {
    const ConeId s = cone_.number().contains(state) ? cone_.number()[state] : Cone::kOutside;
    return s != Cone::kOutside && left <= cone_.most_left(s);
  }
  // log of sum over z of behind[z] * (T V_left(state))[z], where holds(state, left). Minus infinity when the goal is
  // too far, or the model holds every way to it impossible.
  double log_value(StateId state, unsigned left, std::span<const double> behind, Window& window) const;

  unsigned horizon() const { return cone_.horizon(); }
  // Every so many layers are kept; 1: all of them.
  unsigned stride() const { return stride_; }
  std::size_t num_cone_states() const { return cone_.num_states(); }
  // With one window.
  std::size_t memory_bytes() const;

 private:
  HmmTable(const Surrogate& surrogate, const Space& space, unsigned horizon);
  bool choose_stride(std::size_t max_bytes);
  void compute(const LookaheadDevice* device, internal::Meter& meter);
  // Layer k from layer k - 1; `below` is not looked at for k = 0.
  void next_layer(unsigned k, const Layer& below, Layer& layer, internal::Meter& meter) const;
  void keep(unsigned k, const Layer& layer);
  void restore(unsigned k, Layer& layer) const;
  void fill_window(unsigned k, Window& window) const;
  // Where the kept row of state s and layer k, a multiple of the stride, begins.
  std::size_t place(ConeId s, unsigned k) const {
    assert(has(s, k) && k % stride_ == 0);
    return first_kept_[index(s)] + (k / stride_ - (cone_.distance(s) + stride_ - 1) / stride_);
  }
  bool has(ConeId s, unsigned k) const { return cone_.distance(s) <= k && k <= cone_.most_left(s); }

  const Surrogate* surrogate_;
  std::size_t width_;             // hidden states, padded
  Cone cone_;                     // edges carry actions
  std::vector<Real> emission_;    // [letter * width + state]
  std::vector<Real> transposed_;  // of the transitions, padded
  unsigned stride_ = 1;
  std::vector<std::size_t> first_kept_;  // per cone state, and one more
  Layer kept_;                           // rows by place()
};

extern template class HmmTable<float>;
extern template class HmmTable<double>;

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_HMM_TABLE_H_
