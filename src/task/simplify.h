// Removes from a ground task what can never matter.
#ifndef METACTRL_SRC_TASK_SIMPLIFY_H_
#define METACTRL_SRC_TASK_SIMPLIFY_H_

#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::task {

// Drops facts that are constant, actions that are never applicable, conditional effects that never fire; folds the
// constants into every condition. Actions that change nothing stay: they are legal and part of the alphabet. Preserves
// the set of legal action sequences and which of them reach the goal. Linear in the task's size times the number of
// rounds (two); every formula that is looked at is counted.
Definition simplify(Definition definition, internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_SIMPLIFY_H_
