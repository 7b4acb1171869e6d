// Sorting entries by their tokens.
//
// Entries are sequences of pieces. The pieces are sorted by their tokens first, and an entry's key is the ranks of its
// pieces, packed into two words. The first piece in which two keys differ decides by its rank, unless one of the two
// pieces is a prefix of the other, which is rare and decided by the tokens themselves. Sorting eighty thousand entries
// so takes a few milliseconds, comparing token strings of which long beginnings agree a hundred.
#include <algorithm>
#include <bit>

#include "support/meter.h"
#include "text/automaton.h"

namespace metactrl::text {

namespace {

bool starts_with(std::span<const TokenId> tokens, std::span<const TokenId> prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

class Sorter {
 public:
  Sorter(const EntryBuilder& builder, internal::Meter& meter);
  std::vector<std::uint32_t> sort(std::size_t num_groups) const;

 private:
  struct Key {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::uint32_t entry = 0;
  };

  Key key(std::uint32_t entry) const;
  bool less(const Key& a, const Key& b) const;
  bool less_by(std::uint64_t a_word, std::uint64_t b_word, const Key& a, const Key& b) const;
  bool less_by_tokens(std::uint32_t a, std::uint32_t b) const;

  const EntryBuilder& builder_;
  internal::Meter& meter_;
  std::vector<std::uint32_t> rank_;  // by piece, from 1
  std::vector<std::uint32_t> end_;   // by rank: the first rank above whose piece does not begin with this one
  unsigned bits_ = 1;                // of a rank
  unsigned per_word_ = 64;
  bool packed_ = false;
  static constexpr std::uint64_t kCompareSteps = 16;
};

Sorter::Sorter(const EntryBuilder& builder, internal::Meter& meter) : builder_(builder), meter_(meter) {
  const PieceTable& table = builder.table();
  std::vector<std::uint32_t> order(table.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::span<const TokenId> left = table.tokens(a);
    const std::span<const TokenId> right = table.tokens(b);
    const auto [l, r] = std::ranges::mismatch(left, right);
    if (l != left.end() && r != right.end()) return *l < *r;
    return left.size() != right.size() ? left.size() < right.size() : a < b;
  });
  rank_.resize(order.size());
  end_.resize(order.size() + 1);
  for (std::size_t i = order.size(); i-- > 0;) {
    rank_[order[i]] = static_cast<std::uint32_t>(i + 1);
    std::size_t end = i + 1;
    while (end < order.size() && starts_with(table.tokens(order[end]), table.tokens(order[i]))) end = end_[end + 1] - 1;
    end_[i + 1] = static_cast<std::uint32_t>(end + 1);
  }
  bits_ = static_cast<unsigned>(std::bit_width(order.size()));
  per_word_ = 64 / std::max(bits_, 1U);
  packed_ = builder.max_pieces() <= std::size_t{2} * per_word_;
}

Sorter::Key Sorter::key(std::uint32_t entry) const {
  Key key;
  key.entry = entry;
  if (!packed_) return key;
  unsigned index = 0;
  for (const std::uint32_t piece : builder_.pieces(entry)) {
    if (piece == PieceTable::kNone) break;
    std::uint64_t& word = index < per_word_ ? key.high : key.low;
    word |= std::uint64_t{rank_[piece]} << (64 - bits_ * (index % per_word_ + 1));
    ++index;
  }
  return key;
}

bool Sorter::less(const Key& a, const Key& b) const {
  meter_.step(kCompareSteps);
  if (a.high != b.high) return less_by(a.high, b.high, a, b);
  if (a.low != b.low) return less_by(a.low, b.low, a, b);
  return less_by_tokens(a.entry, b.entry);
}

bool Sorter::less_by(std::uint64_t a_word, std::uint64_t b_word, const Key& a, const Key& b) const {
  const unsigned index = static_cast<unsigned>(std::countl_zero(a_word ^ b_word)) / bits_;
  const unsigned shift = 64 - bits_ * (index + 1);
  const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
  const std::uint64_t a_rank = (a_word >> shift) & mask;
  const std::uint64_t b_rank = (b_word >> shift) & mask;
  const auto [first, second] = std::minmax(a_rank, b_rank);
  if (first == 0 || second >= end_[first]) return a_rank < b_rank;
  return less_by_tokens(a.entry, b.entry);
}

bool Sorter::less_by_tokens(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return false;
  meter_.piece();
  std::vector<TokenId> left;
  std::vector<TokenId> right;
  builder_.append_tokens(a, &left);
  builder_.append_tokens(b, &right);
  const auto [l, r] = std::ranges::mismatch(left, right);
  if (l != left.end() && r != right.end()) return *l < *r;
  return left.size() != right.size() ? left.size() < right.size() : a < b;
}

std::vector<std::uint32_t> Sorter::sort(std::size_t num_groups) const {
  std::vector<Key> keys;
  const std::size_t count = builder_.num_entries();
  keys.reserve(count);
  for (std::uint32_t entry = 0; entry < count; ++entry) keys.push_back(key(entry));
  const std::size_t per_group = count / num_groups;
  for (std::size_t group = 0; group < num_groups; ++group) {
    const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(group * per_group);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(per_group),
              [this](const Key& a, const Key& b) { return less(a, b); });
  }
  std::vector<std::uint32_t> order;
  order.reserve(count);
  for (const Key& key : keys) order.push_back(key.entry);
  return order;
}

}  // namespace

std::vector<std::uint32_t> sort_entries(const EntryBuilder& builder, std::size_t num_groups, internal::Meter& meter) {
  return Sorter(builder, meter).sort(num_groups);
}

}  // namespace metactrl::text
