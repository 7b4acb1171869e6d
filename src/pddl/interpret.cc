// Facts, conditions, axioms, effects. Every function is the definition written down: an axiom is tried until a round
// adds nothing, effects are collected in the old state and carried out deletes first.
//
// Strata. A derived predicate's stratum is at least that of each derived predicate its bodies use positively and
// greater than that of each they use under an odd number of negations. `forn` and `forpairs` are monotone in their
// conditions, so they count as positive contexts.
#include "pddl/interpret.h"

#include <algorithm>

#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

// Calls visit(predicate, negated) for every atom below `condition`.
template <typename Visit>
void for_each_atom(const Condition& condition, bool negated, const Visit& visit) {
  if (condition.kind == Condition::Kind::kAtom) visit(condition.atom.predicate, negated);
  const bool inner = negated != (condition.kind == Condition::Kind::kNot);
  for (const Condition& child : condition.children) for_each_atom(child, inner, visit);
}

std::vector<std::vector<std::uint32_t>> stratify(const Ast& ast) {
  IdVector<PredicateId, std::size_t> stratum(ast.predicates.size(), 0);
  std::size_t highest = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Axiom& axiom : ast.axioms) {
      for_each_atom(axiom.body, false, [&](PredicateId predicate, bool negated) {
        if (!ast.predicates[predicate].derived) return;
        const std::size_t least = stratum[predicate] + (negated ? 1 : 0);
        if (stratum[axiom.head] >= least) return;
        stratum[axiom.head] = least;
        highest = std::max(highest, least);
        changed = true;
      });
      // No chain of strict steps is longer than there are predicates, unless it is a circle.
      if (stratum[axiom.head] > ast.predicates.size()) {
        Diagnostics diagnostics;
        diagnostics.error(
            {ast.files[axiom.where.file], axiom.where.line, axiom.where.column},
            str_cat("the derived predicate '", ast.predicates[axiom.head].name, "' depends on its own negation"),
            "rewrite the axioms so that no circle of them passes through a 'not'");
        throw InputError(std::move(diagnostics));
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> strata(ast.axioms.empty() ? 0 : highest + 1);
  for (std::uint32_t i = 0; i < ast.axioms.size(); ++i) strata[stratum[ast.axioms[i].head]].push_back(i);
  return strata;
}

std::vector<VariableId> first_variables(std::uint32_t count) {
  std::vector<VariableId> variables;
  for (const VariableId variable : ids<VariableId>(count)) variables.push_back(variable);
  return variables;
}

}  // namespace

LiftedInterpreter::LiftedInterpreter(std::shared_ptr<const Ast> ast) : ast_(std::move(ast)), strata_(stratify(*ast_)) {
  const auto add_ranges = [&](const VariableTable& variables) {
    for (const Variable& variable : variables) {
      const auto [entry, added] = ranges_.try_emplace(variable.types);
      if (!added) continue;
      for (const ObjectId object : ast_->objects.all()) {
        if (belongs(object, variable.types)) entry->second.push_back(object);
      }
    }
  };
  has_costs_ = ast_->has_metric;
  watched_ = ast_->has_durations && (!ast_->constraints.empty() ||
                                     std::any_of(ast_->preferences.begin(), ast_->preferences.end(), looks_back));
  for (const Action& action : ast_->actions) add_ranges(action.variables);
  for (const Axiom& axiom : ast_->axioms) add_ranges(axiom.variables);
  for (const Constraint& constraint : ast_->constraints) add_ranges(constraint.variables);
  for (const Preference& preference : ast_->preferences) {
    for (const Constraint& part : preference.parts) add_ranges(part.variables);
  }
  add_ranges(ast_->goal.variables);
  for (const FunctionValue& value : ast_->init_values) values_[{value.function, value.arguments}] = value.value;
  for (const ObjectId object : ast_->objects.all()) objects_.emplace(ast_->objects[object].name, object);
  for (const ActionNameId i : ast_->actions.all()) {
    actions_.emplace(ast_->actions[i].name, i);
    has_costs_ = has_costs_ || !ast_->actions[i].costs.empty();
  }
}

// --- types and bindings ----------------------------------------------------------------------------------------------

