// POST /v1/responses: OpenAI's newer shape of the same conversation. A request is written as a chat, answered as one, and
// the answer written as items. Nothing is kept between two requests, so whatever would go on from a stored one is refused.
//
// A stream has the events that clients put an answer together from; they are sent when the answer is complete and checked.
#include <ctime>
#include <utility>

#include "serve/chat.h"
#include "serve/tools.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// The parts of a message that are text, as a chat has them.
Json chat_content(const Json& content, const std::string& where) {
  if (!content.is_array()) return content;
  Json out = Json::array();
  for (const Json& part : content.list()) {
    const bool is_text = part.is_object() && part["text"].is_string() &&
                         (part["type"] == "input_text" || part["type"] == "output_text" || part["type"] == "text");
    if (!is_text) throw ApiError(400, "bad_request", str_cat("'", where, "' may hold texts only"), where);
    out.push_back({{"type", "text"}, {"text", part["text"]}});
  }
  return out;
}

// The items of "input" as messages. Calls that follow each other are one message of the assistant.
Json chat_messages(const Json& input, const std::optional<std::string>& instructions) {
  Json messages = Json::array();
  if (instructions) messages.push_back({{"role", "system"}, {"content", *instructions}});
  if (input.is_string()) {
    messages.push_back({{"role", "user"}, {"content", input}});
    return messages;
  }
  if (!input.is_array() || input.empty()) {
    throw ApiError(400, "bad_request", "'input' must be a text, or a list of items", "input");
  }
  Json calls = Json::array();
  const auto close_calls = [&] {
    if (calls.empty()) return;
    messages.push_back(
        {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", std::exchange(calls, Json::array())}});
  };
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::string where = str_cat("input[", i, "]");
    Fields item(input[i], where + ".");
    const std::string type = item.text("type").value_or("message");
    item.text("id");
    item.text("status");
    if (type == "function_call") {
      calls.push_back(
          {{"id", item.text("call_id").value_or("")},
           {"type", "function"},
           {"function",
            {{"name", item.text("name").value_or("")}, {"arguments", item.text("arguments").value_or("")}}}});
    } else if (type == "function_call_output") {
      close_calls();
      const std::optional<std::string> output = item.text("output");
      if (!output) item.refuse("output", "is missing");
      messages.push_back({{"role", "tool"}, {"tool_call_id", item.text("call_id").value_or("")}, {"content", *output}});
    } else if (type == "message") {
      close_calls();
      const std::string role = item.text("role").value_or("");
      if (role == "tool") item.refuse("role", "must be system, developer, user or assistant");
      const Json* content = item.find("content");
      if (content == nullptr) item.refuse("content", "is missing");
      messages.push_back({{"role", role}, {"content", chat_content(*content, where + ".content")}});
    } else {
      item.refuse("type", "must be message, function_call or function_call_output");
    }
    item.refuse_others();
  }
  close_calls();
  return messages;
}

// Functions as a chat has them: with their members in an object of their own.
Json chat_tools(const Json& tools) {
  if (!tools.is_array()) return tools;
  Json out = Json::array();
  for (const Json& tool : tools.list()) {
    const bool is_function = tool.is_object() && tool["type"] == "function" && tool["name"].is_string();
    if (!is_function) {
      throw ApiError(400, "bad_request", "'tools' must be a list of {\"type\": \"function\", \"name\", \"parameters\"}",
                     "tools");
    }
    out.push_back({{"type", "function"}, {"function", {{"name", tool["name"]}, {"parameters", tool["parameters"]}}}});
  }
  return out;
}

// The request as a chat.
Json chat_body(const Json& body, bool& stream) {
  Fields fields(body, "");
  const Json* input = fields.find("input");
  if (input == nullptr) fields.refuse("input", "is missing");
  Json chat{{"messages", chat_messages(*input, fields.text("instructions"))}};
  if (const auto tokens = fields.integer("max_output_tokens", 1, ~std::uint64_t{0})) chat["max_tokens"] = *tokens;
  if (const Json* tools = fields.find("tools")) chat["tools"] = chat_tools(*tools);
  for (const char* name : {"model", "plan", "tool_choice", "parallel_tool_calls", "temperature", "top_p", "seed"}) {
    if (const Json* value = fields.find(name)) chat[name] = *value;
  }
  stream = fields.flag("stream").value_or(false);
  for (const char* name : {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"}) {
    fields.find(name);
  }
  if (const Json* text = fields.find("text")) {
    const Json plain_format{{"type", "text"}};
    const bool plain = text->is_object() && (text->empty() || (*text)["format"] == plain_format);
    if (!plain) fields.refuse("text", "is not offered, except {\"format\": {\"type\": \"text\"}}");
  }
  fields.refuse_others();
  return chat;
}

Json output_items(const Json& choice) {
  Json output = Json::array();
  const Json& calls = choice["message"].contains("tool_calls") ? choice["message"]["tool_calls"] : Json();
  if (calls.is_array()) {
    for (const Json& call : calls.list()) {
      output.push_back({{"type", "function_call"},
                        {"id", make_id("fc_")},
                        {"call_id", call["id"]},
                        {"name", call["function"]["name"]},
                        {"arguments", call["function"]["arguments"]},
                        {"status", "completed"}});
    }
    return output;
  }
  const Json text{{"type", "output_text"}, {"text", choice["message"]["content"]}, {"annotations", Json::array()}};
  output.push_back({{"type", "message"},
                    {"id", make_id("msg_")},
                    {"status", "completed"},
                    {"role", "assistant"},
                    {"content", Json::array({text})}});
  return output;
}

Json response_json(const Json& chat, const Json& answer) {
  const Json& choice = answer["choices"][0];
  const bool cut = choice["finish_reason"] == "length";
  const Json& usage = answer["usage"];
  Json out{{"id", make_id("resp_")},
           {"object", "response"},
           {"created_at", answer["created"]},
           {"status", cut ? "incomplete" : "completed"},
           {"error", nullptr},
           {"incomplete_details", cut ? Json{{"reason", "max_output_tokens"}} : Json(nullptr)},
           {"model", answer["model"]},
           {"output", output_items(choice)},
           {"parallel_tool_calls", chat["parallel_tool_calls"] != false},
           {"tool_choice", chat["tool_choice"].is_null() ? Json("auto") : chat["tool_choice"]},
           {"tools", Json::array()},
           {"metadata", Json::object()},
           {"usage",
            {{"input_tokens", usage["prompt_tokens"]},
             {"input_tokens_details", {{"cached_tokens", 0}}},
             {"output_tokens", usage["completion_tokens"]},
             {"output_tokens_details", {{"reasoning_tokens", 0}}},
             {"total_tokens", usage["total_tokens"]}}}};
  if (answer.contains("plan")) out["plan"] = answer["plan"];
  return out;
}

class ResponseEvents {
 public:
  explicit ResponseEvents(Exchange& exchange) : exchange_(exchange) {}

  void send_all(const Json& response) {
    Json begun = response;
    begun["status"] = "in_progress";
    begun["output"] = Json::array();
    begun["usage"] = nullptr;
    exchange_.begin_stream("text/event-stream", {});
    send("response.created", {{"response", std::move(begun)}});
    const Json& output = response["output"];
    for (std::size_t i = 0; i < output.size(); ++i) send_item(output[i], i);
    const bool cut = response["status"] == "incomplete";
    send(cut ? "response.incomplete" : "response.completed", {{"response", response}});
    exchange_.end_stream();
  }

 private:
  void send(const char* type, Json members) {
    Json event{{"type", type}, {"sequence_number", number_++}};
    event.update(std::move(members));
    exchange_.write(str_cat("event: ", type, "\ndata: ", dump(event), "\n\n"));
  }

  void send_item(const Json& item, std::size_t index) {
    const Json place{{"item_id", item["id"]}, {"output_index", index}};
    const auto at = [&place](Json members) {
      Json out = place;
      out.update(std::move(members));
      return out;
    };
    Json empty = item;
    empty["status"] = "in_progress";
    const bool call = item["type"] == "function_call";
    empty[call ? "arguments" : "content"] = call ? Json("") : Json::array();
    send("response.output_item.added", {{"output_index", index}, {"item", std::move(empty)}});
    if (call) {
      send("response.function_call_arguments.delta", at({{"delta", item["arguments"]}}));
      send("response.function_call_arguments.done", at({{"arguments", item["arguments"]}, {"name", item["name"]}}));
    } else {
      const Json& part = item["content"][0];
      Json blank = part;
      blank["text"] = "";
      send("response.content_part.added", at({{"content_index", 0}, {"part", std::move(blank)}}));
      send("response.output_text.delta",
           at({{"content_index", 0}, {"delta", part["text"]}, {"logprobs", Json::array()}}));
      send("response.output_text.done",
           at({{"content_index", 0}, {"text", part["text"]}, {"logprobs", Json::array()}}));
      send("response.content_part.done", at({{"content_index", 0}, {"part", part}}));
    }
    send("response.output_item.done", {{"output_index", index}, {"item", item}});
  }

  Exchange& exchange_;
  std::size_t number_ = 0;
};

}  // namespace

void Service::post_responses(RequestContext& context) {
  bool stream = false;
  const Json chat = chat_body(parse_body(context.exchange().request().body), stream);
  const Json response = response_json(chat, ChatHandler(*this, context, chat).answer());
  if (stream) {
    ResponseEvents(context.exchange()).send_all(response);
  } else {
    context.exchange().respond(200, "application/json", dump(response));
  }
}

}  // namespace metactrl::serve
