// From finite-domain variables to facts.
//
// A stored variable becomes one fact per value, of which exactly one is true at any time: setting the variable adds one
// fact and deletes the others. When the action requires a certain old value, that is the only other one that can be
// true and the only one that is deleted. A derived variable becomes one fact, its non-default value; the default value
// is the fact's negation.
//
// Effects on one variable are ordered in the file: the last that fires wins. Facts know no order, so an earlier effect
// gets the condition that no later one with another value fires. In the same way, of several operators that form one
// action each gets the condition that none before it is applicable, unless all have the same effects.
#include <algorithm>
#include <map>

#include "sas/sas.h"
#include "support/words.h"

namespace metactrl::sas {

using task::Formula;

namespace {

// "at", {"p1", "l1"} from "at(p1, l1)"; anything else is a name without arguments.
std::pair<std::string, std::vector<std::string>> split_atom(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0 || text.back() != ')') return {std::string(text), {}};
  std::vector<std::string> arguments;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  if (!inside.empty()) {
    for (const std::string_view argument : split(inside, ",")) arguments.emplace_back(trim(argument));
  }
  return {std::string(text.substr(0, open)), arguments};
}

constexpr std::string_view kAtom = "Atom ";
constexpr std::string_view kNegatedAtom = "NegatedAtom ";

// Dense numbers for names, in order of first use.
template <typename Id>
class NameTable {
 public:
  Id id(const std::string& name) { return ids_.try_emplace(name, internal::to_id<Id>(ids_.size())).first->second; }
  internal::IdVector<Id, std::string> names() const {
    internal::IdVector<Id, std::string> out(ids_.size());
    for (const auto& [name, id] : ids_) out[id] = name;
    return out;
  }

 private:
  std::map<std::string, Id> ids_;
};

class Converter {
 public:
  explicit Converter(const SasTask& sas) : sas_(sas) {}

  task::Definition convert() {
    out_.name = sas_.file;
    out_.has_costs = sas_.has_costs;
    out_.has_metric = sas_.has_costs;
    add_facts();
    add_actions();
    for (const Axiom& axiom : sas_.axioms) {
      out_.axioms.push_back({fact(axiom.head.variable, 0), conjunction(axiom.body)});
    }
    const std::vector<bool> changes = changing_variables();
    for (const Assignment& goal : sas_.goal) {
      const bool anyway = !changes[goal.variable] && sas_.initial[goal.variable] == goal.value;
      out_.goals.push_back({.condition = literal(goal), .text = value_text(sas_, goal), .anyway = anyway});
    }
    out_.objects = objects_.names();
    out_.predicate_names = predicates_.names();
    return std::move(out_);
  }

 private:
  // Only one fact, for the value that is not the default.
  bool single_fact(std::uint32_t variable) const { return sas_.variables[variable].derived(); }

  // By an operator, or derived from something.
  std::vector<bool> changing_variables() const {
    std::vector<bool> changes(sas_.variables.size(), false);
    for (const Operator& one : sas_.operators) {
      for (const Effect& effect : one.effects) changes[effect.result.variable] = true;
    }
    for (const Axiom& axiom : sas_.axioms) changes[axiom.head.variable] = true;
    return changes;
  }

  void add_facts() {
    for (std::uint32_t variable = 0; variable < sas_.variables.size(); ++variable) {
      const Variable& v = sas_.variables[variable];
      first_fact_.push_back(out_.facts.next_id());
      for (std::uint32_t value = 0; value < v.values.size(); ++value) {
        if (single_fact(variable) && value == sas_.initial[variable]) continue;
        out_.facts.push_back(symbol(v, value));
        out_.fact_layer.push_back(v.axiom_layer);
        out_.init.push_back(!single_fact(variable) && value == sas_.initial[variable]);
      }
    }
  }

  task::FactSymbol symbol(const Variable& variable, std::uint32_t value) {
    const std::string_view text = variable.values[value];
    std::pair<std::string, std::vector<std::string>> parts;
    if (text.starts_with(kAtom)) {
      parts = split_atom(text.substr(kAtom.size()));
    } else if (text.starts_with(kNegatedAtom)) {
      parts = split_atom(text.substr(kNegatedAtom.size()));
      parts.first = "not-" + parts.first;
    } else {
      parts.first = str_cat(variable.name, '=', text);
    }
    task::FactSymbol result{predicates_.id(parts.first), {}};
    for (const std::string& argument : parts.second) result.arguments.push_back(objects_.id(argument));
    return result;
  }