bool LiftedInterpreter::belongs(ObjectId object, const std::vector<TypeId>& types) const {
  // Everything is an object, whatever its own type says.
  if (std::find(types.begin(), types.end(), kObjectType) != types.end()) return true;
  std::vector<TypeId> own = ast_->objects[object].types;  // and, behind them, what those are below
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (std::find(types.begin(), types.end(), own[i]) != types.end()) return true;
    for (const TypeId parent : ast_->types[own[i]].parents) {
      if (std::find(own.begin(), own.end(), parent) == own.end()) own.push_back(parent);
    }
  }
  return false;
}

const std::vector<ObjectId>& LiftedInterpreter::range(const Variable& variable) const {
  return ranges_.find(variable.types)->second;
}

bool LiftedInterpreter::in_range(ObjectId object, const Variable& variable) const {
  const std::vector<ObjectId>& objects = range(variable);
  return std::binary_search(objects.begin(), objects.end(), object);
}

void LiftedInterpreter::unbind(Scope& scope, std::span<const VariableId> variables) {
  for (const VariableId variable : variables) scope.binding[variable] = kUnbound;
}

Fact LiftedInterpreter::ground(const Scope& scope, const Atom& atom) const {
  Fact fact;
  fact.name = atom.predicate;
  fact.arguments.reserve(atom.arguments.size());
  for (const Term& term : atom.arguments) fact.arguments.push_back(term.under(scope.binding));
  return fact;
}

// --- conditions ------------------------------------------------------------------------------------------------------

bool LiftedInterpreter::holds(const Condition& condition, Scope& scope, const FactView& facts) const {
  scope.meter.piece();
  switch (condition.kind) {
    case Condition::Kind::kTrue:
      return true;
    case Condition::Kind::kFalse:
      return false;
    case Condition::Kind::kAtom:
      return facts.contains(ground(scope, condition.atom));
    case Condition::Kind::kEquals:
      return condition.terms[0].under(scope.binding) == condition.terms[1].under(scope.binding);
    case Condition::Kind::kCompare:
      return compare(condition, scope, facts);
    case Condition::Kind::kNot:
      return !holds(condition.children[0], scope, facts);
    case Condition::Kind::kAnd:
      for (const Condition& child : condition.children) {
        if (!holds(child, scope, facts)) return false;
      }
      return true;
    case Condition::Kind::kOr:
      for (const Condition& child : condition.children) {
        if (holds(child, scope, facts)) return true;
      }
      return false;
    case Condition::Kind::kForall: {
      const bool all =
          for_each_binding(scope, condition.bound, [&] { return holds(condition.children[0], scope, facts); });
      unbind(scope, condition.bound);
      return all;
    }
    case Condition::Kind::kExists:
      return !satisfy(condition, scope, facts, [] { return false; });
    case Condition::Kind::kAtLeast:
      return count_bindings(condition, scope, facts) >= condition.count;
    case Condition::Kind::kMatching:
      return largest_matching(condition, scope, facts) >= pairs_wanted(condition, scope);
  }
  return false;
}

std::size_t LiftedInterpreter::count_bindings(const Condition& condition, Scope& scope, const FactView& facts) const {
  std::size_t count = 0;
  for_each_binding(scope, condition.bound, [&] {
    count += holds(condition.children[0], scope, facts) ? 1 : 0;
    return true;
  });
  return count;
}

std::size_t LiftedInterpreter::pairs_wanted(const Condition& condition, const Scope& scope) const {
  if (condition.count != Condition::kAllPairs) return condition.count;
  return std::min(range(scope.variables[condition.bound[0]]).size(), range(scope.variables[condition.bound[1]]).size());
}

// Augmenting paths: a left object takes a free partner, or one whose present partner can move elsewhere.
std::size_t LiftedInterpreter::largest_matching(const Condition& condition, Scope& scope, const FactView& facts) const {
  const std::vector<ObjectId>& left = range(scope.variables[condition.bound[0]]);
  const std::vector<ObjectId>& right = range(scope.variables[condition.bound[1]]);
  std::vector<std::vector<std::size_t>> partners(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t j = 0; j < right.size(); ++j) {
      scope.binding[condition.bound[0]] = left[i];
      scope.binding[condition.bound[1]] = right[j];
      if (holds(condition.children[0], scope, facts)) partners[i].push_back(j);
    }
  }
  unbind(scope, condition.bound);
  constexpr std::size_t kFree = ~std::size_t{0};
  std::vector<std::size_t> taken_by(right.size(), kFree);
  std::vector<bool> tried;
  const auto place = [&](const auto& self, std::size_t i) -> bool {
    for (const std::size_t j : partners[i]) {
      if (tried[j]) continue;
      tried[j] = true;
      if (taken_by[j] != kFree && !self(self, taken_by[j])) continue;
      taken_by[j] = i;
      return true;
    }
    return false;
  };
  std::size_t size = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    tried.assign(right.size(), false);
    size += place(place, i) ? 1 : 0;
  }
  return size;
}

