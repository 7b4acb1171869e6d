// Space and UniformTable against brute force on random small tasks. The reference is the plain semantics of
// random_definition.h on the full task: it knows nothing of packed states, of projection or of breadth-first search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/space.h"
#include "lookahead/uniform.h"
#include "support/big_integer.h"
#include "support/random_definition.h"
#include "task/compile.h"

namespace metactrl::lookahead::uniform_property_test {
namespace {

using ::metactrl::testing::BigInteger;
using ::metactrl::testing::PlainState;
using task::Definition;
using task::Program;
using task::Word;

constexpr unsigned kFar = Space::kUnreachable;
const Budget kAmple;

// Arguments for the actions: few, or so many that single actions leave the range of a double.
Definition random_task(std::uint64_t seed) {
  Definition definition = ::metactrl::testing::random_definition(seed);
  for (std::uint64_t i = 0; i <= seed % 4; ++i) definition.objects.push_back("o" + std::to_string(i));
  for (const ActionId a : definition.actions.all()) {
    const std::uint64_t dice = (seed / 4 + 7 * std::uint64_t{index(a)}) % 11;
    const std::uint32_t arity = seed % 5 == 0 && dice > 5 ? static_cast<std::uint32_t>(90 * dice) : dice % 3;
    definition.actions.change(
        a, [&](task::ActionDefinition& action) { action.symbol.arguments.assign(arity, ObjectId{0}); });
    definition.action_names[definition.actions.name(a)].arity = arity;
  }
  return definition;
}

// All reachable states of the full task, each as plain and as packed state.
struct FullTask {
  explicit FullTask(std::uint64_t seed) : definition(random_task(seed)), program(task::compile(definition)) {
    compiled_action.assign(definition.actions.size(), task::kNoAction);
    relevant.assign(definition.actions.size(), false);
    for (const ActionId a : ids<ActionId>(program->num_actions())) {
      compiled_action[index(program->definition().actions.name(a))] = a;
      relevant[index(program->definition().actions.name(a))] = program->action(a).relevant;
    }
    explore();
    find_distances();
  }

  struct Edge {
    std::uint32_t action;
    std::uint32_t target;
  };

  std::vector<Word> projected(std::uint32_t state) const {
    std::vector<Word> words = packed[state];
    program->project(words.data());
    return words;
  }

  Definition definition;
  std::shared_ptr<const Program> program;
  std::vector<ActionId> compiled_action;  // per action of the definition; kNoAction when it is never applicable
  std::vector<bool> relevant;             // per action of the definition
  std::vector<PlainState> plain;
  std::vector<std::vector<Word>> packed;
  std::vector<std::vector<Edge>> edges;
  std::vector<unsigned> depth;
  std::vector<unsigned> distance;
  std::size_t num_edges = 0;

 private:
  void explore() {
    const std::optional<PlainState> start = ::metactrl::testing::plain_initial(definition);
    if (!start) return;
    std::map<PlainState, std::uint32_t> numbers{{*start, 0}};
    plain.push_back(*start);
    depth.push_back(0);
    packed.emplace_back(program->total_words());
    EXPECT_TRUE(program->initial(packed[0].data()));
    for (std::uint32_t s = 0; s < plain.size(); ++s) {
      edges.emplace_back();
      for (std::uint32_t a = 0; a < definition.actions.size(); ++a) {
        const std::optional<PlainState> next = ::metactrl::testing::plain_apply(definition, plain[s], ActionId{a});
        if (!next) continue;
        const auto [at, fresh] = numbers.emplace(*next, static_cast<std::uint32_t>(plain.size()));
        edges[s].push_back({a, at->second});
        ++num_edges;
        if (!fresh) continue;
        plain.push_back(*next);
        depth.push_back(depth[s] + 1);
        std::vector<Word> words(program->total_words());
        ASSERT_NE(compiled_action[a], task::kNoAction) << "simplification dropped an action that can be taken";
        ASSERT_TRUE(program->apply(packed[s].data(), compiled_action[a], words.data()));
        packed.push_back(std::move(words));
      }
    }
  }

