// What is worked out about a vocabulary's tokens at the first question, once for all tasks.
//
//     for (TokenId token : vocabulary.index().holders(vocabulary, ')', '\n')) ...
//     const Lexicon& lexicon = *vocabulary.index().lexicon(vocabulary);
#ifndef METACTRL_SRC_TEXT_TOKEN_INDEX_H_
#define METACTRL_SRC_TEXT_TOKEN_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "metactrl/vocabulary.h"
#include "text/lexicon.h"

namespace metactrl {

// Asked with the vocabulary that it belongs to. May be asked from many threads.
class Vocabulary::Index {
 public:
  // The tokens that hold byte `second` right behind byte `first`, ascending: those that could straddle a border between
  // these two. The first call takes some milliseconds for a hundred thousand tokens.
  std::span<const TokenId> holders(const Vocabulary& vocabulary, char first, char second) const {
    std::call_once(holders_once_, [&] { find_holders(vocabulary); });
    const std::size_t pair = std::size_t{static_cast<unsigned char>(first)} << 8U | static_cast<unsigned char>(second);
    return {holders_.data() + first_holder_[pair], first_holder_[pair + 1] - first_holder_[pair]};
  }
  // Every token that stands for text, by its bytes. The first call takes some tens of milliseconds for a hundred
  // thousand tokens.
  std::shared_ptr<const text::Lexicon> lexicon(const Vocabulary& vocabulary) const;

 private:
  void find_holders(const Vocabulary& vocabulary) const;

  mutable std::once_flag holders_once_;
  mutable std::vector<std::uint32_t> first_holder_;  // by pair of bytes, into `holders_`
  mutable std::vector<TokenId> holders_;
  mutable std::once_flag lexicon_once_;
  mutable std::shared_ptr<const text::Lexicon> lexicon_;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_TEXT_TOKEN_INDEX_H_
