// POST /v1/chat/completions and /v1/completions: OpenAI's shapes around text, or around a guaranteed plan.
#ifndef METACTRL_SRC_SERVE_CHAT_H_
#define METACTRL_SRC_SERVE_CHAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/think.h"
#include "serve/agent_turns.h"
#include "serve/service.h"
#include "serve/tools.h"

namespace metactrl::serve {

// Bytes in, whole UTF-8 characters out.
class CharacterBuffer {
 public:
  // What can be shown now; the beginning of a character is kept back.
  std::string add(std::string_view bytes);
  // The rest, complete or not.
  std::string flush() { return std::exchange(held_, {}); }

 private:
  std::string held_;
};

// Ends a text at the first of some strings, which is not part of it.
class StopFilter {
 public:
  explicit StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {}
  // What is certain not to be part of a stop string.
  std::string add(std::string_view bytes);
  std::string flush();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

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
    Json plan;   // null without one
    Json calls;  // of tools; null or empty without any
  };

  void begin();
  void read();
  void read_tools(const Json& tools);
  void read_messages(const Json& messages);
  void read_prompt(const Json& prompt);
  void read_stops();
  void refuse_unsupported();
  void refuse_settings();

  Outcome write_text(EventStream* events);
  // Lets a model think that does so first; the answer begins where the session then is.
  void think(Session& session, const decode::ThinkingFrame& frame, std::size_t budget, EventStream* events, bool& first,
             Outcome& outcome);
  Outcome write_plan(EventStream* events);

  // --- shapes ---
  Json envelope(const char* object) const;
  void send_delta(EventStream& events, const std::string& text, bool first) const;
  void send_thought(EventStream& events, std::string_view text, bool first) const;
  void send_calls(EventStream& events, const Outcome& outcome) const;
  void send_last(EventStream& events, const Outcome& outcome) const;
  Json usage(const Outcome& outcome) const;
  Json whole(const Outcome& outcome) const;

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
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_CHAT_H_
