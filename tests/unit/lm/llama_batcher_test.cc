// Sessions of many threads that share batches are told what they would be told alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/language_model.h"
#include "support/tiny_gguf.h"

namespace metactrl::llama_batcher_test {
namespace {

using testing::TinyGgufOptions;

std::unique_ptr<LanguageModel> make_model(TinyGgufOptions::Kind kind, ModelOptions options) {
  const std::string path = ::testing::TempDir() + "metactrl_batcher_" + std::to_string(getpid()) + ".gguf";
  testing::write_tiny_gguf(path, {.kind = kind});
  options.threads = 1;
  auto model = load_model(path, options);
  std::remove(path.c_str());
  return model;
}

std::vector<TokenId> some_tokens(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(TokenId{static_cast<std::int32_t>(random() % 290)});
  return tokens;
}

float largest_difference(std::span<const float> a, std::span<const float> b) {
  float largest = a.size() == b.size() ? 0.0F : 1e9F;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// A conversation: a prompt, then tokens in portions, with a fork, a rollback and some paths on the way. Returns all
// logits that were seen.
std::vector<std::vector<float>> converse(LanguageModel& model, unsigned seed) {
  std::vector<std::vector<float>> seen;
  const auto look = [&seen](Session& session) {
    const std::span<const float> row = session.logits();
    seen.emplace_back(row.begin(), row.end());
  };
  const auto session = model.start(some_tokens(20 + seed % 40, seed));
  look(*session);
  for (unsigned round = 0; round < 6; ++round) {
    session->append(some_tokens(1 + (seed + round) % 3, 100 * seed + round));
    look(*session);
    if (round == 2) {
      const auto fork = session->fork();
      fork->append(some_tokens(2, seed + 7));
      look(*fork);
    }
    if (round == 3) session->rollback(session->size() - 1);
    if (round == 4) {
      const std::vector<std::vector<TokenId>> paths = {some_tokens(3, seed + 1), some_tokens(2, seed + 2)};
      for (std::vector<float>& scores : session->score(paths)) seen.push_back(std::move(scores));
    }
  }
  return seen;
}

class LlamaBatcherTest : public ::testing::TestWithParam<TinyGgufOptions::Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, LlamaBatcherTest,
                         ::testing::Values(TinyGgufOptions::Kind::kTransformer, TinyGgufOptions::Kind::kSlidingWindow,
                                           TinyGgufOptions::Kind::kRecurrent));

TEST_P(LlamaBatcherTest, SharedBatchesEqualBatchesOfOne) {
  constexpr unsigned kThreads = 6;
  const auto alone = make_model(GetParam(), {});
  const auto shared = make_model(GetParam(), {.max_sequences = 32, .shared_contexts = 4, .batched = true});
  EXPECT_EQ(shared->context_length(), alone->context_length());
  std::vector<std::vector<std::vector<float>>> expected;
  for (unsigned i = 0; i < kThreads; ++i) expected.push_back(converse(*alone, i));
  std::vector<std::vector<std::vector<float>>> seen(kThreads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { seen[i] = converse(*shared, i); });
  for (std::thread& thread : threads) thread.join();
  for (unsigned i = 0; i < kThreads; ++i) {
    ASSERT_EQ(seen[i].size(), expected[i].size());
    for (std::size_t k = 0; k < seen[i].size(); ++k) {
      // Rounding in half precision; another token would change a logit by 0.5 and more.
      EXPECT_LT(largest_difference(seen[i][k], expected[i][k]), 0.1F) << "thread " << i << ", look " << k;
    }
  }
}

// The memory holds one context; of several long conversations at the same time not all find room. Who does not is told
// so, and the others go on.
TEST(LlamaBatcher, AFullMemoryIsTheProblemOfThoseWhoFillIt) {
  const auto model = make_model(TinyGgufOptions::Kind::kTransformer, {.context = 256, .batched = true});
  const auto small = model->start(some_tokens(10, 1));
  std::atomic<int> full{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      try {
        model->start(some_tokens(200, i))->logits();
      } catch (const ModelError&) {
        ++full;
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    small->append(some_tokens(1, 50));
    EXPECT_EQ(small->logits().size(), model->vocabulary().size());
  }
  for (std::thread& thread : threads) thread.join();
  // All room is back.
  EXPECT_NO_THROW(model->start(some_tokens(200, 9))->logits());
  EXPECT_LT(full, 4);
}

// A life: begins, writes, guesses, copies, goes back, and ends somewhere in the middle or by an error. Throws ModelError where
// there is no room for it.
void live(LanguageModel& model, std::mt19937& random) {
  const unsigned prompt = static_cast<unsigned>(random() % 3);
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.push_back(model.start(some_tokens(20 + 30 * prompt, prompt)));
  for (unsigned steps = static_cast<unsigned>(random() % 12); steps > 0; --steps) {
    Session& session = *sessions[random() % sessions.size()];
    const std::vector<std::vector<TokenId>> guesses = {some_tokens(1 + random() % 6, 5), some_tokens(2, 6)};
    switch (random() % 8) {
      case 0:
        sessions.push_back(session.fork());
        break;
      case 1:
        session.rollback(10 + random() % 30);
        break;
      case 2:
        session.score(guesses);
        break;
      case 3:  // the one who asked has gone
        if (sessions.size() > 1) sessions.erase(sessions.begin());
        break;
      case 4:
        EXPECT_THROW(session.append(std::vector{TokenId{1000000}}), std::invalid_argument);
        break;
      default:
        session.append(some_tokens(1 + random() % 3, static_cast<unsigned>(random())));
        session.expect(guesses);
        EXPECT_EQ(session.logits().size(), model.vocabulary().size());
        if (random() % 2 == 0) session.append(guesses[random() % 2]);
    }
  }
}

// Begins conversations until there is no room for another, and forgets them.
void fill(LanguageModel& model) {
  std::vector<std::unique_ptr<Session>> all;
  const auto begin_another = [&] {
    all.push_back(model.start(some_tokens(60, static_cast<unsigned>(all.size()))));
    all.back()->logits();
  };
  EXPECT_THROW(for (int i = 0; i < 20; ++i) begin_another(), ModelError);
}

// In a memory that is too small for all of them, with too few sequences. Nobody waits forever, and in the end all room is back.
TEST_P(LlamaBatcherTest, SessionsComeAndGoAsTheyLike) {
  const auto model = make_model(GetParam(), {.context = 256, .max_sequences = 14, .batched = true, .spare_tokens = 60});
  const auto lives = [&](unsigned seed) {
    std::mt19937 random(seed);
    int whole = 0;
    for (int life = 0; life < 25; ++life) {
      try {
        live(*model, random);
        ++whole;
      } catch (const ModelError&) {
      }
    }
    return whole;
  };
  // How many of them find room beside others is chance; somebody who wants all there is does not get it.
  const int alone = lives(0);
  EXPECT_GT(alone, 5);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 10; ++i) threads.emplace_back([&, i] { lives(i); });
  for (int round = 0; round < 5; ++round) fill(*model);
  for (std::thread& thread : threads) thread.join();
  fill(*model);
  EXPECT_EQ(lives(0), alone);
  EXPECT_EQ(model->start(some_tokens(200, 9))->logits().size(), model->vocabulary().size());
}

}  // namespace
}  // namespace metactrl::llama_batcher_test
