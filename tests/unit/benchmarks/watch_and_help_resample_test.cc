// New tasks from those of Watch-And-Help: none of them, and each can be done.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"
#include "benchmarks/watch_and_help/question.h"
#include "benchmarks/watch_and_help/resample.h"
#include "support/small_apartment.h"

namespace metactrl::benchmarks::watch_and_help::watch_and_help_resample_test {
namespace {

using testing::SmallApartment;

std::vector<GoalLine> sorted(std::vector<GoalLine> goal) {
  std::sort(goal.begin(), goal.end());
  return goal;
}

// The sources name three things, two surfaces, two containers and two switches.
std::vector<HelpTask> some_tasks() {
  SmallApartment home;
  home.add_task(
      {SmallApartment::goal("on", "apple", "kitchentable", 2), SmallApartment::goal("on", "mug", "kitchentable")});
  home.add_task(
      {SmallApartment::goal("inside", "fork", "dishwasher"), SmallApartment::goal("turnOn", "", "dishwasher")});
  home.add_task("on", "plate", "coffeetable")["family"] = "another";
  home.add_task({SmallApartment::goal("inside", "egg", "fridge"), SmallApartment::goal("turnOn", "", "lamp")});
  return home.read();
}

TEST(TaskResamplerTest, GoalsAreNewKeepTheirShapeAndCanBeReached) {
  const std::vector<HelpTask> tasks = some_tasks();
  const TaskResampler resampler(tasks);
  ASSERT_EQ(resampler.size(), tasks.size());
  EXPECT_EQ(resampler.family(0), 1U);
  EXPECT_EQ(resampler.family(2), 0U);
  std::set<std::vector<GoalLine>> own;
  for (const HelpTask& task : tasks) own.insert(sorted(task.goal));
  EvaluateOptions options;
  options.plan.guidance = Guidance::kSearch;
  std::set<std::vector<GoalLine>> seen;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const std::optional<HelpTask> other = resampler.sample(i, seed);
      ASSERT_TRUE(other) << "task " << i << ", seed " << seed;
      EXPECT_EQ(other->scene, tasks[i].scene);
      EXPECT_FALSE(own.contains(sorted(other->goal))) << "task " << i << ", seed " << seed;
      ASSERT_EQ(other->goal.size(), tasks[i].goal.size());
      for (std::size_t line = 0; line < other->goal.size(); ++line) {
        EXPECT_EQ(other->goal[line].kind, tasks[i].goal[line].kind);
        // What was one class is one class, and what were two are two.
        for (std::size_t k = 0; k < line; ++k) {
          EXPECT_EQ(other->goal[line].target == other->goal[k].target,
                    tasks[i].goal[line].target == tasks[i].goal[k].target);
        }
      }
      EXPECT_EQ(resampler.sample(i, seed)->goal, other->goal);
      EXPECT_EQ(other->instructions, std::vector<std::string>{instruction_for(other->goal)});
      if (!seen.insert(sorted(other->goal)).second) continue;
      const Answer answer =
          answer_prompt(*find_module("wah"), ask(*other, GoalSource::kOracle, 1), nullptr, nullptr, options);
      EXPECT_EQ(answer.guarantee, "full") << other->instructions[0];
    }
  }
  EXPECT_GT(seen.size(), 6U);
}

TEST(TaskResamplerTest, WhereNothingIsLikeItThereIsNothing) {
  SmallApartment home;
  home.add_task("on", "mug", "kitchentable");
  EXPECT_FALSE(TaskResampler(home.read()).sample(0, 1));
}

TEST(TaskResamplerTest, InstructionsSayTheGoal) {
  EXPECT_EQ(
      instruction_for({{GoalKind::kOn, "apple", "coffeetable"},
                       {GoalKind::kOn, "apple", "coffeetable"},
                       {GoalKind::kInside, "egg", "fridge"},
                       {GoalKind::kTurnOn, "", "lamp"}}),
      "Put one apple on the coffeetable. Put another apple on the coffeetable. Put one egg into the fridge. Switch on "
      "the lamp.");
}

}  // namespace
}  // namespace metactrl::benchmarks::watch_and_help::watch_and_help_resample_test
