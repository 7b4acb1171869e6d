// Plans as lines of text.
#include <cstdio>
#include <string>

#include "metactrl/exchange/export.h"
#include "support/json_text.h"
#include "support/words.h"

namespace metactrl {

namespace {

// Three digits, as planners print time.
std::string seconds_text(double seconds) {
  std::string out(64, '\0');
  const int length = std::snprintf(out.data(), out.size(), "%.3f", seconds);
  out.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return out;
}

}  // namespace

std::string pddl_plan(const Task& task, std::span<const PlanStep> plan) {
  std::string out;
  for (const PlanStep& step : plan) out += to_string(step) + "\n";
  return out + str_cat("; cost = ", internal::number_text(task.validate(plan).cost), "\n");
}

std::string plansys2_plan(std::span<const PlanStep> plan, double duration) {
  std::string out;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    // Nothing may follow the bracket: readers cut the last character off and take what is left for a number.
    out += str_cat(seconds_text(static_cast<double>(i) * duration), ": ", to_string(plan[i]), " [",
                   seconds_text(duration), "]\n");
  }
  return out;
}

std::string plansys2_plan(const Schedule& schedule) {
  std::string out;
  for (TimedStep& step : by_start(schedule)) {
    if (!step.takes_time) step.duration = kSeparation;
    step.takes_time = true;
    out += to_string(step) + "\n";
  }
  return out;
}

}  // namespace metactrl
