// A row is worked on by a team of threads: a warp where rows are short, a block where they are long. Teams read a row
// twice, once for its sum and once to write; the second time it is in the cache. Sums run in an order that the sizes
// fix, so that results are the same every time.
#include <cuda_runtime.h>

#include "hmm/cuda_kernels.h"

namespace metactrl::hmm {

namespace {

constexpr int kThreads = 256;
constexpr std::size_t kWarpHidden = 512;  // longer rows take a block

template <int kTeam>
__device__ double sum_of_team(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffU, value, offset);
  if constexpr (kTeam > 32) {
    __shared__ double parts[kThreads / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int i = 0; i < kThreads / 32; ++i) value += parts[i];
  }
  return value;
}

template <int kTeam, typename Real>
__device__ Real largest_of_team(Real value) {
  for (int offset = 16; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(0xffffffffU, value, offset));
  if constexpr (kTeam > 32) {
    __shared__ Real parts[kThreads / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    for (int i = 0; i < kThreads / 32; ++i) value = max(value, parts[i]);
  }
  return value;
}

template <int kTeam, typename Real>
__global__ void forward_kernel(Layer<Real> layer, const Real* initial, Real* values, double* log_likelihood) {
  const std::size_t n = std::size_t{blockIdx.x} * (kThreads / kTeam) + threadIdx.x / kTeam;
  if (n >= layer.rows) return;  // a whole team
  const int lane = threadIdx.x % kTeam;
  const Real* const emitted = layer.emission + std::size_t{layer.symbols[n]} * layer.hidden;
  Real* const row = values + n * layer.hidden;
  const Real* const before = initial != nullptr ? initial : row;
  double sum = 0;
  for (std::size_t z = lane; z < layer.hidden; z += kTeam) {
    const Real value = before[z] * emitted[z];
    row[z] = value;
    sum += static_cast<double>(value);
  }
  sum = sum_of_team<kTeam>(sum);
  const bool possible = (initial != nullptr || layer.possible[n] != 0) && sum > 0;
  const Real scale = possible ? static_cast<Real>(1 / sum) : Real{0};
  for (std::size_t z = lane; z < layer.hidden; z += kTeam) row[z] = possible ? row[z] * scale : Real{0};
  if constexpr (kTeam > 32) __syncthreads();  // all have read possible[n]
  if constexpr (kTeam == 32) __syncwarp();
  if (lane == 0) {
    layer.possible[n] = possible ? 1 : 0;
    const double so_far = initial != nullptr ? 0 : log_likelihood[n];
    log_likelihood[n] = possible ? so_far + log(sum) : 0;
  }
}

template <int kTeam, typename Real>
__global__ void backward_kernel(Layer<Real> layer, BackwardRows<Real> rows) {
  const std::size_t n = std::size_t{blockIdx.x} * (kThreads / kTeam) + threadIdx.x / kTeam;
  if (n >= layer.rows) return;
  const int lane = threadIdx.x % kTeam;
  const bool goes_on = n < rows.rows_ahead;
  const std::size_t at = n * layer.hidden;
  const Real* const emitted = layer.emission + std::size_t{layer.symbols[n]} * layer.hidden;
  double product = 0;
  Real largest = 0;
  for (std::size_t z = lane; z < layer.hidden; z += kTeam) {
    const Real ahead = goes_on ? rows.ahead[at + z] : Real{1};
    product += static_cast<double>(rows.forward[at + z]) * static_cast<double>(ahead);
    largest = max(largest, ahead);
  }
  product = sum_of_team<kTeam>(product);
  largest = largest_of_team<kTeam>(largest);
  const bool possible = layer.possible[n] != 0 && product > 0;
  const double share = possible ? rows.weights[n] / product : 0;
  const Real scale = largest > 0 ? 1 / largest : Real{0};
  for (std::size_t z = lane; z < layer.hidden; z += kTeam) {
    const Real ahead = goes_on ? rows.ahead[at + z] : Real{1};
    rows.weighted[at + z] = goes_on ? static_cast<Real>(share) * rows.weighted[at + z] : Real{0};
    rows.posterior[at + z] =
        possible ? static_cast<Real>(share * static_cast<double>(rows.forward[at + z]) * static_cast<double>(ahead))
                 : Real{0};
    if (rows.weighted_own != nullptr) rows.weighted_own[at + z] = emitted[z] * (ahead * scale);
  }
  if constexpr (kTeam > 32) __syncthreads();
  if constexpr (kTeam == 32) __syncwarp();
  if (lane == 0 && !possible) layer.possible[n] = 0;
}

template <typename Real>
__global__ void chunk_kernel(std::size_t hidden, const Real* rows, RowLists lists, double* partials, double* counts) {
  const std::size_t z = std::size_t{blockIdx.y} * blockDim.x + threadIdx.x;
  if (z >= hidden) return;
  const Chunk chunk = lists.chunks[blockIdx.x];
  double sum = 0;
#pragma unroll 16
  for (std::uint32_t i = chunk.begin; i < chunk.end; ++i) {
    sum += static_cast<double>(rows[std::size_t{lists.order[i]} * hidden + z]);
  }
  if (chunk.partial >= 0) {
    partials[static_cast<std::size_t>(chunk.partial) * hidden + z] = sum;
  } else {
    counts[std::size_t{chunk.target} * hidden + z] += sum;
  }
}

__global__ void join_kernel(std::size_t hidden, RowLists lists, const double* partials, double* counts) {
  const std::size_t z = std::size_t{blockIdx.y} * blockDim.x + threadIdx.x;
  if (z >= hidden) return;
  const Join join = lists.joins[blockIdx.x];
  double sum = 0;
#pragma unroll 16
  for (std::uint32_t i = join.begin; i < join.end; ++i) sum += partials[std::size_t{i} * hidden + z];
  counts[std::size_t{join.target} * hidden + z] += sum;
}

template <typename Real>
__global__ void parts_kernel(std::size_t size, std::size_t num_parts, const Real* parts, double* sums) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= size) return;
  double sum = 0;
#pragma unroll 16
  for (std::size_t part = 0; part < num_parts; ++part) sum += static_cast<double>(parts[part * size + i]);
  sums[i] += sum;
}

