// Checking seams: does the tokenizer cut where one part of a plan ends and the next begins, whichever parts these are?
//
// Any entry may follow any other, so pairs cannot all be tried. Two parts are encoded as one text for
//
//   - every token of the vocabulary that could straddle the seam: one pair that it matches, better one in which it
//     begins where a token begins. When no token matches any pair, nothing can straddle the seam,
//   - every pair of (last token before the seam, first token behind it), where some token could straddle it,
//   - each part at least once, as far as they differ near the seam, up to a limit.
//
// Parts that agree in the tokens next to the seam (two at least, and twelve bytes) are one here. A token that could
// reach further than that, or over a whole entry, makes the seam fail: rather another seam, or an error, than an
// encoding that is not the tokenizer's.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "support/str_cat.h"
#include "text/automaton.h"

namespace metactrl::text {

using internal::str_cat;

namespace {

constexpr std::size_t kNearTokens = 2;
constexpr std::size_t kNearBytes = 12;
constexpr std::size_t kMaxPairs = 2048;
constexpr std::size_t kMaxParts = 24;  // each checked once
constexpr std::size_t kSureParts = 4;  // the same where nothing can straddle the seam

// What stands on one side of a seam.
struct Part {
  std::vector<TokenId> tokens;
  std::string text;
  std::size_t near = 0;  // bytes next to the seam that stand for all parts like this one
  bool first = false;    // nothing but the prompt stands before it, and no token reaches into that
};

using Pair = std::pair<std::size_t, std::size_t>;

class Seam {
 public:
  Seam(const Vocabulary& vocabulary, std::vector<Part> lefts, std::vector<Part> rights);
  std::string check();

 private:
  bool add_straddling(char before, char behind);
  // The best part that the token's bytes before (behind) the seam match; nothing found: size(). Sets `too_far_`.
  std::size_t find_left(std::string_view bytes);
  std::size_t find_right(std::string_view bytes, const std::vector<std::size_t>& among);
  void add_outer_tokens();
  std::string check_pair(const Pair& pair) const;

