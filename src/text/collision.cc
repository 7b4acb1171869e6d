// Let a and b be items, x and y ends, and ax the beginning of by (or the same). Not a = b, for then x would be the
// beginning of y, which is excluded beforehand. So one item is the beginning of the other: were they to differ at some
// byte, so would the words. If b is the beginning of a, then a = br, and rx is the beginning of y; if a is the
// beginning of b, then b = ar, and x is the beginning of ry. Either way, from the end of the shorter item one walks
// down the trie along the bytes of the shorter item's end: every item met on the way is a candidate r, and what is left
// of the end is compared with each end behind that item. If the end is used up while still inside the trie, its word is
// the beginning of everything below.
//
// Items that no other item begins with need no look at all; these are nearly all.
#include "text/collision.h"

namespace metactrl::text {

namespace {

bool one_begins_the_other(std::string_view a, std::string_view b) { return a.starts_with(b) || b.starts_with(a); }

// A word that `text` begins with or that begins with `text`, where reading starts at `at`. Items that end right at the
// start are left out unless `from_start`.
std::optional<Word> walk(const ItemTrie& items, std::span<const std::string> ends, ItemTrie::Position at,
                         std::string_view text, bool from_start) {
  for (std::size_t i = 0;; ++i) {
    if (const std::uint32_t item = items.item(at); item != ItemTrie::kNone && (i > 0 || from_start)) {
      for (std::uint32_t end = 0; end < ends.size(); ++end) {
        if (one_begins_the_other(text.substr(i), ends[end])) return Word{item, end};
      }
    }
    if (i == text.size()) return Word{items.example(at), 0};
    const std::optional<ItemTrie::Position> next = items.step(at, text[i]);
    if (!next) return std::nullopt;
    at = *next;
  }
}

}  // namespace

std::optional<Collision> find_collision(const ItemTrie& items, std::span<const std::string> ends) {
  for (std::uint32_t item = 0; item < items.num_items(); ++item) {
    const ItemTrie::Position at = items.end_of(item);
    if (!items.has_longer(at)) continue;
    for (std::uint32_t end = 0; end < ends.size(); ++end) {
      const std::optional<Word> other = walk(items, ends, at, ends[end], false);
      if (!other) continue;
      const Word word{item, end};
      const std::size_t length = items.text(item).size() + ends[end].size();
      const std::size_t other_length = items.text(other->item).size() + ends[other->end].size();
      return length <= other_length ? Collision{word, *other} : Collision{*other, word};
    }
  }
  return std::nullopt;
}

std::optional<Word> find_word_like(std::string_view text, std::string_view opening, const ItemTrie& items,
                                   std::span<const std::string> ends) {
  if (items.num_items() == 0 || !one_begins_the_other(text, opening)) return std::nullopt;
  if (text.size() <= opening.size()) return Word{0, 0};
  return walk(items, ends, ItemTrie::root(), text.substr(opening.size()), true);
}

std::optional<Word> find_word_in(std::string_view text, std::string_view opening, const ItemTrie& items,
                                 std::span<const std::string> ends) {
  if (items.num_items() == 0 || !text.starts_with(opening)) return std::nullopt;
  text.remove_prefix(opening.size());
  ItemTrie::Position at = ItemTrie::root();
  for (std::size_t i = 0;; ++i) {
    if (const std::uint32_t item = items.item(at); item != ItemTrie::kNone) {
      if (i == text.size()) return Word{item, static_cast<std::uint32_t>(ends.size())};
      for (std::uint32_t end = 0; end < ends.size(); ++end) {
        if (text.substr(i).starts_with(ends[end])) return Word{item, end};
      }
    }
    if (i == text.size()) return std::nullopt;
    const std::optional<ItemTrie::Position> next = items.step(at, text[i]);
    if (!next) return std::nullopt;
    at = *next;
  }
}

}  // namespace metactrl::text
