// Judging a plan: names and types, preconditions, trajectory constraints, the goal.
//
// Trajectory constraints. For the states S0 .. Sn of a plan (PDDL 3; Gerevini and Long 2005):
//
//     (always c)              c holds in every Si
//     (sometime c)            c holds in some Si
//     (at-most-once c)        whenever c holds in Si there is j >= i such that c holds in Si .. Sj and in none after Sj
//     (sometime-after c d)    whenever c holds in Si, d holds in some Sj with j >= i
//     (sometime-before c d)   whenever c holds in Si, d holds in some Sj with j < i
//     (actions-in-order ...)  there are steps k1 < k2 < ... of the plan such that the action at ki is one of
//                             alternatives i
//
// Where actions take time, or something happens by itself, the states are those between the points, also those within an
// action. `satisfied` is these lines. The first, third and fifth, once false for a prefix, are false for every longer one, so a
// plan breaks them at a definite step, and that step is not legal. The others may be fulfilled later and are part of
// the goal.
#include <algorithm>
#include <numeric>

#include "pddl/interpret.h"
#include "support/list_some.h"
#include "support/lower_case.h"
#include "support/nearest_name.h"
#include "support/remembered_name.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::lower_case;
using internal::str_cat;

namespace {

template <typename Map>
std::string hint(const std::string& name, const Map& known) {
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const auto& entry : known) names.push_back(entry.first);
  const std::string guess = internal::did_you_mean(name, names);
  return guess.empty() ? guess : "; " + guess;
}

// The top-level conjuncts.
void collect_conjuncts(const Condition& condition, std::vector<const Condition*>& out) {
  if (condition.kind != Condition::Kind::kAnd) {
    out.push_back(&condition);
    return;
  }
  for (const Condition& child : condition.children) collect_conjuncts(child, out);
}

}  // namespace

std::optional<Instance> LiftedInterpreter::resolve(const PlanStep& step, std::string& problem) const {
  const std::string name = lower_case(step.action);
  const auto found = actions_.find(name);
  if (found == actions_.end()) {
    problem = str_cat("there is no action '", name, "'", hint(name, actions_));
    return std::nullopt;
  }
  const Action& action = ast_->actions[found->second];
  if (step.arguments.size() != action.num_parameters) {
    problem = str_cat("action '", name, "' takes ", action.num_parameters, " arguments, not ", step.arguments.size());
    return std::nullopt;
  }
  Instance instance{found->second, {}};
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const std::string object = lower_case(step.arguments[i]);
    const auto entry = objects_.find(object);
    if (entry == objects_.end()) {
      problem =
          str_cat("argument ", i + 1, " of ", name, ": there is no object '", object, "'", hint(object, objects_));
      return std::nullopt;
    }
    if (!belongs(entry->second, action.variables[to_id<VariableId>(i)].types)) {
      problem = str_cat("argument ", i + 1, " of ", name, ": '", object, "' is not of type ",
                        type_text(action.variables[to_id<VariableId>(i)].types));
      return std::nullopt;
    }
    instance.arguments.push_back(entry->second);
  }
  return instance;
}

// --- trajectory constraints ------------------------------------------------------------------------------------------

std::vector<LiftedInterpreter::Trajectory> LiftedInterpreter::start_trajectories(internal::Meter& meter) const {
  std::vector<Trajectory> trajectories;
  for (const Constraint& constraint : ast_->constraints) {
    Scope scope(constraint.variables, meter);
    for_each_binding(scope, constraint.forall, [&] {
      trajectories.push_back({&constraint, scope.binding, {}, {}});
      meter.hold(trajectories.size() * (sizeof(Trajectory) + sizeof(ObjectId) * scope.binding.size()));
      return true;
    });
  }
  return trajectories;
}

void LiftedInterpreter::record(const FactView& facts, std::vector<Trajectory>& trajectories,
                               internal::Meter& meter) const {
  for (Trajectory& trajectory : trajectories) {
    if (trajectory.constraint->kind == Constraint::Kind::kActionsInOrder) continue;
    Scope scope(trajectory.constraint->variables, meter);
    scope.binding = trajectory.binding;
    trajectory.first.push_back(holds(trajectory.constraint->first, scope, facts));
    trajectory.second.push_back(holds(trajectory.constraint->second, scope, facts));
  }
}

