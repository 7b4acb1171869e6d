#include "cli/decoding_options.h"

#include "cli/options.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

void add_vocabulary_option(CLI::App& app, std::string& vocabulary) {
  app.add_option("--vocab", vocabulary, "GGUF file whose vocabulary random: and hostile: models use")
      ->type_name("FILE");
}

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

void add_lookahead_device_option(CLI::App& app, Device& device) {
  add_choice(app, "--lookahead-device", device,
             "where guidance trained computes its tables: this machine's cores, or an NVIDIA GPU");
}

void add_model_options(CLI::App& app, DecodingArguments& arguments) {
  app.add_option("--model,-m", arguments.model,
                 "GGUF file, name of a stored model, random:SEED or hostile:SEED; see 'metactrl models'")
      ->type_name("MODEL")
      ->capture_default_str();
  add_vocabulary_option(app, arguments.vocabulary);
  ModelOptions& runtime = arguments.runtime;
  add_number(app, "--threads", "N", runtime.threads, 0, 4096, "threads that run the model; 0: one per core");
  add_gpu_layers_option(app, runtime, "layers of the model to keep on the GPU; auto: all that fit");
  add_number(app, "--context", "N", runtime.context, 0, 1e8,
             "tokens the model can see; 0: what it was trained for, at most 8192");
}

namespace {

void add_decode_options(CLI::App& app, GenerateOptions& generate) {
  add_choice(app, "--decode", generate.mode, "how tokens are chosen among those allowed");
  add_number(app, "--temperature", "T", generate.temperature, 0, 1000,
             "with --decode sample: above 1 bolder, below 1 more careful");
  add_number(app, "--top-p", "P", generate.top_p, 1e-6, 1,
             "with --decode sample: only the likeliest tokens, with this much probability");
  add_number(app, "--top-k", "N", generate.top_k, 0, 1e9, "with --decode sample: only the N likeliest tokens; 0: all");
  add_number(app, "--min-p", "P", generate.min_p, 0, 1,
             "with --decode sample: only tokens with this share of the likeliest one's probability");
  add_number(app, "--beam", "N", generate.beam, 1, 4096, "with --decode beam: plans kept at each action");
  add_number(app, "--samples", "K", generate.samples, 1, 65536, "with --decode smc: particles");
  // A range also keeps -1 from becoming a very large number.
  add_number(app, "--seed", "S", generate.seed, 0, kLargestSeed, "equal seeds give equal samples");
  add_number(app, "--max-tokens", "N", generate.max_tokens, 1, 1e7, "with guidance none: give up after so many tokens");
}

}  // namespace

void add_decoding_options(CLI::App& app, DecodingArguments& arguments, const Budget& budget) {
  add_model_options(app, arguments);
  add_choice(app, "--guidance,-g", arguments.guidance,
             "what holds the model to the task; from mask up the plan is guaranteed");
  add_choice(app, "--bridge", arguments.bridge, "which action half a text is taken to mean");
  app.add_option("--hmm", arguments.hmm, "with guidance trained: a hidden Markov model of plans")->type_name("FILE");
  app.add_option("--token-hmm", arguments.token_hmm,
                 "with bridge hmm, or guidance syntax: a hidden Markov model of tokens")
      ->type_name("FILE");
  add_lookahead_device_option(app, arguments.lookahead_device);
  add_choice(app, "--tokens", arguments.tokenization, "which tokens may spell the plan: the tokenizer's own, or any");
  add_decode_options(app, arguments.generate);
  app.add_option(
         "--think", arguments.think,
         "whether a model that can think before it answers does: auto (as its chat template has it), on, off, or "
         "the most tokens of a thought")
      ->type_name("auto|on|off|N")
      ->capture_default_str();
  app.add_option("--template-arg", arguments.template_arguments,
                 "what else the model's chat template is told, such as reasoning_effort='\"low\"'; may be repeated")
      ->type_name("NAME=JSON");
  arguments.horizon_option =
      app.add_option("--horizon", arguments.horizon,
                     arguments.as_in_paper ? "allow at most N actions; without it, 40 or what a plan needs"
                                           : "allow at most N actions; without it, the best known plan and --slack")
          ->type_name("N")
          ->check(in_range(0, 1e6));
  if (!arguments.as_in_paper) {
    arguments.slack_option = app.add_option("--slack", arguments.slack,
                                            "allow N actions more than the best known plan has; without it, a quarter "
                                            "more and at least 2")
                                 ->type_name("N")
                                 ->check(in_range(0, 1e6))
                                 ->excludes(arguments.horizon_option);
    app.add_flag("--idle-steps", arguments.support.idle_steps, "offer actions that change nothing, too");
    app.add_option("--prefer", arguments.prefer,
                   "what counts besides the model's wishes: model (nothing), short or cheap plans; short:W weighs each "
                   "action more with W, 1 being a factor e of likelihood")
        ->type_name("WHAT");
    app.add_flag("!--no-detours", arguments.support.detours, "let the plan come back to no state that it has passed");
  }
  add_choice(app, "--on-infeasible", arguments.on_infeasible, "when not all goals can be reached");
  add_budget_options(app, arguments.budget, budget);
}

ThinkOptions think_options(const DecodingArguments& arguments) {
  ThinkOptions options;
  const std::string& think = arguments.think;
  constexpr std::size_t kDigits = 7;
  if (const auto mode = internal::value_named<ThinkOptions::Mode>(think)) {
    options.mode = *mode;
  } else if (!think.empty() && think.size() <= kDigits && think.find_first_not_of("0123456789") == std::string::npos) {
    options.mode = ThinkOptions::Mode::kOn;
    options.max_tokens = std::stoul(think);
  } else {
    throw UsageError(str_cat("--think '", think, "' is none of: auto, on, off, or a number of tokens"));
  }
  for (const std::string& argument : arguments.template_arguments) {
    const std::size_t sign = argument.find('=');
    if (sign == 0 || sign == std::string::npos) {
      throw UsageError(str_cat("--template-arg '", argument, "' is not of the form NAME=JSON"));
    }
    options.template_arguments.emplace_back(argument.substr(0, sign), argument.substr(sign + 1));
  }
  return options;
}

Budget budget_of_many() {
  Budget budget = LookaheadOptions{}.search;
  budget.states = 10'000;
  return budget;
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
  if (generate.top_k != 0) json["top_k"] = generate.top_k;
  if (generate.min_p != 0) json["min_p"] = generate.min_p;
  if (arguments.think != "auto") json["think"] = arguments.think;
  if (!arguments.template_arguments.empty()) json["template_arguments"] = arguments.template_arguments;
  // Weights differ by rounding.
  if (arguments.lookahead_device != Device::kCpu) {
    json["lookahead_device"] = internal::name_of(arguments.lookahead_device);
  }
  return json;
}

}  // namespace metactrl::cli
