// The engine and the reference interpreter side by side on one task: random plans that both take, shortest plans by brute
// force over the interpreter's states.
#ifndef METACTRL_TESTS_SUPPORT_ENGINE_AND_INTERPRETER_H_
#define METACTRL_TESTS_SUPPORT_ENGINE_AND_INTERPRETER_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "support/random.h"
#include "task/program.h"

namespace metactrl::testing {

// A text as both read it.
struct Loaded {
  std::shared_ptr<const pddl::Ast> ast{};  // none where it is refused
  std::string refused{};                   // why
  std::optional<Task> task{};              // none, too, where a number grows without end
};
inline Loaded load_both(const std::string& domain, const std::string& problem) {
  Loaded out;
  Diagnostics diagnostics;
  auto ast = std::make_shared<const pddl::Ast>(pddl::parse({"domain", domain}, {"problem", problem}, diagnostics));
  if (diagnostics.has_errors()) {
    out.refused = InputError(diagnostics).what();
    return out;
  }
  out.ast = std::move(ast);
  try {
    out.task = load_pddl_text(domain, problem);
  } catch (const TaskTooLarge&) {
    return out;
  }
  return out;
}

// A random plan of at most `steps` actions, as far as it goes. Before each of them both must know the same legal actions,
// and agree on the goal.
inline std::vector<PlanStep> walk_both(const Task& task, const pddl::LiftedInterpreter& interpreter, int steps,
                                       Random& random) {
  State state = task.initial_state();
  pddl::Facts facts = interpreter.initial();
  std::vector<PlanStep> plan;
  for (int step = 0; step < steps; ++step) {
    EXPECT_EQ(task.is_goal(state), interpreter.goal_holds(facts)) << "after " << step << " steps";
    const std::vector<ActionId> actions = task.applicable_actions(state);
    std::set<std::string> found;
    for (const ActionId action : actions) found.insert(task.text(action));
    std::set<std::string> legal;
    for (const auto& [instance, next] : interpreter.successors(facts)) {
      legal.insert(to_string(interpreter.step(instance)));
    }
    EXPECT_EQ(found, legal) << "after " << step << " steps";
    if (actions.empty() || ::testing::Test::HasFailure()) break;
    const ActionId action = random.pick(actions);
    std::string problem;
    plan.push_back(task.step(action));
    facts = interpreter.apply(facts, *interpreter.resolve(plan.back(), problem));
    state = *task.apply(state, action);
  }
  return plan;
}

// The length of a shortest plan by breadth-first search over the interpreter's states; -1: none; nothing: too many.
inline std::optional<int> shortest_interpreted(const pddl::LiftedInterpreter& interpreter, std::size_t max_states) {
  const auto key = [](const pddl::Facts& facts) {
    return std::make_tuple(pddl::LiftedInterpreter::sorted(facts), facts.values, facts.now, facts.hosts);
  };
  std::deque<std::pair<pddl::Facts, int>> queue = {{interpreter.initial(), 0}};
  std::set<decltype(key(queue[0].first))> seen = {key(queue[0].first)};
  for (; !queue.empty(); queue.pop_front()) {
    const auto& [facts, depth] = queue.front();
    if (interpreter.goal_holds(facts)) return depth;
    for (auto& [instance, next] : interpreter.successors(facts)) {
      if (!seen.insert(key(next)).second) continue;
      if (seen.size() > max_states) return std::nullopt;
      queue.emplace_back(std::move(next), depth + 1);
    }
  }
  return -1;
}

// The lookahead's verdict and plan are those of brute force.
inline void expect_shortest(const Task& task, int shortest) {
  LookaheadOptions options;
  options.horizon = 100;
  const auto lookahead = Lookahead::compile(task, options);
  // Where actions may take other durations, that these lead nowhere proves nothing.
  const bool open = shortest < 0 && !task.program().definition().other_durations.empty();
  if (open && lookahead->verdict() == Verdict::kUndecided) return;
  ASSERT_EQ(lookahead->verdict(), shortest < 0 ? Verdict::kInfeasible : Verdict::kSolvable) << lookahead->reason();
  if (shortest < 0) return;
  const std::vector<ActionId>& plan = lookahead->plan();
  ASSERT_EQ(plan.size(), static_cast<std::size_t>(shortest));
  ASSERT_TRUE(task.validate(plan).valid) << task.validate(plan).reason;
}

// How many tasks brute force could decide, and what it found.
struct Decided {
  std::size_t all = 0;
  std::size_t solvable = 0;
  std::size_t longer = 0;  // than one action

  // One more, where it is small enough; the lookahead must agree.
  void add(const Task& task, const pddl::LiftedInterpreter& interpreter) {
    const std::optional<int> shortest = shortest_interpreted(interpreter, 400);
    if (!shortest) return;
    ++all;
    expect_shortest(task, *shortest);
    solvable += *shortest >= 0 ? 1 : 0;
    longer += *shortest > 1 ? 1 : 0;
  }
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_ENGINE_AND_INTERPRETER_H_
