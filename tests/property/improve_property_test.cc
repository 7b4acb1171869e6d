// Cheapest plans, bounds on their cost, and plans made better, against brute force on thousands of random small tasks
// with costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/focus.h"
#include "lookahead/improve.h"
#include "lookahead/landmark_cut.h"
#include "lookahead/neighbourhood.h"
#include "lookahead/optimal_search.h"
#include "lookahead/relaxed.h"
#include "lookahead/search.h"
#include "lookahead/shortcuts.h"
#include "lookahead/weighted_search.h"
#include "lookahead/windows.h"
#include "metactrl/lookahead.h"
#include "metactrl/task.h"
#include "support/meter.h"
#include "support/projected_space.h"
#include "support/random.h"
#include "support/random_definition.h"
#include "support/repeats.h"
#include "support/small_definition.h"
#include "task/compile.h"

namespace metactrl::lookahead::improve_property_test {
namespace {

using task::Program;
using task::Word;
using testing::random_definition;

constexpr std::uint64_t kTasks = 4000;

// Every third task has no metric; of the others some have costs of 0, some costs with a decimal point, some thirds.
task::Definition with_costs(std::uint64_t seed) {
  task::Definition definition = random_definition(seed);
  if (seed % 3 == 0) return definition;
  definition.has_costs = true;
  definition.has_metric = true;
  std::uint64_t random = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (const ActionId a : definition.actions.all()) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const auto cost = static_cast<double>(random % 8);
    definition.actions.change(a, [&](task::ActionDefinition& action) {
      action.cost = seed % 3 == 1 ? cost : seed % 2 == 1 ? 0.25 * cost : cost / 3;
    });
  }
  return definition;
}

// All projected states that can be reached, with the cost of a cheapest plan from each.
struct CostedSpace {
  std::vector<std::vector<Word>> states;  // the first one is initial
  std::vector<Cost> cost;                 // kNoCost: none
};

CostedSpace enumerate_costs(const Program& program, const ActionCosts& costs) {
  testing::ProjectedSpace all = testing::enumerate_projection(program);
  CostedSpace space;
  space.states = std::move(all.states);
  space.cost.assign(space.states.size(), kNoCost);
  using Entry = std::pair<Cost, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (std::size_t i = 0; i < space.states.size(); ++i) {
    if (!program.is_goal(space.states[i].data())) continue;
    space.cost[i] = 0;
    open.emplace(0, i);
  }
  while (!open.empty()) {
    const auto [cost, i] = open.top();
    open.pop();
    if (space.cost[i] < cost) continue;
    for (const auto& [from, action] : all.predecessors[i]) {
      const Cost step = costs.of(action);
      if (space.cost[from] <= cost + step) continue;
      space.cost[from] = cost + step;
      open.emplace(cost + step, from);
    }
  }
  return space;
}

void expect_reaches_goal(const Program& program, const std::vector<Word>& start, const std::vector<ActionId>& plan) {
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

// What the checks below look at: a task, its costs, its space, and an evaluator of all its actions.
struct Case {
  explicit Case(std::uint64_t seed)
      : program(task::compile(with_costs(seed))),
        costs(*program),
        space(enumerate_costs(*program, costs)),
        relaxed(*program),
        evaluator(relaxed) {}
  std::shared_ptr<const Program> program;
  ActionCosts costs;
  CostedSpace space;
  RelaxedTask relaxed;
  RelaxedEvaluator evaluator;
};

class CostedTasks : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t kBlocks = 8;
  // With some states of each: the initial one, and others spread over the space.
  template <typename Check>
  void for_each_state(std::size_t count, const Check& check) {
    for (std::uint64_t seed = GetParam(); seed < kTasks; seed += kBlocks) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Case one(seed);
      const std::size_t size = one.space.states.size();
      std::size_t last = size;
      for (std::size_t i = 0; i < count && size > 0; ++i) {
        const std::size_t state = i * size / count;
        if (state == last) continue;
        last = state;
        check(one, state);
        if (HasFatalFailure()) return;
      }
    }
  }
};

TEST_P(CostedTasks, CostsAreExact) {
  for_each_state(1, [](Case& one, std::size_t) {
    ASSERT_TRUE(one.costs.exact());
    for (const ActionId a : ids<ActionId>(one.program->num_actions())) {
      const double wanted = one.costs.has_metric() ? one.program->definition().actions.cost(a) : 1;
      ASSERT_EQ(one.costs.in_words(one.costs.of(a)), wanted);
    }
  });
}

