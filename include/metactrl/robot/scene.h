// Scene: a PDDL domain and problem whose initial state can be exchanged. What somebody needs who acts in a world that
// does not stand still.
//
//     metactrl::Scene scene = metactrl::Scene::load("domain.pddl", "problem.pddl");
//     metactrl::SceneState state = scene.initial_state();            // {"(hand-empty)", "(on cup table)", ...}
//     state = *scene.apply(state, {"grab", {"cup"}});                // what the rules say comes next
//     metactrl::Task task = scene.at(state);                         // plan from there
//     const metactrl::SceneState either[] = {state, other};
//     metactrl::Task both = scene.at_all(either);                    // a plan that holds in both
//
// A state is a sorted list of facts in the notation of PDDL: those that actions can change and that are true, and of
// each number that actions change and conditions depend on its value, "(= (battery robot) 7)". What never changes (a cup is graspable) comes from the problem and is part of every state without being said; what is
// derived from other facts is worked out.
//
// at_all() is how a plan is made when nobody knows which of several states is the true one. The task it returns has
// every changing fact once per state: an action is legal when it is legal in all of them, it does in each what it does
// there, and the goal must hold in all. A plan of that task is therefore a plan in each of the states, and conversely;
// lookahead, constraint and decoder need not know. `at_all` of one state is `at` of that state.
//
// apply, is_goal and validate use the reference semantics (the tree walked as it was written), tasks use the compiled
// one: who plans with the second and checks with the first has two independent opinions.
//
// Cost: at() and at_all() ground the task anew, a few milliseconds for a table with ten things on it, in proportion to
// the number of states; the others a few microseconds per fact. Thread safety: immutable after loading; copies share.
#ifndef METACTRL_ROBOT_SCENE_H_
#define METACTRL_ROBOT_SCENE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/task.h"

namespace metactrl {

// Facts that change and are true, as "(on cup table)" or "(= (battery robot) 7)", ascending, without duplicates; of one
// number one value.
using SceneState = std::vector<std::string>;

class Scene {
 public:
  // Throws InputError as load_pddl does, and for trajectory constraints that look back: only (always ...) means the
  // same after the initial state was exchanged.
  static Scene load(const std::string& domain_file, const std::string& problem_file, const LoadOptions& options = {});
  static Scene load_text(std::string_view domain, std::string_view problem, const LoadOptions& options = {});

  // This scene for states of `other`, which may list more facts as changing: nature's rules for the robot's scene.
  // Throws InputError when this one changes what never changes in the other.
  Scene with_facts_of(const Scene& other) const;

  const std::string& name() const;
  std::vector<std::string> objects() const;
  std::vector<std::string> actions() const;
  // The top-level conjuncts of the goal.
  std::vector<std::string> goals() const;
  // What never changes and is true.
  std::vector<std::string> fixed_facts() const;

  // --- facts ---------------------------------------------------------------------------------------------------------

  // The fact in the spelling of states ("( On cup table )" is "(on cup table)"). Nothing, and `problem` says why, when
  // there is no such predicate or object, or when it is a fact that no state lists: derived, or never changing.
  std::optional<std::string> read_fact(std::string_view text, std::string& problem) const;
  // The number that the fact gives a value, "(battery robot)"; "" of other facts. Facts as read_fact spells them.
  static std::string_view number(std::string_view fact);
  // The first object of a fact, which it is said to be about; "" when it has none.
  static std::string_view subject(std::string_view fact);
  // The changing facts that may become true at all, starting from the problem's own initial state. Sorted.
  // Numbers are not among them.
  const std::vector<std::string>& possible_facts() const;

  // --- states: `state` holds facts as read_fact spells them (InputError otherwise) -----------------------------------

  SceneState initial_state() const;
  // The state after the step, or nothing when it is not legal there (or no step of this domain).
  std::optional<SceneState> apply(const SceneState& state, const PlanStep& step) const;
  // How long the step takes when it begins there, as in metactrl/schedule.h; nothing for one that takes no time.
  std::optional<std::int64_t> duration(const SceneState& state, const PlanStep& step) const;
  // Why a step is not legal: "precondition (open fridge) is false". Empty when it is legal.
  std::string why_illegal(const SceneState& state, const PlanStep& step) const;
  // Every legal instance of an action, by arguments.
  std::vector<PlanStep> legal_steps(const SceneState& state, const std::string& action) const;
  bool is_goal(const SceneState& state) const;
  std::vector<std::string> unmet_goals(const SceneState& state) const;
  Validation validate(const SceneState& state, std::span<const PlanStep> plan) const;

  // --- tasks ---------------------------------------------------------------------------------------------------------

  Task at(const SceneState& state) const;
  // At least one state; the first is the one whose facts keep their names in messages.
  Task at_all(std::span<const SceneState> states) const;

 private:
  class Impl;
  explicit Scene(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace metactrl

#endif  // METACTRL_ROBOT_SCENE_H_
