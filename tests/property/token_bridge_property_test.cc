// Bridge::kHmm, against Bridge::kModel with the same probabilities: those of the hidden Markov model of tokens,
// computed here by a forward recursion without scaling. Bridge::kModel itself is checked in decoder_property_test.cc
// and generate_property_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/error.h"
#include "support/random.h"
#include "support/random_constraint.h"

namespace metactrl {
namespace {

using testing::Random;
using testing::random_constraint;
using testing::RandomConstraintOptions;

Alphabet alphabet_of(const Vocabulary& vocabulary) {
  return Alphabet::tokens(vocabulary.size(), static_cast<std::uint32_t>(vocabulary.end_of_turn().front()),
                          vocabulary.fingerprint());
}

// p(a text begins with these tokens), in double.
double probability(const Hmm& hmm, std::span<const TokenId> tokens) {
  const std::size_t hidden = hmm.num_hidden();
  std::vector<double> state(hmm.initial().begin(), hmm.initial().end());
  double sum = 1;
  for (const TokenId token : tokens) {
    std::vector<double> next(hidden);
    sum = 0;
    for (std::size_t z = 0; z < hidden; ++z) {
      const double here = state[z] * hmm.emission(SymbolId{static_cast<std::uint32_t>(token)})[z];
      sum += here;
      for (std::size_t to = 0; to < hidden; ++to) next[to] += here * hmm.transition()[z * hidden + to];
    }
    state = next;
  }
  return sum;
}

// What Session::score would say, were the model of tokens a language model. Of several tokens that end a turn, it knows
// the first.
std::vector<std::vector<float>> scores_of(const Hmm& hmm, const Decoder& decoder) {
  std::vector<std::vector<float>> scores;
  for (const std::vector<TokenId>& path : decoder.paths()) {
    std::vector<TokenId> text(decoder.tokens().begin(), decoder.tokens().end());
    scores.emplace_back();
    double before = probability(hmm, text);
    for (const TokenId token : path) {
      text.push_back(token);
      const std::vector<TokenId>& ends = decoder.constraint().vocabulary().end_of_turn();
      const bool other_end = token != ends.front() && std::find(ends.begin(), ends.end(), token) != ends.end();
      const double now = probability(hmm, text);
      scores.back().push_back(other_end ? -1e4F : static_cast<float>(std::log(now / before)));
      before = now;
    }
  }
  return scores;
}

TEST(TokenBridgeTest, WeighsAsALanguageModelWithItsProbabilitiesWould) {
  unsigned checked = 0;
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 2000 && checked < 60; ++seed) {
    RandomConstraintOptions options;
    options.witness_tier = seed % 5 == 4;
    options.no_closing = seed % 3 == 2;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    ++checked;
    const Hmm hmm = Hmm::random(alphabet_of(constraint->vocabulary()), 3, seed);
    Random random(seed);
    Decoder decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, hmm});
    Decoder reference(constraint, {Guidance::kUniform, Bridge::kModel, 0, false});
    while (!decoder.finished()) {
      if (reference.at_boundary()) reference.set_path_scores(scores_of(hmm, reference));
      const std::span<const NextToken> expected = reference.next();
      const std::span<const NextToken> actual = decoder.next();
      ASSERT_EQ(expected.size(), actual.size()) << "seed " << seed;
      ASSERT_FALSE(actual.empty());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(expected[i].token, actual[i].token);
        ASSERT_NEAR(expected[i].log_weight, actual[i].log_weight, 1e-4 * (1 + std::abs(actual[i].log_weight)))
            << "seed " << seed << " after " << decoder.num_tokens() << " tokens";
        ++compared;
      }
      const TokenId token = actual[random.below(actual.size())].token;
      ASSERT_TRUE(decoder.accept(token));
      ASSERT_TRUE(reference.accept(token));
    }
    EXPECT_TRUE(reference.finished());
  }
  EXPECT_EQ(checked, 60U);
  EXPECT_GT(compared, 500U);
}

