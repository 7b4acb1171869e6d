// What a request says about thinking, in the words that clients of other servers use.
#ifndef METACTRL_SRC_SERVE_THINKING_H_
#define METACTRL_SRC_SERVE_THINKING_H_

#include "metactrl/planner.h"
#include "serve/fields.h"
#include "serve/plan_request.h"

namespace metactrl::serve {

// The member "think" of a plan object: auto, off, on, or the most tokens of a thought.
void read_think(Fields& fields, const RequestLimits& limits, ThinkOptions& options);
// Members of a chat request: reasoning_effort, reasoning_budget_tokens and its other names, chat_template_kwargs. What
// asks a model to think that does not know how is let through to its template and otherwise without effect.
void read_reasoning(Fields& fields, const RequestLimits& limits, bool can_think, ThinkOptions& options);

// The member "reasoning" of an answer; null without a thought.
Json reasoning_json(const std::optional<Thought>& thought);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_THINKING_H_