  // Relaxes all edges until nothing changes.
  void find_distances() {
    for (const PlainState& state : plain) {
      distance.push_back(::metactrl::testing::plain_goal(definition, state) ? 0 : kFar);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t s = 0; s < plain.size(); ++s) {
        for (const Edge& edge : edges[s]) {
          if (distance[edge.target] == kFar || distance[s] <= distance[edge.target] + 1) continue;
          distance[s] = distance[edge.target] + 1;
          changed = true;
        }
      }
    }
  }
};

// Writes out every sequence of at most `left` relevant actions and adds up the probabilities of those that are plans.
// `weight[a]` is the probability that action a of the definition is written, the last entry that of the end.
long double sum_over_plans(const FullTask& full, std::uint32_t state, unsigned left,
                           const std::vector<long double>& weight) {
  long double sum = full.distance[state] == 0 ? weight.back() : 0;
  if (left == 0) return sum;
  for (const FullTask::Edge& edge : full.edges[state]) {
    if (!full.relevant[edge.action]) continue;
    sum += weight[edge.action] * sum_over_plans(full, edge.target, left - 1, weight);
  }
  return sum;
}

// Sequences of this length are few enough to write out.
unsigned affordable_length(const FullTask& full) {
  std::size_t branching = 1;
  for (const std::vector<FullTask::Edge>& edges : full.edges) branching = std::max(branching, edges.size());
  unsigned length = 0;
  for (std::size_t sequences = branching; length < 6 && sequences <= 4000; sequences *= branching) ++length;
  return length;
}

TEST(SpaceProperty, DistancesOfTheProjectionAreThoseOfTheFullTask) {
  std::size_t dead = 0;
  std::size_t smaller = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const FullTask full(seed);
    const SpaceResult result = Space::enumerate(*full.program, kAmple);
    ASSERT_EQ(result.limit, Limit::kNone);
    ASSERT_TRUE(result.space);
    const Space& space = *result.space;
    if (full.plain.empty()) {
      EXPECT_EQ(space.distance(space.initial()), kFar);
      continue;
    }
    for (std::uint32_t s = 0; s < full.plain.size(); ++s) {
      const std::optional<StateId> id = space.find(full.projected(s).data());
      ASSERT_TRUE(id) << "seed " << seed << " state " << s;
      ASSERT_EQ(space.distance(*id), full.distance[s]) << "seed " << seed << " state " << s;
      ASSERT_LE(space.depth(*id), full.depth[s]);
      ASSERT_TRUE(space.decides(*id, 1000));
      dead += full.distance[s] == kFar;
    }
    smaller += space.num_states() < full.plain.size();
    const SpaceCount count = count_reachable(*full.program, kAmple, false);
    EXPECT_EQ(count.states, full.plain.size()) << "seed " << seed;
    EXPECT_EQ(count.edges, full.num_edges) << "seed " << seed;
    const SpaceCount projected = count_reachable(*full.program, kAmple, true);
    EXPECT_EQ(projected.states, space.num_states());
    EXPECT_EQ(projected.edges, space.num_edges());
  }
  // The tasks are not all trivial.
  EXPECT_GT(dead, 1000U);
  EXPECT_GT(smaller, 300U);
}

TEST(SpaceProperty, ShortestPlansAreLegalInTheFullTask) {
  std::size_t longest = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const FullTask full(seed);
    const SpaceResult result = Space::enumerate(*full.program, kAmple);
    for (std::uint32_t s = 0; s < full.plain.size(); ++s) {
      if (full.distance[s] == kFar) continue;
      const std::vector<ActionId> plan = result.space->shortest_plan(*result.space->find(full.projected(s).data()));
      ASSERT_EQ(plan.size(), full.distance[s]);
      longest = std::max(longest, plan.size());
      PlainState state = full.plain[s];
      for (const ActionId action : plan) {
        const ActionId original{index(full.program->definition().actions.name(action))};
        const std::optional<PlainState> next = ::metactrl::testing::plain_apply(full.definition, state, original);
        ASSERT_TRUE(next) << "seed " << seed;
        state = *next;
      }
      ASSERT_TRUE(::metactrl::testing::plain_goal(full.definition, state)) << "seed " << seed;
    }
  }
  EXPECT_GE(longest, 5U);
}

