// Entries of a group are a trie, sorted. It is walked from its leaves up; a node is known by the symbols that may
// follow and what they lead to, so that equal nodes are found in a map and computed once:
//
//     B(node)[z] = sum over symbols x of  e(x)[z] (T B(node behind x))[z],      B(end of an entry) = 1
#include "decode/entry_totals.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "support/log_math.h"

namespace metactrl::decode {

namespace {

using internal::kMinusInfinity;

}  // namespace

class EntryTotalsBuilder {
 public:
  EntryTotalsBuilder(const TokenAutomaton& automaton, const Hmm& hmm, EntryTotals& totals)
      : automaton_(automaton), hmm_(hmm), totals_(totals) {}

  void run() {
    std::size_t symbols = 0;
    for (std::uint32_t rank = 0; rank < automaton_.num_entries(); ++rank) {
      totals_.first_.push_back(symbols);
      symbols += automaton_.tokens(rank).size();
    }
    totals_.place_.resize(symbols);
    // Number 0 is the end of an entry.
    totals_.values_.assign(totals_.hidden_, 1);
    totals_.log_scale_.assign(1, 0);
    ahead_.assign(totals_.hidden_, 1);
    for (std::uint32_t group = 0; group < automaton_.num_groups(); ++group) {
      const auto [begin, end] = automaton_.group(group);
      if (begin < end) node(begin, end, 0);
    }
  }

 private:
  using Children = std::vector<std::pair<TokenId, std::uint32_t>>;  // a symbol, and the number of what follows it

  // The number of the continuations of the entries [begin, end), which agree in their first `depth` symbols.
  std::uint32_t node(std::uint32_t begin, std::uint32_t end, std::uint32_t depth) {
    if (automaton_.tokens(begin).size() == depth) return 0;
    Children children;
    for (std::uint32_t rank = begin; rank < end;) {
      const TokenId symbol = automaton_.tokens(rank)[depth];
      const std::uint32_t next = automaton_.narrow(rank, end, depth, symbol).second;
      children.emplace_back(symbol, node(rank, next, depth + 1));
      for (; rank < next; ++rank) totals_.place_[totals_.first_[rank] + depth] = children.back().second;
    }
    const auto number = static_cast<std::uint32_t>(totals_.log_scale_.size());
    const auto [place, added] = known_.emplace(std::move(children), number);
    if (added) compute(place->first);
    return place->second;
  }

  void compute(const Children& children) {
    const std::size_t hidden = totals_.hidden_;
    double log_scale = kMinusInfinity;
    for (const auto& [symbol, child] : children) log_scale = std::max(log_scale, totals_.log_scale_[child]);
    std::vector<double> values(hidden);
    for (const auto& [symbol, child] : children) {
      const double scale = std::exp(totals_.log_scale_[child] - log_scale);
      const SymbolId emitted =
          symbol == TokenAutomaton::kEnd ? hmm_.alphabet().end : SymbolId{static_cast<std::uint32_t>(symbol)};
      const std::span<const float> emission = hmm_.emission(emitted);
      for (std::size_t z = 0; z < hidden; ++z) {
        values[z] += scale * static_cast<double>(emission[z]) * ahead_[child * hidden + z];
      }
    }
    const double largest = *std::max_element(values.begin(), values.end());
    if (largest > 0) {
      for (double& value : values) value /= largest;
      log_scale += std::log(largest);
    }
    totals_.values_.insert(totals_.values_.end(), values.begin(), values.end());
    totals_.log_scale_.push_back(log_scale);
    for (std::size_t z = 0; z < hidden; ++z) {
      const float* const row = hmm_.transition().data() + z * hidden;
      double sum = 0;
      for (std::size_t to = 0; to < hidden; ++to) sum += static_cast<double>(row[to]) * values[to];
      ahead_.push_back(sum);
    }
  }

  const TokenAutomaton& automaton_;
  const Hmm& hmm_;
  EntryTotals& totals_;
  std::map<Children, std::uint32_t> known_;
  std::vector<double> ahead_;  // T B of each, with its scale
};

EntryTotals::EntryTotals(const TokenAutomaton& automaton, const Hmm& hmm) : hidden_(hmm.num_hidden()) {
  EntryTotalsBuilder(automaton, hmm, *this).run();
}

double EntryTotals::log_rest(std::uint32_t rank, std::size_t depth, std::span<const double> belief) const {
  assert(belief.size() == hidden_);
  const std::uint32_t place = place_[first_[rank] + depth];
  const double* const values = values_.data() + place * hidden_;
  double sum = 0;
  for (std::size_t z = 0; z < hidden_; ++z) sum += belief[z] * values[z];
  return sum > 0 ? std::log(sum) + log_scale_[place] : kMinusInfinity;
}

}  // namespace metactrl::decode
