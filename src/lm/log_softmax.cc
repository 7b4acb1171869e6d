// A row holds 128K numbers and the C library's exp takes some nanoseconds for each, which would make the normaliser
// dearer than the model. So: exp by splitting x/ln 2 into an integer, which goes into the exponent's bits, and a
// fraction, by a polynomial; four at a time through the compiler's vector type, which every machine of interest has as
// one register.
#include "lm/log_softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace metactrl::lm {

namespace {

constexpr std::size_t kLanes = 4;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

// exp(x) for x <= 0; 0 below -87 and for NaN.
inline Floats exp_nonpositive(Floats x) {
  constexpr float kLowest = -87.0F;
  const Ints counts = x >= kLowest;  // false for NaN
  const Floats clamped = counts ? x : Floats{} + kLowest;
  const Floats scaled = clamped * 1.44269504F;
  // Rounds to the nearest integer: at this magnitude a float has no fraction bits left.
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23
  const Floats rounded = (scaled + kShift) - kShift;
  const Ints exponent = __builtin_convertvector(rounded, Ints);
  // ln 2 in two pieces, so that the product is exact.
  Floats r = clamped - rounded * 0.693145752F;
  r = r - rounded * 1.42860677e-6F;
  Floats p = r * (1.0F / 720.0F) + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const Ints power = (exponent + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &power, sizeof(scale));
  return counts ? p * scale : Floats{};
}

Floats load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof(values));
  return values;
}

// NaN is larger than nothing.
Floats larger(Floats values, Floats best) { return values > best ? values : best; }

float largest_of(std::span<const float> logits) {
  // Four at a time: each waits for its own last comparison only.
  const Floats lowest = Floats{} - std::numeric_limits<float>::infinity();
  std::array<Floats, 4> best = {lowest, lowest, lowest, lowest};
  std::size_t i = 0;
  for (; i + best.size() * kLanes <= logits.size(); i += best.size() * kLanes) {
    for (std::size_t k = 0; k < best.size(); ++k) best[k] = larger(load(logits.data() + i + k * kLanes), best[k]);
  }
  for (; i + kLanes <= logits.size(); i += kLanes) best[0] = larger(load(logits.data() + i), best[0]);
  const Floats all = larger(larger(best[0], best[1]), larger(best[2], best[3]));
  float result = -std::numeric_limits<float>::infinity();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (all[lane] > result) result = all[lane];
  }
  for (; i < logits.size(); ++i) {
    if (logits[i] > result) result = logits[i];
  }
  return result;
}

}  // namespace

Largest largest(std::span<const float> logits) {
  // By blocks, so that only the first one that has it is searched.
  constexpr std::size_t kBlock = 1024;
  Largest result{-std::numeric_limits<float>::infinity(), 0};
  std::size_t block = 0;
  for (std::size_t i = 0; i < logits.size(); i += kBlock) {
    const float value = largest_of(logits.subspan(i, std::min(kBlock, logits.size() - i)));
    if (value <= result.value) continue;
    result.value = value;
    block = i;
  }
  if (!std::isinf(result.value) || result.value > 0) {
    const auto found = std::find(logits.begin() + static_cast<std::ptrdiff_t>(block), logits.end(), result.value);
    result.index = static_cast<std::size_t>(found - logits.begin());
  }
  return result;
}

double log_sum_exp(std::span<const float> logits) {
  const float top = largest_of(logits);
  if (std::isinf(top)) return top;
  // Short partial sums in float, added up in double: 128K terms lose no digits.
  constexpr std::size_t kBlock = 64 * kLanes;
  double total = 0;
  std::size_t i = 0;
  while (i + kLanes <= logits.size()) {
    Floats sum{};
    const std::size_t end = std::min(logits.size(), i + kBlock);
    for (; i + kLanes <= end; i += kLanes) sum += exp_nonpositive(load(logits.data() + i) - top);
    for (std::size_t lane = 0; lane < kLanes; ++lane) total += static_cast<double>(sum[lane]);
  }
  for (; i < logits.size(); ++i) {
    if (logits[i] > -std::numeric_limits<float>::infinity()) total += std::exp(static_cast<double>(logits[i]) - top);
  }
  return static_cast<double>(top) + std::log(total);
}

}  // namespace metactrl::lm
