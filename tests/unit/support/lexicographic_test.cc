#include "support/lexicographic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "support/random.h"

namespace metactrl::internal::lexicographic_test {
namespace {

// Few lists of large numbers, and many of small ones; empty ones, equal ones, beginnings of others.
TEST(LexicographicOrder, IsThatOfAStableSort) {
  testing::Random random(1);
  for (int round = 0; round < 400; ++round) {
    const std::size_t limit = 1 + random.below(round % 2 == 0 ? 6 : 2000);
    std::vector<std::vector<std::uint32_t>> lists(random.below(200));
    for (std::vector<std::uint32_t>& list : lists) {
      list.resize(random.below(5));
      for (std::uint32_t& entry : list) entry = random.below(limit);
    }
    std::vector<std::uint32_t> expected(lists.size());
    std::iota(expected.begin(), expected.end(), 0U);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::uint32_t x, std::uint32_t y) { return lists[x] < lists[y]; });
    const auto list = [&](std::uint32_t i) { return std::span<const std::uint32_t>(lists[i]); };
    ASSERT_EQ(lexicographic_order(lists.size(), limit, list), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace metactrl::internal::lexicographic_test
