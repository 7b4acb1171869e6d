// A row is worked on by a team of threads: a warp where rows are short, a block where they are long. Teams read a row
// twice, once for its sum and once to write; the second time it is in the cache. Long rows of 32-bit numbers are read
// once, 16 bytes at a time, and kept in registers. Sums run in an order that the sizes fix, so that results are the
// same every time.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "training/cuda_kernels.h"

namespace metactrl::training {

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

// --- long rows of 32-bit numbers -------------------------------------------------------------------------------------

constexpr int kVectorsOfRow = 8;  // at most, of four numbers, per thread
constexpr std::size_t kLongestRow = std::size_t{kVectorsOfRow} * 4 * kThreads;

// Threads have vectors threadIdx.x, threadIdx.x + kThreads, ... of a row of `vectors`.
template <int kVectors>
struct RowPart {
  float4 at[kVectors];

  __device__ void load(const float* row, unsigned vectors) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const unsigned v = threadIdx.x + i * kThreads;
      at[i] = v < vectors ? reinterpret_cast<const float4*>(row)[v] : make_float4(0, 0, 0, 0);
    }
  }
  // row = value(i) of every vector.
  template <typename Value>
  __device__ static void store(float* row, unsigned vectors, const Value& value) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const unsigned v = threadIdx.x + i * kThreads;
      if (v < vectors) reinterpret_cast<float4*>(row)[v] = value(i);
    }
  }
  template <typename Value>
  __device__ static void store(Bfloat16* row, unsigned vectors, const Value& value) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const unsigned v = threadIdx.x + i * kThreads;
      if (v >= vectors) continue;
      const float4 wide = value(i);
      reinterpret_cast<ushort4*>(row)[v] = make_ushort4(
          __bfloat16_as_ushort(__float2bfloat16_rn(wide.x)), __bfloat16_as_ushort(__float2bfloat16_rn(wide.y)),
          __bfloat16_as_ushort(__float2bfloat16_rn(wide.z)), __bfloat16_as_ushort(__float2bfloat16_rn(wide.w)));
    }
  }
};

__device__ float4 times(float4 a, float4 b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
__device__ float4 times(float4 a, float b) { return make_float4(a.x * b, a.y * b, a.z * b, a.w * b); }
__device__ double dot(float4 a, float4 b) {
  return (static_cast<double>(a.x) * static_cast<double>(b.x) + static_cast<double>(a.y) * static_cast<double>(b.y)) +
         (static_cast<double>(a.z) * static_cast<double>(b.z) + static_cast<double>(a.w) * static_cast<double>(b.w));
}
__device__ double sum_of(float4 a) {
  return (static_cast<double>(a.x) + static_cast<double>(a.y)) + (static_cast<double>(a.z) + static_cast<double>(a.w));
}

template <int kVectors>
__global__ void __launch_bounds__(kThreads) forward_long_kernel(Layer<float> layer, const float* initial, float* values,
                                                                double* log_likelihood, Bfloat16* narrow) {
  const std::size_t n = blockIdx.x;
  const auto vectors = static_cast<unsigned>(layer.hidden / 4);
  float* const row = values + n * layer.hidden;
  RowPart<kVectors> value;
  RowPart<kVectors> emitted;
  value.load(initial != nullptr ? initial : row, vectors);
  emitted.load(layer.emission + std::size_t{layer.symbols[n]} * layer.hidden, vectors);
  const bool was_possible = initial != nullptr || layer.possible[n] != 0;
  double sum = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    value.at[i] = times(value.at[i], emitted.at[i]);
    sum += sum_of(value.at[i]);
  }
  sum = sum_of_team<kThreads>(sum);  // all have read possible[n] behind it
  const bool possible = was_possible && sum > 0;
  const float scale = possible ? static_cast<float>(1 / sum) : 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    value.at[i] = possible ? times(value.at[i], scale) : make_float4(0, 0, 0, 0);
  }
  RowPart<kVectors>::store(row, vectors, [&](int i) { return value.at[i]; });
  if (narrow != nullptr) {
    RowPart<kVectors>::store(narrow + n * layer.hidden, vectors, [&](int i) { return value.at[i]; });
  }
  if (threadIdx.x == 0) {
    layer.possible[n] = possible ? 1 : 0;
    const double so_far = initial != nullptr ? 0 : log_likelihood[n];
    log_likelihood[n] = possible ? so_far + log(sum) : 0;
  }
}

