// Ways to go on behind an action that a known plan did not foresee, the most likely first:
//
//   1. The plan as it is, without those of its actions that are impossible when their turn comes. Most actions neither
//      help nor hurt; of others the plan's own step is superfluous now.
//   2. The action takes the place of a step of the plan. That step may be the same action: something is done earlier
//      than planned. Or it has the same name and one other object: another cup is fetched, or one is put elsewhere.
//      Then the two objects change places in all of the plan. What was planned behind the step comes first (whoever
//      walks to the second thing wants to take it), then what was planned before it; failing that, the plan in its
//      order, without the step.
//   3. The same without a change of places, where an impossible step may be done with one other object: who walks from
//      one place to the next starts from wherever the new order left him. Finding that object means looking at all
//      actions that are possible, so a few steps may be mended and no more.
//
// With no action to spare, when as many actions are left as the plan has, only the second kind fits, and whether the
// order of independent goals can be changed is a question that a search within the bound answers badly: its states are
// all interleavings of the goals.
//
// Nothing here is assumed. An attempt is executed action by action and counts only when it ends in the goal.
#include "lookahead/adapt.h"

#include <algorithm>
#include <optional>
#include <span>

namespace metactrl::lookahead {

using task::ActionTable;
using task::Word;

namespace {

// Steps whose place an action may try to take.
constexpr std::size_t kMaxPlaces = 12;
// Steps of one attempt that may be done with another object.
constexpr unsigned kMaxMends = 3;

// The place where they differ; nothing when that is not exactly one, or the names differ.
std::optional<std::size_t> only_difference(const ActionTable& actions, ActionId a, ActionId b) {
  const std::span<const ObjectId> of_a = actions.arguments(a);
  const std::span<const ObjectId> of_b = actions.arguments(b);
  if (actions.name(a) != actions.name(b) || of_a.size() != of_b.size()) return std::nullopt;
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    if (of_a[i] == of_b[i]) continue;
    if (place) return std::nullopt;
    place = i;
  }
  return place;
}

}  // namespace

PlanAdapter::PlanAdapter(const task::Program& program)
    : program_(program), state_(program.total_words()), next_(program.total_words()) {}

bool PlanAdapter::adapt(const Word* state, ActionId action, const std::vector<ActionId>& plan, unsigned max_length) {
  if (execute(state, plan, max_length, 0)) return true;
  const ActionTable& actions = program_.definition().actions;
  std::size_t places = 0;
  // The same action, wherever it is planned, promises more than a similar one.
  for (std::size_t i = 0; i < plan.size() && places < kMaxPlaces; ++i) {
    if (plan[i] != action) continue;
    ++places;
    if (take_place(state, plan, i, {}, max_length, 0)) return true;
  }
  for (std::size_t i = 0; i < plan.size() && places < kMaxPlaces; ++i) {
    if (plan[i] == action) continue;
    const std::optional<std::size_t> other = only_difference(actions, plan[i], action);
    if (!other) continue;
    ++places;
    const Swap swap{actions.arguments(plan[i])[*other], actions.arguments(action)[*other]};
    if (take_place(state, plan, i, swap, max_length, 0) || take_place(state, plan, i, {}, max_length, kMaxMends)) {
      return true;
    }
  }
  return false;
}

// Appends plan[first, second) to attempt_, with two objects swapped; leaves out what is no relevant action then.
void PlanAdapter::append(const std::vector<ActionId>& plan, std::pair<std::size_t, std::size_t> range,
                         const Swap& swap) {
  const ActionTable& actions = program_.definition().actions;
  for (std::size_t i = range.first; i < range.second; ++i) {
    if (swap.from == swap.to) {
      attempt_.push_back(plan[i]);
      continue;
    }
    const std::span<const ObjectId> arguments = actions.arguments(plan[i]);
    symbol_.name = actions.name(plan[i]);
    symbol_.arguments.assign(arguments.begin(), arguments.end());
    for (ObjectId& object : symbol_.arguments) {
      object = object == swap.from ? swap.to : object == swap.to ? swap.from : object;
    }
    const std::optional<ActionId> action = program_.find_action(symbol_);
    if (action && program_.action(*action).relevant) attempt_.push_back(*action);
  }
}

bool PlanAdapter::take_place(const Word* state, const std::vector<ActionId>& plan, std::size_t place, const Swap& swap,
                             unsigned max_length, unsigned mends) {
  attempt_.clear();
  append(plan, {place + 1, plan.size()}, swap);
  const auto behind = static_cast<std::ptrdiff_t>(attempt_.size());
  append(plan, {0, place}, swap);
  if (execute(state, attempt_, max_length, mends)) return true;
  if (behind == 0 || place == 0) return false;
  std::rotate(attempt_.begin(), attempt_.begin() + behind, attempt_.end());
  return execute(state, attempt_, max_length, mends);
}

// Executes what is possible of `actions`, into result_; true when that leads to the goal.
bool PlanAdapter::execute(const Word* state, const std::vector<ActionId>& actions, unsigned max_length,
                          unsigned mends) {
  result_.clear();
  std::copy(state, state + program_.total_words(), state_.begin());
  if (program_.is_goal(state_.data())) return true;
  for (const ActionId action : actions) {
    bool done = step(action);
    if (!done && mends > 0) {
      --mends;
      done = step_like(action);
    }
    if (!done) continue;
    if (program_.is_goal(state_.data())) return result_.size() <= max_length;
    if (result_.size() >= max_length) return false;
  }
  return false;
}

// Takes the action if it is possible.
bool PlanAdapter::step(ActionId action) {
  if (!program_.applicable(state_.data(), action)) return false;
  if (!program_.apply_in_place(state_.data(), action)) {
    if (!program_.apply(state_.data(), action, next_.data())) return false;
    program_.project(next_.data());
    state_.swap(next_);
  }
  result_.push_back(action);
  return true;
}

// Takes one that differs in one object.
bool PlanAdapter::step_like(ActionId action) {
  possible_.clear();
  program_.relevant_actions(state_.data(), possible_);
  const ActionTable& actions = program_.definition().actions;
  return std::any_of(possible_.begin(), possible_.end(),
                     [&](ActionId other) { return only_difference(actions, action, other) && step(other); });
}

}  // namespace metactrl::lookahead
