#include "cli/plan_options.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cluster/join.h"
#include "decode/token_surrogate.h"
#include "lm/backends.h"
#include "metactrl/training/corpus.h"
#include "metactrl/training/train.h"
#include "support/files.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

// --- options -------------------------------------------------------------------------------------------------------

CLI::Validator one_of(std::vector<std::string> names) {
  return {[names = std::move(names)](const std::string& text) {
            if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
            std::string known;
            for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
            const std::string guess = internal::did_you_mean(text, names);
            return str_cat("'", text, "' is none of ", known, guess.empty() ? "" : " (" + guess + ")");
          },
          ""};
}

CLI::Validator finite_in_range(double low, double high) {
  return {[low, high](const std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool number = !text.empty() && *end == '\0' && std::isfinite(value) && value >= low && value <= high;
            return number ? std::string()
                          : str_cat("'", text, "' is not a number from ", number_text(low), " to ", number_text(high));
          },
          ""};
}

namespace {

void add_prompt_options(CLI::App& app, PlanArguments& arguments) {
  app.add_option("--instruction,-i", arguments.instruction, "what to do, in words; the model reads it before the task")
      ->type_name("TEXT");
  app.add_option("--prompt", arguments.prompt_file,
                 "file with a prompt of your own, sent through the model's chat template")
      ->type_name("FILE");
  app.add_option("--raw-prompt", arguments.raw_prompt_file, "file with a prompt of your own, sent as it is")
      ->type_name("FILE");
  app.add_option("--format,-f", arguments.format, "how the plan is written: a built-in format's name, or a file")
      ->type_name("FORMAT")
      ->capture_default_str();
}

void add_decode_options(CLI::App& app, DecodingArguments& arguments) {
  GenerateOptions& generate = arguments.generate;
  add_choice(app, "--decode", generate.mode, "how tokens are chosen among those allowed");
  app.add_option("--temperature", generate.temperature, "with --decode sample: above 1 bolder, below 1 more careful")
      ->type_name("T")
      ->check(finite_in_range(0, 1000))
      ->capture_default_str();
  app.add_option("--top-p", generate.top_p,
                 "with --decode sample: only the likeliest tokens, with this much probability")
      ->type_name("P")
      ->check(finite_in_range(1e-6, 1))
      ->capture_default_str();
  app.add_option("--beam", generate.beam, "with --decode beam: plans kept at each action")
      ->type_name("N")
      ->check(finite_in_range(1, 4096))
      ->capture_default_str();
  app.add_option("--samples", generate.samples, "with --decode smc: particles")
      ->type_name("K")
      ->check(finite_in_range(1, 65536))
      ->capture_default_str();
  app.add_option("--seed", generate.seed, "equal seeds give equal samples")
      ->type_name("S")
      ->check(finite_in_range(0, kLargestSeed))  // which also keeps -1 from becoming a very large number
      ->capture_default_str();
  app.add_option("--max-tokens", generate.max_tokens, "with guidance none: give up after so many tokens")
      ->type_name("N")
      ->check(finite_in_range(1, 1e7))
      ->capture_default_str();
}

}  // namespace

CLI::Option* add_gpu_layers_option(CLI::App& app, ModelOptions& runtime, const std::string& help) {
  const auto is_count = [](const std::string& text) {
    const bool digits = !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
    return digits || text == "auto" ? std::string() : str_cat("'", text, "' is neither 'auto' nor a number of layers");
  };
  const auto set = [&runtime](const std::string& text) {
    runtime.gpu_layers.reset();
    if (text != "auto") runtime.gpu_layers = static_cast<unsigned>(std::stoul(text));
  };
  return app.add_option_function<std::string>("--gpu-layers", set, help)
      ->type_name("N|auto")
      ->check(CLI::Validator(is_count, ""))
      ->default_str("auto");
}

void add_model_options(CLI::App& app, DecodingArguments& arguments) {
  app.add_option("--model,-m", arguments.model,
                 "GGUF file, name of a stored model, random:SEED or hostile:SEED; see 'metactrl models'")
      ->type_name("MODEL")
      ->capture_default_str();
  app.add_option("--vocab", arguments.vocabulary, "GGUF file whose vocabulary random: and hostile: models use")
      ->type_name("FILE");
  app.add_option("--threads", arguments.runtime.threads, "threads that run the model; 0: one per core")
      ->type_name("N")
      ->check(finite_in_range(0, 4096))
      ->capture_default_str();
  add_gpu_layers_option(app, arguments.runtime, "layers of the model to keep on the GPU; auto: all that fit");
  app.add_option("--context", arguments.runtime.context,
                 "tokens the model can see; 0: what it was trained for, at most 8192")
      ->type_name("N")
      ->check(finite_in_range(0, 1e8))
      ->capture_default_str();
}

