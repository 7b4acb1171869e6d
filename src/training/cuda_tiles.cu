// Forward and backward passes where there are few hidden states: one launch each for all positions of a batch.
//
// A block has a tile of eight sequences and takes them through all positions. The whole matrix of transitions is in the
// registers of its eight warps: warp w has rows 16 w to 16 w + 15, each lane four columns of them. A product of the
// tile with it is eight partial products, one per warp, which meet in shared memory; from there warp w takes row w and
// does everything else to it: emissions, scale, what is written. So a position costs two barriers and no launch.
//
//     per position   8 x 128 x 128 multiplications, 1024 cycles of a multiprocessor; 64 KB through shared memory
//
// Fewer hidden states than 128 are filled up with zeros. The sequences of a tile end at different positions; a row
// whose sequence is at its end is computed on and not looked at. What the next position needs from memory is asked for
// before the product, and used behind it.
#include <cuda_runtime.h>

#include "training/cuda_kernels.h"

namespace metactrl::training {

namespace {

constexpr int kRows = 8;    // of a tile, and warps of a block
constexpr int kDepth = 16;  // rows of the matrix per warp
constexpr int kThreads = 32 * kRows;
static_assert(kDepth * kRows == kTileHidden && 4 * 32 == kTileHidden);

// The least sum whose inverse is a number.
constexpr double kSmallest = 1.1754943508222875e-38;

struct Tile {
  float4 rows[kRows][kTileHidden / 4];
  float4 partial[kRows][kRows][kTileHidden / 4];  // [warp][row]
};

// Numbers z .. z + 3 of a row; zero behind its end.
__device__ float4 load4(const float* row, unsigned z, unsigned hidden) {
  if (hidden % 4 == 0) {
    return z < hidden ? *reinterpret_cast<const float4*>(row + z) : make_float4(0, 0, 0, 0);
  }
  return make_float4(z < hidden ? row[z] : 0, z + 1 < hidden ? row[z + 1] : 0, z + 2 < hidden ? row[z + 2] : 0,
                     z + 3 < hidden ? row[z + 3] : 0);
}

__device__ void store4(float* row, unsigned z, unsigned hidden, float4 value) {
  if (hidden % 4 == 0) {
    if (z < hidden) *reinterpret_cast<float4*>(row + z) = value;
    return;
  }
  if (z < hidden) row[z] = value.x;
  if (z + 1 < hidden) row[z + 1] = value.y;
  if (z + 2 < hidden) row[z + 2] = value.z;
  if (z + 3 < hidden) row[z + 3] = value.w;
}

__device__ float4 times(float4 a, float4 b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
__device__ float4 times(float4 a, float b) { return make_float4(a.x * b, a.y * b, a.z * b, a.w * b); }

__device__ void add_times(float4& sum, float a, float4 b) {
  sum.x = fmaf(a, b.x, sum.x);
  sum.y = fmaf(a, b.y, sum.y);
  sum.z = fmaf(a, b.z, sum.z);
  sum.w = fmaf(a, b.w, sum.w);
}

__device__ double sum_of_warp(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffU, value, offset);
  return value;
}

__device__ float largest_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
  return value;
}

// Row `warp` of the tile's rows times the matrix: four numbers per lane. The rows must have been written by then;
// behind the call they may be written again.
__device__ float4 multiply(Tile& tile, const float4 (&matrix)[kDepth], unsigned warp, unsigned lane) {
  __syncthreads();
  float4 sum[kRows];
#pragma unroll
  for (int n = 0; n < kRows; ++n) sum[n] = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k < kDepth; k += 4) {
#pragma unroll
    for (int n = 0; n < kRows; ++n) {
      const float4 value = tile.rows[n][(kDepth * warp + k) / 4];
      add_times(sum[n], value.x, matrix[k]);
      add_times(sum[n], value.y, matrix[k + 1]);
      add_times(sum[n], value.z, matrix[k + 2]);
      add_times(sum[n], value.w, matrix[k + 3]);
    }
  }
#pragma unroll
  for (int n = 0; n < kRows; ++n) tile.partial[warp][n][lane] = sum[n];
  __syncthreads();
  float4 result = tile.partial[0][warp][lane];
#pragma unroll
  for (int i = 1; i < kRows; ++i) add_times(result, 1, tile.partial[i][warp][lane]);
  return result;
}