  const Vocabulary& vocabulary_;
  std::vector<Part> lefts_;
  std::vector<Part> rights_;
  std::string shared_;  // what all lefts end in
  std::map<char, std::vector<std::size_t>> rights_by_byte_;
  std::set<Pair> pairs_;
  bool too_far_ = false;
};

Seam::Seam(const Vocabulary& vocabulary, std::vector<Part> lefts, std::vector<Part> rights)
    : vocabulary_(vocabulary), lefts_(std::move(lefts)), rights_(std::move(rights)), shared_(lefts_.front().text) {
  for (const Part& left : lefts_) {
    const auto [a, b] = std::mismatch(shared_.rbegin(), shared_.rend(), left.text.rbegin(), left.text.rend());
    shared_.erase(0, static_cast<std::size_t>(shared_.rend() - a));
  }
  for (std::size_t i = 0; i < rights_.size(); ++i) rights_by_byte_[rights_[i].text.front()].push_back(i);
}

bool token_begins_at(const Vocabulary& vocabulary, const std::vector<TokenId>& tokens, std::size_t bytes_from_end) {
  std::size_t back = 0;
  for (std::size_t i = tokens.size(); i-- > 0 && back < bytes_from_end;) back += vocabulary.bytes(tokens[i]).size();
  return back == bytes_from_end;
}

std::size_t Seam::find_left(std::string_view bytes) {
  std::size_t found = lefts_.size();
  if (bytes.size() <= shared_.size() ? !shared_.ends_with(bytes) : !bytes.ends_with(shared_)) return found;
  for (std::size_t i = 0; i < lefts_.size(); ++i) {
    const std::string_view text = lefts_[i].text;
    const std::string_view near = text.substr(text.size() - lefts_[i].near);
    if (bytes.size() > near.size()) {
      if (!bytes.ends_with(near)) continue;
      if (!lefts_[i].first) too_far_ = true;
      continue;
    }
    if (!near.ends_with(bytes)) continue;
    if (token_begins_at(vocabulary_, lefts_[i].tokens, bytes.size())) return i;
    found = std::min(found, i);
  }
  return found;
}

std::size_t Seam::find_right(std::string_view bytes, const std::vector<std::size_t>& among) {
  for (const std::size_t i : among) {
    const std::string_view near = std::string_view(rights_[i].text).substr(0, rights_[i].near);
    if (bytes.size() > near.size()) {
      if (bytes.starts_with(near)) too_far_ = true;
    } else if (near.starts_with(bytes)) {
      return i;
    }
  }
  return rights_.size();
}

// Whether some token can straddle the seam between these two bytes.
bool Seam::add_straddling(char before, char behind) {
  bool any = false;
  each_holder(vocabulary_, before, behind, std::string_view::npos, [&](TokenId token, std::size_t left_size) {
    const std::string_view bytes = vocabulary_.bytes(token);
    const bool was_too_far = std::exchange(too_far_, false);
    const std::size_t left = find_left(bytes.substr(0, left_size));
    const bool left_too_far = std::exchange(too_far_, false);
    const std::size_t right = find_right(bytes.substr(left_size), rights_by_byte_[behind]);
    const bool left_possible = left < lefts_.size() || left_too_far;
    const bool right_possible = right < rights_.size() || too_far_;
    too_far_ = was_too_far || (left_possible && right_possible && (left_too_far || too_far_));
    if (!left_possible || !right_possible) return;
    any = true;
    if (left < lefts_.size() && right < rights_.size()) pairs_.emplace(left, right);
  });
  return any;
}

void Seam::add_outer_tokens() {
  std::map<TokenId, std::size_t> last;
  std::map<TokenId, std::size_t> first;
  for (std::size_t i = 0; i < lefts_.size(); ++i) last.try_emplace(lefts_[i].tokens.back(), i);
  for (std::size_t i = 0; i < rights_.size(); ++i) first.try_emplace(rights_[i].tokens.front(), i);
  for (const auto& [left_token, left] : last) {
    for (const auto& [right_token, right] : first) {
      if (pairs_.size() < kMaxPairs) pairs_.emplace(left, right);
    }
  }
}

std::string Seam::check_pair(const Pair& pair) const {
  const Part& left = lefts_[pair.first];
  const Part& right = rights_[pair.second];
  const std::vector<TokenId> found =
      encode_exactly(vocabulary_, left.text + right.text, {}, str_cat('"', left.text, right.text, '"'));
  if (found.size() == left.tokens.size() + right.tokens.size() &&
      std::equal(left.tokens.begin(), left.tokens.end(), found.begin()) &&
      std::equal(right.tokens.begin(), right.tokens.end(),
                 found.begin() + static_cast<std::ptrdiff_t>(left.tokens.size()))) {
    return {};
  }
  return str_cat("\"", left.text, "\" and \"", right.text, "\" are encoded otherwise when they stand together");
}

std::string Seam::check() {
  std::set<char> last_bytes;
  for (const Part& left : lefts_) last_bytes.insert(left.text.back());
  bool sure = true;
  for (const char before : last_bytes) {
    for (const auto& [behind, ignored] : rights_by_byte_) {
      if (add_straddling(before, behind)) sure = false;
    }
  }
  if (too_far_) return str_cat("a token might reach over more than the end of \"", lefts_.front().text, '"');
  if (!sure) add_outer_tokens();
  const std::size_t count = std::min(std::max(lefts_.size(), rights_.size()), sure ? kSureParts : kMaxParts);
  for (std::size_t i = 0; i < count; ++i) {
    // Evenly spread when there are more.
    pairs_.emplace(lefts_.size() > count ? i * lefts_.size() / count : i % lefts_.size(),
                   rights_.size() > count ? i * rights_.size() / count : i % rights_.size());
  }
  for (const Pair& pair : pairs_) {
    std::string why = check_pair(pair);
    if (!why.empty()) return why;
  }
  return {};
}

// --- the parts -------------------------------------------------------------------------------------------------------

class SeamChecker {
 public:
  SeamChecker(const TokenAutomaton& automaton, const Vocabulary& vocabulary, const Seams& seams)
      : automaton_(automaton), vocabulary_(vocabulary), seams_(seams) {}
  std::string check();

 private:
  // How many tokens at the front (back) of the string are near the seam.
  template <typename Iterator>
  std::size_t num_near(Iterator begin, Iterator end) const;
  Part part(std::span<const TokenId> tokens) const;
  Part left_part(std::span<const TokenId> tokens) const;
  Part right_part(std::span<const TokenId> tokens) const;
  std::vector<Part> lefts(std::uint32_t separator) const;
  std::vector<Part> rights(std::uint32_t group) const;
  std::string check_numbers(std::uint32_t separator) const;

