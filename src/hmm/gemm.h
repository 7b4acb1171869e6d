// Products of small dense matrices: C = A B or C += A B.
//
// One kernel for every layout that is needed: B and C are row-major with rows padded to kPad numbers; A is read through
// two strides, so that a transposed A costs nothing. A tile of C stays in registers while k runs; the compiler's own
// vector types keep the code the same on every processor, and how wide they are is decided when the program runs. The
// order of additions depends on the sizes alone; results are the same on processors of one kind.
#ifndef METACTRL_SRC_HMM_GEMM_H_
#define METACTRL_SRC_HMM_GEMM_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace metactrl::hmm {

// Rows of B and C have a multiple of this many numbers.
constexpr std::size_t kPad = 16;
constexpr std::size_t padded(std::size_t size) { return (size + kPad - 1) / kPad * kPad; }

// Numbers that the processor works on at once.
template <typename Real, std::size_t kBytes>
struct VectorOf {
  using Type [[gnu::vector_size(kBytes)]] = Real;
};

// A tile of C: kRows x kVectors vectors of kBytes.
template <typename Real, std::size_t kBytes, std::size_t kRows, std::size_t kVectors>
[[gnu::always_inline]] inline void tile_of(std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column,
                                           const Real* b, std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
  using Vector = typename VectorOf<Real, kBytes>::Type;
  static_assert(sizeof(Vector) == kBytes);
  constexpr std::size_t kLanes = kBytes / sizeof(Real);
  Vector sum[kRows][kVectors] = {};
  for (std::size_t p = 0; p < k; ++p) {
    Vector row[kVectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) std::memcpy(&row[v], b + p * ldb + v * kLanes, kBytes);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRows; ++i) {
      const Real factor = a[i * a_row + p * a_column];
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] += factor * row[v];
    }
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      Real* const place = c + i * ldc + v * kLanes;
      Vector value = sum[i][v];
      if (accumulate) {
        Vector old;
        std::memcpy(&old, place, kBytes);
        value += old;
      }
      std::memcpy(place, &value, kBytes);
    }
  }
}