template <int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) forward_tiles_kernel(TileBatch batch) {
  __shared__ Tile tile;
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned z = 4 * lane;
  const auto hidden = static_cast<unsigned>(batch.hidden);
  const std::size_t top = std::size_t{blockIdx.x} * kRows;
  const std::size_t row = top + warp;
  const std::uint32_t longest = batch.rows.lengths[top];
  const std::uint32_t length = row < batch.rows.rows ? batch.rows.lengths[row] : 0;
  float4 matrix[kDepth];
#pragma unroll
  for (int k = 0; k < kDepth; ++k) {
    const unsigned from = kDepth * warp + k;
    matrix[k] =
        from < hidden ? load4(batch.transition + std::size_t{from} * hidden, z, hidden) : make_float4(0, 0, 0, 0);
  }
  tile.rows[warp][lane] = make_float4(0, 0, 0, 0);
  double log_likelihood = 0;
  double scales = 1;  // whose logarithm is not in it yet
  bool possible = true;
  std::size_t at = row;
  std::uint32_t symbol = length > 0 ? batch.rows.symbols[at] : 0;
  std::uint32_t first = longest > 1 ? batch.rows.first[1] : 0;  // of the next position
  for (std::uint32_t t = 0; t < longest; ++t) {
    const bool active = t < length;  // the same in a warp
    const float4 emitted = load4(batch.emission + std::size_t{symbol} * hidden, z, hidden);
    float* const out = batch.forward + at * hidden;
    if (t + 1 < length) {
      at = first + row;
      symbol = batch.rows.symbols[at];
    }
    if (t + 2 < longest) first = batch.rows.first[t + 2];
    const float4 before = t == 0 ? load4(batch.initial, z, hidden) : multiply(tile, matrix, warp, lane);
    if (!active) continue;
    float4 value = times(before, emitted);
    const double sum = sum_of_warp((static_cast<double>(value.x) + static_cast<double>(value.y)) +
                                   (static_cast<double>(value.z) + static_cast<double>(value.w)));
    possible = possible && sum >= kSmallest;
    const float scale = possible ? __frcp_rn(static_cast<float>(sum)) : 0;
    value = possible ? times(value, scale) : make_float4(0, 0, 0, 0);
    tile.rows[warp][lane] = value;
    store4(out, z, hidden, value);
    if (possible) {
      scales *= static_cast<double>(scale);
      if (scales > 1e200) {
        log_likelihood -= log(scales);
        scales = 1;
      }
    }
  }
  if (lane == 0 && length > 0) {
    batch.possible[row] = possible ? 1 : 0;
    batch.log_likelihood[row] = possible ? log_likelihood - log(scales) : 0;
  }
}