  // The fact that a variable has this value; of a variable with a single fact that is number 0.
  task::FactId fact(std::uint32_t variable, std::uint32_t value) const {
    return task::FactId{internal::index(first_fact_[variable]) + value};
  }

  Formula literal(Assignment assignment) const {
    if (!single_fact(assignment.variable)) return Formula::literal(fact(assignment.variable, assignment.value), false);
    return Formula::literal(fact(assignment.variable, 0), assignment.value == sas_.initial[assignment.variable]);
  }

  Formula conjunction(const std::vector<Assignment>& assignments) const {
    std::vector<Formula> literals;
    literals.reserve(assignments.size());
    for (const Assignment& assignment : assignments) literals.push_back(literal(assignment));
    return task::make_and(std::move(literals));
  }

  // --- actions -------------------------------------------------------------------------------------------------------

  [[noreturn]] void refuse(const Operator& op, const std::string& message, const std::string& hint) const {
    Diagnostics diagnostics;
    diagnostics.error({sas_.file, op.line, 1}, message, hint);
    throw InputError(std::move(diagnostics));
  }

  void add_actions() {
    std::map<std::string, std::uint32_t> first_line;
    std::vector<task::ActionDefinition> actions;
    for (const std::vector<std::uint32_t>& group : group_operators(sas_)) {
      const Operator& op = sas_.operators[group[0]];
      const std::vector<std::string_view> parts = split(op.name, " ");
      const std::vector<std::string> words(parts.begin(), parts.end());
      const ActionNameId name = action_names_.id(words[0]);
      const auto arity = static_cast<std::uint32_t>(words.size() - 1);
      if (name == out_.action_names.next_id()) out_.action_names.push_back({words[0], arity});
      const std::uint32_t line = first_line.try_emplace(words[0], op.line).first->second;
      if (out_.action_names[name].arity != arity) {
        refuse(op,
               str_cat("operator '", words[0], "' has ", arity, " arguments here and ", out_.action_names[name].arity,
                       " in line ", line),
               "give operators with different arguments different names");
      }
      task::ActionDefinition action;
      action.symbol.name = name;
      for (std::size_t i = 1; i < words.size(); ++i) action.symbol.arguments.push_back(objects_.id(words[i]));
      action.cost = op.cost;
      if (group.size() == 1) {
        action.precondition = conjunction(op.precondition);
        add_effects(op, Formula::constant(true), true, action);
      } else {
        merge(group, action);
      }
      actions.push_back(std::move(action));
    }
    std::ranges::stable_sort(actions, {}, &task::ActionDefinition::symbol);
    for (const task::ActionDefinition& action : actions) out_.actions.push_back(action);
  }

  // Several operators of one name.
  void merge(const std::vector<std::uint32_t>& group, task::ActionDefinition& action) {
    const Operator& first = sas_.operators[group[0]];
    std::vector<Formula> preconditions;
    bool same_effects = true;
    for (const std::uint32_t index : group) {
      const Operator& op = sas_.operators[index];
      if (op.cost != first.cost) {
        refuse(op, str_cat("operator '", op.name, "' has another cost here than in line ", first.line),
               "operators of one name must cost the same");
      }
      preconditions.push_back(conjunction(op.precondition));
      same_effects = same_effects && op.effects == first.effects;
    }
    if (same_effects) {
      add_effects(first, Formula::constant(true), false, action);
    } else {
      for (std::size_t i = 0; i < group.size(); ++i) {
        add_effects(sas_.operators[group[i]], first_applicable(group, preconditions, i), true, action);
      }
    }
    action.precondition = task::make_or(std::move(preconditions));
  }

  // Operator i of the group is applicable and none before it is.
  Formula first_applicable(const std::vector<std::uint32_t>& group, const std::vector<Formula>& preconditions,
                           std::size_t i) {
    const Operator& op = sas_.operators[group[i]];
    std::vector<Formula> parts{preconditions[i]};
    for (std::size_t j = 0; j < i; ++j) {
      const Operator& earlier = sas_.operators[group[j]];
      if (exclude_each_other(op.precondition, earlier.precondition)) continue;
      spend_guards(op, earlier.precondition.size());
      parts.push_back(task::negate(preconditions[j]));
    }
    return task::make_and(std::move(parts));
  }

