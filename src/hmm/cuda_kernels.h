// What the GPU does between two products of matrices; see cuda_engine.cc for the whole.
//
// All pointers are to the GPU's memory. A row of numbers is one sequence at one position, `hidden` long. Calls return
// at once; the work is done in order on the default stream.
#ifndef METACTRL_SRC_HMM_CUDA_KERNELS_H_
#define METACTRL_SRC_HMM_CUDA_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace metactrl::hmm {

// Up to kChunk rows of one target; `partial` is a row for their sum, or -1 when they are all of the target's.
struct Chunk {
  std::uint32_t begin;  // into the order
  std::uint32_t end;
  std::uint32_t target;
  std::int32_t partial;
};
constexpr std::uint32_t kChunk = 128;
// The partial sums [begin, end) belong to one target.
struct Join {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t target;
};

// The rows of one position that are still running, longest sequence first.
template <typename Real>
struct Layer {
  std::size_t rows;
  std::size_t hidden;
  const Real* emission;          // [symbol * hidden + state]
  const std::uint32_t* symbols;  // per row
  unsigned char* possible;       // per row
};

// values = values o e(symbol), scaled to sum 1; the logarithm of the scale is added to log_likelihood. At the first
// position, where `initial` is not null, it takes the place of the values.
template <typename Real>
void forward_rows(const Layer<Real>& layer, const Real* initial, Real* values, double* log_likelihood);

template <typename Real>
struct BackwardRows {
  std::size_t rows_ahead;  // so many rows go on behind this position
  const double* weights;   // per row
  const Real* forward;
  const Real* ahead;   // b of the rows that go on; 1 for the others
  Real* weighted;      // w of the next position, to be scaled by weight / (a . b); 0 for rows that end here
  Real* weighted_own;  // e(symbol) o b, scaled: w of this position; null at the first
  Real* posterior;     // weight a o b / (a . b)
};
template <typename Real>
void backward_rows(const Layer<Real>& layer, const BackwardRows<Real>& rows);

// counts[target] += the rows order[begin .. end) of each chunk, or partial sums of them; then the joins.
template <typename Real>
void add_rows(std::size_t hidden, const Real* rows, const std::uint32_t* order, const Chunk* chunks,
              std::size_t num_chunks, const Join* joins, std::size_t num_joins, double* partials, double* counts);

// sums[i] += parts[i] + parts[size + i] + ...
template <typename Real>
void add_parts(std::size_t size, std::size_t num_parts, const Real* parts, double* sums);

// The error of the last launch as text; null when there was none.
const char* launch_error();

}  // namespace metactrl::hmm

#endif  // METACTRL_SRC_HMM_CUDA_KERNELS_H_
