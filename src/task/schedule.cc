// Schedules of plans. The times of a concurrent one come from the task's source, which knows what each action reads and
// changes; here they are put together, judged and printed.
#include "metactrl/schedule.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "metactrl/error.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/reference.h"
#include "task/source.h"

namespace metactrl {

using internal::str_cat;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  Diagnostics diagnostics;
  diagnostics.error({"plan", 0, 0}, what, "");
  throw InputError(std::move(diagnostics));
}

}  // namespace

std::string time_text(std::int64_t time) {
  std::string digits = std::to_string(time % kTimeUnit);
  digits.insert(0, 6 - digits.size(), '0');
  while (digits.size() > 3 && digits.back() == '0') digits.pop_back();
  return str_cat(time / kTimeUnit, '.', digits);
}

std::string to_string(const TimedStep& step) {
  // Nothing may follow the bracket: readers cut the last character off and take what is left for a number.
  const std::string text = str_cat(time_text(step.start), ": ", to_string(step.step));
  return !step.takes_time ? text : str_cat(text, " [", time_text(step.duration), "]");
}

std::int64_t makespan(std::span<const TimedStep> schedule) {
  std::int64_t end = 0;
  for (const TimedStep& step : schedule) end = std::max(end, step.start + step.duration);
  return end;
}

Schedule by_start(Schedule schedule) {
  std::stable_sort(schedule.begin(), schedule.end(),
                   [](const TimedStep& a, const TimedStep& b) { return a.start < b.start; });
  return schedule;
}

std::vector<std::pair<std::size_t, std::size_t>> overlaps(std::span<const TimedStep> schedule) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    for (std::size_t j = i + 1; j < schedule.size(); ++j) {
      const TimedStep& a = schedule[i];
      const TimedStep& b = schedule[j];
      if (a.start < b.start + b.duration && b.start < a.start + a.duration) result.emplace_back(i, j);
    }
  }
  return result;
}

bool has_durations(const Task& task) { return task.reference() != nullptr && task.reference()->has_durations(); }

std::string which_plans(const Task& task) {
  return task.reference() != nullptr ? task.reference()->which_plans() : std::string();
}

Schedule make_schedule(const Task& task, std::span<const PlanStep> plan, ScheduleKind kind, const Stop& stop) {
  if (!has_durations(task)) refuse("no action of the task takes time, so its plans have no schedule");
  Schedule schedule = task.reference()->with_durations(plan, stop);
  if (kind == ScheduleKind::kConcurrent && task.source() != nullptr) {
    internal::Meter meter(stop);
    task.source()->start_early(schedule, meter);
  }
  const Validation validation = task.reference()->validate_schedule(schedule, stop, 0);
  const bool same = validation.valid || (validation.steps_executed == plan.size() &&
                                         validation.unmet_goals == task.validate(plan, stop).unmet_goals);
  if (!same) throw std::logic_error("the schedule of a plan does not pass its own check: " + validation.reason);
  return schedule;
}

Validation validate(const Task& task, std::span<const TimedStep> schedule, const Stop& stop, std::size_t bytes) {
  return task.reference()->validate_schedule(schedule, stop, bytes);
}

std::optional<double> metric_of(const Task& task, std::span<const TimedStep> schedule) {
  return task.reference()->timed_metric(schedule, validate(task, schedule));
}

std::vector<PlanStep> plan_of(const Task& task, std::span<const TimedStep> schedule) {
  std::map<std::string, std::vector<std::string>> others;  // by the name in schedules
  for (std::uint32_t i = 0; has_durations(task) && i < task.num_action_names(); ++i) {
    const std::string& name = task.action_name(ActionNameId{i});
    const std::string written = task.reference()->written_name(name);
    if (written != name) others[written].push_back(name);
  }
  std::vector<PlanStep> plan;
  plan.reserve(schedule.size());
  for (const TimedStep& timed : schedule) {
    plan.push_back(timed.step);
    const auto named = others.find(timed.step.action);
    const auto takes_so_long = [&](const PlanStep& step) {
      return task.reference()->fixed_duration(step) == timed.duration;
    };
    if (!timed.takes_time || named == others.end() || takes_so_long(timed.step)) continue;
    for (const std::string& name : named->second) {
      const PlanStep other{name, timed.step.arguments};
      if (takes_so_long(other)) plan.back() = other;
    }
  }
  return plan;
}

namespace task {

Schedule ReferenceSemantics::with_durations(std::span<const PlanStep> plan, const Stop&) const {
  Schedule schedule;
  for (const PlanStep& step : plan) schedule.push_back({step, 0, 0, false});
  return schedule;
}

Validation ReferenceSemantics::validate_schedule(std::span<const TimedStep> schedule, const Stop& stop,
                                                 std::size_t bytes) const {
  std::vector<PlanStep> plan;
  for (const TimedStep& step : by_start({schedule.begin(), schedule.end()})) plan.push_back(step.step);
  return validate(plan, stop, bytes);
}

std::vector<std::pair<std::size_t, std::size_t>> Source::orders(std::span<const PlanStep> plan,
                                                                internal::Meter&) const {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t j = 1; j < plan.size(); ++j) all.emplace_back(j - 1, j);
  return all;
}

}  // namespace task

}  // namespace metactrl
