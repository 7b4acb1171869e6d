// Edges of a state come in the order of actions, and neighbours share beginnings; a row is the common beginning of a
// run of neighbours. So a new row is always a child of the last row above, and an edge belongs to the last row of its
// level: all lists grow at their ends.
#include "lookahead/table_trie.h"

#include <algorithm>

namespace metactrl::lookahead {

namespace {

// The end of the last row so far becomes the beginning of a new one.
void open_row(TableTrie::Level& level) {
  level.first_edge.push_back(static_cast<std::uint32_t>(level.edges.size()));
  level.first_child.push_back(0);  // filled in when the level below is known
}

}  // namespace

TableTrie::TableTrie(const Cone& cone, const Surrogate& surrogate) {
  const std::size_t num_states = cone.num_states();
  std::size_t depth = 1;
  for (const ActionId action : ids<ActionId>(surrogate.num_actions())) {
    depth = std::max(depth, surrogate.letters(action).size());
  }
  levels.resize(depth);
  std::vector<std::uint32_t> path;
  for (const ConeId s : ids<ConeId>(num_states)) {
    for (Level& level : levels) level.first_row.push_back(static_cast<std::uint32_t>(level.first_edge.size()));
    open_row(levels[0]);
    levels[0].first_child.back() = levels.size() > 1 ? static_cast<std::uint32_t>(levels[1].first_edge.size()) : 0;
    path.clear();
    for (const Cone::Edge& edge : cone.edges(s)) {
      const auto letters = surrogate.letters(ActionId{edge.label});
      std::size_t known = 0;
      while (known < path.size() && known + 1 < letters.size() && path[known] == letters[known]) ++known;
      path.resize(known);
      for (; known + 1 < letters.size(); ++known) {
        Level& level = levels[known + 1];
        open_row(level);
        level.letter.push_back(letters[known]);
        if (known + 2 < levels.size()) {
          level.first_child.back() = static_cast<std::uint32_t>(levels[known + 2].first_edge.size());
        }
        path.push_back(letters[known]);
      }
      levels[known].edges.push_back({index(edge.target), letters.back()});
    }
    if (cone.distance(s) == 0) {
      levels[0].edges.push_back({static_cast<std::uint32_t>(num_states), surrogate.end_letter()});
    }
  }
  for (std::size_t d = 0; d < levels.size(); ++d) {
    Level& level = levels[d];
    level.first_row.push_back(static_cast<std::uint32_t>(level.first_edge.size()));
  }
  for (std::size_t d = 0; d < levels.size(); ++d) {
    levels[d].first_edge.push_back(static_cast<std::uint32_t>(levels[d].edges.size()));
    levels[d].first_child.push_back(d + 1 < levels.size() ? levels[d + 1].first_row.back() : 0);
  }
}

}  // namespace metactrl::lookahead
