// The forward recursion of hmm.cc: behind a symbol x the belief f becomes (f o e(x)) T / p(x), with p(x) = f . e(x).
#include "decode/token_surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hmm/gemm.h"
#include "hmm/row_ops.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "support/str_cat.h"

namespace metactrl::decode {

using internal::str_cat;

TokenSurrogate::TokenSurrogate(const Hmm& hmm, const Vocabulary& vocabulary)
    : hmm_(hmm), width_(hmm::padded(hmm.num_hidden())) {
  const Alphabet& alphabet = hmm.alphabet();
  if (alphabet.is_meta()) {
    throw InputError("model of tokens", "is one of actions", "train one on tokens (CorpusLevel::kToken)");
  }
  const bool another = alphabet.vocabulary != 0 && alphabet.vocabulary != vocabulary.fingerprint();
  if (another || alphabet.size != vocabulary.size()) {
    throw InputError(
        "model of tokens",
        str_cat("was made for another vocabulary: ",
                alphabet.size == vocabulary.size()
                    ? str_cat("one with other ", alphabet.size, " tokens")
                    : str_cat("it has ", alphabet.size, " tokens, the language model ", vocabulary.size())),
        "train one on what this language model writes");
  }
  const std::size_t hidden = hmm_.num_hidden();
  transition_.assign(hidden * width_, 0);
  for (std::size_t from = 0; from < hidden; ++from) {
    const std::span<const float> row = hmm_.transition().subspan(from * hidden, hidden);
    std::copy(row.begin(), row.end(), transition_.begin() + static_cast<std::ptrdiff_t>(from * width_));
  }
  ones_.assign(width_, 1);
}

std::vector<double> TokenSurrogate::start() const {
  std::vector<double> belief(hmm_.initial().begin(), hmm_.initial().end());
  belief.resize(width_);
  return belief;
}

double TokenSurrogate::emit(std::span<const double> belief, TokenId symbol, std::vector<double>& emitted) const {
  const std::size_t hidden = hmm_.num_hidden();
  const SymbolId of_model =
      symbol == TokenAutomaton::kEnd ? hmm_.alphabet().end : SymbolId{static_cast<std::uint32_t>(symbol)};
  const std::span<const float> emission = hmm_.emission(of_model);
  emitted.assign(width_, 0.0);
  for (std::size_t z = 0; z < hidden; ++z) emitted[z] = belief[z] * static_cast<double>(emission[z]);
  const double sum = hmm::row_ops<double>().dot(emitted.data(), ones_.data(), width_);
  // Below the smallest normal number there would be no telling states apart.
  if (!(sum >= std::numeric_limits<double>::min())) {
    std::copy(hmm_.initial().begin(), hmm_.initial().end(), emitted.begin());
    return kLowestLogWeight;
  }
  hmm::row_ops<double>().scale(emitted.data(), 1 / sum, width_);
  return std::log(sum);
}

void TokenSurrogate::move(std::span<const double> emitted, std::vector<double>& belief) const {
  belief.resize(width_);
  hmm::multiply(1, width_, hmm_.num_hidden(), emitted.data(), width_, 1, transition_.data(), width_, belief.data(),
                width_, false);
}

double TokenSurrogate::advance(std::vector<double>& belief, TokenId symbol, std::vector<double>& emitted) const {
  const double log_probability = emit(belief, symbol, emitted);
  move(emitted, belief);
  return log_probability;
}

void TokenSurrogate::advance(std::vector<double>& belief, std::span<const TokenId> symbols,
                             std::vector<double>& emitted, std::vector<double>& rests) const {
  rests.assign(symbols.size(), 0);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const double log_probability = advance(belief, symbols[i], emitted);
    for (std::size_t before = 0; before < i; ++before) rests[before] += log_probability;
  }
}

}  // namespace metactrl::decode
