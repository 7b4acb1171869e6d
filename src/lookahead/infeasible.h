// Why a task has no plan, for who has a lookahead of it.
#ifndef METACTRL_SRC_LOOKAHEAD_INFEASIBLE_H_
#define METACTRL_SRC_LOOKAHEAD_INFEASIBLE_H_

#include <string>

#include "metactrl/lookahead.h"

namespace metactrl::lookahead {

// "the initial state breaks the constraint (always (closed))". Of a task of which that is so.
std::string initial_violation(const Task& task);

// As metactrl::why_infeasible; what `known` found to exclude each other is not looked for again, where it is a lookahead of
// `task` itself. Where its horizon is fixed, what would help does so within that.
WhyInfeasible why_infeasible(const Task& task, const Lookahead& known, const Stop& stop);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_INFEASIBLE_H_
