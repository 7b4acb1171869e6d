// Goals that are written under certification can be reached: on small random tasks, with random and hostile models, every goal
// is compared with brute force over the reachable states; and what is written while judging late is what would be written if
// every condition were judged beforehand.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "decode/choose.h"
#include "goals/items.h"
#include "goals/writer.h"
#include "metactrl/goal.h"
#include "pddl/ground.h"
#include "pddl/parse.h"
#include "support/planner_setting.h"
#include "support/random_pddl.h"
#include "support/repeats.h"
#include "task/program.h"

namespace metactrl::goal_property_test {
namespace {

constexpr std::size_t kMostStates = 3000;

// Nothing: too many states to know.
std::optional<bool> brute_force(const Task& task) {
  if (task.initially_violated()) return false;
  std::set<std::vector<std::uint64_t>> seen;
  std::deque<State> open = {task.initial_state()};
  const auto key = [](const State& state) {
    return std::vector<std::uint64_t>(state.words().begin(), state.words().end());
  };
  seen.insert(key(open.front()));
  while (!open.empty()) {
    const State state = open.front();
    open.pop_front();
    if (task.is_goal(state)) return true;
    if (seen.size() > kMostStates) return std::nullopt;
    for (const ActionId action : task.applicable_actions(state)) {
      const State next = *task.apply(state, action);
      if (seen.insert(key(next)).second) open.push_back(next);
    }
  }
  return false;
}

GoalProblem::Options long_horizon() {
  GoalProblem::Options options;
  options.lookahead.horizon = 100'000;
  options.max_conditions = 4;
  return options;
}

struct Counts {
  std::size_t goals = 0;
  std::size_t refused = 0;
};

void check(const testing::PddlText& text, const testing::Setting& setting, Guidance guidance, Counts& counts) {
  const GoalProblem problem = GoalProblem::parse(text.domain, text.problem);
  GoalProblem::Options options = long_horizon();
  options.guidance = guidance;
  const GoalProblem::Written written = problem.write("do not", *setting.model, setting.words, options);
  for (const GoalProblem::Goal& goal : written.goals) {
    const std::optional<bool> reachable = brute_force(problem.task(goal.pddl));
    if (!reachable) continue;
    ++counts.goals;
    EXPECT_TRUE(*reachable) << goal.pddl;
  }
  for (const GoalProblem::Refused& refused : written.refused) {
    if (refused.reason != "cannot be reached") continue;
    const std::optional<bool> reachable = brute_force(problem.task(refused.condition));
    if (!reachable) continue;
    ++counts.refused;
    EXPECT_FALSE(*reachable) << refused.condition;
  }
}

TEST(GoalProperty, WhatIsWrittenCanBeReachedAndWhatIsRefusedCannot) {
  Counts counts;
  for (std::uint64_t seed = 0; seed < testing::repeats(60); ++seed) {
    SCOPED_TRACE(seed);
    const testing::PddlText text = testing::random_pddl(seed);
    check(text, testing::random_setting(seed), Guidance::kMask, counts);
    check(text, testing::hostile_setting(seed), Guidance::kMask, counts);
    check(text, testing::hostile_setting(seed), Guidance::kUniform, counts);
  }
  EXPECT_GE(counts.goals, testing::repeats(60));
  EXPECT_GE(counts.refused, testing::repeats(10));
}

// The same with every item judged before it is offered, one token after the other, each with a session of its own.
std::vector<ActionId> write_eagerly(const goals::ItemSet& items, const TokenAutomaton& automaton, LanguageModel& model,
                                    const std::vector<TokenId>& prompt, std::size_t max_items,
                                    const goals::Writer::Judge& judge) {
  std::vector<ActionId> goal;
  std::vector<TokenId> tokens(automaton.opening().begin(), automaton.opening().end());
  std::uint32_t group = automaton.first_group();
  const auto good = [&](const std::vector<ActionId>& before, ActionId item) {
    if (std::find(before.begin(), before.end(), item) != before.end()) return false;
    const std::optional<ActionId> opposite = items.item(item).opposite;
    if (opposite && std::find(before.begin(), before.end(), *opposite) != before.end()) return false;
    std::vector<ActionId> all = before;
    all.push_back(item);
    return judge(all);
  };
  while (true) {
    std::vector<std::uint32_t> live;
    const auto [begin, end] = automaton.group(group);
    for (std::uint32_t rank = begin; rank < end; ++rank) {
      const TokenAutomaton::Entry entry = automaton.entry(rank);
      if (!good(goal, entry.action)) continue;
      std::vector<ActionId> all = goal;
      all.push_back(entry.action);
      bool may_follow = false;
      for (std::uint32_t i = 0; i < items.size() && all.size() < max_items && !may_follow; ++i) {
        may_follow = good(all, ActionId{i});
      }
      if (entry.next == TokenAutomaton::kClose || may_follow) live.push_back(rank);
    }
    if (live.empty()) return goal;
    for (std::size_t depth = 0;; ++depth) {
      if (live.size() == 1 && automaton.tokens(live[0]).size() == depth) break;
      std::set<TokenId> next;
      for (const std::uint32_t rank : live) next.insert(automaton.tokens(rank)[depth]);
      TokenId best = *next.begin();
      if (next.size() > 1) {
        std::vector<TokenId> all = prompt;
        all.insert(all.end(), tokens.begin(), tokens.end());
        const std::unique_ptr<Session> session = model.start(all);
        const std::span<const float> logits = session->logits();
        const auto worth = [&](TokenId token) { return decode::sane_logit(logits[static_cast<std::size_t>(token)]); };
        for (const TokenId token : next) best = worth(token) > worth(best) ? token : best;
      }
      std::erase_if(live, [&](std::uint32_t rank) { return automaton.tokens(rank)[depth] != best; });
      tokens.push_back(best);
    }
    const TokenAutomaton::Entry entry = automaton.entry(live[0]);
    goal.push_back(entry.action);
    if (entry.next == TokenAutomaton::kClose) return goal;
    group = automaton.group_after(entry.next);
  }
}

TEST(GoalProperty, JudgingLateWritesWhatJudgingBeforehandWouldWrite) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 40 && compared < 25; ++seed) {
    SCOPED_TRACE(seed);
    const testing::PddlText text = testing::random_pddl(seed, {2, 2, false});
    const GoalProblem problem = GoalProblem::parse(text.domain, text.problem);
    Diagnostics diagnostics;
    const pddl::Ast ast = pddl::parse({"domain", text.domain}, {"problem", problem.problem_text("(and)")}, diagnostics);
    internal::Meter meter;
    const goals::ItemSet items(ast, pddl::ground(ast, {100'000, 100'000}, meter), {150}, meter);
    if (items.size() == 0 || items.size() > 150) continue;
    const testing::Setting setting = testing::random_setting(seed);
    const PlanSpelling spelling(items.format(), items.task());
    const auto automaton = TokenAutomaton::compile(spelling, *setting.words, {"", 3, Tokenization::kCanonical});
    std::map<std::set<ActionId>, bool> known;
    bool decided = true;
    const goals::Writer::Judge judge = [&](const std::vector<ActionId>& all) {
      const auto [place, is_new] = known.try_emplace({all.begin(), all.end()}, false);
      if (!is_new) return place->second;
      std::string goal = "(and";
      for (const ActionId item : all) goal += " " + items.text(item);
      const std::optional<bool> reachable = brute_force(problem.task(goal + ")"));
      decided = decided && reachable;
      place->second = reachable.value_or(false);
      return place->second;
    };
    const std::vector<TokenId> prompt = setting.words->encode("go", "");
    const std::vector<ActionId> eager = write_eagerly(items, *automaton, *setting.model, prompt, 2, judge);
    const std::unique_ptr<Session> session = setting.model->start(prompt);
    const Stop stop;
    goals::Writer::Options one_goal_of_two;
    one_goal_of_two.width = 1;
    one_goal_of_two.max_items = 2;
    one_goal_of_two.impossible = [&](ActionId item) { return items.item(item).impossible; };
    one_goal_of_two.opposite = [&](ActionId item) { return items.item(item).opposite; };
    goals::Writer writer(*automaton, *session, judge, one_goal_of_two, stop);
    const std::vector<goals::Writer::Hypothesis> late = writer.run();
    if (!decided) continue;
    ++compared;
    ASSERT_EQ(late.empty(), eager.empty());
    if (!late.empty()) {
      EXPECT_EQ(late[0].items, eager);
    }
  }
  EXPECT_GE(compared, 10U);
}

}  // namespace
}  // namespace metactrl::goal_property_test
