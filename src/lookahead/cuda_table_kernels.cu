// A row is worked on by a team of threads of one warp, each on four neighbouring numbers at a time: 8 threads where
// rows are short, 32 otherwise. The largest exponent of what is added is found first; then every thread adds up its own
// numbers, in the order of the lists, relative to that exponent. Results are the same every time.
#include <cuda_runtime.h>

#include "lookahead/cuda_table_kernels.h"

namespace metactrl::lookahead {

namespace {

constexpr int kThreads = 256;
constexpr std::size_t kShortWidth = 64;  // up to here a small team

template <int kTeam>
__device__ int largest_of_team(int value) {
  for (int offset = kTeam / 2; offset > 0; offset /= 2) value = max(value, __shfl_xor_sync(0xffffffffU, value, offset));
  return value;
}

template <int kTeam>
__device__ float largest_of_team(float value) {
  for (int offset = kTeam / 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
  }
  return value;
}

// 2^exponent for an exponent of at most 0; 0 where that is smaller than any normal number.
__device__ float power_of_two(int exponent) { return exponent < -126 ? 0.0F : __int_as_float((exponent + 127) << 23); }

__device__ float4 scaled(float4 value, float scale) {
  return {value.x * scale, value.y * scale, value.z * scale, value.w * scale};
}

__device__ void add_product(float4& sum, float4 emitted, float4 value, float scale) {
  sum.x += emitted.x * value.x * scale;
  sum.y += emitted.y * value.y * scale;
  sum.z += emitted.z * value.z * scale;
  sum.w += emitted.w * value.w * scale;
}

__device__ float largest_of(float4 value) { return fmaxf(fmaxf(value.x, value.y), fmaxf(value.z, value.w)); }

// The scale to a maximum in [1/2, 1) in two steps, for it alone may be out of range; and the exponent that it takes
// out.
struct Scale {
  float half;
  float rest;
  int shift;
};
__device__ Scale scale_for(float largest) {
  int shift = 0;
  frexpf(largest, &shift);
  const int half = -shift / 2;
  return {ldexpf(1.0F, half), ldexpf(1.0F, -shift - half), shift};
}

template <int kTeam>
__global__ void __launch_bounds__(kThreads) sum_kernel(SumRows r) {
  const std::uint32_t row = r.begin + blockIdx.x * (kThreads / kTeam) + threadIdx.x / kTeam;
  // Teams without a row go along with empty lists: the whole warp must meet at the shuffles.
  const bool active = row < r.end;
  const std::uint32_t lane = threadIdx.x % kTeam;
  const std::uint32_t edge_begin = active ? r.first_edge[row] : 0;
  const std::uint32_t edge_end = active ? r.first_edge[row + 1] : 0;
  const bool has_children = active && r.first_child != nullptr;
  const std::uint32_t child_begin = has_children ? r.first_child[row] : 0;
  const std::uint32_t child_end = has_children ? r.first_child[row + 1] : 0;
  int exponent = r.none;
  for (std::uint32_t i = edge_begin + lane; i < edge_end; i += kTeam) {
    exponent = max(exponent, r.below.exponents[r.edges[i].x]);
  }
  for (std::uint32_t i = child_begin + lane; i < child_end; i += kTeam) {
    exponent = max(exponent, r.products.exponents[i - r.first_product]);
  }
  exponent = largest_of_team<kTeam>(exponent);
  const bool any = exponent != r.none;
  const std::size_t width = r.width / 4;
  const auto* const emission = reinterpret_cast<const float4*>(r.emission);
  const auto* const below = reinterpret_cast<const float4*>(r.below.values);
  const auto* const products = reinterpret_cast<const float4*>(r.products.values);
  float4* const out = reinterpret_cast<float4*>(r.sums.values) + static_cast<std::size_t>(row - r.begin) * width;
  float largest = 0;
  for (std::size_t z = lane; active && z < width; z += kTeam) {
    float4 sum = {0, 0, 0, 0};
    if (any) {
#pragma unroll 4
      for (std::uint32_t i = edge_begin; i < edge_end; ++i) {
        const uint2 edge = r.edges[i];
        const float scale = power_of_two(max(r.below.exponents[edge.x] - exponent, -1000));
        add_product(sum, emission[edge.y * width + z], below[edge.x * width + z], scale);
      }
#pragma unroll 4
      for (std::uint32_t i = child_begin; i < child_end; ++i) {
        const std::uint32_t product = i - r.first_product;
        const float scale = power_of_two(max(r.products.exponents[product] - exponent, -1000));
        add_product(sum, emission[r.child_letter[i] * width + z], products[product * width + z], scale);
      }
    }
    out[z] = sum;
    largest = fmaxf(largest, largest_of(sum));
  }
  largest = largest_of_team<kTeam>(largest);
  if (!active) return;
  if (!(largest > 0)) {
    if (lane == 0) r.sums.exponents[row - r.begin] = r.none;
    return;
  }
  const Scale scale = scale_for(largest);
  // Each thread scales what it wrote itself.
  for (std::size_t z = lane; z < width; z += kTeam) out[z] = scaled(scaled(out[z], scale.half), scale.rest);
  if (lane == 0) r.sums.exponents[row - r.begin] = exponent + scale.shift;
}

template <int kTeam>
__global__ void __launch_bounds__(kThreads) finish_kernel(FinishRows r) {
  const std::uint32_t state = r.begin + blockIdx.x * (kThreads / kTeam) + threadIdx.x / kTeam;
  const bool active = state < r.end;
  const std::uint32_t lane = threadIdx.x % kTeam;
  const std::size_t width = r.width / 4;
  const std::size_t row = state - r.begin;
  const auto* const in = reinterpret_cast<const float4*>(r.products.values) + row * width;
  float largest = 0;
  for (std::size_t z = lane; active && z < width; z += kTeam) largest = fmaxf(largest, largest_of(in[z]));
  largest = largest_of_team<kTeam>(largest);
  if (!active) return;
  const int before = r.products.exponents[row];
  const bool any = before != r.none && largest > 0;
  const Scale scale = any ? scale_for(largest) : Scale{0, 0, 0};
  const int exponent = any ? before + scale.shift : r.none;
  float4* const layer = reinterpret_cast<float4*>(r.layer.values) + std::size_t{state} * width;
  const bool keeps = r.kept.values != nullptr && r.distance[state] <= r.k;
  std::size_t place = 0;
  if (keeps) {
    place = r.first_kept[state] + r.k / r.stride - (r.distance[state] + r.stride - 1) / r.stride;
  }
  float4* const kept = reinterpret_cast<float4*>(r.kept.values) + place * width;
  for (std::size_t z = lane; z < width; z += kTeam) {
    const float4 value = any ? scaled(scaled(in[z], scale.half), scale.rest) : float4{0, 0, 0, 0};
    layer[z] = value;
    if (keeps) kept[z] = value;
  }
  if (lane == 0) {
    r.layer.exponents[state] = exponent;
    if (keeps) r.kept.exponents[place] = exponent;
  }
}

__global__ void begin_kernel(std::size_t num_states, std::size_t width, std::int32_t none, DeviceRows layer) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i <= num_states) layer.exponents[i] = i < num_states ? none : 0;
  if (i < width) layer.values[num_states * width + i] = 1;
}

