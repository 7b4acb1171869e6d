// Numbers that stand for their logarithm.
#ifndef METACTRL_SRC_SUPPORT_LOG_MATH_H_
#define METACTRL_SRC_SUPPORT_LOG_MATH_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace metactrl::internal {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();  // the logarithm of 0

// log(e^a + e^b)
inline double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kMinusInfinity ? a : a + std::log1p(std::exp(b - a));
}

// The logarithm of the sum of e^term(i) over [begin, end). `term` is called twice for each.
template <typename Term>
double log_sum(std::size_t begin, std::size_t end, const Term& term) {
  double largest = kMinusInfinity;
  for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, term(i));
  if (largest == kMinusInfinity) return kMinusInfinity;
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += std::exp(term(i) - largest);
  return largest + std::log(sum);
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_LOG_MATH_H_
