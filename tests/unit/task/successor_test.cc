#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random.h"
#include "support/random_definition.h"
#include "task/compile.h"

namespace metactrl::task::successor_test {
namespace {

using testing::Random;

Literal literal(std::uint32_t bit, bool negated) { return {bit << 1 | static_cast<std::uint32_t>(negated)}; }

std::vector<std::uint32_t> matches(const SuccessorTree& tree, const std::vector<Word>& state) {
  std::vector<std::uint32_t> found;
  tree.match(state.data(), found);
  std::sort(found.begin(), found.end());
  return found;
}

TEST(SuccessorTree, FindsActionsWithoutConditions) {
  SuccessorTree tree;
  tree.build({{}, {literal(0, false)}, {}}, 1);
  EXPECT_EQ(matches(tree, {0}), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(matches(tree, {1}), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(SuccessorTree, IsEmptyWithoutActions) {
  SuccessorTree tree;
  tree.build({}, 70);
  EXPECT_TRUE(matches(tree, {~Word{0}, ~Word{0}}).empty());
}

TEST(SuccessorTree, TestsNegativeLiterals) {
  SuccessorTree tree;
  tree.build({{literal(0, true)}, {literal(0, false), literal(65, true)}, {literal(65, false), literal(0, true)}}, 66);
  EXPECT_EQ(matches(tree, {0, 0}), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(matches(tree, {1, 0}), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(matches(tree, {0, 2}), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(matches(tree, {1, 2}).empty());
}

TEST(SuccessorTree, EqualsTestingEveryAction) {
  std::size_t found_in_all = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const std::uint32_t bits = random.between(1, 150);
    std::vector<std::vector<Literal>> preconditions(random.below(60));
    for (std::vector<Literal>& precondition : preconditions) {
      std::vector<bool> used(bits);
      const std::uint32_t size = random.below(5);
      for (std::uint32_t i = 0; i < size; ++i) {
        // A few bits are popular, so that actions share prefixes.
        const std::uint32_t bit = random.chance(60) ? random.below(std::min(bits, 6U)) : random.below(bits);
        if (used[bit]) continue;
        used[bit] = true;
        precondition.push_back(literal(bit, random.chance(25)));
      }
    }
    SuccessorTree tree;
    tree.build(preconditions, bits);
    for (int round = 0; round < 30; ++round) {
      std::vector<Word> state((bits + 63) / 64);
      for (std::uint32_t bit = 0; bit < bits; ++bit) set_bit(state.data(), bit, random.chance(60));
      std::vector<std::uint32_t> expected;
      for (std::uint32_t a = 0; a < preconditions.size(); ++a) {
        const bool holds = std::all_of(preconditions[a].begin(), preconditions[a].end(),
                                       [&](Literal l) { return l.holds(state.data()); });
        if (holds) expected.push_back(a);
      }
      ASSERT_EQ(matches(tree, state), expected) << "seed " << seed;
      found_in_all += expected.size();
    }
  }
  EXPECT_GT(found_in_all, 10000U);
}

// The whole way, with disjunctive and counting preconditions and derived facts.
TEST(SuccessorTree, ProgramFindsExactlyTheApplicableActions) {
  std::size_t found_in_all = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const auto program = compile(testing::random_definition(seed));
    Random random(seed);
    std::vector<Word> state(program->total_words());
    for (int round = 0; round < 20; ++round) {
      for (std::uint32_t bit = 0; bit < program->num_stored_bits(); ++bit) {
        set_bit(state.data(), bit, random.chance(50));
      }
      program->complete(state.data());
      std::vector<std::uint32_t> expected;
      std::vector<std::uint32_t> expected_relevant;
      for (std::uint32_t a = 0; a < program->num_actions(); ++a) {
        if (!program->applicable(state.data(), a)) continue;
        expected.push_back(a);
        if (program->action(a).relevant) expected_relevant.push_back(a);
      }
      std::vector<std::uint32_t> found;
      program->applicable_actions(state.data(), found);
      ASSERT_EQ(found, expected) << "seed " << seed;
      found.clear();
      program->relevant_actions(state.data(), found);
      ASSERT_EQ(found, expected_relevant) << "seed " << seed;
      // A relevant action reads no irrelevant fact.
      program->project(state.data());
      program->complete(state.data());
      found.clear();
      program->relevant_actions(state.data(), found);
      ASSERT_EQ(found, expected_relevant) << "seed " << seed;
      found_in_all += expected.size();
    }
  }
  EXPECT_GT(found_in_all, 10000U);
}

}  // namespace
}  // namespace metactrl::task::successor_test
