#include "lookahead/goals.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "lookahead/spending.h"
#include "lookahead/state_table.h"

namespace metactrl::lookahead {

namespace {

using task::Word;

// Every reachable state of the projection; false when the budget ends before they do, or there is none.
bool visit_reachable(const task::Program& program, const Budget& budget, internal::Meter& meter,
                     const std::function<void(const Word*)>& visit) {
  std::vector<Word> state(program.total_words());
  std::vector<Word> successor(program.total_words());
  std::vector<ActionId> actions;
  StateTable table(program.relevant_words());
  Spending spending(budget, meter);
  const std::uint64_t successor_cost = successor_work(program);
  std::uint64_t work = 0;
  if (!program.initial(state.data())) return false;
  program.project(state.data());
  visit(state.data());
  table.insert(state.data());
  for (std::size_t id = 0; id < table.size(); ++id) {
    if (spending.check(table.size(), table.memory_bytes(), work) != Limit::kNone) return false;
    const Word* words = table.words(to_id<StoredId>(id));
    std::fill(state.begin(), state.end(), Word{0});
    std::copy(words, words + program.relevant_words(), state.begin());
    program.complete(state.data());
    actions.clear();
    program.relevant_actions(state.data(), actions);
    work += (actions.size() + 1) * successor_cost;
    for (const ActionId action : actions) {
      if (!program.apply(state.data(), action, successor.data())) continue;
      program.project(successor.data());
      if (table.insert(successor.data()).second) visit(successor.data());
    }
  }
  return true;
}

// A set of goals, by number.
using GoalSet = std::uint64_t;

// Adds a set unless one that is there has all of it; takes out those that it has all of.
void add_largest(std::vector<GoalSet>& sets, GoalSet set) {
  for (const GoalSet other : sets) {
    if ((set & ~other) == 0) return;
  }
  std::erase_if(sets, [&](GoalSet other) { return (other & ~set) == 0; });
  sets.push_back(set);
}

// Extends `chosen` by `more` goals from number `first` on to a set that none of `met` has all of.
bool find_excluded(const std::vector<GoalSet>& met, std::size_t num_goals, std::size_t first, std::size_t more,
                   GoalSet& chosen) {
  if (more == 0) {
    return std::none_of(met.begin(), met.end(), [&](GoalSet set) { return (chosen & ~set) == 0; });
  }
  for (std::size_t goal = first; goal < num_goals; ++goal) {
    chosen |= GoalSet{1} << goal;
    if (find_excluded(met, num_goals, goal + 1, more - 1, chosen)) return true;
    chosen &= ~(GoalSet{1} << goal);
  }
  return false;
}

}  // namespace

IdVector<GoalId, bool> goals_met_somewhere(const task::Program& program, const Budget& budget, internal::Meter& meter) {
  IdVector<GoalId, bool> met(program.num_goals(), false);
  const bool complete = visit_reachable(program, budget, meter, [&](const Word* state) {
    for (const GoalId goal : met.all()) {
      if (!met[goal]) met[goal] = program.goal_holds(goal, state);
    }
  });
  return complete ? met : IdVector<GoalId, bool>(program.num_goals(), true);
}

std::vector<GoalId> smallest_excluded_goals(const task::Program& program, const Budget& budget,
                                            internal::Meter& meter) {
  constexpr std::size_t kMostGoals = 64;
  constexpr std::size_t kLargest = 4;
  const std::size_t num_goals = program.num_goals();
  if (num_goals > kMostGoals) return {};
  std::vector<GoalSet> met;
  const bool complete = visit_reachable(program, budget, meter, [&](const Word* state) {
    GoalSet set = 0;
    for (const GoalId goal : internal::ids<GoalId>(num_goals)) {
      if (program.goal_holds(goal, state)) set |= GoalSet{1} << internal::index(goal);
    }
    add_largest(met, set);
  });
  if (!complete) return {};
  for (std::size_t size = 1; size <= std::min(kLargest, num_goals); ++size) {
    GoalSet chosen = 0;
    if (!find_excluded(met, num_goals, 0, size, chosen)) continue;
    std::vector<GoalId> goals;
    for (; chosen != 0; chosen &= chosen - 1) goals.push_back(internal::to_id<GoalId>(std::countr_zero(chosen)));
    return goals;
  }
  return {};
}

}  // namespace metactrl::lookahead
