// Once everything has been seen, decoding allocates nothing: not to list the tokens that may follow, to choose one, to
// take it or to take it back. A program of its own, because it counts every allocation in it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "decode/choose.h"
#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "support/counted_memory.h"
#include "support/test_data.h"

namespace metactrl::decoder_allocation_test {
namespace {

// Nothing that may need memory promises not to throw; taking back does.
static_assert(!noexcept(std::declval<Decoder&>().next()));
static_assert(!noexcept(std::declval<Decoder&>().forced()));
static_assert(!noexcept(std::declval<Decoder&>().accept(TokenId{})));
static_assert(noexcept(std::declval<Decoder&>().rollback(1)));
static_assert(noexcept(std::declval<Decoder&>().reset()));
static_assert(!noexcept(decode::score_choices({}, {}, std::declval<std::vector<double>&>())));
static_assert(noexcept(decode::choose_best({})));
static_assert(!noexcept(decode::choose_sample({}, {}, std::declval<decode::Random&>(),
                                              std::declval<decode::SampleBuffers&>())));

// Bytes and some pieces of plans, so that tokens straddle actions.
std::shared_ptr<const Vocabulary> vocabulary() {
  std::vector<std::string> tokens = {"", "\n"};
  for (char c = ' '; c <= '~'; ++c) tokens.emplace_back(1, c);
  for (const char* piece : {"(open", " dish", "dishwasher", ")\n", ")\n(", "\n(", "put", "(put", "in ", "grab", "_mug",
                            " blue", "\": ", "\", \"", "\"]}, {\"", "action", "arguments", "[{\"", "\"}]"}) {
    tokens.emplace_back(piece);
  }
  return std::make_shared<TableVocabulary>(tokens, std::vector<TokenId>{TokenId{0}});
}

struct Case {
  std::string name;
  std::string format;
  Tokenization tokenization = Tokenization::kCanonical;
  Guidance guidance = Guidance::kUniform;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

class DecoderAllocation : public ::testing::TestWithParam<Case> {
 protected:
  // The same way each time: the logits are a function of the place in the text.
  void decode(Decoder& decoder) {
    decode::Random random(11);
    while (!decoder.finished()) {
      for (float& logit : logits_) logit = static_cast<float>(random.uniform() * 4);
      if (const std::span<const TokenId> forced = decoder.forced(); !forced.empty()) {
        forced_.assign(forced.begin(), forced.end());
        for (TokenId token : forced_) ok_ = decoder.accept(token) && ok_;
        continue;
      }
      decode::score_choices(decoder.next(), logits_, scores_);
      const std::size_t best = decode::choose_best(scores_);
      const std::size_t drawn = decode::choose_sample(scores_, {0.8, 0.95}, random, buffers_);
      const TokenId wrong = decoder.next()[best].token;
      const TokenId token = decoder.next()[drawn].token;
      ok_ = decoder.accept(wrong) && ok_;
      decoder.rollback(1);
      ok_ = !decoder.accept(TokenId{-1}) && ok_;
      ok_ = decoder.accept(token) && ok_;
      ++steps_;
    }
    ok_ = decoder.next().empty() && ok_;
  }

  std::vector<float> logits_;
  std::vector<double> scores_;
  std::vector<TokenId> forced_;
  decode::SampleBuffers buffers_;
  bool ok_ = true;
  std::size_t steps_ = 0;
};

TEST_P(DecoderAllocation, NothingIsAllocatedAfterWarmUp) {
  const std::filesystem::path folder = testing::source_dir() / "domains" / "tabletop";
  const Task task = load_pddl((folder / "domain.pddl").string(), (folder / "dishwasher.pddl").string());
  ConstraintOptions options;
  options.tokenization = GetParam().tokenization;
  options.lookahead.horizon = 12;
  const auto constraint = Constraint::compile(task, PlanFormat::builtin(GetParam().format), vocabulary(), options);
  ASSERT_EQ(constraint->lookahead()->verdict(), Verdict::kSolvable);
  ASSERT_EQ(constraint->lookahead()->tier(), Lookahead::Tier::kExact);
  logits_.resize(constraint->vocabulary().size());
  Decoder decoder(constraint, {GetParam().guidance, Bridge::kUniform, 0, false});
  decode(decoder);
  decoder.reset();
  const std::size_t before = testing::g_allocations;
  ASSERT_GT(before, 0U);
  decode(decoder);
  const std::size_t after = testing::g_allocations;
  EXPECT_EQ(after - before, 0U);
  EXPECT_TRUE(ok_);
  EXPECT_TRUE(decoder.finished());
  EXPECT_GT(steps_, 10U);
}

INSTANTIATE_TEST_SUITE_P(Cases, DecoderAllocation,
                         ::testing::Values(Case{"canonical_pddl", "pddl"}, Case{"canonical_json", "json"},
                                           Case{"any_pddl", "pddl", Tokenization::kAny},
                                           Case{"any_json", "json", Tokenization::kAny},
                                           Case{"any_sentences", "sentences", Tokenization::kAny},
                                           Case{"mask", "pddl", Tokenization::kCanonical, Guidance::kMask},
                                           Case{"syntax", "pddl", Tokenization::kAny, Guidance::kSyntax}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace metactrl::decoder_allocation_test
