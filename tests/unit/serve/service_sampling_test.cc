// Settings of other servers' clients, with a plan and without: they rank, and what is guaranteed stays guaranteed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/service_fixture.h"

namespace metactrl::serve::service_sampling_test {
namespace {

using nlohmann::json;
using testing::HttpResponse;
using testing::lamps;
using testing::ServiceTest;

class SamplingTest : public ServiceTest {
 protected:
  HttpResponse chat(const json& more) const {
    json body = {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"max_tokens", 12}, {"seed", 5}};
    body.update(more);
    return post("/v1/chat/completions", body);
  }
  std::string text(const json& more) const {
    const HttpResponse response = chat(more);
    EXPECT_EQ(response.status, 200) << response.body;
    return response.json()["choices"][0]["message"]["content"];
  }
};

// With one token to draw from, sampling is greedy.
TEST_F(SamplingTest, TopKAndMinPOfText) {
  const std::string greedy = text({{"temperature", 0}});
  EXPECT_NE(text({{"temperature", 1}}), greedy);
  EXPECT_EQ(text({{"temperature", 1}, {"top_k", 1}}), greedy);
  EXPECT_EQ(text({{"temperature", 1}, {"min_p", 1}}), greedy);
  EXPECT_EQ(text({{"temperature", 1}, {"top_k", 0}, {"min_p", 0}}), text({{"temperature", 1}}));
}

TEST_F(SamplingTest, BiasAndPenaltiesOfText) {
  // The token of 'q' is 113: nothing else is written, until it has been often enough.
  const json bias = {{"temperature", 0}, {"max_tokens", 40}, {"logit_bias", {{"113", 20}}}};
  EXPECT_EQ(text(bias), std::string(40, 'q'));
  json tired = bias;
  tired["frequency_penalty"] = 2;
  const std::string varied = text(tired);
  EXPECT_GT(std::count(varied.begin(), varied.end(), 'q'), 3);
  EXPECT_LT(std::count(varied.begin(), varied.end(), 'q'), 20);
  // Once is all that it takes from it.
  json once = bias;
  once["presence_penalty"] = 2;
  EXPECT_EQ(text(once), std::string(40, 'q'));
  once["logit_bias"] = {{"113", -100}};
  EXPECT_EQ(text(once).find('q'), std::string::npos);
}

// Whatever is asked for, plans stay what they are.
TEST_F(SamplingTest, PlansStayGuaranteed) {
  json against = json::object();
  for (int token = 0; token < 265; ++token) against[std::to_string(token)] = -100;
  const std::vector<json> settings = {
      {{"top_k", 1}},
      {{"min_p", 0.5}},
      {{"top_k", 2}, {"min_p", 0.01}, {"top_p", 0.5}},
      {{"frequency_penalty", 2}, {"presence_penalty", 2}},
      {{"frequency_penalty", -2}, {"presence_penalty", -2}},
      // For everything that breaks the rules, and against everything that keeps them.
      {{"logit_bias", {{"0", 100}, {"122", 100}, {"265", 100}}}},
      {{"logit_bias", against}},
  };
  for (const json& setting : settings) {
    for (const char* decode : {"greedy", "sample"}) {
      json body = lamps();
      body.update(setting);
      body["decode"] = decode;
      body["instruction"] = "x";  // as the chat below has it
      const HttpResponse response = post("/v1/plans", body);
      ASSERT_EQ(response.status, 200) << setting << response.body;
      EXPECT_EQ(response.json()["guarantee"], "full");
      EXPECT_EQ(response.json()["valid"], true);
      // A chat around it says the same.
      json around = setting;
      around["plan"] = lamps();
      around["plan"]["decode"] = decode;
      around["plan"]["seed"] = 0;
      EXPECT_EQ(chat(around).json()["plan"]["text"], response.json()["text"]) << setting;
    }
  }
  // And yet they are what was asked for: either lamp can come first. The tokens are ' a', 'a', ' b' and 'b'.
  json body = lamps();
  body["logit_bias"] = {{"260", 100}, {"97", 100}};
  EXPECT_TRUE(post("/v1/plans", body).json()["text"].get<std::string>().starts_with("(press a)"));
  body["logit_bias"] = {{"261", 100}, {"98", 100}};
  EXPECT_TRUE(post("/v1/plans", body).json()["text"].get<std::string>().starts_with("(press b)"));
}

TEST_F(SamplingTest, WhatDoesNotFitIsRefusedByName) {
  const std::vector<std::pair<const char*, json>> wrong = {
      {"top_k", -1},
      {"top_k", 1.5},
      {"min_p", 2},
      {"frequency_penalty", 3},
      {"presence_penalty", "much"},
      {"logit_bias", json::array()},
      {"logit_bias", {{"press", 1}}},
      {"logit_bias", {{"1", 101}}},
      {"logit_bias", {{"-1", 1}}},
      {"logit_bias", {{"99999999999999999999", 1}}},
      {"logit_bias", {{"4000000000", 1}}},
      {"logit_bias", {{"5000", 1}}},  // no such token
      {"n", 0},
      {"n", 17},
      {"top_logprobs", 3},
      {"logprobs", 3},
  };
  for (const auto& [name, value] : wrong) {
    const HttpResponse response = chat({{name, value}});
    EXPECT_EQ(response.status, 400) << name << value;
    EXPECT_EQ(response.json()["error"]["param"], name) << response.body;
  }
  // Several plans at once are not chosen token by token.
  json body = lamps();
  body["decode"] = "beam";
  body["presence_penalty"] = 1;
  EXPECT_ERROR(post("/v1/plans", body), 400, "bad_request");
  body["presence_penalty"] = 0;
  EXPECT_EQ(post("/v1/plans", body).status, 200);
  json plan = lamps();
  EXPECT_ERROR(chat({{"plan", plan}, {"logprobs", true}, {"top_logprobs", 2}}), 400, "bad_request");
  EXPECT_ERROR(chat({{"plan", plan}, {"stop", "x"}}), 400, "bad_request");
  plan["decode"] = "beam";
  EXPECT_ERROR(chat({{"plan", plan}, {"logprobs", true}}), 400, "bad_request");
}

TEST_F(SamplingTest, LogprobsOfText) {
  const HttpResponse response = chat({{"temperature", 0}, {"logprobs", true}, {"top_logprobs", 3}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json choice = response.json()["choices"][0];
  const json& content = choice["logprobs"]["content"];
  ASSERT_EQ(content.size(), 12U);
  for (const json& one : content) {
    EXPECT_LE(one["logprob"].get<double>(), 0);
    ASSERT_EQ(one["top_logprobs"].size(), 3U);
    // Greedy takes the likeliest.
    EXPECT_EQ(one["top_logprobs"][0]["bytes"], one["bytes"]);
    EXPECT_EQ(one["top_logprobs"][0]["logprob"], one["logprob"]);
    EXPECT_GE(one["top_logprobs"][0]["logprob"], one["top_logprobs"][1]["logprob"]);
  }
  EXPECT_EQ(chat({{"temperature", 0}}).json()["choices"][0]["logprobs"], nullptr);
  // A stream has the same, piece by piece.
  const HttpResponse streamed = chat({{"temperature", 0}, {"logprobs", true}, {"top_logprobs", 3}, {"stream", true}});
  json joined = json::array();
  for (const json& chunk : streamed.events()) {
    if (chunk["choices"].empty() || chunk["choices"][0]["logprobs"].is_null()) continue;
    for (const json& one : chunk["choices"][0]["logprobs"]["content"]) joined.push_back(one);
  }
  EXPECT_EQ(joined, content);
  // The older shape.
  const json older =
      post("/v1/completions", {{"prompt", "x"}, {"max_tokens", 5}, {"temperature", 0}, {"logprobs", 2}}).json();
  const json& logprobs = older["choices"][0]["logprobs"];
  EXPECT_EQ(logprobs["tokens"].size(), 5U);
  EXPECT_EQ(logprobs["token_logprobs"].size(), 5U);
  EXPECT_EQ(logprobs["text_offset"][0], 0);
  EXPECT_LE(logprobs["top_logprobs"][0].size(), 2U);
}

// Of a plan: among what was allowed, and nothing lost where there was no choice.
TEST_F(SamplingTest, LogprobsOfPlans) {
  json plan = lamps();
  plan["trace"] = true;
  const HttpResponse response = chat({{"plan", plan}, {"logprobs", true}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json answer = response.json();
  std::vector<json> tokens;
  for (const json& event : answer["plan"]["trace"]) {
    if (event["type"] == "token" && event["end"] == false) tokens.push_back(event);
  }
  const json& content = answer["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(content.size(), tokens.size());
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    text += content[i]["token"].get<std::string>();
    const double logprob = content[i]["logprob"];
    if (tokens[i]["forced"] == true) {
      EXPECT_EQ(logprob, 0);
    } else {
      EXPECT_NEAR(std::exp(logprob), tokens[i]["p_guided"].get<double>(), 1e-9);
    }
  }
  EXPECT_EQ(text, answer["plan"]["text"].get<std::string>());
}

TEST_F(SamplingTest, SeveralChoices) {
  const HttpResponse response = chat({{"n", 3}, {"temperature", 1}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json answer = response.json();
  ASSERT_EQ(answer["choices"].size(), 3U);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(answer["choices"][i]["index"], i);
    texts.push_back(answer["choices"][i]["message"]["content"]);
  }
  EXPECT_NE(texts[0], texts[1]);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 36);
  // The second is what the next seed gives.
  EXPECT_EQ(text({{"temperature", 1}, {"seed", 6}}), texts[1]);
  // In a stream, one after the other.
  const HttpResponse streamed = chat({{"n", 3}, {"temperature", 1}, {"stream", true}});
  std::vector<std::string> joined(3);
  std::size_t ends = 0;
  for (const json& chunk : streamed.events()) {
    const json& choice = chunk["choices"][0];
    joined[choice["index"]] += choice["delta"].value("content", "");
    ends += choice["finish_reason"].is_null() ? 0 : 1;
  }
  EXPECT_EQ(joined, texts);
  EXPECT_EQ(ends, 3U);
}

TEST_F(SamplingTest, SeveralPlans) {
  json plan = lamps();
  plan["decode"] = "sample";
  plan["temperature"] = 2;
  plan["seed"] = 1;
  plan["instruction"] = "x";
  const HttpResponse response = chat({{"n", 4}, {"plan", plan}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json answer = response.json();
  ASSERT_EQ(answer["choices"].size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const json& choice = answer["choices"][i];
    EXPECT_EQ(choice["plan"]["guarantee"], "full");
    EXPECT_EQ(choice["plan"]["text"], choice["message"]["content"]);
    plan["seed"] = 1 + i;
    EXPECT_EQ(post("/v1/plans", plan).json()["text"], choice["plan"]["text"]) << i;
  }
  EXPECT_EQ(answer["plan"]["text"], answer["choices"][0]["plan"]["text"]);
  // A goal that the model writes is one for all of them.
  json words = lamps();
  words["problem"] = "(define (problem now) (:domain lamps) (:objects a b c - lamp) (:init (broken c) (power)))";
  words["yes"] = true;
  const json said = {{{"role", "user"}, {"content", "light all lamps"}}};
  const json written = chat({{"n", 2}, {"plan", words}, {"messages", said}}).json();
  EXPECT_EQ(written["choices"][0]["plan"]["goal"], written["choices"][1]["plan"]["goal"]);
  const json press = {{"type", "function"}, {"function", {{"name", "press"}}}};
  const HttpResponse tools = chat({{"n", 2}, {"plan", lamps()}, {"tools", json::array({press})}});
  EXPECT_ERROR(tools, 400, "bad_request");
  EXPECT_EQ(tools.json()["error"]["param"], "n");
}

}  // namespace
}  // namespace metactrl::serve::service_sampling_test
