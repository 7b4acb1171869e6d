// The options that every command with a language model shares: which model, what holds it, how its tokens are chosen.
#ifndef METACTRL_SRC_CLI_DECODING_OPTIONS_H_
#define METACTRL_SRC_CLI_DECODING_OPTIONS_H_

#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/model_store.h"
#include "decode/names.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"
#include "support/enum_names.h"

namespace metactrl::cli {

// Where numbers are crunched: this machine's cores, or an NVIDIA GPU.
enum class Device { kCpu, kCuda };
constexpr auto enum_names(Device) { return internal::names<Device>({{Device::kCpu, "cpu"}, {Device::kCuda, "cuda"}}); }

// As on the command line; load_decoding.h makes of it what a planner takes.
struct DecodingArguments {
  BudgetOptions budget;
  std::string model = kDefaultModel;
  std::string vocabulary;
  Guidance guidance = Guidance::kUniform;
  Bridge bridge = Bridge::kUniform;
  std::string hmm;        // a file, for guidance trained
  std::string token_hmm;  // a file, for bridge hmm and guidance syntax
  Device lookahead_device = Device::kCpu;
  Tokenization tokenization = Tokenization::kCanonical;
  PlanOptions::OnInfeasible on_infeasible = PlanOptions::OnInfeasible::kError;
  GenerateOptions generate;
  std::string think = "auto";
  std::vector<std::string> template_arguments;  // "NAME=JSON"
  ModelOptions runtime;
  unsigned horizon = 40;
  CLI::Option* horizon_option = nullptr;
  // As the paper has it, for its benchmarks: 40 actions or what a plan needs, whatever they are good for.
  bool as_in_paper = false;
  unsigned slack = 0;
  CLI::Option* slack_option = nullptr;
  SupportOptions support;
  std::string prefer = "model";
};

// --vocab
void add_vocabulary_option(CLI::App& app, std::string& vocabulary);
// --gpu-layers: "auto", or a number.
CLI::Option* add_gpu_layers_option(CLI::App& app, ModelOptions& runtime, const std::string& help);
// --lookahead-device
void add_lookahead_device_option(CLI::App& app, Device& device);
// --model, --vocab and how it runs.
void add_model_options(CLI::App& app, DecodingArguments& arguments);
// All of them. `budget` is what a search may cost unless the options say otherwise.
void add_decoding_options(CLI::App& app, DecodingArguments& arguments,
                          const Budget& budget = LookaheadOptions{}.search);

// What --think and --template-arg say. Throws UsageError.
ThinkOptions think_options(const DecodingArguments& arguments);

// What a search may cost where many plans are made, answers to the prompts of a benchmark or one after the other in a
// closed loop: to fail soon is worth more there than to find a plan late.
Budget budget_of_many();

// All of them but the model and the guidance, which are the caller's to name: what an answer depends on.
Json decoding_settings(const DecodingArguments& arguments);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_DECODING_OPTIONS_H_
