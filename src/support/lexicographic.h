// Sorting many short lists of small numbers: hundreds of thousands of ground actions by their objects or facts.
//
//     lexicographic_order(actions.size(), objects.size(), [&](std::uint32_t a) { return actions[a].arguments(); })
//
// Cost: the lists' lengths in all, plus `limit` for each place at which many lists have an entry.
#ifndef METACTRL_SRC_SUPPORT_LEXICOGRAPHIC_H_
#define METACTRL_SRC_SUPPORT_LEXICOGRAPHIC_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace metactrl::internal {

// The numbers of the lists in lexicographic order, equal lists in the order in which they are. `list(i)` is a span of
// numbers or ids below `limit`. Sorted by their last entries, then by those before, and so on; a list takes part from its
// end on, before those that are longer. Where many are sorted they are counted.
template <typename List>
std::vector<std::uint32_t> lexicographic_order(std::size_t count, std::size_t limit, const List& list) {
  std::vector<std::uint32_t> first;  // by length: where the lists of this length begin, the shortest first
  for (std::uint32_t i = 0; i < count; ++i) {
    if (list(i).size() + 2 > first.size()) first.resize(list(i).size() + 2);
    ++first[list(i).size() + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> order(count);
  std::vector<std::uint32_t> next = first;
  for (std::uint32_t i = 0; i < count; ++i) order[next[list(i).size()]++] = i;
  std::vector<std::uint32_t> unsorted;
  std::vector<std::uint32_t> entries;  // of these, looked up once
  for (std::size_t length = first.size(); length-- > 2;) {
    const std::span<std::uint32_t> some = std::span(order).subspan(first[length - 1]);
    const auto entry = [&](std::uint32_t i) { return static_cast<std::uint32_t>(list(i)[length - 2]); };
    if (some.size() < limit / 16) {
      std::stable_sort(some.begin(), some.end(), [&](std::uint32_t x, std::uint32_t y) { return entry(x) < entry(y); });
      continue;
    }
    unsorted.assign(some.begin(), some.end());
    entries.resize(unsorted.size());
    std::transform(unsorted.begin(), unsorted.end(), entries.begin(), entry);
    next.assign(limit + 1, 0);
    for (const std::uint32_t value : entries) ++next[value + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t k = 0; k < unsorted.size(); ++k) some[next[entries[k]]++] = unsorted[k];
  }
  return order;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_LEXICOGRAPHIC_H_
