// Hidden Markov models spelled out: sums over all walks, and forward-backward without scaling, in double. Slow,
// obvious, and knowing nothing of the library's implementation.
#ifndef METACTRL_TESTS_SUPPORT_NAIVE_HMM_H_
#define METACTRL_TESTS_SUPPORT_NAIVE_HMM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "metactrl/hmm.h"
#include "metactrl/training/train.h"
#include "support/random.h"

namespace metactrl::testing {

// Bit by bit, and after as many steps.
inline bool same_parameters(const Hmm& a, const Hmm& b) {
  return a.step() == b.step() && std::ranges::equal(a.initial(), b.initial()) &&
         std::ranges::equal(a.transition(), b.transition()) && std::ranges::equal(a.emission(), b.emission());
}

struct NaiveHmm {
  explicit NaiveHmm(const Hmm& hmm) : hidden(hmm.num_hidden()), symbols(hmm.num_symbols()) {
    for (std::size_t z = 0; z < hidden; ++z) {
      initial.push_back(hmm.initial()[z]);
      transition.emplace_back();
      emission.emplace_back();
      for (std::size_t to = 0; to < hidden; ++to) transition[z].push_back(hmm.transition()[z * hidden + to]);
      for (std::size_t v = 0; v < symbols; ++v) emission[z].push_back(hmm.emission()[v * hidden + z]);
    }
  }

  // p(sequence), the sum over all hidden^length walks.
  double probability(std::span<const SymbolId> sequence) const {
    double sum = 0;
    for (std::size_t z = 0; z < hidden; ++z) sum += initial[z] * walks(z, sequence);
    return sum;
  }
  double walks(std::size_t z, std::span<const SymbolId> rest) const {
    if (rest.empty()) return 1;
    const double here = emission[z][static_cast<std::size_t>(rest[0])];
    if (rest.size() == 1 || here == 0) return here;
    double sum = 0;
    for (std::size_t to = 0; to < hidden; ++to) sum += transition[z][to] * walks(to, rest.subspan(1));
    return here * sum;
  }

  // Adds the expected counts of a sequence, times its weight.
  void count(std::span<const SymbolId> sequence, double weight, ExpectedCounts& counts) const {
    const std::size_t n = sequence.size();
    std::vector<std::vector<double>> a(n, std::vector<double>(hidden));
    std::vector<std::vector<double>> b(n, std::vector<double>(hidden, 1.0));
    const auto e = [&](std::size_t z, std::size_t t) { return emission[z][static_cast<std::size_t>(sequence[t])]; };
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t z = 0; z < hidden; ++z) {
        double sum = t == 0 ? initial[z] : 0;
        for (std::size_t from = 0; t > 0 && from < hidden; ++from) sum += a[t - 1][from] * transition[from][z];
        a[t][z] = sum * e(z, t);
      }
    }
    for (std::size_t t = n - 1; t-- > 0;) {
      for (std::size_t z = 0; z < hidden; ++z) {
        b[t][z] = 0;
        for (std::size_t to = 0; to < hidden; ++to) b[t][z] += transition[z][to] * e(to, t + 1) * b[t + 1][to];
      }
    }
    double total = 0;
    for (std::size_t z = 0; z < hidden; ++z) total += a[n - 1][z];
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t z = 0; z < hidden; ++z) {
        const double share = weight * a[t][z] * b[t][z] / total;
        if (t == 0) counts.initial[z] += share;
        counts.emission[static_cast<std::size_t>(sequence[t]) * hidden + z] += share;
        for (std::size_t to = 0; t + 1 < n && to < hidden; ++to) {
          counts.transition[z * hidden + to] +=
              weight * a[t][z] * transition[z][to] * e(to, t + 1) * b[t + 1][to] / total;
        }
      }
    }
  }

  std::size_t hidden;
  std::size_t symbols;
  std::vector<double> initial;
  std::vector<std::vector<double>> transition;
  std::vector<std::vector<double>> emission;
};

// A sequence that the model writes, closed by the end; cut off (without it) after `limit` symbols.
inline std::vector<SymbolId> sample_sequence(const Hmm& hmm, Random& random, std::size_t limit) {
  const auto draw = [&](std::span<const float> row, std::size_t stride, std::size_t count) {
    double target = static_cast<double>(random.next() >> 11) * 0x1.0p-53;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      target -= row[i * stride];
      if (target < 0) return i;
    }
    return count - 1;
  };
  const std::size_t hidden = hmm.num_hidden();
  std::vector<SymbolId> sequence;
  std::size_t z = draw(hmm.initial(), 1, hidden);
  while (sequence.size() < limit) {
    sequence.push_back(
        SymbolId{static_cast<std::uint32_t>(draw(hmm.emission().subspan(z), hidden, hmm.num_symbols()))});
    if (sequence.back() == hmm.alphabet().end) break;
    z = draw(hmm.transition().subspan(z * hidden, hidden), 1, hidden);
  }
  return sequence;
}

// The numbers of all sequences.
inline std::vector<std::uint32_t> all_of(const SequenceSet& sequences) {
  std::vector<std::uint32_t> all(sequences.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

inline SequenceSet sample_sequences(const Hmm& hmm, std::size_t count, std::uint64_t seed, std::size_t limit = 24) {
  Random random(seed);
  SequenceSet result;
  for (std::size_t i = 0; i < count; ++i) result.add(sample_sequence(hmm, random, limit));
  return result;
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_NAIVE_HMM_H_
