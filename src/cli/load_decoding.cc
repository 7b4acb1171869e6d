#include "cli/load_decoding.h"

#include <algorithm>

#include "cluster/join.h"
#include "decode/preference.h"
#include "decode/token_surrogate.h"
#include "metactrl/training/corpus.h"
#include "metactrl/training/train.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// As many sequences as the decoding keeps at once, and as many again while it chooses among them.
unsigned sequences_for(const GenerateOptions& generate) {
  unsigned kept = 0;
  if (generate.mode == DecodeMode::kBeam) kept = generate.beam;
  if (generate.mode == DecodeMode::kSmc) kept = generate.samples;
  return kept > 31 ? 2 * kept + 2 : 0;
}

Hmm load_hmm(const std::string& file, CorpusLevel level) {
  const bool meta = level == CorpusLevel::kMeta;
  Hmm hmm = Hmm::load(file);
  if (hmm.alphabet().is_meta() == meta) return hmm;
  throw InputError(file, meta ? "is a model of tokens, not of actions" : "is a model of actions, not of tokens",
                   str_cat("train one with 'metactrl train --level ", to_string(level), "'"));
}

}  // namespace

std::shared_ptr<const LookaheadDevice> open_lookahead_device(Device device) {
  if (device != Device::kCuda) return nullptr;
  return make_cuda_lookahead_device(cluster::gpu_of(cluster::launch().rank_on_machine, num_cuda_devices()));
}

PlanOptions plan_options(const DecodingArguments& arguments) {
  PlanOptions options;
  options.guidance = arguments.guidance;
  options.bridge = arguments.bridge;
  options.tokenization = arguments.tokenization;
  options.on_infeasible = arguments.on_infeasible;
  options.generate = arguments.generate;
  options.think = think_options(arguments);
  if (arguments.as_in_paper) options.lookahead = LookaheadOptions{};
  options.lookahead.horizon = arguments.horizon;
  options.lookahead.fixed_horizon = arguments.horizon_option->count() > 0;
  if (arguments.slack_option != nullptr && arguments.slack_option->count() > 0)
    options.lookahead.slack = arguments.slack;
  options.support = arguments.support;
  if (!decode::set_preference(arguments.prefer, options)) {
    throw UsageError(str_cat("--prefer '", arguments.prefer, "' is none of: ", decode::kPreferences));
  }
  options.support.idle_steps = options.support.idle_steps || arguments.as_in_paper;
  if (!arguments.hmm.empty()) {
    if (arguments.guidance != Guidance::kTrained) throw UsageError("--hmm is for --guidance trained");
    options.lookahead.hmm = load_hmm(arguments.hmm, CorpusLevel::kMeta);
  } else if (arguments.guidance == Guidance::kTrained) {
    throw UsageError(
        "--guidance trained needs a hidden Markov model of plans: --hmm FILE ('metactrl sample' and 'metactrl train' "
        "make one)");
  }
  const bool weighs = arguments.guidance == Guidance::kUniform || arguments.guidance == Guidance::kTrained;
  if (!weighs && (arguments.bridge == Bridge::kSurrogate || arguments.bridge == Bridge::kModel)) {
    throw UsageError(str_cat("--bridge ", to_string(arguments.bridge), " has nothing to weigh with --guidance ",
                             to_string(arguments.guidance), "; use uniform or trained"));
  }
  const bool asks_tokens = arguments.bridge == Bridge::kHmm || !arguments.token_hmm.empty();
  if (asks_tokens && (arguments.guidance == Guidance::kNone || arguments.guidance == Guidance::kSearch)) {
    throw UsageError(
        str_cat("a hidden Markov model of tokens (--token-hmm, --bridge hmm) has nothing to weigh with "
                "--guidance ",
                to_string(arguments.guidance), "; use syntax, mask, uniform or trained"));
  }
  if (!arguments.token_hmm.empty()) {
    if (arguments.bridge != Bridge::kHmm && arguments.guidance != Guidance::kSyntax) {
      throw UsageError("--token-hmm is for --bridge hmm and for --guidance syntax");
    }
    if (arguments.tokenization == Tokenization::kAny) {
      throw UsageError(
          "--token-hmm reads the tokenizer's own tokens, and --tokens any allows others; use --tokens "
          "canonical");
    }
    options.token_hmm = load_hmm(arguments.token_hmm, CorpusLevel::kToken);
  } else if (arguments.bridge == Bridge::kHmm) {
    throw UsageError(
        "--bridge hmm needs a hidden Markov model of tokens: --token-hmm FILE ('metactrl train --level token' and "
        "'metactrl hmm uniform' make one)");
  }
  options.lookahead.device = open_lookahead_device(arguments.lookahead_device);
  return options;
}

void set_budgets(const BudgetOptions& options, PlanOptions& plan) {
  LookaheadOptions& lookahead = plan.lookahead;
  const Budget budget = options.budget();
  lookahead.search = budget;
  // To enumerate all states is worth less than to find one plan, unless somebody asks for it.
  const auto most = [](const CLI::Option* option, auto asked, auto usual) {
    return option->count() > 0 ? asked : std::min(asked, usual);
  };
  lookahead.exact = {most(options.states_option, budget.states, lookahead.exact.states),
                     most(options.memory_option, budget.bytes, lookahead.exact.bytes),
                     most(options.work_option, budget.work, lookahead.exact.work)};
  plan.support.candidates.work = most(options.work_option, budget.work, plan.support.candidates.work);
}

LoadedModel load_model_for(const DecodingArguments& arguments, unsigned at_once) {
  if (arguments.guidance == Guidance::kSearch) return {};
  ModelOptions runtime = arguments.runtime;
  runtime.max_sequences = sequences_for(arguments.generate);
  runtime.separate_contexts = at_once;
  try {
    return open_model(arguments.model, arguments.vocabulary, runtime);
  } catch (const ModelError& error) {
    throw ResourceError(kOutOfMemory, error.what());
  }
}

void expect_vocabulary(const PlanOptions& options, const LoadedModel& model) {
  if (options.token_hmm && model.vocabulary != nullptr) decode::TokenSurrogate(*options.token_hmm, *model.vocabulary);
}

}  // namespace metactrl::cli