// Everything a cone says must agree with the complete space, and it must say something wherever it claims to.
void compare_cone(const FullTask& full, const Space& complete, const Space& cone, unsigned max_depth) {
  for (std::uint32_t s = 0; s < full.plain.size(); ++s) {
    const std::vector<Word> words = full.projected(s);
    const StateId id = *complete.find(words.data());
    const std::optional<StateId> in_cone = cone.find(words.data());
    ASSERT_EQ(in_cone.has_value(), complete.depth(id) <= max_depth);
    if (!in_cone) continue;
    const unsigned depth = complete.depth(id);
    ASSERT_EQ(cone.depth(*in_cone), depth);
    if (complete.distance(id) <= max_depth - depth) {
      ASSERT_EQ(cone.distance(*in_cone), complete.distance(id));
    } else if (!cone.complete()) {
      ASSERT_EQ(cone.distance(*in_cone), kFar);
      ASSERT_TRUE(cone.decides(*in_cone, max_depth - depth));
      ASSERT_FALSE(cone.decides(*in_cone, max_depth - depth + 1));
    }
  }
  const auto reference = UniformTable::build(*full.program, complete, max_depth, std::size_t{1} << 24);
  const auto table = UniformTable::build(*full.program, cone, max_depth, std::size_t{1} << 24);
  ASSERT_TRUE(reference && table);
  for (std::uint32_t s = 0; s < full.plain.size(); ++s) {
    const std::vector<Word> words = full.projected(s);
    const StateId id = *complete.find(words.data());
    for (unsigned left = 0; complete.depth(id) + left <= max_depth; ++left) {
      ASSERT_EQ(table->log_weight(*cone.find(words.data()), left), reference->log_weight(id, left));
    }
  }
}

TEST(SpaceProperty, ConesAgreeWithTheCompleteSpace) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const FullTask full(seed);
    const SpaceResult complete = Space::enumerate(*full.program, kAmple);
    for (unsigned max_depth = 0; max_depth <= 6; ++max_depth) {
      const SpaceResult cone = Space::enumerate(*full.program, kAmple, max_depth);
      ASSERT_TRUE(cone.space);
      compare_cone(full, *complete.space, *cone.space, max_depth);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SpaceProperty, WhatABudgetLeavesIsACone) {
  std::size_t partial = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const FullTask full(seed);
    const SpaceResult complete = Space::enumerate(*full.program, kAmple);
    Budget budget;
    budget.states = 1 + seed % 40;
    const SpaceResult result = Space::enumerate(*full.program, budget);
    if (complete.space->num_states() <= budget.states) {
      EXPECT_EQ(result.limit, Limit::kNone);
      continue;
    }
    EXPECT_EQ(result.limit, Limit::kStates);
    if (!result.space) {
      for (const StateId id : ids<StateId>(complete.space->num_live())) {
        EXPECT_TRUE(!complete.space->is_goal(id) || complete.space->depth(id) > result.depth_seen);
      }
      continue;
    }
    ++partial;
    EXPECT_EQ(result.space->max_depth(), result.depth_seen);
    EXPECT_LE(result.space->num_states(), budget.states);
    compare_cone(full, *complete.space, *result.space, result.depth_seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(partial, 50U);
}

TEST(UniformProperty, IsTheSumOverAllPlans) {
  std::size_t positive = 0;
  std::size_t tiny = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const FullTask full(seed);
    const SpaceResult result = Space::enumerate(*full.program, kAmple);
    const auto alphabet = static_cast<long double>(alphabet_size(*full.program));
    ASSERT_EQ(alphabet, full.definition.objects.size() + full.definition.action_names.size() + 1);
    std::vector<long double> weight;
    for (const task::ActionName& name : full.definition.action_names) {
      weight.push_back(std::pow(alphabet, -static_cast<long double>(1 + name.arity)));
    }
    weight.push_back(1 / alphabet);
    const unsigned horizon = affordable_length(full);
    const auto table = UniformTable::build(*full.program, *result.space, horizon, std::size_t{1} << 24);
    ASSERT_TRUE(table);
    for (std::uint32_t s = 0; s < full.plain.size() && full.depth[s] <= horizon; ++s) {
      const StateId id = *result.space->find(full.projected(s).data());
      for (unsigned left = 0; left + full.depth[s] <= horizon; ++left) {
        const long double expected = sum_over_plans(full, s, left, weight);
        const double log_weight = table->log_weight(id, left);
        // Support does not depend on the size of the number.
        ASSERT_EQ(log_weight != -std::numeric_limits<double>::infinity(), full.distance[s] <= left);
        ASSERT_EQ(expected > 0, full.distance[s] <= left);
        if (expected == 0) continue;
        ASSERT_NEAR(log_weight, static_cast<double>(std::log(expected)),
                    1e-12 * std::max(1.0, std::abs(log_weight) / 1000))
            << "seed " << seed << " state " << s << " left " << left;
        ++positive;
        tiny += log_weight < -710;
      }
    }
  }
  EXPECT_GT(positive, 10000U);
  EXPECT_GT(tiny, 1000U);
}

