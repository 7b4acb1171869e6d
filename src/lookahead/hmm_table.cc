// A layer is computed in blocks of states. For a block, the actions that lead on are laid out as a trie of their
// letters: a node per (state, name), per (state, name, first argument), and so on. Sums are collected at the nodes,
// deepest level first; the nodes of a level are the rows of one matrix, and the step to the next level is one product
// with the transitions. The states themselves are the last level.
//
// A row is computed only where a row that it depends on differs from the one in the layer below; otherwise it is the
// same, to the last bit. Plans that a model would not write add less and less, so that rows settle after a few layers
// beyond the state's distance.
//
// Every row carries an exponent, is scaled to a maximum in [1/2, 1) before each product, and sums are formed at the
// larger of two exponents; what is lost is below the smallest positive number of Real relative to the row's maximum.
#include "lookahead/hmm_table.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>

#include "hmm/gemm.h"
#include "hmm/row_ops.h"
#include "support/log_math.h"

namespace metactrl::lookahead {

namespace {

using internal::kMinusInfinity;
constexpr std::size_t kBlockStates = 32;
// Below so many numbers in a layer, a second thread is not worth its start.
constexpr std::size_t kParallelNumbers = std::size_t{1} << 16U;

// Rows of numbers, each with an exponent.
template <typename Real>
class Rows {
 public:
  explicit Rows(std::size_t width) : width_(width) {}

  void clear() { exponent_.clear(); }
  std::size_t size() const { return exponent_.size(); }
  std::size_t add_row() {
    exponent_.push_back(kNoExponent);
    if (values_.size() < size() * width_) values_.resize(size() * width_);
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>((size() - 1) * width_), width_, Real{0});
    return size() - 1;
  }
  Real* row(std::size_t i) { return values_.data() + i * width_; }
  std::int32_t exponent(std::size_t i) const { return exponent_[i]; }

  // row += emitted o values * 2^exponent
  void add(std::size_t i, const Real* emitted, const Real* values, std::int32_t exponent) {
    if (exponent == kNoExponent) return;
    Real* const out = row(i);
    if (exponent_[i] == kNoExponent) exponent_[i] = exponent;  // a row of zeros takes any
    const Real keep = exponent > exponent_[i] ? power(exponent_[i] - exponent) : Real{1};
    const Real scale = exponent > exponent_[i] ? Real{1} : power(exponent - exponent_[i]);
    exponent_[i] = std::max(exponent_[i], exponent);
    ops_.add(out, keep, emitted, values, scale, width_);
  }

  // The same without emissions: a vector with exponent 0.
  void add(std::size_t i, const Real* values) {
    Real* const out = row(i);
    if (exponent_[i] > 0) {
      const Real scale = power(-exponent_[i]);
      for (std::size_t z = 0; z < width_; ++z) out[z] += values[z] * scale;
      return;
    }
    const Real scale = exponent_[i] == kNoExponent ? Real{0} : power(exponent_[i]);
    exponent_[i] = 0;
    for (std::size_t z = 0; z < width_; ++z) out[z] = out[z] * scale + values[z];
  }

  // Scales the row to a maximum in [1/2, 1).
  void normalise(std::size_t i) { exponent_[i] = normalised(row(i), exponent_[i]); }

  std::int32_t normalised(Real* values, std::int32_t exponent) const {
    if (exponent == kNoExponent) return kNoExponent;
    const Real largest = ops_.largest(values, width_);
    if (!(largest > 0)) return kNoExponent;
    int shift = 0;
    std::frexp(largest, &shift);
    if (shift != 0) {
      // In two steps where the scale alone may be out of range.
      const int first = std::abs(shift) < 100 ? -shift : -shift / 2;
      ops_.scale(values, power_of_two(first), width_);
      if (first != -shift) ops_.scale(values, power_of_two(-shift - first), width_);
    }
    return exponent + shift;
  }

 private:
  static Real power(std::int32_t exponent) { return exponent == 0 ? Real{1} : power_of_two(std::max(exponent, -2000)); }
  static Real power_of_two(int exponent) { return std::ldexp(Real{1}, exponent); }

  const hmm::RowOps<Real>& ops_ = hmm::row_ops<Real>();
  std::size_t width_;
  std::vector<Real> values_;
  std::vector<std::int32_t> exponent_;
};

// The trie of one block of states.
template <typename Real>
class Block {
 public:
  Block(const Surrogate& surrogate, const Cone& cone, std::size_t width, const std::vector<Real>& emission,
        const std::vector<Real>& transposed)
      : surrogate_(surrogate),
        cone_(cone),
        width_(width),
        emission_(emission.data()),
        transposed_(transposed.data()),
        states_(width) {}

