// Times for a plan in which actions overlap.
#ifndef METACTRL_SRC_PDDL_FIT_TIMES_H_
#define METACTRL_SRC_PDDL_FIT_TIMES_H_

#include <optional>
#include <span>

#include "metactrl/schedule.h"
#include "pddl/ast.h"
#include "support/meter.h"

namespace metactrl::pddl {

// As task::Source::with_times.
std::optional<Schedule> fit_times(const Ast& ast, std::span<const PlanStep> plan, internal::Meter& meter);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_FIT_TIMES_H_
