// The service as its clients see it: a server in this process, and a client that also says what no client should.
#include "serve/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/domain.h"
#include "serve/access.h"
#include "serve/chat.h"
#include "support/http_client.h"
#include "support/test_data.h"

namespace metactrl::serve {
namespace {

using nlohmann::json;
using testing::HttpClient;
using testing::HttpResponse;

// Every byte is a token, and some words are.
std::shared_ptr<const Vocabulary> words() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"press", "release", "(", "(press", " a", " b", ")\n", "fuse", "blow-"})
    tokens.emplace_back(word);
  tokens.emplace_back("");
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

// Counts its calls, and takes as long for each as it is told to.
struct Pace {
  std::atomic<int> calls{0};
  std::atomic<int> milliseconds{0};
};

class PacedSession : public Session {
 public:
  PacedSession(std::unique_ptr<Session> session, Pace& pace) : session_(std::move(session)), pace_(pace) {}
  void append(std::span<const TokenId> tokens) override { session_->append(tokens); }
  std::span<const float> logits() override {
    ++pace_.calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(pace_.milliseconds));
    return session_->logits();
  }
  std::size_t size() const override { return session_->size(); }
  void rollback(std::size_t size) override { session_->rollback(size); }
  std::unique_ptr<Session> fork() override { return std::make_unique<PacedSession>(session_->fork(), pace_); }
  std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override {
    return session_->score(paths);
  }
  std::size_t num_calls() const override { return session_->num_calls(); }

 private:
  std::unique_ptr<Session> session_;
  Pace& pace_;
};

class PacedModel : public LanguageModel {
 public:
  PacedModel(const std::shared_ptr<const Vocabulary>& vocabulary, Pace& pace)
      : model_(random_model(vocabulary, 7)), pace_(pace) {}
  const Vocabulary& vocabulary() const override { return model_->vocabulary(); }
  std::string description() const override { return "paced"; }
  std::size_t context_length() const override { return 4096; }
  std::string render_prompt(const Prompt& prompt) const override { return model_->render_prompt(prompt); }
  std::vector<TokenId> encode_prompt(const Prompt& prompt) const override { return model_->encode_prompt(prompt); }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    if (prompt.size() + reserve > context_length()) throw ContextError("too long");
    return std::make_unique<PacedSession>(model_->start(prompt, reserve), pace_);
  }

 private:
  std::unique_ptr<LanguageModel> model_;
  Pace& pace_;
};

constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";

std::string problem(const std::string& goal) {
  return "(define (problem three-lamps) (:domain lamps) (:objects a b c - lamp) (:init (broken c) (power)) (:goal " +
         goal + "))";
}

json lamps(const std::string& goal = "(and (lit a) (lit b))") {
  return {{"domain", kDomain}, {"problem", problem(goal)}, {"horizon", 6}};
}

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.version = "test";
    start();
  }
  void TearDown() override { stop(); }

  void start() {
    stop();
    http_.port = 0;
    http_.limits.body_bytes = options_.body_bytes;
    const std::shared_ptr<const Vocabulary> vocabulary = words();
    std::vector<ServedModel> models;
    models.push_back({"lamplighter", std::make_shared<PacedModel>(vocabulary, pace_), vocabulary, 0, 0});
    models.push_back({"other", random_model(vocabulary, 3), vocabulary, 0, 0});
    service_ = std::make_unique<Service>(std::move(models), options_);
    server_ = std::make_unique<HttpServer>(
        http_, [this](Exchange& exchange) { service_->handle(exchange); }, Service::refusal);
    thread_ = std::thread([this] { server_->run(); });
  }
  void stop() {
    if (server_ == nullptr) return;
    server_->stop();
    server_->cancel_all();
    thread_.join();
    server_.reset();
    service_.reset();
  }

  HttpResponse ask(const std::string& bytes) const {
    HttpClient client(server_->port());
    client.send(bytes);
    return client.response();
  }
  HttpResponse post(const std::string& path, const json& body) const {
    return ask(HttpClient::post(path, body.dump()));
  }
  HttpResponse get(const std::string& path) const { return ask(HttpClient::get(path)); }
  // Waits until it is true, ten seconds at most.
  template <typename Condition>
  static bool soon(const Condition& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return condition();
  }
  void expect_healthy() const { EXPECT_EQ(get("/health").status, 200); }

  Pace pace_;
  HttpOptions http_;
  ServiceOptions options_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

