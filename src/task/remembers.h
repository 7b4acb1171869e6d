// Facts that remember what was on the way, or whether a time has passed, for constraints and preferences: no part of what
// anybody sees of a state.
#ifndef METACTRL_SRC_TASK_REMEMBERS_H_
#define METACTRL_SRC_TASK_REMEMBERS_H_

#include <string_view>

#include "support/remembered_name.h"
#include "task/definition.h"

namespace metactrl::task {

inline bool remembers(const Definition& definition, FactId fact) {
  return internal::is_remembered_name(definition.predicate_names[definition.facts[fact].name]);
}

// A new fact of that kind.
inline FactId add_remembered(Definition& definition, std::string_view name, bool at_start) {
  const FactId fact = definition.facts.next_id();
  definition.facts.push_back({definition.predicate_names.next_id(), {}});
  definition.predicate_names.push_back(internal::remembered_name(name));
  definition.fact_layer.push_back(-1);
  definition.init.push_back(at_start);
  return fact;
}

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_REMEMBERS_H_
