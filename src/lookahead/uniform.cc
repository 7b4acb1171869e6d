// The recursion runs forward in k, one layer of values after the other, over the cone (cone.h). Two layers are at work;
// each finished value is written to its place in the table.
//
// Numbers. A value is m * 2^(480 b), m a double in [2^-480, 1], b an integer: the numbers of a layer that are no
// smaller than 2^-480 (about 10^-144) all have b = 0. As long as that holds, b is neither stored nor looked at, and a
// row is a plain sum of products. From the first layer on where it does not, terms are added block by block: the term w
// * v of two such numbers has a mantissa in [2^-960, 1], so a term that is three blocks below another is smaller by a
// factor of at least 2^480 and vanishes in it, and one that is one or two blocks below is scaled by 2^-480 or 2^-960,
// both of which a double holds. What is lost to gradual underflow there is below 2^-1074, against a sum of at least
// 2^-960: beyond the 53 bits of the sum.
#include "lookahead/uniform.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace metactrl::lookahead {

namespace {

constexpr int kBlock = 480;
constexpr double kSmallest = 0x1p-480;
constexpr double kUp = 0x1p+480;
constexpr double kDown[3] = {1.0, 0x1p-480, 0x1p-960};
constexpr std::int32_t kZeroBlock = std::numeric_limits<std::int32_t>::min() / 2;  // below every other

struct Number {
  double mantissa = 0;
  std::int32_t block = kZeroBlock;
};

void add(Number& sum, double mantissa, std::int32_t block) {
  if (block == sum.block) {
    sum.mantissa += mantissa;
  } else if (block < sum.block) {
    if (sum.block - block < 3) sum.mantissa += mantissa * kDown[sum.block - block];
  } else {
    const std::int32_t rise = block - sum.block;
    sum.mantissa = (rise < 3 ? sum.mantissa * kDown[rise] : 0) + mantissa;
    sum.block = block;
  }
}

// Brings a positive mantissa back to [2^-kBlock, 1]. Values above 1 occur only by rounding, or where two actions bear
// the same name.
Number normalised(Number number) {
  while (number.mantissa < kSmallest) {
    number.mantissa *= kUp;
    --number.block;
  }
  while (number.mantissa > 1 && number.block < 0) {
    number.mantissa *= kSmallest;
    ++number.block;
  }
  return number;
}

}  // namespace

std::size_t alphabet_size(const task::Program& program) {
  return program.definition().action_names.size() + program.definition().objects.size() + 1;
}

class UniformBuilder {
 public:
  UniformBuilder(const task::Program& program, const Space& space, unsigned horizon)
      : space_(space), horizon_(horizon), cone_(space, horizon) {
    const std::size_t alphabet = alphabet_size(program);
    weights_ = {{1, 0}};
    const auto add_symbol = [&] {
      const Number last = weights_.back();
      weights_.push_back(normalised({last.mantissa / static_cast<double>(alphabet), last.block}));
    };
    add_symbol();
    const task::ActionTable& actions = program.definition().actions;
    for (const ActionId action : actions.all()) {
      symbols_.push_back(static_cast<std::uint32_t>(1 + actions.arguments(action).size()));
      while (weights_.size() <= symbols_.back()) add_symbol();
    }
    for (const Number& weight : weights_) flat_weights_.push_back(weight.mantissa);
    deep_ = weights_.back().block != 0;
    table_.horizon_ = horizon;
    table_.log_alphabet_ = std::log(static_cast<double>(alphabet));
    table_.max_symbols_ = weights_.size() - 1;
  }

  std::optional<UniformTable> run(std::size_t max_bytes, internal::Meter& meter) {
    if (bytes() > max_bytes) return std::nullopt;
    number_values();
    if (bytes() > max_bytes) return std::nullopt;
    cone_.copy_rows(space_, symbols_);
    table_.mantissa_.resize(num_values());
    for (Layer* layer : {&below_, &layer_}) layer->mantissa.resize(num_states());
    if (deep_) make_blocks();
    for (std::uint32_t k = 0; k <= horizon_; ++k) {
      if (deep_ || !flat_layer(k)) {
        if (!deep_) {
          deep_ = true;
          if (bytes() > max_bytes) return std::nullopt;
          make_blocks();
        }
        deep_layer(k);
      }
      keep_layer(k);
      std::swap(below_, layer_);
      meter.step(num_states() + cone_.num_edges());
    }
    table_.cone_ = cone_.number();
    return std::move(table_);
  }

 private:
  struct Layer {
    IdVector<ConeId, double> mantissa;     // 0 where the goal is too far
    IdVector<ConeId, std::int32_t> block;  // empty while not deep
  };

