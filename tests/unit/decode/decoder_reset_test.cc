// What a decoder offers depends on the tokens that it has, not on those that were taken back, also where searches were made
// and plans were remembered. Sent back to its beginning it is as new: engines serve request after request with one, and what
// one of them may write must not depend on those before it. And what was taken once must be taken again, wherever an engine
// writes it anew.
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

std::vector<std::pair<TokenId, double>> weights(std::span<const NextToken> next) {
  std::vector<std::pair<TokenId, double>> all;
  for (const NextToken& one : next) all.emplace_back(one.token, one.log_weight);
  return all;
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

// Tiles on a board of two rows. Which of them may move when few moves are left is for searches to say, and what one of them
// finds is news to all that come by.
Task sliding_tiles() {
  return load_pddl_text(
      "(define (domain tiles) (:predicates (on ?t ?p) (free ?p) (beside ?p ?q))"
      " (:action slide :parameters (?t ?p ?q) :precondition (and (on ?t ?p) (free ?q) (beside ?p ?q))"
      " :effect (and (not (on ?t ?p)) (not (free ?q)) (on ?t ?q) (free ?p))))",
      "(define (problem p) (:domain tiles) (:objects a b c d e - object p1 p2 p3 p4 p5 p6 - object) (:init"
      " (beside p1 p2) (beside p2 p1) (beside p2 p3) (beside p3 p2) (beside p4 p5) (beside p5 p4) (beside p5 p6)"
      " (beside p6 p5) (beside p1 p4) (beside p4 p1) (beside p2 p5) (beside p5 p2) (beside p3 p6) (beside p6 p3)"
      " (on c p1) (on a p2) (on e p3) (on b p4) (on d p5) (free p6))"
      " (:goal (and (on a p1) (on b p2) (on c p3) (on d p4))))");
}

std::shared_ptr<const Constraint> constraint_without_a_table(const Task& task, Tokenization tokenization) {
  ConstraintOptions compile;
  compile.tokenization = tokenization;
  compile.lookahead.exact.states = 0;
  return Constraint::compile(task, PlanFormat::builtin("pddl"), bytes(), compile);
}

class DecoderReset : public ::testing::TestWithParam<std::tuple<Tokenization, std::uint64_t>> {};

TEST_P(DecoderReset, AnswersAsANewOne) {
  const auto [tokenization, work] = GetParam();
  const std::filesystem::path folder = testing::source_dir() / "domains/tabletop";
  const Task task = load_pddl((folder / "domain.pddl").string(), (folder / "dishwasher.pddl").string());
  const auto constraint = constraint_without_a_table(task, tokenization);
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

TEST_P(DecoderReset, WhatWasTakenIsTakenAgain) {
  const auto [tokenization, work] = GetParam();
  const auto constraint = constraint_without_a_table(sliding_tiles(), tokenization);
  ASSERT_EQ(constraint->lookahead()->verdict(), Verdict::kSolvable);
  DecoderOptions options{.guidance = Guidance::kUniform};
  options.support.candidates.work = work;
  for (const bool detours : {true, false}) {
    options.support.detours = detours;
    Decoder decoder(constraint, options);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(seed);
      testing::Random random(seed);
      decoder.reset();
      unsigned turns_back = 12;
      while (!decoder.finished()) {
        if (random.chance(30)) decoder = Decoder(std::as_const(decoder));
        const std::span<const NextToken> next = decoder.next();
        ASSERT_FALSE(next.empty());
        ASSERT_TRUE(decoder.accept(next[random.below(next.size())].token));
        if (turns_back > 0 && random.chance(5)) {
          --turns_back;
          decoder.rollback(random.below(decoder.num_tokens()));
        }
      }
      // In another slot, and in this one.
      const std::vector<TokenId> tokens(decoder.tokens().begin(), decoder.tokens().end());
      Decoder fresh(constraint, options);
      decoder.rollback(random.below(tokens.size()));
      const std::size_t kept = decoder.num_tokens();
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i >= kept) {
          const std::vector<std::pair<TokenId, double>> before = weights(fresh.next());
          ASSERT_EQ(weights(decoder.next()), before) << "token " << i;
          ASSERT_TRUE(decoder.accept(tokens[i])) << "token " << i;
        }
        ASSERT_TRUE(fresh.accept(tokens[i])) << "token " << i;
      }
      EXPECT_TRUE(fresh.finished());
    }
  }
}

// With work for all searches of a plan, and for some of one.
INSTANTIATE_TEST_SUITE_P(Tokens, DecoderReset,
                         ::testing::Combine(::testing::Values(Tokenization::kCanonical, Tokenization::kAny),
                                            ::testing::Values(~std::uint64_t{0}, std::uint64_t{100'000})));

}  // namespace
}  // namespace metactrl::decoder_reset_test
