// The task is asked again with ends that are actions of their own (task/source.h). Where it has no plan then, not even if
// nothing were needed over all, no overlap helps. Where it has one, each end of that plan is moved forward and each begin
// back, as far as it stays a plan; what runs at the same time even so is what is named. Durations do not count there, so a
// plan with these overlaps may exist or not.
#include "lookahead/concurrency.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "support/list_some.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/source.h"

namespace metactrl::lookahead {

namespace {

using internal::str_cat;
using Plan = std::vector<PlanStep>;

constexpr std::size_t kMostSteps = 60;

// The step without the word that says which of its points it is; nothing for another point, or a step of one point.
std::optional<PlanStep> whole(const PlanStep& step, std::string_view point) {
  if (!step.action.starts_with(point)) return std::nullopt;
  return PlanStep{step.action.substr(point.size()), step.arguments};
}

// Where the action begins that ends at `end`.
std::size_t begin_of(const Plan& plan, std::size_t end) {
  const std::optional<PlanStep> step = whole(plan[end], task::kEnd);
  std::size_t begin = end;
  while (whole(plan[begin], task::kBegin) != step) --begin;
  return begin;
}

// The step at `from` moved to `to`, where that is a plan.
bool move_step(const Task& apart, Plan& plan, std::size_t from, std::size_t to) {
  Plan moved = plan;
  const auto at = [&](std::size_t step) { return moved.begin() + static_cast<std::ptrdiff_t>(step); };
  if (from > to) {
    std::rotate(at(to), at(from), at(from + 1));
  } else {
    std::rotate(at(from), at(from + 1), at(to + 1));
  }
  if (!apart.validate(moved).valid) return false;
  plan = std::move(moved);
  return true;
}

void move_ends_forward(const Task& apart, Plan& plan) {
  for (std::size_t end = 0; end < plan.size(); ++end) {
    if (!whole(plan[end], task::kEnd)) continue;
    std::size_t place = begin_of(plan, end) + 1;
    while (place < end && !move_step(apart, plan, end, place)) ++place;
  }
}

void move_begins_back(const Task& apart, Plan& plan) {
  for (std::size_t begin = plan.size(); begin-- > 0;) {
    const std::optional<PlanStep> step = whole(plan[begin], task::kBegin);
    if (!step) continue;
    std::size_t end = begin;
    while (whole(plan[end], task::kEnd) != step) ++end;
    std::size_t place = end - 1;
    while (place > begin && !move_step(apart, plan, begin, place)) --place;
  }
}

// Moving a step costs a judgement of the whole plan for each place, so long plans stay as they are.
void shorten_runs(const Task& apart, Plan& plan) {
  if (plan.size() > kMostSteps) return;
  move_ends_forward(apart, plan);
  move_begins_back(apart, plan);
  move_ends_forward(apart, plan);
}

// Those that end behind what they began in, which no action inside another does; where there are none, all that overlap.
std::string overlaps_text(const Plan& plan) {
  struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<Run> runs;
  for (std::size_t end = 0; end < plan.size(); ++end) {
    if (whole(plan[end], task::kEnd)) runs.push_back({begin_of(plan, end), end});
  }
  const auto name = [&](const Run& run) { return to_string(*whole(plan[run.end], task::kEnd)); };
  std::vector<std::string> behind;
  std::vector<std::string> pairs;
  for (const Run& outer : runs) {
    for (const Run& inner : runs) {
      if (inner.begin <= outer.begin || inner.begin >= outer.end) continue;
      pairs.push_back(str_cat(name(outer), " and ", name(inner)));
      if (inner.end > outer.end) behind.push_back(str_cat(pairs.back(), ", which ends behind it"));
    }
  }
  return internal::list_some(behind.empty() ? pairs : behind);
}

}  // namespace

Overlaps needed_overlaps(const Task& task, const LookaheadOptions& options, const Stop& stop) {
  Overlaps out;
  if (task.source() == nullptr) return out;
  internal::Meter meter(stop);
  const auto decide = [&](const Task& apart) { return Lookahead::compile(apart, options, stop); };
  if (const std::optional<Task> apart = task.source()->with_ends_apart(true, meter)) {
    const auto lookahead = decide(*apart);
    if (lookahead->verdict() == Verdict::kSolvable) {
      Plan plan;
      for (const ActionId action : lookahead->plan()) plan.push_back(apart->step(action));
      shorten_runs(*apart, plan);
      const std::string text = overlaps_text(plan);
      if (!text.empty())
        out.needed.push_back(str_cat("it may need concurrency that is not planned for: at the same time ", text));
    } else if (lookahead->verdict() == Verdict::kInfeasible) {
      const std::optional<Task> all = task.source()->with_ends_apart(false, meter);
      out.useless = all && decide(*all)->verdict() == Verdict::kInfeasible;
    }
  }
  if (out.useless) return out;
  std::ranges::move(task.source()->unused_offers(), std::back_inserter(out.needed));
  if (out.needed.empty()) out.needed.emplace_back("other plans, in which actions overlap, are not looked for");
  return out;
}

}  // namespace metactrl::lookahead
