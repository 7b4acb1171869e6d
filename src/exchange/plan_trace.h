// A plan step by step: what each action needs, what it does and what changes. What the tree and the JSON have in
// common.
#ifndef METACTRL_SRC_EXCHANGE_PLAN_TRACE_H_
#define METACTRL_SRC_EXCHANGE_PLAN_TRACE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "task/definition.h"

namespace metactrl::exchange {

struct TracedStep {
  PlanStep step;
  // Nothing for a step that no reachable state allows, or that is no action at all.
  std::optional<ActionId> action;
  // Executed: all steps up to this one are legal.
  bool legal = false;
  // Its precondition is true but it breaks a trajectory constraint.
  bool breaks_constraint = false;
  // Why not, for the first step that is not legal: "precondition (open box) is false".
  std::string problem;
  // Facts that the action makes true and false, whether or not they were before. Conditional effects count where their
  // condition holds; behind the first illegal step, where nothing is known, they are left out.
  std::vector<std::string> adds;
  std::vector<std::string> deletes;
  // What is different afterwards, derived facts included. Empty unless legal.
  std::vector<std::string> became_true;
  std::vector<std::string> became_false;
};

struct PlanTrace {
  Validation validation;
  std::vector<TracedStep> steps;
  // The state at the end, where all steps are legal.
  std::optional<State> last;
};

// `stop` is asked at every step.
PlanTrace trace_plan(const Task& task, std::span<const PlanStep> plan, const Stop& stop = {});

// The names of an action's parameters, as the domain has them ("x", without the question mark) or "arg1", "arg2".
std::vector<std::string> parameter_names(const Task& task, ActionNameId action);

// The formula without kMatching: a disjunction over all ways to choose the pairs. Throws InputError that names `what`
// when there are more than `limit` of them.
task::Formula without_matching(const task::Formula& formula, std::size_t limit, const std::string& what);

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_PLAN_TRACE_H_
