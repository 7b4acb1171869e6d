// The names of facts and actions.
#ifndef METACTRL_SRC_TASK_SYMBOL_H_
#define METACTRL_SRC_TASK_SYMBOL_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "metactrl/task.h"

namespace metactrl::task {

// The name of a fact without its objects.
enum class PredicateId : std::uint32_t {};

// A name applied to objects: a fact or an action.
template <typename NameId>
struct Symbol {
  NameId name{};
  std::vector<ObjectId> arguments;
  auto operator<=>(const Symbol&) const = default;
};
using FactSymbol = Symbol<PredicateId>;
using ActionSymbol = Symbol<ActionNameId>;

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_SYMBOL_H_