  std::size_t num_states() const { return cone_.num_states(); }
  std::size_t num_values() const { return table_.first_value_.empty() ? 0 : table_.first_value_.back(); }

  // Everything that will be held at once.
  std::size_t bytes() const {
    const std::size_t number = sizeof(double) + (deep_ ? sizeof(std::int32_t) : 0);
    return space_.num_live() * (2 * sizeof(std::uint32_t)) + cone_.expected_bytes() +
           num_states() * (sizeof(std::size_t) + 2 * number) + num_values() * number;
  }

  void number_values() {
    table_.first_value_.assign(1, 0);
    for (const ConeId s : ids<ConeId>(num_states())) {
      assert(cone_.distance(s) <= cone_.most_left(s));
      table_.first_value_.push_back(num_values() + (cone_.most_left(s) - cone_.distance(s) + 1));
    }
    table_.distance_.resize(space_.num_live());
    for (const StateId id : table_.distance_.all()) table_.distance_[id] = space_.distance(id);
  }

  void make_blocks() {
    for (Layer* layer : {&below_, &layer_}) layer->block.resize(num_states());
    table_.block_.resize(num_values());
  }

  // V_k from V_(k-1). False when a value is too small for block 0.
  bool flat_layer(unsigned k) {
    const double* const below = below_.mantissa.data();
    const double* const weights = flat_weights_.data();
    double smallest = 1;
    for (const ConeId s : ids<ConeId>(cone_.num_states(k))) {
      if (cone_.distance(s) > k) continue;
      double sum = cone_.distance(s) == 0 ? weights[1] : 0;
      if (k > 0) {
        for (const Cone::Edge& edge : cone_.edges(s)) sum += weights[edge.label] * below[index(edge.target)];
      }
      layer_.mantissa[s] = sum;
      smallest = std::min(smallest, sum);
    }
    return smallest >= kSmallest;
  }

  void deep_layer(unsigned k) {
    for (const ConeId s : ids<ConeId>(cone_.num_states(k))) {
      if (cone_.distance(s) > k) continue;
      Number sum;
      if (cone_.distance(s) == 0) sum = weights_[1];
      for (const Cone::Edge& edge : cone_.edges(s)) {
        const double value = k > 0 ? below_.mantissa[edge.target] : 0;
        if (value == 0) continue;
        const Number& weight = weights_[edge.label];
        add(sum, weight.mantissa * value, weight.block + below_.block[edge.target]);
      }
      sum = normalised(sum);
      layer_.mantissa[s] = sum.mantissa;
      layer_.block[s] = sum.block;
    }
  }

  void keep_layer(unsigned k) {
    for (const ConeId s : ids<ConeId>(cone_.num_states(k))) {
      if (cone_.distance(s) > k) continue;
      const std::size_t at = table_.first_value_[s] + (k - cone_.distance(s));
      table_.mantissa_[at] = layer_.mantissa[s];
      if (deep_) table_.block_[at] = layer_.block[s];
    }
  }

  const Space& space_;
  const unsigned horizon_;
  UniformTable table_;
  Cone cone_;                                  // edges carry the number of symbols of their action
  IdVector<ActionId, std::uint32_t> symbols_;  // its name and its arguments
  std::vector<Number> weights_;                // per number of symbols: alphabet^-symbols; [1] is the end of the plan
  std::vector<double> flat_weights_;           // their mantissas
  bool deep_ = false;                          // blocks are in use
  Layer below_;
  Layer layer_;
};

std::optional<UniformTable> UniformTable::build(const task::Program& program, const Space& space, unsigned horizon,
                                                std::size_t max_bytes, internal::Meter& meter) {
  if (horizon > space.max_depth()) return std::nullopt;
  return UniformBuilder(program, space, horizon).run(max_bytes, meter);
}

double UniformTable::log_weight(StateId state, unsigned left) const {
  if (!distance_.contains(state) || distance_[state] > left) return -std::numeric_limits<double>::infinity();
  const ConeId s = cone_[state];
  if (s == Cone::kOutside) return -static_cast<double>(distance_[state] * max_symbols_ + 1) * log_alphabet_;
  const std::size_t at = std::min(first_value_[s] + (left - distance_[state]), first_value_[next_of(s)] - 1);
  const double log_mantissa = std::log(mantissa_[at]);
  return block_.empty() ? log_mantissa : log_mantissa + block_[at] * (kBlock * 0.69314718055994530942);
}

std::size_t UniformTable::memory_bytes() const {
  return (distance_.capacity() + cone_.capacity() + block_.capacity()) * sizeof(std::uint32_t) +
         first_value_.capacity() * sizeof(std::size_t) + mantissa_.capacity() * sizeof(double);
}

}  // namespace metactrl::lookahead
