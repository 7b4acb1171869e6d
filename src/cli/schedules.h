// Plans in time, for the commands that read, make and print them.
#ifndef METACTRL_SRC_CLI_SCHEDULES_H_
#define METACTRL_SRC_CLI_SCHEDULES_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metactrl/schedule.h"
#include "support/enum_names.h"

namespace metactrl {

constexpr auto enum_names(ScheduleKind) {
  return internal::names<ScheduleKind>(
      {{ScheduleKind::kSequential, "sequential"}, {ScheduleKind::kConcurrent, "concurrent"}});
}

}  // namespace metactrl

namespace metactrl::cli {

// The lines of a file, or of standard input when it is "-".
TimedPlan read_schedule(const std::string& path);
std::vector<PlanStep> steps_of(std::span<const TimedStep> schedule);

// --schedule
CLI::Option* add_schedule_option(CLI::App& app, ScheduleKind& kind);

// The lines, by start, and what overlaps as a comment.
std::string schedule_text(const Task& task, const Schedule& schedule);
// ", metric 14.501"; nothing where there is none.
std::string timed_metric_text(const std::optional<double>& metric);
// "cost = 12"; where the metric counts time it says that overlaps shorten nothing.
std::string cost_text(const Task& task, const std::optional<Schedule>& schedule, double cost);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_SCHEDULES_H_
