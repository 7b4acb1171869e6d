// Drawing from scores: which may be drawn, how often, and what is added to them.
#include "decode/choose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace metactrl::choose_test {
namespace {

// How often each was drawn.
std::vector<int> draw(const std::vector<double>& scores, const decode::SampleRule& rule) {
  decode::Random random(7);
  std::vector<int> out(scores.size());
  for (int i = 0; i < 2000; ++i) ++out[decode::choose_sample(scores, rule, random)];
  return out;
}

std::vector<bool> drawn(const std::vector<double>& scores, const decode::SampleRule& rule) {
  std::vector<bool> out;
  for (const int count : draw(scores, rule)) out.push_back(count > 0);
  return out;
}

using Drawn = std::vector<bool>;

// Probabilities of about 0.64, 0.24, 0.09 and 0.03.
const std::vector<double> kScores = {1, 3, 2, 0};

// Choices are in the order of their tokens' numbers, so this is the order of equal ones.
TEST(ChooseBest, OfEqualOnesTheFirstIsTaken) {
  const auto best = [](const std::vector<double>& scores) { return decode::choose_best(scores); };
  EXPECT_EQ(best({2, 5, 5, 5}), 1U);
  EXPECT_EQ(best({-1e9, -1e9}), 0U);
  EXPECT_EQ(best({0.0, -0.0}), 0U);
  EXPECT_EQ(best({-0.0, 0.0}), 0U);
  // Nothing is drawn where nothing is to be drawn; and where one of several equal ones is left, it is the first.
  const decode::SampleRule greedy{.temperature = 0};
  EXPECT_EQ(drawn({1, 3, 3}, greedy), (std::vector<bool>{false, true, false}));
  const decode::SampleRule one{.temperature = 1, .top_k = 1};
  EXPECT_EQ(drawn({1, 3, 3, 3}, one), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(drawn({3, 3, 3, 3}, {.temperature = 1, .top_k = 2}), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(decode::favourite(std::vector<float>{1, 4, 4}), TokenId{1});
}

TEST(ChooseSample, EachSettingLeavesTheLikeliest) {
  EXPECT_EQ(drawn(kScores, {}), (Drawn{true, true, true, true}));
  EXPECT_EQ(drawn(kScores, {1, 1, 1, 0}), (Drawn{false, true, false, false}));
  EXPECT_EQ(drawn(kScores, {1, 1, 2, 0}), (Drawn{false, true, true, false}));
  EXPECT_EQ(drawn(kScores, {1, 1, 99, 0}), (Drawn{true, true, true, true}));
  // A share of the likeliest: exp(-1) is 0.37, exp(-2) is 0.14.
  EXPECT_EQ(drawn(kScores, {1, 1, 0, 0.3}), (Drawn{false, true, true, false}));
  EXPECT_EQ(drawn(kScores, {1, 1, 0, 0.1}), (Drawn{true, true, true, false}));
  EXPECT_EQ(drawn(kScores, {1, 1, 0, 1}), (Drawn{false, true, false, false}));
  EXPECT_EQ(drawn(kScores, {1, 1e-6, 3, 0}), (Drawn{false, true, false, false}));
  EXPECT_EQ(drawn(kScores, {1, 0.7, 3, 0}), (Drawn{false, true, true, false}));
  // At a high temperature all are nearly as likely as the likeliest.
  EXPECT_EQ(drawn(kScores, {100, 1, 0, 0.9}), (Drawn{true, true, true, true}));
  EXPECT_EQ(drawn(kScores, {0, 1, 4, 0}), (Drawn{false, true, false, false}));
  EXPECT_EQ(drawn({5, 5, 5}, {1, 1, 0, 1}), (Drawn{true, true, true}));
}

TEST(ChooseSample, WhatIsLeftIsDrawnInProportion) {
  const std::vector<int> counts = draw(kScores, {1, 1, 2, 0});
  // e : 1
  EXPECT_NEAR(counts[1] / 2000.0, 0.731, 0.03);
}

// What is left out of the sorting is never drawn, and what is drawn is what sorting all of them gives.
TEST(ChooseSample, TheUnlikelyAreLeftOutOfTheSortingAlone) {
  decode::Random scores_of(3);
  decode::SampleBuffers buffers;
  for (int round = 0; round < 400; ++round) {
    std::vector<double> scores(300);
    const double scale = round % 3 == 0 ? 1 : 400;  // most of them far below the best, or none
    for (double& score : scores) score = -scale * scores_of.uniform();
    const decode::SampleRule rule{round % 2 == 0 ? 1.0 : 0.1, round % 5 == 0 ? 0.95 : 1.0};
    decode::Random one(round + 1);
    decode::Random two(round + 1);
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    double total = 0;
    for (const std::size_t i : order) total += std::exp((scores[i] - scores[order[0]]) / rule.temperature);
    double mass = 0;
    std::size_t kept = 0;
    while (kept < order.size() && (kept == 0 || mass < rule.top_p * total)) {
      mass += std::exp((scores[order[kept++]] - scores[order[0]]) / rule.temperature);
    }
    double target = two.uniform() * mass;
    std::size_t expected = 0;
    while (expected + 1 < kept) {
      const double weight = std::exp((scores[order[expected]] - scores[order[0]]) / rule.temperature);
      if (target < weight) break;
      target -= weight;
      ++expected;
    }
    EXPECT_EQ(decode::choose_sample(scores, rule, one, buffers), order[expected]) << round;
  }
}

TEST(Adjustment, BiasAndPenalties) {
  GenerateOptions options;
  decode::Adjustment none(options);
  none.wrote(TokenId{3});
  EXPECT_FALSE(none.active());
  EXPECT_EQ(none.of(TokenId{3}), 0);
  options.logit_bias[TokenId{2}] = -5;
  options.logit_bias[TokenId{90}] = 5;  // of no token that is there
  options.frequency_penalty = 0.5;
  options.presence_penalty = 1;
  decode::Adjustment some(options);
  EXPECT_TRUE(some.active());
  for (int i = 0; i < 3; ++i) some.wrote(TokenId{3});
  some.wrote(TokenId{2});
  EXPECT_EQ(some.of(TokenId{0}), 0);
  EXPECT_EQ(some.of(TokenId{2}), -6.5);
  EXPECT_EQ(some.of(TokenId{3}), -2.5);
  std::vector<double> scores(5, 10);
  some.add_to(scores);
  EXPECT_EQ(scores, (std::vector<double>{10, 10, 3.5, 7.5, 10}));
}

}  // namespace
}  // namespace metactrl::choose_test
