// Why a task has no plan, and what would help.
//
// What can never become true, even if nothing became false, is explained by the task's source, which still has what
// grounding left out. Otherwise goals exclude each other: the states that can be reached are enumerated, and a smallest
// set of goals that none of them satisfies is the reason. Where they are too many, a few facts may show it (exclusion.h), or
// two or three goals alone, for which less matters. A change helps when the changed task has a plan; each is tried,
// one goal less first, and of goals that exclude each other one of those.
#include "lookahead/infeasible.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lookahead/concurrency.h"
#include "lookahead/data.h"
#include "lookahead/exclusion.h"
#include "lookahead/goals.h"
#include "metactrl/lookahead.h"
#include "metactrl/schedule.h"
#include "support/ids.h"
#include "support/list_some.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/program.h"
#include "task/source.h"

namespace metactrl {

namespace {

using internal::str_cat;

// Of each kind of change so many are named.
constexpr std::size_t kMostHelp = 3;
constexpr std::size_t kMostGoalsTried = 40;
constexpr std::size_t kMostUndecided = 4;
// For reading the changed tasks again, in pieces, and for looking at them, steps for an action: of a task with thousands of
// actions some changes are tried, of a small one a hundred.
constexpr std::uint64_t kSourceWork = 20'000'000;
constexpr std::uint64_t kTrySteps = 1'000;
// For looking at goals two by two and three by three, in pieces; steps for an action of a task with other goals.
constexpr std::uint64_t kGoalWork = 1'000'000;
constexpr std::uint64_t kActionSteps = 64;
constexpr std::uint64_t kExclusionWork = 50'000'000;
constexpr Budget kGoalBudget{200'000, std::size_t{128} << 20, 1'000'000'000};
constexpr std::size_t kMostTogether = 3;

constexpr Budget kAllGoalsBudget{20'000, std::size_t{128} << 20, 1'000'000'000};

// For each of the tasks that are looked at. Many have a plan, which a search finds sooner than all states are enumerated.
LookaheadOptions small_options() {
  LookaheadOptions options;
  options.fitted_horizon = true;
  options.weights = false;
  options.exact = {5'000, std::size_t{128} << 20, 1'000'000'000};
  options.search = {5'000, std::size_t{128} << 20, 1'000'000'000};
  return options;
}

Verdict verdict(const Task& task, const Stop& stop, const LookaheadOptions& options = small_options()) {
  return Lookahead::compile(task, options, stop)->verdict();
}

// A small set of goals that no reachable state satisfies together; empty where none was found.
class ExcludedGoals {
 public:
  ExcludedGoals(const Task& task, const Stop& stop)
      : task_(task), stoppable_(stop), meter_(stop, {.work = kGoalWork}) {}

  std::vector<GoalId> find() {
    try {
      const task::Program& program = task_.program();
      std::vector<GoalId> found = first(lookahead::smallest_excluded_goals(program, kAllGoalsBudget, meter_));
      if (found.empty()) found = first(lookahead::find_exclusion(program, kExclusionWork, false, stoppable_));
      for (std::size_t size = 2; found.empty() && size <= kMostTogether && size < task_.num_goals(); ++size) {
        found = among(size, 0);
      }
      return found;
    } catch (const Stopped& stopped) {
      if (stopped.reason() == Stopped::kCancelled) throw;
      return {};
    }
  }

 private:
  // Among those that are chosen and `more` of the others, from number `first` on.
  std::vector<GoalId> among(std::size_t more, std::size_t first) {
    if (more == 0) return among_chosen();
    for (std::size_t goal = first; goal + more <= task_.num_goals(); ++goal) {
      chosen_.push_back(internal::to_id<GoalId>(goal));
      std::vector<GoalId> found = among(more - 1, goal + 1);
      chosen_.pop_back();
      if (!found.empty()) return found;
    }
    return {};
  }

  std::vector<GoalId> among_chosen() {
    meter_.step(kActionSteps * task_.num_actions());
    std::vector<GoalId> others;
    for (const GoalId goal : internal::ids<GoalId>(task_.num_goals())) {
      if (std::ranges::find(chosen_, goal) == chosen_.end()) others.push_back(goal);
    }
    const Task some = task_.without_goals(others);
    std::vector<GoalId> found = first(lookahead::smallest_excluded_goals(some.program(), kGoalBudget, meter_));
    for (GoalId& goal : found) goal = chosen_[internal::index(goal)];
    return found;
  }

