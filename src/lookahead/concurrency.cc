// The task is asked again with ends that are actions of their own (task/source.h). Where it has no plan then, not even if
// nothing were needed over all, no overlap helps. Where it has one, each end of that plan is moved forward and each begin
// back, as far as it stays a plan. Durations do not count there: times are looked for afterwards, and where there are some,
// and the judge of schedules accepts them, what overlaps in that schedule is what is named. Otherwise it is what runs at the
// same time in the plan, and a plan with these overlaps may exist or not.
#include "lookahead/concurrency.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "metactrl/schedule.h"
#include "support/list_some.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/source.h"

namespace metactrl::lookahead {

namespace {

using internal::str_cat;
using Plan = std::vector<PlanStep>;

constexpr std::size_t kMostSteps = 60;
constexpr std::size_t kMostTimed = 400;

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

struct Run {
  std::string name;
  std::int64_t begin = 0;  // places or times
  std::int64_t end = 0;
};

// Those that end behind what they began in, which no action inside another does; where there are none, all that overlap.
std::string overlaps_text(const std::vector<Run>& runs) {
  std::vector<std::string> behind;
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = 0; j < runs.size(); ++j) {
      const Run& outer = runs[i];
      const Run& inner = runs[j];
      const bool first = outer.begin < inner.begin || (outer.begin == inner.begin && i < j);
      if (!first || inner.begin >= outer.end) continue;
      pairs.push_back(str_cat(outer.name, " and ", inner.name));
      if (inner.end > outer.end) behind.push_back(str_cat(pairs.back(), ", which ends behind it"));
    }
  }
  return internal::list_some(behind.empty() ? pairs : behind);
}

std::vector<Run> runs_of(const Plan& plan) {
  std::vector<Run> runs;
  for (std::size_t end = 0; end < plan.size(); ++end) {
    if (const std::optional<PlanStep> step = whole(plan[end], task::kEnd))
      runs.push_back(
          {to_string(*step), static_cast<std::int64_t>(begin_of(plan, end)), static_cast<std::int64_t>(end)});
  }
  return runs;
}

std::vector<Run> runs_of(const Schedule& schedule) {
  std::vector<Run> runs;
  for (const TimedStep& one : schedule) runs.push_back({to_string(one.step), one.start, one.start + one.duration});
  return runs;
}

// With times that the judge accepts.
std::optional<Schedule> judged(const Task& task, const Plan& plan, internal::Meter& meter) {
  if (plan.size() > kMostTimed) return std::nullopt;
  std::optional<Schedule> schedule = task.source()->with_times(plan, meter);
  if (!schedule || !validate(task, *schedule, meter.stop()).valid) return std::nullopt;
  return schedule;
}

// What a plan with ends apart says of the task.
void tell(const Task& task, const Plan& plan, internal::Meter& meter, Overlaps& out) {
  constexpr const char* kWhich = "concurrency that is not planned for: at the same time ";
  const std::optional<Schedule> schedule = judged(task, plan, meter);
  const std::string text = overlaps_text(schedule ? runs_of(*schedule) : runs_of(plan));
  if (!text.empty()) {
    out.needed = str_cat(schedule ? "it needs " : "it may need ", kWhich, text);
  } else if (schedule) {
    std::vector<std::string> steps;
    for (const TimedStep& step : by_start(*schedule)) steps.push_back(to_string(step));
    out.other_times = str_cat("it needs times that are not planned for: ", internal::list_some(steps));
  }
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
      tell(task, plan, meter, out);
    } else if (lookahead->verdict() == Verdict::kInfeasible) {
      const std::optional<Task> all = task.source()->with_ends_apart(false, meter);
      out.useless = all && decide(*all)->verdict() == Verdict::kInfeasible;
    }
  }
  return out;
}

}  // namespace metactrl::lookahead
