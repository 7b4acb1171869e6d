// Plans without idle steps, without detours and without needless steps, against brute force on random ground tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "lookahead/cost_table.h"
#include "lookahead/needless.h"
#include "lookahead/space.h"
#include "metactrl/lookahead.h"
#include "support/random.h"
#include "support/random_definition.h"
#include "task/compile.h"
#include "task/program.h"

namespace metactrl::plan_quality_property_test {
namespace {

using testing::Random;
using Words = std::vector<std::uint64_t>;

// What of a state matters for the goal.
Words relevant_part(const Task& task, const State& state) {
  Words words(state.words().begin(), state.words().end());
  task.program().project(words.data());
  words.resize(task.program().relevant_words());
  return words;
}

// Is the goal reached from `state` within `left` actions, by states that are not in `passed`? By trying everything.
bool can_avoid(const Task& task, const State& state, std::set<Words>& passed, unsigned left) {
  const auto [place, fresh] = passed.insert(relevant_part(task, state));
  if (!fresh) return false;
  bool found = task.is_goal(state);
  if (!found && left > 0) {
    for (const ActionId action : task.applicable_actions(state)) {
      const std::optional<State> next = task.apply(state, action);
      if (next && can_avoid(task, *next, passed, left - 1)) {
        found = true;
        break;
      }
    }
  }
  passed.erase(place);
  return found;
}

struct Mode {
  const char* name;
  std::size_t exact_states;
  std::size_t candidate_states;
};

constexpr Mode kModes[] = {
    {"tier A", 100'000, 100'000}, {"a cone", 8, 100'000}, {"tier B", 1, 100'000}, {"tier B, hardly any budget", 1, 3}};

std::shared_ptr<const Lookahead> compile(const Task& task, const Mode& mode, Random& random) {
  LookaheadOptions options;
  options.exact = {mode.exact_states, std::size_t{1} << 30};
  options.fitted_horizon = true;
  options.slack = random.below(4);
  return Lookahead::compile(task, options);
}

class Counts {
 public:
  std::size_t allowed = 0;
  std::size_t forbidden = 0;
  std::size_t walks = 0;
};

// One random plan. Every answer on its way is compared; it never gets stuck.
void walk_without_detours(const Task& task, const std::shared_ptr<const Lookahead>& lookahead, const Mode& mode,
                          Random& random, Counts& counts) {
  Support support(lookahead, {.candidates = {mode.candidate_states}, .detours = false});
  std::vector<State> path{task.initial_state()};
  for (unsigned left = lookahead->horizon();; --left) {
    if (task.is_goal(path.back()) && (left == 0 || random.chance(60))) break;
    support.set_path(path);
    std::set<Words> passed;
    for (const State& state : path) passed.insert(relevant_part(task, state));
    std::vector<ActionId> allowed;
    for (const Candidate& candidate : support.candidates(path.back(), left)) {
      const bool truth = left > 0 && can_avoid(task, *task.apply(path.back(), candidate.action), passed, left - 1);
      if (candidate.answer == Answer::kYes) {
        ASSERT_TRUE(truth);
      } else if (candidate.answer == Answer::kNo) {
        ASSERT_FALSE(truth);
      } else {
        ASSERT_EQ(lookahead->tier(), Lookahead::Tier::kWitness);
      }
      if (candidate.answer == Answer::kYes) allowed.push_back(candidate.action);
      ++(candidate.answer == Answer::kYes ? counts.allowed : counts.forbidden);
    }
    if (task.is_goal(path.back()) && allowed.empty()) break;
    ASSERT_FALSE(allowed.empty());
    path.push_back(*task.apply(path.back(), allowed[random.below(allowed.size())]));
    // What a copy knows is enough to go on.
    if (random.chance(20)) support = Support(support);
  }
  std::set<Words> seen;
  for (const State& state : path) ASSERT_TRUE(seen.insert(relevant_part(task, state)).second);
  ++counts.walks;
}

TEST(NoDetours, EqualBruteForce) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    Counts counts;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
      SCOPED_TRACE(seed);
      Random random(seed);
      const Task task = testing::random_task(seed, {.max_facts = 6, .max_actions = 8});
      const auto lookahead = compile(task, mode, random);
      if (lookahead->verdict() != Verdict::kSolvable || lookahead->horizon() > 8) continue;
      for (int i = 0; i < 4; ++i) {
        ASSERT_NO_FATAL_FAILURE(walk_without_detours(task, lookahead, mode, random, counts));
      }
    }
    EXPECT_GT(counts.walks, 500U);
    EXPECT_GT(counts.allowed, 1000U);
    EXPECT_GT(counts.forbidden, 1000U);
  }
}

