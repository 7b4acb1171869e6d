// Room in a model's memory, and prompts that are read once: with a real, tiny model, and with one that fails.
#include "serve/model_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/tiny_gguf.h"

namespace metactrl::serve::model_memory_test {
namespace {

using testing::TinyGgufOptions;
using Tokens = std::vector<TokenId>;

std::shared_ptr<LanguageModel> make_model(ModelOptions options,
                                          TinyGgufOptions::Kind kind = TinyGgufOptions::Kind::kTransformer) {
  const std::string path = ::testing::TempDir() + "metactrl_memory_" + std::to_string(getpid()) + ".gguf";
  testing::write_tiny_gguf(path, {.kind = kind});
  options.threads = 1;
  std::shared_ptr<LanguageModel> model = load_model(path, options);
  std::remove(path.c_str());
  return model;
}

Tokens some_tokens(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Tokens tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(TokenId{static_cast<std::int32_t>(random() % 290)});
  return tokens;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

float largest_difference(std::span<const float> a, std::span<const float> b) {
  float largest = a.size() == b.size() ? 0.0F : 1e9F;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// What a session says that read these tokens by itself.
std::vector<float> fresh(LanguageModel& model, const Tokens& tokens) {
  const auto session = model.start(tokens);
  const std::span<const float> row = session->logits();
  return {row.begin(), row.end()};
}

// Cells are stored in half precision, and batches differ. One token more or less changes a logit by far more.
constexpr float kRounding = 0.1F;

class Kinds : public ::testing::TestWithParam<TinyGgufOptions::Kind> {};
INSTANTIATE_TEST_SUITE_P(ModelMemory, Kinds,
                         ::testing::Values(TinyGgufOptions::Kind::kTransformer, TinyGgufOptions::Kind::kSlidingWindow,
                                           TinyGgufOptions::Kind::kRecurrent));

TEST_P(Kinds, SessionsSayWhatTheyWouldHavingReadThePromptThemselves) {
  const auto model = make_model({.max_sequences = 24, .shared_contexts = 4, .batched = true}, GetParam());
  const auto alone = make_model({}, GetParam());
  ModelMemory memory(model, 0, 0);
  const Tokens trunk = some_tokens(80, 1);
  const std::vector<Tokens> prompts = {
      joined(trunk, some_tokens(40, 2)),                              // the first one
      joined(trunk, some_tokens(40, 2)),                              // the same again
      joined(trunk, some_tokens(30, 3)),                              // begins like it
      joined(trunk, {}),                                              // is its beginning
      joined(joined(trunk, some_tokens(40, 2)), some_tokens(25, 4)),  // goes on behind it
      some_tokens(50, 5),                                             // has nothing to do with it
  };
  for (const Tokens& prompt : prompts) {
    const ModelMemory::Lease lease = memory.enter(prompt, {1, 20}, {});
    const auto session = lease.session();
    EXPECT_GT(largest_difference(session->logits(), fresh(*alone, {prompt.begin(), prompt.end() - 1})), 5 * kRounding);
    EXPECT_LT(largest_difference(session->logits(), fresh(*alone, prompt)), kRounding);
    const Tokens more = some_tokens(3, 6);
    session->append(more);
    EXPECT_LT(largest_difference(session->logits(), fresh(*alone, joined(prompt, more))), kRounding);
  }
  const ModelMemory::Counts counts = memory.counts();
  EXPECT_EQ(counts.prompts_read, 5U);
  EXPECT_EQ(counts.prompts_reused, 1U);
  EXPECT_EQ(counts.tokens_reused, 120U + 80 + 80 + 120);
  EXPECT_EQ(counts.prompts_kept, 5U);
  EXPECT_EQ(counts.tokens, 120U + 110 + 80 + 145 + 50);
}

bool must_wait(ModelMemory& memory, const Tokens& prompt, const ModelMemory::Needs& needs) {
  try {
    memory.enter(prompt, needs, [] { return true; });
    return false;
  } catch (const Stopped&) {
    return true;
  }
}

TEST(ModelMemory, RoomIsForPromptsAndLongestAnswers) {
  ModelMemory memory(make_model({.max_sequences = 8}), 300, 8);
  const Tokens a = some_tokens(100, 1);
  const Tokens b = some_tokens(100, 2);
  {
    const ModelMemory::Lease first = memory.enter(a, {1, 60}, {});
    EXPECT_TRUE(must_wait(memory, b, {1, 60}));
    EXPECT_FALSE(must_wait(memory, a, {1, 60})) << "its prompt is there already";
    EXPECT_TRUE(must_wait(memory, a, {2, 80})) << "two of them grow";
    EXPECT_FALSE(must_wait(memory, b, {1, 40}));
    EXPECT_EQ(memory.counts().waiting, 0U);
  }
  // What is kept makes room, the oldest first, and as few as will do.
  EXPECT_EQ(memory.counts().prompts_kept, 2U);
  EXPECT_FALSE(must_wait(memory, some_tokens(90, 3), {1, 60}));
  EXPECT_EQ(memory.counts().prompts_kept, 2U);
  const std::uint64_t read = memory.counts().prompts_read;
  memory.enter(b, {1, 10}, {});
  EXPECT_EQ(memory.counts().prompts_read, read) << "b was used later than a";
  // Who needs more than there is goes alone.
  EXPECT_FALSE(must_wait(memory, some_tokens(200, 4), {2, 100}));
  const ModelMemory::Lease large = memory.enter(some_tokens(200, 4), {2, 100}, {});
  EXPECT_TRUE(must_wait(memory, a, {1, 1}));
}

TEST(ModelMemory, SessionsAreCountedToo) {
  const auto model = make_model({.max_sequences = 4});
  ModelMemory memory(model, 0, 4);
  const Tokens prompt = some_tokens(20, 1);
  const ModelMemory::Lease lease = memory.enter(prompt, {2, 5}, {});
  const auto first = lease.session();
  const auto second = lease.session();
  EXPECT_TRUE(must_wait(memory, prompt, {2, 5}));
  EXPECT_FALSE(must_wait(memory, prompt, {1, 5}));
  EXPECT_TRUE(must_wait(memory, some_tokens(20, 2), {1, 5})) << "one for the prompt, one for the answer";
}

TEST(ModelMemory, TooLongIsSaidAtOnce) {
  const auto model = make_model({});
  ModelMemory memory(model, 10, 1);
  EXPECT_THROW(memory.enter(some_tokens(20, 1), {1, model->context_length()}, {}), ContextError);
  EXPECT_EQ(memory.counts().tokens, 0U);
}

TEST(ModelMemory, ManyThreadsInLittleRoom) {
  // Room for three or four of them at a time, and for some prompts.
  const auto model = make_model({.context = 256, .max_sequences = 12, .shared_contexts = 2, .batched = true});
  const auto alone = make_model({});
  ModelMemory memory(model, 512, 12);
  std::vector<Tokens> prompts;
  std::vector<std::vector<float>> expected;
  const Tokens more = some_tokens(4, 99);
  for (unsigned i = 0; i < 6; ++i) {
    prompts.push_back(joined(some_tokens(40, i % 3), some_tokens(10 + 10 * i, 10 + i)));
    expected.push_back(fresh(*alone, joined(prompts.back(), more)));
  }
  std::mutex mutex;
  std::vector<std::string> wrong;
  const auto complain = [&](const std::string& text) {
    const std::scoped_lock lock(mutex);
    wrong.push_back(text);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (unsigned round = 0; round < 12; ++round) {
        const std::size_t which = (i + 5 * round) % prompts.size();
        try {
          const ModelMemory::Lease lease = memory.enter(prompts[which], {1, 60}, {});
          const auto session = lease.session();
          session->append(more);
          const float difference = largest_difference(session->logits(), expected[which]);
          if (difference > kRounding) complain("off by " + std::to_string(difference));
        } catch (const std::exception& error) {
          complain(error.what());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::string>());
  const ModelMemory::Counts counts = memory.counts();
  EXPECT_EQ(counts.prompts_read + counts.prompts_reused, 96U);
  EXPECT_GT(counts.prompts_reused, 0U);
  EXPECT_LE(counts.tokens, 512U);
}

// Fails when it is told to, and can be held at the beginning of a prompt.
class Fragile : public LanguageModel {
 public:
  std::atomic<bool> fails{false};
  std::atomic<bool> held{false};
  std::atomic<int> starts{0};

  const Vocabulary& vocabulary() const override { return model_->vocabulary(); }
  std::string description() const override { return "fragile"; }
  std::size_t context_length() const override { return 10000; }
  std::string render_prompt(const Prompt& prompt) const override { return model_->render_prompt(prompt); }
  Tokens encode_prompt(const Prompt& prompt, const Stop& stop) const override {
    return model_->encode_prompt(prompt, stop);
  }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    ++starts;
    while (held) std::this_thread::yield();
    if (fails) throw ModelError("broken");
    return model_->start(prompt, reserve);
  }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_ =
      std::make_shared<TableVocabulary>(std::vector<std::string>(300, "x"), Tokens{TokenId{299}});
  std::unique_ptr<LanguageModel> model_ = random_model(vocabulary_, 1);
};

TEST(ModelMemory, OneReadsAndTheOthersWaitForIt) {
  const auto model = std::make_shared<Fragile>();
  ModelMemory memory(model, 1000, 10);
  const Tokens prompt = some_tokens(50, 1);
  for (const bool fails : {true, false}) {
    model->starts = 0;
    model->held = true;
    model->fails = fails;
    const std::uint64_t before = memory.counts().prompts_reused;
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        try {
          memory.enter(prompt, {1, 10}, {}).session();
        } catch (const ModelError&) {
          ++failures;
        }
      });
    }
    while (memory.counts().prompts_reused < before + 3) std::this_thread::yield();
    // One that does not want to wait leaves nothing behind.
    EXPECT_THROW(memory.enter(prompt, {1, 10}, [] { return true; }), Stopped);
    model->held = false;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(model->starts, 1);
    EXPECT_EQ(failures, fails ? 4 : 0);
    EXPECT_EQ(memory.counts().tokens, fails ? 0U : 50U);
  }
}

TEST(ModelMemory, AnotherReadsOnWhenTheReaderLeaves) {
  const auto model = std::make_shared<Fragile>();
  ModelMemory memory(model, 10000, 10);
  const Tokens prompt = some_tokens(5000, 1);
  model->held = true;
  std::atomic<bool> left{false};
  std::thread first([&] { EXPECT_THROW(memory.enter(prompt, {1, 10}, [&] { return left.load(); }), Stopped); });
  while (model->starts == 0) std::this_thread::yield();
  std::thread second([&] { EXPECT_EQ(memory.enter(prompt, {1, 10}, {}).session()->size(), 5000U); });
  while (memory.counts().prompts_reused == 0) std::this_thread::yield();
  left = true;
  model->held = false;
  first.join();
  second.join();
  EXPECT_EQ(model->starts, 2);
  EXPECT_EQ(memory.counts().tokens, 5000U);
}

TEST(ModelMemory, NotMorePromptsAreKeptThanMakeSense) {
  ModelMemory memory(std::make_shared<Fragile>(), 0, 0);
  for (unsigned i = 0; i < 100; ++i) memory.enter(some_tokens(20, i), {1, 10}, {});
  EXPECT_LE(memory.counts().prompts_kept, 32U);
  EXPECT_EQ(memory.counts().prompts_read, 100U);
}

}  // namespace
}  // namespace metactrl::serve::model_memory_test
