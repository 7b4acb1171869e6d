// What a request, a client or many of them can cost: limits, slow and vanished clients, stopping.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/counter_task.h"
#include "support/service_fixture.h"

namespace metactrl::serve::service_limits_test {
namespace {

using nlohmann::json;
using testing::domain_of_many_actions;
using testing::domain_that_unfolds;
using testing::forty_objects;
using testing::HttpClient;
using testing::HttpResponse;
using testing::kDomain;
using testing::lamps;
using testing::problem;
using testing::problem_of_forty;
using testing::ServiceTest;

class LimitsTest : public ServiceTest {};

TEST_F(LimitsTest, LargeBodies) {
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
  EXPECT_ERROR(ask("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"), 505, "bad_http");
  expect_healthy();
}

TEST_F(LimitsTest, PddlBombs) {
  options_.limits.memory_bytes = std::size_t{32} << 20;
  start();
  json body = lamps();
  body["domain"] = std::string(100'000, '(');
  EXPECT_ERROR(post("/v1/plans", body), 400, "bad_pddl");
  body["domain"] = std::string(kDomain).substr(0, 100) + std::string(500'000, '(') + std::string(500'000, ')');
  EXPECT_ERROR(post("/v1/plans", body), 400, "bad_pddl");
  body["domain"] = domain_of_many_actions();
  body["problem"] = problem_of_forty();
  EXPECT_ERROR(post("/v1/plans", body), 422, "task_too_large");
  body["domain"] = domain_that_unfolds();
  EXPECT_ERROR(post("/v1/plans", body), 422, "task_too_large");
  // Executing it takes as long.
  options_.limits.seconds = 0.5;
  start();
  body = {{"domain", body["domain"]}, {"problem", body["problem"]}, {"plan", "(go o1)"}};
  body["problem"] = "(define (problem p) (:domain d) (:objects" + forty_objects() + ") (:init" + [&] {
    std::string all;
    for (int i = 0; i < 40; ++i) all += " (b o" + std::to_string(i) + ") (a o" + std::to_string(i) + ")";
    return all;
  }() + ") (:goal (b o1)))";
  EXPECT_ERROR(post("/v1/validate", body), 408, "time_limit");
  expect_healthy();
}

TEST_F(LimitsTest, ExecutingAPlanHasAMemory) {
  options_.limits.memory_bytes = std::size_t{8} << 20;
  start();
  std::string objects;
  for (int i = 0; i < 60; ++i) objects += " o" + std::to_string(i);
  const std::string problem =
      "(define (problem p) (:domain d) (:objects" + objects + ") (:init (a o1)) (:goal (a o1)))";
  const auto check = [&](const std::string& predicates_and_more) {
    const std::string domain =
        "(define (domain d) (:requirements :adl :derived-predicates) (:predicates (a ?x) " + predicates_and_more + ")";
    return post("/v1/validate", {{"domain", domain}, {"problem", problem}, {"plan", "(go)"}});
  };
  // As many facts as there are quintuples of objects: in an effect, and by a derivation.
  EXPECT_ERROR(check("(many ?v ?w ?x ?y ?z)) (:action go :parameters () :effect (forall (?v ?w ?x ?y ?z) "
                     "(many ?v ?w ?x ?y ?z)))"),
               422, "task_too_large");
  EXPECT_ERROR(check("(many ?v ?w ?x ?y ?z)) (:derived (many ?v ?w ?x ?y ?z) (= ?v ?v)) (:action go :parameters () "
                     ":effect (and))"),
               422, "task_too_large");
  EXPECT_EQ(check("(few ?x ?y)) (:derived (few ?x ?y) (= ?x ?y)) (:action go :parameters () :effect (and))").status,
            200);
  expect_healthy();
}

TEST_F(LimitsTest, TooManyMessages) {
  json body = {{"messages", json::array()}, {"max_tokens", 1}};
  for (int i = 0; i < 30'000; ++i) body["messages"].push_back({{"role", "user"}, {"content", ""}});
  const HttpResponse response = post("/v1/chat/completions", body);
  EXPECT_ERROR(response, 400, "bad_request");
  EXPECT_EQ(response.json()["error"]["param"], "messages");
}

TEST_F(LimitsTest, TooLongForTheContext) {
  json body = {{"prompt", std::string(10'000, 'x')}};
  EXPECT_ERROR(post("/v1/completions", body), 400, "context_length_exceeded");
  body = lamps();
  body["instruction"] = std::string(10'000, 'x');
  EXPECT_ERROR(post("/v1/plans", body), 400, "context_length_exceeded");
}

TEST_F(LimitsTest, TimeLimit) {
  pace_.milliseconds = 30;
  json body = lamps();
  body["time_limit"] = 0.02;
  body["decode"] = "sample";
  EXPECT_ERROR(post("/v1/plans", body), 408, "time_limit");
  EXPECT_ERROR(post("/v1/chat/completions",
                    {{"messages", {{{"role", "user"}, {"content", "x"}}}},
                     {"plan", {{"domain", kDomain}, {"problem", problem("(lit a)")}, {"time_limit", 0.02}}}}),
               408, "time_limit");
  EXPECT_ERROR(post("/v1/plans", {{"domain", kDomain}, {"problem", problem("(lit b)")}, {"time_limit", 0.02}}), 408,
               "time_limit");
}

TEST_F(LimitsTest, TimeIsUpInTheMiddleOfAStream) {
  json body = lamps();
  body["stream"] = true;
  // Whatever the machine has to do besides, with time enough the stream begins, and then the model takes too long.
  for (double limit = 0.1; limit < options_.limits.seconds; limit *= 2) {
    body["time_limit"] = limit;
    pace_.milliseconds = static_cast<int>(1000 * limit) + 10;
    const HttpResponse response = post("/v1/plans", body);
    if (response.status == 408) continue;  // before its first event
    ASSERT_EQ(response.status, 200) << response.body;
    const std::vector<json> events = response.events();
    ASSERT_GE(events.size(), 2U);
    EXPECT_EQ(events.front()["type"], "start");
    EXPECT_EQ(events.back()["type"], "error");
    EXPECT_EQ(events.back()["error"]["code"], "time_limit");
    EXPECT_TRUE(response.done());
    return;
  }
  FAIL() << "no stream began";
}

// So many lamps that the states cannot all be looked at, and a goal that only looking at all of them would refute.
TEST_F(LimitsTest, StatesAndMemory) {
  std::string objects;
  for (int i = 0; i < 20; ++i) objects += " l" + std::to_string(i);
  json body = {
      {"domain",
       "(define (domain d) (:requirements :strips :typing) (:types lamp) (:predicates (lit ?l - lamp) (dark ?l "
       "- lamp) (won)) (:action press :parameters (?l - lamp) :precondition (dark ?l) :effect (and (lit ?l) "
       "(not (dark ?l)))) (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (and (dark "
       "?l) (not (lit ?l)))) (:action win :parameters (?l - lamp) :precondition (and (lit ?l) (dark ?l)) "
       ":effect (won)))"},
      {"max_states", 500}};
  std::string dark;
  for (int i = 0; i < 20; ++i) dark += " (dark l" + std::to_string(i) + ")";
  body["problem"] =
      "(define (problem p) (:domain d) (:objects" + objects + " - lamp) (:init" + dark + ") (:goal (won)))";
  const HttpResponse answer = post("/v1/plans", body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json()["outcome"], "undecided") << answer.body;
  EXPECT_EQ(answer.json()["plan"], nullptr);
  EXPECT_ERROR(post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"plan", body}}),
               422, "undecided");
  // It would end at the same place again, so it is kept; a request that may look further is not answered with it.
  EXPECT_EQ(post("/v1/plans", body).json()["cached"], true);
  body["max_states"] = 600;
  EXPECT_EQ(post("/v1/plans", body).json()["cached"], false);
}

TEST_F(LimitsTest, TooManyRequests) {
  options_.max_requests = 1;
  options_.max_waiting = 1;
  start();
  pace_.hold_at = 1;
  const json body = {{"prompt", "x"}, {"max_tokens", 1000}, {"temperature", 1}, {"seed", 1}, {"stream", true}};
  HttpClient first(server_->port());
  first.send(HttpClient::post("/v1/completions", body.dump()));
  ASSERT_TRUE(soon([&] { return pace_.calls == 1; }));
  HttpClient second(server_->port());
  second.send(HttpClient::post("/v1/completions", body.dump()));
  ASSERT_TRUE(metrics_say("metactrl_requests_waiting 1"));
  const HttpResponse third = post("/v1/completions", body);
  EXPECT_ERROR(third, 429, "too_many_requests");
  EXPECT_EQ(third.headers.at("retry-after"), "1");
  first.close();  // which lets the second one in
  pace_.hold_at = 0;
  EXPECT_NE(second.receive_until("data: "), "");
}

// A call that has begun is finished; there is no other one.
TEST_F(LimitsTest, WhoLeavesStopsCosting) {
  int cancelled = 0;
  for (const bool stream : {true, false}) {
    for (const char* path : {"/v1/completions", "/v1/plans"}) {
      SCOPED_TRACE(path);
      pace_.calls = 0;
      pace_.hold_at = 2;
      json body = {{"prompt", "x"}, {"max_tokens", 2000}, {"temperature", 1}, {"seed", 1}, {"stream", stream}};
      if (path == std::string("/v1/plans")) {
        body = lamps();
        body.update({{"stream", stream}, {"decode", "sample"}});
      }
      HttpClient client(server_->port());
      client.send(HttpClient::post(path, body.dump()));
      ASSERT_TRUE(soon([&] { return pace_.calls == 2; }));
      client.close();
      pace_.hold_at = 0;
      ASSERT_TRUE(metrics_say("metactrl_cancelled_total " + std::to_string(++cancelled)));
      EXPECT_EQ(pace_.calls, 2);
      EXPECT_TRUE(metrics_say("metactrl_requests_running 0"));
    }
  }
}

// The states of the task are too many for any memory, and the budget allows all of them.
TEST_F(LimitsTest, WhoLeavesStopsACompilation) {
  options_.limits.states = std::size_t{1} << 40;
  options_.limits.memory_bytes = std::size_t{1} << 40;
  start();
  const testing::PddlTexts texts = testing::counter_task(60);
  HttpClient client(server_->port());
  client.send(HttpClient::post("/v1/plans", json{{"domain", texts.domain}, {"problem", texts.problem}}.dump()));
  ASSERT_TRUE(metrics_say("metactrl_constraint_cache_misses_total 1"));
  client.close();
  EXPECT_TRUE(metrics_say("metactrl_cancelled_total 1"));
  EXPECT_TRUE(metrics_say("metactrl_requests_running 0"));
  EXPECT_EQ(service_->constraint_counts().entries, 0U);
}

// One that asks and asks and reads nothing is given up once the system's buffers are full.
TEST_F(LimitsTest, WhoDoesNotReadStopsCosting) {
  http_.write_seconds = 0.2;
  http_.idle_seconds = 600;
  start();
  HttpClient client(server_->port());
  client.send(HttpClient::get("/health"));
  EXPECT_EQ(client.response().status, 200);
  EXPECT_EQ(server_->num_connections(), 1U);
  std::string many;
  for (int i = 0; i < 2000; ++i) many += HttpClient::get("/v1/tasks");
  client.send(many);
  EXPECT_TRUE(soon([&] { return server_->num_connections() == 0; }));
  expect_healthy();
}

class SlowClients : public LimitsTest {
 protected:
  void SetUp() override {
    http_.max_connections = 8;
    start();
  }
};

TEST_F(SlowClients, ARequestMustArrive) {
  http_.request_seconds = 0.2;
  start();
  HttpClient client(server_->port());
  client.send("POST /v1/plans HTTP/1.1\r\nHost: localhost\r\n");
  EXPECT_ERROR(client.response(), 408, "request_timeout");
  EXPECT_EQ(client.receive(), "");
  // A byte now and then does not help.
  HttpClient slow(server_->port());
  while (slow.send("x") && !slow.readable(20)) {
  }
  EXPECT_EQ(slow.response().status, 408);
}

// What is sent at once arrives at once, so the first request is never late, however busy the machine is.
TEST_F(SlowClients, TheSecondRequestIsRefusedLikeTheFirst) {
  http_.request_seconds = 0.2;
  start();
  for (const char* beginning : {"POST /v1/plans HTTP/1.1\r\n", "\r\nGET /"}) {
    HttpClient client(server_->port());
    client.send("HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.receive_until("\r\n\r\n").substr(0, 12), "HTTP/1.1 200");
    client.send(beginning);
    EXPECT_ERROR(client.response(), 408, "request_timeout");
  }
  // In one go.
  HttpClient client(server_->port());
  client.send(HttpClient::get("/health") + "GET /");
  EXPECT_EQ(client.response().status, 200);
  EXPECT_ERROR(client.response(), 408, "request_timeout");
  // A line end more is no request.
  HttpClient tidy(server_->port());
  tidy.send(HttpClient::get("/health") + "\r\n");
  EXPECT_EQ(tidy.response().status, 200);
  EXPECT_EQ(tidy.receive(), "");
}

TEST_F(SlowClients, SilenceIsNotListenedTo) {
  http_.idle_seconds = 0.1;
  start();
  HttpClient silent(server_->port());
  EXPECT_EQ(silent.receive(), "");
}

TEST_F(SlowClients, CannotLockOthersOut) {
  http_.request_seconds = 600;
  http_.idle_seconds = 600;
  start();
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 8; ++i) {
    slow.push_back(std::make_unique<HttpClient>(server_->port()));
    slow.back()->send("GET / HTTP/1.1\r\n");
  }
  ASSERT_TRUE(soon([&] { return server_->num_connections() == 8; }));
  // The first of them may speak for half a second before it has to give way.
  EXPECT_TRUE(soon([&] { return get("/health").status == 200; }));
}

TEST_F(LimitsTest, StoppingLetsRequestsFinish) {
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

}  // namespace
}  // namespace metactrl::serve::service_limits_test