// A model that expects the end of the turn and nothing else: everything stays allowed and finite.
TEST(TokenBridgeTest, SupportDoesNotDependOnTheModel) {
  unsigned checked = 0;
  for (std::uint64_t seed = 0; seed < 400 && checked < 40; ++seed) {
    const auto constraint = random_constraint(seed, {});
    if (constraint == nullptr) continue;
    ++checked;
    const Alphabet alphabet = alphabet_of(constraint->vocabulary());
    std::vector<float> emission(alphabet.size);
    emission[static_cast<std::size_t>(alphabet.end)] = 1;
    const Hmm blind(alphabet, 1, {1}, {1}, emission, "");
    Random random(seed);
    Decoder mask(constraint, {Guidance::kMask, Bridge::kUniform, 0, false});
    Decoder decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, blind});
    while (!mask.finished()) {
      const std::span<const NextToken> expected = mask.next();
      const std::span<const NextToken> actual = decoder.next();
      ASSERT_EQ(expected.size(), actual.size()) << "seed " << seed;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(expected[i].token, actual[i].token);
        ASSERT_TRUE(std::isfinite(actual[i].log_weight));
      }
      const TokenId token = expected[random.below(expected.size())].token;
      ASSERT_TRUE(mask.accept(token));
      ASSERT_TRUE(decoder.accept(token));
    }
    EXPECT_TRUE(decoder.finished());
  }
  EXPECT_EQ(checked, 40U);
}

TEST(TokenBridgeTest, RollbackAndForkRestoreTheBelief) {
  unsigned checked = 0;
  for (std::uint64_t seed = 0; seed < 400 && checked < 30; ++seed) {
    RandomConstraintOptions options;
    options.horizon = 5;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    ++checked;
    Random random(seed);
    const Hmm hmm = Hmm::random(alphabet_of(constraint->vocabulary()), 4, seed);
    Decoder decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, hmm});
    std::vector<std::vector<NextToken>> seen;
    while (!decoder.finished()) {
      seen.emplace_back(decoder.next().begin(), decoder.next().end());
      ASSERT_TRUE(decoder.accept(seen.back()[random.below(seen.back().size())].token));
    }
    const std::vector<TokenId> tokens(decoder.tokens().begin(), decoder.tokens().end());
    // Back by any number of tokens, along another way, and here again.
    for (int round = 0; round < 4; ++round) {
      const std::size_t keep = random.below(tokens.size());
      Decoder fork = decoder;
      fork.rollback(tokens.size() - keep);
      for (int step = 0; step < 5 && !fork.finished(); ++step) {
        ASSERT_TRUE(fork.accept(fork.next()[random.below(fork.next().size())].token));
      }
      fork.rollback(fork.num_tokens() - keep);
      for (std::size_t i = keep; i < tokens.size(); ++i) {
        ASSERT_EQ(fork.next().size(), seen[i].size());
        for (std::size_t j = 0; j < seen[i].size(); ++j) {
          ASSERT_EQ(fork.next()[j].token, seen[i][j].token);
          ASSERT_EQ(fork.next()[j].log_weight, seen[i][j].log_weight) << "seed " << seed;
        }
        ASSERT_TRUE(fork.accept(tokens[i]));
      }
    }
  }
  EXPECT_EQ(checked, 30U);
}

TEST(TokenBridgeTest, RefusesWhatDoesNotFit) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomConstraintOptions options;
    const auto constraint = random_constraint(seed, options);
    options.tokenization = Tokenization::kAny;
    const auto any = random_constraint(seed, options);
    if (constraint == nullptr || any == nullptr) continue;
    const Hmm hmm = Hmm::uniform(alphabet_of(constraint->vocabulary()));
    EXPECT_NO_THROW(Decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, hmm}));
    EXPECT_THROW(Decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false}), InputError);
    EXPECT_THROW(Decoder(any, {Guidance::kUniform, Bridge::kHmm, 0, false, hmm}), InputError);
    const Hmm meta = Hmm::uniform(Alphabet::meta({"press"}, 3));
    EXPECT_THROW(Decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, meta}), InputError);
    Alphabet other = hmm.alphabet();
    other.vocabulary += 1;
    EXPECT_THROW(Decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, Hmm::uniform(other)}), InputError);
    return;
  }
  FAIL() << "no seed gives a task";
}

}  // namespace
}  // namespace metactrl
