#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "support/id_list.h"
#include "support/random.h"
#include "support/random_definition.h"
#include "task/compile.h"

namespace metactrl::task::successor_test {
namespace {

using testing::id_list;
using testing::Random;

Literal literal(std::uint32_t bit, bool negated) { return {bit << 1 | static_cast<std::uint32_t>(negated)}; }

using Preconditions = IdVector<ActionId, std::vector<Literal>>;

// Of all actions.
SuccessorTree tree_of(const Preconditions& preconditions, std::size_t num_bits) {
  std::vector<ActionId> all;
  for (const ActionId action : preconditions.all()) all.push_back(action);
  SuccessorTree tree;
  tree.build(all, num_bits, [&](ActionId action) { return std::span<const Literal>(preconditions[action]); });
  return tree;
}

std::vector<ActionId> matches(const SuccessorTree& tree, const std::vector<Word>& state) {
  std::vector<ActionId> found;
  tree.match(state.data(), found);
  std::sort(found.begin(), found.end());
  return found;
}

TEST(SuccessorTree, FindsActionsWithoutConditions) {
  const SuccessorTree tree = tree_of({{}, {literal(0, false)}, {}}, 1);
  EXPECT_EQ(matches(tree, {0}), id_list<ActionId>({0, 2}));
  EXPECT_EQ(matches(tree, {1}), id_list<ActionId>({0, 1, 2}));
}

TEST(SuccessorTree, IsEmptyWithoutActions) {
  const SuccessorTree tree = tree_of({}, 70);
  EXPECT_TRUE(matches(tree, {~Word{0}, ~Word{0}}).empty());
}

TEST(SuccessorTree, TestsNegativeLiterals) {
  const SuccessorTree tree =
      tree_of({{literal(0, true)}, {literal(0, false), literal(65, true)}, {literal(65, false), literal(0, true)}}, 66);
  EXPECT_EQ(matches(tree, {0, 0}), id_list<ActionId>({0}));
  EXPECT_EQ(matches(tree, {1, 0}), id_list<ActionId>({1}));
  EXPECT_EQ(matches(tree, {0, 2}), id_list<ActionId>({0, 2}));
  EXPECT_TRUE(matches(tree, {1, 2}).empty());
}

TEST(SuccessorTree, EqualsTestingEveryAction) {
  std::size_t found_in_all = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const std::uint32_t bits = random.between(1, 150);
    Preconditions preconditions(random.below(60));
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
    const SuccessorTree tree = tree_of(preconditions, bits);
    for (int round = 0; round < 30; ++round) {
      std::vector<Word> state((bits + 63) / 64);
      for (std::uint32_t bit = 0; bit < bits; ++bit) set_bit(state.data(), bit, random.chance(60));
      std::vector<ActionId> expected;
      for (const ActionId a : preconditions.all()) {
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
      std::vector<ActionId> expected;
      std::vector<ActionId> expected_relevant;
      for (const ActionId a : ids<ActionId>(program->num_actions())) {
        if (!program->applicable(state.data(), a)) continue;
        expected.push_back(a);
        if (program->action(a).relevant) expected_relevant.push_back(a);
      }
      std::vector<ActionId> found;
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
