// Sums over rows of numbers. Several sums run side by side, which the compiler may not do by itself: it would change the
// order of additions. The order depends on the width alone.
#ifndef METACTRL_SRC_HMM_DOT_H_
#define METACTRL_SRC_HMM_DOT_H_

#include <cstddef>
#include <cstring>

#include "hmm/gemm.h"

namespace metactrl::hmm {

// The sum of a[z] b[z] over rows of a multiple of kPad numbers.
inline double dot(const double* a, const double* b, std::size_t width) {
  using Vector = VectorOf<double, 16>::Type;
  constexpr std::size_t kSums = kPad / 2;
  Vector sums[kSums] = {};
  for (std::size_t z = 0; z < width; z += kPad) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kSums; ++i) {
      Vector x;
      Vector y;
      std::memcpy(&x, a + z + 2 * i, sizeof(x));
      std::memcpy(&y, b + z + 2 * i, sizeof(y));
      sums[i] += x * y;
    }
  }
  Vector total = {};
  for (const Vector& sum : sums) total += sum;
  return total[0] + total[1];
}

}  // namespace metactrl::hmm

#endif  // METACTRL_SRC_HMM_DOT_H_
