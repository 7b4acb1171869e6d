// Scores answers to BEHAVIOR subgoal decomposition.
//
//     Score score = score_behavior_subgoals("sd_tasks.jsonl", "as_tasks.jsonl", {{"bottling_fruit_0_...", text}});
//
// An answer is {"output": ["atom and atom", "atom", ...]}. Its atoms are executed in order, each by a fixed list of
// actions that depends on what the hands hold: nothing checks that an atom holds already or came to hold. The verdict
// is one of Correct, GoalUnreachable (both executable), Runtime, Hallucination and NotParseable, which is also what
// becomes of an answer on which the evaluator's program fails.
// Where the evaluator draws an alternative of an `or` at random, the success is the mean over all of them, and what is
// reported otherwise is the worst of them. Linear in the text for ordinary answers. Thread safe: no global state.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_SCORER_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_SCORER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/behavior/task_file.h"
#include "benchmarks/score.h"

namespace metactrl::benchmarks {

// Start states and goals are those of the action tasks, whose file is the second argument. An answer belongs to the
// task with its identifier, or else to a task whose name its identifier contains; of several the first one counts.
// Throws InputError when a file cannot be read. Answers never throw.
Score score_behavior_subgoals(const std::string& tasks_path, const std::string& action_tasks_path,
                              const std::vector<Response>& responses);

namespace behavior {

// An action of the plan that failed.
struct SubgoalError {
  std::string subgoal;  // "Not(open(jar.0))"
  std::string action;   // "CLOSE"
  std::string object;   // "jar_0", "a_0, b_1"
  std::string error;    // "ADDITIONAL_STEP"
};

struct SubgoalResult {
  TaskScore score;
  // The evaluator's own list: the actions of every subgoal that was carried out, skipped ones included, and those of
  // the last one that succeeded.
  std::vector<std::pair<std::string, std::string>> actions;
  std::vector<SubgoalError> errors;
};

SubgoalResult score_subgoal_answer(const SubgoalTask& task, const ActionTask& world, std::string_view answer);

}  // namespace behavior

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_SCORER_H_
