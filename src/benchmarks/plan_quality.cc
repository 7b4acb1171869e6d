// Superfluous steps are found by action elimination: linear in the plan for each step, so quadratic; it does not find
// the largest set that can be left out, which is NP-hard, but one that depends on nothing but the plan. Pairs that undo
// one another are looked for by walking on from every state without the step that follows it.
#include "benchmarks/plan_quality.h"

namespace metactrl::benchmarks {

namespace {

constexpr std::size_t kMostSteps = 200;

std::size_t count_superfluous(const Task& task, std::span<const ActionId> plan) {
  std::vector<ActionId> kept(plan.begin(), plan.end());
  std::vector<ActionId> rest;
  State next;
  State before = task.initial_state();  // of step i
  for (std::size_t i = 0; i < kept.size();) {
    rest.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(i));
    State state = before;
    for (std::size_t k = i + 1; k < kept.size(); ++k) {
      if (!task.apply(state, kept[k], next)) continue;
      std::swap(state, next);
      rest.push_back(kept[k]);
    }
    if (task.is_goal(state)) {
      kept.swap(rest);
      continue;
    }
    if (!task.apply(before, kept[i], next)) return plan.size() - kept.size();  // cannot be: the plan is valid
    std::swap(before, next);
    ++i;
  }
  return plan.size() - kept.size();
}

std::vector<std::pair<std::size_t, std::size_t>> find_undone(const Task& task, std::span<const ActionId> plan,
                                                             const std::vector<State>& states) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::vector<bool> paired(plan.size(), false);
  State next;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (paired[i] || states[i + 1] == states[i]) continue;  // a step that changes nothing does nothing to be undone
    State state = states[i];
    for (std::size_t j = i + 1; j < plan.size(); ++j) {
      if (!paired[j] && state == states[j + 1]) {
        paired[i] = paired[j] = true;
        out.emplace_back(i + 1, j + 1);
        break;
      }
      if (!task.apply(state, plan[j], next)) break;  // it needs what step i did
      std::swap(state, next);
      if (state == states[j + 1]) break;  // it makes no difference any more whether step i was taken
    }
  }
  return out;
}

}  // namespace

std::optional<PlanQuality> plan_quality(const Task& task, std::span<const ActionId> plan) {
  if (plan.size() > kMostSteps) return std::nullopt;
  std::vector<State> states = {task.initial_state()};
  for (const ActionId action : plan) {
    std::optional<State> next = task.apply(states.back(), action);
    if (!next) return std::nullopt;
    states.push_back(*std::move(next));
  }
  if (!task.is_goal(states.back())) return std::nullopt;
  return PlanQuality{count_superfluous(task, plan), find_undone(task, plan, states)};
}

}  // namespace metactrl::benchmarks
