// A service and its server in this process, for tests that speak to it over HTTP.
//
// The model writes what its seed says; Pace slows it down, counts its calls and stops it in the middle of one. What a
// request leaves behind (counters, gauges, room) is there only after its last byte was sent: a test waits for it with
// soon(), and never looks at once.
#ifndef METACTRL_TESTS_SUPPORT_SERVICE_FIXTURE_H_
#define METACTRL_TESTS_SUPPORT_SERVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "metactrl/language_model.h"
#include "serve/http_server.h"
#include "serve/service.h"
#include "support/http_client.h"

namespace metactrl::testing {

using nlohmann::json;

// Every byte is a token, and some words are.
inline std::shared_ptr<const Vocabulary> words() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"press", "release", "(", "(press", " a", " b", ")\n", "fuse", "blow-"})
    tokens.emplace_back(word);
  tokens.emplace_back("");
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

// How a model works: counts its calls, takes as long for each as it is told to, and stays in call number `hold_at` and
// those behind it until that is 0 again.
struct Pace {
  std::atomic<int> calls{0};
  std::atomic<int> milliseconds{0};
  std::atomic<int> hold_at{0};
};

class PacedSession : public Session {
 public:
  PacedSession(std::unique_ptr<Session> session, Pace& pace) : session_(std::move(session)), pace_(pace) {}
  void append(std::span<const TokenId> tokens) override { session_->append(tokens); }
  std::span<const float> logits() override {
    const int call = ++pace_.calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(pace_.milliseconds));
    while (pace_.hold_at != 0 && call >= pace_.hold_at) std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& stop) const override {
    return model_->encode_prompt(prompt, stop);
  }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    if (prompt.size() + reserve > context_length()) throw ContextError("too long");
    return std::make_unique<PacedSession>(model_->start(prompt, reserve), pace_);
  }

 private:
  std::unique_ptr<LanguageModel> model_;
  Pace& pace_;
};

inline constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";

inline std::string problem(const std::string& goal) {
  return "(define (problem three-lamps) (:domain lamps) (:objects a b c - lamp) (:init (broken c) (power)) (:goal " +
         goal + "))";
}

// Forty things.
inline std::string forty_objects() {
  std::string objects;
  for (int i = 0; i < 40; ++i) objects += " o" + std::to_string(i);
  return objects;
}

// For forty things: one action with ten parameters, and one with a condition that unfolds without end.
inline std::string domain_of_many_actions() {
  std::string parameters;
  for (int i = 0; i < 10; ++i) parameters += " ?p" + std::to_string(i);
  return "(define (domain d) (:predicates (a ?x) (b ?x)) (:action go :parameters (" + parameters +
         ") :precondition (and) :effect (b ?p0)))";
}
inline std::string domain_that_unfolds() {
  std::string nested = "(a ?x0)";
  for (int i = 0; i < 8; ++i)
    nested = "(forall (?x" + std::to_string(i) + ") (or (not (b ?x" + std::to_string(i) + ")) " + nested + "))";
  return "(define (domain d) (:requirements :adl) (:predicates (a ?x) (b ?x)) (:action go :parameters (?y) "
         ":precondition " +
         nested + " :effect (and (b ?y) (a ?y))))";
}
inline std::string problem_of_forty() {
  return "(define (problem p) (:domain d) (:objects" + forty_objects() + ") (:init (a o1)) (:goal (b o1)))";
}

inline json lamps(const std::string& goal = "(and (lit a) (lit b))") {
  return {{"domain", kDomain}, {"problem", problem(goal)}, {"horizon", 6}};
}

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.version = "test";
    start();
  }
  void TearDown() override {
    pace_.hold_at = 0;
    stop();
  }

  void start() {
    stop();
    http_.port = 0;
    http_.limits.body_bytes = options_.body_bytes;
    const std::shared_ptr<const Vocabulary> vocabulary = words();
    std::vector<serve::ServedModel> models;
    models.push_back({"lamplighter", std::make_shared<PacedModel>(vocabulary, pace_), vocabulary, 0, 0});
    models.push_back({"other", random_model(vocabulary, 3), vocabulary, 0, 0});
    add_models(vocabulary, models);
    service_ = std::make_unique<serve::Service>(std::move(models), options_);
    server_ = std::make_unique<serve::HttpServer>(
        http_, [this](serve::Exchange& exchange) { service_->handle(exchange); }, serve::Service::refusal);
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

  virtual void add_models(const std::shared_ptr<const Vocabulary>& /*vocabulary*/,
                          std::vector<serve::ServedModel>& /*models*/) {}

  HttpResponse ask(const std::string& bytes) const {
    HttpClient client(server_->port());
    client.send(bytes);
    return client.response();
  }
  HttpResponse post(const std::string& path, const json& body) const {
    return ask(HttpClient::post(path, body.dump()));
  }
  HttpResponse get(const std::string& path) const { return ask(HttpClient::get(path)); }
  // Waits until it is true, for a minute at most.
  template <typename Condition>
  static bool soon(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }
  // Waits until /metrics has the line.
  bool metrics_say(const std::string& line) const {
    return soon([&] { return get("/metrics").body.find("\n" + line + "\n") != std::string::npos; });
  }
  void expect_healthy() const { EXPECT_EQ(get("/health").status, 200); }

  Pace pace_;
  serve::HttpOptions http_;
  serve::ServiceOptions options_;
  std::unique_ptr<serve::Service> service_;
  std::unique_ptr<serve::HttpServer> server_;
  std::thread thread_;
};

#define EXPECT_ERROR(response, wanted_status, wanted_code)  \
  do {                                                      \
    const ::metactrl::testing::HttpResponse r = (response); \
    EXPECT_EQ(r.status, wanted_status) << r.body;           \
    if (r.status >= 400) {                                  \
      EXPECT_EQ(r.code(), wanted_code) << r.body;           \
      EXPECT_FALSE(r.json()["error"]["message"].empty());   \
      EXPECT_TRUE(r.json()["error"].contains("type"));      \
      EXPECT_TRUE(r.json()["error"].contains("param"));     \
    }                                                       \
  } while (false)

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_SERVICE_FIXTURE_H_
