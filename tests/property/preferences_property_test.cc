// Preferences on random tasks: the engine, which turns them into conditions of the last state, against the interpreter,
// which judges whole plans by definition; and what was chosen and proved against all plans of a few steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "lookahead/preferences.h"
#include "metactrl/domain.h"
#include "support/random.h"
#include "support/random_pddl.h"
#include "support/repeats.h"
#include "task/program.h"

namespace metactrl::preferences_property_test {
namespace {

using testing::PddlText;
using testing::Random;
using testing::random_pddl;

constexpr std::uint64_t kShards = 12;
constexpr std::uint64_t kTasks = testing::repeats(3000);
constexpr std::size_t kLongest = 4;
constexpr std::size_t kMostPlans = 2000;

PddlText preferring(std::uint64_t seed) {
  testing::PddlOptions options;
  options.max_objects = 3;
  options.preferences = true;
  return random_pddl(seed, options);
}

Task with_all(const Task& task) {
  std::vector<std::size_t> all(task.program().definition().preferences.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return with_preferences(task, all);
}

// After each step of random plans both say the same of every preference.
std::size_t compare_on_walks(const Task& task, Random& random) {
  const Task all = with_all(task);
  const std::size_t first = task.program().definition().goals.size();
  std::size_t violated = 0;
  for (int walk = 0; walk < 4; ++walk) {
    State state = all.initial_state();
    std::vector<PlanStep> plan;
    for (int step = 0; step < 8; ++step) {
      const Validation validation = task.validate(plan);
      EXPECT_EQ(validation.steps_executed, plan.size()) << validation.reason;
      EXPECT_EQ(validation.preferences.size(), task.program().definition().preferences.size());
      for (std::size_t i = 0; i < validation.preferences.size(); ++i) {
        const GoalId goal{static_cast<std::uint32_t>(first + i)};
        EXPECT_EQ(validation.preferences[i].satisfied, all.program().goal_holds(goal, state.words().data()))
            << validation.preferences[i].text << " after " << plan.size() << " steps";
        EXPECT_EQ(validation.preferences[i].text, all.goal_text(goal));
        violated += validation.preferences[i].satisfied ? 0 : 1;
      }
      const std::vector<ActionId> actions = all.applicable_actions(state);
      if (actions.empty() || ::testing::Test::HasFailure()) break;
      const ActionId action = random.pick(actions);
      std::optional<State> next = all.apply(state, action);
      if (!next) break;
      state = *std::move(next);
      plan.push_back(all.step(action));
    }
  }
  return violated;
}

// The smallest value of all plans of at most kLongest steps, by the interpreter; nothing where there are too many, or none.
std::optional<double> best_of_short_plans(const Task& task) {
  std::optional<double> best;
  std::vector<std::vector<PlanStep>> plans = {{}};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::vector<PlanStep> plan = plans[i];
    State state = task.initial_state();
    for (const PlanStep& step : plan) state = *task.apply(state, *task.find(step));
    const Validation validation = task.validate(plan);
    if (validation.valid) best = std::min(best.value_or(1e9), metric_value(task, validation));
    if (plan.size() == kLongest) continue;
    for (const ActionId action : task.applicable_actions(state)) {
      if (!task.apply(state, action)) continue;
      if (plans.size() == kMostPlans) return std::nullopt;
      plans.push_back(plan);
      plans.back().push_back(task.step(action));
    }
  }
  return best;
}

struct Counts {
  std::size_t preferring = 0;
  std::size_t violated = 0;
  std::size_t optimal = 0;
  std::size_t chosen = 0;
  std::size_t compared = 0;
  std::size_t traded = 0;  // the best plan violates something
};

void compare_choice(const Task& task, Counts& counts) {
  PreferenceOptions options;
  options.lookahead.horizon = 1000;
  options.prove = true;
  options.lookahead.search = {20'000, std::size_t{64} << 20, 20'000'000};
  const PreferenceChoice choice = choose_preferences(task, options);
  const std::optional<double> best = best_of_short_plans(task);
  const Validation validation = task.validate(choice.plan);
  if (!validation.valid) {
    EXPECT_TRUE(choice.plan.empty() && choice.chosen.empty());
    EXPECT_FALSE(best.has_value()) << "a plan was missed";
    return;
  }
  EXPECT_DOUBLE_EQ(choice.value, metric_value(task, validation));
  EXPECT_LE(choice.lower_bound, choice.value + 1e-9);
  for (const std::size_t i : choice.chosen) {
    EXPECT_TRUE(validation.preferences[i].satisfied) << validation.preferences[i].text;
  }
  EXPECT_EQ(choice.task.num_goals(), task.num_goals() + choice.chosen.size());
  counts.optimal += choice.optimal ? 1 : 0;
  counts.chosen += choice.chosen.empty() ? 0 : 1;
  counts.traded += choice.optimal && choice.value > 0 ? 1 : 0;
  if (!best) return;
  ++counts.compared;
  EXPECT_LE(choice.lower_bound, *best + 1e-9) << "a plan is better than the bound";
  if (choice.optimal) {
    EXPECT_LE(choice.value, *best + 1e-9) << "a better plan exists";
  }
  if (choice.plan.size() <= kLongest) {
    EXPECT_GE(choice.value, *best - 1e-9);
  }
}

class RandomPreferences : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomPreferences, EngineInterpreterAndBruteForceAgree) {
  Counts counts;
  for (const std::uint64_t seed : testing::seeds_of(GetParam(), kShards, kTasks)) {
    const PddlText text = preferring(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text.domain + text.problem);
    const Task task = load_pddl_text(text.domain, text.problem);
    // One about all things of a kind of which there are none is no preference.
    if (!has_preferences(task)) continue;
    ++counts.preferring;
    if (task.initially_violated()) continue;
    Random random(seed);
    counts.violated += compare_on_walks(task, random);
    if (HasFailure()) return;
    compare_choice(task, counts);
    if (HasFailure()) return;
  }
  constexpr std::uint64_t kShare = kTasks / kShards;
  EXPECT_GT(counts.preferring, kShare * 3 / 4);
  EXPECT_GT(counts.violated, kShare);
  EXPECT_GT(counts.optimal, kShare / 2);
  EXPECT_GT(counts.chosen, kShare / 4);
  EXPECT_GT(counts.compared, kShare / 4);
  EXPECT_GT(counts.traded, kShare / 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPreferences, ::testing::Range<std::uint64_t>(0, kShards));
INSTANTIATE_TEST_SUITE_P(Long, RandomPreferences, ::testing::Range(kShards, 4 * kShards));

}  // namespace
}  // namespace metactrl::preferences_property_test
