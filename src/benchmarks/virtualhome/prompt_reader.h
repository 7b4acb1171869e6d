// Readers of VirtualHome prompts.
//
//     PromptTask task = read_actions_prompt(prompt);
//     Task ground = load_pddl_text(domain, task.problem);
//
// Both rule sets of a module share the problem; the domain differs. Cost: linear in the prompt.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PROMPT_READER_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PROMPT_READER_H_

#include <string_view>

#include "benchmarks/prompt_task.h"
#include "benchmarks/virtualhome/prompt_scene.h"

namespace metactrl::benchmarks::virtualhome {

// Action sequencing: the whole prompt.
PromptTask read_actions_prompt(std::string_view prompt, Rules rules = Rules::kEnvironment);
// What it says, without rules.
PromptScene read_actions_scene(std::string_view prompt);
// Subgoal decomposition: the user's part of the prompt. The system's part is the same for all tasks.
PromptTask read_subgoals_prompt(std::string_view prompt);

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PROMPT_READER_H_
