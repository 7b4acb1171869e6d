// When the steps of a plan can begin.
#ifndef METACTRL_SRC_PDDL_SCHEDULE_H_
#define METACTRL_SRC_PDDL_SCHEDULE_H_

#include <cstddef>
#include <span>
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

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_SCHEDULE_H_
