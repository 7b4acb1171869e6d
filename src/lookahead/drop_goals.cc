#include "lookahead/drop_goals.h"

#include <algorithm>
#include <utility>

#include "support/ids.h"

namespace metactrl {

namespace {

ReducedTask reduce(const Task& task, std::vector<GoalId> dropped, const LookaheadOptions& options, const Stop& stop) {
  Task reduced = task.without_goals(dropped);
  std::shared_ptr<const Lookahead> lookahead = Lookahead::compile(reduced, options, stop);
  return {std::move(reduced), std::move(dropped), std::move(lookahead)};
}

bool solvable(const ReducedTask& reduced) { return reduced.lookahead->verdict() == Verdict::kSolvable; }

}  // namespace

ReducedTask drop_unreachable_goals(const Task& task, const LookaheadOptions& options, const Stop& stop) {
  ReducedTask whole = reduce(task, {}, options, stop);
  if (solvable(whole)) return whole;
  const std::vector<GoalId> alone = whole.lookahead->unreachable_goals();
  Verdict rest = whole.lookahead->verdict();
  if (!alone.empty()) {
    ReducedTask reduced = reduce(task, alone, options, stop);
    if (solvable(reduced)) return reduced;
    rest = reduced.lookahead->verdict();
  }
  for (std::size_t i = task.num_goals(); i-- > 0 && rest == Verdict::kInfeasible;) {
    const GoalId goal{static_cast<std::uint32_t>(i)};
    if (std::find(alone.begin(), alone.end(), goal) != alone.end()) continue;
    std::vector<GoalId> one_more = alone;
    one_more.insert(std::upper_bound(one_more.begin(), one_more.end(), goal), goal);
    ReducedTask attempt = reduce(task, std::move(one_more), options, stop);
    if (solvable(attempt)) return attempt;
  }
  std::vector<GoalId> dropped;
  for (const GoalId goal : internal::ids<GoalId>(task.num_goals())) dropped.push_back(goal);
  ReducedTask best = reduce(task, dropped, options, stop);
  for (const GoalId goal : internal::ids<GoalId>(task.num_goals())) {
    if (std::find(alone.begin(), alone.end(), goal) != alone.end()) continue;
    std::vector<GoalId> fewer = best.dropped;
    std::erase(fewer, goal);
    ReducedTask attempt = reduce(task, std::move(fewer), options, stop);
    if (solvable(attempt)) best = std::move(attempt);
  }
  return best;
}

}  // namespace metactrl
