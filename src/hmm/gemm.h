// Products of small dense matrices: C = A B or C += A B.
//
// One kernel for every layout that is needed: B and C are row-major with rows padded to kPad numbers; A is read through
// two strides, so that a transposed A costs nothing. A tile of C stays in registers while k runs; the compiler's own
// vector types keep the code the same on every processor. The order of additions depends on the sizes alone.
#ifndef METACTRL_SRC_HMM_GEMM_H_
#define METACTRL_SRC_HMM_GEMM_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace metactrl::hmm {

// Rows of B and C have a multiple of this many numbers.
constexpr std::size_t kPad = 16;
constexpr std::size_t padded(std::size_t size) { return (size + kPad - 1) / kPad * kPad; }

#if defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif

// Numbers that the processor works on at once.
template <typename Real>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = float __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<double> {
  using Type = double __attribute__((vector_size(kVectorBytes)));
};

template <typename Real>
struct Kernel {
#if defined(__aarch64__)
  static constexpr std::size_t kRows = 6;  // of C in a tile; 24 of 32 registers
  static constexpr std::size_t kVectors = 4;
#else
  static constexpr std::size_t kRows = 4;  // 8 of 16 registers
  static constexpr std::size_t kVectors = 2;
#endif
  static constexpr std::size_t kLanes = kVectorBytes / sizeof(Real);
  static constexpr std::size_t kColumns = kVectors * kLanes;
  static_assert(kPad % kColumns == 0);
  using Vector = typename VectorOf<Real>::Type;

  // Rows x kColumns numbers of C.
  template <std::size_t Rows>
  static void tile(std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column, const Real* b,
                   std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
    Vector sum[Rows][kVectors] = {};
    for (std::size_t p = 0; p < k; ++p) {
      Vector row[kVectors];
      std::memcpy(row, b + p * ldb, sizeof(row));
#pragma GCC unroll 8
      for (std::size_t i = 0; i < Rows; ++i) {
        const Real factor = a[i * a_row + p * a_column];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] += factor * row[v];
      }
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Rows; ++i) {
      if (accumulate) {
        Vector old[kVectors];
        std::memcpy(old, c + i * ldc, sizeof(old));
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] += old[v];
      }
      std::memcpy(c + i * ldc, sum[i], sizeof(sum[i]));
    }
  }

  template <std::size_t Rows>
  static void tail(std::size_t rows, std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column,
                   const Real* b, std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
    if constexpr (Rows > 0) {
      if (rows == Rows) {
        tile<Rows>(k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
      } else {
        tail<Rows - 1>(rows, k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
      }
    }
  }
};

// C (m x n) = A (m x k) B (k x n), or += with `accumulate`. A's number (i, p) is a[i * a_row + p * a_column]. n is a
// multiple of kPad.
template <typename Real>
void multiply(std::size_t m, std::size_t n, std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column,
              const Real* b, std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
  using K = Kernel<Real>;
  constexpr std::size_t kDepth = 256;  // so that a panel of B stays in the first cache
  if (k == 0 && !accumulate) {
    for (std::size_t i = 0; i < m; ++i) std::fill(c + i * ldc, c + i * ldc + n, Real{0});
  }
  for (std::size_t p = 0; p < k; p += kDepth) {
    const std::size_t depth = std::min(kDepth, k - p);
    const bool add = accumulate || p > 0;
    for (std::size_t j = 0; j < n; j += K::kColumns) {
      const Real* panel = b + p * ldb + j;
      std::size_t i = 0;
      for (; i + K::kRows <= m; i += K::kRows) {
        K::template tile<K::kRows>(depth, a + i * a_row + p * a_column, a_row, a_column, panel, ldb, c + i * ldc + j,
                                   ldc, add);
      }
      K::template tail<K::kRows - 1>(m - i, depth, a + i * a_row + p * a_column, a_row, a_column, panel, ldb,
                                     c + i * ldc + j, ldc, add);
    }
  }
}

}  // namespace metactrl::hmm

#endif  // METACTRL_SRC_HMM_GEMM_H_
