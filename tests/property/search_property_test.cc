// The heuristics and searches against brute force, on thousands of random small tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lookahead/needless.h"
#include "lookahead/relaxed.h"
#include "lookahead/search.h"
#include "support/projected_space.h"
#include "support/random_definition.h"
#include "task/compile.h"

namespace metactrl::lookahead::search_property_test {
namespace {

using task::Program;
using task::Word;
using testing::PlainState;
using testing::random_definition;

constexpr std::uint64_t kTasks = 6000;
constexpr unsigned kLongest = 8;

// All projected states that can be reached, with their distances to the goal.
struct Space {
  std::vector<std::vector<Word>> states;  // the first one is initial
  std::vector<unsigned> distance;
};

Space enumerate(const Program& program) {
  testing::ProjectedSpace all = testing::enumerate_projection(program);
  Space space;
  space.states = std::move(all.states);
  space.distance.assign(space.states.size(), kInfinite);
  std::deque<std::size_t> queue;
  for (std::size_t i = 0; i < space.states.size(); ++i) {
    if (!program.is_goal(space.states[i].data())) continue;
    space.distance[i] = 0;
    queue.push_back(i);
  }
  for (; !queue.empty(); queue.pop_front()) {
    for (const auto& [p, action] : all.predecessors[queue.front()]) {
      if (space.distance[p] != kInfinite) continue;
      space.distance[p] = space.distance[queue.front()] + 1;
      queue.push_back(p);
    }
  }
  return space;
}

// Does the plan consist of legal actions and end in a goal?
void expect_plan(const Program& program, const std::vector<Word>& start, const std::vector<ActionId>& plan) {
  std::vector<Word> state = start;
  std::vector<Word> next(state.size());
  for (const ActionId action : plan) {
    ASSERT_TRUE(program.applicable(state.data(), action));
    ASSERT_TRUE(program.apply(state.data(), action, next.data()));
    program.project(next.data());
    state.swap(next);
  }
  EXPECT_TRUE(program.is_goal(state.data()));
}

// A few states of the space: the initial one and others spread over it.
std::vector<std::size_t> sample(const Space& space, std::size_t count) {
  std::set<std::size_t> result;
  for (std::size_t i = 0; i < count && !space.states.empty(); ++i) result.insert(i * space.states.size() / count);
  return {result.begin(), result.end()};
}

class RandomTasks : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  // Each parameter stands for a block of seeds, so that a failure names a small one.
  static constexpr std::uint64_t kBlocks = 10;
  template <typename Check>
  void for_each_task(const Check& check) {
    for (std::uint64_t seed = GetParam(); seed < kTasks; seed += kBlocks) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const std::shared_ptr<const Program> program = task::compile(random_definition(seed));
      check(*program);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(RandomTasks, HeuristicsBoundTheDistance) {
  std::size_t finite = 0;
  std::size_t infinite = 0;
  for_each_task([&](const Program& program) {
    const Space space = enumerate(program);
    const RelaxedTask relaxed(program);
    RelaxedEvaluator evaluator(relaxed);
    std::vector<ActionId> preferred;
    for (std::size_t i : sample(space, 60)) {
      const Word* state = space.states[i].data();
      const unsigned h_max = evaluator.h_max(state);
      ASSERT_LE(h_max, space.distance[i]);
      const unsigned h_ff = evaluator.h_ff(state, &preferred);
      ASSERT_EQ(h_ff == kInfinite, h_max == kInfinite);
      ASSERT_TRUE(std::is_sorted(preferred.begin(), preferred.end()));
      for (const ActionId action : preferred) {
        ASSERT_TRUE(program.applicable(state, action));
        ASSERT_TRUE(program.action(action).relevant);
      }
      ASSERT_EQ(evaluator.h_max(state), h_max) << "the second evaluation differs from the first";
      ++(h_max == kInfinite ? infinite : finite);
    }
  });
  EXPECT_GT(finite, 1000U);
  EXPECT_GT(infinite, 100U);
}

TEST_P(RandomTasks, GoalsReportedAsUnreachableAre) {
  for_each_task([&](const Program& program) {
    const Space space = enumerate(program);
    if (space.states.empty()) return;
    const RelaxedTask relaxed(program);
    RelaxedEvaluator evaluator(relaxed);
    const unsigned h = evaluator.h_max(space.states[0].data());
    bool all_reachable = true;
    for (const GoalId goal : ids<GoalId>(program.num_goals())) {
      if (evaluator.goal_reachable(goal)) continue;
      all_reachable = false;
      for (const std::vector<Word>& state : space.states) ASSERT_FALSE(program.goal_holds(goal, state.data()));
    }
    ASSERT_EQ(all_reachable, h != kInfinite);
  });
}

TEST_P(RandomTasks, FindPlanAnswersEveryLength) {
  std::size_t found = 0;
  std::size_t refuted = 0;
  for_each_task([&](const Program& program) {
    const Space space = enumerate(program);
    const RelaxedTask relaxed(program);
    RelaxedEvaluator evaluator(relaxed);
    for (std::size_t i : sample(space, 3)) {
      for (unsigned length = 0; length <= kLongest + 1; ++length) {
        const unsigned bound = length <= kLongest ? length : kInfinite;
        SCOPED_TRACE("length " + std::to_string(bound));
        const SearchResult result = find_plan(program, evaluator, space.states[i].data(), bound, {});
        const bool possible = space.distance[i] <= bound && space.distance[i] != kInfinite;
        ASSERT_EQ(result.outcome, possible ? SearchResult::Outcome::kFound : SearchResult::Outcome::kRefuted);
        ASSERT_LE(result.lower_bound, space.distance[i]);
        ASSERT_EQ(result.limit, Limit::kNone);
        if (possible) {
          ASSERT_LE(result.plan.size(), bound);
          expect_plan(program, space.states[i], result.plan);
        } else {
          ASSERT_TRUE(result.plan.empty());
          ASSERT_GT(result.lower_bound, bound == kInfinite ? bound - 1 : bound);
        }
        ++(possible ? found : refuted);
      }
    }
  });
  EXPECT_GT(found, 1000U);
  EXPECT_GT(refuted, 1000U);
}

TEST_P(RandomTasks, FindShortestIsOptimal) {
  for_each_task([&](const Program& program) {
    const Space space = enumerate(program);
    const RelaxedTask relaxed(program);
    RelaxedEvaluator evaluator(relaxed);
    for (std::size_t i : sample(space, 3)) {
      // A budget of few states makes breadth-first search give way to A* early.
      for (const std::size_t states : {std::size_t{1'000'000}, 2 * space.states.size(), std::size_t{4}}) {
        for (const unsigned bound : {kLongest / 2, kLongest, kInfinite}) {
          const Budget budget{states, std::size_t{1} << 30};
          const SearchResult result = find_shortest(program, evaluator, space.states[i].data(), bound, budget);
          ASSERT_LE(result.lower_bound, space.distance[i]);
          if (result.outcome == SearchResult::Outcome::kBudget) {
            ASSERT_EQ(states, 4U);
            ASSERT_EQ(result.limit, Limit::kStates);
            continue;
          }
          const bool possible = space.distance[i] <= bound && space.distance[i] != kInfinite;
          ASSERT_EQ(result.outcome, possible ? SearchResult::Outcome::kFound : SearchResult::Outcome::kRefuted);
          if (!possible) continue;
          ASSERT_EQ(result.plan.size(), space.distance[i]);
          expect_plan(program, space.states[i], result.plan);
        }
      }
    }
  });
}

TEST_P(RandomTasks, SmallBudgetsNeverMakeAnAnswerWrong) {
  std::size_t ended = 0;
  for_each_task([&](const Program& program) {
    const Space space = enumerate(program);
    const RelaxedTask relaxed(program);
    RelaxedEvaluator evaluator(relaxed);
    for (std::size_t i : sample(space, 3)) {
      for (std::size_t states = 0; states < 6; ++states) {
        const Budget budget{states, std::size_t{1} << 30};
        const SearchResult result = find_plan(program, evaluator, space.states[i].data(), 5, budget);
        if (result.outcome == SearchResult::Outcome::kBudget) {
          ASSERT_EQ(result.limit, Limit::kStates);
          ASSERT_LE(result.lower_bound, space.distance[i]);
          ++ended;
          continue;
        }
        ASSERT_EQ(result.outcome == SearchResult::Outcome::kFound, space.distance[i] <= 5);
        if (space.distance[i] <= 5) expect_plan(program, space.states[i], result.plan);
      }
    }
  });
  EXPECT_GT(ended, 100U);
}

TEST_P(RandomTasks, EliminationKeepsPlansValid) {
  for_each_task([&](const Program& program) {
    const Space space = enumerate(program);
    if (space.states.empty() || space.distance[0] == kInfinite) return;
    // A long plan: wander with the lowest-numbered legal action that keeps the goal reachable, then go straight.
    const RelaxedTask relaxed(program);
    RelaxedEvaluator evaluator(relaxed);
    std::vector<Word> state = space.states[0];
    std::vector<Word> next(state.size());
    std::vector<ActionId> plan;
    for (const ActionId action : ids<ActionId>(program.num_actions())) {
      if (!program.applicable(state.data(), action) || !program.apply(state.data(), action, next.data())) continue;
      program.project(next.data());
      const SearchResult rest = find_shortest(program, evaluator, next.data(), kInfinite, {});
      if (rest.outcome != SearchResult::Outcome::kFound) continue;
      plan.push_back(action);
      state = next;
    }
    const SearchResult rest = find_shortest(program, evaluator, state.data(), kInfinite, {});
    ASSERT_EQ(rest.outcome, SearchResult::Outcome::kFound);
    plan.insert(plan.end(), rest.plan.begin(), rest.plan.end());
    const std::size_t before = plan.size();
    plan = without_steps(plan, needless_steps(program, space.states[0].data(), plan));
    ASSERT_LE(plan.size(), before);
    ASSERT_GE(plan.size(), space.distance[0]);
    expect_plan(program, space.states[0], plan);
  });
}

// The compiled, projected task and the plain meaning of the definition have the same shortest plans.
TEST_P(RandomTasks, ProjectionKeepsTheShortestPlanOfTheDefinition) {
  for (std::uint64_t seed = GetParam(); seed < kTasks; seed += kBlocks) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const task::Definition definition = random_definition(seed);
    const std::shared_ptr<const Program> program = task::compile(definition);
    std::optional<PlainState> start = testing::plain_initial(definition);
    std::vector<Word> state(program->total_words());
    ASSERT_EQ(program->initial(state.data()), start.has_value());
    if (!start) continue;

    std::map<PlainState, unsigned> depth{{*start, 0}};
    std::deque<PlainState> queue{*start};
    unsigned shortest = plain_goal(definition, *start) ? 0 : kInfinite;
    for (; !queue.empty() && shortest == kInfinite; queue.pop_front()) {
      const unsigned next_depth = depth.at(queue.front()) + 1;
      for (const ActionId action : definition.actions.all()) {
        const std::optional<PlainState> next = plain_apply(definition, queue.front(), action);
        if (!next || !depth.emplace(*next, next_depth).second) continue;
        queue.push_back(*next);
        if (plain_goal(definition, *next)) shortest = std::min(shortest, next_depth);
      }
    }

    program->project(state.data());
    const RelaxedTask relaxed(*program);
    RelaxedEvaluator evaluator(relaxed);
    const SearchResult result = find_shortest(*program, evaluator, state.data(), kInfinite, {});
    ASSERT_EQ(result.outcome, shortest == kInfinite ? SearchResult::Outcome::kRefuted : SearchResult::Outcome::kFound);
    if (shortest == kInfinite) continue;
    ASSERT_EQ(result.plan.size(), shortest);
    for (const ActionId action : result.plan) {
      // Ground actions without arguments: the name identifies the action in both.
      start = plain_apply(definition, *start, ActionId{index(program->definition().actions.name(action))});
      ASSERT_TRUE(start.has_value());
    }
    ASSERT_TRUE(plain_goal(definition, *start));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTasks, ::testing::Range<std::uint64_t>(0, 10));

}  // namespace
}  // namespace metactrl::lookahead::search_property_test
