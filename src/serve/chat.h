// POST /v1/chat/completions and /v1/completions: OpenAI's shapes around text, or around a guaranteed plan.
#ifndef METACTRL_SRC_SERVE_CHAT_H_
#define METACTRL_SRC_SERVE_CHAT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/think.h"
#include "serve/agent_turns.h"
#include "serve/logprobs.h"
#include "serve/service.h"
#include "serve/text_pieces.h"
#include "serve/tools.h"

namespace metactrl::serve {

// One request of either kind.
class ChatHandler {
 public:
  ChatHandler(Service& service, RequestContext& context, bool chat);
  // A chat that came in another shape.
  ChatHandler(Service& service, RequestContext& context, Json body);
  void run();
  // The answer as one object, whatever the request says of streams; nothing is sent.
  Json answer();

 private:
  struct Outcome {
    std::string text;
    const char* finish_reason = "stop";
    std::size_t prompt_tokens = 0;
    std::size_t tokens = 0;
    std::optional<Thought> thought;
    Json plan;      // null without one
    Json calls;     // of tools; null or empty without any
    Json logprobs;  // null where nobody asked; of a stream, those that were not sent yet
  };

  void begin();
  void read();
  void read_tools(const Json& tools);
  void read_messages(const Json& messages);
  void read_prompt(const Json& prompt);
  void read_stops();
  void refuse_unsupported();
  void refuse_settings();
  void read_logprobs();
  // Before the first choice: the goal, what tools returned.
  void prepare_plan(EventStream* events);

  // All choices, one after the other, each with a seed of its own.
  std::vector<Outcome> write_all(EventStream* events);
  Outcome write_text(EventStream* events);
  // Lets a model think that does so first; the answer begins where the session then is.
  void think(Session& session, const decode::ThinkingFrame& frame, std::size_t budget, EventStream* events, bool& first,
             Outcome& outcome);
  Outcome write_plan(EventStream* events);
  // Keeps events in `trace` and sends them, where a trace is asked for.
  std::function<void(const Json&)> tracer(EventStream* events, Json& trace) const;

  // --- shapes ---
  Json envelope(const char* object) const;
  void send_delta(EventStream& events, const std::string& text, bool first);
  void send_thought(EventStream& events, std::string_view text, bool first) const;
  void send_calls(EventStream& events, const Outcome& outcome) const;
  void send_last(EventStream& events, const Outcome& outcome) const;
  void send_usage(EventStream& events, const std::vector<Outcome>& outcomes) const;
  Json usage(const std::vector<Outcome>& outcomes) const;
  Json choice_json(const Outcome& outcome, std::size_t index) const;
  Json whole(const std::vector<Outcome>& outcomes) const;

  Service& service_;
  RequestContext& context_;
  bool chat_;
  Json body_;
  Fields fields_;
  SharedModel* shared_ = nullptr;
  std::string id_;
  std::int64_t created_ = 0;
  Prompt prompt_;
  std::string instruction_;  // what the user said last
  GenerateOptions generate_;
  ThinkOptions think_;
  bool show_thought_ = true;
  std::vector<std::string> stops_;
  std::optional<PlanRequest> plan_;
  std::optional<Tools> tools_;
  bool calls_wanted_ = false;  // the plan comes as calls of them
  bool one_call_ = false;      // and only its first action
  AgentTurns turns_;           // what became of calls so far
  bool stream_ = false;
  bool stream_usage_ = false;
  std::size_t count_ = 1;                // choices
  std::size_t index_ = 0;                // the one that is being written
  std::optional<std::size_t> logprobs_;  // asked for, with so many of the likeliest beside each
  std::optional<TokenLog> log_;          // of this choice
  Json goal_events_ = Json::array();     // told before the first choice, part of every trace
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_CHAT_H_
