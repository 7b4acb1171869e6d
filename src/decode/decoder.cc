// The decoder: a Walk over the symbols of the token automaton, and a stack of tokens with the step behind each.
//
// In canonical tokenization a token is a symbol: what may follow a step are its edges. In any tokenization a token is
// as many symbols as it has bytes. The edges of the walk and the vocabulary's trie of byte strings are then followed
// together, depth first, and each token met on the way is a choice; its value is that of the text behind its last byte.
// A token may go past the end of an action: the walk opens the boundary behind it, with all that the lookahead says
// there, and goes on inside the next one. Every place visited is the beginning of a token that agrees with a text still
// possible, so nothing is spent on the rest of the vocabulary.
//
// Taking back a token pops a step, and what the lookahead found out behind it is forgotten. Nothing is recomputed. What is
// offered depends on the tokens that are there, not on those that were taken back: an engine may write them into another
// slot, or again into this one, and each must be taken once more.
#include "metactrl/decoder.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "decode/walk.h"
#include "metactrl/error.h"
#include "support/log_math.h"
#include "text/lexicon.h"
#include "text/token_automaton.h"

namespace metactrl {

namespace {

using decode::Walk;
using Phase = decode::Walk::Phase;
using text::Lexicon;

constexpr TokenId kEnd = TokenAutomaton::kEnd;
// A token that the model calls impossible: finite, and below what any real one has.
constexpr double kLowestScore = -1e4;
constexpr std::size_t kContextBytes = 64;

}  // namespace

class Decoder::Impl {
 public:
  Impl(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options, Stop stop)
      : walk_(std::move(constraint), options, std::move(stop)),
        automaton_(&walk_.automaton()),
        vocabulary_(&walk_.constraint().vocabulary()),
        any_(automaton_->tokenization() == Tokenization::kAny) {
    steps_.push_back(walk_.start());
    marks_.push_back(walk_.mark());
  }

  std::span<const NextToken> next() {
    if (next_known_) return next_;
    next_.clear();
    if (any_) {
      or_as_before([&] { add_tokens(steps_.back(), Lexicon::kRoot); });
    } else {
      const Walk::Step& step = steps_.back();
      walk_.edges(step, [&](const Walk::Edge& edge) { add_symbol(edge.symbol, walk_.log_weight(step, edge)); });
    }
    next_known_ = true;
    std::sort(next_.begin(), next_.end(), [](const NextToken& a, const NextToken& b) { return a.token < b.token; });
    assert(std::adjacent_find(next_.begin(), next_.end(), [](const NextToken& a, const NextToken& b) {
             return a.token == b.token;
           }) == next_.end());
    assert(std::all_of(next_.begin(), next_.end(), [](const NextToken& one) { return std::isfinite(one.log_weight); }));
    return next_;
  }

  bool offers(TokenId token) {
    const std::span<const NextToken> choices = next();
    const auto found = std::lower_bound(choices.begin(), choices.end(), token,
                                        [](const NextToken& choice, TokenId wanted) { return choice.token < wanted; });
    return found != choices.end() && found->token == token;
  }

  // Only as far as the end of the action: what comes behind it is for the lookahead to say, once it is reached. In any
  // tokenization even text without an alternative can mostly be written in several ways.
  std::span<const TokenId> forced() {
    forced_.clear();
    const Walk::Step& step = steps_.back();
    if (!any_ && step.phase == Phase::kEntry && !step.empty) {
      force_entry(step);
      return forced_;
    }
    if (!any_ && step.phase == Phase::kHead) {
      const std::span<const TokenId> head = walk_.head().subspan(step.depth);
      forced_.assign(head.begin(), head.end());
      return forced_;
    }
    if (!any_ && step.phase == Phase::kStart && step.opening && !step.empty) {
      const std::span<const TokenId> opening = automaton_->opening().subspan(step.depth);
      forced_.assign(opening.begin(), opening.end());
      return forced_;
    }
    if (const std::span<const NextToken> choices = next(); choices.size() == 1) forced_.push_back(choices[0].token);
    return forced_;
  }

