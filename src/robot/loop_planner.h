// Plans for the closed loop: for one state, or for several at once, by search or by the model, each checked in every
// state it must hold in before anybody sees it.
#ifndef METACTRL_SRC_ROBOT_LOOP_PLANNER_H_
#define METACTRL_SRC_ROBOT_LOOP_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/robot/closed_loop.h"

namespace metactrl {

struct LoopPlan {
  PlanOutcome outcome = PlanOutcome::kUndecided;
  std::vector<PlanStep> steps;
  Guarantee guarantee = Guarantee::kNone;
  std::string reason;
  std::size_t model_calls = 0;
  std::optional<Thought> thought{};
  std::string prompt_text{};
  // In how many of the states the reference semantics judged it valid. All of them when it comes with a guarantee.
  std::size_t holds_in = 0;
};

class LoopPlanner {
 public:
  LoopPlanner(const Scene& scene, const LoopOptions& options, LanguageModel* model,
              std::shared_ptr<const Vocabulary> vocabulary);

  // A plan for all of `states`, the most likely first. `number` counts the plans of a run: samples differ from plan to
  // plan. `stop` ends it early, with kCancelled. Throws Stopped when the plan's own time limit ends,
  // std::logic_error when a plan does not hold as it was promised to.
  LoopPlan plan(std::span<const SceneState> states, std::uint64_t number, const Stop& stop,
                const std::function<void(Observer::Phase)>& phase);

  // The length of a plan for all of `states`, found by search; nothing when there is none or it is not found within the
  // budget. Throws Stopped when `stop` says so, or the time limit ends: what is decided by it must not depend on that.
  std::optional<std::size_t> plan_length(std::span<const SceneState> states, const Stop& stop);

  // With these guidances a plan holds in every state it was made for.
  bool guaranteed() const;

 private:
  // The states, and whether little was spent on them.
  using Key = std::pair<std::vector<SceneState>, bool>;

  LoopPlan search(std::span<const SceneState> states, bool weighed, const Stop& stop);
  LoopPlan search_alone(std::span<const SceneState> states, bool weighed, const Stop& stop);
  LookaheadOptions lookahead_for(std::size_t states, bool weighed) const;
  PlanResult call(const Task& task, const PlanOptions& options, const Stop& stop,
                  const std::function<void(Observer::Phase)>& phase);
  // In how many of the states the plan is valid; `first_problem` gets the first reason why not.
  std::size_t count_valid(std::span<const SceneState> states, std::span<const PlanStep> steps,
                          std::string& first_problem) const;

  const Scene& scene_;
  const LoopOptions& options_;
  LanguageModel* model_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::map<Key, LoopPlan> remembered_;  // plans and proofs of the search
};

}  // namespace metactrl

#endif  // METACTRL_SRC_ROBOT_LOOP_PLANNER_H_