#define EXPECT_ERROR(response, wanted_status, wanted_code) \
  do {                                                     \
    const HttpResponse r = (response);                     \
    EXPECT_EQ(r.status, wanted_status) << r.body;          \
    if (r.status >= 400) {                                 \
      EXPECT_EQ(r.code(), wanted_code) << r.body;          \
      EXPECT_FALSE(r.json()["error"]["message"].empty());  \
      EXPECT_TRUE(r.json()["error"].contains("type"));     \
      EXPECT_TRUE(r.json()["error"].contains("param"));    \
    }                                                      \
  } while (false)

// --- what there is
// -----------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, SmallAnswers) {
  EXPECT_EQ(get("/health").json()["status"], "ok");
  const json models = get("/v1/models").json();
  EXPECT_EQ(models["object"], "list");
  EXPECT_EQ(models["data"][0]["id"], "lamplighter");
  EXPECT_EQ(models["data"][1]["id"], "other");
  const json options = get("/v1/options").json();
  EXPECT_EQ(options["defaults"]["model"], "lamplighter");
  EXPECT_EQ(options["guidance"].size(), 5U);
  EXPECT_EQ(options["version"], "test");
  const json tasks = get("/v1/tasks").json();
  EXPECT_EQ(tasks["domains"][0]["name"], "tabletop");
  EXPECT_EQ(tasks["domains"][0]["problems"].size(), 8U);
  // Everything that is listed can be loaded.
  for (const json& shipped : tasks["domains"][0]["problems"]) {
    EXPECT_NO_THROW(load_pddl_text(tasks["domains"][0]["text"].get<std::string>(), shipped["text"].get<std::string>()));
  }
}

TEST_F(ServiceTest, ThePageAndNothingElse) {
  const HttpResponse page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_NE(page.headers.at("content-security-policy").find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.body.find("<title>"), std::string::npos);
  EXPECT_EQ(get("/?replay=1").status, 200);
  for (const char* path : {"/index.htm", "/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd",
                           "/domains/tabletop/domain.pddl", "/v1/nothing"}) {
    EXPECT_ERROR(get(path), 404, "not_found");
  }
  const HttpResponse head = ask("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

TEST_F(ServiceTest, MetricsAreCounted) {
  post("/v1/plans", lamps());
  post("/v1/plans", lamps());
  // A request counts once its last byte is written, which its client may see first.
  const std::string counted = "metactrl_request_seconds_count{route=\"/v1/plans\"} 2";
  std::string page = get("/metrics").body;
  for (int tries = 0; tries < 1000 && page.find(counted) == std::string::npos; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    page = get("/metrics").body;
  }
  EXPECT_NE(page.find(counted), std::string::npos) << page;
  EXPECT_NE(page.find("metactrl_requests_total{route=\"/v1/plans\",status=\"200\"} 2"), std::string::npos) << page;
  EXPECT_NE(page.find("metactrl_plans_total{outcome=\"plan\",guarantee=\"full\"} 2"), std::string::npos) << page;
  EXPECT_NE(page.find("metactrl_constraint_cache_hits_total 1"), std::string::npos) << page;
}

TEST_F(ServiceTest, ManyRequestsOnOneConnection) {
  HttpClient client(server_->port());
  for (int i = 0; i < 5; ++i) {
    client.send(HttpClient::get("/health"));
    EXPECT_EQ(client.response().status, 200);
  }
  client.send(HttpClient::get("/health") + HttpClient::get("/v1/models"));  // at once
  EXPECT_EQ(client.response().json()["status"], "ok");
  EXPECT_EQ(client.response().json()["object"], "list");
}

// --- plans
// -------------------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, APlanIsGuaranteedAndSaysSo) {
  for (const char* guidance : {"mask", "uniform", "search"}) {
    json body = lamps();
    body["guidance"] = guidance;
    const HttpResponse response = post("/v1/plans", body);
    ASSERT_EQ(response.status, 200) << response.body;
    const json plan = response.json();
    EXPECT_EQ(plan["outcome"], "plan");
    EXPECT_EQ(plan["guarantee"], "full");
    EXPECT_EQ(plan["valid"], true);
    EXPECT_EQ(plan["goals"]["met"], json({"(lit a)", "(lit b)"}));
    EXPECT_TRUE(plan["timings"].contains("total"));
    EXPECT_FALSE(plan.contains("trace"));
    // Checked by the other endpoint, in each of the forms it takes.
    for (const json& form : {plan["plan"], plan["text"]}) {
      json check = {{"domain", kDomain}, {"problem", problem("(and (lit a) (lit b))")}, {"plan", form}};
      EXPECT_EQ(post("/v1/validate", check).json()["valid"], true);
    }
  }
}

TEST_F(ServiceTest, ShippedNames) {
  const HttpResponse response =
      post("/v1/plans", {{"domain", "tabletop"}, {"problem", "dishwasher"}, {"model", "other"}, {"trace", true}});
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.json()["guarantee"], "full");
  EXPECT_EQ(response.json()["trace"][0]["problem"], "dishwasher");
  EXPECT_EQ(response.json()["trace"][0]["model"], "other");
}

