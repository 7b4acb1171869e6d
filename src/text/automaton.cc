// Compiling the token automaton: choose seams, spell the entries in tokens, sort them, check everything.
//
// Nothing about the tokenizer is believed. The seams (automaton_cut.cc) and the pieces of entries
// (automaton_entries.cc) come from its own encodings, and before an automaton is handed out
//
//   - the strings are prefix-free in the sense of constraint.h,
//   - each seam is checked with the parts that can stand on its two sides (automaton_seams.cc),
//   - random whole plans are encoded behind the prompt's end, and must be the automaton's own path.
//
// A seam that fails is replaced by the next candidate.
#include "text/automaton.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "metactrl/error.h"
#include "support/str_cat.h"
#include "text/token_index.h"

namespace metactrl {

using internal::str_cat;

namespace {

constexpr std::size_t kContextBytes = 64;
constexpr std::size_t kRandomPlans = 24;

bool starts_with(std::span<const TokenId> tokens, std::span<const TokenId> prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

void append(std::span<const TokenId> tokens, std::vector<TokenId>* out) {
  out->insert(out->end(), tokens.begin(), tokens.end());
}

// How many of the tokens spell the first `size` bytes; nothing when a token straddles that place.
std::optional<std::size_t> tokens_of(const Vocabulary& vocabulary, std::span<const TokenId> tokens, std::size_t size) {
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    if (at == size) return i;
    if (at > size || i == tokens.size()) return std::nullopt;
    at += vocabulary.bytes(tokens[i]).size();
  }
}

}  // namespace

// --- the automaton ---------------------------------------------------------------------------------------------------

std::shared_ptr<const TokenAutomaton> TokenAutomaton::compile(const PlanSpelling& spelling,
                                                              const Vocabulary& vocabulary,
                                                              const AutomatonOptions& options, const Stop& stop) {
  internal::Meter meter(stop);
  return AutomatonCompiler(spelling, vocabulary, options, meter).run();
}

std::pair<std::uint32_t, std::uint32_t> TokenAutomaton::narrow(std::uint32_t begin, std::uint32_t end,
                                                               std::size_t depth, TokenId token) const {
  constexpr std::int64_t kNothing = -2;  // below kEnd
  const auto at = [&](std::uint32_t rank) {
    const std::size_t index = first_token_[rank] + depth;
    return index < first_token_[rank + 1] ? static_cast<std::int64_t>(tokens_[index]) : kNothing;
  };
  const auto wanted = static_cast<std::int64_t>(token);
  const auto first_above = [&](std::uint32_t low, std::uint32_t high, std::int64_t least) {
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (at(middle) < least) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  if (wanted <= kNothing) return {begin, begin};
  const std::uint32_t first = first_above(begin, end, wanted);
  if (first == end || at(first) != wanted) return {first, first};
  return {first, at(end - 1) == wanted ? end : first_above(first, end, wanted + 1)};
}

std::span<const TokenId> TokenAutomaton::prefix(std::size_t index) const {
  if (index < 2 || index - 2 >= prefixes_.size()) return {};
  return prefixes_[index - 2];
}

std::size_t TokenAutomaton::max_actions() const {
  return prefixes_.empty() ? std::numeric_limits<std::size_t>::max() : prefixes_.size() + 1;
}

std::size_t TokenAutomaton::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + entries_.capacity() * sizeof(Entry) +
                      first_token_.capacity() * sizeof(std::size_t) + rank_.capacity() * sizeof(std::uint32_t) +
                      prefixes_.capacity() * sizeof(prefixes_[0]) +
                      (groups_.capacity() + group_after_.capacity()) * sizeof(std::uint32_t);
  for (const std::vector<TokenId>& prefix : prefixes_) bytes += prefix.capacity() * sizeof(TokenId);
  return bytes + (tokens_.capacity() + opening_.capacity() + empty_plan_.capacity() + end_of_turn_.capacity()) *
                     sizeof(TokenId);
}

// --- the compiler ----------------------------------------------------------------------------------------------------

AutomatonCompiler::AutomatonCompiler(const PlanSpelling& spelling, const Vocabulary& vocabulary,
                                     const AutomatonOptions& options, internal::Meter& meter)
    : spelling_(spelling),
      vocabulary_(vocabulary),
      meter_(meter),
      options_(options),
      context_(text::tail_of(options.context, kContextBytes)) {}

std::uint64_t AutomatonCompiler::fingerprint(const PlanSpelling& spelling, const Vocabulary& vocabulary,
                                             const AutomatonOptions& options) {
  const PlanFormat& format = spelling.format();
  std::uint64_t hash = vocabulary.fingerprint();
  for (const std::string* part : {&format.open, &format.close, &format.empty, &format.prefix, &options.context}) {
    hash = text::hash_bytes(*part, hash);
  }
  hash = text::mix(hash, format.separators.size());
  for (const std::string& separator : format.separators) hash = text::hash_bytes(separator, hash);
  hash = text::hash_bytes(spelling.prefix(1), hash);
  hash = text::mix(hash, options.max_actions);
  hash = text::mix(hash, static_cast<std::uint64_t>(options.tokenization));
  hash = text::mix(hash, spelling.num_actions());
  for (std::size_t a = 0; a < spelling.num_actions(); ++a) {
    const PlanSpelling::Item& action = spelling.action(ActionId{static_cast<std::uint32_t>(a)});
    hash = text::mix(hash, action.pieces.size());
    for (const std::string& piece : action.pieces) hash = text::hash_bytes(piece, hash);
  }
  return hash;
}

std::shared_ptr<const TokenAutomaton> AutomatonCompiler::run() {
  meter_.ask();
  std::string why = "no place lies between two tokens in every plan";
  automaton_.reset(new TokenAutomaton());
  automaton_->num_actions_ = spelling_.num_actions();
  automaton_->num_separators_ = spelling_.format().separators.size();
  automaton_->end_of_turn_ = vocabulary_.end_of_turn();
  if (options_.tokenization == Tokenization::kAny) return run_over_bytes();
  automaton_->empty_plan_ = text::encode_exactly(vocabulary_, spelling_.format().empty, context_, "the empty plan");
  automaton_->fingerprint_ = fingerprint(spelling_, vocabulary_, options_);
  check_border(spelling_.format().empty);
  if (spelling_.num_actions() == 0) {
    automaton_->groups_ = {0, 0};
    automaton_->group_after_.assign(automaton_->num_separators_, 0);
    automaton_->first_token_ = {0};
    return automaton_;
  }
  const std::size_t columns = automaton_->num_separators_ + 1;
  if (spelling_.num_actions() > std::numeric_limits<std::uint32_t>::max() / columns / columns) {
    throw InputError("", str_cat("the task has too many actions for a token automaton: ", spelling_.num_actions()));
  }
  for (const text::Seams& seams : text::find_seams(spelling_, vocabulary_, options_)) {
    why = try_seams(seams);
    if (why.empty()) return automaton_;
  }
  throw InputError("",
                   str_cat("the tokenizer's encoding of a plan in format '", spelling_.format().name,
                           "' cannot be cut between two actions: ", why),
                   "use a format whose separator ends in a quote, a bracket or a new line");
}

std::string AutomatonCompiler::try_seams(const text::Seams& seams) {
  text::EntryBuilder builder(spelling_, vocabulary_, seams, meter_);
  builder.build();
  automaton_->first_group_ = seams.first_group;
  automaton_->group_after_ = seams.group_after;
  const auto per_group = static_cast<std::uint32_t>(builder.num_entries() / seams.beginnings.size());
  automaton_->groups_.clear();
  for (std::uint32_t group = 0; group <= seams.beginnings.size(); ++group)
    automaton_->groups_.push_back(group * per_group);
  fill_entries(builder);
  std::string why = check_strings();
  if (why.empty()) why = encode_rest(builder, seams);
  if (why.empty()) why = check_opening(builder, seams);
  if (why.empty()) why = text::check_seams(*automaton_, vocabulary_, seams);
  if (why.empty()) check_empty_plan();
  if (why.empty()) why = check_plans();
  return why;
}

void AutomatonCompiler::fill_entries(const text::EntryBuilder& builder) {
  TokenAutomaton& out = *automaton_;
  const std::size_t columns = out.num_separators_ + 1;
  const std::vector<std::uint32_t> order = text::sort_entries(builder, out.groups_.size() - 1, meter_);
  const text::PieceTable& table = builder.table();
  const bool end_closes = spelling_.format().close.empty();
  std::size_t total = 0;
  out.entries_.clear();
  out.entries_.reserve(order.size());
  out.first_token_.assign(1, 0);
  out.first_token_.reserve(order.size() + 1);
  out.rank_.assign(order.size(), 0);
  for (const std::uint32_t number : order) {
    for (const std::uint32_t piece : builder.pieces(number)) {
      if (piece == text::PieceTable::kNone) break;
      total += table.tokens(piece).size();
    }
    const std::size_t column = number % columns;
    const std::size_t action = number / columns % out.num_actions_;
    out.rank_[number] = static_cast<std::uint32_t>(out.entries_.size());
    out.entries_.push_back({ActionId{static_cast<std::uint32_t>(action)},
                            column + 1 == columns ? TokenAutomaton::kClose : static_cast<std::uint32_t>(column)});
    if (end_closes && column + 1 == columns) ++total;
    out.first_token_.push_back(total);
  }
  out.tokens_.clear();
  out.tokens_.reserve(total);
  for (const std::uint32_t number : order) {
    builder.append_tokens(number, &out.tokens_);
    if (end_closes && (number + 1) % columns == 0) out.tokens_.push_back(TokenAutomaton::kEnd);
  }
}

// What constraint.h says about the strings; counts the states on the way.
std::string AutomatonCompiler::check_strings() {
  const TokenAutomaton& out = *automaton_;
  automaton_->num_states_ = 0;
  for (std::uint32_t group = 0; group < out.num_groups(); ++group) {
    const auto [begin, end] = out.group(group);
    std::size_t states = 1;
    for (std::uint32_t rank = begin; rank < end; ++rank) {
      const std::span<const TokenId> tokens = out.tokens(rank);
      if (tokens.empty()) return "an action has no text of its own";
      states += tokens.size();
      if (rank == begin) continue;
      const std::span<const TokenId> before = out.tokens(rank - 1);
      const auto shared = static_cast<std::size_t>(std::ranges::mismatch(before, tokens).in1 - before.begin());
      states -= shared;
      if (shared < before.size()) continue;
      return str_cat("\"", spelling_.action(out.entry(rank - 1).action).text(), "\" is the beginning of \"",
                     spelling_.action(out.entry(rank).action).text(), '"');
    }
    automaton_->num_states_ += states;
  }
  return {};
}

std::vector<TokenId> AutomatonCompiler::encode(std::string_view text, std::string_view context) const {
  return text::encode_exactly(vocabulary_, text, context, str_cat('"', text, '"'));
}

// The tokens of the opening and of the numbers, taken from encodings in which an entry follows them.
std::string AutomatonCompiler::encode_rest(const text::EntryBuilder& builder, const text::Seams& seams) {
  const auto front_part = [&](const std::string& part, std::uint32_t group, std::string_view context,
                              std::vector<TokenId>* out) {
    const std::string entry = builder.text(group * (builder.num_entries() / seams.beginnings.size()));
    *out = encode(part + entry, context);
    const std::optional<std::size_t> count = tokens_of(vocabulary_, *out, part.size());
    if (!count) return str_cat("a token joins \"", part, "\" with the action behind it");
    out->resize(*count);
    return std::string();
  };
  std::string why = front_part(seams.opening, seams.first_group, context_, &automaton_->opening_);
  automaton_->prefixes_.assign(seams.prefixes.size(), {});
  for (std::size_t i = 0; i < seams.prefixes.size() && why.empty(); ++i) {
    why = front_part(seams.prefixes[i], seams.group_after[0], {}, &automaton_->prefixes_[i]);
  }
  return why;
}

// At the prompt's border. Behind an opening the first action does not matter there.
std::string AutomatonCompiler::check_opening(const text::EntryBuilder& builder, const text::Seams& seams) const {
  const auto [begin, end] = automaton_->group(seams.first_group);
  const std::size_t columns = automaton_->num_separators_ + 1;
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    const std::span<const TokenId> tokens = automaton_->text_tokens(rank);
    if (rank > begin &&
        (!seams.opening.empty() || automaton_->tokens(rank - 1).front() == automaton_->tokens(rank).front()))
      continue;
    const TokenAutomaton::Entry& entry = automaton_->entry(rank);
    const std::size_t column = entry.next == TokenAutomaton::kClose ? columns - 1 : entry.next;
    const std::size_t number =
        (seams.first_group * automaton_->num_actions_ + static_cast<std::size_t>(entry.action)) * columns + column;
    const std::string text = seams.opening + builder.text(number);
    meter_.ask();
    check_border(text);
    std::vector<TokenId> expected = automaton_->opening_;
    append(tokens, &expected);
    if (encode(text, context_) != expected) return str_cat("\"", text, "\" is encoded otherwise behind the prompt");
  }
  return {};
}

