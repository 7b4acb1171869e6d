#include "metactrl/task.h"

#include <algorithm>
#include <utility>

#include "task/compile.h"
#include "task/program.h"
#include "task/reference.h"

namespace metactrl {

using internal::ids;
using internal::IdVector;
using internal::index;

Task::Task(std::shared_ptr<const task::Program> program, std::shared_ptr<const task::ReferenceSemantics> reference,
           std::shared_ptr<const task::Source> source)
    : program_(std::move(program)), reference_(std::move(reference)), source_(std::move(source)) {}

const std::string& Task::name() const { return program_->definition().name; }

std::size_t Task::num_objects() const { return program_->definition().objects.size(); }

const std::string& Task::object_name(ObjectId object) const { return program_->definition().objects[object]; }

std::size_t Task::num_action_names() const { return program_->definition().action_names.size(); }

const std::string& Task::action_name(ActionNameId name) const { return program_->definition().action_names[name].name; }

std::size_t Task::arity(ActionNameId name) const { return program_->definition().action_names[name].arity; }

std::size_t Task::num_actions() const { return program_->num_actions(); }

ActionNameId Task::name_of(ActionId action) const { return program_->definition().actions.name(action); }

std::span<const ObjectId> Task::arguments(ActionId action) const {
  return program_->definition().actions.arguments(action);
}

bool Task::has_costs() const { return program_->definition().has_costs; }

double Task::cost(ActionId action) const { return program_->definition().actions.cost(action); }

std::string Task::text(ActionId action) const { return task::action_text(program_->definition(), action); }

PlanStep Task::step(ActionId action) const {
  PlanStep step{action_name(name_of(action)), {}};
  for (const ObjectId object : arguments(action)) step.arguments.push_back(object_name(object));
  return step;
}

std::optional<ActionId> Task::find(const PlanStep& step) const {
  return program_->find_action(step.action, step.arguments);
}

State Task::initial_state() const {
  std::vector<std::uint64_t> words(program_->total_words());
  program_->initial(words.data());
  return State(std::move(words));
}

bool Task::initially_violated() const {
  std::vector<std::uint64_t> words(program_->total_words());
  return !program_->initial(words.data());
}

bool Task::legal(const State& state, ActionId action) const { return apply(state, action).has_value(); }

std::vector<ActionId> Task::applicable_actions(const State& state) const {
  std::vector<ActionId> actions;
  program_->applicable_actions(state.words().data(), actions);
  // Without trajectory constraints an applicable action is legal; no need to try it.
  if (program_->monitors().empty()) return actions;
  std::vector<std::uint64_t> successor(program_->total_words());
  std::erase_if(actions,
                [&](ActionId action) { return !program_->apply(state.words().data(), action, successor.data()); });
  return actions;
}

std::optional<State> Task::apply(const State& state, ActionId action) const {
  State successor;
  return apply(state, action, successor) ? std::optional<State>(std::move(successor)) : std::nullopt;
}

bool Task::apply(const State& state, ActionId action, State& successor) const {
  if (index(action) >= num_actions() || !program_->applicable(state.words().data(), action)) return false;
  if (&state == &successor) return apply(State(state), action, successor);
  successor.words_.resize(program_->total_words());
  return program_->apply(state.words().data(), action, successor.words_.data());
}

bool Task::is_goal(const State& state) const { return program_->is_goal(state.words().data()); }

std::size_t Task::num_goals() const { return program_->num_goals(); }

std::string Task::goal_text(GoalId goal) const { return program_->goal_text(goal); }

std::vector<GoalId> Task::unmet_goals(const State& state) const {
  std::vector<GoalId> result;
  for (const GoalId goal : ids<GoalId>(num_goals())) {
    if (!program_->goal_holds(goal, state.words().data())) result.push_back(goal);
  }
  return result;
}

Task Task::without_goals(std::span<const GoalId> goals) const {
  IdVector<GoalId, bool> dropped(num_goals(), false);
  for (GoalId goal : goals) dropped[goal] = true;
  Task result(task::compile(program_->definition_without(dropped)), reference_, source_);
  result.goals_dropped_ = goals_dropped_ || !goals.empty();
  return result;
}

std::vector<std::string> Task::facts(const State& state) const {
  std::vector<std::string> result;
  for (std::uint32_t bit = 0; bit < program_->num_bits(); ++bit) {
    if (!task::test_bit(state.words().data(), bit)) continue;
    std::string text = program_->bit_text(bit);
    if (!text.empty()) result.push_back(std::move(text));
  }
  return result;
}

std::vector<std::string> Task::initial_facts() const { return reference_->initial_facts(); }

Validation Task::validate(std::span<const PlanStep> plan, const Stop& stop, std::size_t bytes) const {
  return reference_->validate(plan, stop, bytes);
}

Validation Task::validate(std::span<const ActionId> plan, const Stop& stop, std::size_t bytes) const {
  std::vector<PlanStep> steps;
  steps.reserve(plan.size());
  for (ActionId action : plan) steps.push_back(step(action));
  return validate(steps, stop, bytes);
}

std::size_t Task::memory_bytes() const { return program_->memory_bytes(); }

}  // namespace metactrl
