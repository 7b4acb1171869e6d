// When the steps of a plan can begin, and what only exists while an action runs.
#ifndef METACTRL_SRC_PDDL_SCHEDULE_H_
#define METACTRL_SRC_PDDL_SCHEDULE_H_

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/schedule.h"
#include "pddl/ast.h"
#include "support/meter.h"

namespace metactrl::pddl {

// As task::Source::start_early. Every step must name an action and objects of the task.
void start_early(const Ast& ast, Schedule& plan, internal::Meter& meter);

// As task::Source::orders, with the same demand.
std::vector<std::pair<std::size_t, std::size_t>> orders(const Ast& ast, std::span<const PlanStep> plan,
                                                        internal::Meter& meter);

// A fact that one action makes true at its start and false at its end, and an action that needs it: a plan that uses it
// runs the two at the same time.
struct Envelope {
  ActionNameId offers{};
  ActionNameId needs{};
  Atom fact;  // in the variables of the first
};
std::vector<Envelope> envelopes(const Ast& ast);
// "(light-match ?m) makes (light ?m) true only while it runs, and mend-fuse needs it"
std::string to_string(const Ast& ast, const Envelope& envelope);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_SCHEDULE_H_
