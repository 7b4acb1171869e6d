// The items are sorted once; a node is then a range of neighbours that share their first bytes, and as many of them as
// the range's first and last item share. Nodes are made in breadth-first order, so that children lie side by side.
#include "text/item_trie.h"

#include <algorithm>
#include <numeric>

namespace metactrl::text {

std::optional<std::pair<std::uint32_t, std::uint32_t>> ItemTrie::build(const std::vector<std::string>& texts) {
  std::size_t total = 0;
  for (const std::string& text : texts) total += text.size();
  bytes_.reserve(total);
  begin_.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    begin_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    bytes_ += text;
  }
  begin_.push_back(static_cast<std::uint32_t>(bytes_.size()));

  std::vector<std::uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int compared = text(a).compare(text(b));
    return compared != 0 ? compared < 0 : a < b;
  });
  std::optional<std::pair<std::uint32_t, std::uint32_t>> same;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::pair<std::uint32_t, std::uint32_t> pair{order[i - 1], order[i]};
    if (text(pair.first) == text(pair.second) && (!same || pair < *same)) same = pair;
  }
  if (same) return same;
  if (order.empty()) return std::nullopt;

  node_of_item_.resize(texts.size());
  nodes_.reserve(2 * texts.size());
  nodes_.emplace_back();
  first_byte_.push_back(0);
  std::vector<Range> ranges{{0, static_cast<std::uint32_t>(order.size())}};
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) fill(node, ranges[node], order, ranges);
  return std::nullopt;
}

void ItemTrie::fill(std::uint32_t node, Range range, const std::vector<std::uint32_t>& order,
                    std::vector<Range>& ranges) {
  const std::string_view first = text(order[range.begin]);
  const std::string_view last = text(order[range.end - 1]);
  const auto shared = static_cast<std::uint32_t>(
      std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first - first.begin());
  nodes_[node].depth = shared;
  nodes_[node].example = order[range.begin];
  if (first.size() == shared) {
    nodes_[node].item = order[range.begin];
    node_of_item_[order[range.begin]] = node;
    ++range.begin;
  }
  nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
  while (range.begin < range.end) {
    const auto byte = static_cast<unsigned char>(text(order[range.begin])[shared]);
    const auto end = std::partition_point(
        order.begin() + range.begin, order.begin() + range.end,
        [&](std::uint32_t item) { return static_cast<unsigned char>(text(item)[shared]) == byte; });
    ranges.push_back({range.begin, static_cast<std::uint32_t>(end - order.begin())});
    range.begin = ranges.back().end;
    nodes_.emplace_back();
    first_byte_.push_back(byte);
    ++nodes_[node].num_children;
  }
}

std::optional<ItemTrie::Position> ItemTrie::step(Position at, char byte) const {
  const Node& node = nodes_[at.node];
  if (at.depth < node.depth) {
    if (bytes_[begin_[node.example] + at.depth] != byte) return std::nullopt;
    return Position{at.node, at.depth + 1};
  }
  const auto first = first_byte_.begin() + node.first_child;
  const auto last = first + node.num_children;
  const auto child = std::lower_bound(first, last, static_cast<unsigned char>(byte));
  if (child == last || *child != static_cast<unsigned char>(byte)) return std::nullopt;
  return Position{static_cast<std::uint32_t>(child - first_byte_.begin()), at.depth + 1};
}

ItemTrie::Position ItemTrie::end_of(std::uint32_t item) const {
  return {node_of_item_[item], static_cast<std::uint32_t>(text(item).size())};
}

void ItemTrie::continuations(Position at, std::vector<std::string_view>& out) const {
  const Node& node = nodes_[at.node];
  if (!at_end(at)) {
    out.push_back(text(node.example).substr(at.depth, node.depth - at.depth));
    return;
  }
  for (std::uint32_t i = 0; i < node.num_children; ++i) {
    const Node& child = nodes_[node.first_child + i];
    out.push_back(text(child.example).substr(at.depth, child.depth - at.depth));
  }
}

std::size_t ItemTrie::memory_bytes() const {
  return bytes_.capacity() + begin_.capacity() * sizeof(std::uint32_t) + nodes_.capacity() * sizeof(Node) +
         first_byte_.capacity() + node_of_item_.capacity() * sizeof(std::uint32_t);
}

}  // namespace metactrl::text
