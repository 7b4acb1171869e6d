// TokenTree: several continuations of one text with their common prefixes joined.
#ifndef METACTRL_SRC_LM_TOKEN_TREE_H_
#define METACTRL_SRC_LM_TOKEN_TREE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metactrl/vocabulary.h"

namespace metactrl::lm {

// Nodes are in depth-first order, parents before children; node 0 is the root, the end of the text so far. A node with
// children is `inner`: the model must be asked what follows it. The others need not be evaluated at all.
class TokenTree {
 public:
  struct Node {
    TokenId token{};           // of the root: meaningless
    std::uint32_t parent = 0;  // of the root: itself
    std::uint32_t depth = 0;
    bool inner = false;
  };

  explicit TokenTree(std::span<const std::vector<TokenId>> paths);

  const std::vector<Node>& nodes() const { return nodes_; }
  // The nodes of paths[path], one for each of its tokens.
  std::span<const std::uint32_t> nodes_of(std::size_t path) const { return path_nodes_[path]; }

  // The inner nodes but the root, cut into groups of at most `max_leaves` branches that can be evaluated together: with
  // each node all its ancestors, which are thus repeated from group to group.
  struct Group {
    std::vector<std::uint32_t> nodes;   // ascending
    std::vector<std::uint32_t> leaves;  // the last node of each branch, ascending
  };
  std::vector<Group> groups(std::size_t max_leaves) const;

 private:
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> path_nodes_;
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_TOKEN_TREE_H_
