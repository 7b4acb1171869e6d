// Every state of a task's projection and the edges between them, by a map over whole states: for comparisons by brute force.
#ifndef METACTRL_TESTS_SUPPORT_PROJECTED_SPACE_H_
#define METACTRL_TESTS_SUPPORT_PROJECTED_SPACE_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "support/ids.h"
#include "task/program.h"

namespace metactrl::testing {

struct ProjectedSpace {
  std::vector<std::vector<task::Word>> states;  // the first one is initial; none when it breaks a constraint
  // Per state: those from which one action leads to it, with that action.
  std::vector<std::vector<std::pair<std::size_t, ActionId>>> predecessors;
};

inline ProjectedSpace enumerate_projection(const task::Program& program) {
  ProjectedSpace space;
  std::vector<task::Word> state(program.total_words());
  if (!program.initial(state.data())) return space;
  program.project(state.data());
  std::map<std::vector<task::Word>, std::size_t> numbers;
  const auto intern = [&](const std::vector<task::Word>& words) {
    const auto [place, fresh] = numbers.emplace(words, numbers.size());
    if (fresh) {
      space.states.push_back(words);
      space.predecessors.emplace_back();
    }
    return place->second;
  };
  intern(state);
  for (std::size_t i = 0; i < space.states.size(); ++i) {
    const std::vector<task::Word> from = space.states[i];
    for (const ActionId action : internal::ids<ActionId>(program.num_actions())) {
      if (!program.action(action).relevant || !program.applicable(from.data(), action)) continue;
      if (!program.apply(from.data(), action, state.data())) continue;
      program.project(state.data());
      space.predecessors[intern(state)].emplace_back(i, action);
    }
  }
  return space;
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_PROJECTED_SPACE_H_
