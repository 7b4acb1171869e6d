// Of goals that exclude each other one has to go: a set of goals to drop has a member in common with each such *conflict*.
// The smallest sets that do are tried, those of the last goals first; one that is refuted is a further conflict, as small
// as its proof allows (exclusion.h). So what is found is as small as can be, unless something stayed undecided.
//
// A try is given little at first. What little did not decide shares the budget of one search when a larger set is known to
// do. Where tries get too many, goals are kept in their order instead, as long as they can be reached together with those
// kept before.
#include "lookahead/drop_goals.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "lookahead/data.h"
#include "lookahead/exclusion.h"
#include "lookahead/goals.h"
#include "lookahead/spending.h"
#include "support/ids.h"
#include "support/meter.h"

namespace metactrl {

namespace {

using lookahead::GoalSet;
using lookahead::kMostGoals;
using lookahead::limit;
using lookahead::members;

bool solvable(const ReducedTask& reduced) { return reduced.lookahead->verdict() == Verdict::kSolvable; }

class Dropper {
 public:
  Dropper(const Task& task, const LookaheadOptions& options, const Stop& stop)
      : task_(task), options_(options), stop_(stop) {}

  ReducedTask run(std::shared_ptr<const Lookahead> known) {
    ReducedTask whole = known ? ReducedTask{task_, {}, std::move(known)} : reduce({}, options_);
    whole.fewest = true;
    if (solvable(whole)) return whole;
    const std::vector<GoalId> alone = whole.lookahead->unreachable_goals();
    if (!alone.empty()) {
      ReducedTask rest = reduce(alone, options_);
      rest.fewest = true;
      if (solvable(rest)) return rest;
    }
    if (task_.num_goals() > kMostGoals) return one_after_the_other(alone);
    learn_all(whole);
    std::optional<ReducedTask> found = fewest();
    if (!found) return one_after_the_other(alone);
    // Little is enough to decide; what is planned with has all that was asked for.
    ReducedTask thorough = reduce(found->dropped, options_);
    thorough.fewest = found->fewest;
    return solvable(thorough) ? thorough : std::move(*found);
  }

 private:
  ReducedTask reduce(std::vector<GoalId> dropped, const LookaheadOptions& options) const {
    Task reduced = task_.without_goals(dropped);
    std::shared_ptr<const Lookahead> lookahead = Lookahead::compile(reduced, options, stop_);
    return {std::move(reduced), std::move(dropped), std::move(lookahead)};
  }