TEST_P(CostedTasks, LandmarksBoundTheCost) {
  std::size_t tight = 0;
  std::size_t dead = 0;
  for_each_state(20, [&](Case& one, std::size_t i) {
    LandmarkCut estimate(one.relaxed, one.costs);
    const Word* state = one.space.states[i].data();
    const Cost bound = estimate.evaluate(state, kNoCost);
    ASSERT_LE(bound, one.space.cost[i]);
    ASSERT_EQ(bound == kNoCost, one.evaluator.h_max(state) == kInfinite);
    ASSERT_EQ(estimate.evaluate(state, kNoCost), bound) << "the second evaluation differs from the first";
    if (!one.costs.has_metric() && bound != kNoCost) {
      ASSERT_GE(bound, one.evaluator.h_max(state));
    }
    ASSERT_LE(estimate.evaluate(state, bound == 0 ? 0 : bound / 2), bound);
    ASSERT_LE(estimate.evaluate(state, kNoCost, 1), bound);
    tight += bound == one.space.cost[i] ? 1 : 0;
    dead += bound == kNoCost ? 1 : 0;
  });
  EXPECT_GT(tight, 500U);
  EXPECT_GT(dead, 10U);
}

TEST_P(CostedTasks, OptimalSearchIsRight) {
  std::size_t found = 0;
  std::size_t refuted = 0;
  for_each_state(3, [&](Case& one, std::size_t i) {
    const std::vector<Word>& state = one.space.states[i];
    const Cost best = one.space.cost[i];
    for (const Cost bound : {kNoCost, best == kNoCost ? kNoCost : best + 1, best}) {
      OptimalSearch search(*one.program, one.relaxed, one.costs, state.data(), bound, ~std::uint64_t{0});
      internal::Meter meter;
      Spending spending(Budget{}, meter);
      Limit limit = Limit::kNone;
      const Status status = search.run(spending, {}, limit);
      ASSERT_EQ(status, best < bound ? Status::kFound : Status::kExhausted);
      ASSERT_EQ(search.lower_bound(), best);
      ++(status == Status::kFound ? found : refuted);
      if (status != Status::kFound) continue;
      ASSERT_EQ(one.costs.sum(search.plan()), best);
      expect_reaches_goal(*one.program, state, search.plan());
    }
  });
  EXPECT_GT(found, 500U);
  EXPECT_GT(refuted, 500U);
}

TEST_P(CostedTasks, SmallBudgetsBoundTheCost) {
  for_each_state(2, [&](Case& one, std::size_t i) {
    for (std::size_t states = 1; states < 6; ++states) {
      OptimalSearch search(*one.program, one.relaxed, one.costs, one.space.states[i].data(), kNoCost, 100 * states);
      internal::Meter meter;
      Spending spending(Budget{states, std::size_t{1} << 30}, meter);
      Limit limit = Limit::kNone;
      const Status status = search.run(spending, {}, limit);
      ASSERT_LE(search.lower_bound(), one.space.cost[i]);
      if (status == Status::kFound) {
        ASSERT_EQ(one.costs.sum(search.plan()), one.space.cost[i]);
      }
      if (status == Status::kExhausted) {
        ASSERT_EQ(one.space.cost[i], kNoCost);
      }
    }
  });
}

