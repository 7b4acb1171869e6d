// The tasks of Watch-And-Help as questions that a model is asked.
//
//     for (const PromptEntry& entry : ask_watch_and_help({tasks, scenes})) answer_prompt(module, entry, ...);
//
// With GoalSource::kOracle the plan is held to the task's goal. With GoalSource::kInstruction nobody tells the goal:
// the model reads the instruction and writes goal lines, under a constraint of their own (goal_problem.h), and then a
// plan that is held to these. The answer's text is then the goal, a line break, and the plan.
//
// Thread safety: as evaluate.h says.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_QUESTION_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_QUESTION_H_

#include <vector>

#include "benchmarks/question.h"
#include "benchmarks/watch_and_help/task_file.h"

namespace metactrl::benchmarks {

namespace watch_and_help {

PromptEntry ask(HelpTask task, GoalSource goals, std::size_t instruction);

}  // namespace watch_and_help

std::vector<PromptEntry> ask_watch_and_help(const TaskSource& source);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_QUESTION_H_
