// From the options of the decoding to what a planner takes: files are read, the model is opened.
#ifndef METACTRL_SRC_CLI_LOAD_DECODING_H_
#define METACTRL_SRC_CLI_LOAD_DECODING_H_

#include <memory>

#include "cli/decoding_options.h"
#include "cli/model_store.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"

namespace metactrl::cli {

// For LookaheadOptions::device. Throws InputError where the device cannot be had.
std::shared_ptr<const LookaheadDevice> open_lookahead_device(Device device);
// All of them but the budget and the time limit.
// UsageError where a guidance or bridge lacks its model, InputError where that is of the wrong level.
PlanOptions plan_options(const DecodingArguments& arguments);
// The budgets of the lookahead as the options have them: all of it for a search. States are enumerated, and candidates
// searched for, at the usual cost at most, unless an option was given: then it holds for them, too.
void set_budgets(const BudgetOptions& options, PlanOptions& plan);
// With memory for `at_once` answers at a time, each as long as the context and of its own: none depends on another. An empty one where the arguments need none.
// Throws ResourceError when the model does not fit.
LoadedModel load_model_for(const DecodingArguments& arguments, unsigned at_once = 1);
// InputError where the model of tokens was not made for the language model's vocabulary.
void expect_vocabulary(const PlanOptions& options, const LoadedModel& model);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_LOAD_DECODING_H_
