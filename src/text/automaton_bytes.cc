// The automaton over bytes, for any tokenization.
//
// An entry is an item's text with a separator or the closing behind it, the cut between entries is where items begin,
// and there is one group. The spelling has proved that no such text is the beginning of another, so nothing is left to
// find out. Any text can be begun by any token that agrees with it; so that it can always be finished, each of its
// bytes has to be a token of its own.
#include <algorithm>
#include <array>
#include <numeric>

#include "metactrl/error.h"
#include "support/str_cat.h"
#include "text/automaton.h"
#include "text/lexicon.h"
#include "text/token_index.h"

namespace metactrl {

using internal::str_cat;

namespace {

constexpr std::uint64_t kCompareSteps = 32;

TokenId symbol_of(char byte) { return TokenId{static_cast<unsigned char>(byte)}; }

std::vector<TokenId> symbols_of(std::string_view text) {
  std::vector<TokenId> out;
  out.reserve(text.size());
  for (const char byte : text) out.push_back(symbol_of(byte));
  return out;
}

}  // namespace

std::shared_ptr<const TokenAutomaton> AutomatonCompiler::run_over_bytes() {
  TokenAutomaton& out = *automaton_;
  const PlanFormat& format = spelling_.format();
  out.lexicon_ = vocabulary_.index().lexicon(vocabulary_);
  out.fingerprint_ = fingerprint(spelling_, vocabulary_, options_);
  out.opening_ = symbols_of(format.open + spelling_.prefix(1));
  out.empty_plan_ = symbols_of(format.empty);
  if (spelling_.prefix(1) != spelling_.prefix(2)) {
    for (std::size_t index = 2; index <= std::max(2U, options_.max_actions); ++index) {
      out.prefixes_.push_back(symbols_of(spelling_.prefix(index)));
    }
  }
  out.first_group_ = 0;
  out.group_after_.assign(out.num_separators_, 0);
  fill_bytes();
  if (const std::string why = check_strings(); !why.empty()) {
    throw InputError("", str_cat("format '", format.name, "' cannot be read: ", why));
  }
  check_single_bytes();
  if (spelling_.num_actions() > 0) check_empty_plan();
  return automaton_;
}

// An unnumbered prefix stands before every item and so belongs to it.
void AutomatonCompiler::fill_bytes() {
  TokenAutomaton& out = *automaton_;
  const std::vector<std::string>& separators = spelling_.format().separators;
  const std::string& close = spelling_.format().close;
  const std::string between = out.prefixes_.empty() ? spelling_.prefix(1) : std::string();
  const std::size_t columns = separators.size() + 1;
  std::string texts;
  std::vector<std::size_t> begins{0};
  for (std::size_t a = 0; a < out.num_actions_; ++a) {
    meter_.piece();
    const std::string item = spelling_.action(ActionId{static_cast<std::uint32_t>(a)}).text();
    for (std::size_t column = 0; column < columns; ++column) {
      texts += item;
      texts += column + 1 == columns ? close : separators[column] + between;
      begins.push_back(texts.size());
    }
  }
  const auto text = [&](std::size_t number) {
    return std::string_view(texts).substr(begins[number], begins[number + 1] - begins[number]);
  };
  std::vector<std::uint32_t> order(begins.size() - 1);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    meter_.step(kCompareSteps);
    const int compared = text(a).compare(text(b));
    return compared != 0 ? compared < 0 : a < b;
  });
  out.groups_ = {0, static_cast<std::uint32_t>(order.size())};
  out.rank_.assign(order.size(), 0);
  out.first_token_.assign(1, 0);
  out.tokens_.reserve(texts.size() + (close.empty() ? out.num_actions_ : 0));
  for (const std::uint32_t number : order) {
    const std::size_t column = number % columns;
    out.rank_[number] = static_cast<std::uint32_t>(out.entries_.size());
    out.entries_.push_back({ActionId{static_cast<std::uint32_t>(number / columns)},
                            column + 1 == columns ? TokenAutomaton::kClose : static_cast<std::uint32_t>(column)});
    for (const char byte : text(number)) out.tokens_.push_back(symbol_of(byte));
    if (close.empty() && column + 1 == columns) out.tokens_.push_back(TokenAutomaton::kEnd);
    out.first_token_.push_back(out.tokens_.size());
  }
}

void AutomatonCompiler::check_single_bytes() const {
  std::array<bool, 256> used{};
  const auto add = [&](const std::vector<TokenId>& symbols) {
    for (const TokenId symbol : symbols) {
      if (symbol != TokenAutomaton::kEnd) used[static_cast<std::size_t>(symbol)] = true;
    }
  };
  add(automaton_->opening_);
  add(automaton_->empty_plan_);
  add(automaton_->tokens_);
  for (const std::vector<TokenId>& prefix : automaton_->prefixes_) add(prefix);
  const text::Lexicon& lexicon = *automaton_->lexicon_;
  for (std::size_t byte = 0; byte < used.size(); ++byte) {
    if (!used[byte]) continue;
    const std::uint32_t node = lexicon.child(text::Lexicon::kRoot, static_cast<unsigned char>(byte));
    if (node != text::Lexicon::kNone && !lexicon.tokens(node).empty()) continue;
    const bool printable = byte > 0x20 && byte < 0x7f;
    throw InputError("",
                     str_cat("the vocabulary has no token for ",
                             printable ? str_cat('\'', static_cast<char>(byte), '\'') : str_cat("byte ", byte),
                             " alone, so not every text can be finished from wherever a token ends"),
                     "use canonical tokenization with this vocabulary");
  }
}

}  // namespace metactrl
