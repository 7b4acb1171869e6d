// Several states at once: a tree in which every changing predicate exists once per state.
#ifndef METACTRL_SRC_PDDL_COPIES_H_
#define METACTRL_SRC_PDDL_COPIES_H_

#include <span>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::pddl {

// Per predicate: some effect changes it or an axiom derives it.
IdVector<PredicateId, bool> changing_predicates(const Ast& ast);

// The tree whose plans are exactly the sequences of actions that are plans of `ast` from each of `states`. A state is
// its changing, not derived atoms; what never changes is taken from ast.init and shared. `states` has at least one
// element. Linear in the size of the tree times the number of states.
Ast with_states(const Ast& ast, std::span<const std::vector<GroundAtom>> states);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_COPIES_H_
