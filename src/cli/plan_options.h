// The options that plan and explain share, and the run from options to a result.
#ifndef METACTRL_SRC_CLI_PLAN_OPTIONS_H_
#define METACTRL_SRC_CLI_PLAN_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/model_store.h"
#include "decode/names.h"
#include "metactrl/format.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"
#include "support/enum_names.h"

namespace metactrl::cli {

enum class PlanOutput { kText, kJson, kPddl };
constexpr auto enum_names(PlanOutput) {
  return internal::names<PlanOutput>(
      {{PlanOutput::kText, "text"}, {PlanOutput::kJson, "json"}, {PlanOutput::kPddl, "pddl"}});
}

// Where numbers are crunched: this machine's cores, or an NVIDIA GPU.
enum class Device { kCpu, kCuda };
constexpr auto enum_names(Device) { return internal::names<Device>({{Device::kCpu, "cpu"}, {Device::kCuda, "cuda"}}); }
// For LookaheadOptions::device. Throws InputError where the device cannot be had.
std::shared_ptr<const LookaheadDevice> open_lookahead_device(Device device);
// --lookahead-device
void add_lookahead_device_option(CLI::App& app, Device& device);

// Which model, what holds it, how its tokens are chosen; as on the command line.
struct DecodingArguments {
  BudgetOptions budget;
  std::string model = kDefaultModel;
  std::string vocabulary;
  Guidance guidance = Guidance::kUniform;
  Bridge bridge = Bridge::kUniform;
  std::string hmm;        // a file, for guidance trained
  std::string token_hmm;  // a file, for bridge hmm
  Device lookahead_device = Device::kCpu;
  Tokenization tokenization = Tokenization::kCanonical;
  OnInfeasible on_infeasible = OnInfeasible::kError;
  GenerateOptions generate;
  ModelOptions runtime;
  unsigned horizon = 40;
  CLI::Option* horizon_option = nullptr;
};

// --gpu-layers: "auto", or a number.
CLI::Option* add_gpu_layers_option(CLI::App& app, ModelOptions& runtime, const std::string& help);
// --model, --vocab and how it runs.
void add_model_options(CLI::App& app, DecodingArguments& arguments);
// `budget` is what a search may cost unless the options say otherwise.
void add_decoding_options(CLI::App& app, DecodingArguments& arguments,
                          const Budget& budget = LookaheadOptions{}.search);
// All of them but the budget and the time limit.
// UsageError where a guidance or bridge lacks its model, InputError where that is of the wrong level.
PlanOptions plan_options(const DecodingArguments& arguments);
// InputError where the model of tokens was not made for the language model's vocabulary.
void expect_vocabulary(const PlanOptions& options, const LoadedModel& model);
// All of them but the model and the guidance, which are the caller's to name: what an answer depends on.
Json decoding_settings(const DecodingArguments& arguments);
// The budgets of the lookahead as the options have them: all of it for a search. States are enumerated, and candidates
// searched for, at the usual cost at most, unless an option was given: then it holds for them, too.
void set_lookahead_budget(const BudgetOptions& options, LookaheadOptions& lookahead);
// What a search may cost where many plans are made, answers to the prompts of a benchmark or one after the other in a
// closed loop: to fail soon is worth more there than to find a plan late.
Budget budget_of_many();
// With memory for `at_once` answers at a time, each as long as the context. An empty one where the arguments need none.
// Throws ResourceError when the model does not fit.
LoadedModel load_model_for(const DecodingArguments& arguments, unsigned at_once = 1);
// From here to the end of the program Ctrl-C stops the decoding (see interrupted), and elsewhere ends the program.
void catch_interrupts();
// The same for SIGTERM and SIGHUP.
void catch_terminations();
// While it is not 0, this process group is killed when a signal ends the program.
void set_child_group(int group);
// The signal that came; 0 when none did.
int interrupt_signal();
// Whether the program looks at interrupted() now and then.
void set_stoppable(bool stoppable);

// For one task.
struct PlanArguments : DecodingArguments {
  TaskFiles files;
  std::string format = "pddl";
  std::string instruction;
  std::string prompt_file;
  std::string raw_prompt_file;
  std::string trace;
  PlanOutput output = PlanOutput::kText;
};

void add_plan_options(CLI::App& app, PlanArguments& arguments);
// A built-in format, or a file. Throws InputError that says what there is.
PlanFormat load_format(const std::string& name);

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
PlanResult run_plan(const PlanInput& input, const Observer& observer);
// True once Ctrl-C was pressed.
bool interrupted();

// The exit code that a result stands for; kInterrupted when it was stopped.
inline constexpr int kInterrupted = 130;
int exit_code(const PlanResult& result);

// A validator that lists what there is: "'fast' is none of greedy, sample, beam, smc".
CLI::Validator one_of(std::vector<std::string> names);
// An option whose values are the names of an enumeration (support/enum_names.h).
template <typename Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Enum& value, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& one : enum_names(value)) names.emplace_back(one.name);
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : "|") + one;
  return app
      .add_option_function<std::string>(
          name, [&value](const std::string& chosen) { value = internal::value_named<Enum>(chosen).value(); }, help)
      ->type_name(list)
      ->check(one_of(names))
      ->default_str(internal::name_of(value));
}
// A number between the two, and a number.
CLI::Validator finite_in_range(double low, double high);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PLAN_OPTIONS_H_
