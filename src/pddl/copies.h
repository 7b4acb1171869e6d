// Several states at once: a tree in which every changing predicate and number exists once per state.
#ifndef METACTRL_SRC_PDDL_COPIES_H_
#define METACTRL_SRC_PDDL_COPIES_H_

#include <span>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::pddl {

// What a state says of all that can change.
struct GivenState {
  std::vector<GroundAtom> atoms;      // those that hold and are not derived
  std::vector<FunctionValue> values;  // of the functions that change and matter, exact
};

// Is it part of states? What conditions depend on and no effect changes is the same in all of them.
inline bool is_changing_number(const Function& function) { return function.changes && function.matters; }

// Per predicate: some effect changes it or an axiom derives it.
IdVector<PredicateId, bool> changing_predicates(const Ast& ast);

// The tree whose plans are exactly the sequences of actions that are plans of `ast` from each of `states`. A state says
// all that changes and is not derived; what never changes is taken from `ast` and shared. `states` has at least one
// element. Linear in the size of the tree times the number of states.
Ast with_states(const Ast& ast, std::span<const GivenState> states);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_COPIES_H_