// The same in whole numbers of any size, which nothing is lost of: what V_left(state) is of M^-(1 + left * longest).
class WholeNumbers {
 public:
  explicit WholeNumbers(const FullTask& full)
      : full_(full), alphabet_(static_cast<std::uint32_t>(alphabet_size(*full.program))) {
    for (const task::ActionName& name : full.definition.action_names) {
      longest_ = std::max<std::size_t>(longest_, 1 + name.arity);
    }
    for (std::uint32_t s = 0; s < full.plain.size(); ++s) {
      values_.push_back(full.distance[s] == 0 ? BigInteger(1) : BigInteger());
    }
  }

  std::size_t longest() const { return longest_; }
  // -infinity for none.
  double log_weight(std::uint32_t state) const {
    if (values_[state].is_zero()) return -std::numeric_limits<double>::infinity();
    const auto denominator = static_cast<long double>(1 + left_ * longest_);
    return static_cast<double>(values_[state].log() - denominator * std::log(static_cast<long double>(alphabet_)));
  }
  // One action more.
  void go_on() {
    ++left_;
    std::vector<BigInteger> next;
    for (std::uint32_t s = 0; s < full_.plain.size(); ++s) {
      next.push_back(full_.distance[s] == 0 ? BigInteger(1).times_power(alphabet_, left_ * longest_) : BigInteger());
      for (const FullTask::Edge& edge : full_.edges[s]) {
        if (!full_.relevant[edge.action] || values_[edge.target].is_zero()) continue;
        const std::size_t symbols = 1 + full_.definition.action_names[ActionNameId{edge.action}].arity;
        next.back() += values_[edge.target].times_power(alphabet_, longest_ - symbols);
      }
    }
    values_ = std::move(next);
  }

 private:
  const FullTask& full_;
  std::uint32_t alphabet_;
  std::size_t longest_ = 1;
  std::size_t left_ = 0;
  std::vector<BigInteger> values_;
};

void compare_with_whole_numbers(std::uint64_t first, std::uint64_t count) {
  std::size_t compared = 0;
  std::size_t tiny = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const FullTask full(seed);
    if (full.plain.empty()) continue;
    const SpaceResult result = Space::enumerate(*full.program, kAmple);
    WholeNumbers exact(full);
    const unsigned horizon = exact.longest() > 100 ? 4 : 60;
    const auto table = UniformTable::build(*full.program, *result.space, horizon, std::size_t{1} << 26);
    ASSERT_TRUE(table);
    for (unsigned left = 0; left <= horizon; ++left) {
      for (std::uint32_t s = 0; s < full.plain.size(); ++s) {
        if (left + full.depth[s] > horizon) continue;
        const double got = table->log_weight(*result.space->find(full.projected(s).data()), left);
        const double expected = exact.log_weight(s);
        ASSERT_EQ(std::isfinite(got), std::isfinite(expected)) << "seed " << seed << " state " << s << " left " << left;
        if (!std::isfinite(expected)) continue;
        ASSERT_LE(got, 0);
        ASSERT_NEAR(got, expected, 1e-12 * std::max(1.0, std::abs(expected) / 1000))
            << "seed " << seed << " state " << s << " left " << left;
        ++compared;
        tiny += expected < -710;
      }
      if (left < horizon) exact.go_on();
    }
  }
  EXPECT_GT(compared, 160 * count);
  EXPECT_GT(tiny, count / 3);
}

TEST(UniformProperty, IsWhatWholeNumbersSayAtLongHorizons) { compare_with_whole_numbers(0, 300); }
TEST(UniformProperty, IsWhatWholeNumbersSayAtLongHorizonsSlow) { compare_with_whole_numbers(1'000'000, 10'000); }

}  // namespace
}  // namespace metactrl::lookahead::uniform_property_test
