// Texts that are written together are those that are written alone.
#include "decode/generate_together.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/language_model.h"
#include "support/tiny_gguf.h"

namespace metactrl::generate_together_test {
namespace {

constexpr std::size_t kTexts = 5;

std::vector<std::uint64_t> seeds(std::uint64_t first) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < kTexts; ++i) out.push_back(first + i);
  return out;
}

GenerateOptions sampling(std::size_t max_tokens) {
  GenerateOptions options;
  options.mode = DecodeMode::kSample;
  options.max_tokens = max_tokens;
  return options;
}

std::vector<std::vector<TokenId>> tokens_of(const std::vector<Generation>& texts) {
  std::vector<std::vector<TokenId>> out;
  for (const Generation& text : texts) out.push_back(text.tokens);
  return out;
}

std::vector<std::vector<TokenId>> together(LanguageModel& model, std::int32_t prompt, std::size_t max_tokens = 12) {
  const std::vector<TokenId> tokens = {TokenId{1}, TokenId{prompt}, TokenId{5}};
  const std::unique_ptr<Session> session = model.start(tokens, max_tokens);
  return tokens_of(decode::generate_together(*session, seeds(100), model.vocabulary(), sampling(max_tokens), {}));
}

std::unique_ptr<LanguageModel> tiny_model(testing::TinyGgufOptions::Kind kind, ModelOptions options) {
  const std::string path = ::testing::TempDir() + "metactrl_together_" + std::to_string(getpid()) + ".gguf";
  testing::write_tiny_gguf(path, {.kind = kind});
  options.threads = 1;
  auto model = load_model(path, options);
  std::remove(path.c_str());
  return model;
}

// A model that rounds nothing, with a vocabulary of 290 tokens or so.
std::unique_ptr<LanguageModel> plain_model() {
  const std::shared_ptr<LanguageModel> tiny = tiny_model(testing::TinyGgufOptions::Kind::kTransformer, {});
  return random_model(std::shared_ptr<const Vocabulary>(tiny, &tiny->vocabulary()), 3);
}

// Equality to the last token, and each text has its own seed.
TEST(GenerateTogether, EqualsOneByOne) {
  const std::unique_ptr<LanguageModel> model = plain_model();
  const std::vector<TokenId> prompt = {TokenId{17}, TokenId{4}};
  const std::unique_ptr<Session> session = model->start(prompt, 20);
  const std::vector<Generation> texts =
      decode::generate_together(*session, seeds(7), model->vocabulary(), sampling(20), {});
  ASSERT_EQ(texts.size(), kTexts);
  for (std::size_t i = 0; i < kTexts; ++i) {
    GenerateOptions options = sampling(20);
    options.seed = seeds(7)[i];
    const std::unique_ptr<Session> fork = session->fork();
    const Generation alone = generate_unconstrained(*fork, model->vocabulary(), options, {});
    EXPECT_EQ(texts[i].tokens, alone.tokens) << i;
    EXPECT_EQ(texts[i].text, alone.text) << i;
    EXPECT_EQ(texts[i].finished, alone.finished) << i;
  }
  EXPECT_NE(texts[0].tokens, texts[1].tokens);
  EXPECT_EQ(session->size(), prompt.size());
}

TEST(GenerateTogether, StopsWhenItIsTold) {
  const std::unique_ptr<LanguageModel> model = plain_model();
  const std::vector<TokenId> prompt = {TokenId{17}};
  const std::unique_ptr<Session> session = model->start(prompt, 20);
  int asked = 0;
  const std::vector<Generation> texts = decode::generate_together(*session, seeds(7), model->vocabulary(), sampling(20),
                                                                  [&asked] { return ++asked > 3; });
  for (const Generation& text : texts) EXPECT_LE(text.tokens.size(), 3U);
  for (const Generation& text : decode::generate_together(*session, seeds(7), model->vocabulary(), sampling(0), {})) {
    EXPECT_TRUE(text.tokens.empty());
  }
}

class GenerateTogetherTest : public ::testing::TestWithParam<testing::TinyGgufOptions::Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, GenerateTogetherTest,
                         ::testing::Values(testing::TinyGgufOptions::Kind::kTransformer,
                                           testing::TinyGgufOptions::Kind::kSlidingWindow,
                                           testing::TinyGgufOptions::Kind::kRecurrent));

// One batch for a token of all texts: as many calls as the longest text has tokens, not as all of them together have.
TEST_P(GenerateTogetherTest, ATokenOfAllTextsIsOneBatch) {
  const auto model = tiny_model(GetParam(), {.max_sequences = 2 * kTexts + 4, .shared_contexts = kTexts});
  const std::vector<TokenId> prompt = {TokenId{1}, TokenId{2}, TokenId{5}};
  const std::unique_ptr<Session> session = model->start(prompt, 12);
  std::size_t longest = 0;
  std::size_t calls = 0;
  for (const Generation& text :
       decode::generate_together(*session, seeds(100), model->vocabulary(), sampling(12), {})) {
    longest = std::max(longest, text.tokens.size());
    calls = std::max(calls, text.model_calls);
  }
  ASSERT_GT(longest, 2U);
  EXPECT_LE(calls, longest);
}

// What is written does not depend on what other threads ask, as long as each has a memory of its own; nor on the past.
TEST_P(GenerateTogetherTest, NobodyElseMatters) {
  constexpr std::int32_t kPrompts = 6;
  const auto alone = tiny_model(GetParam(), {.max_sequences = 2 * kTexts + 4, .shared_contexts = kTexts});
  std::vector<std::vector<std::vector<TokenId>>> expected;
  for (std::int32_t i = 0; i < kPrompts; ++i) expected.push_back(together(*alone, i));
  EXPECT_EQ(together(*alone, 0), expected[0]);
  const auto shared =
      tiny_model(GetParam(), {.max_sequences = 2 * kTexts + 4, .shared_contexts = kTexts, .separate_contexts = 3});
  std::vector<std::vector<std::vector<TokenId>>> seen(kPrompts);
  std::vector<std::thread> threads;
  for (std::int32_t job = 0; job < 3; ++job) {
    threads.emplace_back([&, job] {
      for (std::int32_t i = job; i < kPrompts; i += 3) seen[i] = together(*shared, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace metactrl::generate_together_test