std::shared_ptr<const LookaheadDevice> open_lookahead_device(Device device) {
  if (device != Device::kCuda) return nullptr;
  return make_cuda_lookahead_device(cluster::gpu_of(cluster::launch().rank_on_machine, num_cuda_devices()));
}

void add_lookahead_device_option(CLI::App& app, Device& device) {
  add_choice(app, "--lookahead-device", device,
             "where guidance trained computes its tables: this machine's cores, or an NVIDIA GPU");
}

void add_decoding_options(CLI::App& app, DecodingArguments& arguments, const Budget& budget) {
  add_model_options(app, arguments);
  add_choice(app, "--guidance,-g", arguments.guidance,
             "what holds the model to the task; from mask up the plan is guaranteed");
  add_choice(app, "--bridge", arguments.bridge, "which action half a text is taken to mean");
  app.add_option("--hmm", arguments.hmm, "with guidance trained: a hidden Markov model of plans")->type_name("FILE");
  app.add_option("--token-hmm", arguments.token_hmm, "with bridge hmm: a hidden Markov model of tokens")
      ->type_name("FILE");
  add_lookahead_device_option(app, arguments.lookahead_device);
  add_choice(app, "--tokens", arguments.tokenization, "which tokens may spell the plan: the tokenizer's own, or any");
  add_decode_options(app, arguments);
  arguments.horizon_option =
      app.add_option("--horizon", arguments.horizon, "allow at most N actions; without it, 40 or what a plan needs")
          ->type_name("N")
          ->check(finite_in_range(0, 1e6));
  add_choice(app, "--on-infeasible", arguments.on_infeasible, "when not all goals can be reached");
  add_budget_options(app, arguments.budget, budget);
}

void add_plan_options(CLI::App& app, PlanArguments& arguments) {
  add_task_options(app, arguments.files);
  add_prompt_options(app, arguments);
  add_decoding_options(app, arguments);
  add_choice(app, "--output,-o", arguments.output, "what is printed");
  app.add_option("--trace", arguments.trace, "file for a record of every decision, as JSON lines")->type_name("FILE");
}

// --- Ctrl-C --------------------------------------------------------------------------------------------------------