  // For a verdict: nobody reads these plans.
  LookaheadOptions verdict_only() const {
    LookaheadOptions options = options_;
    options.weights = false;
    options.costs = false;
    options.improve = 0;
    return options;
  }
  LookaheadOptions with_little() const {
    constexpr Budget kLittleExact{.states = 20'000, .work = 1'000'000'000};
    constexpr Budget kLittleSearch{.states = 5'000, .work = 200'000'000};
    LookaheadOptions options = verdict_only();
    limit(options.exact, kLittleExact);
    limit(options.search, kLittleSearch);
    return options;
  }

  // All of them together take what one search may.
  LookaheadOptions with_share_of(std::size_t count) const {
    LookaheadOptions options = verdict_only();
    for (Budget* budget : {&options.exact, &options.search}) {
      budget->states /= std::max<std::size_t>(count, 1);
      budget->work /= std::max<std::size_t>(count, 1);
    }
    return options;
  }

  GoalSet all() const { return task_.num_goals() == kMostGoals ? ~GoalSet{0} : (GoalSet{1} << task_.num_goals()) - 1; }

  // --- conflicts -----------------------------------------------------------------------------------------------------

  // Why it is infeasible to drop no more than that, if it is.
  void learn(const ReducedTask& reduced, GoalSet dropped) {
    if (reduced.lookahead->verdict() != Verdict::kInfeasible) return;
    const std::vector<GoalId> kept = members(all() & ~dropped);
    const auto learn_set = [&](const std::vector<GoalId>& goals) {
      GoalSet set = 0;
      for (const GoalId goal : goals) set |= GoalSet{1} << internal::index(kept[internal::index(goal)]);
      conflicts_.push_back(set);
    };
    const LookaheadData& data = reduced.lookahead->data();
    for (const GoalId goal : data.unreachable_goals) learn_set({goal});
    if (!data.unreachable_goals.empty()) return;
    std::vector<GoalSet> found = data.conflicts;
    if (found.empty() && data.space) {
      internal::Meter meter(stop_);
      found = lookahead::smallest_excluded_goals(reduced.task.program(), data.options.exact, meter);
    }
    for (const GoalSet set : found) learn_set(members(set));
    if (found.empty()) conflicts_.push_back(all() & ~dropped);
  }

  // Whatever the whole task shows at little cost.
  void learn_all(const ReducedTask& whole) {
    constexpr std::uint64_t kWork = 100'000'000;
    learn(whole, 0);
    internal::Meter meter(stop_);
    if (!whole.task.program().definition().whole()) return;
    for (const GoalSet set :
         lookahead::find_exclusion(whole.task.program(), std::min(options_.search.work, kWork), true, meter)) {
      conflicts_.push_back(set);
    }
  }

  bool settles_conflicts(GoalSet dropped) const {
    return std::ranges::all_of(conflicts_, [&](GoalSet conflict) { return (conflict & dropped) != 0; });
  }

  // `dropped` and `more` goals, which together settle all conflicts and have not been tried.
  std::optional<GoalSet> next_set(GoalSet dropped, std::size_t more) const {
    const auto open = std::ranges::find_if(conflicts_, [&](GoalSet conflict) { return (conflict & dropped) == 0; });
    if (more == 0) {
      return open == conflicts_.end() && !tried_.contains(dropped) ? std::optional(dropped) : std::nullopt;
    }
    GoalSet choice = open == conflicts_.end() ? all() & ~dropped : *open;
    while (choice != 0) {
      const GoalSet last = std::bit_floor(choice);
      choice &= ~last;
      if (const std::optional<GoalSet> found = next_set(dropped | last, more - 1)) return found;
    }
    return std::nullopt;
  }

  // --- tries ---------------------------------------------------------------------------------------------------------

  // Nothing when it takes too many tries.
  std::optional<ReducedTask> fewest() {
    constexpr std::size_t kTriesPerGoal = 4;
    const LookaheadOptions little = with_little();
    for (std::size_t size = 1; size <= task_.num_goals(); ++size) {
      while (const std::optional<GoalSet> dropped = next_set(0, size)) {
        if (tried_.size() == kTriesPerGoal * task_.num_goals()) return std::nullopt;
        tried_.insert(*dropped);
        ReducedTask attempt = reduce(members(*dropped), little);
        if (solvable(attempt)) return fewer_than(std::move(attempt));
        learn(attempt, *dropped);
        if (attempt.lookahead->verdict() == Verdict::kUndecided) undecided_.push_back(*dropped);
      }
    }
    return std::nullopt;
  }

  // Does a smaller set do, of those that were left undecided?
  ReducedTask fewer_than(ReducedTask known) {
    std::erase_if(undecided_, [&](GoalSet set) {
      return static_cast<std::size_t>(std::popcount(set)) >= known.dropped.size() || !settles_conflicts(set);
    });
    known.fewest = true;
    const LookaheadOptions share = with_share_of(undecided_.size());
    for (const GoalSet set : undecided_) {
      ReducedTask attempt = reduce(members(set), share);
      attempt.fewest = known.fewest;
      if (solvable(attempt)) return attempt;
      known.fewest = known.fewest && attempt.lookahead->verdict() == Verdict::kInfeasible;
    }
    return known;
  }

  ReducedTask one_after_the_other(const std::vector<GoalId>& alone) const {
    const LookaheadOptions share = with_share_of(task_.num_goals());
    std::vector<GoalId> dropped;
    for (const GoalId goal : internal::ids<GoalId>(task_.num_goals())) dropped.push_back(goal);
    ReducedTask best = reduce(dropped, share);
    for (const GoalId goal : internal::ids<GoalId>(task_.num_goals())) {
      if (std::ranges::find(alone, goal) != alone.end()) continue;
      std::vector<GoalId> fewer = best.dropped;
      std::erase(fewer, goal);
      ReducedTask attempt = reduce(std::move(fewer), share);
      if (solvable(attempt)) best = std::move(attempt);
    }
    return reduce(best.dropped, options_);
  }

  const Task& task_;
  const LookaheadOptions& options_;
  const Stop& stop_;
  std::vector<GoalSet> conflicts_;
  std::set<GoalSet> tried_;
  std::vector<GoalSet> undecided_;
};

}  // namespace

ReducedTask drop_unreachable_goals(const Task& task, const LookaheadOptions& options, const Stop& stop,
                                   std::shared_ptr<const Lookahead> known) {
  return Dropper(task, options, stop).run(std::move(known));
}

}  // namespace metactrl