template <int kVectors>
__global__ void __launch_bounds__(kThreads) backward_long_kernel(Layer<float> layer, BackwardRows<float> rows) {
  const std::size_t n = blockIdx.x;
  const auto vectors = static_cast<unsigned>(layer.hidden / 4);
  const bool goes_on = n < rows.rows_ahead;
  const std::size_t at = n * layer.hidden;
  const bool was_possible = layer.possible[n] != 0;
  RowPart<kVectors> behind;
  RowPart<kVectors> ahead;
  behind.load(rows.forward + at, vectors);
  if (goes_on) {
    ahead.load(rows.ahead + at, vectors);
  } else {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) ahead.at[i] = make_float4(1, 1, 1, 1);
  }
  double product = 0;
  float largest = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    product += dot(behind.at[i], ahead.at[i]);  // behind is 0 behind its end
    largest = fmaxf(largest, fmaxf(fmaxf(ahead.at[i].x, ahead.at[i].y), fmaxf(ahead.at[i].z, ahead.at[i].w)));
  }
  product = sum_of_team<kThreads>(product);
  largest = largest_of_team<kThreads>(largest);
  const bool possible = was_possible && product > 0;
  const double share = possible ? rows.weights[n] / product : 0;
  const auto posterior = [&](float a, float b) {
    return possible ? static_cast<float>(share * static_cast<double>(a) * static_cast<double>(b)) : 0.0F;
  };
  RowPart<kVectors>::store(rows.posterior + at, vectors, [&](int i) {
    const float4 a = behind.at[i];
    const float4 b = ahead.at[i];
    return make_float4(posterior(a.x, b.x), posterior(a.y, b.y), posterior(a.z, b.z), posterior(a.w, b.w));
  });
  // What lies in `behind` is not needed any more.
  if (goes_on) behind.load(rows.weighted + at, vectors);
  const auto weighted = [&](int i) {
    return goes_on ? times(behind.at[i], static_cast<float>(share)) : make_float4(0, 0, 0, 0);
  };
  if (rows.narrow != nullptr) {
    RowPart<kVectors>::store(rows.narrow + at, vectors, weighted);
  } else {
    RowPart<kVectors>::store(rows.weighted + at, vectors, weighted);
  }
  if (rows.weighted_own != nullptr) {
    behind.load(layer.emission + std::size_t{layer.symbols[n]} * layer.hidden, vectors);
    const float scale = largest > 0 ? 1 / largest : 0;
    RowPart<kVectors>::store(rows.weighted_own + at, vectors,
                             [&](int i) { return times(behind.at[i], times(ahead.at[i], scale)); });
  }
  if (threadIdx.x == 0 && !possible) layer.possible[n] = 0;
}

// Calls launch with as many vectors per thread as the rows need, as a type.
template <int kVectors>
struct Vectors {
  static constexpr int kCount = kVectors;
};
template <typename Launch>
void with_vectors(std::size_t hidden, const Launch& launch) {
  const std::size_t vectors = (hidden / 4 + kThreads - 1) / kThreads;
  if (vectors <= 1) {
    launch(Vectors<1>());
  } else if (vectors <= 2) {
    launch(Vectors<2>());
  } else if (vectors <= 4) {
    launch(Vectors<4>());
  } else {
    launch(Vectors<kVectorsOfRow>());
  }
}

// --- sums ------------------------------------------------------------------------------------------------------------

// A thread has kColumns columns, and reads kAhead rows before it adds up the first.
template <typename Real, int kColumns, int kAhead>
__global__ void chunk_kernel(std::size_t hidden, const Real* rows, RowLists lists, double* partials, double* counts) {
  struct alignas(kColumns * sizeof(Real)) Part {
    Real at[kColumns];
  };
  const std::size_t z = (std::size_t{blockIdx.y} * blockDim.x + threadIdx.x) * kColumns;
  if (z >= hidden) return;
  const Chunk chunk = lists.chunks[blockIdx.x];
  double sum[kColumns] = {};
  for (std::uint32_t i = chunk.begin; i < chunk.end; i += kAhead) {
    Part part[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      part[k] = i + k < chunk.end ? *reinterpret_cast<const Part*>(rows + std::size_t{lists.order[i + k]} * hidden + z)
                                  : Part{};
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sum[c] += static_cast<double>(part[k].at[c]);
    }
  }
  if (chunk.partial >= 0) {
    double* const out = partials + static_cast<std::size_t>(chunk.partial) * hidden + z;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) out[c] = sum[c];
  } else {
    double* const out = counts + std::size_t{chunk.target} * hidden + z;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) out[c] += sum[c];
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