bool LiftedInterpreter::satisfied(const Trajectory& trajectory, std::size_t length) {
  const std::vector<bool>& c = trajectory.first;
  const std::vector<bool>& d = trajectory.second;
  // Does `values` hold somewhere in [from, to)?
  const auto some = [](const std::vector<bool>& values, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (values[i]) return true;
    }
    return false;
  };
  switch (trajectory.constraint->kind) {
    case Constraint::Kind::kAlways:
      return std::all_of(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(length), [](bool value) { return value; });
    case Constraint::Kind::kSometime:
      return some(c, 0, length);
    case Constraint::Kind::kAtMostOnce:
      for (std::size_t i = 0; i < length; ++i) {
        std::size_t end = i;
        while (end < length && c[end]) ++end;
        if (c[i] && some(c, end, length)) return false;
      }
      return true;
    case Constraint::Kind::kSometimeAfter:
      for (std::size_t i = 0; i < length; ++i) {
        if (c[i] && !some(d, i, length)) return false;
      }
      return true;
    case Constraint::Kind::kSometimeBefore:
      for (std::size_t i = 0; i < length; ++i) {
        if (c[i] && !some(d, 0, i)) return false;
      }
      return true;
    case Constraint::Kind::kActionsInOrder:
      return true;  // about actions, not states: happened_in_order
    case Constraint::Kind::kAtEnd:
      return c[length - 1];
  }
  return true;
}

std::optional<std::size_t> LiftedInterpreter::broken_at(const Trajectory& trajectory) {
  const Constraint::Kind kind = trajectory.constraint->kind;
  if (kind != Constraint::Kind::kAlways && kind != Constraint::Kind::kAtMostOnce &&
      kind != Constraint::Kind::kSometimeBefore) {
    return std::nullopt;
  }
  // The shortest prefix that fails, by bisection: all longer ones fail too.
  std::size_t satisfied_length = 0;
  std::size_t length = trajectory.first.size();
  if (satisfied(trajectory, length)) return std::nullopt;
  while (length - satisfied_length > 1) {
    const std::size_t middle = std::midpoint(satisfied_length, length);
    (satisfied(trajectory, middle) ? satisfied_length : length) = middle;
  }
  return length - 1;
}

// Taking each step by the first action that serves it leaves the most room for the rest.
bool LiftedInterpreter::happened_in_order(const Trajectory& trajectory, std::span<const Instance> actions) const {
  const std::vector<std::vector<ActionPattern>>& steps = trajectory.constraint->steps;
  const auto serves = [&](const ActionPattern& pattern, const Instance& action) {
    if (ast_->actions[pattern.action].name != ast_->written_name(action.action)) return false;
    for (std::size_t i = 0; i < pattern.arguments.size(); ++i) {
      if (!pattern.arguments[i]) continue;
      const ObjectId wanted = pattern.arguments[i]->under(trajectory.binding);
      if (wanted != kUnbound && wanted != action.arguments[i]) return false;
    }
    return true;
  };
  std::size_t done = 0;
  for (const Instance& action : actions) {
    if (done == steps.size()) break;
    const auto& alternatives = steps[done];
    if (std::any_of(alternatives.begin(), alternatives.end(), [&](const auto& p) { return serves(p, action); })) ++done;
  }
  return done == steps.size();
}

std::string LiftedInterpreter::trajectory_text(const Trajectory& trajectory) const {
  const Constraint& constraint = *trajectory.constraint;
  return constraint.text + binding_text(constraint.variables, constraint.forall, trajectory.binding);
}

// --- the verdict -----------------------------------------------------------------------------------------------------

std::vector<std::string> LiftedInterpreter::unmet_goals(const FactView& facts, std::span<const Trajectory> trajectories,
                                                        std::span<const Instance> actions,
                                                        internal::Meter& meter) const {
  std::vector<std::string> unmet;
  std::vector<const Condition*> conjuncts;
  collect_conjuncts(ast_->goal.condition, conjuncts);
  for (const Condition* conjunct : conjuncts) {
    Scope scope(ast_->goal.variables, meter);
    if (!holds(*conjunct, scope, facts)) unmet.push_back(text(*conjunct, scope));
  }
  for (const Trajectory& trajectory : trajectories) {
    const bool fulfilled = trajectory.constraint->kind == Constraint::Kind::kActionsInOrder
                               ? happened_in_order(trajectory, actions)
                               : satisfied(trajectory, trajectory.first.size());
    if (!fulfilled) unmet.push_back(trajectory_text(trajectory));
  }
  return unmet;
}

void LiftedInterpreter::judge_end(const FactView& facts, std::span<const Trajectory> trajectories,
                                  std::span<const Instance> actions, internal::Meter& meter, Validation& result) const {
  result.unmet_goals = unmet_goals(facts, trajectories, actions, meter);
  result.valid = result.unmet_goals.empty();
  if (result.valid) return;
  result.reason = "the goal is not reached: " + internal::list_some(result.unmet_goals) +
                  (result.unmet_goals.size() == 1 ? " does not hold at the end" : " do not hold at the end");
}

