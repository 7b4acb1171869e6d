// What is done to rows of numbers between two products (gemm.h): sums of elementwise products, the largest number, a
// scale, the product of two rows. Like the products, compiled for several kinds of processor; which is decided when the program runs.
//
//     const RowOps<float>& ops = row_ops<float>();
//     ops.add(out, 1, emitted, values, scale, width);
//
// Rows have a multiple of kPad numbers, none of them negative.
#ifndef METACTRL_SRC_HMM_ROW_OPS_H_
#define METACTRL_SRC_HMM_ROW_OPS_H_

#include <cstddef>
#include <cstring>

#include "hmm/gemm.h"

namespace metactrl::hmm {

template <typename Real>
struct RowOps {
  // out = out * keep + emitted o values * scale
  void (*add)(Real* out, Real keep, const Real* emitted, const Real* values, Real scale, std::size_t width);
  Real (*largest)(const Real* values, std::size_t width);
  void (*scale)(Real* values, Real factor, std::size_t width);
  // The sum of a[z] b[z]. The order of additions depends on the width alone, and on processors of one architecture so does the result.
  Real (*dot)(const Real* a, const Real* b, std::size_t width);
};

template <typename Real, std::size_t kBytes>
[[gnu::always_inline]] inline void add_rows_of(Real* out, Real keep, const Real* emitted, const Real* values,
                                               Real scale, std::size_t width) {
  using Vector = typename VectorOf<Real, kBytes>::Type;
  for (std::size_t z = 0; z < width; z += kBytes / sizeof(Real)) {
    Vector sum;
    Vector e;
    Vector v;
    std::memcpy(&sum, out + z, kBytes);
    std::memcpy(&e, emitted + z, kBytes);
    std::memcpy(&v, values + z, kBytes);
    sum = sum * keep + e * v * scale;
    std::memcpy(out + z, &sum, kBytes);
  }
}

template <typename Real, std::size_t kBytes>
[[gnu::always_inline]] inline Real largest_of(const Real* values, std::size_t width) {
  using Vector = typename VectorOf<Real, kBytes>::Type;
  constexpr std::size_t kLanes = kBytes / sizeof(Real);
  Vector most = {};
  for (std::size_t z = 0; z < width; z += kLanes) {
    Vector v;
    std::memcpy(&v, values + z, kBytes);
    most = v > most ? v : most;
  }
  Real result = 0;
  for (std::size_t i = 0; i < kLanes; ++i) result = most[i] > result ? most[i] : result;
  return result;
}

template <typename Real, std::size_t kBytes>
[[gnu::always_inline]] inline void scale_row_of(Real* values, Real factor, std::size_t width) {
  using Vector = typename VectorOf<Real, kBytes>::Type;
  for (std::size_t z = 0; z < width; z += kBytes / sizeof(Real)) {
    Vector v;
    std::memcpy(&v, values + z, kBytes);
    v = v * factor;
    std::memcpy(values + z, &v, kBytes);
  }
}

// One sum for each place modulo kPad, side by side; the compiler may not do that by itself, for it would change the order.
template <typename Real, std::size_t kBytes>
[[gnu::always_inline]] inline Real dot_of(const Real* a, const Real* b, std::size_t width) {
  using Vector = typename VectorOf<Real, kBytes>::Type;
  constexpr std::size_t kLanes = kBytes / sizeof(Real);
  Vector sums[kPad / kLanes] = {};
  for (std::size_t z = 0; z < width; z += kPad) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kPad / kLanes; ++i) {
      Vector x;
      Vector y;
      std::memcpy(&x, a + z + kLanes * i, kBytes);
      std::memcpy(&y, b + z + kLanes * i, kBytes);
      sums[i] += x * y;
    }
  }
  Real total[2] = {};
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kPad / 2; ++i) {
    total[0] += sums[2 * i / kLanes][2 * i % kLanes];
    total[1] += sums[2 * i / kLanes][2 * i % kLanes + 1];
  }
  return total[0] + total[1];
}

template <typename Real>
struct PlainRowOps {
  static void add(Real* out, Real keep, const Real* emitted, const Real* values, Real scale, std::size_t width) {
    add_rows_of<Real, 16>(out, keep, emitted, values, scale, width);
  }
  static Real largest(const Real* values, std::size_t width) { return largest_of<Real, 16>(values, width); }
  static void scale(Real* values, Real factor, std::size_t width) { scale_row_of<Real, 16>(values, factor, width); }
  static Real dot(const Real* a, const Real* b, std::size_t width) { return dot_of<Real, 16>(a, b, width); }
};

#if defined(__x86_64__)
template <typename Real>
struct Avx2RowOps {
  __attribute__((target("avx2,fma"))) static void add(Real* out, Real keep, const Real* emitted, const Real* values,
                                                      Real scale, std::size_t width) {
    add_rows_of<Real, 32>(out, keep, emitted, values, scale, width);
  }
  __attribute__((target("avx2,fma"))) static Real largest(const Real* values, std::size_t width) {
    return largest_of<Real, 32>(values, width);
  }
  __attribute__((target("avx2,fma"))) static void scale(Real* values, Real factor, std::size_t width) {
    scale_row_of<Real, 32>(values, factor, width);
  }
  // Without fused multiplication, which would round another way.
  __attribute__((target("avx2"))) static Real dot(const Real* a, const Real* b, std::size_t width) {
    return dot_of<Real, 32>(a, b, width);
  }
};
#endif

// What any processor of the architecture can do.
template <typename Real>
const RowOps<Real>& plain_row_ops() {
  static constexpr RowOps<Real> kPlain{PlainRowOps<Real>::add, PlainRowOps<Real>::largest, PlainRowOps<Real>::scale,
                                       PlainRowOps<Real>::dot};
  return kPlain;
}

// The best for this one.
template <typename Real>
const RowOps<Real>& row_ops() {
#if defined(__x86_64__)
  static constexpr RowOps<Real> kAvx2{Avx2RowOps<Real>::add, Avx2RowOps<Real>::largest, Avx2RowOps<Real>::scale,
                                      Avx2RowOps<Real>::dot};
  if (has_avx2()) return kAvx2;
#endif
  return plain_row_ops<Real>();
}

}  // namespace metactrl::hmm

#endif  // METACTRL_SRC_HMM_ROW_OPS_H_
