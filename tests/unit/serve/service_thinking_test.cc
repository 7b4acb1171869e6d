// Models that think first, over HTTP: the thought is never part of the plan, and what a request says about it counts.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/service_fixture.h"
#include "support/thinker.h"

namespace metactrl::serve::service_thinking_test {
namespace {

using nlohmann::json;
using testing::HttpResponse;
using testing::lamps;
using testing::ServiceTest;
using testing::Thinker;

class ServiceThinking : public ServiceTest {
 protected:
  void add_models(const std::shared_ptr<const Vocabulary>& vocabulary, std::vector<ServedModel>& models) override {
    auto model = std::make_shared<Thinker>(random_model(vocabulary, 5),
                                           LanguageModel::ThinkingFormat{"<think>\n", "\n", "</think>", "\n\n", true});
    model->script = vocabulary->encode("both lamps, then. (press c)\n</think>\n\n", "");
    models.push_back({"thinker", std::move(model), vocabulary, 0, 0});
  }

  static json request(json more = json::object()) {
    json body = {
        {"model", "thinker"}, {"messages", {{{"role", "user"}, {"content", "light the lamps"}}}}, {"plan", lamps()}};
    body.update(more);
    return body;
  }
  json chat(const json& more = json::object()) const { return post("/v1/chat/completions", request(more)).json(); }
};

constexpr const char* kThought = "both lamps, then. (press c)\n";

TEST_F(ServiceThinking, ThoughtAndPlanAreApart) {
  const json answer = chat();
  const json& message = answer["choices"][0]["message"];
  EXPECT_EQ(message["reasoning_content"], kThought);
  EXPECT_EQ(message["reasoning"], kThought);
  EXPECT_EQ(message["content"], answer["plan"]["text"]);
  EXPECT_EQ(message["content"].get<std::string>().find("then"), std::string::npos);
  EXPECT_EQ(answer["plan"]["guarantee"], "full");
  EXPECT_EQ(answer["plan"]["reasoning"]["text"], kThought);
  EXPECT_EQ(answer["plan"]["reasoning"]["ended_by"], "marker");
  const int thought = answer["usage"]["completion_tokens_details"]["reasoning_tokens"];
  EXPECT_EQ(thought,
            answer["plan"]["reasoning"]["tokens"].get<int>() + answer["plan"]["reasoning"]["forced_tokens"].get<int>());
  EXPECT_EQ(answer["usage"]["completion_tokens"], thought + answer["plan"]["tokens"].get<int>());
  const json hidden = chat({{"include_reasoning", false}});
  EXPECT_FALSE(hidden["choices"][0]["message"].contains("reasoning_content"));
  EXPECT_EQ(hidden["choices"][0]["message"]["content"], message["content"]);
}

TEST_F(ServiceThinking, StreamsTellTheThoughtFirst) {
  const HttpResponse response = post("/v1/chat/completions", request({{"stream", true}}));
  EXPECT_TRUE(response.done());
  std::string thought;
  std::string text;
  json plan;
  for (const json& chunk : response.events()) {
    for (const json& choice : chunk["choices"]) {
      thought += choice["delta"].value("reasoning_content", "");
      if (choice["delta"].contains("reasoning_content")) {
        EXPECT_EQ(text, "");
      }
      text += choice["delta"].value("content", "");
    }
    if (chunk.contains("plan")) plan = chunk["plan"];
  }
  EXPECT_EQ(thought, kThought);
  EXPECT_EQ(json(text), plan["text"]);

  json body = lamps();
  body["model"] = "thinker";
  body["stream"] = body["trace"] = true;
  std::string told;
  std::size_t tokens = 0;
  json end;
  for (const json& event : post("/v1/plans", body).events()) {
    if (event["type"] == "thought") told += event["text"].get<std::string>();
    tokens += event["type"] == "token" ? 1 : 0;
    if (event["type"] == "end") end = event;
  }
  EXPECT_EQ(told, kThought);
  EXPECT_EQ(end["reasoning"]["text"], kThought);
  EXPECT_EQ(tokens, end["tokens"]);
  EXPECT_EQ(end["guarantee"], "full");
}

// Goals from words: a thought before the goal, and another one before the plan.
TEST_F(ServiceThinking, BeforeAGoalToo) {
  json body = {{"model", "thinker"}, {"domain", testing::kDomain}, {"instruction", "light the lamps"}};
  body["problem"] = "(define (problem p) (:domain lamps) (:objects a b - lamp) (:init (power)))";
  const json written = post("/v1/goals", body).json();
  ASSERT_EQ(written["outcome"], "goals") << written;
  EXPECT_EQ(written["reasoning"]["text"], kThought);
  EXPECT_EQ(written["reasoning"]["ended_by"], "marker");
  EXPECT_EQ(written["certified"], true);
  body["yes"] = true;
  const json planned = post("/v1/plans", body).json();
  EXPECT_EQ(planned["guarantee"], "full") << planned;
  EXPECT_EQ(planned["goal"]["pddl"], written["goals"][0]["goal"]);
  EXPECT_EQ(planned["goal"]["reasoning"]["text"], kThought);
  EXPECT_TRUE(planned.contains("reasoning")) << planned;
  body.erase("yes");
  body["think"] = 3;
  EXPECT_EQ(post("/v1/goals", body).json()["reasoning"]["tokens"], 3);
  body["think"] = "off";
  EXPECT_FALSE(post("/v1/goals", body).json().contains("reasoning"));
  body["think"] = "loud";
  EXPECT_EQ(post("/v1/goals", body).status, 400);
}

TEST_F(ServiceThinking, RequestsSayHowMuch) {
  const auto thinks = [](const json& answer) { return answer["plan"].contains("reasoning"); };
  EXPECT_FALSE(thinks(chat({{"reasoning_effort", "none"}})));
  EXPECT_TRUE(thinks(chat({{"reasoning_effort", "low"}})));
  EXPECT_FALSE(thinks(chat({{"chat_template_kwargs", {{"enable_thinking", false}}}})));
  EXPECT_TRUE(thinks(chat({{"chat_template_kwargs", {{"thinking", true}, {"other", {1, "x"}}}}})));
  EXPECT_FALSE(thinks(chat({{"thinking_budget_tokens", 0}})));
  const json cut = chat({{"reasoning_budget_tokens", 5}});
  EXPECT_EQ(cut["plan"]["reasoning"]["tokens"], 5);
  EXPECT_EQ(cut["plan"]["reasoning"]["ended_by"], "budget");
  EXPECT_EQ(cut["plan"]["guarantee"], "full");
  json body = request();
  body["plan"]["think"] = "off";
  EXPECT_FALSE(thinks(post("/v1/chat/completions", body).json()));
  body["plan"]["think"] = 3;
  EXPECT_EQ(post("/v1/chat/completions", body).json()["plan"]["reasoning"]["tokens"], 3);
  // A model that does not think is not made to.
  json plain = request({{"reasoning_effort", "high"}});
  plain["model"] = "other";
  EXPECT_FALSE(thinks(post("/v1/chat/completions", plain).json()));
}

TEST_F(ServiceThinking, BadRequests) {
  const auto refused = [&](const json& more) { return post("/v1/chat/completions", request(more)); };
  EXPECT_ERROR(refused({{"reasoning_effort", "enormous"}}), 400, "bad_request");
  EXPECT_ERROR(refused({{"reasoning_effort", 3}}), 400, "bad_request");
  EXPECT_ERROR(refused({{"reasoning_budget_tokens", -1}}), 400, "bad_request");
  EXPECT_ERROR(refused({{"chat_template_kwargs", "x"}}), 400, "bad_request");
  EXPECT_ERROR(refused({{"chat_template_kwargs", {{"messages", json::array()}}}}), 400, "bad_request");
  EXPECT_ERROR(refused({{"reasoning_effort", "high"}, {"chat_template_kwargs", {{"enable_thinking", false}}}}), 400,
               "bad_request");
  json body = request();
  body["plan"]["think"] = "much";
  EXPECT_ERROR(post("/v1/chat/completions", body), 400, "bad_request");
  expect_healthy();
}

// Text without a plan: the same words, the same places.
TEST_F(ServiceThinking, TextHasItsThoughtApart) {
  json body = request({{"max_tokens", 8}, {"temperature", 0}});
  body.erase("plan");
  const json answer = post("/v1/chat/completions", body).json();
  EXPECT_EQ(answer["choices"][0]["message"]["reasoning_content"], kThought);
  EXPECT_EQ(answer["choices"][0]["message"]["content"].get<std::string>().find("lamps, then"), std::string::npos);
  body["reasoning_effort"] = "none";
  EXPECT_FALSE(post("/v1/chat/completions", body).json()["choices"][0]["message"].contains("reasoning_content"));
}

}  // namespace
}  // namespace metactrl::serve::service_thinking_test