std::vector<std::string> LiftedInterpreter::initial_facts() const {
  std::vector<std::string> facts;
  for (const GroundAtom& atom : ast_->init) {
    if (!internal::is_remembered_name(ast_->predicates[atom.predicate].name)) facts.push_back(to_string(*ast_, atom));
  }
  for (const FunctionValue& value : ast_->init_values) {
    if (!ast_->functions[value.function].matters) continue;
    facts.push_back(str_cat("(= ", fluent_text({value.function, value.arguments}), ' ', value.exact->text(), ')'));
  }
  return facts;
}

Validation LiftedInterpreter::validate(std::span<const PlanStep> plan, const Stop& stop, std::size_t bytes) const {
  internal::Meter meter(stop, {.bytes = bytes});
  return validate(initial(meter), plan, meter);
}

Validation LiftedInterpreter::validate(Facts facts, std::span<const PlanStep> plan, internal::Meter& meter) const {
  Validation result;
  std::vector<Trajectory> trajectories = start_trajectories(meter);
  record(FactView(facts), trajectories, meter);
  std::vector<Wish> wishes = start_wishes(meter);
  record(FactView(facts), wishes, meter);
  std::vector<Instance> actions;
  States passed;
  const auto record_passed = [&] {
    for (const Facts& state : passed) {
      record(FactView(state), trajectories, meter);
      record(FactView(state), wishes, meter);
    }
    passed.clear();
  };
  std::vector<std::size_t> num_states = {1};  // that there are when so many steps have been taken
  for (const PlanStep& step : plan) {
    std::string problem;
    const std::optional<Instance> instance = resolve(step, problem);
    const FactView view(facts);
    if (instance && !is_simple()) {
      const std::string missing = missing_cost(*instance);
      problem = missing.empty() ? run(facts, *instance, meter).problem
                                : str_cat("its cost ", missing, " has no value in the initial state");
    } else if (instance && !applicable(view, *instance, meter)) {
      const Action& action = ast_->actions[instance->action];
      problem = (action.durative ? "condition at start " : "precondition ") +
                violation(action.precondition, *instance, view, meter);
    } else if (instance) {
      const std::string missing = missing_cost(*instance);
      problem = missing.empty()
                    ? changes(view, *instance, ast_->actions[instance->action].numeric_effects, meter).problem
                    : str_cat("its cost ", missing, " has no value in the initial state");
      if (problem.empty()) problem = later_problem(facts, *instance, meter);
    }
    if (!problem.empty()) {
      result.reason = str_cat("step ", actions.size() + 1, ' ', to_string(step), ": ", problem);
      result.problem = std::move(problem);
      break;
    }
    execute(facts, *instance, meter, watched_ ? &passed : nullptr);
    actions.push_back(*instance);
    num_states.push_back(num_states.back() + passed.size() + 1);
    record_passed();
    record(FactView(facts), trajectories, meter);
    record(FactView(facts), wishes, meter);
  }
  result.steps_executed = actions.size();

  // A constraint that was broken on the way comes before a precondition that failed later.
  std::size_t first_break = actions.size() + 1;
  for (const Trajectory& trajectory : trajectories) {
    const std::optional<std::size_t> state = broken_at(trajectory);
    if (!state) continue;
    const auto step =
        static_cast<std::size_t>(std::upper_bound(num_states.begin(), num_states.end(), *state) - num_states.begin());
    if (step >= first_break) continue;
    first_break = step;
    result.steps_executed = first_break == 0 ? 0 : first_break - 1;
    const std::string breaks = "breaks the constraint " + trajectory_text(trajectory);
    result.problem = first_break == 0 ? "" : breaks;
    result.reason = first_break == 0
                        ? "the initial state " + breaks
                        : str_cat("step ", first_break, ' ', to_string(plan[first_break - 1]), ": ", breaks);
  }
  for (std::size_t i = 0; i < result.steps_executed; ++i) result.cost += cost(actions[i]);
  if (result.reason.empty()) {
    if (!is_simple()) {
      std::string problem;
      std::optional<Facts> last = in_the_end(facts, meter, problem, watched_ ? &passed : nullptr);
      if (!last) {
        result.unmet_goals = {problem};
        result.reason = "behind the last step: " + problem;
        return result;
      }
      record_passed();
      facts = std::move(*last);
      record(FactView(facts), wishes, meter);
    }
    result.preferences = judged(wishes, actions);
    judge_end(FactView(facts), trajectories, actions, meter, result);
  }
  return result;
}

}  // namespace metactrl::pddl