unsigned blocks(std::size_t items, std::size_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace

void sum_rows(const SumRows& rows, cudaStream_t stream) {
  const std::size_t count = rows.end - rows.begin;
  if (rows.width <= kShortWidth) {
    sum_kernel<8><<<blocks(count, kThreads / 8), kThreads, 0, stream>>>(rows);
  } else {
    sum_kernel<32><<<blocks(count, kThreads / 32), kThreads, 0, stream>>>(rows);
  }
}

void finish_rows(const FinishRows& rows, cudaStream_t stream) {
  const std::size_t count = rows.end - rows.begin;
  if (rows.width <= kShortWidth) {
    finish_kernel<8><<<blocks(count, kThreads / 8), kThreads, 0, stream>>>(rows);
  } else {
    finish_kernel<32><<<blocks(count, kThreads / 32), kThreads, 0, stream>>>(rows);
  }
}

void begin_layer(std::size_t num_states, std::size_t width, std::int32_t none, DeviceRows layer, cudaStream_t stream) {
  const std::size_t items = num_states + 1 > width ? num_states + 1 : width;
  begin_kernel<<<blocks(items, kThreads), kThreads, 0, stream>>>(num_states, width, none, layer);
}

cudaError_t kernels_error() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, begin_kernel);
}

}  // namespace metactrl::lookahead
