// Relaxed reachability: which ground atoms and actions can matter at all.
#ifndef METACTRL_SRC_PDDL_REACH_H_
#define METACTRL_SRC_PDDL_REACH_H_

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "pddl/ast.h"
#include "pddl/atom_table.h"
#include "pddl/join.h"

namespace metactrl::pddl {

// Thrown when a limit on the ground task is passed; the loader turns it into an InputError.
class GroundingLimit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Reachable {
  AtomTable atoms;  // every atom some sequence of actions may make true, deletes ignored; all initial atoms among them
  AtomIndex index;  // of all of them
  InstanceTable actions;  // (action, parameters) whose positive preconditions are among `atoms`
  // No effect and no axiom changes it, so its atoms are exactly the initial ones.
  IdVector<PredicateId, bool> is_static;
};

// Over-approximates: every action legal in a reachable state is in `actions`, every atom true in one is in `atoms`.
Reachable reach(const Ast& ast, RangeTable& ranges, std::size_t max_actions, std::size_t max_atoms,
                internal::Meter& meter);

// Evaluates what no action can change: static atoms and equality are decided, everything else "may be" either way.
// False means that the condition (its negation when `negated`) can never hold under `binding`; unbound variables are
// undecided.
bool statically_possible(const Condition& condition, bool negated, const Binding& binding, const Reachable& reachable);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_REACH_H_
