// What plan and explain do before and while they plan: options, what they load, and the run itself.
#ifndef METACTRL_SRC_CLI_PLAN_INPUT_H_
#define METACTRL_SRC_CLI_PLAN_INPUT_H_

#include <initializer_list>
#include <string>

#include "cli/certificate.h"
#include "cli/common.h"
#include "cli/decoding_options.h"
#include "cli/goal_stage.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "metactrl/format.h"
#include "metactrl/planner.h"
#include "metactrl/schedule.h"

namespace metactrl::cli {

struct PlanArguments : DecodingArguments {
  TaskFiles files;
  std::string format = "pddl";
  std::string instruction;
  GoalArguments goal;
  std::string prompt_file;
  std::string raw_prompt_file;
  std::string trace;
  bool simplify = false;
  ScheduleKind schedule = ScheduleKind::kSequential;
  CLI::Option* schedule_option = nullptr;
  CertificateOptions certificate;
  OutputOptions output;
};

// --format
void add_format_option(CLI::App& app, std::string& format);
// --instruction
void add_instruction_option(CLI::App& app, std::string& instruction);
// All of them, with these forms of output.
void add_plan_options(CLI::App& app, PlanArguments& arguments, std::initializer_list<OutputForm> forms);

// A built-in format, or a file. Throws InputError that says what there is.
PlanFormat load_format(const std::string& name);

// Everything that is loaded before planning begins.
struct PlanInput {
  LoadedTask task;
  PlanFormat format;
  LoadedModel model;  // empty with guidance search
  PlanOptions options;
  std::optional<ChosenGoal> goal;  // nothing: the problem's own
  ScheduleKind schedule = ScheduleKind::kSequential;
};
// Loads everything, and has a goal written and confirmed where the problem states none. From here on Ctrl-C is the program's own.
PlanInput load_plan_input(const PlanArguments& arguments);

// Plans, with a line of progress on a terminal. Ctrl-C stops the decoding and is part of the result; before the
// decoding begins it ends the program.
PlanResult run_plan(const PlanInput& input, const Observer& observer);

// The exit code that a result stands for; kInterrupted when it was stopped.
int exit_code(const PlanResult& result);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PLAN_INPUT_H_
