// The tokens are sorted by their bytes; a node is then a range of neighbours that begin alike. Sorting compares the
// first eight bytes as one number, which decides nearly always.
#include "text/lexicon.h"

#include <algorithm>
#include <string_view>

namespace metactrl::text {

namespace {

struct Key {
  std::uint64_t head = 0;
  TokenId token{};
  std::string_view bytes;
};

std::uint64_t head_of(std::string_view bytes) {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < sizeof(head); ++i) {
    head = head << 8U | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
  }
  return head;
}

std::vector<Key> sorted_tokens(const Vocabulary& vocabulary) {
  const std::vector<TokenId>& ends = vocabulary.end_of_turn();
  std::vector<Key> keys;
  keys.reserve(vocabulary.size());
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const TokenId token{static_cast<std::int32_t>(i)};
    const std::string_view bytes = vocabulary.bytes(token);
    if (bytes.empty() || std::binary_search(ends.begin(), ends.end(), token)) continue;
    keys.push_back({head_of(bytes), token, bytes});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    if (a.head != b.head) return a.head < b.head;
    const int compared = a.bytes.compare(b.bytes);
    return compared != 0 ? compared < 0 : a.token < b.token;
  });
  return keys;
}

// The tokens [begin, end) agree on `depth` bytes.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t depth = 0;
};

}  // namespace

Lexicon::Lexicon(const Vocabulary& vocabulary) {
  const std::vector<Key> keys = sorted_tokens(vocabulary);
  std::vector<Range> nodes{{0, static_cast<std::uint32_t>(keys.size()), 0}};
  byte_.push_back(0);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    first_child_.push_back(static_cast<std::uint32_t>(nodes.size()));
    first_token_.push_back(static_cast<std::uint32_t>(tokens_.size()));
    Range range = nodes[node];
    while (range.begin < range.end && keys[range.begin].bytes.size() == range.depth) {
      tokens_.push_back(keys[range.begin++].token);
    }
    while (range.begin < range.end) {
      const char byte = keys[range.begin].bytes[range.depth];
      std::uint32_t end = range.begin + 1;
      while (end < range.end && keys[end].bytes[range.depth] == byte) ++end;
      nodes.push_back({range.begin, end, range.depth + 1});
      byte_.push_back(static_cast<unsigned char>(byte));
      range.begin = end;
    }
  }
  first_child_.push_back(static_cast<std::uint32_t>(nodes.size()));
  first_token_.push_back(static_cast<std::uint32_t>(tokens_.size()));
}

std::uint32_t Lexicon::child(std::uint32_t node, unsigned char byte) const {
  const auto first = byte_.begin() + first_child_[node];
  const auto last = byte_.begin() + first_child_[node + 1];
  const auto found = std::lower_bound(first, last, byte);
  return found != last && *found == byte ? static_cast<std::uint32_t>(found - byte_.begin()) : kNone;
}

std::size_t Lexicon::memory_bytes() const {
  return (first_child_.capacity() + first_token_.capacity()) * sizeof(std::uint32_t) + byte_.capacity() +
         tokens_.capacity() * sizeof(TokenId);
}

}  // namespace metactrl::text
