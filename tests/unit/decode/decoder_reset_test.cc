// A decoder that is sent back to its beginning is as new, also where searches were made and plans were remembered: engines
// serve request after request with one, and what one of them may write must not depend on those before it.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "support/random.h"
#include "support/test_data.h"

namespace metactrl::decoder_reset_test {
namespace {

std::shared_ptr<const Vocabulary> bytes() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.emplace_back();
  return std::make_shared<TableVocabulary>(tokens, std::vector<TokenId>{TokenId{256}});
}

// All that is offered on a random way to the end of a plan, with its weights.
std::vector<std::pair<TokenId, double>> offered(Decoder& decoder, std::uint64_t seed) {
  testing::Random random(seed);
  std::vector<std::pair<TokenId, double>> all;
  while (!decoder.finished()) {
    const std::span<const NextToken> next = decoder.next();
    for (const NextToken& one : next) all.emplace_back(one.token, one.log_weight);
    EXPECT_TRUE(decoder.accept(next[random.below(next.size())].token));
  }
  return all;
}

class DecoderReset : public ::testing::TestWithParam<std::tuple<Tokenization, std::uint64_t>> {};

TEST_P(DecoderReset, AnswersAsANewOne) {
  const auto [tokenization, work] = GetParam();
  const std::filesystem::path folder = testing::source_dir() / "domains/tabletop";
  const Task task = load_pddl((folder / "domain.pddl").string(), (folder / "dishwasher.pddl").string());
  ConstraintOptions compile;
  compile.tokenization = tokenization;
  compile.lookahead.exact.states = 0;
  const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), bytes(), compile);
  ASSERT_EQ(constraint->lookahead()->tier(), Lookahead::Tier::kWitness);
  DecoderOptions options{.guidance = Guidance::kUniform};
  options.support.candidates.work = work;
  Decoder used(constraint, options);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    used.reset();
    Decoder fresh(constraint, options);
    ASSERT_EQ(offered(used, seed), offered(fresh, seed)) << "plan " << seed;
    Decoder fork(used);
    fork.reset();
    Decoder another(constraint, options);
    ASSERT_EQ(offered(fork, seed + 1), offered(another, seed + 1)) << "a fork behind plan " << seed;
  }
}

// With work for all searches of a plan, and for some of one.
INSTANTIATE_TEST_SUITE_P(Tokens, DecoderReset,
                         ::testing::Combine(::testing::Values(Tokenization::kCanonical, Tokenization::kAny),
                                            ::testing::Values(~std::uint64_t{0}, std::uint64_t{100'000})));

}  // namespace
}  // namespace metactrl::decoder_reset_test