TEST_P(CostedTasks, ImprovedPlansAreCheapest) {
  std::size_t improved = 0;
  for_each_state(3, [&](Case& one, std::size_t i) {
    const std::vector<Word>& state = one.space.states[i];
    const SearchResult first = find_plan(*one.program, one.evaluator, state.data(), kInfinite, {});
    if (first.outcome != SearchResult::Outcome::kFound) return;
    const Cost before = one.costs.sum(first.plan);
    for (const bool prove : {false, true}) {
      ImproveOptions options;
      options.budget.work = 50'000'000;
      options.prove = prove;
      Cost last = before;
      std::size_t last_length = first.plan.size();
      options.on_better = [&](const std::vector<ActionId>& plan, Cost cost) {
        EXPECT_EQ(cost, one.costs.sum(plan));
        EXPECT_TRUE(cost < last || (cost == last && plan.size() < last_length));
        last = cost;
        last_length = plan.size();
        expect_reaches_goal(*one.program, state, plan);
      };
      const Improvement result = improve_plan(*one.program, one.evaluator, state.data(), first.plan, options);
      ASSERT_TRUE(result.optimal);
      ASSERT_EQ(result.cost, one.space.cost[i]);
      ASSERT_EQ(result.lower_bound, result.cost);
      ASSERT_EQ(result.cost, one.costs.sum(result.plan));
      ASSERT_EQ(last, result.cost);
      expect_reaches_goal(*one.program, state, result.plan);
      options.on_better = nullptr;
      const Improvement again = improve_plan(*one.program, one.evaluator, state.data(), first.plan, options);
      ASSERT_EQ(again.plan, result.plan);
    }
    improved += one.space.cost[i] < before ? 1 : 0;
  });
  EXPECT_GT(improved, 20U);
}

