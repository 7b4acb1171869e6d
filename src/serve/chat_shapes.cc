// The answers of chats and completions, whole and in chunks, as OpenAI's API has them.
#include <utility>

#include "serve/chat.h"

namespace metactrl::serve {

Json ChatHandler::envelope(const char* object) const {
  const std::string kind = chat_ ? "chat.completion" : "text_completion";
  const bool chunk = chat_ && std::string_view(object) == "chunk";
  return {
      {"id", id_}, {"object", chunk ? kind + ".chunk" : kind}, {"created", created_}, {"model", shared_->model().name}};
}

void ChatHandler::send_delta(EventStream& events, const std::string& text, bool first) {
  Json chunk = envelope("chunk");
  Json choice{{"index", index_}};
  if (chat_) {
    choice["delta"] = first ? Json{{"role", "assistant"}, {"content", text}} : Json{{"content", text}};
  } else {
    choice["text"] = text;
  }
  choice["logprobs"] = log_ ? log_->take() : Json(nullptr);
  choice["finish_reason"] = nullptr;
  chunk["choices"] = Json::array({std::move(choice)});
  events.send(chunk);
}

void ChatHandler::send_thought(EventStream& events, std::string_view text, bool first) const {
  Json chunk = envelope("chunk");
  Json delta = first ? Json{{"role", "assistant"}} : Json::object();
  delta["reasoning_content"] = text;
  delta["reasoning"] = text;
  chunk["choices"] = Json::array(
      {{{"index", index_}, {"delta", std::move(delta)}, {"logprobs", nullptr}, {"finish_reason", nullptr}}});
  events.send(chunk);
}

void ChatHandler::send_calls(EventStream& events, const Outcome& outcome) const {
  Json chunk = envelope("chunk");
  Json calls = Json::array();
  for (const Json& call : outcome.calls.list()) {
    calls.push_back({{"index", calls.size()}}).update(call);
  }
  chunk["choices"] = Json::array({{{"index", index_},
                                   {"delta", {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", calls}}},
                                   {"logprobs", nullptr},
                                   {"finish_reason", nullptr}}});
  events.send(chunk);
}

void ChatHandler::send_last(EventStream& events, const Outcome& outcome) const {
  if (!outcome.calls.empty()) send_calls(events, outcome);
  Json chunk = envelope("chunk");
  Json choice{{"index", index_}};
  if (chat_) {
    choice["delta"] = Json::object();
  } else {
    choice["text"] = "";
  }
  choice["logprobs"] = outcome.logprobs;
  choice["finish_reason"] = outcome.finish_reason;
  chunk["choices"] = Json::array({std::move(choice)});
  if (!outcome.plan.is_null()) chunk["plan"] = outcome.plan;
  events.send(chunk);
}

void ChatHandler::send_usage(EventStream& events, const std::vector<Outcome>& outcomes) const {
  if (!stream_usage_) return;
  Json last = envelope("chunk");
  last["choices"] = Json::array();
  last["usage"] = usage(outcomes);
  events.send(last);
}

// The prompt is one, whatever the number of choices.
Json ChatHandler::usage(const std::vector<Outcome>& outcomes) const {
  std::size_t thought = 0;
  std::size_t tokens = 0;
  bool thinks = false;
  for (const Outcome& outcome : outcomes) {
    tokens += outcome.tokens;
    thinks = thinks || outcome.thought.has_value();
    if (outcome.thought) thought += outcome.thought->tokens + outcome.thought->forced_tokens;
  }
  const std::size_t prompt = outcomes.front().prompt_tokens;
  Json json{
      {"prompt_tokens", prompt}, {"completion_tokens", thought + tokens}, {"total_tokens", prompt + thought + tokens}};
  if (thinks) json["completion_tokens_details"] = {{"reasoning_tokens", thought}};
  return json;
}

Json ChatHandler::choice_json(const Outcome& outcome, std::size_t index) const {
  Json choice{{"index", index}};
  if (chat_) {
    choice["message"] = {{"role", "assistant"}, {"content", outcome.text}, {"refusal", nullptr}};
    if (outcome.thought && show_thought_) {
      choice["message"]["reasoning_content"] = outcome.thought->text;
      choice["message"]["reasoning"] = outcome.thought->text;
    }
    if (!outcome.calls.empty()) {
      choice["message"]["content"] = nullptr;
      choice["message"]["tool_calls"] = outcome.calls;
    }
  } else {
    choice["text"] = outcome.text;
  }
  choice["logprobs"] = outcome.logprobs;
  choice["finish_reason"] = outcome.finish_reason;
  if (count_ > 1 && !outcome.plan.is_null()) choice["plan"] = outcome.plan;
  return choice;
}

Json ChatHandler::whole(const std::vector<Outcome>& outcomes) const {
  Json json = envelope("whole");
  json["choices"] = Json::array();
  for (std::size_t i = 0; i < outcomes.size(); ++i) json["choices"].push_back(choice_json(outcomes[i], i));
  json["usage"] = usage(outcomes);
  if (!outcomes.front().plan.is_null()) json["plan"] = outcomes.front().plan;
  return json;
}

}  // namespace metactrl::serve