  const TokenAutomaton& automaton_;
  const Vocabulary& vocabulary_;
  const Seams& seams_;
};

template <typename Iterator>
std::size_t SeamChecker::num_near(Iterator begin, Iterator end) const {
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (Iterator at = begin; at != end && (count < kNearTokens || bytes < kNearBytes); ++at, ++count) {
    bytes += vocabulary_.bytes(*at).size();
  }
  return count;
}

Part SeamChecker::part(std::span<const TokenId> tokens) const {
  Part out;
  out.tokens.assign(tokens.begin(), tokens.end());
  for (const TokenId token : tokens) out.text += vocabulary_.bytes(token);
  return out;
}

Part SeamChecker::left_part(std::span<const TokenId> tokens) const {
  Part out = part(tokens);
  const std::size_t count = num_near(tokens.rbegin(), tokens.rend());
  for (const TokenId token : tokens.last(count)) out.near += vocabulary_.bytes(token).size();
  return out;
}

Part SeamChecker::right_part(std::span<const TokenId> tokens) const {
  Part out = part(tokens);
  const std::size_t count = num_near(tokens.begin(), tokens.end());
  for (const TokenId token : tokens.first(count)) out.near += vocabulary_.bytes(token).size();
  return out;
}

std::vector<Part> SeamChecker::lefts(std::uint32_t separator) const {
  std::vector<Part> out;
  NumberSet seen;
  for (std::uint32_t rank = 0; rank < automaton_.num_entries(); ++rank) {
    if (automaton_.entry(rank).next != separator) continue;
    const std::span<const TokenId> tokens = automaton_.tokens(rank);
    std::uint64_t key = 0;
    for (const TokenId token : tokens.last(num_near(tokens.rbegin(), tokens.rend())))
      key = mix(key, static_cast<std::uint64_t>(token) + 1);
    if (seen.contains(key | 1U)) continue;
    seen.insert(key | 1U);
    out.push_back(left_part(tokens));
  }
  return out;
}

std::vector<Part> SeamChecker::rights(std::uint32_t group) const {
  const auto [begin, end] = automaton_.group(group);
  std::vector<Part> out;
  std::span<const TokenId> last;
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    const std::span<const TokenId> tokens = automaton_.text_tokens(rank);
    const std::span<const TokenId> near = tokens.first(num_near(tokens.begin(), tokens.end()));
    // Where only the end of the turn follows, there is nothing to join with.
    if (near.empty() || (!out.empty() && std::ranges::equal(near, last))) continue;
    last = near;
    out.push_back(right_part(tokens));
  }
  return out;
}

// Before and behind the number.
std::string SeamChecker::check_numbers(std::uint32_t separator) const {
  const std::uint32_t group = seams_.group_after[separator];
  std::vector<Part> before;
  std::vector<Part> behind;
  const std::span<const TokenId> entry = automaton_.text_tokens(automaton_.group(group).first);
  for (std::size_t i = 0; i < seams_.prefixes.size(); ++i) {
    const std::span<const TokenId> number = automaton_.prefix(i + 2);
    if (number.empty()) return "a number has no text of its own";
    std::vector<TokenId> followed(number.begin(), number.end());
    followed.insert(followed.end(), entry.begin(), entry.end());
    before.push_back(left_part(number));
    // What follows the number differs, but up to there it is this one.
    behind.push_back(right_part(followed));
    behind.back().near = std::min(behind.back().near, before.back().text.size());
  }
  std::string why = Seam(vocabulary_, lefts(separator), std::move(behind)).check();
  if (why.empty()) why = Seam(vocabulary_, std::move(before), rights(group)).check();
  return why;
}

std::string SeamChecker::check() {
  std::string why;
  if (!automaton_.opening().empty()) {
    Part opening = left_part(automaton_.opening());
    opening.near = opening.text.size();
    opening.first = true;
    why = Seam(vocabulary_, {std::move(opening)}, rights(automaton_.first_group())).check();
  }
  for (std::uint32_t separator = 0; separator < automaton_.num_separators() && why.empty(); ++separator) {
    why = seams_.prefixes.empty() ? Seam(vocabulary_, lefts(separator), rights(seams_.group_after[separator])).check()
                                  : check_numbers(separator);
  }
  return why;
}

}  // namespace

std::string check_seams(const TokenAutomaton& automaton, const Vocabulary& vocabulary, const Seams& seams) {
  return SeamChecker(automaton, vocabulary, seams).check();
}

}  // namespace metactrl::text
