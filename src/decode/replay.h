// What happened while a plan was decoded, step by step, told afterwards: for traces and explanations.
//
//     PlanResult result = plan(task, format, model, vocabulary, options);
//     for (const ReplayStep& step : replay(task, result, model)) ...
//
// Working afterwards makes it the same for every way of decoding, leaves the decoding and its counts alone, and asks
// the model things that no decoding asks, such as what it would have written had it only been held to the form. Costs
// about as many model calls as a greedy decoding. A Replayer tells the same while the plan grows, a step at a time.
#ifndef METACTRL_SRC_DECODE_REPLAY_H_
#define METACTRL_SRC_DECODE_REPLAY_H_

#include <cstddef>
#include <functional>
#include <memory>
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

class Replayer {
 public:
  // Of `result` only what Observer::ready is told is needed; it is not kept. `model` may be null: then there are no
  // wishes. `reserve` is how many tokens the answer may take. `task`, the task that was given, and the model must
  // outlive the replayer.
  Replayer(const Task& task, const PlanResult& result, LanguageModel* model, std::size_t reserve);
  ~Replayer();
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  // The step behind those asked for so far. `chosen` is of the task that was given; nothing stands for the empty plan,
  // or for a decoding that was stopped here. `tokens` are all that are known: those of the step are told, up to the one
  // that completes the action, or all when the plan ends here. After an illegal step there is no other.
  ReplayStep step(std::optional<ActionId> chosen, std::span<const TokenId> tokens, bool stops);
  // Whether the tokens told so far close the plan with their last action.
  bool closed() const;
  // How many tokens were told so far.
  std::size_t num_tokens() const;
  // After the steps told so far.
  const State& state() const;
  const Task& pursued() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Ends at the first illegal step. `model` may be null: then there are no wishes. Ids are those of `task`, the task that
// was given. `cancelled`, where given, is asked before every step.
std::vector<ReplayStep> replay(const Task& task, const PlanResult& result, LanguageModel* model,
                               const std::function<bool()>& cancelled = {});

// Why an action with this standing was not allowed, with `left` actions left; empty when it was.
std::string standing_text(Standing standing, unsigned left);
// Why the model did not get what it wanted before step number `step_index` (from 0): "illegal: precondition (open
// dishwasher) is false"; empty when it got it. `steps` are those before it, `left` the actions that were left.
std::string veto_text(const Task& task, std::span<const PlanStep> steps, unsigned left, const Wish& wish);

// Why `action` is not legal after the first `steps` steps of the plan, in the words of the reference semantics:
// "precondition (open dishwasher) is false". Empty when it is legal.
std::string why_illegal(const Task& task, std::span<const PlanStep> steps, ActionId action);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_REPLAY_H_
