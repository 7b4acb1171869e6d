// How far a step goes: the same on every engine.
#ifndef METACTRL_SRC_TRAINING_STEP_SIZE_H_
#define METACTRL_SRC_TRAINING_STEP_SIZE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "metactrl/training/train.h"

namespace metactrl::training {

// From the old parameters (0) to those that the counts of step `step` speak for (1).
inline double step_size(const TrainOptions& options, std::uint64_t step) {
  return std::min(1.0, options.step_size * std::pow(static_cast<double>(step) + 1, -options.step_decay));
}

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_STEP_SIZE_H_
