// Random numbers that are the same on every platform; the standard library's distributions are not.
//
//     Random random(seed);                 // one sequence per seed
//     Random world(seed, 7), choice(seed, 8);   // sequences that have nothing to do with each other
//
// The generator is splitmix64: a counter that goes up by a constant, and a hash of it. All sequences are therefore
// parts of one long cycle, and two seeds that differ by a multiple of that constant would give the same numbers,
// shifted. With a stream id, seed and id are hashed before they become the counter: neighbouring seeds then begin at
// unrelated places of the cycle, which is 2^64 numbers long.
#ifndef METACTRL_SRC_SUPPORT_SPLITMIX_H_
#define METACTRL_SRC_SUPPORT_SPLITMIX_H_

#include <cstddef>
#include <cstdint>

namespace metactrl::internal {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(mix(seed + kStep) ^ mix(~stream))) {}

  std::uint64_t next() { return mix(state_ += kStep); }
  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // True with this probability. Draws one number in any case.
  bool chance(double probability) { return uniform() < probability; }
  // One of 0 .. bound - 1; `bound` is at least 1.
  std::size_t below(std::size_t bound) {
    const auto drawn = static_cast<std::size_t>(uniform() * static_cast<double>(bound));
    return drawn < bound ? drawn : bound - 1;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  // A bijection in which every bit of the input changes half of the output's.
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_SPLITMIX_H_
