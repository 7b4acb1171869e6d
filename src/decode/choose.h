// Choosing among weighted tokens.
#ifndef METACTRL_SRC_DECODE_CHOOSE_H_
#define METACTRL_SRC_DECODE_CHOOSE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/generate.h"
#include "support/splitmix.h"

namespace metactrl::decode {

using internal::Random;

// A logit as a number that can be compared: NaN and minus infinity are the lowest finite value, plus infinity the
// highest.
double sane_logit(float logit) noexcept;

// logit + log_weight of every choice. `logits` has one value per token of the vocabulary.
void score_choices(std::span<const NextToken> choices, std::span<const float> logits, std::vector<double>& scores);

// The index of the largest score; the first of equals.
std::size_t choose_best(std::span<const double> scores) noexcept;

// Adds to scores what GenerateOptions says about single tokens: bias and penalties.
class Adjustment {
 public:
  explicit Adjustment(const GenerateOptions& options) : options_(options) {}

  // False: every adjustment is 0.
  bool active() const {
    return !options_.logit_bias.empty() || options_.frequency_penalty != 0 || options_.presence_penalty != 0;
  }
  void wrote(TokenId token) {
    if (active()) ++written_[token];
  }
  double of(TokenId token) const;
  // To the scores of all tokens.
  void add_to(std::span<double> scores) const;

 private:
  const GenerateOptions& options_;
  std::map<TokenId, unsigned> written_;
};

// Which of the scores may be drawn, the likeliest always: see GenerateOptions.
struct SampleRule {
  double temperature = 1;
  double top_p = 1;
  std::size_t top_k = 0;
  double min_p = 0;
};
inline SampleRule rule_of(const GenerateOptions& options) {
  return {options.temperature, options.top_p, options.top_k, options.min_p};
}

// An index drawn with probability proportional to exp(score / temperature), restricted to the smallest set of most
// likely ones whose probability is at least top_p, of these to the first top_k, and to those with at least min_p of the
// likeliest one's. A temperature of 0 is choose_best. The buffers' contents do not matter; kept from call to call, they
// save allocations.
struct SampleBuffers {
  std::vector<std::size_t> order;
  std::vector<double> weights;
};
std::size_t choose_sample(std::span<const double> scores, const SampleRule& rule, Random& random,
                          SampleBuffers& buffers);
inline std::size_t choose_sample(std::span<const double> scores, const SampleRule& rule, Random& random) {
  SampleBuffers buffers;
  return choose_sample(scores, rule, random, buffers);
}

// The token with the largest logit. Linear in the vocabulary: for traces and unconstrained decoding.
TokenId favourite(std::span<const float> logits);

// log of the sum of exp(logit) over the vocabulary, NaN left out. Linear in the vocabulary.
double log_normaliser(std::span<const float> logits);

// Of choices[chosen], whose score and all others' are as score_choices writes them. Linear in the vocabulary.
Observer::Token::Probabilities probabilities_of(std::span<const NextToken> choices, std::span<const float> logits,
                                                std::span<const double> scores, std::size_t chosen);
// The same where every token is allowed and weighs the same.
Observer::Token::Probabilities probabilities_of(TokenId token, std::span<const float> logits);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_CHOOSE_H_