  bool accept(TokenId token) {
    // A token that goes past an action's end asks the lookahead anew, and what a search did not find in time it may
    // find now: what was not offered is refused all the same.
    if (any_ && !offers(token)) return false;
    Walk::Step step = steps_.back();
    return or_as_before([&] {
      if (!advance(step, token)) {
        walk_.restore(steps_.back());
        return false;
      }
      tokens_.push_back(token);
      marks_.push_back(walk_.mark());
      steps_.push_back(step);
      assert(steps_.size() == tokens_.size() + 1);
      next_known_ = false;
      return true;
    });
  }

  void rollback(std::size_t count) {
    count = std::min(count, tokens_.size());
    if (count == 0) return;
    tokens_.resize(tokens_.size() - count);
    steps_.resize(steps_.size() - count);
    marks_.resize(steps_.size());
    walk_.restore(steps_.back());
    walk_.forget(marks_.back());
    if (walk_.actions().empty()) walk_.begin_again();
    next_known_ = false;
  }

  bool finished() const { return steps_.back().phase == Phase::kDone; }
  const std::vector<TokenId>& tokens() const { return tokens_; }
  bool at_boundary() const {
    const Walk::Step& step = steps_.back();
    return (step.phase == Phase::kEntry && step.depth == 0) || step.phase == Phase::kStart ||
           (any_ && step.phase == Phase::kHead);
  }
  const Walk& walk() const { return walk_; }

  std::vector<std::vector<TokenId>> paths() const {
    std::vector<std::vector<TokenId>> result;
    each_path([&](std::size_t, std::vector<TokenId> path) { result.push_back(std::move(path)); });
    return result;
  }

  // Keeps, for every live path and every symbol of it, the log-probability of what is left of it behind that symbol.
  void set_path_scores(const std::vector<std::vector<float>>& scores) {
    std::vector<std::vector<double>> rests(at_boundary() ? walk_.num_paths() : 0);
    std::size_t number = 0;
    bool complete = true;
    each_path([&](std::size_t path, const std::vector<TokenId>& tokens) {
      const std::size_t index = number++;
      if (path == kNoPath) return;
      if (index >= scores.size() || scores[index].size() < tokens.size()) {
        complete = false;
        return;
      }
      add_rest(path, tokens, scores[index], rests[path]);
    });
    if (!complete) rests.clear();
    walk_.set_path_scores(std::move(rests));
    next_known_ = false;
  }

 private:
  static constexpr std::size_t kNoPath = static_cast<std::size_t>(-1);

  // Does something; when it throws, everything is as it was.
  template <typename Action>
  auto or_as_before(const Action& action) -> decltype(action()) {
    const lookahead::SupportMark before = walk_.mark();
    try {
      return action();
    } catch (...) {
      tokens_.resize(steps_.size() - 1);
      marks_.resize(steps_.size());
      walk_.restore(steps_.back());
      walk_.forget(before);
      throw;
    }
  }

  void add_symbol(TokenId symbol, double log_weight) {
    if (symbol != kEnd) {
      next_.push_back({symbol, log_weight});
      return;
    }
    for (TokenId token : automaton_->end_of_turn()) next_.push_back({token, log_weight});
  }

  // Every token whose bytes are those on the way to `node`, then some that lead on from `step`.
  void add_tokens(const Walk::Step& step, std::uint32_t node) {
    const Lexicon& lexicon = *automaton_->lexicon();
    walk_.edges(step, [&](const Walk::Edge& edge) {
      if (edge.symbol == kEnd) {
        if (node == Lexicon::kRoot) add_symbol(kEnd, walk_.log_weight(step, edge));
        return;
      }
      const std::uint32_t child = lexicon.child(node, static_cast<unsigned char>(edge.symbol));
      if (child == Lexicon::kNone) return;
      if (const std::span<const TokenId> tokens = lexicon.tokens(child); !tokens.empty()) {
        const double log_weight = walk_.log_weight(step, edge);
        for (TokenId token : tokens) next_.push_back({token, log_weight});
      }
      if (!leads_on(step, edge, child)) return;
      Walk::Step after = step;
      walk_.take(after, edge);
      add_tokens(after, child);
      walk_.restore(step);
    });
  }

  // Whether a longer token could be meant. Opening a boundary costs much more than asking.
  bool leads_on(const Walk::Step& step, const Walk::Edge& edge, std::uint32_t node) const {
    const std::span<const unsigned char> bytes = automaton_->lexicon()->child_bytes(node);
    const TokenAutomaton::Entry* const entry = walk_.completes(step, edge);
    if (entry == nullptr) return !bytes.empty();
    return std::any_of(bytes.begin(), bytes.end(),
                       [&](unsigned char byte) { return walk_.may_begin(*entry, TokenId{byte}); });
  }

