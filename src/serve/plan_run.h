// One plan, from a request to a result, told event by event.
//
//     PlanRun run(request, task, model, vocabulary);
//     run.on_event = [&](const Json& event) { send(event); };
//     PlanResult result = run.run(source, cancelled);
//
// Events (docs/serve.md has every member): {"type": "start"}, {"type": "thought"} for pieces of the thought of a model
// that thinks first, then {"type": "token"} for every token as it is decided and {"type": "action"} behind the token
// that completes one. The end is the caller's to tell, since it knows how long everything took. What the model wanted instead of an action, and why it did not get it, is worked out by a second
// decoder beside the first (explain.h), if the request asks for a trace; it about doubles the calls of the model.
#ifndef METACTRL_SRC_SERVE_PLAN_RUN_H_
#define METACTRL_SRC_SERVE_PLAN_RUN_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lookahead/certificate.h"
#include "metactrl/explain.h"
#include "metactrl/hmm.h"
#include "metactrl/planner.h"
#include "serve/api_error.h"
#include "serve/plan_request.h"

namespace metactrl::serve {

class PlanRun {
 public:
  // All must outlive the run. `model` and `vocabulary` may be null with guidance search.
  PlanRun(const PlanRequest& request, const Task& task, std::string model_name, LanguageModel* model,
          std::shared_ptr<const Vocabulary> vocabulary);

  // Both may be empty. A text event's bytes may end in the middle of a character.
  std::function<void(const Json&)> on_event;
  std::function<void(std::string_view bytes)> on_text;
  // Every token of the plan, with its probability where there was a choice.
  std::function<void(const Observer::Token&)> on_token;
  // Of a model that thinks first, in whole characters.
  std::function<void(std::string_view text)> on_thought;
  // For guidance trained.
  std::optional<Hmm> hmm;
  std::shared_ptr<const LookaheadDevice> lookahead_device;
  // For the check of the plan at the end, as for one of /v1/validate.
  std::size_t check_bytes = 0;

  PlanResult run(const PlanOptions::ConstraintSource& constraints, const Stop& cancelled);

 private:
  void start(const PlanResult& so_far, std::size_t answer_tokens);
  void thought(std::string_view text);
  void token(const Observer::Token& event);
  // `chosen` is of the task that was given; `text` is the plan's up to here, where it is known.
  void action(ActionId chosen, std::optional<std::string_view> text, bool stops);
  bool closes(std::string_view text) const;
  std::vector<std::size_t> met() const;

  const PlanRequest& request_;
  const Task& task_;
  std::string model_name_;
  LanguageModel* model_;
  std::shared_ptr<const Vocabulary> vocabulary_;

  bool started_ = false;
  std::optional<Task> pursued_;
  unsigned horizon_ = 0;
  std::optional<Explainer> explainer_;  // with a trace
  std::vector<TokenId> tokens_;
  std::size_t told_tokens_ = 0;  // of them, up to the last action
  std::vector<PlanStep> steps_;
  State state_;
  bool illegal_ = false;  // an action was; nothing is told of those behind it
};

// The last event, or the whole answer: outcome, guarantee, goals, check, counts, timings.
struct PlanClosing {
  double load_seconds = 0;
  double total_seconds = 0;
  bool cached = false;
  std::optional<lookahead::Certificate> certificate;  // where one was asked for
};
// The proof of what the result says. Throws Stopped when `stop` says so.
lookahead::Certificate certify(const Task& task, const PlanRequest& request, const PlanResult& result,
                               const Stop& stop);
Json closing_json(const Task& task, const PlanRequest& request, const PlanResult& result, const PlanClosing& closing);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_PLAN_RUN_H_
