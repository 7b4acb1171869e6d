// A vocabulary as a table. The tokens are sorted by their bytes; the longest token at some place of a text is found by
// narrowing the range of tokens that agree with the text byte by byte.
//
// Longest match never looks back: where a token ends at the border between context and text, the rest is cut as if the
// text stood alone, and where none does, that is what the interface asks for. So the context makes no difference.
#include <algorithm>
#include <numeric>
#include <utility>

#include "metactrl/error.h"
#include "metactrl/vocabulary.h"
#include "support/str_cat.h"
#include "text/quote.h"

namespace metactrl {

using internal::str_cat;

namespace {

// FNV-1a over bytes and numbers.
class Fingerprint {
 public:
  void add(std::string_view bytes) {
    add(bytes.size());
    for (const char c : bytes) mix(static_cast<unsigned char>(c));
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) mix(static_cast<unsigned char>(number >> shift));
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace

TableVocabulary::TableVocabulary(std::vector<std::string> tokens, std::vector<TokenId> end_of_turn)
    : tokens_(std::move(tokens)), end_of_turn_(std::move(end_of_turn)) {
  if (end_of_turn_.empty())
    throw InputError("vocabulary", "no token ends a turn", "name at least one end-of-turn token");
  std::sort(end_of_turn_.begin(), end_of_turn_.end());
  end_of_turn_.erase(std::unique(end_of_turn_.begin(), end_of_turn_.end()), end_of_turn_.end());
  for (const TokenId token : end_of_turn_) {
    const auto id = static_cast<std::int64_t>(token);
    if (id >= 0 && static_cast<std::size_t>(id) < tokens_.size()) continue;
    throw InputError("vocabulary", str_cat("end-of-turn token ", id, " is not one of the ", tokens_.size(), " tokens"),
                     "tokens count from 0");
  }
  // Written out in a text, an end-of-turn token is plain text; as a token it stands for no bytes.
  for (const TokenId token : end_of_turn_) tokens_[static_cast<std::size_t>(token)].clear();

  Fingerprint fingerprint;
  for (const std::string& token : tokens_) {
    fingerprint.add(token);
    longest_ = std::max(longest_, token.size());
  }
  for (const TokenId token : end_of_turn_) fingerprint.add(static_cast<std::uint64_t>(token));
  fingerprint_ = fingerprint.value();

  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].empty()) by_bytes_.push_back(static_cast<std::uint32_t>(i));
  }
  std::sort(by_bytes_.begin(), by_bytes_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const int compared = tokens_[a].compare(tokens_[b]);
    return compared != 0 ? compared < 0 : a < b;
  });
}

std::string_view TableVocabulary::bytes(TokenId token) const {
  const auto id = static_cast<std::size_t>(token);
  return id < tokens_.size() ? std::string_view(tokens_[id]) : std::string_view();
}

std::vector<TokenId> TableVocabulary::encode(std::string_view text, std::string_view /*context*/) const {
  std::vector<TokenId> out;
  for (std::size_t at = 0; at < text.size();) {
    auto begin = by_bytes_.begin();
    auto end = by_bytes_.end();
    std::size_t best_length = 0;
    std::uint32_t best = 0;
    for (std::size_t depth = 0; at + depth < text.size() && depth < longest_; ++depth) {
      const auto wanted = static_cast<unsigned char>(text[at + depth]);
      const auto byte = [this, depth](std::uint32_t id) { return static_cast<unsigned char>(tokens_[id][depth]); };
      begin = std::partition_point(begin, end, [&](std::uint32_t id) {
        return tokens_[id].size() <= depth || byte(id) < wanted;  // shorter tokens come first
      });
      end = std::partition_point(begin, end, [&](std::uint32_t id) { return byte(id) == wanted; });
      if (begin == end) break;
      if (tokens_[*begin].size() == depth + 1) {
        best = *begin;
        best_length = depth + 1;
      }
    }
    if (best_length == 0) {
      constexpr std::size_t kShown = 24;
      throw InputError("vocabulary",
                       str_cat("no token fits at byte ", at + 1, ", ", text::quote(text.substr(at), kShown)),
                       "the vocabulary lacks a token for this byte");
    }
    out.push_back(static_cast<TokenId>(best));
    at += best_length;
  }
  return out;
}

}  // namespace metactrl
