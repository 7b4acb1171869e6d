// Counts and entropies of corpora, against what can be counted by hand and by brute force.
#include "training/diversity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace metactrl::diversity_test {
namespace {

using training::coverage;
using training::Diversity;
using training::NamedCorpus;

const std::vector<std::string> kNames = {"open", "grab", "plug-in"};

Alphabet alphabet() { return Alphabet::meta(kNames, 3); }

// A plan of actions of one argument, the slot of the action's own number.
CorpusRecord plan(std::uint64_t prompt, const std::vector<std::uint32_t>& actions, std::uint32_t token = 0) {
  CorpusRecord record;
  record.prompt = prompt;
  record.parsed = true;
  record.actions = static_cast<std::uint32_t>(actions.size());
  for (const std::uint32_t action : actions) {
    record.symbols.push_back(alphabet().action(kNames[action]));
    record.symbols.push_back(alphabet().slot(action));
  }
  record.symbols.push_back(alphabet().end);
  record.tokens = {SymbolId{token}, SymbolId{9}};
  return record;
}

NamedCorpus corpus(std::vector<CorpusRecord> records) {
  return {"c", {{"made", alphabet(), Alphabet::tokens(10, 9)}, std::move(records), 0}};
}

TEST(Diversity, CountsWhatIsThere) {
  CorpusRecord failed;
  failed.prompt = 1;
  // Prompt 0: the same plan twice, in two texts, and another one. Prompt 1: one plan, and a failure. Prompt 2: failures.
  const Diversity found = training::diversity(
      {corpus({plan(0, {0, 1}, 1), plan(0, {0, 1}, 2), plan(0, {0}, 3), plan(1, {0, 1}, 1), failed})});
  EXPECT_EQ(found.generations, 5U);
  EXPECT_EQ(found.plans, 4U);
  EXPECT_EQ(found.prompts, 2U);
  EXPECT_EQ(found.actions, 7U);
  EXPECT_EQ(found.tokens, 8U);
  EXPECT_EQ(found.distinct_plans, 2U);
  EXPECT_EQ(found.distinct_texts, 3U);
  EXPECT_DOUBLE_EQ(found.distinct_plans_per_prompt, 1.5);
  EXPECT_DOUBLE_EQ(found.distinct_texts_per_prompt, 2.0);
  EXPECT_NEAR(found.entropy, -0.75 * std::log(0.75) - 0.25 * std::log(0.25), 1e-12);
  const double first = -(2.0 / 3) * std::log(2.0 / 3) - (1.0 / 3) * std::log(1.0 / 3);
  EXPECT_NEAR(found.entropy_per_prompt, first / 2, 1e-12);
  ASSERT_EQ(found.growth.size(), 3U);  // an eighth of four plans is none
  EXPECT_EQ(found.growth[1].plans, 2U);
  EXPECT_EQ(found.growth[1].distinct, 1U);
  EXPECT_EQ(found.growth[2].distinct, 2U);
  ASSERT_EQ(found.by_frequency.size(), 3U);
  EXPECT_EQ(found.by_frequency[0].name, "open");
  EXPECT_EQ(found.by_frequency[0].times, 4U);
  EXPECT_EQ(found.by_frequency[0].plans, 4U);
  EXPECT_EQ(found.by_frequency[1].name, "grab");
  EXPECT_EQ(found.by_frequency[1].times, 3U);
  EXPECT_EQ(found.by_frequency[2].name, "plug-in");
  EXPECT_EQ(found.by_frequency[2].times, 0U);
}

TEST(Diversity, OfNothing) {
  const Diversity found = training::diversity({corpus({})});
  EXPECT_EQ(found.plans, 0U);
  EXPECT_EQ(found.entropy, 0);
  EXPECT_TRUE(found.growth.empty());
  EXPECT_EQ(coverage(found, {"open"})[0].share, 0);
}

// Corpora of other alphabets: actions by name. A prompt of one is none of the other.
TEST(Diversity, SeveralCorporaAreOne) {
  NamedCorpus other = corpus({plan(0, {0}, 1)});
  const Alphabet meta = Alphabet::meta({"walk", "grab", "sleep"}, 3);
  other.corpus.header.meta = meta;
  other.corpus.records[0].symbols = {meta.action("grab"), meta.slot(0), meta.end};
  const Diversity found = training::diversity({corpus({plan(0, {1}, 1), plan(0, {0}, 1)}), other});
  EXPECT_EQ(found.prompts, 2U);
  EXPECT_EQ(found.by_frequency.size(), 5U);
  EXPECT_EQ(found.by_frequency[0].name, "grab");
  EXPECT_EQ(found.by_frequency[0].times, 2U);
  // "grab ID1" and "grab ID0" are two plans.
  EXPECT_EQ(found.distinct_plans, 3U);
}

TEST(Diversity, RareActionsAreNamedFirst) {
  const Diversity found = training::diversity({corpus({plan(0, {0, 0, 1}), plan(0, {0})})});
  const auto needed = coverage(found, {"OPEN", "PLUGIN", "plug_in", "grab", "Sleep"});
  ASSERT_EQ(needed.size(), 4U);
  EXPECT_EQ(needed[0].name, "plugin");
  EXPECT_EQ(needed[0].times, 0U);
  EXPECT_EQ(needed[1].name, "sleep");
  EXPECT_EQ(needed[2].name, "grab");
  EXPECT_DOUBLE_EQ(needed[2].share, 0.25);
  EXPECT_EQ(needed[3].times, 3U);
}

// Against sums over the plans as texts.
TEST(Diversity, EqualsBruteForce) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<CorpusRecord> records;
    std::map<std::string, double> counts;
    const std::size_t size = 1 + random() % 40;
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<std::uint32_t> actions(random() % 3);
      std::string text;
      for (std::uint32_t& action : actions) text += std::to_string(action = random() % 3);
      ++counts[text];
      records.push_back(plan(random() % 4, actions));
    }
    double entropy = 0;
    for (const auto& [text, count] : counts) {
      entropy -= count / static_cast<double>(size) * std::log(count / static_cast<double>(size));
    }
    const Diversity found = training::diversity({corpus(records)});
    EXPECT_EQ(found.distinct_plans, counts.size()) << round;
    EXPECT_NEAR(found.entropy, entropy, 1e-9) << round;
    EXPECT_EQ(found.growth.back().distinct, counts.size()) << round;
    EXPECT_LE(found.entropy_per_prompt, found.entropy + std::log(4.0)) << round;
  }
}

}  // namespace
}  // namespace metactrl::diversity_test
