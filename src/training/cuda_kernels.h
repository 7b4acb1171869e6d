// What the GPU does besides products of matrices; see cuda_engine.cc for the whole.
//
// All pointers are to the GPU's memory. A row of numbers is one sequence at one position, `hidden` long. Calls return
// at once; the work is done in order on the default stream.
#ifndef METACTRL_SRC_TRAINING_CUDA_KERNELS_H_
#define METACTRL_SRC_TRAINING_CUDA_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace metactrl::training {

// --- batches ---------------------------------------------------------------------------------------------------------

// The sequences of a batch, longest first. Row n of position t is row first[t] + n of all.
struct BatchRows {
  std::size_t rows = 0;                    // at the first position
  const std::uint32_t* symbols = nullptr;  // per row of every position
  const double* weights = nullptr;         // per sequence
  const std::uint32_t* lengths = nullptr;  // per sequence
  const std::uint32_t* first = nullptr;    // per position
};

// Up to kChunk rows of one target; `partial` is a row for their sum, or -1 when they are all of the target's.
struct Chunk {
  std::uint32_t begin;  // into the order
  std::uint32_t end;
  std::uint32_t target;
  std::int32_t partial;
};
constexpr std::uint32_t kChunk = 64;
// The partial sums [begin, end) belong to one target.
struct Join {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t target;
};
// Which rows of a batch are added to which target.
struct RowLists {
  const std::uint32_t* order = nullptr;
  const Chunk* chunks = nullptr;
  std::size_t num_chunks = 0;
  const Join* joins = nullptr;
  std::size_t num_joins = 0;
};

// --- the E-step, position by position (cuda_kernels.cu) --------------------------------------------------------------

// The rows of one position that are still running, longest sequence first.
template <typename Real>
struct Layer {
  std::size_t rows;
  std::size_t hidden;
  const Real* emission;          // [symbol * hidden + state]
  const std::uint32_t* symbols;  // per row
  unsigned char* possible;       // per row
};

// A number of 16 bits: the upper half of a 32-bit float, rounded.
using Bfloat16 = std::uint16_t;
// Whether rows of so many 32-bit numbers can be written in 16 bits, too.
bool has_narrow_rows(std::size_t hidden);

// values = values o e(symbol), scaled to sum 1; the logarithm of the scale is added to log_likelihood. At the first
// position, where `initial` is not null, it takes the place of the values. They are written to `narrow` as well, where
// it is not null.
template <typename Real>
void forward_rows(const Layer<Real>& layer, const Real* initial, Real* values, double* log_likelihood,
                  Bfloat16* narrow);

template <typename Real>
struct BackwardRows {
  std::size_t rows_ahead;  // so many rows go on behind this position
  const double* weights;   // per row
  const Real* forward;
  const Real* ahead;   // b of the rows that go on; 1 for the others
  Real* weighted;      // w of the next position, to be scaled by weight / (a . b); 0 for rows that end here
  Bfloat16* narrow;    // where it is not null the scaled w goes there
  Real* weighted_own;  // e(symbol) o b, scaled: w of this position; null at the first
  Real* posterior;     // weight a o b / (a . b)
};
template <typename Real>
void backward_rows(const Layer<Real>& layer, const BackwardRows<Real>& rows);

// --- the E-step, all positions at once (cuda_tiles.cu) ---------------------------------------------------------------

// Up to so many hidden states.
constexpr std::size_t kTileHidden = 128;

struct TileBatch {
  BatchRows rows;
  std::size_t hidden;
  const float* initial;
  const float* transition;
  const float* emission;
  float* forward;  // per row of every position
  double* log_likelihood;
  unsigned char* possible;
};
// What forward_rows and products do, for all positions of a batch.
void forward_tiles(const TileBatch& batch);
// What backward_rows and products do, behind forward_tiles; `weighted` of position t is in the place of t - 1.
void backward_tiles(const TileBatch& batch, float* weighted, float* posterior);

// --- sums (cuda_kernels.cu) ------------------------------------------------------------------------------------------

// counts[target] += the rows of each chunk, or partial sums of them; then the joins.
template <typename Real>
void add_rows(std::size_t hidden, const Real* rows, const RowLists& lists, double* partials, double* counts);

// to = from', both hidden x hidden.
template <typename Real>
void transpose(std::size_t hidden, const Real* from, Real* to);

// sums[i] += parts[i] + parts[size + i] + ...
template <typename Real>
void add_parts(std::size_t size, std::size_t num_parts, const Real* parts, double* sums);

// Adds to four totals over sequences: log-likelihood, symbols and weight of those that are possible, weight of the
// others.
void add_totals(const BatchRows& rows, const double* log_likelihood, const unsigned char* possible, double* totals);

// --- the M-step (cuda_maximise.cu) -----------------------------------------------------------------------------------

// As metactrl::maximise does, in 64 bits; parameters are rounded to 32 bits, whatever Real is.
template <typename Real>
struct Maximise {
  std::size_t hidden;
  std::size_t symbols;
  std::size_t end;         // the symbol
  std::size_t first_slot;  // of those that are tied, if any are
  std::size_t last_slot;   // behind them
  double pseudocount;
  double rate;           // how far to go
  bool unread;           // some symbols were not read
  const double* counts;  // [target * hidden + state]: emissions, what was not read, the first position
  const double* moves;   // of transitions, before they are multiplied by the transition itself
  Real* initial;
  Real* transition;
  Real* emission;  // and behind it 1 - that of the end
};
// Numbers that maximise_parameters() needs for itself.
std::size_t maximise_scratch(std::size_t hidden, std::size_t symbols);
template <typename Real>
void maximise_parameters(const Maximise<Real>& step, double* scratch);

// The error of the last launch as text; null when there was none.
const char* launch_error();
// Whether there are kernels for the GPU that was chosen.
cudaError_t kernels_error();

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_CUDA_KERNELS_H_
