// Decoding with a model of tokens: what it does not change (support), what it remembers (beliefs), what is refused. The
// weights themselves: token_level_property_test.cc.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/error.h"
#include "support/random.h"
#include "support/random_constraint.h"
#include "text/token_automaton.h"

namespace metactrl::token_bridge_property_test {
namespace {

using testing::Random;
using testing::random_constraint;
using testing::RandomConstraintOptions;

Alphabet alphabet_of(const Vocabulary& vocabulary) {
  return Alphabet::tokens(vocabulary.size(), static_cast<std::uint32_t>(vocabulary.end_of_turn().front()),
                          vocabulary.fingerprint());
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
    const std::array<Guidance, 3> guidances = {Guidance::kUniform, Guidance::kMask, Guidance::kSyntax};
    const Guidance guidance = guidances[seed % guidances.size()];
    const bool syntax = guidance == Guidance::kSyntax;
    Decoder mask(constraint, {syntax ? guidance : Guidance::kMask, Bridge::kUniform, 0, false});
    Decoder decoder(constraint, {guidance, Bridge::kHmm, 0, false, blind});
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
    Decoder decoder(constraint, {seed % 2 == 0 ? Guidance::kUniform : Guidance::kSyntax, Bridge::kHmm, 0, false, hmm});
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
    EXPECT_NO_THROW(Decoder(constraint, {Guidance::kSyntax, Bridge::kUniform, 0, false, hmm}));
    EXPECT_THROW(Decoder(any, {Guidance::kSyntax, Bridge::kUniform, 0, false, hmm}), InputError);
    EXPECT_THROW(Decoder(constraint, {Guidance::kMask, Bridge::kUniform, 0, false, hmm}), InputError);
    EXPECT_THROW(Decoder(constraint, {Guidance::kUniform, Bridge::kSurrogate, 0, false, hmm}), InputError);
    EXPECT_THROW(Decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, hmm}, [] { return true; }), Stopped);
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
}  // namespace metactrl::token_bridge_property_test
