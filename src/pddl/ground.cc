// Grounding, in four steps: relaxed reachability (reach.cc) gives the atoms and actions that can matter; atoms of
// predicates that change are numbered as facts; each action's condition and effects are translated (ground_formula.cc);
// then axioms, goal and trajectory constraints. What reachability leaves in by ignoring negation, task/simplify.cc
// takes out afterwards.
#include "pddl/ground.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "metactrl/domain.h"
#include "pddl/ground_formula.h"
#include "pddl/reach.h"
#include "pddl/strata.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using task::Formula;

class Grounder {
 public:
  Grounder(const Ast& ast, const GroundLimits& limits)
      : ast_(ast), ranges_(ast), reachable_(reach_or_throw(limits)), builder_(reachable_, ranges_, fact_of_atom_) {}

  task::Definition run() {
    result_.name = ast_.problem_name;
    for (const Object& object : ast_.objects) result_.objects.push_back(object.name);
    for (const Predicate& predicate : ast_.predicates) result_.predicate_names.push_back(predicate.name);
    for (const Action& action : ast_.actions) result_.action_names.push_back({action.name, action.num_parameters});
    result_.has_costs = ast_.has_metric || std::any_of(ast_.actions.begin(), ast_.actions.end(),
                                                       [](const Action& action) { return !action.costs.empty(); });
    for (const FunctionValue& value : ast_.init_values) values_[{value.function, value.arguments}] = value.value;
    number_facts();
    ground_actions();
    ground_axioms();
    ground_goal();
    for (const Constraint& constraint : ast_.constraints) ground_constraint(constraint);
    if (diagnostics_.has_errors()) throw InputError(std::move(diagnostics_));
    return std::move(result_);
  }

 private:
  Reachable reach_or_throw(const GroundLimits& limits) {
    try {
      return reach(ast_, ranges_, limits.max_actions, limits.max_atoms);
    } catch (const GroundingLimit& limit) {
      throw TaskTooLarge(ast_.files[1], limit.what(),
                         "use fewer objects, or types and static preconditions that exclude more");
    }
  }

  void number_facts() {
    const std::vector<std::int32_t> layers = strata(ast_);
    fact_of_atom_.assign(reachable_.atoms.size(), FormulaBuilder::kNoFact);
    for (std::uint32_t id = 0; id < reachable_.atoms.size(); ++id) {
      const PredicateId predicate = reachable_.atoms.symbol(id);
      if (reachable_.is_static[predicate]) continue;
      fact_of_atom_[id] = static_cast<std::uint32_t>(result_.facts.size());
      const std::span<const ObjectId> arguments = reachable_.atoms.arguments(id);
      result_.facts.push_back({predicate, {arguments.begin(), arguments.end()}});
      result_.fact_layer.push_back(layers[predicate]);
    }
    result_.init.assign(result_.facts.size(), false);
    for (const GroundAtom& atom : ast_.init) {
      const std::uint32_t fact = fact_of_atom_[*reachable_.atoms.find(atom.predicate, atom.arguments)];
      if (fact != FormulaBuilder::kNoFact) result_.init[fact] = true;
    }
  }

