// A byte trie of the items' texts, with single-child chains merged into one edge.
//
//     ItemTrie trie;
//     trie.build({"open a", "open b", "close"});
//     ItemTrie::Position at = trie.root();
//     for (char c : std::string_view("open b")) at = *trie.step(at, c);
//     trie.item(at);   // 1
//
// Built in O(total length · log items), at most two nodes per item. A step is one comparison inside an edge, a binary
// search among at most 256 children at its end.
#ifndef METACTRL_SRC_TEXT_ITEM_TRIE_H_
#define METACTRL_SRC_TEXT_ITEM_TRIE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metactrl::text {

class ItemTrie {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // `depth` bytes were read; the next one is inside the edge into `node`, or at its end.
  struct Position {
    std::uint32_t node = 0;
    std::uint32_t depth = 0;
  };

  // Two items with the same text make a trie impossible: they are returned, lowest ids first, and the trie stays empty.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> build(const std::vector<std::string>& texts);

  std::size_t num_items() const { return begin_.empty() ? 0 : begin_.size() - 1; }
  bool empty() const { return nodes_.empty(); }
  std::string_view text(std::uint32_t item) const {
    return std::string_view(bytes_).substr(begin_[item], begin_[item + 1] - begin_[item]);
  }

  static Position root() { return {}; }
  std::optional<Position> step(Position at, char byte) const;
  // The item whose text ends here, or kNone.
  std::uint32_t item(Position at) const { return at_end(at) ? nodes_[at.node].item : kNone; }
  // An item whose text begins with what was read.
  std::uint32_t example(Position at) const { return nodes_[at.node].example; }
  // The node at which an item ends, and whether other items go on from there.
  Position end_of(std::uint32_t item) const;
  bool has_longer(Position at) const { return !at_end(at) || nodes_[at.node].num_children > 0; }
  // Appends what may follow, as far as it is certain: the rest of the edge, or each child's edge.
  void continuations(Position at, std::vector<std::string_view>& out) const;

  std::size_t memory_bytes() const;

 private:
  struct Node {
    std::uint32_t first_child = 0;  // children are neighbours, ordered by their first byte
    std::uint32_t num_children = 0;
    std::uint32_t depth = 0;  // bytes from the root
    std::uint32_t example = 0;
    std::uint32_t item = kNone;
  };
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  bool at_end(Position at) const { return at.depth == nodes_[at.node].depth; }
  void fill(std::uint32_t node, Range range, const std::vector<std::uint32_t>& order, std::vector<Range>& ranges);

  std::string bytes_;  // all texts
  std::vector<std::uint32_t> begin_;
  std::vector<Node> nodes_;
  std::vector<unsigned char> first_byte_;    // of the edge into each node
  std::vector<std::uint32_t> node_of_item_;  // where each item ends
};

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_ITEM_TRIE_H_
