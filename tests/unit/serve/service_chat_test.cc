// OpenAI's chat and text completions, with a plan and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "serve/chat.h"
#include "support/service_fixture.h"

namespace metactrl::serve::service_chat_test {
namespace {

using nlohmann::json;
using testing::HttpClient;
using testing::HttpResponse;
using testing::kDomain;
using testing::lamps;
using testing::problem;
using testing::ServiceTest;

class ChatTest : public ServiceTest {};

TEST_F(ChatTest, ChatWithAPlan) {
  json body = {{"model", "lamplighter"}, {"messages", {{{"role", "user"}, {"content", "light the lamps"}}}}};
  body["plan"] = lamps();
  body["plan"]["trace"] = true;
  const json answer = post("/v1/chat/completions", body).json();
  EXPECT_EQ(answer["object"], "chat.completion");
  EXPECT_TRUE(answer["id"].get<std::string>().starts_with("chatcmpl-"));
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(answer["choices"][0]["message"]["content"], answer["plan"]["text"]);
  EXPECT_EQ(answer["plan"]["guarantee"], "full");
  EXPECT_NE(answer["plan"]["trace"][0]["prompt"].get<std::string>().find("Task: light the lamps"), std::string::npos);
  EXPECT_EQ(answer["usage"]["total_tokens"],
            answer["usage"]["prompt_tokens"].get<int>() + answer["usage"]["completion_tokens"].get<int>());

  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const HttpResponse response = post("/v1/chat/completions", body);
  EXPECT_TRUE(response.done());
  std::string text;
  std::size_t plan_events = 0;
  json plan;
  json usage;
  for (const json& chunk : response.events()) {
    EXPECT_EQ(chunk["object"], "chat.completion.chunk");
    for (const json& choice : chunk["choices"]) text += choice["delta"].value("content", "");
    plan_events += chunk.contains("plan_event") ? 1 : 0;
    if (chunk.contains("plan")) plan = chunk["plan"];
    if (chunk.contains("usage")) usage = chunk["usage"];
  }
  EXPECT_EQ(text, plan["text"].get<std::string>());
  EXPECT_GT(plan_events, 3U);
  EXPECT_EQ(usage, answer["usage"]);
}

json function(const std::string& name, const std::vector<std::string>& parameters) {
  json properties = json::object();
  for (const std::string& parameter : parameters) properties[parameter] = {{"type", "string"}};
  return {{"type", "function"},
          {"function", {{"name", name}, {"parameters", {{"type", "object"}, {"properties", properties}}}}}};
}

// A plan's actions as calls of the client's own functions.
TEST_F(ChatTest, ChatWithAPlanAndTools) {
  const json tools = {function("Press", {"lamp"}), function("release", {"lamp"}), function("blow-fuse", {}),
                      function("more_than_the_domain_has", {"x", "y"})};
  json body = {{"messages", {{{"role", "user"}, {"content", "light the lamps"}}}}, {"plan", lamps()}, {"tools", tools}};
  const json answer = post("/v1/chat/completions", body).json();
  const json& choice = answer["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["message"]["content"], nullptr);
  const json& calls = choice["message"]["tool_calls"];
  ASSERT_EQ(calls.size(), answer["plan"]["plan"].size());
  ASSERT_GE(calls.size(), 2U);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const json& step = answer["plan"]["plan"][i];
    EXPECT_EQ(calls[i]["type"], "function");
    EXPECT_TRUE(calls[i]["id"].get<std::string>().starts_with("call_"));
    EXPECT_EQ(calls[i]["function"]["name"], step["action"] == "press" ? json("Press") : step["action"]);
    json arguments = json::object();
    for (const json& argument : step["arguments"]) arguments["lamp"] = argument;
    EXPECT_EQ(json::parse(calls[i]["function"]["arguments"].get<std::string>()), arguments);
  }
  body["stream"] = true;
  std::vector<json> streamed;
  std::string reason;
  for (const json& chunk : post("/v1/chat/completions", body).events()) {
    for (const json& one : chunk["choices"]) {
      for (const json& call : one["delta"].value("tool_calls", json::array())) streamed.push_back(call["function"]);
      if (!one["finish_reason"].is_null()) reason = one["finish_reason"];
    }
  }
  EXPECT_EQ(reason, "tool_calls");
  ASSERT_EQ(streamed.size(), calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(streamed[i], calls[i]["function"]);
  body["stream"] = false;
  body["tool_choice"] = "none";
  EXPECT_EQ(post("/v1/chat/completions", body).json()["choices"][0]["finish_reason"], "stop");
}

TEST_F(ChatTest, ToolsMustBeTheActions) {
  const auto with = [&](const json& tools, const json& more = json::object()) {
    json body = {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"plan", lamps()}, {"tools", tools}};
    body.update(more);
    return post("/v1/chat/completions", body);
  };
  const json press = function("press", {"lamp"});
  const json release = function("release", {"lamp"});
  const json fuse = function("blow-fuse", {});
  EXPECT_EQ(with({press, release, fuse}).status, 200);
  EXPECT_ERROR(with({press, release}), 400, "bad_request");
  EXPECT_ERROR(with({function("press", {}), release, fuse}), 400, "bad_request");
  EXPECT_ERROR(with({{{"type", "retrieval"}}}), 400, "bad_request");
  EXPECT_ERROR(with({{{"type", "function"}, {"function", {{"name", 1}}}}}), 400, "bad_request");
  EXPECT_ERROR(with({{{"type", "function"}, {"function", {{"name", "press"}, {"parameters", 1}}}}}), 400,
               "bad_request");
  EXPECT_ERROR(with("press"), 400, "bad_request");
  EXPECT_ERROR(with({press, release, fuse}, {{"tool_choice", {{"type", "function"}}}}), 400, "bad_request");
  EXPECT_ERROR(with({press, release, fuse}, {{"parallel_tool_calls", false}}), 400, "bad_request");
  json unsure = lamps();
  unsure["guidance"] = "syntax";
  EXPECT_ERROR(with({press, release, fuse}, {{"plan", unsure}}), 400, "bad_request");
}

TEST_F(ChatTest, ChatThatHasNoPlan) {
  json body = {{"messages", {{{"role", "user"}, {"content", "light the lamps"}}}}, {"plan", lamps("(lit c)")}};
  const HttpResponse response = post("/v1/chat/completions", body);
  EXPECT_ERROR(response, 422, "infeasible");
  EXPECT_EQ(response.json()["error"]["plan"]["outcome"], "infeasible");
  body["stream"] = true;
  EXPECT_ERROR(post("/v1/chat/completions", body), 422, "infeasible");
}

TEST_F(ChatTest, ChatInWords) {
  json body = {{"messages",
                {{{"role", "system"}, {"content", "be brief"}},
                 {{"role", "user"}, {"content", "hello"}},
                 {{"role", "assistant"}, {"content", "hi"}},
                 {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "and"}}}}}}},
               {"max_tokens", 12},
               {"temperature", 0}};
  const json answer = post("/v1/chat/completions", body).json();
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(answer["usage"]["completion_tokens"], 12);
  EXPECT_FALSE(answer.contains("plan"));
  body["stream"] = true;
  std::string text;
  for (const json& chunk : post("/v1/chat/completions", body).events()) {
    for (const json& choice : chunk["choices"]) text += choice["delta"].value("content", "");
  }
  EXPECT_EQ(text, answer["choices"][0]["message"]["content"].get<std::string>());
}

