#include "cli/schedules.h"

#include <iostream>
#include <iterator>
#include <optional>

#include "cli/common.h"
#include "cli/options.h"
#include "support/files.h"
#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

TimedPlan read_schedule(const std::string& path) {
  if (path != "-") return parse_schedule(internal::read_file(path), path);
  const std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  if (std::cin.bad()) throw InputError("standard input", "cannot be read", "give the plan as a file");
  return parse_schedule(text, "standard input");
}

std::vector<PlanStep> steps_of(std::span<const TimedStep> schedule) {
  std::vector<PlanStep> plan;
  plan.reserve(schedule.size());
  for (const TimedStep& step : schedule) plan.push_back(step.step);
  return plan;
}

CLI::Option* add_schedule_option(CLI::App& app, ScheduleKind& kind) {
  return add_choice(app, "--schedule", kind,
                    "where actions take time: one after the other, or each as early as the plan's order allows");
}

std::string timed_metric_text(const std::optional<double>& metric) {
  return metric ? ", metric " + number_text(*metric) : std::string();
}

std::string cost_text(const Task& task, const std::optional<Schedule>& schedule, double cost) {
  const bool adds_up = schedule && metric_of(task, *schedule);
  return str_cat("cost = ", number_text(cost), adds_up ? " with durations added up" : "");
}

std::string schedule_text(const Task& task, const Schedule& schedule) {
  std::string text;
  for (const TimedStep& step : by_start(schedule)) text += to_string(step) + "\n";
  text += str_cat("; ends at ", time_text(makespan(schedule)), timed_metric_text(metric_of(task, schedule)));
  std::vector<std::string> pairs;
  for (const auto& [a, b] : overlaps(schedule))
    pairs.push_back(str_cat(to_string(schedule[a].step), " and ", to_string(schedule[b].step)));
  if (!pairs.empty()) text += "; at the same time: " + internal::list_some(pairs);
  return text + "\n";
}

}  // namespace metactrl::cli
