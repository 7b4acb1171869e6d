// From a prompt's problem to the task that is planned for: what is assumed, what is dropped, what is kept.
//
//     GroundedPrompt grounded = ground_prompt(prompt, domain, options, stop, times);
//     plan(grounded.task, ...);
//
// Thread safety: pure.
#ifndef METACTRL_SRC_BENCHMARKS_GROUND_PROMPT_H_
#define METACTRL_SRC_BENCHMARKS_GROUND_PROMPT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/prompt_task.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"

namespace metactrl::benchmarks {

struct GroundedPrompt {
  Task task;
  std::vector<std::string> assumptions;  // for people, those that the task rests on
  // The first goals of the task are the prompt's, in its order; those behind them are what is kept of goals that have to
  // be dropped, and the wish for an action.
  std::size_t num_goals = 0;
  Budget search;  // with which a plan was found, so with which one will be found again
};

// Seconds spent.
struct GroundTimes {
  double ground = 0;
  double lookahead = 0;
};

// Throws InputError, and Stopped when `stop` says so.
GroundedPrompt ground_prompt(const PromptTask& prompt, std::string_view domain, const PlanOptions& options,
                             const Stop& stop, GroundTimes& times);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_GROUND_PROMPT_H_
