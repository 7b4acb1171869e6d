// Facts that remember what was on the way, or whether a time has passed, for constraints and preferences: no part of what anybody sees of a state.
#ifndef METACTRL_SRC_TASK_REMEMBERS_H_
#define METACTRL_SRC_TASK_REMEMBERS_H_

#include <string>
#include <string_view>

#include "task/definition.h"

namespace metactrl::task {

// What the names of their predicates begin with; no file has such a name.
constexpr std::string_view kRemembers = "remembers ";

inline bool remembers(std::string_view predicate) { return predicate.starts_with(kRemembers); }
inline bool remembers(const Definition& definition, FactId fact) {
  return remembers(definition.predicate_names[definition.facts[fact].name]);
}

// A new fact of that kind.
inline FactId add_remembered(Definition& definition, const std::string& name, bool at_start) {
  const FactId fact = definition.facts.next_id();
  definition.facts.push_back({definition.predicate_names.next_id(), {}});
  definition.predicate_names.push_back(std::string(kRemembers) + name);
  definition.fact_layer.push_back(-1);
  definition.init.push_back(at_start);
  return fact;
}

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_REMEMBERS_H_
