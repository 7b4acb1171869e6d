// The last look at a result, before anyone gets it: is it what was promised?
//
// Nothing here trusts what produced the plan. A promise that does not hold is a bug, and thrown as std::logic_error.
#ifndef METACTRL_SRC_DECODE_CHECK_RESULT_H_
#define METACTRL_SRC_DECODE_CHECK_RESULT_H_

#include <span>
#include <string_view>

#include "metactrl/planner.h"

namespace metactrl::decode {

// The text reads back as `actions` of `spelling`'s task, joined as PlanResult::separators says.
void check_text(const PlanSpelling& spelling, std::span<const ActionId> actions, const PlanResult& result);

// The tokens are the tokenizer's own for the text behind `context`, in canonical tokenization; the end of the turn is
// the last of them in any.
void check_tokens(const Vocabulary& vocabulary, std::string_view context, Tokenization tokenization,
                  const PlanResult& result);

// Sets which goals of `task` hold after those steps of the result's plan that are legal, and which do not.
void judge_goals(const Task& task, PlanResult& result);

// Every step is legal, and every goal holds but those that were dropped.
void check_promise(const PlanResult& result);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_CHECK_RESULT_H_
