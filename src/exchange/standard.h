// A task in the PDDL that every planner reads.
#ifndef METACTRL_SRC_EXCHANGE_STANDARD_H_
#define METACTRL_SRC_EXCHANGE_STANDARD_H_

#include <string>
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

inline pddl::Term variable_term(pddl::VariableId variable) { return {true, variable}; }
inline pddl::Term object_term(pddl::ObjectId object) { return {false, object}; }

// A name that no predicate of the tree has.
std::string fresh_predicate_name(const pddl::Ast& ast, const std::string& wanted);

// Takes out what VAL and Fast Downward do not know, so that the plans stay the same: trajectory constraints, counting
// quantifiers, `either`, sums of costs, conditions that are constant, arguments that do not fit their declared types.
// Adds a sentence to `notes` for each kind of change. Throws InputError when the result would be too large.
pddl::Ast standard_ast(pddl::Ast ast, std::vector<std::string>& notes);

// The first step of it: constraints become predicates, preconditions, effects and goals. See constraints.cc.
void compile_constraints(pddl::Ast& ast, std::vector<std::string>& notes);

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_STANDARD_H_
