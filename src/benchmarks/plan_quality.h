// How good a valid plan is, beyond being valid.
//
//     std::optional<PlanQuality> quality = plan_quality(task, plan);
//     quality->superfluous;   // steps that can be left out
//     quality->undone;        // [[2, 5]]: step 5 takes back what step 2 did, and nothing between them used it
//
// Both are defined on the states the plan goes through, s(0) the initial one and s(i) after step i:
//
//   superfluous  Step by step from the first: leave it out together with every later step that is then illegal; if the
//                goals still hold at the end, they stay out. The number of steps that stay out. It is 0 for every
//                shortest plan, and may be 0 for a longer one that merely takes a detour.
//   undone       Steps i < j of which neither matters: with both left out, every step between them is still legal and
//                leads to s(j). Each step is in one pair at most; the earliest i and its nearest j come first.
//
// Cost: some hundred thousand applications of an action for a plan of sixty steps, well below a second. Thread safety:
// pure.
#ifndef METACTRL_SRC_BENCHMARKS_PLAN_QUALITY_H_
#define METACTRL_SRC_BENCHMARKS_PLAN_QUALITY_H_

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "metactrl/task.h"

namespace metactrl::benchmarks {

struct PlanQuality {
  std::size_t superfluous = 0;
  std::vector<std::pair<std::size_t, std::size_t>> undone;  // numbers of steps, from 1
};

// No value when the plan is not valid for the task, or too long to look at (more than 200 steps).
std::optional<PlanQuality> plan_quality(const Task& task, std::span<const ActionId> plan);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PLAN_QUALITY_H_
