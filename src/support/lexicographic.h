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
#include <vector>

namespace metactrl::internal {

// The numbers of the lists in lexicographic order, equal lists in the order in which they are. `list(i)` is a span of
// numbers or ids below `limit`. Sorted by their last entries, then by those before, and so on; a list takes part from its
// end on, before those that are longer. Where many are sorted they are counted.
template <typename List>
std::vector<std::uint32_t> lexicographic_order(std::size_t count, std::size_t limit, const List& list) {
  std::vector<std::vector<std::uint32_t>> of_length;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t length = list(i).size();
    if (length >= of_length.size()) of_length.resize(length + 1);
    of_length[length].push_back(i);
  }
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> sorted;
  std::vector<std::uint32_t> next;
  for (std::size_t length = of_length.size(); length-- > 0;) {
    order.insert(order.begin(), of_length[length].begin(), of_length[length].end());
    if (length == 0) break;
    const auto entry = [&](std::uint32_t i) { return static_cast<std::uint32_t>(list(i)[length - 1]); };
    if (order.size() < limit / 16) {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t x, std::uint32_t y) { return entry(x) < entry(y); });
      continue;
    }
    next.assign(limit + 1, 0);
    for (const std::uint32_t i : order) ++next[entry(i) + 1];
    for (std::size_t value = 0; value < limit; ++value) next[value + 1] += next[value];
    sorted.resize(order.size());
    for (const std::uint32_t i : order) sorted[next[entry(i)]++] = i;
    order.swap(sorted);
  }
  return order;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_LEXICOGRAPHIC_H_
