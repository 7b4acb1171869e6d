// The proof that every plan has a text of its own.
//
// The *words* of a format are all texts "item + end", where an end is a separator or the closing. A plan's text is an
// opening and then words, with a known number in front of each in numbered formats. If no word is the beginning of
// another, the words can be read off the text one after the other in only one way.
#ifndef METACTRL_SRC_TEXT_COLLISION_H_
#define METACTRL_SRC_TEXT_COLLISION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "text/item_trie.h"

namespace metactrl::text {

// A word: item number `item` and end number `end`.
struct Word {
  std::uint32_t item = 0;
  std::uint32_t end = 0;
  bool operator==(const Word&) const = default;
};

// The word `first` is the beginning of the word `second`.
struct Collision {
  Word first;
  Word second;
};

// A collision, always the same one, or nothing when there is none: then the words are a prefix-free code. None of
// `ends` may be the beginning of another. Cost: linear in the number of items, plus the length of the ends for each
// item that another item begins with.
std::optional<Collision> find_collision(const ItemTrie& items, std::span<const std::string> ends);

// A word such that `text` is the beginning of "opening + word" or the other way round, or nothing. For the text of the
// empty plan.
std::optional<Word> find_word_like(std::string_view text, std::string_view opening, const ItemTrie& items,
                                   std::span<const std::string> ends);
// The same where the end of the text ends a plan, so that `text` may be the beginning of others: a word whose opening
// and item are `text`, or whose opening, item and end are its beginning. `ends` are without the closing; a word that is
// found to be `text` itself has the number behind the last of them.
std::optional<Word> find_word_in(std::string_view text, std::string_view opening, const ItemTrie& items,
                                 std::span<const std::string> ends);

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_COLLISION_H_