  bool advance(Walk::Step& step, TokenId token) {
    const auto take = [&](TokenId symbol) {
      const std::optional<Walk::Edge> edge = walk_.edge(step, symbol);
      if (edge) walk_.take(step, *edge);
      return edge.has_value();
    };
    if (token < TokenId{0} || static_cast<std::size_t>(token) >= vocabulary_->size()) return false;
    const std::vector<TokenId>& ends = automaton_->end_of_turn();
    if (std::binary_search(ends.begin(), ends.end(), token)) return take(kEnd);
    if (!any_) return take(token);
    const std::string_view bytes = vocabulary_->bytes(token);
    return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(),
                                         [&](char byte) { return take(TokenId{static_cast<unsigned char>(byte)}); });
  }

  // The range is sorted: what its first and last member share, all share.
  void force_entry(const Walk::Step& step) {
    const bool all = walk_.all();
    if (all ? step.all_begin == step.all_end : step.begin == step.end) return;
    const std::span<const TokenId> first = automaton_->tokens(all ? step.all_begin : walk_.path_rank(step.begin));
    const std::span<const TokenId> last = automaton_->tokens(all ? step.all_end - 1 : walk_.path_rank(step.end - 1));
    for (std::size_t d = step.depth; d < first.size() && d < last.size() && first[d] == last[d]; ++d) {
      const bool end = first[d] == kEnd;
      if (end && automaton_->end_of_turn().size() > 1) return;
      forced_.push_back(end ? automaton_->end_of_turn().front() : first[d]);
    }
  }

  // --- paths ---------------------------------------------------------------------------------------------------------

  // Calls visit(path, tokens) for each live path in order, once per end-of-turn token where that closes the plan; then
  // with kNoPath for the empty plan, once per end-of-turn token, where it is still possible.
  template <typename Visit>
  void each_path(const Visit& visit) const {
    const Walk::Step& step = steps_.back();
    if (!at_boundary() || walk_.all()) return;
    const bool at_start = step.phase == Phase::kStart;
    std::span<const TokenId> before;
    if (at_start)
      before = automaton_->opening().subspan(std::min<std::size_t>(step.depth, automaton_->opening().size()));
    if (step.phase == Phase::kHead) before = walk_.head().subspan(step.depth);
    const std::string context = any_ ? text_so_far() : std::string();
    const auto visit_ends = [&](std::size_t path, const std::vector<TokenId>& tokens) {
      for (TokenId end : automaton_->end_of_turn()) {
        std::vector<TokenId> ended = tokens;
        ended.push_back(end);
        visit(path, std::move(ended));
      }
    };
    for (std::size_t i = 0; i < walk_.num_paths() && (!at_start || step.opening); ++i) {
      const std::uint32_t rank = walk_.path_rank(i);
      std::vector<TokenId> tokens = spell(before, automaton_->text_tokens(rank), context);
      if (automaton_->tokens(rank).back() == kEnd) {
        visit_ends(i, tokens);
      } else {
        visit(i, std::move(tokens));
      }
    }
    if (step.empty) visit_ends(kNoPath, spell(automaton_->empty_plan().subspan(step.empty_depth), {}, context));
  }

  std::string text_so_far() const {
    std::string text;
    for (std::size_t i = tokens_.size(); i-- > 0 && text.size() < kContextBytes;) {
      text.insert(0, vocabulary_->bytes(tokens_[i]));
    }
    return text;
  }

  // Symbols as tokens: of all the ways to write bytes, the tokenizer's own.
  std::vector<TokenId> spell(std::span<const TokenId> first, std::span<const TokenId> second,
                             const std::string& context) const {
    std::vector<TokenId> symbols(first.begin(), first.end());
    symbols.insert(symbols.end(), second.begin(), second.end());
    if (!any_ || symbols.empty()) return symbols;
    std::string text;
    for (TokenId symbol : symbols) text += static_cast<char>(symbol);
    try {
      std::vector<TokenId> tokens = vocabulary_->encode(text, context);
      std::string written;
      for (TokenId token : tokens) written += vocabulary_->bytes(token);
      if (written == text) return tokens;
    } catch (const InputError&) {
      // Some tokenizers cannot write every text that their tokens can.
    }
    return longest_matches(text);
  }

