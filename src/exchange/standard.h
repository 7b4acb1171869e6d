// A task in the PDDL that every planner reads.
#ifndef METACTRL_SRC_EXCHANGE_STANDARD_H_
#define METACTRL_SRC_EXCHANGE_STANDARD_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::exchange {

// Conditions with constants folded and nested nodes of the same kind spliced in.
pddl::Condition condition_true();
pddl::Condition condition_false();
pddl::Condition condition_atom(pddl::PredicateId predicate, std::vector<pddl::Term> arguments);
pddl::Condition condition_equals(pddl::Term left, pddl::Term right);
pddl::Condition condition_not(pddl::Condition child);
pddl::Condition condition_and(std::vector<pddl::Condition> children);
pddl::Condition condition_or(std::vector<pddl::Condition> children);

// The problem's objects decide what a quantifier over a constant is.
pddl::Condition condition_quantified(const pddl::Ast& ast, pddl::Condition::Kind kind,
                                     const std::vector<pddl::VariableId>& bound, pddl::Condition child,
                                     const pddl::VariableTable& variables);

inline pddl::Term variable_term(pddl::VariableId variable) { return variable; }
inline pddl::Term object_term(pddl::ObjectId object) { return object; }

// An atom, an equality or a constant, or the negation of one.
bool is_literal(const pddl::Condition& condition);

// The same condition with `not` at atoms and equalities alone. Counting conditions must be gone.
pddl::Condition negation_normal_form(pddl::Condition condition, bool negated = false);

// The same condition with terms in the place of some variables; equalities that become constant are folded.
pddl::Condition substitute(pddl::Condition condition, const std::vector<pddl::VariableId>& variables,
                           const std::vector<pddl::Term>& terms);

// Calls `visit(condition, variables)` for each condition of the tree; the condition and its table may be changed.
template <typename Visit>
void for_each_condition(pddl::Ast& ast, const Visit& visit) {
  for (pddl::Action& action : ast.actions) {
    visit(action.precondition, action.variables);
    for (pddl::Effect& effect : action.effects) visit(effect.when, action.variables);
  }
  for (std::size_t i = 0; i < ast.axioms.size(); ++i) {  // a visit may add some
    pddl::Condition body = std::move(ast.axioms[i].body);
    pddl::VariableTable variables = std::move(ast.axioms[i].variables);
    visit(body, variables);
    ast.axioms[i].body = std::move(body);
    ast.axioms[i].variables = std::move(variables);
  }
  visit(ast.goal.condition, ast.goal.variables);
}

// A name that no predicate of the tree has.
std::string fresh_predicate_name(const pddl::Ast& ast, const std::string& wanted);

// Adds a derived predicate that holds where the condition does, with the condition's free variables as parameters, and
// returns it as an atom with these variables: what can stand in the condition's place.
pddl::Condition define_predicate(pddl::Ast& ast, const std::string& wanted, const pddl::Condition& condition,
                                 const pddl::VariableTable& variables);

struct StandardTask {
  pddl::Ast ast;
  double cost_factor = 1;  // costs of the tree are those of the task times this
};
// Takes out what VAL and Fast Downward do not know, so that the plans stay the same: trajectory constraints, counting
// quantifiers, recursion through `forall`, `either`, fractions and sums of costs, conditions that are constant,
// arguments that do not fit their declared types. Adds a sentence to `notes` for each kind of change. Throws InputError
// when the result would be too large.
StandardTask standard_task(pddl::Ast ast, std::vector<std::string>& notes);

// Steps of it.
//
// Constraints become predicates, preconditions, effects and goals. See constraints.cc.
void compile_constraints(pddl::Ast& ast, std::vector<std::string>& notes);
// Counting conditions become quantifiers or derived predicates. See counting.cc. Also folds constants.
void expand_counting(pddl::Ast& ast, std::vector<std::string>& notes);
// Quantifiers that derived predicates are recursive through are written out, and disjunctions that Fast Downward would
// multiply with each other become derived predicates. See derived.cc.
void write_out_recursion(pddl::Ast& ast, std::vector<std::string>& notes);
void name_disjunctions(pddl::Ast& ast, std::vector<std::string>& notes);
// Costs become whole numbers, and one number or one function per action. Returns the factor. See costs.cc.
double scale_costs(pddl::Ast& ast, std::vector<std::string>& notes);
void simplify_costs(pddl::Ast& ast, std::vector<std::string>& notes);

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_STANDARD_H_