// --- states ----------------------------------------------------------------------------------------------------------

namespace {

// About what a fact takes, its places in a set and in an index included.
std::size_t bytes_of(const Fact& fact) { return 144 + 16 * fact.arguments.size(); }

}  // namespace

void LiftedInterpreter::derive(Facts& facts, internal::Meter& meter) const {
  if (ast_->axioms.empty()) return;
  std::erase_if(facts, [&](const Fact& fact) { return ast_->predicates[fact.name].derived; });
  FactView view(facts);
  for (const std::vector<std::uint32_t>& stratum : strata_) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t place : stratum) {
        const Axiom& axiom = ast_->axioms[place];
        Scope scope(axiom.variables, meter);
        for_each_solution(axiom.body, first_variables(axiom.num_parameters), scope, view, [&] {
          Fact head{axiom.head, {scope.binding.begin(), scope.binding.begin() + axiom.num_parameters}};
          const auto [entry, inserted] = facts.insert(std::move(head));
          if (inserted) view.added(*entry);
          meter.hold(facts.size() * bytes_of(*entry));
          changed = changed || inserted;
          return true;
        });
      }
    }
  }
}

Facts LiftedInterpreter::initial(internal::Meter& meter) const {
  Facts facts;
  for (const GroundAtom& atom : ast_->init) {
    facts.insert(Fact{atom.predicate, atom.arguments});
  }
  for (const FunctionValue& value : ast_->init_values) {
    if (ast_->functions[value.function].matters) facts.values[{value.function, value.arguments}] = *value.exact;
  }
  return complete(std::move(facts), meter);
}

Facts LiftedInterpreter::complete(Facts facts, internal::Meter& meter) const {
  derive(facts, meter);
  return facts;
}

bool LiftedInterpreter::applicable(const Facts& facts, const Instance& instance) const {
  if (!is_simple())
    return missing_cost(instance).empty() && run(facts, instance, internal::no_meter()).facts.has_value();
  const FactView view(facts);
  return missing_cost(instance).empty() && applicable(view, instance, internal::no_meter()) &&
         changes(view, instance, ast_->actions[instance.action].numeric_effects, internal::no_meter())
             .problem.empty() &&
         later_problem(facts, instance, internal::no_meter()).empty();
}

bool LiftedInterpreter::applicable(const FactView& facts, const Instance& instance, internal::Meter& meter) const {
  const Action& action = ast_->actions[instance.action];
  Scope scope(action.variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), scope.binding.begin());
  return holds(action.precondition, scope, facts);
}

void LiftedInterpreter::execute(Facts& facts, const Instance& instance, internal::Meter& meter, States* passed) const {
  if (!is_simple()) {
    Run whole = run(facts, instance, meter);
    facts = std::move(*whole.facts);
    if (passed != nullptr) *passed = std::move(whole.passed);
    return;
  }
  const Action& action = ast_->actions[instance.action];
  // Between the points of what takes no time there is no state.
  const bool passes = passed != nullptr && action.durative && units_of(instance, FactView(facts), meter) != 0;
  happen(facts, instance, action.effects, action.numeric_effects, meter);
  if (!action.durative) return;
  if (passes) passed->push_back(facts);
  happen(facts, instance, action.durative->end_effects, action.durative->end_numeric_effects, meter);
}

void LiftedInterpreter::happen(Facts& facts, const Instance& instance, const std::vector<Effect>& effects,
                               const std::vector<NumericEffect>& numeric_effects, internal::Meter& meter,
                               const Rational* duration) const {
  const Action& action = ast_->actions[instance.action];
  Scope scope(action.variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), scope.binding.begin());
  std::vector<Fact> added;
  std::vector<Fact> deleted;
  const FactView view(facts);
  Changes numbers = changes(view, instance, numeric_effects, meter, duration);
  for (const Effect& effect : effects) {
    for_each_solution(effect.when, effect.forall, scope, view, [&] {
      std::vector<Fact>& changes = effect.add ? added : deleted;
      changes.push_back(ground(scope, effect.atom));
      meter.hold((facts.size() + added.size() + deleted.size()) * bytes_of(changes.back()));
      return true;
    });
  }
  for (const Fact& fact : deleted) facts.erase(fact);
  for (Fact& fact : added) facts.insert(std::move(fact));
  for (const auto& [fluent, value] : numbers.values) facts.values.insert_or_assign(fluent, value);
  derive(facts, meter);
}