TEST_F(ServiceTest, NoPlanIsAnAnswer) {
  const json infeasible = post("/v1/plans", lamps("(and (lit a) (lit c))")).json();
  EXPECT_EQ(infeasible["outcome"], "infeasible");
  EXPECT_EQ(infeasible["plan"], nullptr);
  EXPECT_EQ(infeasible["goals"]["unmet"].size(), 2U);
  json body = lamps("(and (lit a) (lit c))");
  body["on_infeasible"] = "drop-goals";
  const json dropped = post("/v1/plans", body).json();
  EXPECT_EQ(dropped["guarantee"], "goals dropped");
  EXPECT_EQ(dropped["goals"]["dropped"], json({"(lit c)"}));
}

// What the events say must be what happened.
void expect_consistent(const std::vector<json>& events, const json& end, bool traced) {
  ASSERT_GE(events.size(), 2U);
  const json& start = events[0];
  EXPECT_EQ(start["type"], "start");
  EXPECT_EQ(start["goals"], json({"(lit a)", "(lit b)"}));
  EXPECT_EQ(start["met"], json::array());
  std::vector<std::string> facts = start["facts"];
  std::string text;
  std::size_t tokens = 0;
  std::size_t actions = 0;
  std::size_t told = 0;
  for (std::size_t i = 1; i < events.size(); ++i) {
    const json& event = events[i];
    if (event["type"] == "token") {
      EXPECT_EQ(event["index"], tokens++);
      text += event["text"].get<std::string>();
      if (event["forced"] == true) {
        EXPECT_EQ(event["p_model"], nullptr);
      } else {
        EXPECT_GT(event["choices"], 1);
        EXPECT_GE(event["p_model"], 0.0);
        EXPECT_GE(event["p_allowed"].get<double>() + 1e-9, event["p_model"].get<double>());
        EXPECT_NEAR(event["moved"].get<double>(), event["p_guided"].get<double>() - event["p_allowed"].get<double>(),
                    1e-9);
        EXPECT_GE(event["preferred"]["p"].get<double>() + 1e-9, event["p_model"].get<double>());
      }
    } else if (event["type"] == "action") {
      EXPECT_EQ(event["index"], actions++);
      EXPECT_EQ(event["legal"], true);
      EXPECT_EQ(event["first_token"], told);
      told += event["num_tokens"].get<std::size_t>();
      EXPECT_LE(told, tokens);
      EXPECT_LE(event["text_end"], text.size());
      for (const json& fact : event["removed"]) EXPECT_EQ(std::erase(facts, fact.get<std::string>()), 1U);
      for (const json& fact : event["added"]) facts.push_back(fact);
      for (const json& goal : event["met"]) {
        EXPECT_NE(std::find(facts.begin(), facts.end(), start["goals"][goal.get<std::size_t>()]), facts.end());
      }
      EXPECT_EQ(event["wanted"].is_null(), !traced);
      EXPECT_EQ(event["candidates"].is_null(), !traced);
      if (traced) {
        EXPECT_EQ(event["wanted"]["allowed"].get<bool>(), event["wanted"]["why_not"].get<std::string>().empty());
        EXPECT_EQ(event["candidates"]["legal"].get<int>() + event["candidates"]["illegal"].get<int>(), 5);
      }
    }
  }
  EXPECT_EQ(text, end["text"]);
  EXPECT_EQ(tokens, end["tokens"]);
  EXPECT_EQ(actions, end["plan"].size());
}

