// What a task was read from, for questions that the ground task cannot answer: it no longer has what can never happen.
// Made by the loaders.
#ifndef METACTRL_SRC_TASK_SOURCE_H_
#define METACTRL_SRC_TASK_SOURCE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/schedule.h"
#include "metactrl/task.h"
#include "support/meter.h"

namespace metactrl::task {

// What the names of actions begin with in Source::with_ends_apart.
constexpr std::string_view kBegin = "begin ";
constexpr std::string_view kEnd = "end ";
constexpr std::string_view kHappens = "happens ";

class Source {
 public:
  virtual ~Source() = default;
  // Why goals are out of reach even if nothing ever became false again, a sentence for each, in the names of the source.
  // Empty when that is not the reason.
  virtual std::vector<std::string> why_unreachable(internal::Meter& meter) const = 0;
  // Tasks with one thing changed, the likeliest to help first: one more fact or object, one constraint less. `visit`
  // gets what was changed, "with (sink basin) at the start", and the task, and says what it thinks of it.
  enum class Tried { kHelps, kDoesNotHelp, kEnough };
  using Visitor = std::function<Tried(const std::string& change, const Task& task)>;
  virtual void visit_changes(internal::Meter& meter, const Visitor& visit) const = 0;
  // Lets each step of a plan, which has a schedule as it was written, begin as early as the order of its points allows.
  virtual void start_early(Schedule& /*plan*/, internal::Meter& /*meter*/) const {}
  // Pairs of steps of a plan, the earlier one first, of which one changes what the other needs or changes: whoever lets
  // steps overlap and looks at what each has left keeps the order of these.
  virtual std::vector<std::pair<std::size_t, std::size_t>> orders(std::span<const PlanStep> plan,
                                                                  internal::Meter& meter) const;
  // What actions offer only while they run, who needs it, and why no plan uses it: a sentence each.
  virtual std::vector<std::string> unused_offers() const { return {}; }
  // Where actions take time: the task with two in place of each of these, "begin NAME" and "end NAME", between which
  // anything may happen, and with an action "happens N" for the N-th time at which something happens by itself: one
  // after the other, whenever. What an action needs over all it needs at both; without `over_all` it does not, and every
  // plan in which different actions overlap is one of that task. Nothing where there is no such task.
  virtual std::optional<Task> with_ends_apart(bool /*over_all*/, internal::Meter& /*meter*/) const { return {}; }
  // A schedule of the actions of a plan of that task, in which points that concern the same things come in the plan's
  // order, and in which no pair overlaps that could be set apart; nothing where there are no such times. Not judged.
  virtual std::optional<Schedule> with_times(std::span<const PlanStep> /*plan*/, internal::Meter& /*meter*/) const {
    return {};
  }
  // The task of one of the goals and what that depends on: where it has no plan, neither has the whole. Nothing where
  // that is not known to be less.
  virtual std::optional<Task> goal_part(std::string_view /*goal*/, internal::Meter& /*meter*/) const { return {}; }
  // What it has besides facts: "numbers", "durations".
  virtual std::vector<std::string> beyond_facts() const { return {}; }
};

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_SOURCE_H_
