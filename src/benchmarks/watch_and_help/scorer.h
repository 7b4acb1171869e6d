// Judges answers to tasks of Watch-And-Help.
//
// An answer is a plan, {"WALK": ["apple", "7"], ...}, before which the goal may stand that the model made of the
// instruction, {"goal": ["on(apple, coffeetable)"]}. The plan is executed strictly (executor.h) until a step fails, and
// the task's own goal is judged in the state that was reached.
//
// Score::figures, all between 0 and 1:
//   sr    tasks whose goal holds in the end
//   ssr   the share of goals that hold in the end, mean over tasks
//   exec  plans that are executed to their end
//   do_nothing_sr, do_nothing_ssr    the same of an empty plan
//   goal_precision, goal_recall      of the goal lines that were written, those that are the task's; and of the task's,
//                                    those that were written
//   goal_exact                       tasks for which exactly the task's goal was written
// The last three only where an answer has a goal.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_SCORER_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_SCORER_H_

#include <string>
#include <vector>

#include "benchmarks/score.h"
#include "benchmarks/watch_and_help/task_file.h"

namespace metactrl::benchmarks {

namespace watch_and_help {

TaskScore score_answer(const HelpTask& task, const std::string& output);
Score score(const std::vector<HelpTask>& tasks, const std::vector<Response>& responses);

}  // namespace watch_and_help

Score score_watch_and_help(const std::string& tasks_file, const std::string& scenes_folder,
                           const std::vector<Response>& responses);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_SCORER_H_