TEST_F(ServiceTest, EventsTellWhatHappens) {
  for (const bool traced : {true, false}) {
    json body = lamps();
    body["stream"] = true;
    body["trace"] = traced;
    const HttpResponse response = post("/v1/plans", body);
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.headers.at("content-type"), "text/event-stream");
    EXPECT_TRUE(response.done());
    std::vector<json> events = response.events();
    const json end = events.back();
    events.pop_back();
    EXPECT_EQ(end["type"], "end");
    EXPECT_EQ(end["guarantee"], "full");
    expect_consistent(events, end, traced);
  }
  // The same, as one answer.
  json body = lamps();
  body["trace"] = true;
  const json whole = post("/v1/plans", body).json();
  expect_consistent(whole["trace"], whole, true);
}

TEST_F(ServiceTest, EventsOfEveryWayToDecode) {
  for (const char* decode : {"sample", "beam", "smc"}) {
    json body = lamps();
    body.update({{"stream", true}, {"trace", true}, {"decode", decode}, {"seed", 5}});
    const HttpResponse response = post("/v1/plans", body);
    ASSERT_EQ(response.status, 200) << response.body;
    const std::vector<json> events = response.events();
    EXPECT_EQ(events.back()["type"], "end") << decode;
    EXPECT_EQ(events.back()["guarantee"], "full") << decode;
    std::size_t actions = 0;
    for (const json& event : events) actions += event["type"] == "action" ? 1 : 0;
    EXPECT_EQ(actions, events.back()["plan"].size()) << decode;
  }
}

TEST_F(ServiceTest, WithoutTheConstraintItFailsInSight) {
  json body = lamps();
  body.update({{"stream", true}, {"trace", true}, {"guidance", "none"}, {"max_tokens", 20}});
  const std::vector<json> free = post("/v1/plans", body).events();
  EXPECT_EQ(free.back()["guarantee"], "none");
  EXPECT_EQ(free.back()["valid"], false);
  EXPECT_EQ(free.front()["horizon"], 0);
  EXPECT_GE(free[1]["p_model"], 0.0);
  EXPECT_EQ(free[1]["p_guided"], nullptr);
  // Held to the form, some plan breaks a rule, and the event says which.
  bool seen = false;
  for (int seed = 0; seed < 20 && !seen; ++seed) {
    body.update({{"guidance", "syntax"}, {"decode", "sample"}, {"seed", seed}});
    const std::vector<json> events = post("/v1/plans", body).events();
    bool illegal = false;
    for (const json& event : events) {
      if (event["type"] != "action") continue;
      EXPECT_FALSE(illegal) << "nothing follows an illegal action";
      illegal = event["legal"] == false;
      if (!illegal) continue;
      EXPECT_NE(event["why_illegal"].get<std::string>().find("is "), std::string::npos);
    }
    seen = illegal;
  }
  EXPECT_TRUE(seen);
}

TEST_F(ServiceTest, ValidateNamesTheMistake) {
  json body = {{"domain", kDomain}, {"problem", problem("(lit a)")}, {"plan", "(press b)\n(press b)"}};
  const json invalid = post("/v1/validate", body).json();
  EXPECT_EQ(invalid["valid"], false);
  EXPECT_EQ(invalid["steps_executed"], 1);
  EXPECT_EQ(invalid["reason"], "step 2 (press b): precondition (not (lit b)) is false");
  body["plan"] = {"(press a)"};
  EXPECT_EQ(post("/v1/validate", body).json()["valid"], true);
  body["plan"] = {{{"action", "press"}, {"arguments", {"a"}}}};
  EXPECT_EQ(post("/v1/validate", body).json()["valid"], true);
  body["plan"] = {1};
  EXPECT_ERROR(post("/v1/validate", body), 400, "bad_request");
  body["plan"] = "press a";
  EXPECT_ERROR(post("/v1/validate", body), 400, "bad_request");
}

// --- chat
// --------------------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, ChatWithAPlan) {
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
  EXPECT_EQ(text, plan["text"]);
  EXPECT_GT(plan_events, 3U);
  EXPECT_EQ(usage, answer["usage"]);
}

TEST_F(ServiceTest, ChatThatHasNoPlan) {
  json body = {{"messages", {{{"role", "user"}, {"content", "light the lamps"}}}}, {"plan", lamps("(lit c)")}};
  const HttpResponse response = post("/v1/chat/completions", body);
  EXPECT_ERROR(response, 422, "infeasible");
  EXPECT_EQ(response.json()["error"]["plan"]["outcome"], "infeasible");
  body["stream"] = true;
  EXPECT_ERROR(post("/v1/chat/completions", body), 422, "infeasible");
}

