// Why an action was allowed or not, step by step, and what the model wanted instead: for traces and explanations.
//
//     PlanResult result = plan(task, format, model, vocabulary, options);
//     for (const ExplainedStep& step : explain(task, result, model)) {
//       if (step.wish && !step.wish->veto.empty()) std::cout << "vetoed: " << step.wish->veto << '\n';
//     }
//
// Reasons are bare: "precondition (open dishwasher) is false", with neither the number of the step nor the action.
//
// Telling it afterwards makes it the same for every way of decoding, leaves the decoding and its counts alone, and asks
// the model things that no decoding asks, such as what it would have written had it only been held to the form. Costs
// about as many model calls as a greedy decoding. An Explainer tells the same while the plan grows, a step at a time.
#ifndef METACTRL_EXPLAIN_H_
#define METACTRL_EXPLAIN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/planner.h"

namespace metactrl {

struct ExplainedStep {
  // What may be said about an action before a step.
  enum class Standing {
    kAllowed,    // legal, and the goal stays within reach
    kIllegal,    // a precondition is false, or a trajectory constraint would be broken
    kTooLate,    // legal; the goal stays within reach, but not within the actions that are left
    kDeadEnd,    // legal; the goal is out of reach behind it, however many actions the horizon allows
    kIdle,       // legal; it changes nothing, and such steps are not wanted (SupportOptions::idle_steps)
    kDetour,     // legal; the plan would come back to a state that it has passed (SupportOptions::detours)
    kUndecided,  // legal; the budget ended before anything was proved
    kNotJudged,  // legal; nobody looked ahead (guidance syntax and none)
  };

  struct Judged {
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
    // Why it did not get that: "illegal: precondition (open dishwasher) is false"; empty when nothing spoke against it.
    // Without guidance nothing is vetoed; what is wrong is said all the same.
    std::string veto;
  };
  struct Token {
    TokenId token{};
    bool forced = false;
    std::size_t choices = 1;
    double log_weight = 0;
    std::optional<TokenId> favourite;  // where there was a choice and a model
  };

  unsigned left = 0;        // actions, this one included; 0 with guidance none, where there is no limit
  bool goal_holds = false;  // before the step
  // Legal actions, ascending.
  std::vector<Judged> legal;
  std::optional<Wish> wish;
  // Nothing: the empty plan, or the decoding was stopped here.
  std::optional<ActionId> chosen;
  bool chosen_is_legal = true;
  bool stops = false;  // the plan ends here
  std::vector<Token> tokens;
};

const char* to_string(ExplainedStep::Standing standing);

// Why an action with this standing was not allowed, with `left` actions left; empty when it was.
std::string why_not(ExplainedStep::Standing standing, unsigned left);
// Why `action` is not legal behind `steps`, in the words of the reference semantics: "precondition (open dishwasher) is
// false". Empty when it is legal.
std::string why_illegal(const Task& task, std::span<const PlanStep> steps, ActionId action);

class Explainer {
 public:
  // Of `result` only what Observer::ready is told is needed; it is not kept. `model` may be null: then there are no
  // wishes. `reserve` is how many tokens the answer may take. `task`, the task that was given, and the model must
  // outlive the explainer.
  Explainer(const Task& task, const PlanResult& result, LanguageModel* model, std::size_t reserve);
  ~Explainer();
  Explainer(const Explainer&) = delete;
  Explainer& operator=(const Explainer&) = delete;

  // Tokens between the prompt and the plan (Observer::thought_end), before the first step.
  void read(std::span<const TokenId> tokens);
  // The step behind those asked for so far. `chosen` is of the task that was given; nothing stands for the empty plan,
  // or for a decoding that was stopped here. `tokens` are all that are known: those of the step are told, up to the one
  // that completes the action, or all when the plan ends here. After an illegal step there is no other.
  ExplainedStep step(std::optional<ActionId> chosen, std::span<const TokenId> tokens, bool stops);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Ends at the first illegal step. `model` may be null: then there are no wishes. Ids are those of `task`, the task that
// was given. `cancelled`, where given, is asked before every step.
std::vector<ExplainedStep> explain(const Task& task, const PlanResult& result, LanguageModel* model,
                                   const Stop& cancelled = {});

}  // namespace metactrl

#endif  // METACTRL_EXPLAIN_H_
