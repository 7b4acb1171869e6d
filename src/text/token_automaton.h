// gamma, the token automaton: which sequences of tokens stand for a plan.
#ifndef METACTRL_SRC_TEXT_TOKEN_AUTOMATON_H_
#define METACTRL_SRC_TEXT_TOKEN_AUTOMATON_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/format.h"
#include "metactrl/vocabulary.h"
#include "text/lexicon.h"

namespace metactrl {

struct AutomatonOptions {
  // The end of the prompt's text: the plan's first token is the one the tokenizer would choose there. With kAny it does
  // not matter: the plan begins with a new token.
  std::string context;
  // Longest plan in actions: numbered formats spell out so many numbers.
  unsigned max_actions = 256;
  Tokenization tokenization = Tokenization::kCanonical;
};

// gamma: accepts a token sequence if and only if it stands for a plan in the sense of Tokenization and an end-of-turn
// token follows.
//
// It is an automaton over *symbols*. In canonical tokenization a symbol is a token. In any other tokenization it is a
// byte (0 to 255), and a token is as many steps as it has bytes: it may begin in the middle of one action and end in
// the middle of the next but one. Which tokens agree with the texts that are possible is then found by walking the
// vocabulary's Lexicon alongside.
//
// What follows is said of tokens and holds for bytes as well; with bytes the cuts are simply where items begin.
//
// A plan's tokens are put together from parts:
//
//     opening, entry, [prefix 2] entry, [prefix 3] entry, ..., end of turn
//
// An *entry* is an action together with what follows it: a separator (another action comes) or the closing (none does).
// The text is cut right where one entry ends and the next begins, at a place where the tokenizer cuts it anyway (behind
// the quote that opens a name, before the blank that begins a word); the compiler finds that place by trying and checks
// it by encoding whole plans. So tokens that straddle an action and its separator, or an argument and its bracket, need
// no special care. Where two separators leave different beginnings to the next entry (`", "` and ` and `: `a(x)` but `
// a(x)`), there is a *group* of entries for each beginning; most formats have one.
//
// The entries of a group are kept as one array of token strings in lexicographic order. A state of the automaton inside
// an action is a range of that array and a depth: the entries that begin with the tokens read so far. What holds
// (checked at compile):
//
//   - Every string holds at least one token, so nothing can be read for ever without finishing an action.
//   - Where the format has no closing text, the end of the turn closes the plan: the strings of closing entries then
//     end in the symbol kEnd, which stands for any end-of-turn token.
//   - No string is a prefix of another string of its group. So an entry is known as soon as its last token is read.
//   - With the end-of-turn token behind it, the empty plan is no prefix of opening + entry, nor the other way round.
//   The opening alone
//     may be a prefix of the empty plan (`[` of `[` `]`), the empty plan may begin with tokens of entries or be nothing
//     at all (then an end-of-turn token in the first place means the empty plan).
class TokenAutomaton {
 public:
  // What follows the action of an entry: separator number n, or the closing.
  static constexpr std::uint32_t kClose = 0xffffffffU;
  // The symbol for any end-of-turn token. It sorts before all others.
  static constexpr TokenId kEnd{-1};
  struct Entry {
    ActionId action{};
    std::uint32_t next = kClose;
  };

  // Throws InputError when some text cannot be written in this vocabulary (with kAny: when the vocabulary lacks a token
  // for one of its bytes alone, so that a text might be begun and not be finished), or when the tokenizer's encoding
  // cannot be cut between two actions at any place; Stopped when `stop` says so.
  static std::shared_ptr<const TokenAutomaton> compile(const PlanSpelling& spelling, const Vocabulary& vocabulary,
                                                       const AutomatonOptions& options, const Stop& stop = {});

