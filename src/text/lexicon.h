// The tokens of a vocabulary as a trie over their bytes: which tokens agree with a text from here on.
//
//     const text::Lexicon& lexicon = *vocabulary.index().lexicon(vocabulary);
//     std::uint32_t node = lexicon.child(text::Lexicon::kRoot, 'w');    // kNone when no token begins with it
//     lexicon.tokens(node);                                             // those that are exactly "w"
//
// Tokens that end a turn and tokens without bytes are left out; several tokens may have the same bytes. Nodes are
// numbered in breadth-first order, so that the children of a node are neighbours, ascending by byte. Immutable,
// shareable between threads; about ten bytes for each distinct beginning of a token.
#ifndef METACTRL_SRC_TEXT_LEXICON_H_
#define METACTRL_SRC_TEXT_LEXICON_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metactrl/vocabulary.h"

namespace metactrl::text {

class Lexicon {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit Lexicon(const Vocabulary& vocabulary);

  // The node one byte further, or kNone.
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;
  std::span<const unsigned char> child_bytes(std::uint32_t node) const {
    return {byte_.data() + first_child_[node], first_child_[node + 1] - first_child_[node]};
  }
  bool has_children(std::uint32_t node) const { return first_child_[node] < first_child_[node + 1]; }
  // The tokens that end here, ascending.
  std::span<const TokenId> tokens(std::uint32_t node) const {
    return {tokens_.data() + first_token_[node], first_token_[node + 1] - first_token_[node]};
  }
  std::size_t memory_bytes() const;

 private:
  std::vector<std::uint32_t> first_child_;  // by node, and one more
  std::vector<std::uint32_t> first_token_;  // by node, and one more
  std::vector<unsigned char> byte_;         // by node: the last one
  std::vector<TokenId> tokens_;
};

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_LEXICON_H_
