// Actions that may take several durations, and those that plans give them.
//
// An action of a plan takes the smallest duration that the text allows. That leaves the most room, but another one can
// lead elsewhere: where an effect is by ?duration, where others run inside, and where something happens by itself. There
// a plan may also give it the largest, and some in between: those by which a number that changes with ?duration comes
// from its value at the start to one that it is compared with, and whole ones where they are few. Each is an action of
// its own, which differs from the one that is written in its name and its duration alone (Action::written).
//
// That there is no plan with these proves nothing of the others, but for what lies between: numbers by their intervals,
// and hosts that are inside no other, where the largest has room for all.
#ifndef METACTRL_SRC_PDDL_DURATIONS_H_
#define METACTRL_SRC_PDDL_DURATIONS_H_

#include <string>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::pddl {

// ?duration in the action's effects, or in its cost.
Expression duration_of(const Durative& durative);
// Does an effect on a number that matters say ?duration?
bool changes_by_duration(const Action& action);

// Adds the actions with other durations. Returns those that they are added for, or would be if there were any: their
// other durations matter.
std::vector<ActionNameId> add_durations(Ast& ast);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_DURATIONS_H_