  Tokenization tokenization() const { return lexicon_ == nullptr ? Tokenization::kCanonical : Tokenization::kAny; }
  // The vocabulary's tokens by their bytes; null in canonical tokenization.
  const text::Lexicon* lexicon() const { return lexicon_.get(); }
  std::size_t num_entries() const { return entries_.size(); }
  std::size_t num_separators() const { return num_separators_; }
  // Ranks [begin, end) of a group; the group of a plan's first entry and of an entry that follows a separator.
  std::size_t num_groups() const { return groups_.size() - 1; }
  std::pair<std::uint32_t, std::uint32_t> group(std::uint32_t group) const {
    return {groups_[group], groups_[group + 1]};
  }
  std::uint32_t first_group() const { return first_group_; }
  std::uint32_t group_after(std::uint32_t separator) const { return group_after_[separator]; }
  // By rank, that is by group and in lexicographic order of their tokens.
  const Entry& entry(std::uint32_t rank) const { return entries_[rank]; }
  std::span<const TokenId> tokens(std::uint32_t rank) const {
    return {tokens_.data() + first_token_[rank], first_token_[rank + 1] - first_token_[rank]};
  }
  // The same without kEnd.
  std::span<const TokenId> text_tokens(std::uint32_t rank) const {
    const std::span<const TokenId> all = tokens(rank);
    return !all.empty() && all.back() == kEnd ? all.first(all.size() - 1) : all;
  }
  // The rank of an entry; `next` is a separator or kClose.
  std::uint32_t rank(ActionId action, std::uint32_t next, std::uint32_t group = 0) const {
    const std::size_t column = next == kClose ? num_separators_ : next;
    return rank_[(group * num_actions_ + static_cast<std::size_t>(action)) * (num_separators_ + 1) + column];
  }
  // The sub-range of [begin, end), whose entries agree on `depth` tokens, that continues with `token`; empty when none
  // does. Logarithmic in the length of the range.
  std::pair<std::uint32_t, std::uint32_t> narrow(std::uint32_t begin, std::uint32_t end, std::size_t depth,
                                                 TokenId token) const;

  // Tokens before the first entry of a plan that has one (its number included), and of the whole text of an empty plan.
  // Either may be nothing.
  std::span<const TokenId> opening() const { return opening_; }
  std::span<const TokenId> empty_plan() const { return empty_plan_; }
  // Tokens between entry number `index - 1` and entry number `index` (from 2): the number in numbered formats, mostly
  // nothing.
  std::span<const TokenId> prefix(std::size_t index) const;
  // The longest plan there are numbers for; no limit in formats without numbers.
  std::size_t max_actions() const;
  const std::vector<TokenId>& end_of_turn() const { return end_of_turn_; }

  // States of the equivalent deterministic automaton (distinct prefixes of a group's entries), for reports.
  std::size_t num_states() const { return num_states_; }
  std::size_t memory_bytes() const;

  // A versioned binary file with a checksum; it names the vocabulary, format and actions it was made for. load throws
  // InputError when it is damaged or was made for something else.
  void save(const std::string& file) const;
  static std::shared_ptr<const TokenAutomaton> load(const std::string& file, const PlanSpelling& spelling,
                                                    const Vocabulary& vocabulary, const AutomatonOptions& options);

 private:
  friend class AutomatonCompiler;
  friend class AutomatonReader;

  TokenAutomaton() = default;

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> groups_;       // first rank of each group, then the number of entries
  std::vector<std::uint32_t> group_after_;  // by separator
  std::uint32_t first_group_ = 0;
  std::vector<std::size_t> first_token_;
  std::vector<TokenId> tokens_;
  std::vector<std::uint32_t> rank_;
  std::vector<TokenId> opening_;
  std::vector<TokenId> empty_plan_;
  std::vector<std::vector<TokenId>> prefixes_;  // from index 2; empty: no prefix at any index
  std::vector<TokenId> end_of_turn_;
  std::shared_ptr<const text::Lexicon> lexicon_;
  std::size_t num_separators_ = 0;
  std::size_t num_actions_ = 0;
  std::size_t num_states_ = 0;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_TEXT_TOKEN_AUTOMATON_H_