// Idle steps are answered with no, everything else as if they were wanted; and without them no plan gets stuck.
TEST(IdleSteps, AreNotOfferedAndNotMissed) {
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.name);
    std::size_t idle = 0;
    std::size_t walks = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      SCOPED_TRACE(seed);
      Random random(seed);
      const Task task = testing::random_task(seed);
      const auto lookahead = compile(task, mode, random);
      if (lookahead->verdict() != Verdict::kSolvable) continue;
      Support support(lookahead, {.candidates = {mode.candidate_states}});
      Support with_idle(lookahead, {.candidates = {mode.candidate_states}, .idle_steps = true});
      State state = task.initial_state();
      for (unsigned left = lookahead->horizon(); left > 0; --left) {
        const std::vector<Candidate> candidates = support.candidates(state, left);
        const std::vector<Candidate> all = with_idle.candidates(state, left);
        ASSERT_EQ(candidates.size(), all.size());
        std::vector<ActionId> allowed;
        for (std::size_t i = 0; i < all.size(); ++i) {
          ASSERT_EQ(candidates[i].action, all[i].action);
          const bool changes_nothing = task.apply(state, all[i].action) == state;
          idle += changes_nothing ? 1 : 0;
          if (changes_nothing) {
            ASSERT_EQ(candidates[i].answer, Answer::kNo);
          } else if (mode.exact_states > 1) {
            ASSERT_EQ(candidates[i].answer, all[i].answer);
          }
          if (candidates[i].answer == Answer::kYes) allowed.push_back(candidates[i].action);
        }
        if (task.is_goal(state) && (allowed.empty() || random.chance(40))) break;
        ASSERT_FALSE(allowed.empty());
        state = *task.apply(state, allowed[random.below(allowed.size())]);
      }
      ASSERT_TRUE(task.is_goal(state));
      ++walks;
    }
    EXPECT_GT(walks, 300U);
    EXPECT_GT(idle, 1000U);
  }
}

// The cheapest plan, against the definition by repeated relaxation over all states.
TEST(Costs, AreTheLeast) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Task task = testing::random_task(seed);
    Random random(seed);
    task::Definition definition = task.program().definition();
    for (const ActionId a : definition.actions.all()) {
      definition.actions.change(a, [&](task::ActionDefinition& action) { action.cost = random.below(5); });
    }
    const auto program = task::compile(std::move(definition));
    const lookahead::SpaceResult result = lookahead::Space::enumerate(*program, {100'000, std::size_t{1} << 30});
    if (!result.space || !result.space->is_live(result.space->initial())) continue;
    const lookahead::Space& space = *result.space;
    const lookahead::CostTable costs(*program, space);
    std::vector<double> least(space.num_live(), 1e300);
    const auto at = [&](lookahead::StateId id) -> double& { return least[internal::index(id)]; };
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto id : internal::ids<lookahead::StateId>(space.num_live())) {
        double best = space.is_goal(id) ? 0 : at(id);
        for (std::size_t e = 0; e < space.targets(id).size(); ++e) {
          const double cost = program->definition().actions.cost(space.actions(id)[e]);
          best = std::min(best, cost + at(space.targets(id)[e]));
        }
        changed = changed || best < at(id);
        at(id) = std::min(best, at(id));
      }
    }
    for (const auto id : internal::ids<lookahead::StateId>(space.num_live())) {
      ASSERT_EQ(costs.cost(id), at(id));
      double sum = 0;
      for (const ActionId action : costs.cheapest_plan(space, id)) sum += program->definition().actions.cost(action);
      ASSERT_EQ(sum, at(id));
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000U);
}

TEST(NeedlessSteps, CanAllBeLeftOutTogether) {
  std::size_t removed = 0;
  std::size_t plans = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const Task task = testing::random_task(seed);
    Random random(seed);
    std::vector<ActionId> plan;
    State state = task.initial_state();
    while (plan.size() < 25 && !(task.is_goal(state) && random.chance(30))) {
      const std::vector<ActionId> legal = task.applicable_actions(state);
      if (legal.empty()) break;
      const ActionId action = legal[random.below(legal.size())];
      const std::optional<State> next = task.apply(state, action);
      if (!next) break;
      state = *next;
      plan.push_back(action);
    }
    if (!task.is_goal(state) || task.initially_violated()) continue;
    ++plans;
    const State start = task.initial_state();
    const std::vector<std::size_t> needless = lookahead::needless_steps(task.program(), start.words().data(), plan);
    removed += needless.size();
    std::vector<PlanStep> rest;
    for (const ActionId action : lookahead::without_steps(plan, needless)) rest.push_back(task.step(action));
    ASSERT_EQ(rest.size() + needless.size(), plan.size());
    ASSERT_TRUE(task.validate(rest).valid);
    // No single step of what is left can be left out, with nothing else.
    for (std::size_t i = 0; i < rest.size(); ++i) {
      std::vector<PlanStep> without = rest;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      ASSERT_FALSE(task.validate(without).valid) << "step " << i;
    }
  }
  EXPECT_GT(plans, 500U);
  EXPECT_GT(removed, 1000U);
}

}  // namespace
}  // namespace metactrl::plan_quality_property_test