TEST_F(ChatTest, Completions) {
  json body = {{"prompt", "Once upon a time"}, {"max_tokens", 30}, {"temperature", 0}};
  const json answer = post("/v1/completions", body).json();
  EXPECT_EQ(answer["object"], "text_completion");
  const std::string text = answer["choices"][0]["text"];
  EXPECT_EQ(answer["usage"]["completion_tokens"], 30);
  // A stop string ends the text before it.
  const auto plain = std::find_if(text.begin() + 1, text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  ASSERT_NE(plain, text.end());
  body["stop"] = std::string(1, *plain);
  const json stopped = post("/v1/completions", body).json();
  EXPECT_EQ(stopped["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(stopped["choices"][0]["text"], text.substr(0, text.find(body["stop"].get<std::string>())));
  body.erase("stop");
  body["plan"] = lamps();
  EXPECT_EQ(post("/v1/completions", body).json()["plan"]["guarantee"], "full");
}

TEST_F(ChatTest, WhatChatDoesNotOffer) {
  const json message = {{{"role", "user"}, {"content", "x"}}};
  const auto with = [&](const char* name, const json& value) {
    json body = {{"messages", message}};
    body[name] = value;
    return post("/v1/chat/completions", body);
  };
  EXPECT_ERROR(with("tools", {{{"type", "function"}}}), 400, "tools_not_supported");
  EXPECT_ERROR(with("n", 2), 400, "bad_request");
  EXPECT_ERROR(with("logprobs", true), 400, "bad_request");
  EXPECT_ERROR(with("response_format", {{"type", "json_object"}}), 400, "bad_request");
  EXPECT_ERROR(with("messages", json::array()), 400, "bad_request");
  EXPECT_ERROR(with("messages", {{{"role", "tool"}, {"content", "x"}}}), 400, "bad_request");
  EXPECT_ERROR(with("messages", {{{"role", "user"}, {"content", {{{"type", "image_url"}}}}}}), 400, "bad_request");
  EXPECT_ERROR(with("plan", "tabletop"), 400, "bad_request");
  EXPECT_ERROR(with("model", "gpt-4"), 404, "model_not_found");
  EXPECT_ERROR(with("temperature", "hot"), 400, "bad_request");
  EXPECT_EQ(with("tools", json::array()).status, 200);
}

TEST(CharacterBuffer, KeepsHalfCharactersBack) {
  CharacterBuffer buffer;
  EXPECT_EQ(buffer.add("a\xC3"), "a");
  EXPECT_EQ(buffer.add("\xA9"
                       "b\xF0\x9F"),
            "\xC3\xA9"
            "b");
  EXPECT_EQ(buffer.add("\x98\x80"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(buffer.add("\xE2\x82"), "");
  EXPECT_EQ(buffer.flush(), "\xE2\x82");
}

TEST(StopFilter, EndsBeforeTheFirst) {
  StopFilter filter({"END", "\n\n"});
  EXPECT_EQ(filter.add("one E"), "one ");
  EXPECT_EQ(filter.add("NOT\n"), "ENOT");
  EXPECT_EQ(filter.add("x"), "\nx");
  EXPECT_EQ(filter.add("y EN"), "y ");
  EXPECT_EQ(filter.add("D z"), "");
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(filter.flush(), "");
}

}  // namespace
}  // namespace metactrl::serve::service_chat_test
