// TableTrie: the letters of all actions that lead on in a cone, as one trie per state, level by level; laid out once
// for every layer of a table.
//
// A row of level 0 is a state, a row of level d a (state, first d letters) that some action begins with and goes on
// from. Rows of a level follow the order of states. What a row sums up is
//
//     its edges      actions whose last letter comes next: a letter, and the state that the action leads to
//     its children   rows of the next level, which are neighbours there: a letter each
//
// Costs: linear in edges; 8 bytes per edge, 12 per row, 4 per state and level.
#ifndef METACTRL_SRC_LOOKAHEAD_TABLE_TRIE_H_
#define METACTRL_SRC_LOOKAHEAD_TABLE_TRIE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookahead/cone.h"
#include "lookahead/surrogate.h"

namespace metactrl::lookahead {

struct TableTrie {
  // As the GPU reads it.
  struct Edge {
    std::uint32_t target;  // the number of a state of the cone
    std::uint32_t letter;
  };
  struct Level {
    std::vector<std::uint32_t> first_edge;   // per row, and one more
    std::vector<std::uint32_t> first_child;  // per row, and one more
    std::vector<std::uint32_t> letter;       // per row: by which its parent reaches it; none in level 0
    std::vector<std::uint32_t> first_row;    // per state, and one more
    std::vector<Edge> edges;
    std::size_t num_rows() const { return first_edge.size() - 1; }
  };

  // In a goal state the end of the plan is one more edge, to a state behind the last of the cone.
  TableTrie(const Cone& cone, const Surrogate& surrogate);

  std::vector<Level> levels;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_TABLE_TRIE_H_
