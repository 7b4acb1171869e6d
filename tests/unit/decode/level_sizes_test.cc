// The sizes of two levels, counted once more by brute force.
#include "decode/level_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/space.h"
#include "metactrl/constraint.h"
#include "metactrl/domain.h"
#include "support/planner_setting.h"

namespace metactrl::level_sizes_test {
namespace {

using lookahead::Space;
using lookahead::StateId;

constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";

Task lamps() {
  return load_pddl_text(kDomain,
                        "(define (problem p) (:domain lamps) (:objects a b ab - lamp) (:init (power)) "
                        "(:goal (and (lit a) (not (lit b)) (lit ab))))");
}

TEST(LevelSizes, EqualCountingPairs) {
  for (const char* format : {"pddl", "json", "sentences"}) {
    const Task task = lamps();
    const auto constraint = Constraint::compile(task, PlanFormat::builtin(format), testing::vocabulary(), {});
    const TokenAutomaton& automaton = constraint->automaton();
    const decode::LevelSizes sizes = decode::measure_levels(automaton, task.program(), {});
    const auto space = Space::enumerate(task.program(), {}).space;
    ASSERT_TRUE(space);
    std::set<std::pair<std::uint32_t, std::vector<TokenId>>> prefixes;  // a group, and what was read of an entry
    std::set<std::pair<std::uint32_t, std::pair<std::uint32_t, std::vector<TokenId>>>> pairs;
    for (std::uint32_t group = 0; group < automaton.num_groups(); ++group) {
      for (std::uint32_t rank = automaton.group(group).first; rank < automaton.group(group).second; ++rank) {
        std::vector<TokenId> read;
        for (const TokenId token : automaton.tokens(rank)) {
          read.push_back(token);
          prefixes.insert({group, read});
        }
      }
      for (std::uint32_t s = 0; s < space->num_live(); ++s) {
        const StateId id{s};
        pairs.insert({s, {group, {}}});
        for (std::size_t i = 0; i < space->targets(id).size(); ++i) {
          const StateId target = space->targets(id)[i];
          for (std::uint32_t rank = automaton.group(group).first; rank < automaton.group(group).second; ++rank) {
            const TokenAutomaton::Entry& entry = automaton.entry(rank);
            if (entry.action != space->actions(id)[i]) continue;
            const bool closes = entry.next == TokenAutomaton::kClose;
            if (closes ? !space->is_goal(target) : space->targets(target).empty()) continue;
            std::vector<TokenId> read;
            for (const TokenId token : automaton.tokens(rank).first(automaton.tokens(rank).size() - 1)) {
              read.push_back(token);
              pairs.insert({s, {group, read}});
            }
          }
        }
      }
    }
    EXPECT_EQ(sizes.syntax_edges, static_cast<double>(prefixes.size())) << format;
    EXPECT_EQ(sizes.joint_states, static_cast<double>(pairs.size())) << format;
    EXPECT_EQ(sizes.semantic_states, static_cast<double>(space->num_states())) << format;
    EXPECT_TRUE(sizes.exact);
    EXPECT_LE(sizes.joint_states, (sizes.syntax_states + 1) * sizes.semantic_states) << format;
  }
}

TEST(LevelSizes, SmallBudgetsAreSaid) {
  const Task task = lamps();
  const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), testing::vocabulary(), {});
  Budget budget;
  budget.states = 2;
  EXPECT_FALSE(decode::measure_levels(constraint->automaton(), task.program(), budget).exact);
}

TEST(LevelSizes, CostsByTheFormula) {
  decode::LevelSizes sizes;
  sizes.syntax_states = 10;
  sizes.syntax_edges = 20;
  sizes.tokens_per_action = 5;
  sizes.semantic_states = 100;
  sizes.semantic_edges = 300;
  const decode::LevelCosts costs = decode::level_costs(sizes, 4, 2);
  EXPECT_EQ(costs.one.states, 1000);
  EXPECT_EQ(costs.two.states, 110);
  EXPECT_EQ(costs.one.dp_bytes, 20 * 1000 * 2 * 4);
  EXPECT_EQ(costs.two.dp_bytes, (20 * 10 + 4 * 100) * 2 * 4);
  EXPECT_EQ(costs.one.operations, 20 * 20 * 100 * 4);
  EXPECT_EQ(costs.two.operations, (20 * 20 + 4 * 300) * 4);
}

}  // namespace
}  // namespace metactrl::level_sizes_test
