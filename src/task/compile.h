// From a ground task as data to a Program that runs.
#ifndef METACTRL_SRC_TASK_COMPILE_H_
#define METACTRL_SRC_TASK_COMPILE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "support/meter.h"
#include "task/definition.h"
#include "task/program.h"

namespace metactrl::task {

// Simplifies, computes goal relevance, lays the facts out as bits and builds the decision trees. Linear in the size of
// the definition, up to sorting; what is simplified and every action that is compiled is counted.
std::shared_ptr<const Program> compile(Definition definition, internal::Meter& meter = internal::no_meter());

// Goal relevance of a simplified definition; exposed for tests. See program.h for what it means.
struct Relevance {
  IdVector<FactId, bool> fact;
  IdVector<ActionId, bool> action;
  std::size_t changes = 0;  // what all effects add and delete
};
Relevance goal_relevance(const Definition& definition);

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_COMPILE_H_