// What is compiled for any processor of the architecture.
struct PlainKernel {
#if defined(__aarch64__)
  static constexpr std::size_t kBytes = 16;
  static constexpr std::size_t kRows = 6;  // 24 of 32 registers
  static constexpr std::size_t kVectors = 4;
#else
  static constexpr std::size_t kBytes = 16;
  static constexpr std::size_t kRows = 4;  // 8 of 16 registers
  static constexpr std::size_t kVectors = 2;
#endif
  template <typename Real, std::size_t Rows, std::size_t Vectors = kVectors>
  static void tile(std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column, const Real* b,
                   std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
    tile_of<Real, kBytes, Rows, Vectors>(k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
  }
};

#if defined(__x86_64__)
// What processors of the last decade can do besides, asked for when the program runs.
inline bool has_avx2() {
  static const bool kHas = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return kHas;
}
inline bool has_avx512() {
  static const bool kHas = has_avx2() && __builtin_cpu_supports("avx512f") != 0;
  return kHas;
}

struct Avx2Kernel {
  static constexpr std::size_t kBytes = 32;
  static constexpr std::size_t kRows = 6;  // 12 of 16 registers
  static constexpr std::size_t kVectors = 2;
  template <typename Real, std::size_t Rows, std::size_t Vectors = kVectors>
  __attribute__((target("avx2,fma"))) static void tile(std::size_t k, const Real* a, std::size_t a_row,
                                                       std::size_t a_column, const Real* b, std::size_t ldb, Real* c,
                                                       std::size_t ldc, bool accumulate) {
    tile_of<Real, kBytes, Rows, Vectors>(k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
  }
};

struct Avx512Kernel {
  static constexpr std::size_t kBytes = 64;
  static constexpr std::size_t kRows = 12;  // 12 of 32 registers
  static constexpr std::size_t kVectors = 1;
  template <typename Real, std::size_t Rows, std::size_t Vectors = kVectors>
  __attribute__((target("avx512f,avx2,fma"))) static void tile(std::size_t k, const Real* a, std::size_t a_row,
                                                               std::size_t a_column, const Real* b, std::size_t ldb,
                                                               Real* c, std::size_t ldc, bool accumulate) {
    tile_of<Real, kBytes, Rows, Vectors>(k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
  }
};
#endif

// The last few rows.
template <typename Kernel, typename Real, std::size_t Rows>
void tail(std::size_t rows, std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column, const Real* b,
          std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
  if constexpr (Rows > 0) {
    if (rows == Rows) {
      Kernel::template tile<Real, Rows>(k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
    } else {
      tail<Kernel, Real, Rows - 1>(rows, k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
    }
  }
}

constexpr std::size_t kDepth = 256;  // so that a panel of B stays in the first cache

template <typename Kernel, typename Real>
void multiply_with(std::size_t m, std::size_t n, std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column,
                   const Real* b, std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
  constexpr std::size_t kRows = Kernel::kRows;
  constexpr std::size_t kColumns = Kernel::kVectors * Kernel::kBytes / sizeof(Real);
  static_assert(kPad % kColumns == 0);
  for (std::size_t p = 0; p < k; p += kDepth) {
    const std::size_t depth = std::min(kDepth, k - p);
    const bool add = accumulate || p > 0;
    for (std::size_t j = 0; j < n; j += kColumns) {
      const Real* panel = b + p * ldb + j;
      std::size_t i = 0;
      for (; i + kRows <= m; i += kRows) {
        Kernel::template tile<Real, kRows>(depth, a + i * a_row + p * a_column, a_row, a_column, panel, ldb,
                                           c + i * ldc + j, ldc, add);
      }
      tail<Kernel, Real, kRows - 1>(m - i, depth, a + i * a_row + p * a_column, a_row, a_column, panel, ldb,
                                    c + i * ldc + j, ldc, add);
    }
  }
}

// One row: a tile is many columns wide instead of many rows high, so that as many sums run side by side. Each sum is formed
// in the same order as above.
template <typename Kernel, typename Real>
void multiply_row_with(std::size_t n, std::size_t k, const Real* a, std::size_t a_column, const Real* b,
                       std::size_t ldb, Real* c, bool accumulate) {
  constexpr std::size_t kWide = 8 * Kernel::kBytes / sizeof(Real);
  std::size_t j = 0;
  for (; j + kWide <= n; j += kWide) {
    for (std::size_t p = 0; p < k; p += kDepth) {
      Kernel::template tile<Real, 1, 8>(std::min(kDepth, k - p), a + p * a_column, 0, a_column, b + p * ldb + j, ldb,
                                        c + j, 0, accumulate || p > 0);
    }
  }
  if (j < n) multiply_with<Kernel>(1, n - j, k, a, 0, a_column, b + j, ldb, c + j, 0, accumulate);
}

// C (m x n) = A (m x k) B (k x n), or += with `accumulate`. A's number (i, p) is a[i * a_row + p * a_column]. n is a
// multiple of kPad.
template <typename Real>
void multiply(std::size_t m, std::size_t n, std::size_t k, const Real* a, std::size_t a_row, std::size_t a_column,
              const Real* b, std::size_t ldb, Real* c, std::size_t ldc, bool accumulate) {
  if (k == 0 && !accumulate) {
    for (std::size_t i = 0; i < m; ++i) std::fill(c + i * ldc, c + i * ldc + n, Real{0});
  }
  const auto with = [&](auto kernel) {
    using Kernel = decltype(kernel);
    if (m == 1) return multiply_row_with<Kernel>(n, k, a, a_column, b, ldb, c, accumulate);
    multiply_with<Kernel>(m, n, k, a, a_row, a_column, b, ldb, c, ldc, accumulate);
  };
#if defined(__x86_64__)
  if (has_avx512()) return with(Avx512Kernel{});
  if (has_avx2()) return with(Avx2Kernel{});
#endif
  with(PlainKernel{});
}

}  // namespace metactrl::hmm

#endif  // METACTRL_SRC_HMM_GEMM_H_