TEST_F(ServiceTest, ChatInWords) {
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
  EXPECT_EQ(text, answer["choices"][0]["message"]["content"]);
}

TEST_F(ServiceTest, Completions) {
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

TEST_F(ServiceTest, WhatChatDoesNotOffer) {
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

// --- mistakes
// ----------------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, MistakesAreNamed) {
  const auto bad = [&](const std::string& body) { return ask(HttpClient::post("/v1/plans", body)); };
  EXPECT_ERROR(bad(""), 400, "bad_json");
  EXPECT_ERROR(bad("{"), 400, "bad_json");
  EXPECT_ERROR(bad("[1]"), 400, "bad_json");
  EXPECT_ERROR(bad("{\"domain\": \"\xff\"}"), 400, "bad_utf8");
  EXPECT_ERROR(bad("{\"domain\": \"\xc0\xaf\"}"), 400, "bad_utf8");
  EXPECT_ERROR(bad("{\"a\":" + std::string(100'000, '[') + "}"), 400, "bad_json");
  EXPECT_ERROR(bad("{}"), 400, "bad_request");
  EXPECT_ERROR(bad(R"({"domain": "tabletop", "problem": 7})"), 400, "bad_request");
  EXPECT_ERROR(bad(R"({"domain": "tabeltop", "problem": "dishwasher"})"), 400, "bad_request");
  EXPECT_ERROR(bad(R"({"domain": "tabletop", "problem": "../dishwasher"})"), 400, "bad_request");
  EXPECT_ERROR(bad(R"({"domain": "/etc/passwd", "problem": "x"})"), 400, "bad_request");
  json body = lamps();
  body["horizont"] = 3;
  const HttpResponse misspelt = post("/v1/plans", body);
  EXPECT_ERROR(misspelt, 400, "bad_request");
  EXPECT_NE(misspelt.json()["error"]["message"].get<std::string>().find("horizon"), std::string::npos);
  const std::vector<std::pair<const char*, json>> wrong = {{"horizon", -1},         {"horizon", 1'000'000},
                                                           {"horizon", 2.5},        {"guidance", "magic"},
                                                           {"format", "yaml"},      {"format", "/etc/motd"},
                                                           {"time_limit", 1e9},     {"time_limit", nullptr},
                                                           {"beam", 1000},          {"samples", 1000},
                                                           {"max_tokens", 1 << 30}, {"max_states", 1 << 30},
                                                           {"stream", "yes"},       {"seed", -1}};
  for (const auto& [name, value] : wrong) {
    json one = lamps();
    one[name] = value;
    const HttpResponse response = post("/v1/plans", one);
    if (value.is_null()) {
      EXPECT_EQ(response.status, 200) << response.body;
    } else {
      EXPECT_ERROR(response, 400, "bad_request");
      EXPECT_EQ(response.json()["error"]["param"], name);
    }
  }
}

TEST_F(ServiceTest, MistakesInPddlHaveTheirPlace) {
  json body = lamps();
  body["problem"] = "(define (problem x) (:domain lamps)\n (:objects a - lamp) (:init (power)) (:goal (lit wrench)))";
  const HttpResponse response = post("/v1/plans", body);
  EXPECT_ERROR(response, 400, "bad_pddl");
  const json diagnostic = response.json()["error"]["diagnostics"][0];
  EXPECT_EQ(diagnostic["file"], "problem");
  EXPECT_EQ(diagnostic["line"], 2);
  EXPECT_NE(diagnostic["message"].get<std::string>().find("wrench"), std::string::npos);
  body["stream"] = true;  // before the first event an error is an error
  EXPECT_ERROR(post("/v1/plans", body), 400, "bad_pddl");
}

TEST_F(ServiceTest, MethodsAndTypes) {
  EXPECT_ERROR(get("/v1/plans"), 405, "method_not_allowed");
  EXPECT_ERROR(post("/v1/models", {}), 405, "method_not_allowed");
  EXPECT_ERROR(ask("OPTIONS /v1/plans HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405, "method_not_allowed");
  EXPECT_ERROR(ask(HttpClient::post("/v1/plans", "{}", "Content-Type: text/plain\r\n")), 415, "unsupported_media_type");
  EXPECT_ERROR(ask(HttpClient::post("/v1/plans", "{}", "")), 415, "unsupported_media_type");
}

TEST_F(ServiceTest, OtherSitesAreKeptOut) {
  EXPECT_ERROR(ask("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403, "host_not_allowed");
  EXPECT_ERROR(ask(HttpClient::get("/v1/models", "Origin: http://evil.example\r\n")), 403, "origin_not_allowed");
  EXPECT_EQ(ask(HttpClient::get("/v1/models", "Origin: http://localhost\r\n")).status, 200);
  EXPECT_EQ(ask("GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n").status, 200);
  EXPECT_EQ(ask("GET /v1/models HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n").status, 200);
}

TEST_F(ServiceTest, ApiKey) {
  options_.api_key = "sesame";
  start();
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(get("/").status, 200);
  EXPECT_ERROR(get("/v1/models"), 401, "invalid_api_key");
  EXPECT_ERROR(get("/metrics"), 401, "invalid_api_key");
  EXPECT_ERROR(post("/v1/plans", lamps()), 401, "invalid_api_key");
  for (const char* wrong : {"Bearer sesam", "Bearer sesame2", "Bearer ", "sesame", "Basic sesame", "Bearer SESAME"}) {
    EXPECT_ERROR(ask(HttpClient::get("/v1/models", "Authorization: " + std::string(wrong) + "\r\n")), 401,
                 "invalid_api_key");
  }
  EXPECT_EQ(ask(HttpClient::get("/v1/models", "Authorization: Bearer sesame\r\n")).status, 200);
  EXPECT_EQ(ask("GET /v1/models HTTP/1.1\r\nHost: robot.example\r\nAuthorization: bearer sesame\r\n\r\n").status, 200);
}

TEST(Access, ComparesInConstantTime) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abd", "abc"));
  EXPECT_FALSE(equal_in_constant_time("a", ""));
}

// --- limits
// ------------------------------------------------------------------------------------------------------------

TEST_F(ServiceTest, LargeBodies) {
  // Announced: refused before it comes. The client still gets its answer while it sends.
  const HttpResponse announced = ask(HttpClient::post("/v1/plans", std::string(std::size_t{50} << 20, ' ')));
  EXPECT_ERROR(announced, 413, "body_too_large");
  // Not announced.
  HttpClient client(server_->port());
  client.send(
      "POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(65536, ' ') + "\r\n";
  for (int i = 0; i < 800 && client.send(chunk); ++i) {
  }
  EXPECT_ERROR(client.response(), 413, "body_too_large");
  EXPECT_ERROR(ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"), 431,
               "headers_too_large");
  EXPECT_ERROR(ask("NONSENSE\r\n\r\n"), 400, "bad_http");
  expect_healthy();
}

TEST_F(ServiceTest, PddlBombs) {
  options_.limits.seconds = 2;
  options_.limits.memory_bytes = std::size_t{32} << 20;
  start();
  json body = lamps();
  body["domain"] = std::string(100'000, '(');
  EXPECT_ERROR(post("/v1/plans", body), 400, "bad_pddl");
  body["domain"] = std::string(kDomain).substr(0, 100) + std::string(500'000, '(') + std::string(500'000, ')');
  EXPECT_ERROR(post("/v1/plans", body), 400, "bad_pddl");
  // Ten parameters over forty objects.
  std::string parameters;
  std::string objects;
  for (int i = 0; i < 10; ++i) parameters += " ?p" + std::to_string(i);
  for (int i = 0; i < 40; ++i) objects += " o" + std::to_string(i);
  const std::string init = ") (:init (a o1)) (:goal (b o1)))";
  body["domain"] = "(define (domain d) (:predicates (a ?x) (b ?x)) (:action go :parameters (" + parameters +
                   ") :precondition (and) :effect (b ?p0)))";
  body["problem"] = "(define (problem p) (:domain d) (:objects" + objects + init;
  EXPECT_ERROR(post("/v1/plans", body), 422, "task_too_large");
  // One action with a condition that unfolds without end.
  std::string nested = "(a ?x0)";
  for (int i = 0; i < 8; ++i)
    nested = "(forall (?x" + std::to_string(i) + ") (or (not (b ?x" + std::to_string(i) + ")) " + nested + "))";
  body["domain"] =
      "(define (domain d) (:requirements :adl) (:predicates (a ?x) (b ?x)) (:action go :parameters (?y) "
      ":precondition " +
      nested + " :effect (and (b ?y) (a ?y))))";
  const HttpResponse unfolding = post("/v1/plans", body);
  EXPECT_TRUE(unfolding.status == 422 || unfolding.status == 408) << unfolding.body;
  // Executing it takes as long.
  body = {{"domain", body["domain"]}, {"problem", body["problem"]}, {"plan", "(go o1)"}};
  body["problem"] = "(define (problem p) (:domain d) (:objects" + objects + ") (:init" + [&] {
    std::string all;
    for (int i = 0; i < 40; ++i) all += " (b o" + std::to_string(i) + ") (a o" + std::to_string(i) + ")";
    return all;
  }() + ") (:goal (b o1)))";
  EXPECT_ERROR(post("/v1/validate", body), 408, "time_limit");
  expect_healthy();
}

TEST_F(ServiceTest, TooLongForTheContext) {
  json body = {{"prompt", std::string(10'000, 'x')}};
  EXPECT_ERROR(post("/v1/completions", body), 400, "context_length_exceeded");
  body = lamps();
  body["instruction"] = std::string(10'000, 'x');
  EXPECT_ERROR(post("/v1/plans", body), 400, "context_length_exceeded");
}

TEST_F(ServiceTest, TimeLimit) {
  pace_.milliseconds = 30;
  json body = lamps();
  body["time_limit"] = 0.05;
  body["decode"] = "sample";
  EXPECT_ERROR(post("/v1/plans", body), 408, "time_limit");
  body["stream"] = true;
  const std::vector<json> events = post("/v1/plans", body).events();
  EXPECT_EQ(events.back()["type"], "error");
  EXPECT_EQ(events.back()["error"]["code"], "time_limit");
  EXPECT_ERROR(post("/v1/chat/completions",
                    {{"messages", {{{"role", "user"}, {"content", "x"}}}},
                     {"plan", {{"domain", kDomain}, {"problem", problem("(lit a)")}, {"time_limit", 0.02}}}}),
               408, "time_limit");
}

TEST_F(ServiceTest, TooManyRequests) {
  options_.max_requests = 1;
  options_.max_waiting = 1;
  start();
  pace_.milliseconds = 20;
  json endless = {{"prompt", "x"}, {"max_tokens", 1000}, {"temperature", 1}, {"stream", true}};
  HttpClient first(server_->port());
  first.send(HttpClient::post("/v1/completions", endless.dump()));
  first.receive_until("data: ");
  HttpClient second(server_->port());
  second.send(HttpClient::post("/v1/completions", endless.dump()));
  const auto waiting = [&] { return get("/metrics").body.find("metactrl_requests_waiting 1") != std::string::npos; };
  ASSERT_TRUE(soon(waiting));
  const HttpResponse third = post("/v1/completions", endless);
  EXPECT_ERROR(third, 429, "too_many_requests");
  EXPECT_EQ(third.headers.at("retry-after"), "1");
  first.close();  // which lets the second one in
  EXPECT_NE(second.receive_until("data: "), "");
}

TEST_F(ServiceTest, WhoLeavesStopsCosting) {
  pace_.milliseconds = 10;
  for (const bool stream : {true, false}) {
    json body = {{"prompt", "x"}, {"max_tokens", 2000}, {"temperature", 1}, {"seed", 1}, {"stream", stream}};
    const int before = pace_.calls;
    HttpClient client(server_->port());
    client.send(HttpClient::post("/v1/completions", body.dump()));
    ASSERT_TRUE(soon([&] { return pace_.calls > before + 3; }));
    client.close();
    const int at_close = pace_.calls;
    ASSERT_TRUE(soon([&] { return get("/metrics").body.find("metactrl_requests_running 0") != std::string::npos; }));
    // One call may have been under way, and one more token may pass before the system knows.
    EXPECT_LE(pace_.calls, at_close + 3) << stream;
  }
}

// --- connections
// -------------------------------------------------------------------------------------------------------

class SlowClients : public ServiceTest {
 protected:
  void SetUp() override {
    http_.request_seconds = 0.3;
    http_.idle_seconds = 0.3;
    http_.max_connections = 8;
    start();
  }
};

TEST_F(SlowClients, ARequestMustArrive) {
  HttpClient client(server_->port());
  client.send("POST /v1/plans HTTP/1.1\r\nHost: localhost\r\n");
  EXPECT_ERROR(client.response(), 408, "request_timeout");
  EXPECT_EQ(client.receive(), "");
  // A byte now and then does not help.
  HttpClient slow(server_->port());
  for (int i = 0; i < 50 && slow.send("x"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(slow.response().status, 408);
  // Nor does silence.
  HttpClient silent(server_->port());
  EXPECT_EQ(silent.receive(), "");
}

TEST_F(SlowClients, CannotLockOthersOut) {
  http_.request_seconds = 60;
  http_.idle_seconds = 60;
  start();
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 8; ++i) {
    slow.push_back(std::make_unique<HttpClient>(server_->port()));
    slow.back()->send("GET / HTTP/1.1\r\n");
  }
  ASSERT_TRUE(soon([&] { return server_->num_connections() == 8; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  expect_healthy();
}

TEST_F(ServiceTest, StoppingLetsRequestsFinish) {
  pace_.milliseconds = 5;
  json body = {{"prompt", "x"}, {"max_tokens", 40}, {"temperature", 1}, {"seed", 2}, {"stream", true}};
  HttpClient client(server_->port());
  client.send(HttpClient::post("/v1/completions", body.dump()));
  HttpClient idle(server_->port());
  client.receive_until("data: ");
  service_->drain();
  server_->stop();
  thread_.join();
  const std::string rest = client.receive_until("[DONE]");
  EXPECT_NE(rest.find("[DONE]"), std::string::npos);
  EXPECT_EQ(idle.receive(), "");
  EXPECT_THROW(HttpClient late(server_->port()), std::runtime_error);
  server_.reset();
  service_.reset();
}

TEST_F(ServiceTest, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        json body = lamps();
        body["decode"] = "sample";
        body["seed"] = 100 * i + round;
        body["stream"] = round % 2 == 0;
        body["trace"] = i % 2 == 0;
        const HttpResponse response = post("/v1/plans", body);
        const json end = round % 2 == 0 ? response.events().back() : response.json();
        good += response.status == 200 && end["guarantee"] == "full" ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
  EXPECT_EQ(service_->constraint_counts().misses, 1U);
}

// --- the documentation
// -------------------------------------------------------------------------------------------------

// Everything that `wanted` says, `got` says, too; "..." stands for any text, and the one element of a list for all.
void expect_says(const json& got, const json& wanted, const std::string& where) {
  if (wanted == "...") {
    EXPECT_TRUE(got.is_string() && !got.get<std::string>().empty()) << where << ": " << got;
  } else if (wanted.is_object()) {
    ASSERT_TRUE(got.is_object()) << where << ": " << got;
    for (const auto& [name, value] : wanted.items()) {
      ASSERT_TRUE(got.contains(name)) << where << " has no " << name;
      expect_says(got[name], value, where + "." + name);
    }
  } else if (wanted.is_array() && wanted.size() == 1) {
    ASSERT_TRUE(got.is_array() && !got.empty()) << where << ": " << got;
    for (const json& one : got) expect_says(one, wanted[0], where + "[]");
  } else {
    EXPECT_EQ(got, wanted) << where;
  }
}

// docs/serve.md: an ```http block is sent, and the ```json block behind it is part of the answer.
TEST_F(ServiceTest, TheDocumentedExamplesWork) {
  std::ifstream file(testing::source_dir() / "docs/serve.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto block = [&page](const std::string& kind, std::size_t& at) {
    at = page.find("```" + kind + "\n", at);
    if (at == std::string::npos) return std::string();
    const std::size_t begin = at + 4 + kind.size();
    at = page.find("\n```", begin);
    return page.substr(begin, at - begin);
  };
  int examples = 0;
  for (std::size_t at = 0; true; ++examples) {
    const std::string request = block("http", at);
    if (request.empty()) break;
    const std::string wanted = block("json", at);
    const std::size_t path = request.find(' ') + 1;
    const std::size_t end = request.find('\n');
    ASSERT_EQ(request.substr(0, path), "POST ");
    const HttpResponse response = ask(HttpClient::post(request.substr(path, end - path), request.substr(end + 2)));
    SCOPED_TRACE(request);
    expect_says(response.json(), json::parse(wanted), "answer");
  }
  EXPECT_EQ(examples, 5);
}

}  // namespace
}  // namespace metactrl::serve
