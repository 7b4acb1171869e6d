// The entries of a group are a trie, sorted. A place in it is known by the symbols that may follow and what they lead
// to, so that equal places are found in a map and computed once. With n actions left, of a place and the hidden state z
// that emits the next token, and of the state before it:
//
//     V_n(place)[z] = sum over symbols x of  e(x)[z] A_n(place behind x)[z]
//     A_n(place)[z] = sum over z' of  t(z, z') V_n(place)[z']
//
// Behind the last symbol of an entry stands one of three: the end, A = 1; the end of the turn, V = e(end); or a new entry
// with n - 1 actions left, A_n = A_(n-1)(where an entry of its group begins), through the number in front of it where
// there is one; and 0 if n is 1. Places behind which the plan is sure to close do not depend on n and are computed once.
//
// Only A is kept: behind a token x the text is worth  sum of belief(z) e(x)[z] A(z), which needs no product of matrices.
// Every row is scaled to a largest number of 1; logarithms of the scales are added up, so nothing is lost however
// unlikely a plan is. A layer's rows on one level (so many symbols from the end, at most) are multiplied with the
// transitions together.
//
// B_n grows with n and converges. When no number at the beginning of an entry changes by more than kSettled of itself,
// the layers above are taken to be the same; not with numbers in front of entries, which differ from layer to layer.
#include "decode/syntax_table.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "hmm/gemm.h"
#include "hmm/row_ops.h"
#include "support/log_math.h"
#include "support/meter.h"

namespace metactrl::decode {

namespace {

using internal::kMinusInfinity;

constexpr std::uint32_t kDone = 0;
constexpr std::uint32_t kBeforeEnd = 1;
constexpr std::uint32_t kFirstBegin = 2;  // then one for each group
constexpr std::uint32_t kNoPlace = 0xffffffffU;
constexpr std::uint32_t kRowsAtOnce = 256;
constexpr double kSettled = 1e-14;

// Scales a row to a largest number of 1; the logarithm of the factor that was taken out.
double scale_row(double* row, std::size_t width) {
  const double largest = hmm::row_ops<double>().largest(row, width);
  if (!(largest > 0)) return kMinusInfinity;
  hmm::row_ops<double>().scale(row, 1 / largest, width);
  return std::log(largest);
}

}  // namespace

class SyntaxTableBuilder {
 public:
  SyntaxTableBuilder(const TokenAutomaton& automaton, const Hmm& hmm, SyntaxTable& table, const Stop& stop)
      : automaton_(automaton), hmm_(hmm), table_(table), meter_(stop) {}

  void run(const SyntaxTable::Options& options) {
    lay_out_model();
    find_places(options.each_entry);
    order_places();
    compute_fixed();
    compute_layers(options.bytes);
  }

 private:
  using Children = std::vector<std::pair<TokenId, std::uint32_t>>;  // a symbol, and the place behind it

  void lay_out_model() {
    const std::size_t hidden = table_.hidden_;
    table_.transposed_.assign(hidden * table_.width_, 0);
    for (std::size_t from = 0; from < hidden; ++from) {
      for (std::size_t to = 0; to < hidden; ++to) {
        table_.transposed_[to * table_.width_ + from] = static_cast<double>(hmm_.transition()[from * hidden + to]);
      }
    }
  }

  std::uint32_t emission_row(TokenId symbol) {
    const auto [found, added] = rows_.emplace(symbol, static_cast<std::uint32_t>(rows_.size()));
    if (added) {
      const SymbolId emitted =
          symbol == TokenAutomaton::kEnd ? hmm_.alphabet().end : SymbolId{static_cast<std::uint32_t>(symbol)};
      const std::span<const float> emission = hmm_.emission(emitted);
      table_.emissions_.insert(table_.emissions_.end(), emission.begin(), emission.end());
      table_.emissions_.resize(rows_.size() * table_.width_);
    }
    return found->second;
  }

  // --- places --------------------------------------------------------------------------------------------------------

