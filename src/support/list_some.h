// "a, b, c and 7 more": a list in a sentence.
#ifndef METACTRL_SRC_SUPPORT_LIST_SOME_H_
#define METACTRL_SRC_SUPPORT_LIST_SOME_H_

#include <cstddef>
#include <string>
#include <vector>

namespace metactrl::internal {

inline std::string list_some(const std::vector<std::string>& items, std::size_t limit = 8) {
  const std::size_t shown = items.size() <= limit + 1 ? items.size() : limit;  // "and 1 more" saves nothing
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : ", ") + items[i];
  if (shown < items.size()) out += " and " + std::to_string(items.size() - shown) + " more";
  return out;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_LIST_SOME_H_
