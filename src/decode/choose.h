// Choosing among weighted tokens.
#ifndef METACTRL_SRC_DECODE_CHOOSE_H_
#define METACTRL_SRC_DECODE_CHOOSE_H_

#include <cstddef>
#include <cstdint>
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

// An index drawn with probability proportional to exp(score / temperature), restricted to the smallest set of most
// likely ones whose probability is at least top_p. A temperature of 0 is choose_best. The buffers' contents do not
// matter; kept from call to call, they save allocations.
struct SampleBuffers {
  std::vector<std::size_t> order;
  std::vector<double> weights;
};
std::size_t choose_sample(std::span<const double> scores, double temperature, double top_p, Random& random,
                          SampleBuffers& buffers);
inline std::size_t choose_sample(std::span<const double> scores, double temperature, double top_p, Random& random) {
  SampleBuffers buffers;
  return choose_sample(scores, temperature, top_p, random, buffers);
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
