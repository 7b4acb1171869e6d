// Goals that exclude each other, proved by looking at a few facts.
//
//     const std::vector<GoalSet> conflicts = find_exclusion(program, work, false);
//     for (const GoalSet conflict : conflicts) ...     // no state that can be reached satisfies all of these
//
// Three certificates for which there are two tickets exclude each other whatever else a task of a thousand facts is about:
// the three and the two show it in eight states, where the search for a plan would have to look at all there are.
#ifndef METACTRL_SRC_LOOKAHEAD_EXCLUSION_H_
#define METACTRL_SRC_LOOKAHEAD_EXCLUSION_H_

#include <cstdint>
#include <vector>

#include "lookahead/goals.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

// None where nothing was found out in about `work` steps (Budget::work). `every`: goes on behind the first proof, to all
// that two, three or four goals show.
std::vector<GoalSet> find_exclusion(const task::Program& program, std::uint64_t work, bool every,
                                    internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_EXCLUSION_H_