  // Rows of layer k for the states [begin, end).
  void run(unsigned k, ConeId begin, ConeId end, const typename HmmTable<Real>::Layer& below,
           typename HmmTable<Real>::Layer& layer) {
    active_.clear();
    states_.clear();
    for (Level& level : levels_) level.clear();
    for (const ConeId id : ids(begin, end)) {
      const std::size_t s = index(id);
      layer.exponent[s] = kNoExponent;
      layer.changed[s] = 0;
      if (cone_.distance(id) > k) {
        std::fill_n(row_of(layer, s), width_, Real{0});
        continue;
      }
      if (k > 0 && !may_change(id, below)) {
        std::copy_n(row_of(below, s), width_, row_of(layer, s));
        layer.exponent[s] = below.exponent[s];
        continue;
      }
      active_.push_back(s);
      states_.add_row();
      if (k > 0) add_edges(id, below);
      if (cone_.distance(id) == 0) states_.add(active_.size() - 1, emitted(surrogate_.end_letter()));
    }
    for (std::size_t d = levels_.size(); d-- > 0;) raise(d);
    write(layer, k > 0 ? &below : nullptr);
  }

 private:
  // Nodes whose beginnings have d + 1 letters.
  struct Level {
    explicit Level(std::size_t width) : sums(width) {}
    void clear() {
      sums.clear();
      parent.clear();
      letter.clear();
    }
    Rows<Real> sums;
    std::vector<std::size_t> parent;    // a node of the level above, or an active state
    std::vector<std::uint32_t> letter;  // by which the parent reaches it
  };

  const Real* emitted(std::uint32_t letter) const { return emission_ + letter * width_; }
  Real* row_of(typename HmmTable<Real>::Layer& layer, std::size_t s) const { return layer.rows.data() + s * width_; }
  const Real* row_of(const typename HmmTable<Real>::Layer& layer, std::size_t s) const {
    return layer.rows.data() + s * width_;
  }

  // A row depends on those of the layer below that its actions lead to, and on nothing else.
  bool may_change(ConeId s, const typename HmmTable<Real>::Layer& below) const {
    const std::span<const Cone::Edge> edges = cone_.edges(s);
    return std::any_of(edges.begin(), edges.end(),
                       [&below](const Cone::Edge& edge) { return below.changed[index(edge.target)] != 0; });
  }

  void add_edges(ConeId s, const typename HmmTable<Real>::Layer& below) {
    path_.clear();
    const std::size_t state = active_.size() - 1;
    for (const Cone::Edge& edge : cone_.edges(s)) {
      const std::int32_t exponent = below.exponent[index(edge.target)];
      if (exponent == kNoExponent) continue;
      const std::span<const std::uint32_t> letters = surrogate_.letters(ActionId{edge.label});
      std::size_t known = 0;
      while (known < path_.size() && known + 1 < letters.size() && path_[known] == letters[known]) ++known;
      path_.resize(known);
      for (; known + 1 < letters.size(); ++known) {
        if (levels_.size() <= known) levels_.emplace_back(width_);
        Level& level = levels_[known];
        level.parent.push_back(known == 0 ? state : levels_[known - 1].sums.size() - 1);
        level.letter.push_back(letters[known]);
        level.sums.add_row();
        path_.push_back(letters[known]);
      }
      Rows<Real>& sums = known == 0 ? states_ : levels_[known - 1].sums;
      sums.add(known == 0 ? state : sums.size() - 1, emitted(letters.back()),
               below.rows.data() + index(edge.target) * width_, exponent);
    }
  }

  // Carries the sums of a level up to the one above.
  void raise(std::size_t d) {
    Level& level = levels_[d];
    const std::size_t count = level.sums.size();
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) level.sums.normalise(i);
    product_.resize(count * width_);
    hmm::multiply(count, width_, width_, level.sums.row(0), width_, std::size_t{1}, transposed_, width_,
                  product_.data(), width_, false);
    Rows<Real>& above = d == 0 ? states_ : levels_[d - 1].sums;
    for (std::size_t i = 0; i < count; ++i) {
      above.add(level.parent[i], emitted(level.letter[i]), product_.data() + i * width_, level.sums.exponent(i));
    }
  }

