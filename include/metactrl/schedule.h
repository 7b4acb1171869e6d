// Plans in time: when each action of a plan begins and how long it takes.
//
//     Task task = load_pddl("domain.pddl", "problem.pddl");            // with (:durative-action ...)
//     std::vector<PlanStep> plan = ...;                                // in the order in which it was written
//     Schedule schedule = make_schedule(task, plan, ScheduleKind::kConcurrent);
//     for (const TimedStep& step : schedule) std::cout << to_string(step) << '\n';
//
// prints, for example,
//
//     0.000: (drive truck a b) [5.000]
//     0.000: (boil-water kettle) [3.000]
//     5.001: (unload truck crate b) [1.000]
//
// **Sequential**: an action begins kSeparation after the one before it has ended. A plan of the task is one that can be
// carried out in this way; that is what decoding, search and proofs speak of. Where actions need what others offer only
// while they run, they run inside those: one after the other there, too. **Concurrent**: the same actions, each as
// early as the plan's order allows: of two points in time that concern the same fact or number, one of them by changing
// it, the one that came first in the plan still comes first, and nothing changes what an action needs over all of its
// time while it runs. No schedule that keeps these orders ends earlier, but for the gaps around points that change a fact
// twice, which other judges want to themselves.
//
// Every schedule that is returned was judged by the second implementation (task/reference.h), which knows nothing of how
// it was made.
#ifndef METACTRL_SCHEDULE_H_
#define METACTRL_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/task.h"

namespace metactrl {

// A unit of the domain's time is so many of ours.
constexpr std::int64_t kTimeUnit = 1'000'000;
// What lies between two points that must not coincide, 0.001.
constexpr std::int64_t kSeparation = kTimeUnit / 1000;
// No step ends later: sums of times stay within what can be counted.
constexpr std::int64_t kLatestTime = 2'000'000'000'000 * kTimeUnit;

struct TimedStep {
  PlanStep step;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  bool takes_time = true;  // an action without a duration happens at `start`; a durative one may take 0 all the same
  bool operator==(const TimedStep&) const = default;
};

// In the order of the plan that it was made from. An action that may take several durations has several names in plans and
// one, that of the files, here.
using Schedule = std::vector<TimedStep>;

enum class ScheduleKind : std::uint8_t { kSequential, kConcurrent };

// "0.000: (move a b) [5.000]", with as many digits as it takes, at least three; a step that takes no time has no bracket.
std::string to_string(const TimedStep& step);
// "5.001"
std::string time_text(std::int64_t time);
// When the last step has ended; 0 for an empty schedule.
std::int64_t makespan(std::span<const TimedStep> schedule);
// By start; equal ones stay in their order.
Schedule by_start(Schedule schedule);

// Do actions of the task take time?
bool has_durations(const Task& task);
// Which of all plans are looked for, where that is not all: "of plans that run one action at a time".
std::string which_plans(const Task& task);

// The plan's steps must be legal, one after the other; of the goals the schedule reaches those that the plan does. Throws
// InputError for others, and where a time is too large to be counted.
Schedule make_schedule(const Task& task, std::span<const PlanStep> plan, ScheduleKind kind, const Stop& stop = {});

// Is it a plan, with these times? Steps may come in any order. Judged from the definition: conditions at each point, over
// all between them, and that no two points coincide of which one changes what the other needs or changes.
Validation validate(const Task& task, std::span<const TimedStep> schedule, const Stop& stop = {},
                    std::size_t bytes = 0);

// What the task's metric is of a plan with these times, where it counts (total-time): the time at which the schedule ends.
// The cost of a plan counts durations one after the other instead, whichever overlap. Nothing for other metrics, and for
// what is no plan.
std::optional<double> metric_of(const Task& task, std::span<const TimedStep> schedule);

// Pairs of steps, by their places, that run at the same time.
std::vector<std::pair<std::size_t, std::size_t>> overlaps(std::span<const TimedStep> schedule);

// The steps of a schedule, under the names that the task's plans have for them: of an action that may take several
// durations, the one for that which the step takes. Where that depends on the state, the name stays the schedule's.
std::vector<PlanStep> plan_of(const Task& task, std::span<const TimedStep> schedule);

// Reads what `to_string` writes, one step in each line. A step without time stamps begins where the one before it has
// ended; `is_timed` says whether any line had one. Throws InputError as `parse_plan` does.
struct TimedPlan {
  Schedule schedule;
  bool is_timed = false;
};
TimedPlan parse_schedule(std::string_view text, const std::string& file_name);

}  // namespace metactrl

#endif  // METACTRL_SCHEDULE_H_
