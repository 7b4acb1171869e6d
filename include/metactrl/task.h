// Task: a ground planning task: objects, actions, states, a goal.
//
//     metactrl::Task task = metactrl::load_pddl("domain.pddl", "problem.pddl");
//     metactrl::State state = task.initial_state();
//     for (metactrl::ActionId a : task.applicable_actions(state)) std::cout << task.text(a) << '\n';
//     state = *task.apply(state, task.applicable_actions(state).front());        // (open dishwasher)
//     bool done = task.is_goal(state);
//
// An action is legal in a state when its precondition holds there and the step breaks no trajectory constraint ("never
// enter the bedroom"). Deletes happen before adds, conditional effects look at the state before the action, an action
// that changes nothing is legal. Actions that no reachable state allows are not part of the task; `find` does not know
// them, `validate` explains them.
//
// A Task is a handle to shared immutable data: copying is cheap, all functions are const and may be called from many
// threads.
#ifndef METACTRL_TASK_H_
#define METACTRL_TASK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/error.h"

namespace metactrl {

namespace task {
class Program;
class ReferenceSemantics;
class Source;
}  // namespace task

// Ids of different levels do not mix by accident.
enum class ActionId : std::uint32_t {};
enum class ObjectId : std::uint32_t {};
// An action's name without arguments (a PDDL action schema).
enum class ActionNameId : std::uint32_t {};
// A top-level conjunct of the goal, or a trajectory constraint that must be fulfilled at the end.
enum class GoalId : std::uint32_t {};

// A packed state. Compare and hash freely; ask its Task what it means.
class State {
 public:
  State() = default;
  bool operator==(const State&) const = default;
  std::span<const std::uint64_t> words() const { return words_; }

 private:
  friend class Task;
  explicit State(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  std::vector<std::uint64_t> words_;
};

// One step of a plan as text; not necessarily an action that exists.
struct PlanStep {
  std::string action;
  std::vector<std::string> arguments;
  bool operator==(const PlanStep&) const = default;
};

// "(open dishwasher)"
std::string to_string(const PlanStep& step);

// Reads "(action arg ...)" lines: `;` comments and blank lines are skipped, names are lower-cased, a leading "0.000:"
// and a trailing "[1.0]" are accepted. Throws InputError with the line for anything else.
std::vector<PlanStep> parse_plan(std::string_view text, const std::string& file_name);

// What a plan is worth.
struct Validation {
  // A preference of the task, and whether a plan satisfies it. One that stands below (forall ...) is one for each
  // binding.
  struct Preference {
    std::string name;   // of the file; may be empty, or that of several
    std::string text;   // "(at truck depot)", "(always (clean ?r)) for ?r = hall"
    double weight = 1;  // what a violation adds to the metric
    bool satisfied = false;
  };

  bool valid = false;
  // Every step up to this index was legal; equals the plan's length when all were.
  std::size_t steps_executed = 0;
  // Why the plan is not valid: "step 3 (putin cup dishwasher): precondition (open dishwasher) is false". Empty when
  // valid.
  std::string reason;
  // Where a step is not legal, what is wrong with it alone: "precondition (open dishwasher) is false".
  std::string problem;
  // Top-level goals that do not hold at the end (only meaningful when all steps were executed).
  std::vector<std::string> unmet_goals;
  // Sum of action costs of the executed steps (their number when the domain states no costs).
  double cost = 0;
  // Where all steps were executed, all of the task's preferences, in its order. A plan may violate any of them.
  std::vector<Preference> preferences;
};

class Task {
 public:
  // Used by the loaders in domain.h.
  Task(std::shared_ptr<const task::Program> program, std::shared_ptr<const task::ReferenceSemantics> reference,
       std::shared_ptr<const task::Source> source = nullptr);

  const std::string& name() const;

  // --- objects and actions -------------------------------------------------------------------------------------------
  std::size_t num_objects() const;
  const std::string& object_name(ObjectId object) const;
  // Every action name of the domain, with the number of its arguments.
  std::size_t num_action_names() const;
  const std::string& action_name(ActionNameId name) const;
  std::size_t arity(ActionNameId name) const;
  // Ground actions, dense from 0, ordered by name then arguments as declared.
  std::size_t num_actions() const;
  ActionNameId name_of(ActionId action) const;
  std::span<const ObjectId> arguments(ActionId action) const;
  double cost(ActionId action) const;
  // The domain states costs; otherwise every action costs 1.
  bool has_costs() const;
  std::string text(ActionId action) const;
  PlanStep step(ActionId action) const;
  std::optional<ActionId> find(const PlanStep& step) const;

  // --- states --------------------------------------------------------------------------------------------------------
  State initial_state() const;
  // True when the initial state is itself in breach of a trajectory constraint: then no plan exists.
  bool initially_violated() const;
  bool legal(const State& state, ActionId action) const;
  // Ascending.
  std::vector<ActionId> applicable_actions(const State& state) const;
  // The successor, or nothing when the action is not legal in `state`.
  std::optional<State> apply(const State& state, ActionId action) const;
  // The same into a state that is reused; false, and `successor` is undefined, when the action is not legal.
  bool apply(const State& state, ActionId action, State& successor) const;
  bool is_goal(const State& state) const;
  std::size_t num_goals() const;
  std::string goal_text(GoalId goal) const;
  std::vector<GoalId> unmet_goals(const State& state) const;
  // The same task with some goals dropped; the others keep their order. `validate` still judges by all of the task's
  // goals.
  Task without_goals(std::span<const GoalId> goals) const;
  // Was this task made by `without_goals`?
  bool goals_dropped() const { return goals_dropped_; }
  // The facts that hold, as "(at truck depot)", in the task's order.
  std::vector<std::string> facts(const State& state) const;

  // Every fact that the task states as true at the start; unlike facts(initial_state()) with those that never change.
  std::vector<std::string> initial_facts() const;

  // --- plans ---------------------------------------------------------------------------------------------------------

  // By the second implementation (task/reference.h), against all goals. Nested quantifiers can cost more than anybody can
  // wait for: Stopped when `stop` says so, or when the facts that hold at a time take more than about `bytes` (0: no
  // limit).
  Validation validate(std::span<const PlanStep> plan, const Stop& stop = {}, std::size_t bytes = 0) const;
  Validation validate(std::span<const ActionId> plan, const Stop& stop = {}, std::size_t bytes = 0) const;

  std::size_t memory_bytes() const;

  // What the library itself asks: the compiled task (task/program.h), and what `validate` asks; null for a task that was
  // made without it.
  const task::Program& program() const { return *program_; }
  const task::ReferenceSemantics* reference() const { return reference_.get(); }
  // What it was read from (task/source.h); null where nothing can be asked of that.
  const task::Source* source() const { return source_.get(); }

 private:
  std::shared_ptr<const task::Program> program_;
  std::shared_ptr<const task::ReferenceSemantics> reference_;
  std::shared_ptr<const task::Source> source_;
  bool goals_dropped_ = false;
};

}  // namespace metactrl

#endif  // METACTRL_TASK_H_
