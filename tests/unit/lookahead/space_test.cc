#include "lookahead/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lookahead/uniform.h"
#include "support/id_list.h"
#include "task/compile.h"

namespace metactrl::lookahead::space_test {
namespace {

using task::ActionDefinition;
using task::Definition;
using task::FactId;
using task::Formula;
using task::Program;
using task::Word;
using testing::id_list;

const Budget kAmple;

// Tasks over propositions p0, p1, ...
class Builder {
 public:
  explicit Builder(std::size_t facts) {
    definition_.objects = {"o"};
    definition_.predicate_names = {"p"};
    for (std::size_t fact = 0; fact < facts; ++fact) definition_.facts.push_back({});
    definition_.fact_layer.assign(facts, -1);
    definition_.init.assign(facts, false);
  }
  Builder& init(std::uint32_t fact) {
    definition_.init[FactId{fact}] = true;
    return *this;
  }
  Builder& action(const std::vector<std::uint32_t>& needs, const std::vector<std::uint32_t>& add,
                  const std::vector<std::uint32_t>& del, std::uint32_t arity = 0) {
    ActionDefinition action;
    action.symbol.name = definition_.action_names.next_id();
    action.symbol.arguments.assign(arity, ObjectId{0});
    definition_.action_names.push_back({"a" + std::to_string(index(action.symbol.name)), arity});
    std::vector<Formula> literals;
    for (const std::uint32_t fact : needs) literals.push_back(Formula::literal(FactId{fact}, false));
    action.precondition = task::make_and(std::move(literals));
    action.effects.push_back({Formula::constant(true), id_list<FactId>(add), id_list<FactId>(del)});
    definition_.actions.push_back(action);
    return *this;
  }
  Builder& goal(std::uint32_t fact) {
    definition_.goals.push_back({Formula::literal(FactId{fact}, false), ""});
    return *this;
  }
  Builder& always_not(std::uint32_t fact) {
    task::MonitorDefinition monitor;
    monitor.first = Formula::literal(FactId{fact}, true);
    definition_.monitors.push_back(std::move(monitor));
    return *this;
  }
  Definition& definition() { return definition_; }
  std::shared_ptr<const Program> build() const { return task::compile(definition_); }

