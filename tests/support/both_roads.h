// The engine and the reference interpreter on the same text, state by state.
#ifndef METACTRL_TESTS_SUPPORT_BOTH_ROADS_H_
#define METACTRL_TESTS_SUPPORT_BOTH_ROADS_H_

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/domain.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "task/program.h"

namespace metactrl::testing {

// Compares legal actions and the goal in the first `max_states` states that breadth-first search meets. Where there are
// more than `max_instances` bindings, it is only asked whether what the engine allows is allowed. Returns how many
// states were compared.
inline std::size_t expect_both_roads_agree(const std::string& domain, const std::string& problem,
                                           std::size_t max_states, double max_instances = 20'000) {
  const Task task = load_pddl_text(domain, problem);
  Diagnostics diagnostics;
  auto ast = std::make_shared<pddl::Ast>(pddl::parse({"domain", domain}, {"problem", problem}, diagnostics));
  double bindings = 0;
  for (const pddl::Action& action : ast->actions) {
    double product = 1;
    for (std::size_t i = 0; i < action.num_parameters; ++i)
      product *=
          static_cast<double>(ast->objects_of(action.variables[internal::to_id<pddl::VariableId>(i)].types).size());
    bindings += product;
  }
  const pddl::LiftedInterpreter interpreter(ast);
  if (task.initially_violated()) return 0;
  std::deque<std::pair<State, pddl::Facts>> nodes = {{task.initial_state(), interpreter.initial()}};
  std::set<std::vector<std::uint64_t>> seen;
  std::size_t compared = 0;
  for (; compared < max_states && !nodes.empty() && !::testing::Test::HasFailure(); ++compared, nodes.pop_front()) {
    const auto& [state, facts] = nodes.front();
    if (ast->constraints.empty()) {
      EXPECT_EQ(task.is_goal(state), interpreter.goal_holds(facts));
    }
    std::set<std::string> found;
    for (const ActionId action : task.applicable_actions(state)) {
      found.insert(task.text(action));
      std::string why;
      const std::optional<pddl::Instance> instance = interpreter.resolve(task.step(action), why);
      EXPECT_TRUE(instance && interpreter.applicable(facts, *instance)) << task.text(action) << " " << why;
      if (!instance) return compared;
      const State next = *task.apply(state, action);
      if (nodes.size() < max_states && seen.emplace(next.words().begin(), next.words().end()).second)
        nodes.emplace_back(next, interpreter.apply(facts, *instance));
    }
    // Where not all values of numbers are followed, actions are missing.
    if (bindings > max_instances || !ast->constraints.empty() || !task.program().definition().cut.empty()) continue;
    std::set<std::string> wanted;
    for (const auto& [instance, next] : interpreter.successors(facts))
      wanted.insert(to_string(interpreter.step(instance)));
    EXPECT_EQ(found, wanted);
  }
  return compared;
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_BOTH_ROADS_H_
