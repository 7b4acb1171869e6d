#include "task/action_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random_definition.h"

namespace metactrl::task::action_table_test {
namespace {

Formula fact(std::uint32_t number) { return Formula::literal(FactId{number}, false); }
Formula no(std::uint32_t number) { return Formula::literal(FactId{number}, true); }

Formula some_of(std::vector<Formula> parts, std::uint32_t count) {
  Formula result = make_at_least(count, std::move(parts));
  EXPECT_EQ(result.kind, Formula::Kind::kAtLeast);
  return result;
}

// One of each kind of condition, as precondition and as condition of an effect.
std::vector<ActionDefinition> some_actions() {
  std::vector<ActionDefinition> result;
  const std::vector<Formula> conditions{Formula::constant(true),
                                        Formula::constant(false),
                                        fact(3),
                                        no(3),
                                        make_and({fact(1), no(2), fact(0)}),
                                        make_or({fact(1), no(2)}),
                                        make_and({fact(1), make_or({fact(2), fact(4)})}),
                                        some_of({fact(1), fact(2), no(3)}, 2)};
  for (const Formula& condition : conditions) {
    const auto number = static_cast<std::uint32_t>(result.size());
    ActionDefinition action;
    action.symbol = {ActionNameId{number % 3}, std::vector<ObjectId>(number % 4, ObjectId{number})};
    action.precondition = condition;
    action.effects.push_back({Formula::constant(true), {FactId{number}, FactId{0}}, {FactId{5}}});
    if (number % 2 == 0) action.effects.push_back({condition, {}, {FactId{1}, FactId{2}}});
    if (number == 3) action.effects.clear();
    action.cost = 0.5 * number;
    result.push_back(std::move(action));
  }
  return result;
}

ActionTable table_of(const std::vector<ActionDefinition>& actions) {
  ActionTable table;
  for (const ActionDefinition& action : actions) table.push_back(action);
  return table;
}

void expect_equal(const ActionTable& table, const std::vector<ActionDefinition>& actions) {
  ASSERT_EQ(table.size(), actions.size());
  for (const ActionId a : table.all()) EXPECT_EQ(table[a], actions[index(a)]) << index(a);
}

TEST(ActionTable, GivesBackWhatWasPutIn) {
  const std::vector<ActionDefinition> actions = some_actions();
  const ActionTable table = table_of(actions);
  expect_equal(table, actions);
  for (const ActionId a : table.all()) {
    const ActionDefinition& action = actions[index(a)];
    EXPECT_EQ(table.symbol(a), action.symbol);
    EXPECT_EQ(table.cost(a), action.cost);
    EXPECT_EQ(table.precondition(a).is_true(), action.precondition.is_true());
    EXPECT_EQ(table.precondition(a).is_false(), action.precondition.is_false());
    EXPECT_EQ(table.effects(a).size(), action.effects.size());
  }
}

TEST(ActionTable, AConjunctionOfLiteralsIsAList) {
  const std::vector<ActionDefinition> actions = some_actions();
  const ActionTable table = table_of(actions);
  std::size_t lists = 0;
  for (const ActionId a : table.all()) lists += table.precondition(a).other == nullptr ? 1 : 0;
  EXPECT_EQ(lists, 4U);
}

TEST(ActionTable, WhatIsChangedChangesNothingElse) {
  std::vector<ActionDefinition> actions = some_actions();
  ActionTable table = table_of(actions);
  for (const ActionId a : table.all()) {
    const auto change = [&](ActionDefinition& action) {
      action.effects.push_back({fact(7), {FactId{8}}, {FactId{9}}});
      action.precondition = make_and({std::move(action.precondition), no(6)});
      action.symbol.arguments.push_back(ObjectId{1});
    };
    table.change(a, change);
    change(actions[index(a)]);
    expect_equal(table, actions);
  }
  table.move(ActionId{6}, ActionId{1});
  table.truncate(2);
  expect_equal(table, {actions[0], actions[6]});
}

TEST(ActionTable, CopiesAreApart) {
  const std::vector<ActionDefinition> actions = some_actions();
  const ActionTable table = table_of(actions);
  ActionTable other = table;
  other.change(ActionId{0}, [](ActionDefinition& action) { action.cost = 7; });
  for (ActionTable::Effect& effect : other.effects(ActionId{1})) {
    for (FactId& added : other.facts(effect.add)) added = FactId{11};
  }
  expect_equal(table, actions);
  EXPECT_EQ(other.cost(ActionId{0}), 7);
  EXPECT_EQ(other[ActionId{1}].effects[0].add, (std::vector<FactId>(2, FactId{11})));
}

TEST(ActionTable, HoldsActionsOfRandomTasks) {
  std::size_t trees = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Definition definition = testing::random_definition(seed);
    ActionTable again;
    again.reserve({definition.actions.size(), 1, 1, 1, 1});
    for (const ActionId a : definition.actions.all()) again.push_back(definition.actions[a]);
    for (const ActionId a : definition.actions.all()) {
      ASSERT_EQ(again[a], definition.actions[a]) << "seed " << seed;
      trees += again.precondition(a).other != nullptr ? 1 : 0;
    }
  }
  EXPECT_GT(trees, 100U);
}

}  // namespace
}  // namespace metactrl::task::action_table_test
