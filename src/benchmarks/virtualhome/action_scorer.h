// Scores answers to VirtualHome's Action Sequencing: plans as JSON-like text, executed in the true scene.
//
//     ActionScorer scorer("eai_vh/as.jsonl", "eai_vh");
//     TaskScore one = scorer.score(identifier, R"({"WALK": ["soap", "1002"]})");
//     Score all = scorer.score(responses);
//
// Verdicts: "parsing", "hallucination" and "parameter" for an answer that is not a plan; "gold_equal" for the reference
// plan word for word, which the evaluator counts as executable and not as a success; "run" for a plan that was
// executed; "excluded" for a task the evaluator leaves out; "crash" where the official evaluator ends with an exception
// (counted as a failure); "unanswered".
//
// Errors are counted under "parsing" (twice, as in the evaluator, where a list is not JSON), "hallucination",
// "predicate_argument_number", the four classes of execution errors (executor.h), and "crash".
//
// A scorer is immutable but for its cache of files: one thread at a time.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_ACTION_SCORER_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_ACTION_SCORER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/score.h"
#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/virtualhome/task_file.h"

namespace metactrl::benchmarks {
namespace virtualhome {

// In which order the action goals of a task must appear in the plan. The evaluator takes the order of a Python set of
// strings, which differs from run to run.
enum class ActionGoalOrder : std::uint8_t {
  kMean,    // every order; `success` is the mean
  kSorted,  // alphabetical, which for the pairs that occur is what PYTHONHASHSEED=0 gives in CPython 3.11
};

// What an answer says, before anything is executed.
struct ActionAnswer {
  std::string verdict;  // "run" when it is a plan
  std::string reason;   // why it is not
  bool is_json = true;  // false: a list in the answer is not JSON
  std::vector<Action> plan;
};

// What a reason says of an answer that is not a plan, for a benchmark that reads the same form.
struct AnswerWords {
  std::string_view no_object = "the prompt has no object ";                      // 'soap' with the id '7'
  std::string_view small_letters = "the official evaluator stops on the name ";  // 'walk', which is not in capitals
};

// The evaluator's reading of an answer: every `"NAME": [...]` anywhere in the text, in order. `objects` maps
// "soap_1002" to 1002. Linear in the text.
ActionAnswer read_action_answer(std::string_view output, const std::map<std::string, int>& objects,
                                const AnswerWords& words = {});

class ActionScorer {
 public:
  // Throws InputError when a file is missing or a row is odd.
  ActionScorer(const std::string& tasks_file, const std::string& scenes_folder);

  // One answer. `identifier` must be that of a task: std::out_of_range otherwise.
  TaskScore score(const std::string& identifier, std::string_view output,
                  ActionGoalOrder order = ActionGoalOrder::kMean) const;

  // A file of answers. Of several answers to a task the last one counts (the evaluator would count the task several
  // times).
  Score score(const std::vector<Response>& responses, ActionGoalOrder order = ActionGoalOrder::kMean) const;

  const std::vector<ActionTask>& tasks() const { return tasks_; }

 private:
  TaskScore score_task(const ActionTask& task, std::string_view output, ActionGoalOrder order,
                       GoalCounts& matched) const;
  static void run(const ActionTask& task, const std::vector<Action>& plan, const Scene& scene, ActionGoalOrder order,
                  TaskScore& score, GoalCounts& matched);

  SceneLibrary scenes_;
  std::vector<ActionTask> tasks_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace virtualhome

// The whole of it in one call; `rates` has node_goals, edge_goals, action_goals and all_goals where there are any.
Score score_virtualhome_actions(const std::string& tasks_file, const std::string& scenes_folder,
                                const std::vector<Response>& responses);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_ACTION_SCORER_H_
