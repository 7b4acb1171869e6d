// What a request for a plan asks for, looked at before anything is done for it.
#ifndef METACTRL_SRC_DECODE_PLAN_REQUEST_H_
#define METACTRL_SRC_DECODE_PLAN_REQUEST_H_

#include "metactrl/planner.h"

namespace metactrl::decode {

// Beam search and sequential Monte Carlo do, and say what each is worth.
bool keeps_several_plans(DecodeMode mode);

// Throws InputError for options that cannot be, alone or together. `model` and `vocabulary` may be null.
void check_options(const LanguageModel* model, const Vocabulary* vocabulary, const PlanOptions& options);

// Neither goals (task/asks_nothing.h) nor a preference nor a trajectory constraint: every legal plan will do, the empty one
// among them.
bool asks_for_nothing(const Task& task);

// Throws InputError for an instruction whose task asks for nothing.
void check_instruction(const Task& task, const PlanOptions& options);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_PLAN_REQUEST_H_