  void find_places(bool each_entry) {
    std::size_t symbols = 0;
    for (std::uint32_t rank = 0; rank < automaton_.num_entries(); ++rank) {
      table_.first_.push_back(symbols);
      symbols += automaton_.tokens(rank).size();
    }
    table_.together_.resize(symbols);
    const auto num_groups = static_cast<std::uint32_t>(automaton_.num_groups());
    height_.assign(kFirstBegin + num_groups, 0);
    varies_.assign(kFirstBegin, false);
    varies_.resize(height_.size(), true);
    table_.first_child_.assign(height_.size() + 1, 0);
    for (std::uint32_t group = 0; group < num_groups; ++group) {
      const auto [begin, end] = automaton_.group(group);
      table_.roots_.push_back(begin < end ? place(begin, end, 0) : kNoPlace);
    }
    num_root_places_ = height_.size();
    if (!each_entry) return;
    table_.alone_.resize(symbols);
    for (std::uint32_t rank = 0; rank < automaton_.num_entries(); ++rank) {
      const std::span<const TokenId> tokens = automaton_.tokens(rank);
      std::uint32_t behind = last_place(rank);
      for (std::size_t d = tokens.size(); d-- > 0;) {
        table_.alone_[table_.first_[rank] + d] = behind;
        if (d > 0) behind = intern({{tokens[d], behind}});
      }
    }
  }

  // Behind the last symbol of an entry.
  std::uint32_t last_place(std::uint32_t rank) const {
    const TokenAutomaton::Entry& entry = automaton_.entry(rank);
    if (entry.next != TokenAutomaton::kClose) return kFirstBegin + automaton_.group_after(entry.next);
    return automaton_.tokens(rank).back() == TokenAutomaton::kEnd ? kDone : kBeforeEnd;
  }

  // What may follow the entries [begin, end), which agree in their first `depth` symbols.
  std::uint32_t place(std::uint32_t begin, std::uint32_t end, std::uint32_t depth) {
    if (automaton_.tokens(begin).size() == depth) return last_place(begin);
    Children children;
    for (std::uint32_t rank = begin; rank < end;) {
      const TokenId symbol = automaton_.tokens(rank)[depth];
      const std::uint32_t next = automaton_.narrow(rank, end, depth, symbol).second;
      children.emplace_back(symbol, place(rank, next, depth + 1));
      for (; rank < next; ++rank) table_.together_[table_.first_[rank] + depth] = children.back().second;
    }
    return intern(std::move(children));
  }

  std::uint32_t intern(Children children) {
    const auto number = static_cast<std::uint32_t>(height_.size());
    const auto [known, added] = known_.emplace(std::move(children), number);
    if (!added) return known->second;
    meter_.piece();
    std::uint32_t height = 0;
    bool varies = false;
    for (const auto& [symbol, child] : known->first) {
      height = std::max(height, height_[child] + 1);
      varies = varies || varies_[child];
      table_.children_.push_back({emission_row(symbol), child});
    }
    table_.first_child_.push_back(static_cast<std::uint32_t>(table_.children_.size()));
    height_.push_back(height);
    varies_.push_back(varies);
    return number;
  }

  // Slots are given level by level, so that a level's rows are neighbours.
  void order_places() {
    const std::size_t num_places = height_.size();
    const auto num_groups = static_cast<std::uint32_t>(automaton_.num_groups());
    table_.slot_.assign(num_places, 0);
    table_.slot_[kDone] = SyntaxTable::kFixed;
    table_.slot_[kBeforeEnd] = SyntaxTable::kFixed | 1U;
    for (std::uint32_t group = 0; group < num_groups; ++group) table_.slot_[kFirstBegin + group] = group;
    table_.num_fixed_ = kFirstBegin;
    table_.num_varying_ = num_groups;
    for (std::uint32_t p = kFirstBegin + num_groups; p < num_places; ++p) table_.members_.push_back(p);
    // Fixed ones first, then those that beginnings of entries depend on.
    const auto kind = [&](std::uint32_t p) { return !varies_[p] ? 0 : p < num_root_places_ ? 1 : 2; };
    const auto key = [&](std::uint32_t p) { return std::make_tuple(kind(p), height_[p], p); };
    std::sort(table_.members_.begin(), table_.members_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::uint32_t i = 0; i < table_.members_.size();) {
      const std::uint32_t first = i;
      const std::uint32_t p = table_.members_[first];
      const int of_kind = kind(p);
      for (; i < table_.members_.size() && kind(table_.members_[i]) == of_kind &&
             height_[table_.members_[i]] == height_[p];
           ++i) {
        table_.slot_[table_.members_[i]] = of_kind == 0
                                               ? SyntaxTable::kFixed | static_cast<std::uint32_t>(table_.num_fixed_++)
                                               : static_cast<std::uint32_t>(table_.num_varying_++);
      }
      std::vector<SyntaxTable::Level>& levels = of_kind == 0   ? table_.fixed_levels_
                                                : of_kind == 1 ? table_.root_levels_
                                                               : table_.other_levels_;
      levels.push_back({first, i});
    }
  }

