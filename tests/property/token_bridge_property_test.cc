// Bridge::kHmm, against Bridge::kModel with the same probabilities, divided by those of all entries that can still be
// meant, one by one. The probabilities are those of the hidden Markov model of tokens, computed here by a forward
// recursion without scaling. Bridge::kModel itself is checked in decoder_property_test.cc and
// generate_property_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
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

// What can follow a text: all entries, allowed or not, and the empty plan where that is allowed.
class AllContinuations {
 public:
  AllContinuations(const Hmm& hmm, const Decoder& decoder) : hmm_(hmm), decoder_(decoder) {
    const TokenAutomaton& automaton = decoder.constraint().automaton();
    append(automaton.opening());
    std::uint32_t group = automaton.first_group();
    for (std::size_t i = 0; i < decoder.separators().size(); ++i) {
      append(automaton.tokens(automaton.rank(decoder.actions()[i], decoder.separators()[i], group)));
      append(automaton.prefix(static_cast<std::uint32_t>(i + 2)));
      group = automaton.group_after(decoder.separators()[i]);
    }
    const std::vector<TokenId> base = std::move(text_);
    if (decoder.tokens().size() < base.size() || decoder.actions().size() > decoder.separators().size()) return;
    in_entry_ = true;
    for (auto [rank, end] = automaton.group(group); rank < end; ++rank) {
      text_ = base;
      append(automaton.tokens(rank));
      entries_.push_back(std::move(text_));
    }
    const Task& task = decoder.constraint().task();
    if (decoder.actions().empty() && task.is_goal(task.initial_state())) {
      text_.clear();
      append(automaton.empty_plan());
      if (text_.empty() || text_.back() != end_token()) text_.push_back(end_token());
      empty_ = std::move(text_);
    }
  }

  bool in_entry() const { return in_entry_; }
  // p(some entry is what follows | text, token)
  double entries(TokenId token) const {
    double sum = 0;
    for (const std::vector<TokenId>& entry : entries_) sum += rest(entry, token);
    return sum;
  }
  double empty_plan(TokenId token) const { return rest(empty_, token); }

 private:
  TokenId end_token() const { return decoder_.constraint().vocabulary().end_of_turn().front(); }
  void append(std::span<const TokenId> symbols) {
    for (const TokenId symbol : symbols) text_.push_back(symbol == TokenAutomaton::kEnd ? end_token() : symbol);
  }
  double rest(const std::vector<TokenId>& whole, TokenId token) const {
    std::vector<TokenId> text(decoder_.tokens().begin(), decoder_.tokens().end());
    const std::vector<TokenId>& ends = decoder_.constraint().vocabulary().end_of_turn();
    const bool end = std::find(ends.begin(), ends.end(), token) != ends.end();
    text.push_back(end ? end_token() : token);
    if (whole.size() < text.size() || !std::equal(text.begin(), text.end(), whole.begin())) return 0;
    return probability(hmm_, whole) / probability(hmm_, text);
  }

  const Hmm& hmm_;
  const Decoder& decoder_;
  bool in_entry_ = false;
  std::vector<TokenId> text_;
  std::vector<std::vector<TokenId>> entries_;
  std::vector<TokenId> empty_;
};

TEST(TokenBridgeTest, IsADistributionOverAllThatCanBeMeant) {
  unsigned checked = 0;
  std::size_t compared = 0;
  std::size_t in_entries = 0;
  std::size_t forbidden = 0;  // some of the mass is on what may not be taken, or does not surely succeed
  for (std::uint64_t seed = 0; seed < 2000 && checked < 60; ++seed) {
    RandomConstraintOptions options;
    options.witness_tier = seed % 5 == 4;
    options.no_closing = seed % 3 == 2;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    ++checked;
    const Hmm hmm = Hmm::random(alphabet_of(constraint->vocabulary()), 3, seed);
    Random random(seed);
    const SupportOptions any{.idle_steps = true};
    Decoder decoder(constraint, {Guidance::kUniform, Bridge::kHmm, 0, false, hmm, any});
    Decoder reference(constraint, {Guidance::kUniform, Bridge::kModel, 0, false, {}, any});
    while (!decoder.finished()) {
      if (reference.at_boundary()) reference.set_path_scores(scores_of(hmm, reference));
      const std::span<const NextToken> expected = reference.next();
      const std::span<const NextToken> actual = decoder.next();
      ASSERT_EQ(expected.size(), actual.size()) << "seed " << seed;
      ASSERT_FALSE(actual.empty());
      const AllContinuations all(hmm, decoder);
      for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(expected[i].token, actual[i].token);
        double log_weight = expected[i].log_weight;
        const double entries = all.in_entry() ? all.entries(actual[i].token) : 0;
        if (entries > 0) {
          const double empty = all.empty_plan(actual[i].token);
          // The reference knows nothing of the empty plan inside an entry.
          log_weight = std::log((std::exp(log_weight) + empty) / (entries + empty));
          forbidden += entries > std::exp(expected[i].log_weight) * (1 + 1e-6) ? 1 : 0;
        }
        ASSERT_NEAR(log_weight, actual[i].log_weight, 1e-4 * (1 + std::abs(actual[i].log_weight)))
            << "seed " << seed << " after " << decoder.num_tokens() << " tokens";
        ASSERT_LE(actual[i].log_weight, 1e-9);
        ++compared;
        in_entries += entries > 0 ? 1 : 0;
      }
      const TokenId token = actual[random.below(actual.size())].token;
      ASSERT_TRUE(decoder.accept(token));
      ASSERT_TRUE(reference.accept(token));
    }
    EXPECT_TRUE(reference.finished());
  }
  EXPECT_EQ(checked, 60U);
  EXPECT_GT(compared, 500U);
  EXPECT_GT(in_entries, 300U);
  EXPECT_GT(forbidden, 100U);
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
}  // namespace metactrl::token_bridge_property_test
