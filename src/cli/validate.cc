// metactrl validate: is a plan legal, and does it reach the goal? Judged by the reference semantics alone: the task is
// not grounded, so this also works where grounding would be too much.
#include <memory>
#include <optional>

#include "cli/common.h"
#include "cli/output.h"
#include "cli/preferences.h"
#include "cli/schedules.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "sas/sas.h"
#include "serve/plan_json.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "task/reference.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct ValidateOptions {
  TaskFiles files;
  std::string plan;
  OutputOptions output;
};

std::unique_ptr<task::ReferenceSemantics> load_reference(const TaskFiles& files, Diagnostics& diagnostics) {
  if (!files.sas.empty()) {
    const std::string text = internal::read_file(files.sas);
    auto sas = std::make_shared<const sas::SasTask>(sas::parse(text, files.sas, diagnostics));
    if (diagnostics.has_errors()) throw InputError(diagnostics);
    return std::make_unique<sas::SasReference>(std::move(sas));
  }
  const std::string domain = internal::read_file(files.domain);
  const std::string problem = internal::read_file(files.problem);
  auto ast =
      std::make_shared<const pddl::Ast>(pddl::parse({files.domain, domain}, {files.problem, problem}, diagnostics));
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  return std::make_unique<pddl::LiftedInterpreter>(std::move(ast));
}

int validate(const ValidateOptions& options) {
  check_task_options(options.files);
  Diagnostics diagnostics;
  const auto reference = load_reference(options.files, diagnostics);
  print_diagnostics(diagnostics);
  const TimedPlan plan = read_schedule(options.plan);
  // The times of a plan count where actions take time; one without them is carried out one step after the other.
  const bool timed = reference->has_durations() && plan.is_timed;
  Validation result;
  {
    const ProgressLine progress("validating");
    result = timed ? reference->validate_schedule(plan.schedule, {}, 0) : reference->validate(steps_of(plan.schedule));
  }
  const std::optional<double> metric = timed ? reference->timed_metric(plan.schedule, result) : std::nullopt;
  if (options.output.json()) {
    Json json{{"valid", result.valid}, {"actions", plan.schedule.size()}, {"steps_executed", result.steps_executed},
              {"cost", result.cost},   {"reason", result.reason},         {"unmet_goals", result.unmet_goals}};
    if (!result.preferences.empty()) json["preferences"] = serve::preferences_json(result.preferences);
    if (timed) json["makespan"] = static_cast<double>(makespan(plan.schedule)) / static_cast<double>(kTimeUnit);
    if (metric) json["metric"] = *metric;
    print(options.output, json);
  } else if (result.valid) {
    print(options.output,
          str_cat("valid: ", count_text(plan.schedule.size(), "action", "actions"), ", cost ", number_text(result.cost),
                  timed ? str_cat(", ends at ", time_text(makespan(plan.schedule)), timed_metric_text(metric)) : "",
                  "\n", preference_lines(result.preferences, "  ")));
  } else {
    print(options.output, str_cat("invalid: ", result.reason, "\n"));
  }
  return result.valid ? kDone : kPlanInvalid;
}

constexpr const char* kValidateExamples =
    "\nWhere actions take time, a plan with time stamps is judged by them: 0.000: (action object ...) [5.000]\n"
    "\nExamples, from the root of the source tree; the second plan forgets to open the dishwasher:\n"
    "\n"
    "  D=domains/tabletop/domain.pddl; P=domains/tabletop/dishwasher.pddl\n"
    "  metactrl search -d $D -p $P | metactrl validate -d $D -p $P -\n"
    "  printf '(grab blue_mug)\\n(putin blue_mug dishwasher)\\n' | metactrl validate -d $D -p $P -\n"
    "\n"
    "A plan that is not valid has the exit code 12.\n";

}  // namespace

Command add_validate(CLI::App& parent) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* app = parent.add_subcommand(
      "validate", "is a plan legal, and does it reach the goal? if not: the first step that is not, and why");
  add_task_options(*app, options->files);
  app->add_option("PLAN", options->plan, "file with (action object ...) lines; - for standard input")
      ->type_name("FILE")
      ->required();
  add_output_options(*app, options->output);
  app->footer(kValidateExamples);
  return {app, [options] { return validate(*options); }};
}

}  // namespace metactrl::cli
