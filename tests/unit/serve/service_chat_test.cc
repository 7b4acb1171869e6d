// OpenAI's chat and text completions, with a plan and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "serve/agent_turns.h"
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
  const json one = with({press, release, fuse}, {{"parallel_tool_calls", false}}).json();
  EXPECT_EQ(one["choices"][0]["message"]["tool_calls"].size(), 1U);
  EXPECT_GE(one["plan"]["plan"].size(), 2U);
  json unsure = lamps();
  unsure["guidance"] = "syntax";
  EXPECT_ERROR(with({press, release, fuse}, {{"plan", unsure}}), 400, "bad_request");
}

// An agent whose tools fail and whose world changes by itself, to the goal; each turn one request.
TEST_F(ChatTest, ToolResultsAreGoneOnFrom) {
  const json tools = {function("press", {"lamp"}), function("release", {"lamp"}), function("blow-fuse", {})};
  for (const bool parallel : {true, false}) {
    json body = {{"messages", {{{"role", "user"}, {"content", "light the lamps"}}}},
                 {"plan", lamps()},
                 {"tools", tools},
                 {"parallel_tool_calls", parallel}};
    if (!parallel) body["plan"].erase("horizon");
    std::set<std::string> lit;
    std::string reason;
    int turns = 0;
    int calls_made = 0;
    bool cat_came = false;
    while (reason != "stop" && ++turns < 40) {
      const HttpResponse response = post("/v1/chat/completions", body);
      ASSERT_EQ(response.status, 200) << response.body;
      const json answer = response.json();
      EXPECT_EQ(answer["plan"]["guarantee"], "full");
      reason = answer["choices"][0]["finish_reason"];
      const json message = answer["choices"][0]["message"];
      if (reason == "stop") break;
      body["messages"].push_back(message);
      bool failed = false;
      for (const json& call : message["tool_calls"]) {
        const std::string name = call["function"]["name"];
        const std::string lamp = json::parse(call["function"]["arguments"].get<std::string>()).value("lamp", "");
        std::string content = "done";
        if (failed) {
          content = R"({"ok": false, "why": "not tried"})";
        } else if (++calls_made % 3 == 1) {
          failed = true;
          content = calls_made % 2 == 1 ? R"({"error": "the finger slipped"})" : "Error: no";
        } else if (name == "press") {
          lit.insert(lamp);
          if (lit.size() == 2 && !std::exchange(cat_came, true)) {
            lit.erase("a");
            content = R"j({"ok": true, "facts": ["( LIT  b )"], "not": ["(lit a)"]})j";
            failed = true;  // the rest was planned for another world
          }
        } else {
          lit.erase(lamp);
        }
        body["messages"].push_back({{"role", "tool"}, {"tool_call_id", call["id"]}, {"content", content}});
      }
    }
    EXPECT_EQ(reason, "stop");
    EXPECT_EQ(lit, (std::set<std::string>{"a", "b"}));
    EXPECT_TRUE(cat_came);
    EXPECT_GE(turns, 4);
  }
}

