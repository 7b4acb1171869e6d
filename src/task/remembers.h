// Facts that remember what was on the way, for constraints and preferences: no part of what anybody sees of a state.
#ifndef METACTRL_SRC_TASK_REMEMBERS_H_
#define METACTRL_SRC_TASK_REMEMBERS_H_

#include <string_view>

#include "task/definition.h"

namespace metactrl::task {

// What the names of their predicates begin with; no file has such a name.
constexpr std::string_view kRemembers = "remembers ";

inline bool remembers(const Definition& definition, FactId fact) {
  return definition.predicate_names[definition.facts[fact].name].starts_with(kRemembers);
}

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_REMEMBERS_H_
