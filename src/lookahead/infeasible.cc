// Why a task has no plan, and what would help.
//
// What can never become true, even if nothing became false, is explained by the task's source, which still has what
// grounding left out. Otherwise goals exclude each other: the states that can be reached are enumerated, and a smallest
// set of goals that none of them satisfies is the reason. A change helps when the changed task has a plan; each is
// tried, one goal less first.
#include <algorithm>
#include <optional>

#include "lookahead/goals.h"
#include "metactrl/lookahead.h"
#include "support/ids.h"
#include "support/list_some.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/source.h"

namespace metactrl {

namespace {

using internal::str_cat;

// Of each kind of change so many are named.
constexpr std::size_t kMostHelp = 3;
constexpr std::size_t kMostGoalsTried = 40;
// For reading the changed tasks again, in pieces.
constexpr std::uint64_t kSourceWork = 20'000'000;

// For each of the tasks that are looked at.
LookaheadOptions small_options() {
  LookaheadOptions options;
  options.fitted_horizon = true;
  options.weights = false;
  options.exact = {20'000, std::size_t{128} << 20, 1'000'000'000};
  options.search = {5'000, std::size_t{128} << 20, 1'000'000'000};
  return options;
}

Verdict verdict(const Task& task, const Stop& stop) {
  return Lookahead::compile(task, small_options(), stop)->verdict();
}

}  // namespace

std::vector<std::string> why_infeasible(const Task& task, const Stop& stop) {
  if (verdict(task, stop) != Verdict::kInfeasible) return {};
  if (task.source() != nullptr) {
    internal::Meter meter(stop);
    std::vector<std::string> reasons = task.source()->why_unreachable(meter);
    if (!reasons.empty()) return reasons;
    reasons = task.source()->needs_concurrency();
    if (!reasons.empty()) return reasons;
  }
  internal::Meter meter(stop);
  const std::vector<GoalId> goals = lookahead::smallest_excluded_goals(task.program(), small_options().exact, meter);
  if (goals.empty()) return {};
  if (goals.size() == 1) return {str_cat("no state that can be reached satisfies ", task.goal_text(goals[0]))};
  std::vector<std::string> texts;
  texts.reserve(goals.size());
  for (const GoalId goal : goals) texts.push_back(task.goal_text(goal));
  return {str_cat("these goals exclude each other: ", internal::list_some(texts), "; ",
                  goals.size() == 2 ? "each" : "any fewer of them", " can be reached, but not all of them together")};
}

std::vector<std::string> what_would_help(const Task& task, const Stop& stop) {
  std::vector<std::string> help;
  if (task.num_goals() <= kMostGoalsTried) {
    for (const GoalId goal : internal::ids<GoalId>(task.num_goals())) {
      if (help.size() == kMostHelp || task.num_goals() == 1) break;
      const GoalId dropped[] = {goal};
      if (verdict(task.without_goals(dropped), stop) == Verdict::kSolvable) {
        help.push_back("without the goal " + task.goal_text(goal));
      }
    }
  }
  if (task.source() == nullptr) return help;
  const std::size_t goals = help.size();
  try {
    internal::Meter meter(stop, {.work = kSourceWork});
    task.source()->visit_changes(meter, [&](const std::string& change, const Task& changed) {
      if (verdict(changed, stop) == Verdict::kSolvable) help.push_back(change);
      return help.size() < goals + kMostHelp;
    });
  } catch (const Stopped& stopped) {
    if (stopped.reason() == Stopped::kCancelled) throw;
  }
  return help;
}

}  // namespace metactrl
