// TokenSurrogate: what a hidden Markov model of tokens makes of the text of a plan; the bridge of Bridge::kHmm.
//
//     TokenSurrogate surrogate(hmm, vocabulary);
//     std::vector<double> belief = surrogate.start();
//     surrogate.advance(belief, tokens);                   // these were written
//     TokenSurrogate::Cursor cursor;
//     cursor.begin(surrogate, belief);
//     cursor.read(path, rests);                            // rests[d]: log p(path behind its symbol d | all before it)
//
// A *belief* is the distribution of the hidden state that emits the next token. Symbols are the token automaton's in
// canonical tokenization: tokens, and kEnd for the end of the turn, which is the model's own end. A token that the
// model holds impossible has the lowest logarithm that is used, and the model begins anew behind it: nothing here is
// ever infinite.
//
// Costs: H^2 for every token that is read and is not the last of its path. Immutable; may be read from many threads. A
// cursor belongs to one.
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
  std::vector<double> start() const { return {hmm_.initial().begin(), hmm_.initial().end()}; }
  void advance(std::vector<double>& belief, std::span<const TokenId> symbols) const;

  // Asks about one path after the other. Paths in lexicographic order share the work of common beginnings.
  class Cursor {
   public:
    void begin(const TokenSurrogate& surrogate, std::span<const double> belief);
    // Appends one number for each symbol of the path.
    void read(std::span<const TokenId> path, std::vector<double>& rests);
    // Behind so many symbols of the path read last; not behind all of them.
    std::span<const double> belief(std::size_t symbols) const { return beliefs_[symbols]; }

   private:
    const TokenSurrogate* surrogate_ = nullptr;
    std::vector<TokenId> path_;                 // whose beliefs are known
    std::vector<std::vector<double>> beliefs_;  // beliefs_[i]: behind i symbols
    std::vector<double> log_sums_;              // of the probabilities of i symbols
    std::vector<double> scratch_;
  };

 private:
  // The log-probability of a symbol; with `move` the belief goes behind it.
  double read(std::vector<double>& belief, TokenId symbol, bool move, std::vector<double>& scratch) const;

  Hmm hmm_;
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_TOKEN_SURROGATE_H_