  // --- numbers -------------------------------------------------------------------------------------------------------

  void compute_fixed() {
    const std::size_t width = table_.width_;
    table_.fixed_values_.assign(table_.num_fixed_ * width, 0);
    table_.fixed_log_scales_.assign(table_.num_fixed_, 0);
    std::fill_n(table_.fixed_values_.begin(), table_.hidden_, 1.0);
    const std::uint32_t end = emission_row(TokenAutomaton::kEnd);
    std::vector<double> row(table_.emissions_.begin() + static_cast<std::ptrdiff_t>(end * width),
                            table_.emissions_.begin() + static_cast<std::ptrdiff_t>((end + 1) * width));
    table_.fixed_log_scales_[1] = scale_row(row.data(), width);
    multiply(row.data(), 1, table_.fixed_values_.data() + width);
    table_.compute_levels(table_.fixed_levels_, {}, table_.fixed_values_.data(), table_.fixed_log_scales_.data(),
                          meter_);
  }

  void multiply(const double* rows, std::size_t count, double* out) const {
    hmm::multiply(count, table_.width_, table_.hidden_, rows, table_.width_, 1, table_.transposed_.data(),
                  table_.width_, out, table_.width_, false);
  }

  void compute_layers(std::size_t bytes) {
    const std::size_t width = table_.width_;
    const std::size_t groups = automaton_.num_groups();
    // Everything before the last place of an entry with one action left.
    table_.begin_values_.assign(groups * width, 0);
    table_.begin_log_scales_.assign(groups, kMinusInfinity);
    table_.kept_ = true;
    std::vector<double> values;
    std::vector<double> log_scales;
    for (unsigned left = 1; left <= table_.horizon_; ++left) {
      const std::size_t rows = left * table_.num_varying_;
      if (table_.kept_ && rows * (width + 1) * sizeof(double) > bytes) {
        table_.kept_ = false;
        table_.values_ = {};
        table_.log_scales_ = {};
        values.resize(table_.num_varying_ * width);
        log_scales.resize(table_.num_varying_);
      }
      if (table_.kept_) {
        table_.values_.resize(rows * width);
        table_.log_scales_.resize(rows);
      }
      double* const here = table_.kept_ ? table_.values_.data() + (rows - table_.num_varying_) * width : values.data();
      double* const scales =
          table_.kept_ ? table_.log_scales_.data() + (rows - table_.num_varying_) : log_scales.data();
      table_.compute(left, !table_.kept_, here, scales, meter_);
      const SyntaxTable::Layer layer{left, here, scales};
      table_.num_layers_ = left;
      keep_roots(layer);
      if (left > 1 && automaton_.prefix(2).empty() && settled(left)) break;
      if (left < table_.horizon_) begin_again(layer);
    }
  }

  void keep_roots(const SyntaxTable::Layer& layer) {
    const std::size_t width = table_.width_;
    for (const std::uint32_t root : table_.roots_) {
      table_.root_values_.resize(table_.root_values_.size() + width);
      double log_scale = kMinusInfinity;
      if (root != kNoPlace) {
        table_.add_up(root, layer, table_.root_values_.data() + table_.root_values_.size() - width, log_scale);
      }
      table_.root_log_scales_.push_back(log_scale);
    }
  }

