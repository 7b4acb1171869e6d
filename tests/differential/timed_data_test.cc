// Tasks with durations, numbers and preferences as robots, competitions and people write them: each loads, or is refused
// for a reason that stands here; and what is planned for them within a small budget is a plan by the second
// implementation, with the times of both kinds of schedules.
#include <gtest/gtest.h>

#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/schedule.h"
#include "support/data_table.h"

namespace metactrl::timed_data_test {
namespace {

struct Tasks {
  std::size_t read = 0;
  std::size_t loaded = 0;
  std::size_t too_large = 0;
  std::size_t planned = 0;
  std::size_t schedules = 0;
};

// The first error.
std::string first_error(const InputError& error) {
  for (const Diagnostic& one : error.diagnostics().items()) {
    if (one.severity == Diagnostic::Severity::kError) return one.message;
  }
  return error.what();
}

std::optional<std::vector<PlanStep>> planned(const Task& task) {
  LookaheadOptions options;
  options.fitted_horizon = true;
  options.weights = false;
  options.exact = {2'000, std::size_t{64} << 20, 100'000'000};
  options.search = {2'000, std::size_t{64} << 20, 100'000'000};
  const auto lookahead = Lookahead::compile(task, options);
  if (lookahead->verdict() != Verdict::kSolvable) return std::nullopt;
  std::vector<PlanStep> plan;
  for (const ActionId action : lookahead->plan()) plan.push_back(task.step(action));
  return plan;
}

void judge(const Task& task, const std::vector<PlanStep>& plan, Tasks& count) {
  ++count.planned;
  const Validation validation = task.validate(plan);
  EXPECT_TRUE(validation.valid) << validation.reason;
  if (!has_durations(task)) return;
  for (const ScheduleKind kind : {ScheduleKind::kSequential, ScheduleKind::kConcurrent}) {
    // Read back as it is printed.
    std::string text;
    for (const TimedStep& step : make_schedule(task, plan, kind)) text += to_string(step) + "\n";
    const Validation judged = validate(task, parse_schedule(text, "plan").schedule);
    EXPECT_TRUE(judged.valid) << judged.reason << '\n' << text;
    ++count.schedules;
  }
}

// The tasks of a folder.
Tasks load_all(std::string_view folder, testing::Refusals refusals) {
  Tasks count;
  for (const std::vector<std::string>& row : testing::data_table("pddl21/VERDICTS.tsv")) {
    if (!row[0].starts_with(folder)) continue;
    SCOPED_TRACE(row[0]);
    const std::string domain = "pddl21/" + row[0].substr(0, row[0].rfind('/')) + "/domain.pddl";
    ++count.read;
    std::string reason;
    try {
      const Task task = load_pddl_text(testing::data_text(domain), testing::data_text("pddl21/" + row[0]));
      ++count.loaded;
      if (const auto plan = planned(task)) judge(task, *plan, count);
    } catch (const TaskTooLarge&) {
      ++count.too_large;
    } catch (const InputError& error) {
      reason = first_error(error);
    }
    refusals.found(row[0], reason);
  }
  refusals.finish();
  std::cout << folder << ": " << count.loaded << " of " << count.read << " loaded, " << count.too_large
            << " too large, " << count.planned << " planned, " << count.schedules << " schedules\n";
  return count;
}

TEST(TimedData, PlanSys2) {
  METACTRL_NEEDS_DATA("pddl21/VERDICTS.tsv");
  const Tasks tasks =
      load_all("plansys2/", testing::Refusals({{"plansys2/hospital-l4ros2/p02.pddl", "'robotat' is not declared"},
                                               {"plansys2/upf4ros2-doorbell/p01.pddl", "'location' is not declared"}}));
  EXPECT_EQ(tasks.read, 29U);
  EXPECT_EQ(tasks.loaded, 27U);
  EXPECT_EQ(tasks.planned, 23U);
  EXPECT_EQ(tasks.schedules, 44U);
}

TEST(TimedData, SlowTemporal) {
  METACTRL_NEEDS_DATA("pddl21/VERDICTS.tsv");
  const std::string continuous = "does not happen at the start or at the end";
  const Tasks tasks = load_all("temporal/", testing::Refusals({{"temporal/rosplan-uav/p01.pddl", continuous},
                                                               {"temporal/vscode-coffee-machine/p01.pddl", continuous},
                                                               {"temporal/vscode-coffee-machine/p02.pddl", continuous},
                                                               {"temporal/vscode-generator/p01.pddl", continuous},
                                                               {"temporal/vscode-job-scheduling/p01.pddl", "':job'"}}));
  EXPECT_EQ(tasks.read, 77U);
  EXPECT_EQ(tasks.loaded, 72U);
  EXPECT_EQ(tasks.planned, 65U);
  EXPECT_EQ(tasks.schedules, 130U);
}

TEST(TimedData, SlowPreferences) {
  METACTRL_NEEDS_DATA("pddl21/VERDICTS.tsv");
  const Tasks tasks = load_all("preferences/", testing::Refusals({}));
  EXPECT_EQ(tasks.read, 24U);
  EXPECT_EQ(tasks.loaded, 24U);
  EXPECT_EQ(tasks.planned, 24U);
  EXPECT_EQ(tasks.schedules, 4U);
}

}  // namespace
}  // namespace metactrl::timed_data_test