  void write(typename HmmTable<Real>::Layer& layer, const typename HmmTable<Real>::Layer* below) {
    const std::size_t count = active_.size();
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) states_.normalise(i);
    product_.resize(count * width_);
    hmm::multiply(count, width_, width_, states_.row(0), width_, std::size_t{1}, transposed_, width_, product_.data(),
                  width_, false);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t s = active_[i];
      Real* const row = row_of(layer, s);
      std::copy_n(product_.data() + i * width_, width_, row);
      layer.exponent[s] = states_.normalised(row, states_.exponent(i));
      const bool same = below != nullptr && below->exponent[s] == layer.exponent[s] &&
                        std::equal(row, row + width_, row_of(*below, s));
      layer.changed[s] = same ? 0 : 1;
    }
  }

  const Surrogate& surrogate_;
  const Cone& cone_;
  const std::size_t width_;
  const Real* emission_;
  const Real* transposed_;
  std::vector<std::size_t> active_;
  Rows<Real> states_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> path_;
  std::vector<Real> product_;
};

}  // namespace

template <typename Real>
HmmTable<Real>::HmmTable(const Surrogate& surrogate, const Space& space, unsigned horizon)
    : surrogate_(&surrogate), width_(hmm::padded(surrogate.hidden())), cone_(space, horizon) {}

template <typename Real>
std::optional<HmmTable<Real>> HmmTable<Real>::build(const Surrogate& surrogate, const Space& space, unsigned horizon,
                                                    std::size_t max_bytes, const LookaheadDevice* device,
                                                    internal::Meter& meter) {
  if (horizon > space.max_depth()) return std::nullopt;
  HmmTable table(surrogate, space, horizon);
  if (!table.choose_stride(max_bytes)) return std::nullopt;
  IdVector<ActionId, std::uint32_t> actions(surrogate.num_actions());
  for (const ActionId action : actions.all()) actions[action] = index(action);
  table.cone_.copy_rows(space, actions);
  table.compute(device, meter);
  return table;
}

// The smallest stride whose rows fit, together with two layers at work or a window.
template <typename Real>
bool HmmTable<Real>::choose_stride(std::size_t max_bytes) {
  const std::size_t row = width_ * sizeof(Real) + sizeof(std::int32_t) + 1;
  const std::size_t letters = (surrogate_->num_letters() + width_) * width_ * sizeof(Real);
  const std::size_t fixed = cone_.expected_bytes() + letters + cone_.num_states() * sizeof(std::size_t);
  for (stride_ = 1; stride_ <= std::max(1U, cone_.horizon()); ++stride_) {
    first_kept_.assign(1, 0);
    for (const ConeId s : ids<ConeId>(cone_.num_states())) {
      const std::size_t before = (cone_.distance(s) + stride_ - 1) / stride_;
      const std::size_t through = cone_.most_left(s) / stride_ + 1;
      first_kept_.push_back(first_kept_.back() + (through > before ? through - before : 0));
    }
    const std::size_t layers = std::max(2U, stride_);
    const std::size_t bytes = fixed + (first_kept_.back() + layers * cone_.num_states()) * row;
    if (bytes <= max_bytes) return true;
    if (fixed + layers * cone_.num_states() * row > max_bytes) return false;  // it only gets worse
  }
  return false;
}

template <typename Real>
void HmmTable<Real>::compute(const LookaheadDevice* device, internal::Meter& meter) {
  const std::size_t hidden = surrogate_->hidden();
  emission_.resize(surrogate_->num_letters() * width_);
  for (std::uint32_t letter = 0; letter < surrogate_->num_letters(); ++letter) {
    const std::span<const double> values = surrogate_->emission(letter);
    for (std::size_t z = 0; z < hidden; ++z) emission_[letter * width_ + z] = static_cast<Real>(values[z]);
  }
  transposed_.resize(width_ * width_);
  for (std::size_t z = 0; z < hidden; ++z) {
    for (std::size_t to = 0; to < hidden; ++to) {
      transposed_[to * width_ + z] = static_cast<Real>(surrogate_->transition()[z * hidden + to]);
    }
  }
  kept_.rows.resize(first_kept_.back() * width_);
  kept_.exponent.resize(first_kept_.back());
  if constexpr (std::is_same_v<Real, float>) {
    if (device != nullptr) {
      device->compute({cone_, *surrogate_, width_, emission_, transposed_, stride_, first_kept_}, kept_.rows,
                      kept_.exponent);
      return;
    }
  }
  Layer below;
  Layer layer;
  for (unsigned k = 0; k <= cone_.horizon(); ++k) {
    next_layer(k, below, layer, meter);
    if (k % stride_ == 0) keep(k, layer);
    std::swap(below, layer);
  }
}

