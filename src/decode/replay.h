// What happened while a plan was decoded, step by step, told afterwards: for traces and explanations.
//
//     PlanResult result = plan(task, format, model, vocabulary, options);
//     for (const ReplayStep& step : replay(task, result, model)) ...
//
// Working afterwards makes it the same for every way of decoding, leaves the decoding and its counts alone, and asks
// the model things that no decoding asks, such as what it would have written had it only been held to the form. Costs
// about as many model calls as a greedy decoding.
#ifndef METACTRL_SRC_DECODE_REPLAY_H_
#define METACTRL_SRC_DECODE_REPLAY_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metactrl/planner.h"

namespace metactrl::decode {

// What may be said about an action before a step.
enum class Standing {
  kAllowed,    // legal, and the goal stays within reach
  kIllegal,    // a precondition is false, or a trajectory constraint would be broken
  kTooLate,    // legal; the goal stays within reach, but not within the actions that are left
  kDeadEnd,    // legal; the goal is out of reach behind it, however many actions the horizon allows
  kUndecided,  // legal; the budget ended before anything was proved
  kNotJudged,  // legal; nobody looked ahead (guidance syntax and none)
};
const char* to_string(Standing standing);

struct StandingOf {
  ActionId action{};
  Standing standing = Standing::kIllegal;
  unsigned remaining = 0;  // kAllowed: actions needed after this one
  double log_weight = 0;   // kAllowed
};

// What the model would have written here, held to the form only.
struct Wish {
  TokenId token{};  // its favourite among all tokens, held to nothing
  // Nothing: the empty plan.
  std::optional<ActionId> action;
  bool stops = false;  // and the plan ends there
  Standing standing = Standing::kIllegal;
  // The goals that would not hold, where it stops and should not.
  std::vector<std::string> unmet;
};

struct ReplayToken {
  TokenId token{};
  bool forced = false;
  std::size_t choices = 1;
  double log_weight = 0;
  std::optional<TokenId> favourite;  // where there was a choice and a model
};

struct ReplayStep {
  unsigned left = 0;        // actions, this one included; 0 with guidance none, where there is no limit
  bool goal_holds = false;  // before the step
  // Legal actions, ascending.
  std::vector<StandingOf> legal;
  std::optional<Wish> wish;
  // Nothing: the empty plan, or the decoding was stopped here.
  std::optional<ActionId> chosen;
  bool chosen_is_legal = true;
  bool stops = false;  // the plan ends here
  std::vector<ReplayToken> tokens;
};

// Ends at the first illegal step. `model` may be null: then there are no wishes. Ids are those of `task`, the task that
// was given. `cancelled`, where given, is asked before every step.
std::vector<ReplayStep> replay(const Task& task, const PlanResult& result, LanguageModel* model,
                               const std::function<bool()>& cancelled = {});

// Why `action` is not legal after the first `steps` steps of the plan, in the words of the reference semantics:
// "precondition (open dishwasher) is false". Empty when it is legal.
std::string why_illegal(const Task& task, std::span<const PlanStep> steps, ActionId action);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_REPLAY_H_
