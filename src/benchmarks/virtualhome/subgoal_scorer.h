// Scores answers to VirtualHome's Subgoal Decomposition: lists of states and actions to be reached one after the other.
//
//     SubgoalScorer scorer("eai_vh/sd.jsonl", "eai_vh");
//     TaskScore one = scorer.score("some_task", R"({"output": ["ON(washing_machine.1000)"]})");
//     Score all = scorer.score(responses);
//
// Verdicts are the evaluator's: "NotParseable", "Hallucination" (unknown names, and wrong numbers of arguments),
// "Runtime" (no way to execute the answer), "GoalUnreachable" (executable), "Correct"; and "crash" for an answer on
// which the official evaluator would not come to an end, counted as a failure, and "unanswered".
//
// Each subgoal is turned into one or two lists of actions, and every way through them is tried. `steps` are the actions
// of the way that the evaluator reports; `goals` are as they stand at its end, whereas success asks whether the goal
// held at some point on the way.
//
// Which part of an "A or B" counts is left to chance. `success` is the mean over the possibilities (over the first 64,
// or fewer of a long answer), everything else is for the first part.
//
// Errors are counted as in the evaluator's summary: "parsing", "hallucination", "predicate_argument_number", and the
// classes of execution errors of Runtime and Correct answers, ADDITIONAL_STEP once per task.
//
// A scorer is immutable but for its cache of files: one thread at a time.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_SCORER_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_SCORER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/choices.h"
#include "benchmarks/score.h"
#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/virtualhome/subgoal_formula.h"
#include "benchmarks/virtualhome/task_file.h"

namespace metactrl::benchmarks {
namespace virtualhome {

class SubgoalScorer {
 public:
  // Throws InputError when a file is missing or a row is odd.
  SubgoalScorer(const std::string& tasks_file, const std::string& scenes_folder);

  // One answer. `identifier` must be that of a task: std::out_of_range otherwise.
  TaskScore score(const std::string& identifier, std::string_view output) const;

  // A file of answers. Of several answers to a task the last one counts.
  Score score(const std::vector<Response>& responses) const;

  const std::vector<SubgoalTask>& tasks() const { return tasks_; }

 private:
  // A task with its goals read.
  struct Target {
    std::optional<Goal> goal;  // nothing: the evaluator cannot read the goal itself
    std::string problem;
    std::vector<Formula> states;
  };

  TaskScore score_task(std::size_t index, std::string_view output, GoalCounts& matched) const;
  static void score_once(const SubgoalTask& task, const Target& target, const Scene& scene,
                         const std::vector<std::string>& elements, Choices& choices, TaskScore& score,
                         GoalCounts& matched);

  SceneLibrary scenes_;
  std::vector<SubgoalTask> tasks_;
  std::vector<Target> targets_;
  std::map<std::string, std::size_t> index_;
};

// The strings under "output" that the evaluator would look at, stripped and not empty. Nothing, and why, where it finds
// none. Linear in the text.
std::optional<std::vector<std::string>> read_subgoal_answer(std::string_view output, std::string& reason);

}  // namespace virtualhome

// The whole of it in one call; `rates` has node_goals, edge_goals, action_goals and all_goals where there are any.
Score score_virtualhome_subgoals(const std::string& tasks_file, const std::string& scenes_folder,
                                 const std::vector<Response>& responses);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_SCORER_H_
