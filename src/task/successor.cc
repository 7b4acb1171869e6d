// Which actions have preconditions that hold?
//
// The tree is a trie over the positive literals of the preconditions: an edge is labelled with a fact, a node is
// entered when its fact holds, and at a node sit the actions whose positive literals are exactly the facts on the way
// to it. Facts are ordered by how many actions require them, most first, so that actions share prefixes (in a logistics
// task: "the truck is at the depot" before "package 7 is at the depot") and one failed test dismisses many actions.
//
// The root is special. It can have a child for every fact, so instead of testing its children we walk the bits that are
// set in the state and have a child. Negative literals are few in practice and are tested at the leaf.
//
// Cost: the children of the nodes whose facts hold, plus the leaves found. Memory: one node per distinct prefix.
#include <algorithm>
#include <bit>
#include <cassert>

#include "support/lexicographic.h"
#include "task/program.h"

namespace metactrl::task {

namespace {

// Lists of facts, one behind the other.
class FactLists {
 public:
  FactLists(std::size_t lists, std::size_t facts) {
    first_.reserve(lists + 1);
    first_.push_back(0);
    facts_.reserve(facts);
  }
  std::size_t size() const { return first_.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t list) const {
    return {facts_.data() + first_[list], facts_.data() + first_[list + 1]};
  }
  std::vector<std::uint32_t>& facts() { return facts_; }  // append here ...
  std::span<std::uint32_t> close() {                      // ... and end the list: what it has
    first_.push_back(static_cast<std::uint32_t>(facts_.size()));
    return std::span(facts_).subspan(first_[first_.size() - 2]);
  }

 private:
  std::vector<std::uint32_t> facts_;
  std::vector<std::uint32_t> first_;
};

// Of lists in order; the empty one is one.
std::size_t count_prefixes(const FactLists& lists) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::span<const std::uint32_t> before = i == 0 ? std::span<const std::uint32_t>() : lists[i - 1];
    count += static_cast<std::size_t>(lists[i].end() - std::ranges::mismatch(before, lists[i]).in2);
  }
  return count;
}

}  // namespace

void SuccessorTree::build(std::span<const ActionId> actions, std::size_t num_bits, const Precondition& precondition) {
  std::vector<std::uint32_t> uses(num_bits, 0);
  std::size_t all_uses = 0;
  for (const ActionId a : actions) {
    for (Literal literal : precondition(a)) {
      if (literal.negated()) continue;
      ++uses[literal.bit()];
      ++all_uses;
    }
  }
  // The facts that each action requires, those that most require first; by its place among `actions`.
  FactLists required(actions.size(), all_uses);
  for (const ActionId a : actions) {
    for (Literal literal : precondition(a)) {
      if (!literal.negated()) required.facts().push_back(literal.bit());
    }
    const std::span<std::uint32_t> own = required.close();
    std::sort(own.begin(), own.end(),
              [&](std::uint32_t x, std::uint32_t y) { return uses[x] != uses[y] ? uses[x] > uses[y] : x < y; });
  }
  const std::vector<std::uint32_t> order =
      internal::lexicographic_order(required.size(), num_bits, [&](std::uint32_t place) { return required[place]; });
  FactLists keys(actions.size(), all_uses);  // in this order, since they are read so
  for (const std::uint32_t place : order) {
    keys.facts().insert(keys.facts().end(), required[place].begin(), required[place].end());
    keys.close();
  }

  // Breadth-first over ranges of the sorted actions, so that a node's children lie next to one another.
  struct Range {
    std::uint32_t begin, end, depth;
  };
  const std::size_t num_nodes = count_prefixes(keys);
  nodes_.reserve(num_nodes);
  nodes_.assign(1, {});
  actions_.reserve(actions.size());
  std::vector<Range> ranges;
  ranges.reserve(num_nodes);
  ranges.push_back({0, static_cast<std::uint32_t>(order.size()), 0});
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    auto [i, end, depth] = ranges[n];
    nodes_[n].first_action = static_cast<std::uint32_t>(actions_.size());
    while (i < end && keys[i].size() == depth) actions_.push_back(actions[order[i++]]);
    nodes_[n].num_actions = static_cast<std::uint32_t>(actions_.size()) - nodes_[n].first_action;
    nodes_[n].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (i < end) {
      const std::uint32_t bit = keys[i][depth];
      std::uint32_t j = i;
      while (j < end && keys[j][depth] == bit) ++j;
      Node child;
      child.bit = bit;
      nodes_.push_back(child);
      ranges.push_back({i, j, depth + 1});
      i = j;
    }
    nodes_[n].num_children = static_cast<std::uint32_t>(nodes_.size()) - nodes_[n].first_child;
  }

  assert(nodes_.size() == num_nodes);
  first_negative_.reserve(actions.size() + 1);
  first_negative_.assign(1, 0);
  for (const ActionId a : actions_) {
    for (Literal literal : precondition(a)) {
      if (literal.negated()) negatives_.push_back(literal.bit());
    }
    first_negative_.push_back(static_cast<std::uint32_t>(negatives_.size()));
  }
  assert(actions_.size() == actions.size());

  root_child_.assign(num_bits, 0);
  root_mask_.assign((num_bits + 63) / 64, 0);
  for (std::uint32_t c = 0; c < nodes_[0].num_children; ++c) {
    const std::uint32_t child = nodes_[0].first_child + c;
    root_child_[nodes_[child].bit] = child;
    root_mask_[nodes_[child].bit >> 6] |= Word{1} << (nodes_[child].bit & 63);
  }
}

void SuccessorTree::match(const Word* state, std::vector<ActionId>& out) const {
  if (nodes_.empty()) return;
  add_actions(nodes_[0], state, out);
  for (std::size_t w = 0; w < root_mask_.size(); ++w) {
    for (Word bits = state[w] & root_mask_[w]; bits != 0; bits &= bits - 1) {
      match_below(nodes_[root_child_[64 * w + static_cast<std::size_t>(std::countr_zero(bits))]], state, out);
    }
  }
}

void SuccessorTree::match_below(const Node& node, const Word* state, std::vector<ActionId>& out) const {
  add_actions(node, state, out);
  for (std::uint32_t c = 0; c < node.num_children; ++c) {
    const Node& child = nodes_[node.first_child + c];
    if (test_bit(state, child.bit)) match_below(child, state, out);
  }
}

void SuccessorTree::add_actions(const Node& node, const Word* state, std::vector<ActionId>& out) const {
  for (std::uint32_t i = node.first_action; i < node.first_action + node.num_actions; ++i) {
    bool clear = true;
    for (std::uint32_t n = first_negative_[i]; clear && n < first_negative_[i + 1]; ++n) {
      clear = !test_bit(state, negatives_[n]);
    }
    if (clear) out.push_back(actions_[i]);
  }
}

std::size_t SuccessorTree::memory_bytes() const {
  return nodes_.size() * sizeof(Node) +
         (root_child_.size() + actions_.size() + first_negative_.size() + negatives_.size()) * sizeof(std::uint32_t) +
         root_mask_.size() * sizeof(Word);
}

}  // namespace metactrl::task
