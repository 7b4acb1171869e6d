// What is the same on every engine: which symbols of a sequence a step reads, and how far it goes.
#ifndef METACTRL_SRC_TRAINING_STEP_RULES_H_
#define METACTRL_SRC_TRAINING_STEP_RULES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "metactrl/training/train.h"
#include "support/splitmix.h"

namespace metactrl::training {

constexpr std::uint32_t kUnread = 0xffffffffU;

// Appends the symbols of sequence `number`, kUnread in place of those that were dropped. The end is never dropped.
inline void read_symbols(std::span<const SymbolId> sequence, std::uint32_t number, const Dropout& dropout, SymbolId end,
                         std::vector<std::uint32_t>& out) {
  internal::Random random(dropout.seed ^ (std::uint64_t{number} + 1) * 0x9e3779b97f4a7c15ULL);
  for (const SymbolId symbol : sequence) {
    const bool drop = dropout.probability > 0 && random.uniform() < dropout.probability && symbol != end;
    out.push_back(drop ? kUnread : static_cast<std::uint32_t>(symbol));
  }
}

// From the old parameters (0) to those that the counts of step `step` speak for (1).
inline double step_size(const TrainOptions& options, std::uint64_t step) {
  return std::min(1.0, options.step_size * std::pow(static_cast<double>(step) + 1, -options.step_decay));
}

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_STEP_RULES_H_