  static bool exclude_each_other(const std::vector<Assignment>& a, const std::vector<Assignment>& b) {
    return std::any_of(a.begin(), a.end(), [&](const Assignment& x) {
      return std::any_of(b.begin(), b.end(),
                         [&](const Assignment& y) { return x.variable == y.variable && x.value != y.value; });
    });
  }

  void spend_guards(const Operator& op, std::size_t literals) {
    guard_literals_ += literals;
    if (guard_literals_ <= kMaxGuardLiterals) return;
    refuse(op, str_cat("operator '", op.name, "' makes the task too large: too many effects depend on each other"),
           "split the action, or load the PDDL files themselves");
  }

  // `guard` is known to imply the operator's precondition when `use_precondition` is set.
  void add_effects(const Operator& op, const Formula& guard, bool use_precondition, task::ActionDefinition& action) {
    std::map<std::uint32_t, std::vector<const Effect*>> by_variable;
    for (const Effect& effect : op.effects) by_variable[effect.result.variable].push_back(&effect);
    for (const auto& [variable, effects] : by_variable) {
      std::optional<std::uint32_t> old_value;
      for (const Assignment& assignment : op.precondition) {
        if (use_precondition && assignment.variable == variable) old_value = assignment.value;
      }
      for (std::size_t i = 0; i < effects.size(); ++i) add_effect(op, effects, i, old_value, guard, action);
    }
  }

  void add_effect(const Operator& op, const std::vector<const Effect*>& effects, std::size_t i,
                  std::optional<std::uint32_t> old_value, const Formula& guard, task::ActionDefinition& action) {
    const Effect& effect = *effects[i];
    std::vector<Formula> when{guard, conjunction(effect.conditions)};
    for (std::size_t j = i + 1; j < effects.size(); ++j) {
      if (effects[j]->result.value == effect.result.value ||
          exclude_each_other(effects[j]->conditions, effect.conditions))
        continue;
      if (effects[j]->conditions.empty()) return;  // always overruled
      spend_guards(op, effects[j]->conditions.size());
      when.push_back(task::negate(conjunction(effects[j]->conditions)));
    }
    task::EffectDefinition result;
    result.when = task::make_and(std::move(when));
    const std::uint32_t variable = effect.result.variable;
    result.add.push_back(fact(variable, effect.result.value));
    const auto range = static_cast<std::uint32_t>(sas_.variables[variable].values.size());
    for (std::uint32_t value = 0; value < range; ++value) {
      if (value != effect.result.value && (!old_value || *old_value == value))
        result.del.push_back(fact(variable, value));
    }
    deletes_ += result.del.size();
    if (deletes_ > kMaxDeletes) {
      refuse(op, "the task is too large: its operators set large variables without naming their old values",
             "load the PDDL files themselves");
    }
    action.effects.push_back(std::move(result));
  }

  const SasTask& sas_;
  task::Definition out_;
  NameTable<ObjectId> objects_;
  NameTable<task::PredicateId> predicates_;
  NameTable<ActionNameId> action_names_;
  std::vector<task::FactId> first_fact_;  // per variable
  std::size_t guard_literals_ = 0;
  std::size_t deletes_ = 0;
};

}  // namespace

std::string value_text(const SasTask& task, Assignment assignment) {
  const Variable& variable = task.variables[assignment.variable];
  std::string_view text = variable.values[assignment.value];
  const bool negated = text.starts_with(kNegatedAtom);
  if (!negated && !text.starts_with(kAtom)) return str_cat('(', variable.name, " = ", text, ')');
  text.remove_prefix(negated ? kNegatedAtom.size() : kAtom.size());
  const auto [name, arguments] = split_atom(text);
  const std::string atom = to_string(PlanStep{name, arguments});
  return negated ? "(not " + atom + ")" : atom;
}

task::Definition to_definition(const SasTask& task) { return Converter(task).convert(); }

}  // namespace metactrl::sas