 private:
  Definition definition_;
};

// p0 -> p1 -> ... -> p(n-1), each state a single fact; the goal is the last.
Builder chain(std::uint32_t n, std::uint32_t arity = 0) {
  Builder builder(n);
  builder.init(0).goal(n - 1);
  for (std::uint32_t i = 0; i + 1 < n; ++i) builder.action({i}, {i + 1}, {i}, arity);
  return builder;
}

double log_of(double x) { return std::log(x); }

TEST(Space, CountsDistancesAlongAChain) {
  const auto program = chain(6).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  ASSERT_EQ(result.limit, Limit::kNone);
  ASSERT_TRUE(result.space);
  const Space& space = *result.space;
  EXPECT_TRUE(space.complete());
  EXPECT_EQ(space.max_depth(), Space::kNoDepthLimit);
  EXPECT_EQ(space.num_states(), 6U);
  EXPECT_EQ(space.num_edges(), 5U);
  EXPECT_EQ(space.num_dead(), 0U);
  for (const StateId id : ids<StateId>(6)) {
    EXPECT_EQ(space.depth(id), index(id));
    EXPECT_EQ(space.distance(id), 5 - index(id));
  }
  EXPECT_EQ(space.shortest_plan(space.initial()), id_list<ActionId>({0, 1, 2, 3, 4}));
  EXPECT_EQ(space.shortest_plan(StateId{5}), std::vector<ActionId>{});
  EXPECT_EQ(result.depth_seen, 5U);
  EXPECT_GT(space.memory_bytes(), 6 * sizeof(Word));
}

TEST(Space, FindsStatesByTheirWords) {
  const auto program = chain(3).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  std::vector<Word> from(program->total_words());
  std::vector<Word> to(program->total_words());
  program->initial(from.data());
  program->project(from.data());
  ASSERT_TRUE(program->apply(from.data(), ActionId{0}, to.data()));
  program->project(to.data());
  EXPECT_EQ(result.space->find(from.data()), result.space->initial());
  ASSERT_TRUE(result.space->find(to.data()));
  EXPECT_EQ(result.space->distance(*result.space->find(to.data())), 1U);
  std::vector<Word> elsewhere(program->total_words(), 0);
  EXPECT_FALSE(result.space->find(elsewhere.data()));
}

TEST(Space, DeadEndsComeLastAndLoseTheirEdges) {
  // From p0 either on to p1 (goal), or into the trap p2, p3 from which nothing leads back (both at once would).
  const auto program = Builder(4)
                           .init(0)
                           .goal(1)
                           .action({0}, {2}, {0})
                           .action({0}, {1}, {0})
                           .action({2}, {3}, {2})
                           .action({3}, {2}, {3})
                           .action({2, 3}, {1}, {})
                           .build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  const Space& space = *result.space;
  EXPECT_EQ(space.num_states(), 4U);
  EXPECT_EQ(space.num_live(), 2U);
  EXPECT_EQ(space.num_dead(), 2U);
  EXPECT_EQ(space.num_edges(), 4U);
  EXPECT_EQ(space.num_live_edges(), 1U);
  EXPECT_EQ(space.distance(space.initial()), 1U);
  for (const StateId id : {StateId{2}, StateId{3}}) {
    EXPECT_FALSE(space.is_live(id));
    EXPECT_EQ(space.distance(id), Space::kUnreachable);
    EXPECT_TRUE(space.shortest_plan(id).empty());
    EXPECT_TRUE(space.decides(id, 1000));
  }
  EXPECT_EQ(space.depth(StateId{2}), 1U);
  EXPECT_EQ(space.depth(StateId{3}), 2U);
  EXPECT_EQ(space.shortest_plan(space.initial()), id_list<ActionId>({1}));
}

TEST(Space, ActionsWithTheSameSuccessorAreDifferentPlans) {
  const auto program = Builder(2).init(0).goal(1).action({0}, {1}, {0}).action({0}, {1}, {0}).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  EXPECT_EQ(result.space->num_edges(), 2U);
  EXPECT_EQ(result.space->targets(StateId{0}).size(), 2U);
  EXPECT_EQ(result.space->shortest_plan(StateId{0}), id_list<ActionId>({0}));  // the smallest of equals
  const auto table = UniformTable::build(*program, *result.space, 1, 1 << 20);
  ASSERT_TRUE(table);
  EXPECT_NEAR(table->log_weight(StateId{0}, 1), log_of(2.0 / 4 / 4), 1e-14);  // M = 2 names + 1 object + end
}

TEST(Space, AGoalThatHoldsAtOnceHasDistanceZero) {
  const auto program = Builder(2).init(0).goal(0).action({0}, {1}, {0}).action({1}, {0}, {1}).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  const Space& space = *result.space;
  EXPECT_EQ(space.num_states(), 2U);  // the plan may leave the goal and come back
  EXPECT_EQ(space.distance(space.initial()), 0U);
  EXPECT_EQ(space.distance(StateId{1}), 1U);
  const auto table = UniformTable::build(*program, space, 4, 1 << 20);
  ASSERT_TRUE(table);
  EXPECT_NEAR(table->log_weight(StateId{0}, 0), log_of(0.25), 1e-14);
  EXPECT_NEAR(table->log_weight(StateId{0}, 1), log_of(0.25), 1e-14);
  EXPECT_NEAR(table->log_weight(StateId{0}, 3), log_of(0.25 + 0.25 / 16), 1e-14);
}

TEST(Space, AnEmptyGoalIsASpaceOfOneState) {
  const auto program = Builder(2).init(0).action({0}, {1}, {0}).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  EXPECT_EQ(result.space->num_states(), 1U);
  EXPECT_EQ(result.space->num_edges(), 0U);
  EXPECT_EQ(result.space->distance(result.space->initial()), 0U);
  EXPECT_EQ(count_reachable(*program, kAmple, true).states, 1U);
  EXPECT_EQ(count_reachable(*program, kAmple, false).states, 2U);
}

TEST(Space, AnActionThatChangesNothingIsALegalActionOfTheFullSpaceOnly) {
  const auto program = Builder(3).init(0).goal(1).action({0}, {1}, {0}).action({}, {}, {}).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  EXPECT_EQ(result.space->num_edges(), 1U);
  const SpaceCount full = count_reachable(*program, kAmple, false);
  EXPECT_EQ(full.states, 2U);
  EXPECT_EQ(full.edges, 3U);
}

TEST(Space, AnUnreachableGoalLeavesNothingLive) {
  const auto program = Builder(3).init(0).goal(2).action({0}, {1}, {0}).action({1}, {0}, {1}).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  ASSERT_TRUE(result.space);
  EXPECT_EQ(result.space->num_live(), 0U);
  EXPECT_EQ(result.space->distance(result.space->initial()), Space::kUnreachable);
  const auto table = UniformTable::build(*program, *result.space, 40, 1 << 20);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->log_weight(result.space->initial(), 40), -std::numeric_limits<double>::infinity());
}

TEST(Space, AnInitialStateInBreachOfAConstraintIsDead) {
  const auto program = Builder(2).init(0).goal(1).always_not(0).action({0}, {1}, {0}).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  ASSERT_TRUE(result.space);
  EXPECT_TRUE(result.space->complete());
  EXPECT_EQ(result.space->num_states(), 1U);
  EXPECT_EQ(result.space->distance(result.space->initial()), Space::kUnreachable);
  EXPECT_EQ(count_reachable(*program, kAmple, false).edges, 0U);
}

TEST(Space, ForbiddenStepsAreNoEdges) {
  // The short way leads through p3, which is forbidden.
  const auto program = Builder(4)
                           .init(0)
                           .goal(2)
                           .always_not(3)
                           .action({0}, {3}, {0})
                           .action({3}, {2}, {3})
                           .action({0}, {1}, {0})
                           .action({1}, {0}, {1})
                           .action({1}, {2, 0}, {1})
                           .build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  EXPECT_EQ(result.space->distance(result.space->initial()), 2U);
  for (const StateId id : ids<StateId>(result.space->num_live())) {
    for (const ActionId action : result.space->actions(id)) EXPECT_NE(action, ActionId{0});
  }
}

TEST(Space, ADepthLimitDecidesWhatItsConeContains) {
  const auto program = chain(6).build();
  const SpaceResult enough = Space::enumerate(*program, kAmple, 5);
  EXPECT_EQ(enough.space->distance(enough.space->initial()), 5U);
  EXPECT_EQ(enough.space->max_depth(), 5U);
  const SpaceResult shallow = Space::enumerate(*program, kAmple, 4);
  const Space& space = *shallow.space;
  EXPECT_EQ(shallow.limit, Limit::kNone);
  EXPECT_EQ(space.num_states(), 5U);
  EXPECT_FALSE(space.complete());
  EXPECT_EQ(space.distance(space.initial()), Space::kUnreachable);
  EXPECT_TRUE(space.decides(space.initial(), 4));
  EXPECT_FALSE(space.decides(space.initial(), 5));
  EXPECT_FALSE(UniformTable::build(*program, *enough.space, 6, 1 << 20));
  EXPECT_TRUE(UniformTable::build(*program, *enough.space, 5, 1 << 20));
}

TEST(Space, DepthZeroKnowsOnlyWhetherTheGoalHolds) {
  const auto program = chain(3).build();
  const SpaceResult result = Space::enumerate(*program, kAmple, 0);
  EXPECT_EQ(result.space->num_states(), 1U);
  EXPECT_EQ(result.space->num_edges(), 0U);
  EXPECT_FALSE(result.space->is_live(result.space->initial()));
}

TEST(Space, ABudgetOfStatesEndsWithTheConeThatIsComplete) {
  // Every state of the chain also has a way back to the start, so that nothing is dead.
  Builder builder = chain(10);
  for (std::uint32_t i = 1; i < 10; ++i) builder.action({i}, {0}, {i});
  builder.definition().goals.clear();
  builder.goal(3);
  const auto program = builder.build();
  Budget budget;
  budget.states = 6;
  const SpaceResult result = Space::enumerate(*program, budget);
  EXPECT_EQ(result.limit, Limit::kStates);
  ASSERT_TRUE(result.space);
  EXPECT_EQ(result.space->max_depth(), 5U);
  EXPECT_EQ(result.space->num_states(), 6U);
  EXPECT_EQ(result.space->distance(result.space->initial()), 3U);
  budget.states = 2;
  const SpaceResult nothing = Space::enumerate(*program, budget);
  EXPECT_EQ(nothing.limit, Limit::kStates);
  EXPECT_FALSE(nothing.space);
  EXPECT_EQ(nothing.depth_seen, 1U);
  budget.states = 10;
  EXPECT_EQ(Space::enumerate(*program, budget).limit, Limit::kNone);
}

TEST(Space, BudgetsOfBytesAndWorkAreKept) {
  // 2^16 states: sixteen switches.
  Builder builder(16);
  for (std::uint32_t i = 0; i < 16; ++i) builder.action({}, {i}, {}).action({i}, {}, {i}).goal(i);
  const auto program = builder.build();
  Budget budget;
  budget.bytes = std::size_t{1} << 20;
  EXPECT_EQ(Space::enumerate(*program, budget).limit, Limit::kBytes);
  EXPECT_EQ(count_reachable(*program, budget, true).limit, Limit::kBytes);
  budget = {};
  budget.work = 100'000;
  EXPECT_EQ(Space::enumerate(*program, budget).limit, Limit::kWork);
  EXPECT_EQ(Space::enumerate(*program, budget).states_seen, Space::enumerate(*program, budget).states_seen);
  EXPECT_EQ(count_reachable(*program, budget, false).limit, Limit::kWork);
  budget = {};
  internal::Meter at_once([] { return true; });
  EXPECT_THROW(Space::enumerate(*program, budget, Space::kNoDepthLimit, {}, at_once), Stopped);
  EXPECT_THROW(count_reachable(*program, budget, false, {}, at_once), Stopped);
  budget = {};
  budget.states = 1000;
  EXPECT_EQ(count_reachable(*program, budget, false).limit, Limit::kStates);
  std::size_t reported = 0;
  const SpaceCount count = count_reachable(*program, kAmple, false, [&](std::size_t states) { reported = states; });
  EXPECT_EQ(count.limit, Limit::kNone);
  EXPECT_EQ(count.states, 65536U);
  EXPECT_EQ(count.edges, 65536U * 16 + 65536U * 8);  // setting is always legal, clearing half of the time
  EXPECT_EQ(reported, 65536U);
  const SpaceResult result = Space::enumerate(*program, kAmple);
  EXPECT_EQ(result.space->num_edges(), count.edges);
  EXPECT_LE(result.space->memory_bytes(), kAmple.bytes);
}

TEST(UniformTable, IsExactFarBelowTheSmallestDouble) {
  // One plan of 60 actions of 41 symbols each: M^-2461, or 10^-4000, and nothing else.
  const auto program = chain(61, 40).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  const auto table = UniformTable::build(*program, *result.space, 70, 1 << 20);
  ASSERT_TRUE(table);
  const double log_alphabet = std::log(static_cast<double>(alphabet_size(*program)));
  for (const StateId id : ids<StateId>(61)) {
    const unsigned distance = 60 - index(id);
    const double expected = -(41.0 * distance + 1) * log_alphabet;
    for (unsigned left = 0; left <= 70; ++left) {
      const double weight = table->log_weight(id, left);
      if (left < distance) {
        EXPECT_EQ(weight, -std::numeric_limits<double>::infinity());
      } else {
        EXPECT_NEAR(weight, expected, 1e-12 * std::abs(expected)) << index(id) << ' ' << left;
      }
    }
  }
}

TEST(UniformTable, OutsideTheConeWeightsAreFiniteLowerBounds) {
  const auto program = chain(6, 1).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  const auto table = UniformTable::build(*program, *result.space, 6, 1 << 20);
  ASSERT_TRUE(table);
  // Two actions short of the goal, but asked as if none had been taken.
  EXPECT_DOUBLE_EQ(table->log_weight(StateId{3}, 6), table->log_weight(StateId{3}, 3));
  EXPECT_TRUE(std::isfinite(table->log_weight(StateId{3}, 100)));
  // The state lies deeper than the horizon lets anyone get and still reach the goal.
  const auto narrow = UniformTable::build(*program, *result.space, 2, 1 << 20);
  ASSERT_TRUE(narrow);
  EXPECT_TRUE(std::isfinite(narrow->log_weight(StateId{1}, 4)));
  EXPECT_EQ(narrow->log_weight(StateId{1}, 3), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(narrow->log_weight(StateId{5}, 0)));
}

TEST(UniformTable, RefusesWhatDoesNotFit) {
  const auto program = chain(50, 2).build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  const auto table = UniformTable::build(*program, *result.space, 60, 1 << 20);
  ASSERT_TRUE(table);
  EXPECT_FALSE(UniformTable::build(*program, *result.space, 60, table->memory_bytes() / 2));
  EXPECT_FALSE(UniformTable::build(*program, *result.space, 60, 0));
  bool fits = false;
  for (std::size_t bytes = 0; bytes < (1 << 20); bytes += 512) {
    const auto attempt = UniformTable::build(*program, *result.space, 60, bytes);
    EXPECT_TRUE(attempt || !fits) << bytes;  // once it fits it fits with more
    fits = attempt.has_value();
    EXPECT_TRUE(!fits || attempt->log_weight(StateId{0}, 60) == table->log_weight(StateId{0}, 60));
  }
  EXPECT_TRUE(fits);
}

TEST(UniformTable, KeepsOnlyStatesOnPlansWithinTheHorizon) {
  // A chain to the goal, and one as long that leads away from it and, in one step, back to the start.
  Builder builder(20);
  builder.init(0).goal(5);
  for (std::uint32_t i = 0; i < 5; ++i) builder.action({i}, {i + 1}, {i});
  for (std::uint32_t i = 6; i < 19; ++i) builder.action({i}, {i + 1}, {i}).action({i}, {0}, {i});
  builder.action({0}, {6}, {0});
  const auto program = builder.build();
  const SpaceResult result = Space::enumerate(*program, kAmple);
  EXPECT_EQ(result.space->num_live(), 19U);  // the end of the wrong chain has no way back
  EXPECT_EQ(UniformTable::build(*program, *result.space, 5, 1 << 20)->num_cone_states(), 6U);
  EXPECT_EQ(UniformTable::build(*program, *result.space, 7, 1 << 20)->num_cone_states(), 7U);
  EXPECT_EQ(UniformTable::build(*program, *result.space, 8, 1 << 20)->num_cone_states(), 8U);
  EXPECT_EQ(UniformTable::build(*program, *result.space, 4, 1 << 20)->num_cone_states(), 0U);
}

}  // namespace
}  // namespace metactrl::lookahead::space_test
