// "Did you mean ...?": the known name that is closest to a misspelt one.
//
//     nearest_name("dishwaser", {"cup", "dishwasher"})   // "dishwasher"
//     did_you_mean("dishwaser", {"cup", "dishwasher"})   // "did you mean 'dishwasher'?"
#ifndef METACTRL_SRC_SUPPORT_NEAREST_NAME_H_
#define METACTRL_SRC_SUPPORT_NEAREST_NAME_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::internal {

// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// The closest of `known`, the first of equals; empty when none is close enough to be meant. Names longer than 100 bytes
// are not compared.
inline std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kMaxLength = 100;
  if (name.size() > kMaxLength) return {};
  std::size_t best = 1 + std::max<std::size_t>(1, name.size() / 3);  // a guess further away than this is no help
  std::string nearest;
  for (const std::string& candidate : known) {
    const std::size_t longer = std::max(candidate.size(), name.size());
    if (candidate.size() > kMaxLength || longer - std::min(candidate.size(), name.size()) >= best) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best || distance >= longer) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

inline std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? std::string() : "did you mean '" + nearest + "'?";
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_NEAREST_NAME_H_
