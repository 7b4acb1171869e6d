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
  return add_fact(definition, internal::remembered_name(name), at_start);
}

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_REMEMBERS_H_