TEST_F(ChatTest, ToolResultsThatCannotBe) {
  const json tools = {function("press", {"lamp"}), function("release", {"lamp"}), function("blow-fuse", {})};
  const json call = {
      {"id", "c1"}, {"type", "function"}, {"function", {{"name", "press"}, {"arguments", R"({"lamp":"a"})"}}}};
  const auto with = [&](const json& calls, const json& content, const std::string& id = "c1") {
    const json messages = {{{"role", "user"}, {"content", "x"}},
                           {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", calls}},
                           {{"role", "tool"}, {"tool_call_id", id}, {"content", content}}};
    return post("/v1/chat/completions", {{"messages", messages}, {"plan", lamps()}, {"tools", tools}});
  };
  const auto named = [](const std::string& name, const std::string& arguments) {
    return json::array({{{"id", "c1"}, {"function", {{"name", name}, {"arguments", arguments}}}}});
  };
  EXPECT_EQ(with(json::array({call}), "ok").json()["plan"]["plan"].size(), 1U);
  EXPECT_EQ(with(json::array({call}), "{not JSON").json()["plan"]["plan"].size(), 1U);
  EXPECT_GE(with(json::array({call}), "failure").json()["plan"]["plan"].size(), 2U);
  EXPECT_ERROR(with(json::array({call}), "ok", "other"), 400, "bad_request");
  EXPECT_ERROR(with("press", "ok"), 400, "bad_request");
  EXPECT_ERROR(with(json::array({1}), "ok"), 400, "bad_request");
  EXPECT_ERROR(with(named("fly", "{}"), "ok"), 400, "bad_request");
  EXPECT_ERROR(with(named("press", "a"), "ok"), 400, "bad_request");
  EXPECT_ERROR(with(named("press", "{}"), "ok"), 400, "bad_request");
  EXPECT_ERROR(with(named("press", std::string(100'000, '[')), "ok"), 400, "bad_request");
  EXPECT_ERROR(with(named("release", R"({"lamp":"a"})"), "ok"), 400, "bad_request");
  EXPECT_ERROR(with(json::array({call}), R"({"ok": "yes"})"), 400, "bad_request");
  for (const char* facts : {R"j("(lit a)")j", R"j([1])j", R"j(["lit a"])j", R"j(["(lit a) (lit b)"])j",
                            R"j(["(lit a)) (:goal (and"])j", R"j(["()"])j", R"j(["(lit ?x)"])j"}) {
    EXPECT_ERROR(with(json::array({call}), std::string(R"({"facts": )") + facts + "}"), 400, "bad_request");
  }
  EXPECT_ERROR(with(json::array({call}), R"j({"facts": ["(lit nobody)"]})j"), 400, "bad_pddl");
  EXPECT_ERROR(with(json::array({call}), R"j({"facts": ["(glows a)"]})j"), 400, "bad_pddl");
  // The fuse is blown: nothing can be lit any more.
  EXPECT_ERROR(with(json::array({call}), R"j({"not": ["(power)"]})j"), 422, "infeasible");
  // Without the tools that were called, or without a plan.
  const json messages = {{{"role", "user"}, {"content", "x"}},
                         {{"role", "assistant"}, {"tool_calls", json::array({call})}},
                         {{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "ok"}}};
  EXPECT_ERROR(post("/v1/chat/completions", {{"messages", messages}}), 400, "bad_request");
  EXPECT_ERROR(post("/v1/chat/completions", {{"messages", messages}, {"plan", lamps()}}), 400, "bad_request");
}

TEST_F(ChatTest, ResponsesAreChatsInAnotherShape) {
  const auto respond = [&](json body) { return post("/v1/responses", body); };
  const json text =
      respond({{"input", "hello"}, {"instructions", "be brief"}, {"max_output_tokens", 5}, {"temperature", 0}}).json();
  EXPECT_EQ(text["object"], "response");
  EXPECT_EQ(text["status"], "incomplete");
  EXPECT_EQ(text["usage"]["output_tokens"], 5);
  EXPECT_EQ(text["output"][0]["content"][0]["type"], "output_text");
  const json planned = respond({{"input", "light them"}, {"plan", lamps()}}).json();
  EXPECT_EQ(planned["status"], "completed");
  EXPECT_EQ(planned["output"][0]["content"][0]["text"], planned["plan"]["text"]);
  // As calls, and on from what came back.
  const json tools = {
      {{"type", "function"}, {"name", "press"}, {"parameters", {{"properties", {{"lamp", json::object()}}}}}},
      {{"type", "function"}, {"name", "release"}, {"parameters", {{"properties", {{"lamp", json::object()}}}}}},
      {{"type", "function"}, {"name", "blow-fuse"}}};
  json body = {{"input", json::array({{{"role", "user"}, {"content", {{{"type", "input_text"}, {"text", "x"}}}}}})},
               {"plan", lamps()},
               {"tools", tools},
               {"parallel_tool_calls", false}};
  body["plan"].erase("horizon");
  int turns = 0;
  json answer = respond(body).json();
  for (; answer["output"][0]["type"] == "function_call" && turns < 20; ++turns, answer = respond(body).json()) {
    ASSERT_EQ(answer["output"].size(), 1U);
    body["input"].push_back(answer["output"][0]);
    body["input"].push_back({{"type", "function_call_output"},
                             {"call_id", answer["output"][0]["call_id"]},
                             {"output", turns == 0 ? R"({"ok": false})" : "done"}});
  }
  EXPECT_GE(turns, 3);
  EXPECT_EQ(answer["output"][0]["type"], "message") << answer;
  EXPECT_EQ(answer["plan"]["plan"].size(), 0U);
  // A stream ends with the whole response.
  const HttpResponse stream = respond({{"input", "light them"}, {"plan", lamps()}, {"stream", true}});
  std::string written;
  for (const json& event : stream.events()) {
    if (event["type"] == "response.output_text.delta") written += event["delta"].get<std::string>();
  }
  EXPECT_EQ(stream.events().front()["type"], "response.created");
  EXPECT_EQ(stream.events().back()["type"], "response.completed");
  EXPECT_EQ(stream.events().back()["response"]["plan"]["text"], written);
  EXPECT_ERROR(respond({{"input", "x"}, {"previous_response_id", "resp_1"}}), 400, "bad_request");
  EXPECT_ERROR(respond({{"input", json::array()}}), 400, "bad_request");
  EXPECT_ERROR(respond({{"input", {{{"type", "item_reference"}}}}}), 400, "bad_request");
  EXPECT_ERROR(respond({{"input", {{{"role", "user"}, {"content", {{{"type", "input_image"}}}}}}}}), 400,
               "bad_request");
  EXPECT_ERROR(respond({{"input", "x"}, {"text", {{"format", {{"type", "json_schema"}}}}}}), 400, "bad_request");
  EXPECT_ERROR(respond({{"input", "x"}, {"plan", lamps("(lit c)")}}), 422, "infeasible");
  EXPECT_ERROR(respond({{"input", {{{"type", "function_call_output"}, {"call_id", "x"}, {"output", "y"}}}}}), 400,
               "bad_request");
}

TEST(AgentTurns, AnInitialStateIsExchanged) {
  EXPECT_EQ(with_initial_facts("(define (problem p) ; (:init (no))\n (:INIT (a) (= (cost x) 3) ; )\n (b)) (:goal (a)))",
                               {"(c x)"}),
            "(define (problem p) ; (:init (no))\n (:init\n  (c x)\n  (= (cost x) 3)) (:goal (a)))");
  EXPECT_EQ(with_initial_facts("(define (problem p))", {}), "(define (problem p)(:init))");
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
  EXPECT_ERROR(with("response_format", {{"type", "json_object"}}), 400, "bad_request");
  EXPECT_ERROR(with("messages", json::array()), 400, "bad_request");
  EXPECT_ERROR(with("messages", {{{"role", "tool"}, {"content", "x"}}}), 400, "bad_request");
  EXPECT_ERROR(with("messages", {{{"role", "user"}, {"content", {{{"type", "image_url"}}}}}}), 400, "bad_request");
  EXPECT_ERROR(with("plan", "tabletop"), 400, "bad_request");
  EXPECT_ERROR(with("model", "gpt-4"), 404, "model_not_found");
  EXPECT_ERROR(with("temperature", "hot"), 400, "bad_request");
  // Unknown ones, and those that would change the answer, by their names; "off" is what everybody gets.
  const std::vector<std::pair<const char*, json>> refused = {{"top_logprobs", 3},
                                                             {"best_of", 2},
                                                             {"typical_p", 0.5},
                                                             {"grammar", "root ::= x"},
                                                             {"guided_json", json::object()},
                                                             {"reasoning_effort", "loud"},
                                                             {"repetition_penalty", 2},
                                                             {"bogus", 1},
                                                             {"functions", {{{"name", "f"}}}}};
  for (const auto& [name, value] : refused) {
    const HttpResponse response = with(name, value);
    EXPECT_EQ(response.status, 400) << name;
    EXPECT_EQ(response.json()["error"]["param"], name) << response.body;
  }
  const std::vector<std::pair<const char*, json>> off = {{"frequency_penalty", 0.0},
                                                         {"presence_penalty", 0},
                                                         {"logit_bias", json::object()},
                                                         {"top_k", 0},
                                                         {"logprobs", false},
                                                         {"n", 1},
                                                         {"user", "me"},
                                                         {"metadata", {{"a", "b"}}},
                                                         {"store", false},
                                                         {"tool_choice", "auto"},
                                                         {"stop", nullptr}};
  for (const auto& [name, value] : off) {
    EXPECT_EQ(with(name, value).status, 200) << name;
  }
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