  bool settled(unsigned left) const {
    const std::size_t width = table_.width_;
    const std::size_t groups = table_.roots_.size();
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t now = (left - 1) * groups + group;
      const std::size_t before = now - groups;
      if (table_.root_log_scales_[now] == kMinusInfinity) continue;
      const double factor = std::exp(table_.root_log_scales_[before] - table_.root_log_scales_[now]);
      for (std::size_t z = 0; z < table_.hidden_; ++z) {
        const double value = table_.root_values_[now * width + z];
        if (value - factor * table_.root_values_[before * width + z] > kSettled * value) return false;
      }
    }
    return true;
  }

  // What the layer above finds behind its separators: the number, then an entry with the actions that this layer has.
  void begin_again(const SyntaxTable::Layer& layer) {
    const std::size_t width = table_.width_;
    const std::span<const TokenId> number = automaton_.prefix(table_.horizon_ - layer.left + 1);
    std::vector<double> row(width);
    std::vector<double> ahead(width);
    for (const std::uint32_t root : table_.roots_) {
      double log_scale = kMinusInfinity;
      if (root == kNoPlace) {
        std::fill(ahead.begin(), ahead.end(), 0.0);
      } else {
        const SyntaxTable::Row from = table_.row(layer, root);
        ahead.assign(from.values, from.values + width);
        log_scale = from.log_scale;
      }
      for (std::size_t i = number.size(); i-- > 0;) {
        const std::size_t emitted = emission_row(number[i]) * width;  // which may move the rows
        const double* const emission = table_.emissions_.data() + emitted;
        for (std::size_t z = 0; z < width; ++z) row[z] = emission[z] * ahead[z];
        log_scale += scale_row(row.data(), width);
        multiply(row.data(), 1, ahead.data());
      }
      table_.begin_values_.insert(table_.begin_values_.end(), ahead.begin(), ahead.end());
      table_.begin_log_scales_.push_back(log_scale);
    }
  }

  const TokenAutomaton& automaton_;
  const Hmm& hmm_;
  SyntaxTable& table_;
  internal::Meter meter_;
  std::map<TokenId, std::uint32_t> rows_;
  std::map<Children, std::uint32_t> known_;
  std::vector<std::uint32_t> height_;  // per place
  std::vector<bool> varies_;
  std::size_t num_root_places_ = 0;
};

SyntaxTable::SyntaxTable(const TokenAutomaton& automaton, const Hmm& hmm, const Options& options, const Stop& stop)
    : hidden_(hmm.num_hidden()), width_(hmm::padded(hidden_)), horizon_(std::max(options.horizon, 1U)) {
  SyntaxTableBuilder(automaton, hmm, *this, stop).run(options);
}

SyntaxTable::Row SyntaxTable::row(const Layer& layer, std::uint32_t place) const {
  const std::uint32_t slot = slot_[place];
  if ((slot & kFixed) == 0) return {layer.values + slot * width_, layer.log_scales[slot]};
  return {fixed_values_.data() + (slot & ~kFixed) * width_, fixed_log_scales_[slot & ~kFixed]};
}

// V of a place: scaled, into `out`, which has width_ numbers.
void SyntaxTable::add_up(std::uint32_t place, const Layer& layer, double* out, double& log_scale) const {
  const hmm::RowOps<double>& ops = hmm::row_ops<double>();
  std::fill_n(out, width_, 0.0);
  log_scale = kMinusInfinity;
  const Child* const begin = children_.data() + first_child_[place];
  const Child* const end = children_.data() + first_child_[place + 1];
  for (const Child* child = begin; child != end; ++child) {
    log_scale = std::max(log_scale, row(layer, child->place).log_scale);
  }
  if (log_scale == kMinusInfinity) return;
  for (const Child* child = begin; child != end; ++child) {
    const Row behind = row(layer, child->place);
    if (behind.log_scale == kMinusInfinity) continue;
    ops.add(out, 1, emissions_.data() + child->emission * width_, behind.values, std::exp(behind.log_scale - log_scale),
            width_);
  }
  log_scale += scale_row(out, width_);
}