  void ground_actions() {
    std::vector<std::uint32_t> order(reachable_.actions.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      const AtomTable& actions = reachable_.actions;
      if (actions.symbol(x) != actions.symbol(y)) return actions.symbol(x) < actions.symbol(y);
      return std::ranges::lexicographical_compare(actions.arguments(x), actions.arguments(y));
    });
    result_.actions.reserve(order.size());
    for (std::uint32_t id : order) {
      const Action& action = ast_.actions[reachable_.actions.symbol(id)];
      const std::span<const ObjectId> arguments = reachable_.actions.arguments(id);
      Binding binding(action.variables.size(), kUnbound);
      std::copy(arguments.begin(), arguments.end(), binding.begin());
      task::ActionDefinition ground;
      ground.precondition = builder_.build(action.variables, action.precondition, binding);
      if (ground.precondition.is_false()) continue;
      ground.symbol = {reachable_.actions.symbol(id), {arguments.begin(), arguments.end()}};
      ground.effects = ground_effects(action, binding);
      ground.cost = cost(action, binding);
      result_.actions.push_back(std::move(ground));
    }
  }

  std::vector<task::EffectDefinition> ground_effects(const Action& action, Binding& binding) {
    std::vector<task::EffectDefinition> result;
    task::EffectDefinition always;
    const auto instantiate = [&](const Effect& effect) {
      const std::uint32_t fact = builder_.fact(effect.atom, binding);
      if (fact == FormulaBuilder::kNoFact) return;  // deletes what can never be true
      Formula when = builder_.build(action.variables, effect.when, binding);
      if (when.is_false()) return;
      if (when.is_true()) {
        (effect.add ? always.add : always.del).push_back(fact);
        return;
      }
      task::EffectDefinition conditional;
      conditional.when = std::move(when);
      (effect.add ? conditional.add : conditional.del).push_back(fact);
      result.push_back(std::move(conditional));
    };
    for (const Effect& effect : action.effects) {
      if (effect.forall.empty()) {
        instantiate(effect);
        continue;
      }
      for (const std::vector<ObjectId>& objects :
           builder_.bindings(action.variables, effect.forall, effect.when, false, &effect.atom, binding)) {
        for (std::size_t i = 0; i < objects.size(); ++i) binding[effect.forall[i]] = objects[i];
        instantiate(effect);
        for (VariableId variable : effect.forall) binding[variable] = kUnbound;
      }
    }
    if (!always.add.empty() || !always.del.empty()) {
      always.when = Formula::constant(true);
      result.insert(result.begin(), std::move(always));
    }
    return result;
  }

  double cost(const Action& action, const Binding& binding) {
    if (!result_.has_costs) return 1;
    double sum = 0;
    for (const CostTerm& term : action.costs) {
      sum += term.constant;
      if (!term.function) continue;
      std::vector<ObjectId> arguments;
      for (const Term& t : term.arguments) arguments.push_back(t.is_variable ? binding[t.index] : t.index);
      const auto value = values_.find({*term.function, arguments});
      if (value != values_.end()) {
        sum += value->second;
        continue;
      }
      std::string text = "(" + ast_.functions[*term.function].name;
      for (ObjectId object : arguments) text += " " + ast_.objects[object].name;
      diagnostics_.error({ast_.files[0], action.where.line, action.where.column},
                         str_cat("the cost of action '", action.name, "' needs ", text, "), which has no value"),
                         str_cat("add (= ", text, ") VALUE) to the problem's (:init ...)"));
    }
    return sum;
  }

  void ground_axioms() {
    for (const Axiom& axiom : ast_.axioms) {
      for (std::uint32_t id : reachable_.index.with_predicate(axiom.head)) {
        const std::span<const ObjectId> arguments = reachable_.atoms.arguments(id);
        Binding binding(axiom.variables.size(), kUnbound);
        bool fits = true;
        for (std::size_t p = 0; p < arguments.size(); ++p) {
          fits = fits && ranges_.of(axiom.variables[p]).contains[arguments[p]];
          binding[p] = arguments[p];
        }
        if (!fits) continue;
        Formula body = builder_.build(axiom.variables, axiom.body, binding);
        if (!body.is_false()) result_.axioms.push_back({fact_of_atom_[id], std::move(body)});
      }
    }
  }

  void ground_goal() { add_goals(ast_.goal.condition); }

  void add_goals(const Condition& condition) {
    if (condition.kind == Condition::Kind::kAnd) {
      for (const Condition& child : condition.children) add_goals(child);
      return;
    }
    if (condition.kind == Condition::Kind::kTrue) return;
    Binding binding(ast_.goal.variables.size(), kUnbound);
    result_.goals.push_back(
        {builder_.build(ast_.goal.variables, condition, binding), to_string(ast_, ast_.goal.variables, condition)});
  }

  void ground_constraint(const Constraint& constraint) {
    Binding binding(constraint.variables.size(), kUnbound);
    const Condition anything;  // kTrue: every binding of the quantified variables
    for (const std::vector<ObjectId>& objects :
         builder_.bindings(constraint.variables, constraint.forall, anything, false, nullptr, binding)) {
      task::MonitorDefinition monitor;
      monitor.text = constraint.text;
      for (std::size_t i = 0; i < objects.size(); ++i) {
        binding[constraint.forall[i]] = objects[i];
        monitor.text += str_cat(i == 0 ? " with " : ", ", constraint.variables[constraint.forall[i]].name, " = ",
                                ast_.objects[objects[i]].name);
      }
      monitor.kind = static_cast<task::MonitorDefinition::Kind>(constraint.kind);
      monitor.first = builder_.build(constraint.variables, constraint.first, binding);
      monitor.second = builder_.build(constraint.variables, constraint.second, binding);
      for (const std::vector<ActionPattern>& step : constraint.steps) {
        monitor.steps.push_back(matching_actions(step, binding));
      }
      result_.monitors.push_back(std::move(monitor));
      for (VariableId variable : constraint.forall) binding[variable] = kUnbound;
    }
  }

  std::vector<std::uint32_t> matching_actions(const std::vector<ActionPattern>& patterns, const Binding& binding) {
    const auto matches = [&](const task::Symbol& symbol, const ActionPattern& pattern) {
      if (symbol.name != pattern.action) return false;
      for (std::size_t p = 0; p < pattern.arguments.size(); ++p) {
        if (!pattern.arguments[p]) continue;
        const Term& term = *pattern.arguments[p];
        if (symbol.arguments[p] != (term.is_variable ? binding[term.index] : term.index)) return false;
      }
      return true;
    };
    std::vector<std::uint32_t> result;
    for (std::uint32_t a = 0; a < result_.actions.size(); ++a) {
      const task::Symbol& symbol = result_.actions[a].symbol;
      if (std::any_of(patterns.begin(), patterns.end(),
                      [&](const ActionPattern& pattern) { return matches(symbol, pattern); })) {
        result.push_back(a);
      }
    }
    return result;
  }

  const Ast& ast_;
  RangeTable ranges_;
  Reachable reachable_;
  std::vector<std::uint32_t> fact_of_atom_;
  FormulaBuilder builder_;
  std::map<std::pair<FunctionId, std::vector<ObjectId>>, double> values_;
  Diagnostics diagnostics_;
  task::Definition result_;
};

static_assert(static_cast<int>(Constraint::Kind::kAlways) == static_cast<int>(task::MonitorDefinition::Kind::kAlways));
static_assert(static_cast<int>(Constraint::Kind::kSometime) ==
              static_cast<int>(task::MonitorDefinition::Kind::kSometime));
static_assert(static_cast<int>(Constraint::Kind::kAtMostOnce) ==
              static_cast<int>(task::MonitorDefinition::Kind::kAtMostOnce));
static_assert(static_cast<int>(Constraint::Kind::kSometimeAfter) ==
              static_cast<int>(task::MonitorDefinition::Kind::kSometimeAfter));
static_assert(static_cast<int>(Constraint::Kind::kSometimeBefore) ==
              static_cast<int>(task::MonitorDefinition::Kind::kSometimeBefore));
static_assert(static_cast<int>(Constraint::Kind::kActionsInOrder) ==
              static_cast<int>(task::MonitorDefinition::Kind::kActionsInOrder));

}  // namespace

task::Definition ground(const Ast& ast, const GroundLimits& limits) { return Grounder(ast, limits).run(); }

}  // namespace metactrl::pddl
