// A prompt for a task: what a language model is told when the user brings none of their own.
#ifndef METACTRL_PROMPT_H_
#define METACTRL_PROMPT_H_

#include <string>

#include "metactrl/format.h"
#include "metactrl/language_model.h"
#include "metactrl/task.h"

namespace metactrl {

// The task in words: actions with their arity, objects, every fact that is true at the start, the goals, the
// instruction (when there is one) and how the plan is to be written. Ends with "Plan:" and a newline, so that the plan
// begins on its own line.
//
//     Task: Put the dishes into the dishwasher.
//     Actions: open(1), close(1), grab(1), putin(2), ...
//     Objects: blue_mug, white_cup, ...
//     Facts: (hand-empty), (graspable blue_mug), ...
//     Goal: (inside blue_mug dishwasher), ...
//     Format: (open dishwasher)
//     Plan:
Prompt make_prompt(const Task& task, const PlanSpelling& spelling, const std::string& instruction);

}  // namespace metactrl

#endif  // METACTRL_PROMPT_H_
