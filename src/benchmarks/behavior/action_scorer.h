// Scores answers to BEHAVIOR action sequencing.
//
//     Score score = score_behavior_actions("as_tasks.jsonl", {{"bottling_fruit_0_...", "[{'action': 'OPEN', ...}]"}});
//
// An answer is text. What stands between its first `[` and its first `]` must be a Python list of {"action", "object"};
// the plan is checked as a whole (class "parsing", "hullucination" or "arguments", in the evaluator's spelling) and
// then executed step by step. An additional step is skipped and counted; any other failure ends the plan. The goal is
// tested on the state that was reached, also after a failure. Linear in the text for ordinary answers. Thread safe: no
// global state.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_ACTION_SCORER_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_ACTION_SCORER_H_

#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/behavior/task_file.h"
#include "benchmarks/score.h"

namespace metactrl::benchmarks {

// Of several answers to a task the last one counts. Throws InputError when the task file cannot be read. Answers never
// throw.
Score score_behavior_actions(const std::string& tasks_path, const std::vector<Response>& responses);

namespace behavior {

// One task. In the result, `verdict` is "Correct", "goal_not_reached", a format class, or the class of the step that
// ended the plan; "unknown_execution_error" is what becomes of a plan on which the evaluator's program fails.
TaskScore score_action_answer(const ActionTask& task, std::string_view answer);

}  // namespace behavior

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_ACTION_SCORER_H_
