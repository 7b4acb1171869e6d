// Random numbers that are the same on every platform; the standard library's distributions are not.
#ifndef METACTRL_SRC_SUPPORT_SPLITMIX_H_
#define METACTRL_SRC_SUPPORT_SPLITMIX_H_

#include <cstddef>
#include <cstdint>

namespace metactrl::internal {

// A small generator that gives the same numbers on every platform (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // In [0, bound); bound is not 0.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_SPLITMIX_H_
