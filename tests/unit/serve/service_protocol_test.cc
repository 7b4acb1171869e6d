// Who may ask, what is refused and how it is said; the small answers and the page.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/domain.h"
#include "serve/access.h"
#include "support/service_fixture.h"
#include "support/test_data.h"

namespace metactrl::serve::service_protocol_test {
namespace {

using nlohmann::json;
using testing::HttpClient;
using testing::HttpResponse;
using testing::kDomain;
using testing::lamps;
using testing::problem;
using testing::ServiceTest;

class ProtocolTest : public ServiceTest {};

TEST_F(ProtocolTest, SmallAnswers) {
  EXPECT_EQ(get("/health").json()["status"], "ok");
  const json models = get("/v1/models").json();
  EXPECT_EQ(models["object"], "list");
  EXPECT_EQ(models["data"][0]["id"], "lamplighter");
  EXPECT_EQ(models["data"][1]["id"], "other");
  EXPECT_EQ(get("/v1/models/other").json(), models["data"][1]);
  EXPECT_ERROR(get("/v1/models/none"), 404, "model_not_found");
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

TEST_F(ProtocolTest, ThePageAndNothingElse) {
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

TEST_F(ProtocolTest, MetricsAreCounted) {
  post("/v1/plans", lamps());
  post("/v1/plans", lamps());
  // A request counts once its last byte is written, which its client may see first.
  ASSERT_TRUE(metrics_say("metactrl_request_seconds_count{route=\"/v1/plans\"} 2"));
  const std::string page = get("/metrics").body;
  EXPECT_NE(page.find("metactrl_requests_total{route=\"/v1/plans\",status=\"200\"} 2"), std::string::npos) << page;
  EXPECT_NE(page.find("metactrl_plans_total{outcome=\"plan\",guarantee=\"full\"} 2"), std::string::npos) << page;
  EXPECT_NE(page.find("metactrl_constraint_cache_hits_total 1"), std::string::npos) << page;
}

// What the dashboard shows is there.
TEST_F(ProtocolTest, TheDashboardShowsNumbersThatThereAre) {
  post("/v1/plans", lamps());
  ASSERT_TRUE(metrics_say("metactrl_plan_actions_count 1"));
  ASSERT_TRUE(metrics_say("metactrl_plan_seconds_count{phase=\"decode\"} 1"));
  const std::string page = get("/metrics").body;
  const json dashboard = json::parse(std::ifstream(testing::source_dir() / "docs/deploy/grafana.json"));
  std::size_t shown = 0;
  for (const json& panel : dashboard["panels"]) {
    for (const json& target : panel["targets"]) {
      const std::string expression = target["expr"];
      for (const char* prefix : {"metactrl_", "process_"}) {
        for (std::size_t at = expression.find(prefix); at != std::string::npos; at = expression.find(prefix, at + 1)) {
          std::size_t end = at;
          while (end < expression.size() &&
                 (std::isalnum(static_cast<unsigned char>(expression[end])) != 0 || expression[end] == '_'))
            ++end;
          const std::string name = expression.substr(at, end - at);
          EXPECT_TRUE(page.find("\n" + name + "{") != std::string::npos ||
                      page.find("\n" + name + " ") != std::string::npos)
              << name;
          ++shown;
        }
      }
    }
  }
  EXPECT_GT(shown, 15U);
}

TEST_F(ProtocolTest, ManyRequestsOnOneConnection) {
  HttpClient client(server_->port());
  for (int i = 0; i < 5; ++i) {
    client.send(HttpClient::get("/health"));
    EXPECT_EQ(client.response().status, 200);
  }
  client.send(HttpClient::get("/health") + HttpClient::get("/v1/models"));  // at once
  EXPECT_EQ(client.response().json()["status"], "ok");
  EXPECT_EQ(client.response().json()["object"], "list");
}

TEST_F(ProtocolTest, MistakesAreNamed) {
  const auto bad = [&](const std::string& body) { return ask(HttpClient::post("/v1/plans", body)); };
  EXPECT_ERROR(bad(""), 400, "bad_json");
  EXPECT_ERROR(bad("{"), 400, "bad_json");
  EXPECT_ERROR(bad("[1]"), 400, "bad_json");
  EXPECT_ERROR(bad("{\"domain\": \"\xff\"}"), 400, "bad_utf8");
  EXPECT_ERROR(bad("{\"domain\": \"\xc0\xaf\"}"), 400, "bad_utf8");
  EXPECT_ERROR(bad("{\"a\":" + std::string(100'000, '[') + "}"), 400, "bad_json");
  EXPECT_ERROR(bad("{\"a\":" + std::string(64, '[') + std::string(64, ']') + "}"), 400, "bad_json");
  EXPECT_ERROR(bad("{\"a\":" + std::string(63, '[') + std::string(63, ']') + "}"), 400, "bad_request");
  std::string members = "{\"a\": 1";
  for (int i = 0; i < 80'000; ++i) members += ",\"" + std::to_string(i) + "\":1";
  EXPECT_ERROR(bad(members + "}"), 400, "bad_json");
  std::string objects = "{\"a\": [{}";
  for (int i = 0; i < 300'000; ++i) objects += ",{}";
  EXPECT_ERROR(bad(objects + "]}"), 400, "bad_request");
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

TEST_F(ProtocolTest, MistakesInPddlHaveTheirPlace) {
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

TEST_F(ProtocolTest, MethodsAndTypes) {
  EXPECT_ERROR(get("/v1/plans"), 405, "method_not_allowed");
  EXPECT_ERROR(post("/v1/models", {}), 405, "method_not_allowed");
  EXPECT_ERROR(ask("OPTIONS /v1/plans HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405, "method_not_allowed");
  EXPECT_ERROR(ask(HttpClient::post("/v1/plans", "{}", "Content-Type: text/plain\r\n")), 415, "unsupported_media_type");
  EXPECT_ERROR(ask(HttpClient::post("/v1/plans", "{}", "")), 415, "unsupported_media_type");
}

TEST_F(ProtocolTest, OtherSitesAreKeptOut) {
  EXPECT_ERROR(ask("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403, "host_not_allowed");
  EXPECT_ERROR(ask(HttpClient::get("/v1/models", "Origin: http://evil.example\r\n")), 403, "origin_not_allowed");
  EXPECT_EQ(ask(HttpClient::get("/v1/models", "Origin: http://localhost\r\n")).status, 200);
  EXPECT_EQ(ask("GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n").status, 200);
  EXPECT_EQ(ask("GET /v1/models HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n").status, 200);
}

TEST_F(ProtocolTest, ApiKey) {
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

}  // namespace
}  // namespace metactrl::serve::service_protocol_test
