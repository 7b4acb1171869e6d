// A ground task as a PDDL tree, for tasks that did not come from PDDL.
#ifndef METACTRL_SRC_EXCHANGE_LIFT_H_
#define METACTRL_SRC_EXCHANGE_LIFT_H_

#include "pddl/ast.h"
#include "task/definition.h"

namespace metactrl::exchange {

// One action per action name, with the same arguments as the ground ones, so that plans stay the same. Throws
// InputError for counting conditions that are too large to be written out.
pddl::Ast lift(const task::Definition& definition);

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_LIFT_H_