template <typename Real>
void HmmTable<Real>::next_layer(unsigned k, const Layer& below, Layer& layer, internal::Meter& meter) const {
  const std::size_t count = cone_.num_states(k);
  layer.rows.resize(cone_.num_states() * width_);
  layer.exponent.resize(cone_.num_states());
  layer.changed.resize(cone_.num_states());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;  // the first one of any thread; then nobody begins another block
  const auto work = [&](internal::Meter& own) {
    try {
      Block<Real> block(*surrogate_, cone_, width_, emission_, transposed_);
      for (std::size_t begin = next++ * kBlockStates; begin < count; begin = next++ * kBlockStates) {
        own.ask();
        block.run(k, to_id<ConeId>(begin), to_id<ConeId>(std::min(count, begin + kBlockStates)), below, layer);
      }
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    if (count * width_ >= kParallelNumbers) {
      for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
        helpers.emplace_back([&work] { work(internal::no_meter()); });
      }
    }
    work(meter);
  }
  if (failure) std::rethrow_exception(failure);
}

template <typename Real>
void HmmTable<Real>::keep(unsigned k, const Layer& layer) {
  for (const ConeId id : ids<ConeId>(cone_.num_states(k))) {
    if (!has(id, k)) continue;
    const std::size_t s = index(id);
    const std::size_t at = place(id, k);
    std::copy_n(layer.rows.begin() + static_cast<std::ptrdiff_t>(s * width_), width_,
                kept_.rows.begin() + static_cast<std::ptrdiff_t>(at * width_));
    kept_.exponent[at] = layer.exponent[s];
  }
}

template <typename Real>
void HmmTable<Real>::restore(unsigned k, Layer& layer) const {
  layer.rows.assign(cone_.num_states() * width_, Real{0});
  layer.exponent.assign(cone_.num_states(), kNoExponent);
  layer.changed.assign(cone_.num_states(), 1);  // nothing is known of the one below it
  for (const ConeId id : ids<ConeId>(cone_.num_states(k))) {
    if (!has(id, k)) continue;
    const std::size_t s = index(id);
    const std::size_t at = place(id, k);
    std::copy_n(kept_.rows.begin() + static_cast<std::ptrdiff_t>(at * width_), width_,
                layer.rows.begin() + static_cast<std::ptrdiff_t>(s * width_));
    layer.exponent[s] = kept_.exponent[at];
  }
}

// The layers from the checkpoint below k up to the next one.
template <typename Real>
void HmmTable<Real>::fill_window(unsigned k, Window& window) const {
  window.first = k / stride_ * stride_;
  const unsigned last = std::min(window.first + stride_ - 1, cone_.horizon());
  window.layers.resize(last - window.first + 1);
  restore(window.first, window.layers[0]);
  for (unsigned i = 1; i < window.layers.size(); ++i) {
    next_layer(window.first + i, window.layers[i - 1], window.layers[i], internal::no_meter());
  }
}

template <typename Real>
double HmmTable<Real>::log_value(StateId state, unsigned left, std::span<const double> behind, Window& window) const {
  const ConeId s = cone_.number()[state];
  assert(holds(state, left));
  if (cone_.distance(s) > left) return kMinusInfinity;
  const Real* row = nullptr;
  std::int32_t exponent = kNoExponent;
  if (left % stride_ == 0) {
    const std::size_t at = place(s, left);
    row = kept_.rows.data() + at * width_;
    exponent = kept_.exponent[at];
  } else {
    if (window.layers.empty() || left < window.first || left - window.first >= window.layers.size()) {
      fill_window(left, window);
    }
    const Layer& layer = window.layers[left - window.first];
    row = layer.rows.data() + index(s) * width_;
    exponent = layer.exponent[index(s)];
  }
  if (exponent == kNoExponent) return kMinusInfinity;
  double sum = 0;
  for (std::size_t z = 0; z < behind.size(); ++z) sum += behind[z] * static_cast<double>(row[z]);
  if (!(sum > 0)) return kMinusInfinity;
  return std::log(sum) + exponent * 0.69314718055994530942;
}

template <typename Real>
std::size_t HmmTable<Real>::memory_bytes() const {
  const std::size_t row = width_ * sizeof(Real) + sizeof(std::int32_t);
  const std::size_t window = stride_ > 1 ? stride_ * cone_.num_states() * row : 0;
  return cone_.memory_bytes() + (emission_.capacity() + transposed_.capacity() + kept_.rows.capacity()) * sizeof(Real) +
         kept_.exponent.capacity() * sizeof(std::int32_t) + first_kept_.capacity() * sizeof(std::size_t) + window;
}

template class HmmTable<float>;
template class HmmTable<double>;

}  // namespace metactrl::lookahead