// By tiles of 32 x 32, through shared memory.
template <typename Real>
__global__ void transpose_kernel(std::size_t hidden, const Real* from, Real* to) {
  __shared__ Real tile[32][33];
  const std::size_t top = std::size_t{blockIdx.y} * 32;
  const std::size_t left = std::size_t{blockIdx.x} * 32;
  for (unsigned i = threadIdx.y; i < 32; i += blockDim.y) {
    if (top + i < hidden && left + threadIdx.x < hidden) {
      tile[i][threadIdx.x] = from[(top + i) * hidden + left + threadIdx.x];
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.y; i < 32; i += blockDim.y) {
    if (left + i < hidden && top + threadIdx.x < hidden) {
      to[(left + i) * hidden + top + threadIdx.x] = tile[threadIdx.x][i];
    }
  }
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

bool has_narrow_rows(std::size_t hidden) { return hidden > kWarpHidden && hidden % 4 == 0 && hidden <= kLongestRow; }

template <typename Real>
void forward_rows(const Layer<Real>& layer, const Real* initial, Real* values, double* log_likelihood,
                  Bfloat16* narrow) {
  if constexpr (std::is_same_v<Real, float>) {
    if (has_narrow_rows(layer.hidden)) {
      with_vectors(layer.hidden, [&](auto vectors) {
        forward_long_kernel<decltype(vectors)::kCount>
            <<<blocks(layer.rows, 1), kThreads>>>(layer, initial, values, log_likelihood, narrow);
      });
      return;
    }
  }
  if (layer.hidden <= kWarpHidden) {
    forward_kernel<32><<<blocks(layer.rows, kThreads / 32), kThreads>>>(layer, initial, values, log_likelihood);
  } else {
    forward_kernel<kThreads><<<blocks(layer.rows, 1), kThreads>>>(layer, initial, values, log_likelihood);
  }
}

template <typename Real>
void backward_rows(const Layer<Real>& layer, const BackwardRows<Real>& rows) {
  if constexpr (std::is_same_v<Real, float>) {
    if (has_narrow_rows(layer.hidden)) {
      with_vectors(layer.hidden, [&](auto vectors) {
        backward_long_kernel<decltype(vectors)::kCount><<<blocks(layer.rows, 1), kThreads>>>(layer, rows);
      });
      return;
    }
  }
  if (layer.hidden <= kWarpHidden) {
    backward_kernel<32><<<blocks(layer.rows, kThreads / 32), kThreads>>>(layer, rows);
  } else {
    backward_kernel<kThreads><<<blocks(layer.rows, 1), kThreads>>>(layer, rows);
  }
}

template <typename Real>
void add_rows(std::size_t hidden, const Real* rows, const RowLists& lists, double* partials, double* counts) {
  constexpr unsigned kWidth = 128;
  if (lists.num_chunks > 0) {
    const auto chunks = static_cast<unsigned>(lists.num_chunks);
    if (hidden > kWarpHidden && hidden % 2 == 0) {
      chunk_kernel<Real, 2, 4>
          <<<dim3(chunks, blocks(hidden, 2 * kWidth)), kWidth>>>(hidden, rows, lists, partials, counts);
    } else {
      chunk_kernel<Real, 1, 16>
          <<<dim3(chunks, blocks(hidden, kWidth)), kWidth>>>(hidden, rows, lists, partials, counts);
    }
  }
  if (lists.num_joins > 0) {
    const dim3 grid(static_cast<unsigned>(lists.num_joins), blocks(hidden, kWidth));
    join_kernel<<<grid, kWidth>>>(hidden, lists, partials, counts);
  }
}

template <typename Real>
void transpose(std::size_t hidden, const Real* from, Real* to) {
  transpose_kernel<<<dim3(blocks(hidden, 32), blocks(hidden, 32)), dim3(32, 8)>>>(hidden, from, to);
}

template <typename Real>
void add_parts(std::size_t size, std::size_t num_parts, const Real* parts, double* sums) {
  parts_kernel<<<blocks(size, kThreads), kThreads>>>(size, num_parts, parts, sums);
}

void add_totals(const BatchRows& rows, const double* log_likelihood, const unsigned char* possible, double* totals) {
  totals_kernel<<<1, kTotalThreads>>>(rows, log_likelihood, possible, totals);
}

cudaError_t kernels_error() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, totals_kernel);
}

const char* launch_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

#define METACTRL_INSTANTIATE(Real)                                                              \
  template void forward_rows<Real>(const Layer<Real>&, const Real*, Real*, double*, Bfloat16*); \
  template void backward_rows<Real>(const Layer<Real>&, const BackwardRows<Real>&);             \
  template void add_rows<Real>(std::size_t, const Real*, const RowLists&, double*, double*);    \
  template void transpose<Real>(std::size_t, const Real*, Real*);                               \
  template void add_parts<Real>(std::size_t, std::size_t, const Real*, double*);
METACTRL_INSTANTIATE(float)
METACTRL_INSTANTIATE(double)
#undef METACTRL_INSTANTIATE

}  // namespace metactrl::training
