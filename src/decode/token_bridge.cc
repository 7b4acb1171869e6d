#include "decode/token_bridge.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "support/log_math.h"

namespace metactrl::decode {

namespace {

using internal::kMinusInfinity;
using internal::log_add;

// Sums below this are computed again by logarithms.
constexpr double kTinySum = 1e-200;

// A number for every text; `log_value` is what the lookahead says where the model of tokens has nothing to say.
double finite(double log_weight, double log_value) {
  if (!(log_weight > kMinusInfinity)) log_weight = kLowestLogWeight + log_value;
  return std::clamp(log_weight, 2 * kLowestLogWeight, 0.0);
}

double log_mean_value(std::span<const Path> paths, std::uint32_t begin, std::uint32_t end) {
  if (begin == end) return 0;
  return internal::log_sum(begin, end, [&](std::size_t i) { return paths[i].log_value; }) -
         std::log(static_cast<double>(end - begin));
}

}  // namespace

TokenBridge::TokenBridge(const Constraint& constraint, std::shared_ptr<const TokenSurrogate> surrogate,
                         unsigned horizon, bool syntax, const Stop& stop)
    : automaton_(&constraint.automaton()),
      surrogate_(std::move(surrogate)),
      table_(std::make_shared<const SyntaxTable>(
          *automaton_, surrogate_->hmm(), SyntaxTable::Options{.horizon = horizon, .each_entry = !syntax}, stop)),
      horizon_(horizon),
      syntax_(syntax) {
  std::vector<TokenId> empty(automaton_->empty_plan().begin(), automaton_->empty_plan().end());
  if (empty.empty() || empty.back() != TokenAutomaton::kEnd) empty.push_back(TokenAutomaton::kEnd);
  std::vector<double> belief = surrogate_->start();
  surrogate_->advance(belief, empty, emitted_, empty_rests_);
  belief = surrogate_->start();
  surrogate_->advance(belief, automaton_->opening(), emitted_, opening_rests_);
  texts_.emplace_back().beliefs.push_back(std::move(belief));
}

// The table knows what each path has; nothing is shared among kinds of entries.
double TokenBridge::log_mass(std::uint32_t, const Candidate&) const { return 0; }

const std::vector<double>& TokenBridge::belief_behind(Text& text, std::span<const TokenId> symbols) const {
  std::size_t known = 0;
  while (known < text.read.size() && known < symbols.size() && text.read[known] == symbols[known]) ++known;
  if (known == symbols.size()) return text.beliefs[known];
  text.read.resize(known);
  for (; known < symbols.size(); ++known) {
    if (text.beliefs.size() < known + 2) text.beliefs.emplace_back();
    surrogate_->emit(text.beliefs[known], symbols[known], emitted_);
    surrogate_->move(emitted_, text.beliefs[known + 1]);
    text.read.push_back(symbols[known]);
  }
  return text.beliefs[known];
}

void TokenBridge::open(const Boundary& boundary, std::span<const Path>) {
  if (texts_.size() <= boundary.number) texts_.resize(boundary.number + 1);
  Text& text = texts_[boundary.number];
  text.read.clear();
  if (boundary.number == 0) return;
  if (text.beliefs.empty()) text.beliefs.emplace_back();
  text.beliefs[0] = belief_behind(texts_[boundary.number - 1], automaton_->tokens(boundary.entered_by));
  surrogate_->advance(text.beliefs[0], automaton_->prefix(boundary.number + 1), emitted_, text.number_rests);
}

double TokenBridge::log_paths(const Boundary& boundary, std::span<const Path> paths, std::uint32_t begin,
                              std::uint32_t end, std::size_t depth) const {
  const SyntaxTable::Layer layer = table_->layer(left(boundary), memory_);
  terms_.clear();
  double log_largest = kMinusInfinity;
  for (std::uint32_t i = begin; i < end; ++i) {
    SyntaxTable::Scaled term = table_->rest(layer, table_->behind_alone(paths[i].rank, depth), emitted_);
    if (!(term.value > 0)) continue;
    term.log_scale += paths[i].log_value;
    log_largest = std::max(log_largest, term.log_scale);
    terms_.push_back(term);
  }
  double sum = 0;
  for (const SyntaxTable::Scaled& term : terms_) sum += term.value * std::exp(term.log_scale - log_largest);
  if (sum > kTinySum) return std::log(sum) + log_largest;
  return internal::log_sum(0, terms_.size(),
                           [&](std::size_t i) { return std::log(terms_[i].value) + terms_[i].log_scale; });
}

double TokenBridge::log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const {
  const std::span<const TokenId> tokens = automaton_->tokens(choice.all_begin);
  const std::vector<double>& belief = belief_behind(texts_[boundary.number], tokens.first(choice.depth));
  surrogate_->emit(belief, tokens[choice.depth], emitted_);
  double result = kMinusInfinity;
  if (syntax_) {
    const SyntaxTable::Layer layer = table_->layer(left(boundary), memory_);
    result = table_->log_rest(layer, table_->behind(choice.all_begin, choice.depth), emitted_);
  } else {
    result = log_paths(boundary, paths, choice.begin, choice.end, choice.depth);
  }
  if (choice.empty) result = log_add(result, empty_rests_[choice.empty_depth]);
  return finite(result, log_mean_value(paths, choice.begin, choice.end));
}

double TokenBridge::log_begin(const Boundary& boundary, std::span<const Path> paths) const {
  const std::vector<double>& belief = texts_[boundary.number].beliefs[0];
  if (syntax_) return table_->log_begin(left(boundary), boundary.group, belief);
  double result = kMinusInfinity;
  const auto first_token = [&](std::uint32_t path) { return automaton_->tokens(paths[path].rank)[0]; };
  for (std::uint32_t begin = 0; begin < paths.size();) {
    std::uint32_t end = begin + 1;
    while (end < paths.size() && first_token(end) == first_token(begin)) ++end;
    const double log_token = surrogate_->emit(belief, first_token(begin), emitted_);
    result = log_add(result, log_token + log_paths(boundary, paths, begin, end, 0));
    begin = end;
  }
  return result;
}

double TokenBridge::log_weight_before(const Boundary& boundary, std::span<const Path> paths,
                                      const Before& before) const {
  double result = kMinusInfinity;
  const bool goes_on = before.part != Before::Part::kEmpty;
  if (goes_on) {
    const bool opening = before.part == Before::Part::kOpening;
    const std::vector<double>& rests = opening ? opening_rests_ : texts_[boundary.number].number_rests;
    result = rests[before.depth] + log_begin(boundary, paths);
  }
  if (before.empty) result = log_add(result, empty_rests_[before.empty_depth]);
  return finite(result, log_mean_value(paths, 0, goes_on ? static_cast<std::uint32_t>(paths.size()) : 0));
}

}  // namespace metactrl::decode