void SyntaxTable::compute_levels(std::span<const Level> levels, const Layer& layer, double* values, double* log_scales,
                                 internal::Meter& meter) const {
  std::vector<double> rows;
  for (const Level& level : levels) {
    for (std::uint32_t first = level.first; first < level.end; first += kRowsAtOnce) {
      const std::uint32_t count = std::min(kRowsAtOnce, level.end - first);
      rows.resize(kRowsAtOnce * width_);
      const std::uint32_t slot = slot_[members_[first]] & ~kFixed;
      for (std::uint32_t i = 0; i < count; ++i) {
        add_up(members_[first + i], layer, rows.data() + i * width_, log_scales[slot + i]);
      }
      hmm::multiply(count, width_, hidden_, rows.data(), width_, 1, transposed_.data(), width_, values + slot * width_,
                    width_, false);
      meter.ask();
    }
  }
}

void SyntaxTable::compute(unsigned left, bool roots_only, double* values, double* log_scales,
                          internal::Meter& meter) const {
  const std::size_t groups = roots_.size();
  std::copy_n(begin_values_.data() + (left - 1) * groups * width_, groups * width_, values);
  std::copy_n(begin_log_scales_.data() + (left - 1) * groups, groups, log_scales);
  const Layer layer{left, values, log_scales};
  compute_levels(root_levels_, layer, values, log_scales, meter);
  if (!roots_only) compute_levels(other_levels_, layer, values, log_scales, meter);
}

SyntaxTable::Layer SyntaxTable::layer(unsigned left, Memory& memory) const {
  assert(left > 0);
  left = std::min(left, num_layers_);
  if (kept_) {
    const std::size_t before = (left - 1) * num_varying_;
    return {left, values_.data() + before * width_, log_scales_.data() + before};
  }
  if (memory.left != left) {
    memory.left = 0;
    memory.values.resize(num_varying_ * width_);
    memory.log_scales.resize(num_varying_);
    compute(left, false, memory.values.data(), memory.log_scales.data(), internal::no_meter());
    memory.left = left;
  }
  return {left, memory.values.data(), memory.log_scales.data()};
}

double SyntaxTable::log_rest(const Layer& layer, std::uint32_t place, std::span<const double> emitted) const {
  const Scaled sum = rest(layer, place, emitted);
  return sum.value > 0 ? std::log(sum.value) + sum.log_scale : kMinusInfinity;
}

SyntaxTable::Scaled SyntaxTable::rest(const Layer& layer, std::uint32_t place, std::span<const double> emitted) const {
  assert(emitted.size() == width_);
  const Row ahead = row(layer, place);
  return {hmm::row_ops<double>().dot(emitted.data(), ahead.values, width_), ahead.log_scale};
}

double SyntaxTable::log_begin(unsigned left, std::uint32_t group, std::span<const double> belief) const {
  assert(left > 0 && belief.size() == width_);
  const std::size_t at = (std::min(left, num_layers_) - 1) * roots_.size() + group;
  const double sum = hmm::row_ops<double>().dot(belief.data(), root_values_.data() + at * width_, width_);
  return sum > 0 ? std::log(sum) + root_log_scales_[at] : kMinusInfinity;
}

std::size_t SyntaxTable::memory_bytes() const {
  const auto numbers = [](const auto&... lists) { return (lists.capacity() + ...) * sizeof(double); };
  const auto indices = [](const auto&... lists) { return (lists.capacity() + ...) * sizeof(std::uint32_t); };
  return sizeof(*this) + first_.capacity() * sizeof(std::size_t) + children_.capacity() * sizeof(Child) +
         indices(together_, alone_, slot_, first_child_, members_, roots_) +
         numbers(transposed_, emissions_, fixed_values_, fixed_log_scales_, begin_values_, begin_log_scales_,
                 root_values_, root_log_scales_, values_, log_scales_);
}

}  // namespace metactrl::decode
