// Tasks in which an action that takes time begins and ends as two actions.
#ifndef METACTRL_SRC_PDDL_ENDS_APART_H_
#define METACTRL_SRC_PDDL_ENDS_APART_H_

#include "pddl/ast.h"

namespace metactrl::pddl {

// Instead of (move a b) that takes time it has "begin move" and "end move" with the same arguments, between which anything
// else may happen; how long things take counts no more. What an action needs over all it needs when it ends and, where its
// beginning does not concern that, when it begins. Without `over_all` it does not need it at all: then every way in which
// different actions of the task can overlap is a plan. Where durations depend on the state, what ends do to numbers is
// judged by the durations of that moment. What happens by itself becomes actions "happens 1", "happens 2", ..., by time.
Ast ends_apart(const Ast& ast, bool over_all);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_ENDS_APART_H_
