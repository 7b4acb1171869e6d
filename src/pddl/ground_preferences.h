// Preferences of a task as conditions of its last state.
#ifndef METACTRL_SRC_PDDL_GROUND_PREFERENCES_H_
#define METACTRL_SRC_PDDL_GROUND_PREFERENCES_H_

#include <functional>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_formula.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::pddl {

// The ground actions that a step of an action goal names.
using MatchingActions =
    std::function<std::vector<ActionId>(const std::vector<ActionPattern>& step, const Binding& binding)>;

// Adds the preferences of `ast` to `result`, whose facts, axioms and actions are complete, and facts that remember what
// happened on the way, with the effects of actions that do. `anything` is true, and outlives the builder.
void ground_preferences(const Ast& ast, FormulaBuilder& builder, const Condition& anything,
                        const MatchingActions& matching, task::Definition& result, internal::Meter& meter);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_PREFERENCES_H_
