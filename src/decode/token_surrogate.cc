// The forward recursion of hmm.cc, kept at each place of a trie of paths: behind a symbol x the belief f becomes
// (f o e(x)) T, scaled by p(x) = f . e(x), whose logarithms add up along a path. What is left of a path behind symbol d
// is then the difference of two sums.
#include "decode/token_surrogate.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "support/str_cat.h"

namespace metactrl::decode {

using internal::str_cat;

TokenSurrogate::TokenSurrogate(const Hmm& hmm, const Vocabulary& vocabulary) : hmm_(hmm) {
  const Alphabet& alphabet = hmm.alphabet();
  if (alphabet.is_meta()) {
    throw InputError("bridge hmm", "the model is one of actions, not of tokens",
                     "train one on tokens (CorpusLevel::kToken)");
  }
  const bool another = alphabet.vocabulary != 0 && alphabet.vocabulary != vocabulary.fingerprint();
  if (another || alphabet.size != vocabulary.size()) {
    throw InputError(
        "bridge hmm",
        str_cat("the model of tokens was made for another vocabulary: ",
                alphabet.size == vocabulary.size()
                    ? str_cat("one with other ", alphabet.size, " tokens")
                    : str_cat("it has ", alphabet.size, " tokens, the language model ", vocabulary.size())),
        "train one on what this language model writes");
  }
}

double TokenSurrogate::read(std::vector<double>& belief, TokenId symbol, bool move,
                            std::vector<double>& scratch) const {
  const std::size_t hidden = hmm_.num_hidden();
  const SymbolId emitted =
      symbol == TokenAutomaton::kEnd ? hmm_.alphabet().end : SymbolId{static_cast<std::uint32_t>(symbol)};
  const std::span<const float> emission = hmm_.emission(emitted);
  scratch.resize(hidden);
  double sum = 0;
  for (std::size_t z = 0; z < hidden; ++z) sum += scratch[z] = belief[z] * static_cast<double>(emission[z]);
  const bool possible = sum > 0 && std::log(sum) > kLowestLogWeight;
  if (move && !possible) belief.assign(hmm_.initial().begin(), hmm_.initial().end());
  if (move && possible) {
    std::fill(belief.begin(), belief.end(), 0.0);
    for (std::size_t z = 0; z < hidden; ++z) {
      const double share = scratch[z] / sum;
      if (share == 0) continue;
      const float* const row = hmm_.transition().data() + z * hidden;
      for (std::size_t to = 0; to < hidden; ++to) belief[to] += share * static_cast<double>(row[to]);
    }
  }
  return possible ? std::log(sum) : kLowestLogWeight;
}

void TokenSurrogate::advance(std::vector<double>& belief, std::span<const TokenId> symbols) const {
  std::vector<double> scratch;
  for (const TokenId symbol : symbols) read(belief, symbol, true, scratch);
}

void TokenSurrogate::Cursor::begin(const TokenSurrogate& surrogate, std::span<const double> belief) {
  surrogate_ = &surrogate;
  path_.clear();
  if (beliefs_.empty()) beliefs_.emplace_back();
  beliefs_[0].assign(belief.begin(), belief.end());
  log_sums_.assign(1, 0);
}

void TokenSurrogate::Cursor::read(std::span<const TokenId> path, std::vector<double>& rests) {
  assert(!path.empty() && log_sums_.size() > path_.size());
  std::size_t known = 0;
  while (known < path_.size() && known + 1 < path.size() && path_[known] == path[known]) ++known;
  path_.resize(known);
  log_sums_.resize(known + 1);
  for (; known < path.size(); ++known) {
    const bool last = known + 1 == path.size();
    if (!last) {
      if (beliefs_.size() < known + 2) beliefs_.emplace_back();
      beliefs_[known + 1] = beliefs_[known];
      path_.push_back(path[known]);
    }
    log_sums_.push_back(log_sums_[known] +
                        surrogate_->read(beliefs_[last ? known : known + 1], path[known], !last, scratch_));
  }
  for (std::size_t d = 0; d < path.size(); ++d) rests.push_back(log_sums_[path.size()] - log_sums_[d + 1]);
}

}  // namespace metactrl::decode
