// The meaning of a plan, defined without grounding or packed states: the second implementation that checks the first.
// Made by the loaders.
#ifndef METACTRL_SRC_TASK_REFERENCE_H_
#define METACTRL_SRC_TASK_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metactrl/schedule.h"
#include "metactrl/task.h"

namespace metactrl::task {

class ReferenceSemantics {
 public:
  virtual ~ReferenceSemantics() = default;
  // As Task::validate.
  virtual Validation validate(std::span<const PlanStep> plan, const Stop& stop, std::size_t bytes) const = 0;
  Validation validate(std::span<const PlanStep> plan) const { return validate(plan, {}, 0); }
  // Every fact stated as true at the start, those that never change included, in the order of the file.
  virtual std::vector<std::string> initial_facts() const = 0;

  // Do actions take time? Otherwise the rest is not asked.
  virtual bool has_durations() const { return false; }
  // Which of all plans are looked for: "of plans that run one action at a time"; empty: all.
  virtual std::string which_plans() const { return {}; }
  // How long the step takes, whatever the state; nothing where that depends on the state.
  virtual std::optional<std::int64_t> fixed_duration(const PlanStep& /*step*/) const { return 0; }
  // What schedules call the action: plans tell actions of several durations apart by their names, schedules by times.
  virtual std::string written_name(const std::string& action) const { return action; }
  // The steps, when each begins and how long it takes when the plan is carried out as it was written. Throws InputError
  // where a step is not legal, or takes longer than can be counted.
  virtual Schedule with_durations(std::span<const PlanStep> plan, const Stop& stop) const;
  // As validate(task, schedule) in schedule.h.
  virtual Validation validate_schedule(std::span<const TimedStep> schedule, const Stop& stop, std::size_t bytes) const;
  // As metric_of in schedule.h, once the schedule was judged.
  virtual std::optional<double> timed_metric(std::span<const TimedStep> /*schedule*/,
                                             const Validation& /*validation*/) const {
    return {};
  }
};

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_REFERENCE_H_
