// The options that plan and explain share, and the run from options to a result.
#ifndef METACTRL_SRC_CLI_PLAN_OPTIONS_H_
#define METACTRL_SRC_CLI_PLAN_OPTIONS_H_

#include <cstdint>
#include <string>

#include "cli/common.h"
#include "cli/model_store.h"
#include "metactrl/format.h"
#include "metactrl/planner.h"

namespace metactrl::cli {

enum class PlanOutput { kText, kJson, kPddl };

// As on the command line.
struct PlanArguments {
  TaskFiles files;
  BudgetOptions budget;
  std::string model = kDefaultModel;
  std::string vocabulary;
  std::string format = "pddl";
  std::string instruction;
  std::string prompt_file;
  std::string raw_prompt_file;
  std::string trace;
  PlanGuidance guidance = PlanGuidance::kUniform;
  PlanBridge bridge = PlanBridge::kUniform;
  OnInfeasible on_infeasible = OnInfeasible::kError;
  PlanOutput output = PlanOutput::kText;
  GenerateOptions generate;
  ModelOptions runtime;
  unsigned horizon = 40;
  CLI::Option* horizon_option = nullptr;
};

void add_plan_options(CLI::App& app, PlanArguments& arguments);

// Everything that is loaded before planning begins.
struct PlanInput {
  LoadedTask task;
  PlanFormat format;
  LoadedModel model;  // empty with guidance search
  PlanOptions options;
};
// Loads everything. From here on Ctrl-C is the program's own.
PlanInput load_plan_input(const PlanArguments& arguments);

// Plans, with a line of progress on a terminal. Ctrl-C stops the decoding and is part of the result; before the
// decoding begins it ends the program.
PlanResult run_plan(const PlanInput& input, const PlanObserver& observer);
// True once Ctrl-C was pressed.
bool interrupted();

// The exit code that a result stands for; kInterrupted when it was stopped.
inline constexpr int kInterrupted = 130;
int exit_code(const PlanResult& result);

// A validator that lists what there is: "'fast' is none of greedy, sample, beam, smc".
CLI::Validator one_of(std::vector<std::string> names);
// A number between the two, and a number.
CLI::Validator finite_in_range(double low, double high);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PLAN_OPTIONS_H_