template <int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    backward_tiles_kernel(TileBatch batch, float* weighted, float* posterior) {
  __shared__ Tile tile;
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned z = 4 * lane;
  const auto hidden = static_cast<unsigned>(batch.hidden);
  const std::size_t top = std::size_t{blockIdx.x} * kRows;
  const std::size_t row = top + warp;
  const std::uint32_t longest = batch.rows.lengths[top];
  const std::uint32_t length = row < batch.rows.rows ? batch.rows.lengths[row] : 0;
  const float weight = length > 0 ? static_cast<float>(batch.rows.weights[row]) : 0;
  bool possible = length > 0 && batch.possible[row] != 0;
  // Transposed: matrix[k] holds the transitions of states z .. z + 3 to state kDepth * warp + k.
  float4 matrix[kDepth];
#pragma unroll
  for (int k = 0; k < kDepth; ++k) matrix[k] = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (z + i >= hidden) continue;
    const float* const from = batch.transition + std::size_t{z + i} * hidden;
#pragma unroll
    for (int k = 0; k < kDepth; k += 4) {
      const float4 to = load4(from, kDepth * warp + k, hidden);
      reinterpret_cast<float*>(&matrix[k])[i] = to.x;
      reinterpret_cast<float*>(&matrix[k + 1])[i] = to.y;
      reinterpret_cast<float*>(&matrix[k + 2])[i] = to.z;
      reinterpret_cast<float*>(&matrix[k + 3])[i] = to.w;
    }
  }
  tile.rows[warp][lane] = make_float4(0, 0, 0, 0);
  float4 own = make_float4(0, 0, 0, 0);  // w of the position behind
  std::size_t at = 0;
  std::uint32_t symbol = 0;
  if (length > 0) {
    at = batch.rows.first[length - 1] + row;
    symbol = batch.rows.symbols[at];
  }
  std::uint32_t first = longest > 1 ? batch.rows.first[longest - 2] : 0;  // of the position before
  for (std::uint32_t t = longest; t-- > 0;) {
    const bool active = t < length;
    const std::size_t offset = at * hidden;
    float4 behind = make_float4(0, 0, 0, 0);
    float4 emitted = behind;
    if (active) {
      behind = load4(batch.forward + offset, z, hidden);
      emitted = load4(batch.emission + std::size_t{symbol} * hidden, z, hidden);
      if (t > 0) {
        at = first + row;
        symbol = batch.rows.symbols[at];
      }
    }
    if (t > 1) first = batch.rows.first[t - 2];
    float4 ahead = make_float4(0, 0, 0, 0);
    if (t + 1 < longest) ahead = multiply(tile, matrix, warp, lane);
    if (!active) continue;
    const bool goes_on = t + 1 < length;
    if (!goes_on) ahead = make_float4(1, 1, 1, 1);
    const double product = sum_of_warp((static_cast<double>(behind.x) * static_cast<double>(ahead.x) +
                                        static_cast<double>(behind.y) * static_cast<double>(ahead.y)) +
                                       (static_cast<double>(behind.z) * static_cast<double>(ahead.z) +
                                        static_cast<double>(behind.w) * static_cast<double>(ahead.w)));
    const float largest = largest_of_warp(fmaxf(fmaxf(ahead.x, ahead.y), fmaxf(ahead.z, ahead.w)));
    possible = possible && product >= kSmallest;
    const float share = possible ? weight * __frcp_rn(static_cast<float>(product)) : 0;
    store4(weighted + offset, z, hidden, goes_on ? times(own, share) : make_float4(0, 0, 0, 0));
    store4(posterior + offset, z, hidden, possible ? times(times(behind, ahead), share) : make_float4(0, 0, 0, 0));
    own = times(emitted, times(ahead, largest >= kSmallest ? __frcp_rn(largest) : 0));
    tile.rows[warp][lane] = own;
  }
  if (lane == 0 && length > 0) batch.possible[row] = possible ? 1 : 0;
}

unsigned tiles(const TileBatch& batch) { return static_cast<unsigned>((batch.rows.rows + kRows - 1) / kRows); }

// Where every multiprocessor has one block, or none, a block may have all registers.
constexpr unsigned kFewTiles = 128;

}  // namespace

void forward_tiles(const TileBatch& batch) {
  if (tiles(batch) <= kFewTiles) {
    forward_tiles_kernel<1><<<tiles(batch), kThreads>>>(batch);
  } else {
    forward_tiles_kernel<2><<<tiles(batch), kThreads>>>(batch);
  }
}

void backward_tiles(const TileBatch& batch, float* weighted, float* posterior) {
  if (tiles(batch) <= kFewTiles) {
    backward_tiles_kernel<1><<<tiles(batch), kThreads>>>(batch, weighted, posterior);
  } else {
    backward_tiles_kernel<2><<<tiles(batch), kThreads>>>(batch, weighted, posterior);
  }
}

}  // namespace metactrl::training
