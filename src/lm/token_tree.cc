// Paths are visited in lexicographic order, so the nodes that a path shares with the tree are a prefix of those of the
// path before it.
#include "lm/token_tree.h"

#include <algorithm>
#include <numeric>

namespace metactrl::lm {

TokenTree::TokenTree(std::span<const std::vector<TokenId>> paths) : path_nodes_(paths.size()) {
  std::vector<std::size_t> order(paths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return paths[a] != paths[b] ? paths[a] < paths[b] : a < b; });
  nodes_.push_back({});
  const std::vector<TokenId>* previous = nullptr;
  std::vector<std::uint32_t> spine;  // nodes of `previous`
  for (const std::size_t path : order) {
    const std::vector<TokenId>& tokens = paths[path];
    std::size_t shared = 0;
    if (previous != nullptr) {
      while (shared < tokens.size() && shared < previous->size() && tokens[shared] == (*previous)[shared]) ++shared;
    }
    spine.resize(shared);
    for (std::size_t i = shared; i < tokens.size(); ++i) {
      const std::uint32_t parent = spine.empty() ? 0 : spine.back();
      nodes_[parent].inner = true;
      spine.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({tokens[i], parent, static_cast<std::uint32_t>(i + 1), false});
    }
    path_nodes_[path] = spine;
    previous = &tokens;
  }
}

std::vector<TokenTree::Group> TokenTree::groups(std::size_t max_leaves) const {
  // A branch ends in an inner node none of whose children is inner.
  std::vector<char> continues(nodes_.size(), 0);
  for (const Node& node : nodes_) {
    if (node.inner) continues[node.parent] = 1;
  }
  std::vector<Group> result;
  std::vector<char> taken(nodes_.size(), 0);
  std::vector<std::uint32_t> branch;
  for (std::uint32_t leaf = 1; leaf < nodes_.size(); ++leaf) {
    if (!nodes_[leaf].inner || continues[leaf] != 0) continue;
    if (result.empty() || result.back().leaves.size() >= max_leaves) {
      std::fill(taken.begin(), taken.end(), 0);
      result.emplace_back();
    }
    branch.clear();
    for (std::uint32_t node = leaf; node != 0 && taken[node] == 0; node = nodes_[node].parent) {
      branch.push_back(node);
      taken[node] = 1;
    }
    result.back().nodes.insert(result.back().nodes.end(), branch.rbegin(), branch.rend());
    result.back().leaves.push_back(leaf);
  }
  return result;
}

}  // namespace metactrl::lm