Facts LiftedInterpreter::apply(const Facts& facts, const Instance& instance) const {
  Facts next = facts;
  execute(next, instance, internal::no_meter());
  return next;
}

std::vector<Instance> LiftedInterpreter::instances() const {
  internal::Meter meter;
  std::vector<Instance> all;
  for (const ActionNameId i : ast_->actions.all()) {
    const Action& action = ast_->actions[i];
    Scope scope(action.variables, meter);
    for_each_binding(scope, first_variables(action.num_parameters), [&] {
      all.push_back({i, {scope.binding.begin(), scope.binding.begin() + action.num_parameters}});
      return true;
    });
  }
  return all;
}

std::vector<std::pair<Instance, Facts>> LiftedInterpreter::successors(const Facts& facts) const {
  std::vector<std::pair<Instance, Facts>> result;
  for (Instance& instance : instances()) {
    if (!applicable(facts, instance)) continue;
    Facts next = apply(facts, instance);
    result.emplace_back(std::move(instance), std::move(next));
  }
  return result;
}

bool LiftedInterpreter::goal_holds(const Facts& facts) const {
  internal::Meter meter;
  Scope scope(ast_->goal.variables, meter);
  if (is_simple()) return holds(ast_->goal.condition, scope, FactView(facts));
  std::string problem;
  const std::optional<Facts> last = in_the_end(facts, meter, problem);
  return last && holds(ast_->goal.condition, scope, FactView(*last));
}

std::vector<ObjectId> LiftedInterpreter::cost_arguments(const CostTerm& term, const Instance& instance) {
  std::vector<ObjectId> arguments;
  for (const Term& argument : term.arguments) {
    arguments.push_back(argument.is_variable() ? instance.arguments[index(argument.variable())] : argument.object());
  }
  return arguments;
}

double LiftedInterpreter::cost(const Instance& instance, const Rational* duration) const {
  if (!has_costs_) return 1;
  if (ast_->actions[instance.action].metric_cost) return metric_cost(instance, duration).value_or(0);
  double sum = 0;
  for (const CostTerm& term : ast_->actions[instance.action].costs) {
    sum += term.constant;
    if (!term.function) continue;
    const auto value = values_.find({*term.function, cost_arguments(term, instance)});
    if (value != values_.end()) sum += value->second;
  }
  return sum;
}

std::optional<double> LiftedInterpreter::metric_cost(const Instance& instance, const Rational* duration) const {
  const Action& action = ast_->actions[instance.action];
  Binding binding(action.variables.size(), kUnbound);
  std::copy(instance.arguments.begin(), instance.arguments.end(), binding.begin());
  return value_at_start(*action.metric_cost, binding, values_, duration);
}

std::string LiftedInterpreter::missing_cost(const Instance& instance) const {
  if (ast_->actions[instance.action].metric_cost) return metric_cost(instance) ? "" : "in the metric";
  for (const CostTerm& term : ast_->actions[instance.action].costs) {
    if (!term.function) continue;
    const std::vector<ObjectId> arguments = cost_arguments(term, instance);
    if (values_.contains({*term.function, arguments})) continue;
    std::string out = "(" + ast_->functions[*term.function].name;
    for (const ObjectId object : arguments) out += " " + ast_->objects[object].name;
    return out + ")";
  }
  return {};
}

PlanStep LiftedInterpreter::step(const Instance& instance) const {
  PlanStep step{ast_->actions[instance.action].name, {}};
  for (const ObjectId object : instance.arguments) step.arguments.push_back(ast_->objects[object].name);
  return step;
}

PlanStep LiftedInterpreter::written_step(const Instance& instance) const {
  PlanStep step = LiftedInterpreter::step(instance);
  step.action = ast_->written_name(instance.action);
  return step;
}

std::string LiftedInterpreter::written_name(const std::string& action) const {
  const auto found = actions_.find(action);
  return found == actions_.end() ? action : ast_->written_name(found->second);
}

std::vector<Fact> LiftedInterpreter::sorted(const Facts& facts) {
  std::vector<Fact> result(facts.begin(), facts.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace metactrl::pddl
