// LookaheadDevice: where the table of a trained surrogate (hmm_table.h) is computed, when that is not the CPU.
//
//     std::shared_ptr<LookaheadDevice> device = make_cuda_lookahead_device();
//     auto table = HmmTable<float>::build(surrogate, space, horizon, max_bytes, device.get());
//
// A device fills the rows that the table keeps. Whoever decodes reads those alone, so a finished table needs no device;
// layers between two checkpoints are computed on the CPU.
#ifndef METACTRL_SRC_LOOKAHEAD_TABLE_DEVICE_H_
#define METACTRL_SRC_LOOKAHEAD_TABLE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "lookahead/cone.h"
#include "lookahead/surrogate.h"

namespace metactrl {

namespace lookahead {

// The exponent of a row of zeros.
constexpr std::int32_t kNoExponent = std::numeric_limits<std::int32_t>::min() / 2;

struct TableInput {
  const Cone& cone;  // edges carry actions
  const Surrogate& surrogate;
  std::size_t width;                // hidden states, padded
  std::span<const float> emission;  // [letter * width + state]
  std::span<const float> transposed;
  unsigned stride;                          // every so many layers are kept
  std::span<const std::size_t> first_kept;  // per cone state, and one more: the rows that it keeps
};

}  // namespace lookahead

class LookaheadDevice {
 public:
  LookaheadDevice() = default;
  LookaheadDevice(const LookaheadDevice&) = delete;
  LookaheadDevice& operator=(const LookaheadDevice&) = delete;
  virtual ~LookaheadDevice() = default;

  // Row first_kept[s] + i is that of the i-th kept layer, a multiple of the stride, which state s has: from its
  // distance on, upwards. May be called from many threads; they take turns.
  virtual void compute(const lookahead::TableInput& input, std::span<float> rows,
                       std::span<std::int32_t> exponents) const = 0;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_LOOKAHEAD_TABLE_DEVICE_H_
