// What the GPU does between two products of matrices when it computes a table; see cuda_table.cc for the whole.
//
// All pointers are to the GPU's memory. A row is `width` numbers, a multiple of 16, with an exponent: its values are
// numbers * 2^exponent; `none` is the exponent of a row of zeros. Calls return at once; the work is done in order on
// `stream`.
#ifndef METACTRL_SRC_LOOKAHEAD_CUDA_TABLE_KERNELS_H_
#define METACTRL_SRC_LOOKAHEAD_CUDA_TABLE_KERNELS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace metactrl::lookahead {

struct DeviceRows {
  float* values;
  std::int32_t* exponents;
};

// sums[i] = sum over the edges of row begin + i of e(letter) o below[target] + sum over its children of e(letter) o
// products[child - first_product], scaled to a maximum in [1/2, 1).
struct SumRows {
  std::size_t width;
  std::int32_t none;
  std::uint32_t begin;
  std::uint32_t end;
  const float* emission;            // [letter * width + state]
  const std::uint32_t* first_edge;  // per row of the level, and one more
  const uint2* edges;               // target, letter
  DeviceRows below;
  const std::uint32_t* first_child;  // null in the deepest level
  const std::uint32_t* child_letter;
  std::uint32_t first_product;
  DeviceRows products;
  DeviceRows sums;
};
void sum_rows(const SumRows& rows, cudaStream_t stream);

// layer[begin + i] = products[i], scaled to a maximum in [1/2, 1); and the same into what is kept of layer k, for
// states whose goal is near enough, when `kept.values` is not null.
struct FinishRows {
  std::size_t width;
  std::int32_t none;
  std::uint32_t begin;
  std::uint32_t end;
  DeviceRows products;  // with the exponents of the sums
  DeviceRows layer;
  DeviceRows kept;
  unsigned k;
  unsigned stride;
  const std::uint32_t* distance;  // per state
  const std::size_t* first_kept;  // per state
};
void finish_rows(const FinishRows& rows, cudaStream_t stream);

// Before the first layer: rows of zeros, and behind the last state one of ones.
void begin_layer(std::size_t num_states, std::size_t width, std::int32_t none, DeviceRows layer, cudaStream_t stream);

// What the runtime says of these kernels on the GPU at hand.
cudaError_t kernels_error();

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_CUDA_TABLE_KERNELS_H_