void AutomatonCompiler::check_empty_plan() const {
  std::span<const TokenId> rest = automaton_->empty_plan_;
  if (!starts_with(rest, automaton_->opening_)) return;
  rest = rest.subspan(automaton_->opening_.size());
  auto [begin, end] = automaton_->group(automaton_->first_group_);
  for (std::size_t depth = 0; depth < rest.size() && begin < end; ++depth) {
    std::tie(begin, end) = automaton_->narrow(begin, end, depth, rest[depth]);
    if (begin == end || automaton_->tokens(begin).size() > depth + 1) continue;
    if (automaton_->entry(begin).next == TokenAutomaton::kClose && depth + 1 < rest.size())
      continue;  // an end of turn follows
    throw InputError("",
                     str_cat("the text of the empty plan, \"", spelling_.format().empty, "\", begins like action \"",
                             spelling_.action(automaton_->entry(begin).action).text(), '"'),
                     "give the format another text for the empty plan");
  }
}

std::vector<TokenId> AutomatonCompiler::path(std::span<const ActionId> plan,
                                             std::span<const std::uint32_t> separators) const {
  if (plan.empty()) return automaton_->empty_plan_;
  std::vector<TokenId> out = automaton_->opening_;
  std::uint32_t group = automaton_->first_group_;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    append(automaton_->prefix(i + 1), &out);
    const std::uint32_t next = i + 1 == plan.size() ? TokenAutomaton::kClose : separators[i];
    append(automaton_->text_tokens(automaton_->rank(plan[i], next, group)), &out);
    if (i + 1 < plan.size()) group = automaton_->group_after(next);
  }
  return out;
}

