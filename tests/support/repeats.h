// How often a property is tried.
#ifndef METACTRL_TESTS_SUPPORT_REPEATS_H_
#define METACTRL_TESTS_SUPPORT_REPEATS_H_

#include <cstdint>
#include <vector>

#include "support/sanitized.h"

namespace metactrl::testing {

// `count`, and a fifth of it under sanitizers: they take ten times as long, and look for what the code does, not for
// which task it does it.
constexpr std::uint64_t repeats(std::uint64_t count) { return METACTRL_SANITIZED ? (count + 4) / 5 : count; }

// Which of all random tasks a shard tries: of `count`, every `shards`-th. Shards beyond those that there are go on with the
// tasks behind: shard 13 of 8 has every eighth of the second `count`, from the sixth on.
// How often what is rare happens is known of the first shards; one of the many behind them may have less of it.
//
//     for (std::uint64_t seed : seeds_of(GetParam(), kShards, kTasks)) ...
inline std::vector<std::uint64_t> seeds_of(std::uint64_t shard, std::uint64_t shards, std::uint64_t count) {
  std::vector<std::uint64_t> seeds;
  const std::uint64_t first = shard / shards * count;
  for (std::uint64_t seed = first + shard % shards; seed < first + count; seed += shards) seeds.push_back(seed);
  return seeds;
}

// Whether that is often enough to ask for what is rare.
constexpr bool kRareThingsHappen = !METACTRL_SANITIZED;

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_REPEATS_H_
