// What is told to a session that has tokens to spare, and that nothing else changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "metactrl/domain.h"
#include "support/planner_setting.h"
#include "support/test_data.h"
#include "support/thinker.h"

namespace metactrl::read_ahead_test {
namespace {

struct Told {
  std::size_t hints = 0;
  std::size_t came_true = 0;
  std::size_t longest = 0;  // tokens of all continuations of a hint
};

// Says that tokens are free, and remembers what it is told.
class SpareSession : public testing::SessionAround {
 public:
  SpareSession(std::unique_ptr<Session> session, Told& told) : SessionAround(std::move(session)), told_(told) {}

  void append(std::span<const TokenId> tokens) override {
    const auto is_it = [&](const std::vector<TokenId>& one) {
      return std::equal(one.begin(), one.end(), tokens.begin(), tokens.end());
    };
    // Those that were expected before the last logits.
    if (std::any_of(expected_.begin(), expected_.end(), is_it)) ++told_.came_true;
    expected_ = std::exchange(next_, {});
    SessionAround::append(tokens);
  }
  std::size_t spare_tokens() const override { return 200; }
  void expect(std::span<const std::vector<TokenId>> continuations) override {
    ++told_.hints;
    std::size_t tokens = 0;
    for (const std::vector<TokenId>& one : continuations) {
      EXPECT_FALSE(one.empty());
      tokens += one.size();
    }
    told_.longest = std::max(told_.longest, tokens);
    next_.assign(continuations.begin(), continuations.end());
  }

 private:
  Told& told_;
  std::vector<std::vector<TokenId>> next_;
  std::vector<std::vector<TokenId>> expected_;
};

TEST(ReadAhead, NothingChangesButWhatIsTold) {
  const auto folder = testing::source_dir() / "domains/tabletop";
  const Task task = load_pddl((folder / "domain.pddl").string(), (folder / "dishwasher.pddl").string());
  Told told;
  std::size_t calls = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const testing::Setting setting = seed % 3 == 0 ? testing::hostile_setting(seed) : testing::random_setting(seed);
    ConstraintOptions options;
    options.lookahead.horizon = 12;
    const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), setting.words, options);
    const DecoderOptions decoding{.guidance = seed % 2 == 0 ? Guidance::kMask : Guidance::kUniform};
    const GenerateOptions sampling{.mode = seed % 5 == 0 ? DecodeMode::kGreedy : DecodeMode::kSample, .seed = seed};
    const std::vector<TokenId> prompt = setting.words->encode("Plan:\n", "");
    Decoder plain(constraint, decoding);
    const auto session = setting.model->start(prompt);
    const Generation expected = generate(plain, *session, sampling);
    Decoder decoder(constraint, decoding);
    SpareSession spare(setting.model->start(prompt), told);
    const Generation got = generate(decoder, spare, sampling);
    EXPECT_EQ(got.text, expected.text);
    EXPECT_EQ(got.tokens, expected.tokens);
    EXPECT_TRUE(task.validate(got.plan).valid);
    calls += expected.model_calls;
  }
  EXPECT_GT(told.hints, 24U);
  EXPECT_LE(told.longest, 200U);
  // Most of what was taken was expected: with room for all choices, all but the last run of a plan, which nobody reads.
  EXPECT_GT(2 * told.came_true, told.hints);
  EXPECT_LE(told.came_true, calls);
}

// Where an answer takes a search, none is made for what may never be asked.
TEST(ReadAhead, NothingIsSearchedForInAdvance) {
  const auto folder = testing::source_dir() / "domains/tabletop";
  const Task task = load_pddl((folder / "domain.pddl").string(), (folder / "dishwasher.pddl").string());
  const testing::Setting setting = testing::random_setting(1);
  ConstraintOptions options;
  options.lookahead.exact.states = 0;
  const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), setting.words, options);
  ASSERT_EQ(constraint->lookahead()->tier(), Lookahead::Tier::kWitness);
  Told told;
  Decoder decoder(constraint, {.guidance = Guidance::kMask});
  SpareSession spare(setting.model->start(setting.words->encode("Plan:\n", "")), told);
  EXPECT_TRUE(task.validate(generate(decoder, spare, {}).plan).valid);
  EXPECT_EQ(told.hints, 0U);
}

}  // namespace
}  // namespace metactrl::read_ahead_test
