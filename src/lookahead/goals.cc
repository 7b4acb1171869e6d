#include "lookahead/goals.h"

#include <algorithm>
#include <bit>
#include <cstddef>
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

// Appends `chosen` with `more` of the goals in `rest`, for each choice such that none of `met` has all of them.
void find_unmet(const std::vector<GoalSet>& met, GoalSet rest, std::size_t more, GoalSet chosen,
                std::vector<GoalSet>& out) {
  constexpr std::size_t kMostSets = 500;
  if (more == 0) {
    if (std::none_of(met.begin(), met.end(), [&](GoalSet set) { return (chosen & ~set) == 0; })) out.push_back(chosen);
    return;
  }
  for (; rest != 0 && out.size() < kMostSets; rest &= rest - 1) {
    const GoalSet goal = rest & -rest;
    find_unmet(met, rest & ~goal, more - 1, chosen | goal, out);
  }
}

}  // namespace

std::vector<GoalId> members(GoalSet set) {
  std::vector<GoalId> goals;
  for (; set != 0; set &= set - 1) goals.push_back(internal::to_id<GoalId>(std::countr_zero(set)));
  return goals;
}

void add_largest(std::vector<GoalSet>& sets, GoalSet set) {
  for (const GoalSet other : sets) {
    if ((set & ~other) == 0) return;
  }
  std::erase_if(sets, [&](GoalSet other) { return (other & ~set) == 0; });
  sets.push_back(set);
}

std::vector<GoalSet> smallest_unmet(const std::vector<GoalSet>& met, GoalSet goals) {
  constexpr std::size_t kLargest = 4;
  std::vector<GoalSet> found;
  for (std::size_t size = 1; size <= kLargest && found.empty(); ++size) find_unmet(met, goals, size, 0, found);
  return found;
}

IdVector<GoalId, bool> goals_met_somewhere(const task::Program& program, const Budget& budget, internal::Meter& meter) {
  IdVector<GoalId, bool> met(program.num_goals(), false);
  const bool complete = visit_reachable(program, budget, meter, [&](const Word* state) {
    for (const GoalId goal : met.all()) {
      if (!met[goal]) met[goal] = program.goal_holds(goal, state);
    }
  });
  return complete ? met : IdVector<GoalId, bool>(program.num_goals(), true);
}

std::vector<GoalSet> smallest_excluded_goals(const task::Program& program, const Budget& budget,
                                             internal::Meter& meter) {
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
  const GoalSet all = num_goals == kMostGoals ? ~GoalSet{0} : (GoalSet{1} << num_goals) - 1;
  return smallest_unmet(met, all);
}

}  // namespace metactrl::lookahead
