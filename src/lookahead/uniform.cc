// The recursion runs forward in k, one layer of values after the other, over the part of the live graph that lies on
// plans of at most `horizon` actions, copied to compressed rows of its own. Two layers are at work; each finished value
// is written to its place in the table. In the order of ids depth ascends, so the states that layer k needs (depth <=
// horizon - k) are the first ones.
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
      : space_(space), horizon_(horizon) {
    const std::size_t alphabet = alphabet_size(program);
    weights_ = {{1, 0}};
    const auto add_symbol = [&] {
      const Number last = weights_.back();
      weights_.push_back(normalised({last.mantissa / static_cast<double>(alphabet), last.block}));
    };
    add_symbol();
    for (const task::ActionDefinition& action : program.definition().actions) {
      symbols_.push_back(static_cast<std::uint32_t>(1 + action.symbol.arguments.size()));
      while (weights_.size() <= symbols_.back()) add_symbol();
    }
    for (const Number& weight : weights_) flat_weights_.push_back(weight.mantissa);
    deep_ = weights_.back().block != 0;
    table_.horizon_ = horizon;
    table_.log_alphabet_ = std::log(static_cast<double>(alphabet));
    table_.max_symbols_ = weights_.size() - 1;
  }

  std::optional<UniformTable> run(std::size_t max_bytes) {
    if (space_.num_live() * (2 * sizeof(std::uint32_t)) > max_bytes) return std::nullopt;
    select_cone();
    if (bytes() > max_bytes) return std::nullopt;
    copy_rows();
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
    }
    return std::move(table_);
  }

 private:
  struct Layer {
    std::vector<double> mantissa;     // per cone state; 0 where the goal is too far
    std::vector<std::int32_t> block;  // per cone state; empty while not deep
  };
  struct Edge {
    std::uint32_t target;   // cone state
    std::uint32_t symbols;  // of the action
  };

  std::size_t num_states() const { return distance_.size(); }
  std::size_t num_values() const { return table_.first_value_.back(); }
  // Cone states at depth <= horizon - k.
  std::size_t num_states(unsigned k) const {
    return end_of_depth_[std::min<std::size_t>(horizon_ - k, end_of_depth_.size() - 1)];
  }

  // Everything that will be held at once.
  std::size_t bytes() const {
    const std::size_t number = sizeof(double) + (deep_ ? sizeof(std::int32_t) : 0);
    return space_.num_live() * (2 * sizeof(std::uint32_t)) +
           num_states() * (2 * sizeof(std::size_t) + sizeof(std::uint32_t) + 2 * number) + num_edges_ * sizeof(Edge) +
           num_values() * number;
  }

  // Numbers the states that lie on plans of at most horizon_ actions, and counts their values and edges.
  void select_cone() {
    const auto num_live = static_cast<std::uint32_t>(space_.num_live());
    table_.distance_.resize(num_live);
    table_.cone_.assign(num_live, UniformTable::kOutside);
    table_.first_value_.assign(1, 0);
    std::uint32_t id = 0;
    for (unsigned depth = 0; id < num_live && depth <= horizon_; ++depth) {
      for (const std::size_t end = space_.num_live_within(depth); id < end; ++id) {
        const unsigned distance = space_.distance(id);
        if (distance > horizon_ - depth) continue;
        table_.cone_[id] = static_cast<std::uint32_t>(num_states());
        distance_.push_back(distance);
        table_.first_value_.push_back(num_values() + (horizon_ - depth - distance + 1));
        for (const std::uint32_t target : space_.targets(id)) num_edges_ += on_plan(depth, target);
      }
      end_of_depth_.push_back(num_states());
    }
    if (end_of_depth_.empty()) end_of_depth_.push_back(0);
    for (id = 0; id < num_live; ++id) table_.distance_[id] = space_.distance(id);
  }

  // Does an edge from a state at `depth` to `target` lie on a plan of at most horizon_ actions?
  bool on_plan(unsigned depth, std::uint32_t target) const { return space_.distance(target) < horizon_ - depth; }

  void copy_rows() {
    edges_.reserve(num_edges_);
    first_edge_.reserve(num_states() + 1);
    std::uint32_t id = 0;
    for (unsigned depth = 0; depth < end_of_depth_.size(); ++depth) {
      for (const std::size_t end = space_.num_live_within(depth); id < end; ++id) {
        if (table_.cone_[id] == UniformTable::kOutside) continue;
        first_edge_.push_back(edges_.size());
        const auto targets = space_.targets(id);
        const auto actions = space_.actions(id);
        for (std::size_t e = 0; e < targets.size(); ++e) {
          if (on_plan(depth, targets[e])) edges_.push_back({table_.cone_[targets[e]], symbols_[actions[e]]});
        }
      }
    }
    first_edge_.push_back(edges_.size());
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
    for (std::size_t s = 0; s < num_states(k); ++s) {
      if (distance_[s] > k) continue;
      double sum = distance_[s] == 0 ? weights[1] : 0;
      for (std::size_t e = first_edge_[s]; k > 0 && e < first_edge_[s + 1]; ++e) {
        sum += weights[edges_[e].symbols] * below[edges_[e].target];
      }
      layer_.mantissa[s] = sum;
      smallest = std::min(smallest, sum);
    }
    return smallest >= kSmallest;
  }

  void deep_layer(unsigned k) {
    for (std::size_t s = 0; s < num_states(k); ++s) {
      if (distance_[s] > k) continue;
      Number sum;
      if (distance_[s] == 0) sum = weights_[1];
      for (std::size_t e = first_edge_[s]; k > 0 && e < first_edge_[s + 1]; ++e) {
        const double value = below_.mantissa[edges_[e].target];
        if (value == 0) continue;
        const Number& weight = weights_[edges_[e].symbols];
        add(sum, weight.mantissa * value, weight.block + below_.block[edges_[e].target]);
      }
      sum = normalised(sum);
      layer_.mantissa[s] = sum.mantissa;
      layer_.block[s] = sum.block;
    }
  }

  void keep_layer(unsigned k) {
    for (std::size_t s = 0; s < num_states(k); ++s) {
      if (distance_[s] > k) continue;
      const std::size_t at = table_.first_value_[s] + (k - distance_[s]);
      table_.mantissa_[at] = layer_.mantissa[s];
      if (deep_) table_.block_[at] = layer_.block[s];
    }
  }

  const Space& space_;
  const unsigned horizon_;
  UniformTable table_;
  std::vector<std::uint32_t> symbols_;   // per action: its name and its arguments
  std::vector<Number> weights_;          // per number of symbols: alphabet^-symbols; [1] is the end of the plan
  std::vector<double> flat_weights_;     // their mantissas
  bool deep_ = false;                    // blocks are in use
  std::vector<std::uint32_t> distance_;  // per cone state
  std::vector<std::size_t> end_of_depth_;
  std::vector<std::size_t> first_edge_;
  std::vector<Edge> edges_;
  std::size_t num_edges_ = 0;
  Layer below_;
  Layer layer_;
};

std::optional<UniformTable> UniformTable::build(const task::Program& program, const Space& space, unsigned horizon,
                                                std::size_t max_bytes) {
  if (horizon > space.max_depth()) return std::nullopt;
  return UniformBuilder(program, space, horizon).run(max_bytes);
}

double UniformTable::log_weight(std::uint32_t state, unsigned left) const {
  if (state >= distance_.size() || distance_[state] > left) return -std::numeric_limits<double>::infinity();
  const std::uint32_t s = cone_[state];
  if (s == kOutside) return -static_cast<double>(distance_[state] * max_symbols_ + 1) * log_alphabet_;
  const std::size_t at = std::min(first_value_[s] + (left - distance_[state]), first_value_[s + 1] - 1);
  const double log_mantissa = std::log(mantissa_[at]);
  return block_.empty() ? log_mantissa : log_mantissa + block_[at] * (kBlock * 0.69314718055994530942);
}

std::size_t UniformTable::memory_bytes() const {
  return (distance_.capacity() + cone_.capacity() + block_.capacity()) * sizeof(std::uint32_t) +
         first_value_.capacity() * sizeof(std::size_t) + mantissa_.capacity() * sizeof(double);
}

}  // namespace metactrl::lookahead
