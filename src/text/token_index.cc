#include "text/token_index.h"

#include <string_view>
#include <utility>

namespace metactrl {

Vocabulary::Vocabulary() : index_(std::make_shared<Index>()) {}

std::shared_ptr<const text::Lexicon> Vocabulary::Index::lexicon(const Vocabulary& vocabulary) const {
  std::call_once(lexicon_once_, [&] { lexicon_ = std::make_shared<const text::Lexicon>(vocabulary); });
  return lexicon_;
}

// Counts, then fills: all holders of a pair stand behind each other.
void Vocabulary::Index::find_holders(const Vocabulary& vocabulary) const {
  constexpr std::size_t kPairs = std::size_t{1} << 16U;
  first_holder_.assign(kPairs + 1, 0);
  std::vector<std::uint32_t> seen(kPairs);
  // Calls `each` once for every pair in every token.
  const auto visit = [&](const auto& each) {
    seen.assign(kPairs, 0xffffffffU);
    for (std::uint32_t i = 0; i < vocabulary.size(); ++i) {
      const std::string_view token = vocabulary.bytes(TokenId{static_cast<std::int32_t>(i)});
      for (std::size_t at = 1; at < token.size(); ++at) {
        const std::size_t pair =
            std::size_t{static_cast<unsigned char>(token[at - 1])} << 8U | static_cast<unsigned char>(token[at]);
        if (std::exchange(seen[pair], i) != i) each(pair, i);
      }
    }
  };
  visit([&](std::size_t pair, std::uint32_t) { ++first_holder_[pair + 1]; });
  for (std::size_t pair = 0; pair < kPairs; ++pair) first_holder_[pair + 1] += first_holder_[pair];
  holders_.resize(first_holder_[kPairs]);
  std::vector<std::uint32_t> next(first_holder_.begin(), first_holder_.end() - 1);
  visit([&](std::size_t pair, std::uint32_t i) { holders_[next[pair]++] = TokenId{static_cast<std::int32_t>(i)}; });
}

}  // namespace metactrl
