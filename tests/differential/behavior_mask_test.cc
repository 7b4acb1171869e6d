// Whatever a model chooses among the actions that the constraint allows, the benchmark's evaluator agrees: plans drawn
// at random succeed wherever the one found by search does.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "lookahead/drop_goals.h"
#include "metactrl/format.h"
#include "support/behavior_tasks.h"

namespace metactrl::testing::behavior_mask_test {
namespace {

using benchmarks::Rules;
using benchmarks::TaskScore;

// Goes on until the goal holds and a coin falls.
std::vector<ActionId> random_plan(const ReducedTask& reduced, std::mt19937& random) {
  Support support(reduced.lookahead);
  State state = reduced.task.initial_state();
  std::vector<ActionId> plan;
  for (unsigned left = reduced.lookahead->horizon(); left > 0; --left) {
    if (!plan.empty() && reduced.task.is_goal(state) && random() % 2 == 0) break;
    std::vector<Candidate> candidates = support.candidates(state, left);
    std::erase_if(candidates, [](const Candidate& c) { return c.answer != Answer::kYes; });
    if (candidates.empty()) break;
    const ActionId action = candidates[random() % candidates.size()].action;
    plan.push_back(action);
    state = *reduced.task.apply(state, action);
  }
  EXPECT_TRUE(reduced.task.is_goal(state));
  return plan;
}

class BehaviorMaskSlow : public ::testing::TestWithParam<BehaviorCase> {};

TEST_P(BehaviorMaskSlow, RandomPlansScoreAsTheSearchedOneDoes) {
  const auto [module, extent] = GetParam();
  METACTRL_NEEDS_EXTENT(extent, "eai_beh");
  const BehaviorScorer scorer(module, extent);
  const PlanFormat format = PlanFormat::builtin(behavior_format(module));
  std::mt19937 random(1);
  for (const BehaviorPrompt& entry : behavior_prompts(module, extent)) {
    SCOPED_TRACE(entry.identifier);
    const Task task = load_behavior(module, entry.text, Rules::kEnvironment);
    const ReducedTask reduced = drop_unreachable_goals(task, behavior_lookahead());
    const PlanSpelling spelling(format, reduced.task);
    const TaskScore searched = scorer.score(entry.identifier, spelling.render(reduced.lookahead->plan()));
    // The more the cheaper: a few where each action may need a search, many where all distances are known.
    const int plans = reduced.lookahead->tier() == Lookahead::Tier::kExact ? 20 : 1;
    for (int i = 0; i < plans; ++i) {
      const std::string answer = spelling.render(random_plan(reduced, random));
      const TaskScore score = scorer.score(entry.identifier, answer);
      EXPECT_TRUE(score.executable) << score.reason << '\n' << answer;
      EXPECT_GE(score.success, searched.success) << score.reason << '\n' << answer;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modules, BehaviorMaskSlow, behavior_cases(), behavior_case_name);

}  // namespace
}  // namespace metactrl::testing::behavior_mask_test
