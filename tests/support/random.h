// Random numbers that are the same on every platform; the standard library's distributions are not.
#ifndef METACTRL_TESTS_SUPPORT_RANDOM_H_
#define METACTRL_TESTS_SUPPORT_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace metactrl::testing {

// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(next() % bound); }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_RANDOM_H_