  std::vector<TokenId> longest_matches(std::string_view text) const {
    const Lexicon& lexicon = *automaton_->lexicon();
    std::vector<TokenId> tokens;
    while (!text.empty()) {
      std::size_t length = 0;
      std::uint32_t node = Lexicon::kRoot;
      for (std::size_t i = 0; i < text.size(); ++i) {
        node = lexicon.child(node, static_cast<unsigned char>(text[i]));
        if (node == Lexicon::kNone) break;
        if (lexicon.tokens(node).empty()) continue;
        if (length > 0) tokens.pop_back();
        tokens.push_back(lexicon.tokens(node).front());
        length = i + 1;
      }
      assert(length > 0);  // each byte is a token of its own
      text.remove_prefix(length);
    }
    return tokens;
  }

  // Adds one way to write a path to what is known of what is left of it.
  void add_rest(std::size_t path, const std::vector<TokenId>& tokens, const std::vector<float>& scores,
                std::vector<double>& rest) const {
    const std::span<const TokenId> symbols = automaton_->tokens(walk_.path_rank(path));
    const std::vector<TokenId>& ends = automaton_->end_of_turn();
    const bool first = rest.empty();
    rest.resize(symbols.size(), 0.0);
    double sum = 0;
    std::size_t token = tokens.size();
    std::size_t begin = symbols.size();  // where that token begins in the path
    for (std::size_t depth = symbols.size() - 1; depth-- > 0;) {
      while (token > 0 && begin > depth + 1) {
        const bool one = !any_ || std::binary_search(ends.begin(), ends.end(), tokens[token - 1]);
        const std::size_t size = one ? 1 : vocabulary_->bytes(tokens[token - 1]).size();
        if (size > begin - (depth + 1)) break;
        --token;
        begin -= size;
        sum += std::isnan(scores[token]) ? kLowestScore : std::max<double>(scores[token], kLowestScore);
      }
      rest[depth] = first ? sum : internal::log_add(rest[depth], sum);
    }
  }

  Walk walk_;
  const TokenAutomaton* automaton_;
  const Vocabulary* vocabulary_;
  bool any_;
  std::vector<Walk::Step> steps_{};              // one more than tokens
  std::vector<lookahead::SupportMark> marks_{};  // behind each of them: what the lookahead had found out
  std::vector<TokenId> tokens_{};
  std::vector<NextToken> next_{};
  bool next_known_ = false;
  std::vector<TokenId> forced_{};
};

Decoder::Decoder(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options, Stop stop)
    : impl_(std::make_unique<Impl>(std::move(constraint), options, std::move(stop))) {}
Decoder::Decoder(const Decoder& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Decoder& Decoder::operator=(const Decoder& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

std::span<const NextToken> Decoder::next() { return impl_->next(); }
std::span<const TokenId> Decoder::forced() { return impl_->forced(); }
bool Decoder::accept(TokenId token) { return impl_->accept(token); }
void Decoder::rollback(std::size_t tokens) noexcept { impl_->rollback(tokens); }
bool Decoder::finished() const { return impl_->finished(); }
std::size_t Decoder::num_tokens() const { return impl_->tokens().size(); }
std::span<const TokenId> Decoder::tokens() const { return impl_->tokens(); }
std::span<const ActionId> Decoder::actions() const { return impl_->walk().actions(); }
std::span<const std::uint32_t> Decoder::separators() const { return impl_->walk().separators(); }
const State& Decoder::state() const { return impl_->walk().state(); }
unsigned Decoder::left() const { return impl_->walk().left(); }
bool Decoder::at_boundary() const { return impl_->at_boundary(); }
std::span<const Candidate> Decoder::candidates() const { return impl_->walk().candidates(); }
std::vector<std::vector<TokenId>> Decoder::paths() const { return impl_->paths(); }
void Decoder::set_path_scores(const std::vector<std::vector<float>>& scores) { impl_->set_path_scores(scores); }
const Constraint& Decoder::constraint() const { return impl_->walk().constraint(); }
const DecoderOptions& Decoder::options() const { return impl_->walk().options(); }

}  // namespace metactrl
