#include "decode/plan_request.h"

#include <string>

#include "lookahead/preferences.h"
#include "metactrl/error.h"
#include "support/str_cat.h"
#include "task/asks_nothing.h"

namespace metactrl::decode {

using internal::str_cat;

bool keeps_several_plans(DecodeMode mode) { return mode == DecodeMode::kBeam || mode == DecodeMode::kSmc; }

bool asks_for_nothing(const Task& task) { return task::asks_nothing(task.program()) && !has_preferences(task); }

// A goal that asks for nothing is reached by the empty plan, whatever the instruction says: that would look like success.
void check_instruction(const Task& task, const PlanOptions& options) {
  const bool promises = options.guidance != Guidance::kNone && options.guidance != Guidance::kSyntax;
  if (!promises || options.instruction.empty() || options.prompt) return;
  if (!asks_for_nothing(task)) return;
  throw InputError(
      "problem",
      task.num_goals() == 0 ? "the goal is empty, so doing nothing would be a plan for any instruction"
                            : "the goal holds whatever is done, so doing nothing would be a plan for any instruction",
      "state in (:goal ...) what holds when the instruction was carried out, or leave the instruction out");
}

void check_options(const LanguageModel* model, const Vocabulary* vocabulary, const PlanOptions& options) {
  const std::string guidance = str_cat("guidance ", to_string(options.guidance));
  if (options.guidance == Guidance::kTrained && !options.lookahead.hmm) {
    throw InputError(guidance, "needs a hidden Markov model of plans",
                     "set PlanOptions::lookahead.hmm, or use guidance uniform, mask or search");
  }
  if (options.bridge == Bridge::kHmm && !options.token_hmm) {
    throw InputError("bridge hmm", "needs a hidden Markov model of tokens",
                     "set PlanOptions::token_hmm, or use bridge uniform, surrogate or model");
  }
  if (options.token_hmm && options.bridge != Bridge::kHmm && options.guidance != Guidance::kSyntax) {
    throw InputError(str_cat("bridge ", to_string(options.bridge)), "has no use for a hidden Markov model of tokens",
                     "use bridge hmm, or guidance syntax");
  }
  if (options.token_hmm && options.tokenization == Tokenization::kAny) {
    throw InputError("model of tokens", "reads the tokenizer's own tokens, and 'any' tokenization allows others",
                     "use canonical tokenization, or do without the model of tokens");
  }
  if (options.guidance == Guidance::kSearch) {
    if (options.on_infeasible == PlanOptions::OnInfeasible::kSyntax) {
      throw InputError(guidance, "has no model that could write a plan where none exists",
                       "use another guidance, or another answer to an infeasible task than syntax");
    }
    return;
  }
  if (model == nullptr || vocabulary == nullptr) {
    throw InputError(guidance, "needs a language model", "name one, or use guidance search");
  }
  if (options.guidance == Guidance::kNone && keeps_several_plans(options.generate.mode)) {
    throw InputError(str_cat("decode ", to_string(options.generate.mode)), "needs a guidance to follow",
                     "use greedy or sample with guidance none");
  }
  if (options.guidance == Guidance::kSyntax && options.generate.mode == DecodeMode::kBeam) {
    throw InputError("decode beam", "searches among the actions that are supported, and guidance syntax knows none",
                     "use greedy, sample or smc with guidance syntax");
  }
}

}  // namespace metactrl::decode
