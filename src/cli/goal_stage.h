// The stage before planning, where the problem does not say what is wanted: a goal given by hand, or written by the model from
// an instruction and confirmed by a person.
#ifndef METACTRL_SRC_CLI_GOAL_STAGE_H_
#define METACTRL_SRC_CLI_GOAL_STAGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "metactrl/goal.h"
#include "metactrl/planner.h"
#include "serve/goal_json.h"

namespace metactrl::cli {

struct GoalArguments {
  std::string goal;
  CLI::Option* goal_option = nullptr;
  bool yes = false;
  std::size_t hypotheses = 3;
  bool show_prompt = false;  // on standard error: of the goal, and of every plan
};
// --goal, --yes, --hypotheses, --show-prompt
void add_goal_options(CLI::App& app, GoalArguments& arguments);

using serve::ChosenGoal;

// What stands behind every word of a guarantee: " (of the goal shown)" where a model wrote the goal.
const char* guaranteed_of(const std::optional<ChosenGoal>& goal);

// What the goal stage decides: nothing where the problem has a goal and no other was given. Throws InputError where there
// is none in any way, EarlyAnswer where the model could write none, or nobody confirmed it.
class GoalStage {
 public:
  GoalStage(const TaskFiles& files, const GoalArguments& arguments, const std::string& instruction,
            const OutputOptions& output);

  // Is there anything to do?
  bool needed() const { return problem_.has_value(); }
  bool needs_model() const { return needed() && arguments_.goal_option->count() == 0; }
  const GoalProblem& problem() const { return *problem_; }
  // `options` are those of the plan that will be made; the time limit is for both stages. Without `may_look_back` the model writes
  // nothing that looks back at how a state was reached (GoalProblem::Options).
  ChosenGoal choose(const LoadedModel& model, const PlanOptions& options, const TimeLimit& time,
                    bool may_look_back = true);

 private:
  ChosenGoal write(const LoadedModel& model, const PlanOptions& options, const TimeLimit& time,
                   bool may_look_back) const;
  [[noreturn]] void answer(const ChosenGoal& goal, const char* outcome, ExitCode code,
                           const std::string& message) const;
  void show(const ChosenGoal& goal) const;
  void confirm(ChosenGoal& goal) const;

  const GoalArguments& arguments_;
  const std::string& instruction_;
  const OutputOptions& output_;
  std::optional<GoalProblem> problem_;
};

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_GOAL_STAGE_H_