std::string AutomatonCompiler::check_plans() const {
  std::uint64_t random = automaton_->fingerprint_;
  const auto below = [&](std::size_t bound) {
    random = text::mix(random, 0xD1B54A32D192ED03ULL);
    return static_cast<std::uint32_t>((random >> 16U) % bound);
  };
  for (std::size_t i = 0; i < kRandomPlans; ++i) {
    meter_.ask();
    std::vector<ActionId> plan(1 + i % std::clamp<std::size_t>(options_.max_actions, 1, 6));
    std::vector<std::uint32_t> separators(plan.size() - 1);
    for (ActionId& action : plan) action = ActionId{below(automaton_->num_actions_)};
    for (std::uint32_t& separator : separators) separator = below(automaton_->num_separators_);
    const std::string text = spelling_.render(plan, separators);
    if (encode(text, context_) != path(plan, separators)) return str_cat("\"", text, "\" is encoded otherwise");
  }
  return {};
}

// The prompt is encoded without knowing what follows. When the tokenizer would join its last characters with the plan's
// first, no encoding of the plan is the one the model was trained on.
void AutomatonCompiler::check_border(std::string_view text) const {
  if (context_.empty() || text.empty() ||
      vocabulary_.index().holders(vocabulary_, context_.back(), text.front()).empty())
    return;
  const std::size_t word = context_.find_last_not_of(" \t\r\n");
  std::size_t begin = word == std::string::npos ? 0 : word + 1;
  if (begin == context_.size()) {
    // No blanks at the end. A control token may end in such a character, and then nothing is joined with it.
    if (context_.back() == '>' || context_.back() == ']') return;
    do --begin;
    while (begin > 0 && !text::is_character_border(context_, begin));
  }
  const std::string_view last = std::string_view(context_).substr(begin);
  const std::vector<TokenId> tokens =
      vocabulary_.encode(std::string(last) + std::string(text), std::string_view(context_).substr(0, begin));
  std::size_t left = text.size();
  for (std::size_t i = tokens.size(); i-- > 0 && left > 0;) {
    const std::size_t size = vocabulary_.bytes(tokens[i]).size();
    if (size > left) {
      throw InputError(
          "",
          str_cat("the tokenizer joins the end of the prompt with the beginning of the plan: \"", last, "\" and \"",
                  text.substr(0, left), "\" are one token, \"", vocabulary_.bytes(tokens[i]), '"'),
          "end the prompt with a new line, or without a blank");
    }
    left -= size;
  }
}

}  // namespace metactrl
