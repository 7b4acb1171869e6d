// The token level, p(gamma | text), and its product with what the lookahead says, against enumeration: every text of a
// well-formed plan within the horizon, with its probability by a forward recursion without scaling, times what its entry
// is worth. A token is worth what the texts that begin with it have together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metactrl/decoder.h"
#include "support/random.h"
#include "support/random_constraint.h"
#include "support/repeats.h"
#include "support/token_level_case.h"

namespace metactrl::token_level_enumeration_test {
namespace {

using testing::AllTexts;
using testing::dyadic_meta_hmm;
using testing::Forward;
using testing::PlanText;
using testing::Random;
using testing::random_constraint;
using testing::random_token_hmm;
using testing::RandomConstraintOptions;
using testing::sparse_token_hmm;
using testing::symbol_of;
using testing::Worth;

struct Compared {
  std::size_t tasks = 0;
  std::size_t weights = 0;
  std::size_t differing = 0;  // tokens whose weight is not that of another at the same place
};

void compare_with_enumeration(const std::shared_ptr<const Constraint>& constraint, const Hmm& hmm,
                              const std::optional<Hmm>& meta, const DecoderOptions& options, Random& random,
                              Compared& compared) {
  const Task& task = constraint->task();
  const unsigned horizon = constraint->lookahead()->horizon();
  const AllTexts all(*constraint, hmm, horizon);
  Worth worth(task, options.guidance, meta);
  const bool may_be_empty = options.guidance == Guidance::kSyntax || task.is_goal(task.initial_state());
  Decoder decoder(constraint, options);
  std::vector<TokenId> text;
  while (!decoder.finished()) {
    const std::vector<NextToken> next(decoder.next().begin(), decoder.next().end());
    ASSERT_FALSE(next.empty());
    const std::size_t entry = decoder.separators().size();
    std::map<std::uint32_t, double> worths;  // of the entry at hand
    for (const NextToken& choice : next) {
      text.push_back(symbol_of(constraint->vocabulary(), choice.token));
      double sum = 0;
      for (const PlanText& one : all.texts()) {
        if (one.symbols.size() < text.size() || !std::equal(text.begin(), text.end(), one.symbols.begin())) continue;
        if (one.ranks.size() <= entry) {
          if (may_be_empty) sum += one.probability;
          continue;
        }
        const std::uint32_t rank = one.ranks[entry];
        if (!worths.contains(rank)) {
          // An entry whose text is complete was allowed.
          const bool complete = decoder.actions().size() > entry;
          worths[rank] = complete ? 1 : worth.of(decoder, constraint->automaton().entry(rank));
        }
        sum += one.probability * worths[rank];
      }
      const double before = Forward(hmm, text).probability;
      // Where the model holds the text impossible, the weight is only finite.
      ASSERT_TRUE(std::isfinite(choice.log_weight));
      if (before > 0 && sum > 0) {
        const double expected = std::log(sum / before);
        ASSERT_NEAR(choice.log_weight, expected, 1e-9 * (1 + std::abs(expected))) << "behind " << text.size();
        ++compared.weights;
        compared.differing += std::abs(choice.log_weight - next[0].log_weight) > 1e-3 ? 1 : 0;
      } else if (before > 0) {
        ASSERT_LE(choice.log_weight, kLowestLogWeight);
      }
      text.pop_back();
    }
    const TokenId token = next[random.below(next.size())].token;
    text.push_back(symbol_of(constraint->vocabulary(), token));
    ASSERT_TRUE(decoder.accept(token));
    // Behind a text that it holds impossible the model begins anew.
    if (Forward(hmm, text).probability == 0) break;
  }
  ++compared.tasks;
}

void compare_tasks(Guidance guidance, std::uint64_t first_seed, std::size_t tasks) {
  Compared compared;
  for (std::uint64_t seed = first_seed; seed < first_seed + 20 * tasks && compared.tasks < tasks; ++seed) {
    RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 3);
    options.max_actions = options.horizon == 3 ? 3 : 5;
    options.all_relevant = true;
    options.no_closing = seed % 5 == 2;
    std::optional<Hmm> meta;
    if (guidance == Guidance::kTrained) {
      options.hmm = [&](const Task& task) { return *(meta = dyadic_meta_hmm(task, 1 + seed % 4, seed)); };
    }
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr || constraint->lookahead()->horizon() > 3) continue;
    const std::size_t hidden = 1 + seed % 5;
    const Hmm hmm = seed % 4 == 3 ? sparse_token_hmm(constraint->vocabulary(), hidden, seed)
                                  : random_token_hmm(constraint->vocabulary(), hidden, seed);
    Random random(seed);
    compare_with_enumeration(
        constraint, hmm, meta,
        {.guidance = guidance,
         .bridge = guidance == Guidance::kSyntax && seed % 2 == 0 ? Bridge::kUniform : Bridge::kHmm,
         .token_hmm = hmm,
         .support = {.idle_steps = true}},
        random, compared);
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_EQ(compared.tasks, tasks);
  EXPECT_GT(compared.weights, 8 * tasks);
  EXPECT_GT(compared.differing, tasks / 2);
}

class TokenLevelEnumeration : public ::testing::TestWithParam<Guidance> {};

TEST_P(TokenLevelEnumeration, EqualsTheSumOverAllPlans) { compare_tasks(GetParam(), 0, testing::repeats(150)); }

TEST_P(TokenLevelEnumeration, EqualsTheSumOverAllPlansSlow) {
  compare_tasks(GetParam(), 1'000'000, testing::repeats(1500));
}

INSTANTIATE_TEST_SUITE_P(Guidances, TokenLevelEnumeration,
                         ::testing::Values(Guidance::kSyntax, Guidance::kMask, Guidance::kUniform, Guidance::kTrained),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace metactrl::token_level_enumeration_test
