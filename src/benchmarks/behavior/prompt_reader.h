// Reads the prompts of BEHAVIOR: of action sequencing, and of subgoal decomposition (the message of the user; the system
// message is the same for all tasks).
//
//     PromptTask task = read_behavior_actions(prompt, Rules::kEnvironment);
//     Task ground = load_pddl_text(domain, task.problem);      // domains/behavior-actions/environment.pddl
//
// Uses the prompt and the taxonomy only. Throws InputError with the line of the prompt that cannot be read. Cost:
// linear in the prompt, plus the goals' expansion (milliseconds). Thread safety: calls are independent.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_READER_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_READER_H_

#include <string_view>

#include "benchmarks/behavior/prompt_scene.h"
#include "benchmarks/prompt_task.h"

namespace metactrl::benchmarks::behavior {

PromptTask read_behavior_actions(std::string_view text, Rules rules);
PromptTask read_behavior_subgoals(std::string_view text, Rules rules);
// What the prompt says, without rules.
prompt::PromptScene read_behavior_actions_scene(std::string_view text);
prompt::PromptScene read_behavior_subgoals_scene(std::string_view text);

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_READER_H_