  static std::vector<GoalId> first(const std::vector<lookahead::GoalSet>& sets) {
    return sets.empty() ? std::vector<GoalId>() : lookahead::members(sets[0]);
  }

  const Task& task_;
  internal::Meter stoppable_;  // for what counts its own work
  internal::Meter meter_;
  std::vector<GoalId> chosen_;
};

// Can all but any one of these goals be reached together?
bool all_but_one_can(const Task& task, const std::vector<GoalId>& goals, const Stop& stop) {
  return std::ranges::all_of(goals, [&](GoalId left_out) {
    std::vector<GoalId> dropped;
    for (const GoalId goal : internal::ids<GoalId>(task.num_goals())) {
      if (goal == left_out || std::ranges::find(goals, goal) == goals.end()) dropped.push_back(goal);
    }
    return verdict(task.without_goals(dropped), stop) == Verdict::kSolvable;
  });
}

// Where not all values of numbers are followed, states that were not reached prove nothing.
std::vector<GoalId> excluded_goals(const Task& task, std::span<const lookahead::GoalSet> known, const Stop& stop) {
  if (!known.empty()) return lookahead::members(known[0]);
  if (task.program().definition().whole()) return ExcludedGoals(task, stop).find();
  const auto lookahead = Lookahead::compile(task, small_options(), stop);
  if (lookahead->verdict() != Verdict::kInfeasible || lookahead->unreachable_goals().empty()) return {};
  return {lookahead->unreachable_goals()[0]};
}

bool can_drop_goals(const Task& task) { return task.num_goals() > 1 && task.num_goals() <= kMostGoalsTried; }

std::vector<std::string> reasons_of_goals(const Task& task, const std::vector<GoalId>& goals, const Stop& stop) {
  if (goals.empty()) return {};
  const std::vector<task::MonitorDefinition>& constraints = task.program().definition().monitors;
  const std::string way = constraints.empty()       ? ""
                          : constraints.size() == 1 ? " without breaking the constraint " + constraints[0].text
                                                    : " without breaking a trajectory constraint";
  if (goals.size() == 1) return {str_cat("no state that can be reached", way, " satisfies ", task.goal_text(goals[0]))};
  std::vector<std::string> texts;
  texts.reserve(goals.size());
  for (const GoalId goal : goals) texts.push_back(task.goal_text(goal));
  std::string reason = str_cat("these goals exclude each other: ", internal::list_some(texts));
  if (!all_but_one_can(task, goals, stop)) return {reason};
  return {str_cat(reason, "; ", goals.size() == 2 ? "each" : "any fewer of them",
                  " can be reached, but not all of them together", way)};
}

std::vector<std::string> reasons_of_overlaps(const Task& task, const lookahead::Overlaps& overlaps) {
  std::vector<std::string> reasons;
  for (const std::string& sentence : {overlaps.needed, overlaps.other_times}) {
    if (!sentence.empty()) reasons.push_back(sentence);
  }
  if (task.source() != nullptr) std::ranges::move(task.source()->unused_offers(), std::back_inserter(reasons));
  if (reasons.empty()) reasons.emplace_back("other plans, in which actions overlap, are not looked for");
  return reasons;
}

std::string list_constraints(const std::vector<std::string>& texts) {
  return str_cat(texts.size() == 1 ? "the constraint " : "the constraints ", internal::list_some(texts));
}

constexpr std::string_view kNoGoal = "without the goal ";
constexpr std::string_view kNoConstraint = "without the constraint ";

// `excluded`: goals that exclude each other; empty where none were found. `options`: with the horizon, where it is fixed.
void find_help(const Task& task, std::vector<GoalId> excluded, const LookaheadOptions& options, const Stop& stop,
               std::vector<std::string>& help) {
  std::size_t undecided = 0;
  const auto helps = [&](const Task& changed) {
    const Verdict found = verdict(changed, stop, options);
    if (found == Verdict::kUndecided) ++undecided;
    return found == Verdict::kSolvable;
  };
  if (can_drop_goals(task)) {
    if (excluded.empty()) std::ranges::copy(internal::ids<GoalId>(task.num_goals()), std::back_inserter(excluded));
    for (const GoalId goal : excluded) {
      if (help.size() == kMostHelp || undecided == kMostUndecided) break;
      const GoalId dropped[] = {goal};
      if (helps(task.without_goals(dropped))) help.push_back(str_cat(kNoGoal, task.goal_text(goal)));
    }
  }
  if (task.source() == nullptr) return;
  const std::size_t goals = help.size();
  undecided = 0;
  try {
    internal::Meter meter(stop, {.work = kSourceWork});
    using Tried = task::Source::Tried;
    task.source()->visit_changes(meter, [&](const std::string& change, const Task& changed) {
      // A constraint that the last state has to answer for is a goal, too, and was tried as one.
      const std::string as_goal =
          change.starts_with(kNoConstraint) ? str_cat(kNoGoal, change.substr(kNoConstraint.size())) : "";
      if (std::find(help.begin(), help.end(), as_goal) != help.end()) return Tried::kHelps;
      const bool helped = helps(changed);
      if (helped) help.push_back(change);
      meter.step(kTrySteps * changed.num_actions());
      if (help.size() == goals + kMostHelp || undecided == kMostUndecided) return Tried::kEnough;
      return helped ? Tried::kHelps : Tried::kDoesNotHelp;
    });
  } catch (const Stopped& stopped) {
    if (stopped.reason() == Stopped::kCancelled) throw;
  }
}

// Which constraints there is a plan without, where there are several.
void name_constraints(const Task& task, WhyInfeasible& why) {
  if (why.reasons.empty() || task.program().monitors().size() < 2) return;
  std::vector<std::string> one_less;
  for (const std::string& change : why.would_help) {
    if (change.starts_with(kNoConstraint)) one_less.push_back(change.substr(kNoConstraint.size()));
  }
  if (one_less.empty()) return;
  why.reasons[0] +=
      str_cat("; it is enough to do without ", one_less.size() == 1 ? "" : "one of ", list_constraints(one_less));
}

// `known`: goals that exclude each other, if any are known to. `options`: for what would help.
WhyInfeasible find_reasons(const Task& task, std::span<const lookahead::GoalSet> known, const LookaheadOptions& options,
                           const Stop& stop) {
  WhyInfeasible why;
  try {
    if (task.source() != nullptr) {
      internal::Meter meter(stop);
      why.reasons = task.source()->why_unreachable(meter);
    }
    if (task.initially_violated()) why.reasons.insert(why.reasons.begin(), lookahead::initial_violation(task));
    // Goals are no reason where other plans might reach them.
    bool by_goals = why.reasons.empty();
    if (by_goals && has_durations(task)) {
      by_goals = false;
      if (verdict(task, stop) == Verdict::kInfeasible) {
        const lookahead::Overlaps overlaps = lookahead::needed_overlaps(task, small_options(), stop);
        by_goals = overlaps.useless;
        if (!by_goals) why.reasons = reasons_of_overlaps(task, overlaps);
      }
    }
    std::vector<GoalId> excluded;
    if (can_drop_goals(task) || by_goals) excluded = excluded_goals(task, known, stop);
    if (by_goals) why.reasons = reasons_of_goals(task, excluded, stop);
    if (by_goals && has_durations(task))
      why.reasons.emplace_back("plans in which different actions overlap do not reach the goal either");
    find_help(task, std::move(excluded), options, stop, why.would_help);
    if (by_goals) name_constraints(task, why);
  } catch (const Stopped&) {
    // What was found by now is true.
  }
  return why;
}

}  // namespace

WhyInfeasible why_infeasible(const Task& task, const Stop& stop) {
  return find_reasons(task, {}, small_options(), stop);
}

namespace lookahead {

std::string initial_violation(const Task& task) {
  // A task that was not read from PDDL has nobody who could name it.
  std::string reason = task.reference() != nullptr ? task.validate(std::span<const ActionId>()).reason : "";
  return reason.starts_with("the initial state breaks") ? reason : "the initial state breaks a trajectory constraint";
}

WhyInfeasible why_infeasible(const Task& task, const Lookahead& known, const Stop& stop) {
  const LookaheadData& data = known.data();
  LookaheadOptions options = small_options();
  if (data.options.fixed_horizon) {
    options.fixed_horizon = true;
    options.horizon = data.options.horizon;
  }
  std::span<const GoalSet> conflicts;
  if (&known.task().program() == &task.program()) conflicts = data.conflicts;
  return find_reasons(task, conflicts, options, stop);
}

std::string why_undecided(const Task& task, const Stop& stop) {
  if (!has_durations(task)) return {};
  try {
    return needed_overlaps(task, small_options(), stop).needed;
  } catch (const Stopped&) {
    return {};
  }
}

}  // namespace lookahead

}  // namespace metactrl