namespace {

// 0: nothing can be stopped in between, so Ctrl-C ends the program. 1: the decoding looks at g_interrupted between two
// model calls.
volatile std::sig_atomic_t g_stoppable = 0;
volatile std::sig_atomic_t g_interrupted = 0;  // the signal
volatile std::sig_atomic_t g_child_group = 0;

extern "C" void on_interrupt(int signal) {
  if (g_stoppable != 0 && g_interrupted == 0) {
    g_interrupted = signal;
    return;
  }
  if (g_child_group > 0) ::kill(-g_child_group, SIGKILL);
  constexpr char kMessage[] = "\nmetactrl: stopped\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  ::_exit(128 + signal);
}

void catch_signal(int signal) {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void catch_interrupts() { catch_signal(SIGINT); }

void catch_terminations() {
  catch_signal(SIGTERM);
  catch_signal(SIGHUP);
}

void set_child_group(int group) { g_child_group = group; }

int interrupt_signal() { return g_interrupted; }

void set_stoppable(bool stoppable) { g_stoppable = stoppable ? 1 : 0; }

bool interrupted() { return g_interrupted != 0; }

// --- loading -------------------------------------------------------------------------------------------------------

namespace {

void check_combinations(const PlanArguments& arguments) {
  check_task_options(arguments.files);
  const bool own_prompt = !arguments.prompt_file.empty() || !arguments.raw_prompt_file.empty();
  if (!arguments.prompt_file.empty() && !arguments.raw_prompt_file.empty()) {
    throw UsageError("--prompt and --raw-prompt cannot be combined");
  }
  if (own_prompt && !arguments.instruction.empty()) {
    throw UsageError("--instruction is for the prompt that metactrl writes; put it into your own");
  }
}

// As many sequences as the decoding keeps at once, and as many again while it chooses among them.
unsigned sequences_for(const GenerateOptions& generate) {
  unsigned kept = 0;
  if (generate.mode == DecodeMode::kBeam) kept = generate.beam;
  if (generate.mode == DecodeMode::kSmc) kept = generate.samples;
  return kept > 31 ? 2 * kept + 2 : 0;
}

}  // namespace

PlanFormat load_format(const std::string& name) {
  const std::vector<std::string> builtins = PlanFormat::builtin_names();
  if (std::find(builtins.begin(), builtins.end(), name) != builtins.end()) return PlanFormat::builtin(name);
  std::error_code ignored;
  if (name.find('/') != std::string::npos || name.find('.') != std::string::npos ||
      std::filesystem::exists(name, ignored)) {
    return PlanFormat::load(name);
  }
  return PlanFormat::builtin(name);  // which throws, and says what there is
}

namespace {

Hmm load_hmm(const std::string& file, CorpusLevel level) {
  const bool meta = level == CorpusLevel::kMeta;
  Hmm hmm = Hmm::load(file);
  if (hmm.alphabet().is_meta() == meta) return hmm;
  throw InputError(file, meta ? "is a model of tokens, not of actions" : "is a model of actions, not of tokens",
                   str_cat("train one with 'metactrl train --level ", to_string(level), "'"));
}

}  // namespace

PlanOptions plan_options(const DecodingArguments& arguments) {
  PlanOptions options;
  options.guidance = arguments.guidance;
  options.bridge = arguments.bridge;
  options.tokenization = arguments.tokenization;
  options.on_infeasible = arguments.on_infeasible;
  options.generate = arguments.generate;
  options.lookahead.horizon = arguments.horizon;
  options.lookahead.fixed_horizon = arguments.horizon_option->count() > 0;
  if (!arguments.hmm.empty()) {
    if (arguments.guidance != Guidance::kTrained) throw UsageError("--hmm is for --guidance trained");
    options.lookahead.hmm = load_hmm(arguments.hmm, CorpusLevel::kMeta);
  } else if (arguments.guidance == Guidance::kTrained) {
    throw UsageError(
        "--guidance trained needs a hidden Markov model of plans: --hmm FILE ('metactrl sample' and 'metactrl train' "
        "make one)");
  }
  if (!arguments.token_hmm.empty()) {
    if (arguments.bridge != Bridge::kHmm) throw UsageError("--token-hmm is for --bridge hmm");
    options.token_hmm = load_hmm(arguments.token_hmm, CorpusLevel::kToken);
  } else if (arguments.bridge == Bridge::kHmm) {
    throw UsageError(
        "--bridge hmm needs a hidden Markov model of tokens: --token-hmm FILE ('metactrl train --level token' makes "
        "one)");
  }
  options.lookahead.device = open_lookahead_device(arguments.lookahead_device);
  return options;
}

Json decoding_settings(const DecodingArguments& arguments) {
  const GenerateOptions& generate = arguments.generate;
  Json json{{"vocabulary", arguments.vocabulary},
            {"context", arguments.runtime.context},
            {"bridge", to_string(arguments.bridge)},
            {"tokens", to_string(arguments.tokenization)},
            {"on_infeasible", to_string(arguments.on_infeasible)},
            {"decode", to_string(generate.mode)},
            {"temperature", generate.temperature},
            {"top_p", generate.top_p},
            {"beam", generate.beam},
            {"samples", generate.samples},
            {"seed", generate.seed},
            {"max_tokens", generate.max_tokens},
            {"horizon", arguments.horizon},
            {"fixed_horizon", arguments.horizon_option->count() > 0},
            {"max_states", arguments.budget.states},
            {"max_memory", arguments.budget.memory},
            {"max_work", arguments.budget.work},
            {"time_limit", arguments.budget.time_limit() ? Json(arguments.budget.seconds) : Json(nullptr)}};
  // Weights differ by rounding.
  if (arguments.lookahead_device != Device::kCpu)
    json["lookahead_device"] = internal::name_of(arguments.lookahead_device);
  return json;
}

Budget budget_of_many() {
  Budget budget = LookaheadOptions{}.search;
  budget.states = 10'000;
  return budget;
}

void set_lookahead_budget(const BudgetOptions& options, LookaheadOptions& lookahead) {
  const Budget budget = options.budget();
  lookahead.search = budget;
  // To enumerate all states is worth less than to find one plan, unless somebody asks for it.
  const auto most = [](const CLI::Option* option, auto asked, auto usual) {
    return option->count() > 0 ? asked : std::min(asked, usual);
  };
  lookahead.exact = {most(options.states_option, budget.states, lookahead.exact.states),
                     most(options.memory_option, budget.bytes, lookahead.exact.bytes),
                     most(options.work_option, budget.work, lookahead.exact.work)};
  lookahead.candidate_work = most(options.work_option, budget.work, lookahead.candidate_work);
}

LoadedModel load_model_for(const DecodingArguments& arguments, unsigned at_once) {
  if (arguments.guidance == Guidance::kSearch) return {};
  ModelOptions runtime = arguments.runtime;
  runtime.max_sequences = sequences_for(arguments.generate);
  runtime.shared_contexts = at_once;
  try {
    return open_model(arguments.model, arguments.vocabulary, runtime);
  } catch (const ModelError& error) {
    throw ResourceError(kOutOfMemory, error.what());
  }
}

void expect_vocabulary(const PlanOptions& options, const LoadedModel& model) {
  if (options.token_hmm && model.vocabulary != nullptr) decode::TokenSurrogate(*options.token_hmm, *model.vocabulary);
}

namespace {

// A model of plans that was trained on another domain is no help where names differ.
void warn_of_unknown_actions(const PlanOptions& options, const Task& task) {
  if (!options.lookahead.hmm) return;
  const Alphabet& alphabet = options.lookahead.hmm->alphabet();
  std::size_t unknown = 0;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) {
    if (alphabet.action(task.action_name(ActionNameId{i})) == alphabet.unknown()) ++unknown;
  }
  if (unknown == 0 || unknown == task.num_action_names()) return;  // none at all is refused elsewhere
  note(str_cat("metactrl: warning: the model of plans knows ", task.num_action_names() - unknown, " of the task's ",
               task.num_action_names(), " action names; the others are all the same to it"));
}

}  // namespace

PlanInput load_plan_input(const PlanArguments& arguments) {
  check_combinations(arguments);
  catch_interrupts();
  PlanFormat format = load_format(arguments.format);
  PlanOptions options = plan_options(arguments);
  options.instruction = arguments.instruction;
  if (!arguments.prompt_file.empty()) options.prompt = Prompt{"", internal::read_file(arguments.prompt_file), ""};
  if (!arguments.raw_prompt_file.empty()) {
    options.prompt = Prompt{"", "", internal::read_file(arguments.raw_prompt_file)};
    if (options.prompt->raw.empty()) throw InputError(arguments.raw_prompt_file, "is empty", "write a prompt into it");
  }
  BudgetOptions budget = arguments.budget;
  const bool model_may = arguments.guidance != Guidance::kSearch && arguments.runtime.gpu_layers != 0U;
  budget.uses_gpu =
      arguments.lookahead_device == Device::kCuda || (model_may && budget.memory_option->count() > 0 && lm::has_gpu());
  LoadedTask task = load_task(arguments.files, budget);
  set_lookahead_budget(budget, options.lookahead);
  LoadedModel model = load_model_for(arguments);
  options.time_limit = task.time.left();
  expect_vocabulary(options, model);
  warn_of_unknown_actions(options, task.task);
  return {std::move(task), std::move(format), std::move(model), std::move(options)};
}

// --- running -------------------------------------------------------------------------------------------------------

PlanResult run_plan(const PlanInput& input, const Observer& observer) {
  std::optional<ProgressLine> progress;
  Observer outer = observer;
  outer.cancelled = [&observer] { return interrupted() || (observer.cancelled && observer.cancelled()); };
  outer.phase = [&](PlanPhase phase) {
    progress.reset();
    if (phase == PlanPhase::kCompiling) progress.emplace("computing what can still succeed");
    if (phase == PlanPhase::kReadingPrompt) progress.emplace("the model reads the prompt");
    set_stoppable(phase == PlanPhase::kDecoding);
    if (observer.phase) observer.phase(phase);
  };
  try {
    return plan(input.task.task, input.format, input.model.model.get(), input.model.vocabulary, input.options, outer);
  } catch (const ModelError& error) {
    std::string hint;
    if (input.options.generate.mode == DecodeMode::kSmc) hint = "; fewer --samples or a larger --context may help";
    if (input.options.generate.mode == DecodeMode::kBeam) hint = "; a smaller --beam or a larger --context may help";
    throw ResourceError(kOutOfMemory, str_cat("the model cannot go on: ", error.what(), hint));
  }
}

int exit_code(const PlanResult& result) {
  switch (result.outcome) {
    case PlanOutcome::kInfeasible:
      return kInfeasible;
    case PlanOutcome::kUndecided:
      return kUndecided;
    case PlanOutcome::kCancelled:
      return kInterrupted;
    case PlanOutcome::kPlan:
      break;
  }
  return result.valid() || result.guarantee == Guarantee::kGoalsDropped ? kDone : kPlanInvalid;
}

}  // namespace metactrl::cli
