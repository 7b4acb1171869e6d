// What grounding left out, for the person who wrote the files: true of many good tasks, and of those where something
// was forgotten.
#ifndef METACTRL_SRC_PDDL_GROUNDING_NOTES_H_
#define METACTRL_SRC_PDDL_GROUNDING_NOTES_H_

#include <string>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::pddl {

// One sentence for each type without objects and for each action that can never be taken, with the reason where it is
// one fact or one type. `taken[a]`: action `a` has an instance in the ground task.
std::vector<std::string> grounding_notes(const Ast& ast, const IdVector<ActionNameId, bool>& taken);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUNDING_NOTES_H_
