// metactrl export: a plan or a task for other programs.
//
// A plan is judged by the reference semantics first. One that is not valid is refused, unless it is asked for: the tree
// then fails where the plan does.
#include "metactrl/exchange/export.h"

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/schedules.h"
#include "exchange/names.h"
#include "support/files.h"
#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct ExportOptions {
  std::string format;
  TaskFiles files;
  std::string plan;
  std::string out;
  bool allow_invalid = false;
  double duration = 1;
  CLI::Option* duration_option = nullptr;
  ScheduleKind schedule = ScheduleKind::kSequential;
  CLI::Option* schedule_option = nullptr;
};

constexpr const char* kFormats = "bt|pddl|plansys2|json|task";

constexpr const char* kExportExamples =
    "\n"
    "bt        BehaviorTree.CPP 4: XML with conditions around each action, for a robot or the editor Groot2\n"
    "pddl      (action object ...) lines, for validators\n"
    "plansys2  0.000: (action object ...) [1.000] lines, for PlanSys2\n"
    "json      each step with its arguments, preconditions, effects and what changes\n"
    "task      no plan: the task's domain and problem in PDDL that VAL and Fast Downward read\n"
    "\n"
    "A behavior tree from a plan that is found on the way:\n"
    "\n"
    "  D=domains/tabletop/domain.pddl; P=domains/tabletop/dishwasher.pddl\n"
    "  metactrl plan -d $D -p $P | metactrl export bt -d $D -p $P - --out dishwasher.xml\n";

void check_options(const ExportOptions& options) {
  check_task_options(options.files);
  const bool task = options.format == "task";
  if (!task && options.plan.empty()) {
    throw UsageError(str_cat("export ", options.format, " needs a plan: name a file, or - for standard input"));
  }
  if (task && !options.plan.empty()) throw UsageError("export task takes no plan");
  if (task && options.allow_invalid) throw UsageError("--allow-invalid is for plans");
  if (options.duration_option->count() > 0 && options.format != "plansys2") {
    throw UsageError("--duration is for export plansys2");
  }
  if (options.schedule_option->count() > 0 && options.format != "plansys2" && options.format != "bt") {
    throw UsageError("--schedule is for export plansys2 and export bt");
  }
}

int export_task(const ExportOptions& options) {
  const PddlTask text = pddl_task(load_task(options.files));
  for (const std::string& sentence : text.notes) note(str_cat("note: ", sentence));
  if (options.out.empty()) {
    print(text.domain + "\n" + text.problem);
    return kDone;
  }
  const std::filesystem::path folder(options.out);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!std::filesystem::is_directory(folder, failure)) {
    throw InputError(options.out, "is not a folder and cannot be made one", "name a folder for the two files");
  }
  internal::write_file((folder / "domain.pddl").string(), text.domain);
  internal::write_file((folder / "problem.pddl").string(), text.problem);
  note(str_cat("wrote domain.pddl and problem.pddl to ", options.out));
  return kDone;
}

std::string plan_text(const ExportOptions& options, const Task& task, const std::vector<PlanStep>& plan) {
  if (options.duration_option->count() > 0 && has_durations(task)) {
    throw UsageError("--duration is for tasks whose actions take no time");
  }
  if (options.format == "bt") return behavior_tree_xml(task, plan, {}, 0, options.schedule);
  if (options.format == "json") return plan_json(task, plan);
  if (options.format == "plansys2") {
    if (has_durations(task)) return plansys2_plan(make_schedule(task, plan, options.schedule));
    return plansys2_plan(plan, options.duration);
  }
  return pddl_plan(task, plan);
}

// Plan lines keep the names of the task that was given, export task may not.
void note_odd_names(const std::vector<PlanStep>& plan) {
  std::set<std::string> odd;
  for (const PlanStep& step : plan) {
    if (exchange::pddl_name(step.action, "a-") != step.action) odd.insert(step.action);
    for (const std::string& object : step.arguments) {
      if (exchange::pddl_name(object, "o-") != object) odd.insert(object);
    }
  }
  if (odd.empty()) return;
  note(str_cat("note: not every program reads the name", odd.size() == 1 ? " " : "s ",
               internal::list_some({odd.begin(), odd.end()}),
               "; the plan fits the task as it is, not what export task writes, where such names are changed"));
}

// Of a plan that is none one after the other, in the order of its lines.
std::string as_scheduled(const Task& task, const Schedule& schedule) {
  if (!validate(task, schedule).valid) return "";
  return " where one action follows the other; with the times of its lines it is valid: export a sequential schedule "
         "of "
         "it, or keep the times (export plansys2 without --schedule)";
}

int export_plan(const ExportOptions& options) {
  const Task task = load_task(options.files);
  const TimedPlan read = read_schedule(options.plan);
  const std::vector<PlanStep> plan = plan_of(task, read.schedule);
  const bool timed = read.is_timed && has_durations(task);
  // Lines with times keep them, unless another schedule is asked for.
  const bool keep = timed && options.format == "plansys2" && options.schedule_option->count() == 0;
  std::string text;
  {
    const ProgressLine progress("exporting");
    const Validation validation = keep ? validate(task, read.schedule) : task.validate(plan);
    if (!validation.valid && !options.allow_invalid) {
      note(str_cat("invalid: ", validation.reason, timed && !keep ? as_scheduled(task, read.schedule) : "",
                   "; nothing is written (--allow-invalid writes it nevertheless)"));
      return kPlanInvalid;
    }
    if (!validation.valid) note(str_cat("warning: the plan is invalid: ", validation.reason));
    text = keep ? plansys2_plan(read.schedule) : plan_text(options, task, plan);
  }
  if (options.format == "pddl" || options.format == "plansys2") note_odd_names(plan);
  if (options.out.empty()) {
    print(text);
    return kDone;
  }
  internal::write_file(options.out, text);
  note(str_cat("wrote ", count_text(plan.size(), "action", "actions"), " to ", options.out));
  return kDone;
}

int run_export(const ExportOptions& options) {
  check_options(options);
  return options.format == "task" ? export_task(options) : export_plan(options);
}

}  // namespace

Command add_export(CLI::App& parent) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* app = parent.add_subcommand("export", "write a plan as a behavior tree, PDDL, PlanSys2 or JSON; or a task");
  app->add_option("FORMAT", options->format, "what to write; see below")
      ->type_name(kFormats)
      ->required()
      ->check(one_of({"bt", "pddl", "plansys2", "json", "task"}));
  app->add_option("PLAN", options->plan, "file with (action object ...) lines; - for standard input")
      ->type_name("FILE");
  add_task_options(*app, options->files);
  add_out_option(*app, options->out,
                 "file for the result, instead of standard output; for a task, a folder for its two files");
  app->add_flag(
      "--allow-invalid", options->allow_invalid,
      "also export a plan that breaks a rule or misses the goal; a behavior tree then fails where the plan does");
  options->duration_option = add_number(*app, "--duration", "SECONDS", options->duration, 1e-3, 1e9,
                                        "with plansys2: seconds that each action takes, where the task does not say");
  options->schedule_option = add_schedule_option(*app, options->schedule);
  app->footer(kExportExamples);
  return {app, [options] { return run_export(*options); }};
}

}  // namespace metactrl::cli
