#include "lookahead/goals.h"

#include <algorithm>

#include "lookahead/spending.h"
#include "lookahead/state_table.h"

namespace metactrl::lookahead {

IdVector<GoalId, bool> goals_met_somewhere(const task::Program& program, const Budget& budget, internal::Meter& meter) {
  using task::Word;
  const IdVector<GoalId, bool> unknown(program.num_goals(), true);
  IdVector<GoalId, bool> met(program.num_goals(), false);
  std::vector<Word> state(program.total_words());
  std::vector<Word> successor(program.total_words());
  std::vector<ActionId> actions;
  StateTable table(program.relevant_words());
  Spending spending(budget, meter);
  const std::uint64_t successor_cost = successor_work(program);
  std::uint64_t work = 0;
  const auto note = [&](const Word* words) {
    for (const GoalId goal : met.all()) {
      if (!met[goal]) met[goal] = program.goal_holds(goal, words);
    }
    table.insert(words);
  };
  if (!program.initial(state.data())) return unknown;
  program.project(state.data());
  note(state.data());
  for (std::size_t id = 0; id < table.size(); ++id) {
    if (spending.check(table.size(), table.memory_bytes(), work) != Limit::kNone) return unknown;
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
      note(successor.data());
    }
  }
  return met;
}

}  // namespace metactrl::lookahead
