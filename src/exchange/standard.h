// A task in the PDDL that every planner reads.
#ifndef METACTRL_SRC_EXCHANGE_STANDARD_H_
#define METACTRL_SRC_EXCHANGE_STANDARD_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pddl/ast.h"
#include "task/definition.h"

namespace metactrl::exchange {

// What is rewritten here.
using Action = pddl::Action;
using Ast = pddl::Ast;
using Atom = pddl::Atom;
using Axiom = pddl::Axiom;
using Condition = pddl::Condition;
using Effect = pddl::Effect;
using ObjectId = pddl::ObjectId;
using PredicateId = pddl::PredicateId;
using Term = pddl::Term;
using TypeId = pddl::TypeId;
using Variable = pddl::Variable;
using VariableId = pddl::VariableId;
using VariableTable = pddl::VariableTable;
using Kind = Condition::Kind;

// Conditions with constants folded and nested nodes of the same kind spliced in.
Condition condition_of(Kind kind, std::vector<Condition> children = {});  // as it is
Condition condition_true();
Condition condition_false();
Condition condition_atom(PredicateId predicate, std::vector<Term> arguments);
Condition condition_equals(Term left, Term right);
Condition condition_not(Condition child);
Condition condition_and(std::vector<Condition> children);
Condition condition_or(std::vector<Condition> children);

// The same condition after its children or terms have changed.
Condition folded(Condition condition);

// The problem's objects decide what a quantifier over a constant is.
Condition condition_quantified(const Ast& ast, Kind kind, const std::vector<VariableId>& bound, Condition child,
                               const VariableTable& variables);

// An atom, an equality or a constant, or the negation of one.
bool is_literal(const Condition& condition);

// The same condition with `not` at atoms and equalities alone. Counting conditions must be gone.
Condition negation_normal_form(Condition condition, bool negated = false);

// The same condition with terms in the place of some variables; equalities that become constant are folded.
Condition substitute(Condition condition, const std::vector<VariableId>& variables, const std::vector<Term>& terms);

// The same condition with map(variable) in the place of each variable, bound ones included.
template <typename Map>
Condition with_variables(Condition condition, const Map& map) {
  for (std::vector<Term>* terms : {&condition.atom.arguments, &condition.terms}) {
    for (Term& term : *terms) {
      if (term.is_variable()) term = map(term.variable());
    }
  }
  for (VariableId& variable : condition.bound) variable = map(variable);
  for (Condition& child : condition.children) child = with_variables(std::move(child), map);
  return condition;
}

// Calls `visit(condition, variables)` for each condition of the tree; the condition and its table may be changed.
template <typename Visit>
void for_each_condition(Ast& ast, const Visit& visit) {
  for (Action& action : ast.actions) {
    visit(action.precondition, action.variables);
    for (Effect& effect : action.effects) visit(effect.when, action.variables);
  }
  for (std::size_t i = 0; i < ast.axioms.size(); ++i) {  // a visit may add some
    Condition body = std::move(ast.axioms[i].body);
    VariableTable variables = std::move(ast.axioms[i].variables);
    visit(body, variables);
    ast.axioms[i].body = std::move(body);
    ast.axioms[i].variables = std::move(variables);
  }
  visit(ast.goal.condition, ast.goal.variables);
}

// Adds a predicate whose name is the one that is wanted, or like it.
PredicateId add_predicate(Ast& ast, const std::string& wanted, VariableTable parameters, bool derived = false);

// The first variables of a table.
std::vector<VariableId> first_variables(std::size_t count);

// Adds a derived predicate that holds where the condition does, with the condition's free variables as parameters, and
// returns it as an atom with these variables: what can stand in the condition's place.
Condition define_predicate(Ast& ast, const std::string& wanted, const Condition& condition,
                           const VariableTable& variables);

// A ground task as a PDDL tree, for tasks that did not come from PDDL: one action per action name, with the same arguments
// as the ground ones, so that plans stay the same. See lift.cc. Throws InputError for counting conditions that are too
// large to be written out.
Ast lift(const task::Definition& definition);

struct StandardTask {
  Ast ast;
  double cost_factor = 1;  // costs of the tree are those of the task times this
};
// Takes out what VAL and Fast Downward do not know, so that the plans stay the same: trajectory constraints, counting
// quantifiers, recursion through `forall`, `either`, fractions and sums of costs, conditions that are constant,
// arguments that do not fit their declared types. Adds a sentence to `notes` for each kind of change. Throws InputError
// when the result would be too large.
StandardTask standard_task(Ast ast, std::vector<std::string>& notes);

// Steps of it.
//
// Constraints become predicates, preconditions, effects and goals. See constraints.cc.
void compile_constraints(Ast& ast, std::vector<std::string>& notes);
// Counting conditions become quantifiers or derived predicates. See counting.cc. Also folds constants.
void expand_counting(Ast& ast, std::vector<std::string>& notes);
// Quantifiers that derived predicates are recursive through are written out, and disjunctions that Fast Downward would
// multiply with each other become derived predicates. See derived.cc.
void write_out_recursion(Ast& ast, std::vector<std::string>& notes);
void name_disjunctions(Ast& ast, std::vector<std::string>& notes);
// Costs become whole numbers, and one number or one function per action. Returns the factor. See costs.cc.
double scale_costs(Ast& ast, std::vector<std::string>& notes);
void simplify_costs(Ast& ast, std::vector<std::string>& notes);

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_STANDARD_H_
