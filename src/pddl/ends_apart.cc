// A fact says which actions run: the beginning makes it true, the end needs it and makes it false, no action begins while
// it runs itself, and the goal asks that none is left. What happens by itself becomes a chain of actions, each of which
// needs the one before, and the goal asks for the last.
#include "pddl/ends_apart.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pddl/durations.h"
#include "support/str_cat.h"
#include "task/source.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;

Condition atom_condition(Atom atom) {
  Condition out;
  out.kind = Condition::Kind::kAtom;
  out.atom = std::move(atom);
  return out;
}

Condition negation(Condition condition) {
  Condition out;
  out.kind = Condition::Kind::kNot;
  out.children.push_back(std::move(condition));
  return out;
}

Condition all_of(std::vector<Condition> conditions) {
  Condition out;
  out.kind = Condition::Kind::kAnd;
  out.children = std::move(conditions);
  return out;
}

Atom runs(PredicateId predicate, std::uint32_t num_parameters, std::size_t first_variable) {
  Atom out;
  out.predicate = predicate;
  for (std::size_t i = 0; i < num_parameters; ++i) out.arguments.emplace_back(to_id<VariableId>(first_variable + i));
  return out;
}

Effect effect_on(Atom atom, bool add) {
  Effect out;
  out.add = add;
  out.atom = std::move(atom);
  return out;
}

// Whatever its arguments, the action does not run.
Condition none_runs(const Action& action, PredicateId predicate, VariableTable& variables) {
  Condition out;
  out.kind = Condition::Kind::kForall;
  const Atom atom = runs(predicate, action.num_parameters, variables.size());
  for (std::uint32_t i = 0; i < action.num_parameters; ++i) {
    out.bound.push_back(variables.next_id());
    variables.push_back(action.variables[VariableId{i}]);
  }
  out.children.push_back(negation(atom_condition(atom)));
  return out;
}

// Is the condition after the beginning of the action what it was before?
bool untouched(const Ast& ast, const Action& action, const Condition& condition) {
  const auto concerns = [&](const Effect& effect) { return effect.atom.predicate == condition.atom.predicate; };
  if (condition.kind == Condition::Kind::kAtom) {
    return !ast.predicates[condition.atom.predicate].derived &&
           std::none_of(action.effects.begin(), action.effects.end(), concerns);
  }
  if (condition.kind == Condition::Kind::kCompare) return action.numeric_effects.empty();
  return std::all_of(condition.children.begin(), condition.children.end(),
                     [&](const Condition& child) { return untouched(ast, action, child); });
}

// The goal asks for all of it.
void let_happen(const Ast& ast, Ast& out, std::vector<Condition>& goals) {
  std::optional<Atom> last;
  std::size_t count = 0;
  for (auto first = ast.timed.begin(); first != ast.timed.end();) {
    Action action;
    action.name = str_cat(task::kHappens, ++count);
    if (last) action.precondition = atom_condition(*last);
    Atom happened;
    happened.predicate = out.predicates.next_id();
    Predicate predicate;
    predicate.name = action.name;
    out.predicates.push_back(std::move(predicate));
    const std::int64_t time = first->time;
    for (; first != ast.timed.end() && first->time == time; ++first) {
      Atom atom;
      atom.predicate = first->atom.predicate;
      atom.arguments.assign(first->atom.arguments.begin(), first->atom.arguments.end());
      action.effects.push_back(effect_on(std::move(atom), first->add));
    }
    action.effects.push_back(effect_on(happened, true));
    last = std::move(happened);
    out.actions.push_back(std::move(action));
  }
  if (last) goals.push_back(atom_condition(*last));
}

}  // namespace

Ast ends_apart(const Ast& ast, bool over_all) {
  Ast out = ast;
  out.has_durations = false;
  out.has_hosts = false;
  out.has_metric = false;
  out.preferences.clear();
  out.actions.clear();
  std::vector<Condition> goals = {ast.goal.condition};
  for (const Action& action : ast.actions) {
    // Where the duration says nothing but how long it takes, whoever looks for times finds it.
    if (!action.written.empty() && !changes_by_duration(action)) continue;
    Action begin = action;
    begin.costs.clear();
    begin.metric_cost.reset();
    if (!action.durative) {
      out.actions.push_back(std::move(begin));
      continue;
    }
    const PredicateId predicate = out.predicates.next_id();
    Predicate running;
    running.name = "runs " + action.name;
    for (std::uint32_t i = 0; i < action.num_parameters; ++i)
      running.parameters.push_back(action.variables[VariableId{i}]);
    out.predicates.push_back(std::move(running));
    const Atom atom = runs(predicate, action.num_parameters, 0);
    goals.push_back(none_runs(action, predicate, out.goal.variables));

    begin.durative.reset();
    Action end = begin;
    begin.name = std::string(task::kBegin) + action.name;
    begin.effects.push_back(effect_on(atom, true));

    const Durative& durative = *action.durative;
    std::vector<Condition> asks = {action.precondition, negation(atom_condition(atom))};
    if (over_all && untouched(ast, action, durative.over_all)) asks.push_back(durative.over_all);
    begin.precondition = all_of(std::move(asks));

    end.name = std::string(task::kEnd) + action.name;
    std::vector<Condition> needs = {atom_condition(atom), durative.at_end};
    if (over_all) needs.push_back(durative.over_all);
    end.precondition = all_of(std::move(needs));
    end.effects = durative.end_effects;
    end.effects.push_back(effect_on(atom, false));
    end.numeric_effects = durative.end_numeric_effects;
    out.actions.push_back(std::move(begin));
    out.actions.push_back(std::move(end));
  }
  let_happen(ast, out, goals);
  out.timed.clear();
  out.tick = 0;
  out.goal.condition = all_of(std::move(goals));
  return out;
}

}  // namespace metactrl::pddl