// One block. Each thread adds up every kTotalThreads-th sequence; then the threads' sums are joined in pairs.
constexpr int kTotalThreads = 512;
__global__ void totals_kernel(BatchRows rows, const double* log_likelihood, const unsigned char* possible,
                              double* totals) {
  __shared__ double sums[4][kTotalThreads];
  double sum[4] = {};
#pragma unroll 4
  for (std::size_t n = threadIdx.x; n < rows.rows; n += kTotalThreads) {
    const double weight = rows.weights[n];
    const bool counted = possible[n] != 0;
    sum[0] += counted ? weight * log_likelihood[n] : 0;
    sum[1] += counted ? weight * rows.lengths[n] : 0;
    sum[2] += counted ? weight : 0;
    sum[3] += counted ? 0 : weight;
  }
  for (int i = 0; i < 4; ++i) sums[i][threadIdx.x] = sum[i];
  for (int half = kTotalThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      for (int i = 0; i < 4; ++i) sums[i][threadIdx.x] += sums[i][threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i) totals[i] += sums[i][0];
  }
}

unsigned blocks(std::size_t items, std::size_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace

template <typename Real>
void forward_rows(const Layer<Real>& layer, const Real* initial, Real* values, double* log_likelihood) {
  if (layer.hidden <= kWarpHidden) {
    forward_kernel<32><<<blocks(layer.rows, kThreads / 32), kThreads>>>(layer, initial, values, log_likelihood);
  } else {
    forward_kernel<kThreads><<<blocks(layer.rows, 1), kThreads>>>(layer, initial, values, log_likelihood);
  }
}

template <typename Real>
void backward_rows(const Layer<Real>& layer, const BackwardRows<Real>& rows) {
  if (layer.hidden <= kWarpHidden) {
    backward_kernel<32><<<blocks(layer.rows, kThreads / 32), kThreads>>>(layer, rows);
  } else {
    backward_kernel<kThreads><<<blocks(layer.rows, 1), kThreads>>>(layer, rows);
  }
}

template <typename Real>
void add_rows(std::size_t hidden, const Real* rows, const RowLists& lists, double* partials, double* counts) {
  constexpr unsigned kWidth = 128;
  const unsigned columns = blocks(hidden, kWidth);
  if (lists.num_chunks > 0) {
    const dim3 grid(static_cast<unsigned>(lists.num_chunks), columns);
    chunk_kernel<<<grid, kWidth>>>(hidden, rows, lists, partials, counts);
  }
  if (lists.num_joins > 0) {
    const dim3 grid(static_cast<unsigned>(lists.num_joins), columns);
    join_kernel<<<grid, kWidth>>>(hidden, lists, partials, counts);
  }
}

template <typename Real>
void add_parts(std::size_t size, std::size_t num_parts, const Real* parts, double* sums) {
  parts_kernel<<<blocks(size, kThreads), kThreads>>>(size, num_parts, parts, sums);
}

void add_totals(const BatchRows& rows, const double* log_likelihood, const unsigned char* possible, double* totals) {
  totals_kernel<<<1, kTotalThreads>>>(rows, log_likelihood, possible, totals);
}

const char* launch_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

#define METACTRL_INSTANTIATE(Real)                                                           \
  template void forward_rows<Real>(const Layer<Real>&, const Real*, Real*, double*);         \
  template void backward_rows<Real>(const Layer<Real>&, const BackwardRows<Real>&);          \
  template void add_rows<Real>(std::size_t, const Real*, const RowLists&, double*, double*); \
  template void add_parts<Real>(std::size_t, std::size_t, const Real*, double*);
METACTRL_INSTANTIATE(float)
METACTRL_INSTANTIATE(double)
#undef METACTRL_INSTANTIATE

}  // namespace metactrl::hmm