TEST_P(CostedTasks, LittleWorkAndShortHorizonsNeverMakeAPlanWorse) {
  for_each_state(2, [&](Case& one, std::size_t i) {
    const std::vector<Word>& state = one.space.states[i];
    const SearchResult first = find_plan(*one.program, one.evaluator, state.data(), kInfinite, {});
    if (first.outcome != SearchResult::Outcome::kFound) return;
    for (const std::uint64_t work : {0, 100, 1'000, 10'000, 100'000}) {
      ImproveOptions options;
      options.budget.work = work;
      options.max_length = static_cast<unsigned>(first.plan.size());
      const Improvement result = improve_plan(*one.program, one.evaluator, state.data(), first.plan, options);
      ASSERT_LE(result.cost, one.costs.sum(first.plan));
      ASSERT_LE(result.plan.size(), first.plan.size());
      ASSERT_GE(result.cost, one.space.cost[i]);
      ASSERT_LE(result.lower_bound, one.space.cost[i]);
      if (result.optimal) {
        ASSERT_EQ(result.cost, one.space.cost[i]);
      }
      expect_reaches_goal(*one.program, state, result.plan);
    }
  });
}

// Steps that lead nowhere, and then a plan from there: without any work the steps that are not needed go, and only they.
TEST_P(CostedTasks, StepsThatAreLeftOutAreCounted) {
  std::size_t left_out = 0;
  testing::Random random(GetParam());
  for_each_state(2, [&](Case& one, std::size_t i) {
    const std::vector<Word>& start = one.space.states[i];
    std::vector<Word> state = start;
    std::vector<Word> next(state.size());
    std::vector<ActionId> plan;
    for (int step = 0; step < 6; ++step) {
      std::vector<ActionId> actions;
      one.program->relevant_actions(state.data(), actions);
      if (actions.empty()) break;
      const ActionId action = actions[random.below(actions.size())];
      if (!one.program->apply(state.data(), action, next.data())) break;
      one.program->project(next.data());
      state.swap(next);
      plan.push_back(action);
    }
    const SearchResult rest = find_plan(*one.program, one.evaluator, state.data(), kInfinite, {});
    if (rest.outcome != SearchResult::Outcome::kFound) return;
    plan.insert(plan.end(), rest.plan.begin(), rest.plan.end());
    ImproveOptions options;
    options.budget.work = 0;
    const Improvement result = improve_plan(*one.program, one.evaluator, start.data(), plan, options);
    ASSERT_EQ(result.left_out, plan.size() - result.plan.size());
    expect_reaches_goal(*one.program, start, result.plan);
    left_out += result.left_out;
    // What was left out before counts, too.
    options.left_out = 3;
    ASSERT_EQ(improve_plan(*one.program, one.evaluator, start.data(), plan, options).left_out, result.left_out + 3);
  });
  EXPECT_GT(left_out, 100U);
}

// Ended at any moment: the plan is the best one so far, and what is said of it holds.
TEST_P(CostedTasks, WhoIsStoppedMayKeepWhatIsKnown) {
  std::size_t stopped = 0;
  std::size_t bounded = 0;
  for_each_state(2, [&](Case& one, std::size_t i) {
    const std::vector<Word>& state = one.space.states[i];
    const SearchResult first = find_plan(*one.program, one.evaluator, state.data(), kInfinite, {});
    if (first.outcome != SearchResult::Outcome::kFound) return;
    for (const std::uint64_t pieces : {1, 2, 5, 20, 100}) {
      ImproveOptions options;
      options.budget.work = 50'000'000;
      options.prove = pieces % 2 == 0;
      Cost last = one.costs.sum(first.plan);
      options.on_better = [&](const std::vector<ActionId>&, Cost cost) { last = cost; };
      options.keep_when_stopped = true;
      internal::Meter meter({}, {.work = pieces});
      const Improvement result = improve_plan(*one.program, one.evaluator, state.data(), first.plan, options, meter);
      ASSERT_EQ(result.cost, last);
      ASSERT_EQ(result.cost, one.costs.sum(result.plan));
      ASSERT_LE(result.lower_bound, one.space.cost[i]);
      ASSERT_EQ(result.optimal, result.lower_bound == result.cost && !result.stopped);
      expect_reaches_goal(*one.program, state, result.plan);
      if (!result.stopped) continue;
      ++stopped;
      bounded += result.lower_bound > 1 ? 1 : 0;
      options.keep_when_stopped = false;
      options.on_better = nullptr;
      internal::Meter again({}, {.work = pieces});
      EXPECT_THROW(improve_plan(*one.program, one.evaluator, state.data(), first.plan, options, again), Stopped);
    }
  });
  EXPECT_GT(stopped, 20U);
  EXPECT_GT(bounded, 5U);
}

// A focus may miss plans, but what it has are relevant actions, and its space offers those of them that are applicable.
TEST_P(CostedTasks, AFocusHasSomeOfTheActions) {
  std::size_t focused = 0;
  for_each_state(3, [&](Case& one, std::size_t i) {
    const std::vector<Word>& state = one.space.states[i];
    const std::unique_ptr<const Focus> focus = find_focus(one.evaluator, state.data());
    if (!focus) return;
    ++focused;
    const auto actions = focus->space.actions();
    ASSERT_TRUE(std::is_sorted(actions.begin(), actions.end()));
    ASSERT_EQ(std::adjacent_find(actions.begin(), actions.end()), actions.end());
    ASSERT_LE(2 * actions.size(), one.program->relevant_action_list().size());
    for (const std::vector<Word>& other : one.space.states) {
      std::vector<ActionId> offered;
      focus->space.applicable(other.data(), offered);
      std::vector<ActionId> wanted;
      one.program->relevant_actions(other.data(), wanted);
      std::erase_if(wanted, [&](ActionId a) { return !std::binary_search(actions.begin(), actions.end(), a); });
      ASSERT_EQ(offered, wanted);
    }
  });
  EXPECT_GT(focused, 20U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CostedTasks, ::testing::Range<std::uint64_t>(0, 8));

// A plan that wanders about, by chance; empty when it did not come to a goal.
std::vector<ActionId> wandering_plan(const Case& c, std::uint64_t seed) {
  if (c.space.states.empty()) return {};  // a constraint is broken before anything is done
  testing::Random random(seed);
  std::vector<ActionId> plan;
  std::vector<ActionId> possible;
  std::vector<Word> now = c.space.states.front();
  std::vector<Word> next(now.size());
  while (plan.size() < 40 && (plan.size() < 5 || !c.program->is_goal(now.data()))) {
    possible.clear();
    c.program->relevant_actions(now.data(), possible);
    if (possible.empty()) break;
    const ActionId action = random.pick(possible);
    if (!c.program->apply(now.data(), action, next.data())) break;
    c.program->project(next.data());
    now.swap(next);
    plan.push_back(action);
  }
  if (!c.program->is_goal(now.data())) return {};
  return plan;
}

// Executed, better than before, never better than the best.
void expect_better(const Case& c, const std::vector<ActionId>& better, const std::vector<ActionId>& plan) {
  expect_reaches_goal(*c.program, c.space.states.front(), better);
  ASSERT_LT(std::pair(c.costs.sum(better), better.size()), std::pair(c.costs.sum(plan), plan.size()));
  ASSERT_GE(c.costs.sum(better), c.space.cost.front());
}

TEST(Shortcuts, LeadToBetterPlans) {
  std::size_t wandered = 0;
  std::size_t improved = 0;
  for (std::uint64_t seed = 0; seed < testing::repeats(kTasks); ++seed) {
    SCOPED_TRACE(seed);
    const Case c(seed);
    std::vector<ActionId> plan = wandering_plan(c, seed);
    if (plan.empty()) continue;
    ++wandered;
    const ActionSpace all(*c.program);
    std::uint64_t spent = 0;
    const ShortcutLimits limits{1 + static_cast<unsigned>(seed % 3), 1'000'000};
    const Word* start = c.space.states.front().data();
    while (auto better = take_shortcuts(all, c.costs, start, plan, limits, internal::no_meter(), spent)) {
      expect_better(c, *better, plan);
      plan = std::move(*better);
      ++improved;
    }
    EXPECT_GT(spent, 0U);
  }
  EXPECT_GT(wandered, testing::repeats(500));
  EXPECT_GT(improved, testing::repeats(300));
}

// The same by planning parts again; afterwards the evaluator is back at the goal.
TEST(Windows, LeadToBetterPlans) {
  std::size_t improved = 0;
  std::size_t best = 0;
  for (std::uint64_t seed = 0; seed < testing::repeats(kTasks); ++seed) {
    SCOPED_TRACE(seed);
    const Case c(seed);
    std::vector<ActionId> plan = wandering_plan(c, seed);
    if (plan.empty()) continue;
    const ActionSpace all(*c.program);
    const std::vector<std::uint32_t> weights = c.costs.weights();
    const RelaxedTask relaxed(*c.program, all.actions(), weights);
    RelaxedEvaluator evaluator(relaxed);
    const Word* start = c.space.states.front().data();
    const unsigned estimate = evaluator.h_ff(start, nullptr);
    WindowLimits limits;
    limits.actions = 2 + seed % 12;
    limits.greed = 1 + static_cast<unsigned>(seed % 3);
    limits.length = static_cast<unsigned>(plan.size() + seed % 2);
    limits.work = 1'000'000;
    std::uint64_t spent = 0;
    const WindowTools tools{all, evaluator, c.costs, weights};
    while (auto better = replan_windows(tools, start, plan, limits, internal::no_meter(), spent)) {
      expect_better(c, *better, plan);
      ASSERT_LE(better->size(), limits.length);
      plan = std::move(*better);
      ++improved;
    }
    EXPECT_GT(spent, 0U);
    EXPECT_EQ(evaluator.h_ff(start, nullptr), estimate);
    best += c.costs.sum(plan) == c.space.cost.front();
  }
  EXPECT_GT(improved, testing::repeats(300));
  EXPECT_GT(best, testing::repeats(300));
}

// What a request is told of its best plan: in each tier, and where little was spent on it.
TEST_P(CostedTasks, TheLookaheadBoundsWhatPlansCost) {
  std::size_t loose = 0;
  std::size_t proved = 0;
  for_each_state(1, [&](Case& one, std::size_t) {
    const Cost best = one.space.cost[0];
    for (const std::size_t states : {100'000U, 8U, 1U}) {
      for (const std::uint64_t improve : {std::uint64_t{0}, std::uint64_t{1'000}, kImproveFirstPlan}) {
        LookaheadOptions options = fitted_lookahead();
        options.exact.states = states;
        options.improve = improve;
        const auto lookahead = Lookahead::compile(Task(one.program, nullptr), options);
        ASSERT_EQ(lookahead->verdict() == Verdict::kSolvable, best != kNoCost);
        if (best == kNoCost) continue;
        const Cost cost = one.costs.sum(lookahead->plan());
        ASSERT_LE(lookahead->least_cost(), one.costs.in_words(best));
        ASSERT_LE(best, cost);
        if (lookahead->plan_is_cheapest()) {
          ASSERT_EQ(cost, best);
          ASSERT_EQ(lookahead->least_cost(), one.costs.in_words(best));
        }
        const bool shortest = lookahead->shortest_plan_length() == lookahead->plan().size();
        if (!one.costs.has_metric()) {
          ASSERT_EQ(shortest, lookahead->plan_is_cheapest());
        }
        if (states > 8 && improve > 0) {
          ASSERT_TRUE(lookahead->plan_is_cheapest());
        }
        ++(lookahead->plan_is_cheapest() ? proved : loose);
      }
    }
  });
  EXPECT_GT(proved, 500U);
  EXPECT_GT(loose, 50U);
}

// Whatever the unit, what differs in it by less is not proved to be cheapest.
TEST(Costs, NearlyEqualOnesAreNotExact) {
  const auto exact = [](double one, double other) {
    testing::SmallDefinition d;
    const auto there = d.fact("there", false);
    for (const char* name : {"one", "other"}) d.action(name, testing::negative(there), {{testing::yes(), {there}, {}}});
    d.goal(testing::positive(there));
    task::Definition definition = d.take();
    definition.has_costs = true;
    definition.has_metric = true;
    definition.actions.change(ActionId{0}, [&](task::ActionDefinition& action) { action.cost = one; });
    definition.actions.change(ActionId{1}, [&](task::ActionDefinition& action) { action.cost = other; });
    return ActionCosts(*task::compile(std::move(definition))).exact();
  };
  EXPECT_TRUE(exact(80.0 / 3, 12.25));
  EXPECT_TRUE(exact(0.1 + 0.2, 1000.0 / 7));
  EXPECT_FALSE(exact(71.234567891, 71.234567892));
  EXPECT_FALSE(exact(71.234567891, 1000.0 / 101));
}

// The key is left at the end of the corridor although it could be left here: no state of the plan is met again.
TEST(Shortcuts, DoNotNeedTheSameStates) {
  testing::SmallDefinition d;
  const auto here = d.fact("here", true);
  const auto middle = d.fact("middle", false);
  const auto there = d.fact("there", false);
  const auto holding = d.fact("holding", true);
  const auto left_here = d.fact("left-here", false);
  const auto left_there = d.fact("left-there", false);
  const auto got = d.fact("got", false);
  const auto both = [](task::FactId a, task::FactId b) {
    return task::make_and({testing::positive(a), testing::positive(b)});
  };
  const auto go = [&](const std::string& name, task::FactId from, task::FactId to) {
    return d.action(name, testing::positive(from), {{testing::yes(), {to}, {from}}});
  };
  const ActionId out = go("out", here, middle);
  const ActionId on = go("on", middle, there);
  const ActionId back = go("back", there, middle);
  const ActionId in = go("in", middle, here);
  const ActionId leave = d.action("leave-here", both(here, holding), {{testing::yes(), {left_here}, {holding}}});
  const ActionId leave_there =
      d.action("leave-there", both(there, holding), {{testing::yes(), {left_there}, {holding}}});
  const ActionId get = d.action("get", task::make_and({testing::positive(here), testing::negative(holding)}),
                                {{testing::yes(), {got}, {}}});
  // Where the key was left matters to the goal, so states differ in it.
  d.goal(task::make_and(
      {testing::positive(got), task::make_or({testing::positive(left_here), testing::positive(left_there)})}));
  const auto program = task::compile(d.take());
  std::vector<Word> state(program->total_words());
  ASSERT_TRUE(program->initial(state.data()));
  program->project(state.data());
  std::uint64_t spent = 0;
  const auto better = take_shortcuts(ActionSpace(*program), ActionCosts(*program), state.data(),
                                     {out, on, leave_there, back, in, get}, {1, 100'000}, internal::no_meter(), spent);
  ASSERT_TRUE(better.has_value());
  EXPECT_EQ(*better, (std::vector<ActionId>{leave, get}));

  // Planned again in one window, it is the same, and a window of its middle cannot leave the key elsewhere.
  const ActionSpace all(*program);
  const ActionCosts costs(*program);
  const std::vector<std::uint32_t> weights = costs.weights();
  const RelaxedTask relaxed(*program, all.actions(), weights);
  RelaxedEvaluator evaluator(relaxed);
  const WindowTools tools{all, evaluator, costs, weights};
  WindowLimits limits;
  limits.work = 100'000;
  limits.actions = 6;
  EXPECT_EQ(
      replan_windows(tools, state.data(), {out, on, leave_there, back, in, get}, limits, internal::no_meter(), spent),
      (std::vector<ActionId>{leave, get}));
  limits.actions = 2;
  EXPECT_EQ(
      replan_windows(tools, state.data(), {out, on, leave_there, back, in, get}, limits, internal::no_meter(), spent),
      std::nullopt);
}

}  // namespace
}  // namespace metactrl::lookahead::improve_property_test
