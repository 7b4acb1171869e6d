// The M-step: counts become parameters, in the GPU's memory. What it computes is metactrl::maximise (train.cc).
//
// Rows of transitions lie together: a block has one, and the last block has the first position. Emissions lie by
// symbol, and are normalised by state, that is by column: symbols are cut into slabs, each thread adds up one column of
// a slab, the sums of the slabs are added up in their order, and a second pass over all slabs writes the parameters.
// Neighbours in a warp have neighbouring columns. Everything is bound by memory:
//
//     read    16 bytes per emission, 8 for each pass; 20 where symbols were not read, or steps go only part of the way
//     written 4
//
// No sum depends on the order in which blocks run.
#include <cuda_runtime.h>

#include "training/cuda_kernels.h"

namespace metactrl::training {

namespace {

constexpr int kThreads = 128;
constexpr std::size_t kSlabs = 512;    // at most
constexpr std::size_t kSlabRows = 16;  // at least

std::size_t slab_rows(std::size_t symbols) {
  const std::size_t rows = (symbols + kSlabs - 1) / kSlabs;
  return rows > kSlabRows ? rows : kSlabRows;
}
std::size_t num_slabs(std::size_t symbols) { return (symbols + slab_rows(symbols) - 1) / slab_rows(symbols); }

unsigned blocks(std::size_t items) { return static_cast<unsigned>((items + kThreads - 1) / kThreads); }

// In the scratch memory: per column its sum, the mean of its slots, the probability of anything but the end; then
// per slab and column the sum, and per slab and column that of the slots.
struct Sums {
  double* sum;
  double* slot;
  double* readable;
  double* slab_sums;
  double* slab_slots;
};

Sums sums_in(double* scratch, std::size_t hidden, std::size_t symbols) {
  double* const behind = scratch + 3 * hidden;
  return {scratch, scratch + hidden, scratch + 2 * hidden, behind, behind + num_slabs(symbols) * hidden};
}

// Parameters are 32-bit wherever a model is kept.
template <typename Real>
__device__ Real rounded(double value) {
  return static_cast<Real>(static_cast<float>(value));
}

// The same in all threads; in an order that is fixed.
__device__ double sum_of_block(double value) {
  __shared__ double parts[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffU, value, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (int i = 0; i < kThreads / 32; ++i) value += parts[i];
  return value;
}

template <typename Real>
__global__ void rows_kernel(Maximise<Real> step) {
  const std::size_t hidden = step.hidden;
  const std::size_t from = blockIdx.x;
  const bool is_transition = from < hidden;
  Real* const row = is_transition ? step.transition + from * hidden : step.initial;
  const double* const counts = is_transition ? step.moves + from * hidden : step.counts + (step.symbols + 1) * hidden;
  const auto count = [&](std::size_t i) { return is_transition ? counts[i] * static_cast<double>(row[i]) : counts[i]; };
  double sum = 0;
#pragma unroll 4
  for (std::size_t i = threadIdx.x; i < hidden; i += kThreads) sum += count(i);
  sum = sum_of_block(sum) + step.pseudocount;
  const double extra = step.pseudocount / static_cast<double>(hidden);
#pragma unroll 4
  for (std::size_t i = threadIdx.x; i < hidden; i += kThreads) {
    const double old = row[i];
    const double fresh = sum > 0 ? (count(i) + extra) / sum : old;
    row[i] = rounded<Real>((1 - step.rate) * old + step.rate * fresh);
  }
}

// Up to kAhead symbols of a state are read before the first is written, to keep the memory busy.
constexpr int kAhead = 8;

// What was counted for symbols first .. first + kAhead - 1 in a state, each with its share of what was not read; as far
// as they lie before `last`.
template <typename Real>
__device__ void read_values(const Maximise<Real>& step, std::size_t first, std::size_t last, std::size_t z,
                            double unread, double readable, double (&values)[kAhead]) {
#pragma unroll
  for (int i = 0; i < kAhead; ++i) values[i] = first + i < last ? step.counts[(first + i) * step.hidden + z] : 0;
  if (!step.unread || !(readable > 0)) return;
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (first + i >= last || first + i == step.end) continue;
    values[i] += unread * static_cast<double>(step.emission[(first + i) * step.hidden + z]) / readable;
  }
}

template <typename Real>
__device__ bool is_slot(const Maximise<Real>& step, std::size_t symbol) {
  return symbol >= step.first_slot && symbol < step.last_slot;
}

template <typename Real>
__global__ void slab_sums_kernel(Maximise<Real> step, std::size_t rows, Sums sums) {
  const std::size_t z = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (z >= step.hidden) return;
  const std::size_t first = blockIdx.y * rows;
  const std::size_t last = first + rows < step.symbols ? first + rows : step.symbols;
  const double readable = 1.0 - static_cast<double>(step.emission[step.end * step.hidden + z]);
  const double unread = step.counts[step.symbols * step.hidden + z];
  double sum = 0;
  double slots = 0;
  double values[kAhead];
  for (std::size_t symbol = first; symbol < last; symbol += kAhead) {
    read_values(step, symbol, last, z, unread, readable, values);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      sum += values[i];  // 0 behind the last
      if (is_slot(step, symbol + i)) slots += values[i];
    }
  }
  sums.slab_sums[blockIdx.y * step.hidden + z] = sum;
  sums.slab_slots[blockIdx.y * step.hidden + z] = slots;
}

template <typename Real>
__global__ void sums_kernel(Maximise<Real> step, std::size_t slabs, Sums sums) {
  const std::size_t z = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (z >= step.hidden) return;
  double sum = 0;
  double slots = 0;
#pragma unroll 8
  for (std::size_t slab = 0; slab < slabs; ++slab) {
    sum += sums.slab_sums[slab * step.hidden + z];
    slots += sums.slab_slots[slab * step.hidden + z];
  }
  sums.sum[z] = sum + step.pseudocount;
  const std::size_t num_slots = step.last_slot - step.first_slot;
  sums.slot[z] = num_slots > 1 ? slots / static_cast<double>(num_slots) : slots;
  sums.readable[z] = 1.0 - static_cast<double>(step.emission[step.end * step.hidden + z]);
}

template <typename Real>
__global__ void emission_kernel(Maximise<Real> step, std::size_t rows, Sums sums) {
  const std::size_t z = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (z >= step.hidden) return;
  const std::size_t first = blockIdx.y * rows;
  const std::size_t last = first + rows < step.symbols ? first + rows : step.symbols;
  const double sum = sums.sum[z];
  const double slot = sums.slot[z];
  const double readable = sums.readable[z];  // the row of the end may be another one by now
  const double unread = step.counts[step.symbols * step.hidden + z];
  const double extra = step.pseudocount / static_cast<double>(step.symbols);
  double values[kAhead];
  for (std::size_t symbol = first; symbol < last; symbol += kAhead) {
    read_values(step, symbol, last, z, unread, readable, values);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (symbol + i >= last) break;
      const std::size_t at = (symbol + i) * step.hidden + z;
      const double count = is_slot(step, symbol + i) ? slot : values[i];
      double value = 0;
      if (step.rate == 1 && sum > 0) {
        value = (count + extra) / sum;
      } else {
        const double old = step.emission[at];
        value = (1 - step.rate) * old + step.rate * (sum > 0 ? (count + extra) / sum : old);
      }
      const Real result = rounded<Real>(value);
      step.emission[at] = result;
      if (symbol + i == step.end) step.emission[step.symbols * step.hidden + z] = Real{1} - result;
    }
  }
}

}  // namespace

std::size_t maximise_scratch(std::size_t hidden, std::size_t symbols) { return (3 + 2 * num_slabs(symbols)) * hidden; }

template <typename Real>
void maximise_parameters(const Maximise<Real>& step, double* scratch) {
  const Sums sums = sums_in(scratch, step.hidden, step.symbols);
  const std::size_t rows = slab_rows(step.symbols);
  const std::size_t slabs = num_slabs(step.symbols);
  const dim3 grid(blocks(step.hidden), static_cast<unsigned>(slabs));
  rows_kernel<<<static_cast<unsigned>(step.hidden + 1), kThreads>>>(step);
  slab_sums_kernel<<<grid, kThreads>>>(step, rows, sums);
  sums_kernel<<<blocks(step.hidden), kThreads>>>(step, slabs, sums);
  emission_kernel<<<grid, kThreads>>>(step, rows, sums);
}

template void maximise_parameters<float>(const Maximise<float>&, double*);
template void maximise_parameters<double>(const Maximise<double>&, double*);

}  // namespace metactrl::training
