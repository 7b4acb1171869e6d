// TokenSurrogate: what a hidden Markov model of tokens makes of the text of a plan.
//
//     TokenSurrogate surrogate(hmm, vocabulary);
//     std::vector<double> belief = surrogate.start();
//     double log_probability = surrogate.advance(belief, token, emitted);      // the token was written
//
// A *belief* is the distribution of the hidden state that emits the next token, with zeros behind it up to a multiple of
// what a processor works on at once. Symbols are the token automaton's in canonical tokenization: tokens, and kEnd for
// the end of the turn, which is the model's own end. A token that the model holds impossible has the lowest logarithm
// that is used and tells nothing: the state that emitted it is taken to be one with which a text begins. So nothing here
// is ever infinite.
//
// Costs: O(H) for what a token says, H^2 to go behind it. Immutable; may be read from many threads.
#ifndef METACTRL_SRC_DECODE_TOKEN_SURROGATE_H_
#define METACTRL_SRC_DECODE_TOKEN_SURROGATE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "metactrl/hmm.h"
#include "metactrl/vocabulary.h"
#include "text/token_automaton.h"

namespace metactrl::decode {

class TokenSurrogate {
 public:
  // Throws InputError when the model is one of actions, or of another vocabulary.
  TokenSurrogate(const Hmm& hmm, const Vocabulary& vocabulary);

  const Hmm& hmm() const { return hmm_; }
  // Numbers in a belief.
  std::size_t width() const { return width_; }
  std::vector<double> start() const;
  // The distribution of the state that has emitted the symbol, and the log-probability of the symbol.
  double emit(std::span<const double> belief, TokenId symbol, std::vector<double>& emitted) const;
  // The belief behind the symbol that was emitted.
  void move(std::span<const double> emitted, std::vector<double>& belief) const;
  // Both: the log-probability of the symbol.
  double advance(std::vector<double>& belief, TokenId symbol, std::vector<double>& emitted) const;
  // For each symbol, the log-probability of those behind it, given it and those before it. The belief goes behind all.
  void advance(std::vector<double>& belief, std::span<const TokenId> symbols, std::vector<double>& emitted,
               std::vector<double>& rests) const;

 private:
  Hmm hmm_;
  std::size_t width_;
  std::vector<double> transition_;  // [from * width + to]
  std::vector<double> ones_;
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_TOKEN_SURROGATE_H_
