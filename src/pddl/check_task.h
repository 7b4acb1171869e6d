// What is wrong with two texts, and how large the task is that they describe: for the person who writes them.
//
//     Diagnostics diagnostics;
//     TaskCheck check = check_task({"domain", domain}, {"problem", problem}, {100'000, 500'000}, meter, diagnostics);
//     // diagnostics: every mistake with its place; check: the sizes and notes of a task without mistakes
#ifndef METACTRL_SRC_PDDL_CHECK_TASK_H_
#define METACTRL_SRC_PDDL_CHECK_TASK_H_

#include <cstddef>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "pddl/ground.h"
#include "pddl/parse.h"
#include "support/meter.h"

namespace metactrl::pddl {

struct TaskCheck {
  std::size_t types = 0;
  std::size_t objects = 0;
  std::size_t predicates = 0;
  std::size_t actions = 0;
  std::size_t ground_actions = 0;
  // What grounding left out (grounding_notes.h).
  std::vector<std::string> notes;
};

// Every size is 0 where there are errors. Throws as `ground` does.
TaskCheck check_task(const Source& domain, const Source& problem, const GroundLimits& limits, internal::Meter& meter,
                     Diagnostics& diagnostics);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_CHECK_TASK_H_
