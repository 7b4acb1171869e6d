#include <gtest/gtest.h>

#include <vector>

#include "support/random_definition.h"
#include "support/small_definition.h"
#include "task/compile.h"
#include "task/simplify.h"

namespace metactrl::task::relevance_test {
namespace {

using testing::negative;
using testing::positive;
using testing::SmallDefinition;
using testing::yes;
using Flags = std::vector<bool>;

TEST(Relevance, FollowsPreconditionsOfActionsThatChangeRelevantFacts) {
  SmallDefinition d;
  const auto clean = d.fact("clean", false);
  const auto water = d.fact("water", false);
  const auto radio = d.fact("radio", false);
  d.action("wash", positive(water), {{yes(), {clean}, {}}});
  d.action("open-tap", yes(), {{yes(), {water}, {}}});
  d.action("radio-on", positive(clean), {{yes(), {radio}, {}}});
  d.action("look", yes(), {});
  d.goal(positive(clean));
  const Relevance relevance = goal_relevance(d.take());
  EXPECT_EQ(relevance.fact, (Flags{true, true, false}));
  EXPECT_EQ(relevance.action, (Flags{true, true, false, false}));
}

TEST(Relevance, AnActionThatOnlySpoilsAGoalIsRelevant) {
  SmallDefinition d;
  const auto clean = d.fact("clean", true);
  const auto mud = d.fact("mud", true);
  d.action("walk-in", positive(mud), {{yes(), {}, {clean}}});
  d.goal(positive(clean));
  const Relevance relevance = goal_relevance(d.take());
  EXPECT_EQ(relevance.fact, (Flags{true, true}));
  EXPECT_EQ(relevance.action, (Flags{true}));
}

TEST(Relevance, ConditionsOfOtherEffectsDoNotMatter) {
  SmallDefinition d;
  const auto goal = d.fact("goal", false);
  const auto helps = d.fact("helps", false);
  const auto other = d.fact("other", false);
  const auto side = d.fact("side", false);
  d.action("act", yes(), {{positive(helps), {goal}, {}}, {positive(other), {side}, {}}});
  d.action("help", yes(), {{yes(), {helps}, {}}});
  d.action("turn", yes(), {{yes(), {other}, {}}});
  d.goal(positive(goal));
  const Relevance relevance = goal_relevance(d.take());
  EXPECT_EQ(relevance.fact, (Flags{true, true, false, false}));
  EXPECT_EQ(relevance.action, (Flags{true, true, false}));
}

TEST(Relevance, GoesThroughAxioms) {
  SmallDefinition d;
  const auto p = d.fact("p", false);
  const auto q = d.fact("q", false);
  const auto low = d.derived("low", 0);
  const auto high = d.derived("high", 1);
  const auto unused = d.derived("unused", 0);
  d.axiom(low, positive(p));
  d.axiom(high, negative(low));
  d.axiom(unused, positive(q));
  d.action("p", yes(), {{yes(), {p}, {}}});
  d.action("q", yes(), {{yes(), {q}, {}}});
  d.goal(positive(high));
  const Relevance relevance = goal_relevance(d.take());
  EXPECT_EQ(relevance.fact, (Flags{true, false, true, true, false}));
  EXPECT_EQ(relevance.action, (Flags{true, false}));
}

TEST(Relevance, IncludesMonitorsAndActionGoals) {
  SmallDefinition d;
  const auto goal = d.fact("goal", true);
  const auto forbidden = d.fact("forbidden", false);
  const auto needed = d.fact("needed", false);
  const auto free = d.fact("free", false);
  d.action("enter", yes(), {{yes(), {forbidden}, {}}});
  const auto wave = d.action("wave", positive(needed), {});
  d.action("get", yes(), {{yes(), {needed}, {}}});
  d.action("other", yes(), {{yes(), {free}, {}}});
  d.monitor(MonitorDefinition::Kind::kAlways, negative(forbidden));
  d.actions_in_order({{wave}});
  d.goal(positive(goal));
  const Relevance relevance = goal_relevance(d.take());
  EXPECT_EQ(relevance.fact, (Flags{true, true, true, false}));
  EXPECT_EQ(relevance.action, (Flags{true, true, true, false}));
}

// The definition in relevance.cc, applied until nothing changes.
Relevance naive_relevance(const Definition& d) {
  Relevance r;
  r.fact.resize(d.facts.size());
  r.action.resize(d.actions.size());
  bool changed = true;
  const auto add = [&](const Formula& formula) {
    for_each_literal(formula, [&](FactId fact, bool) {
      changed = changed || !r.fact[fact];
      r.fact[fact] = true;
    });
  };
  const auto add_action = [&](ActionId action) {
    r.action[action] = true;
    add(d.actions[action].precondition);
  };
  while (changed) {
    changed = false;
    for (const GoalDefinition& goal : d.goals) add(goal.condition);
    for (const MonitorDefinition& monitor : d.monitors) {
      add(monitor.first);
      add(monitor.second);
      for (const auto& step : monitor.steps) {
        for (const ActionId action : step) add_action(action);
      }
    }
    for (const ActionId a : d.actions.all()) {
      const ActionDefinition action = d.actions[a];
      for (const EffectDefinition& effect : action.effects) {
        bool touches = false;
        for (const FactId fact : effect.add) touches = touches || r.fact[fact];
        for (const FactId fact : effect.del) touches = touches || r.fact[fact];
        if (!touches) continue;
        add_action(a);
        add(effect.when);
      }
    }
    for (const AxiomDefinition& axiom : d.axioms) {
      if (r.fact[axiom.head]) add(axiom.body);
    }
  }
  return r;
}

TEST(Relevance, EqualsItsDefinitionOnRandomTasks) {
  std::size_t irrelevant = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Definition definition = simplify(testing::random_definition(seed));
    const Relevance fast = goal_relevance(definition);
    const Relevance slow = naive_relevance(definition);
    ASSERT_EQ(fast.fact, slow.fact) << "seed " << seed;
    ASSERT_EQ(fast.action, slow.action) << "seed " << seed;
    for (const bool relevant : fast.action) irrelevant += relevant ? 0 : 1;
  }
  EXPECT_GT(irrelevant, 500U);
}

TEST(Relevance, ProgramProjectsToAPrefix) {
  SmallDefinition d;
  std::vector<FactId> noise;
  for (int i = 0; i < 100; ++i) noise.push_back(d.fact("noise" + std::to_string(i), false));
  const auto goal = d.fact("goal", false);
  for (int i = 0; i < 100; ++i)
    d.action("n" + std::to_string(i), yes(), {{yes(), {noise[static_cast<std::size_t>(i)]}, {}}});
  const auto set = d.action("set", yes(), {{yes(), {goal}, {}}});
  d.goal(positive(goal));
  const auto program = compile(d.take());
  EXPECT_EQ(program->num_relevant_bits(), 1U);
  EXPECT_EQ(program->relevant_words(), 1U);
  EXPECT_EQ(program->num_stored_bits(), 101U);
  EXPECT_EQ(program->relevant_action_list(), (std::vector<ActionId>{set}));
  std::vector<Word> state(program->total_words());
  std::vector<Word> next(program->total_words());
  program->initial(state.data());
  for (const ActionId a : ids<ActionId>(program->num_actions())) {
    program->apply(state.data(), a, next.data());
    state.swap(next);
  }
  EXPECT_TRUE(program->is_goal(state.data()));
  program->project(state.data());
  EXPECT_EQ(state, (std::vector<Word>{1, 0}));
  EXPECT_TRUE(program->is_goal(state.data()));
}

}  // namespace
}  // namespace metactrl::task::relevance_test
