// Texts that are checked while they are written, and plans in the words of other programs.
#include <gtest/gtest.h>

#include <string>

#include "support/service_fixture.h"

namespace metactrl::serve::service_check_test {
namespace {

using nlohmann::json;
using testing::domain_of_many_actions;
using testing::domain_that_unfolds;
using testing::HttpResponse;
using testing::kDomain;
using testing::problem;
using testing::problem_of_forty;
using testing::ServiceTest;

class CheckTest : public ServiceTest {
 protected:
  static json task() { return {{"domain", kDomain}, {"problem", problem("(lit a)")}}; }
  static json plan(const json& steps) {
    json body = task();
    body["plan"] = steps;
    body["format"] = "bt";
    return body;
  }
};

TEST_F(CheckTest, ATaskWithoutMistakes) {
  const HttpResponse response = post("/v1/check", task());
  ASSERT_EQ(response.status, 200) << response.body;
  const json answer = response.json();
  EXPECT_EQ(answer["ok"], true);
  EXPECT_EQ(answer["errors"], 0);
  EXPECT_EQ(answer["diagnostics"], json::array());
  EXPECT_GT(answer["objects"], 0);
  EXPECT_GT(answer["ground_actions"], 0);
  EXPECT_EQ(post("/v1/check", json{{"domain", "tabletop"}, {"problem", "dishwasher"}}).json()["ok"], true);
}

// Mistakes are the answer, each with its text and its place.
TEST_F(CheckTest, EveryMistakeHasItsPlace) {
  json body = task();
  body["problem"] =
      "(define (problem p)\n  (:domain lamps)\n  (:objects a - lamp)\n  (:init (lid a) (lit zebra))\n  (:goal (lit "
      "a)))";
  const HttpResponse response = post("/v1/check", body);
  ASSERT_EQ(response.status, 200) << response.body;
  const json answer = response.json();
  EXPECT_EQ(answer["ok"], false);
  EXPECT_GE(answer["errors"], 2);
  for (const json& one : answer["diagnostics"]) {
    if (one["severity"] != "error") continue;
    EXPECT_EQ(one["file"], "problem");
    EXPECT_EQ(one["line"], 4);
    EXPECT_GT(one["column"], 0);
    EXPECT_FALSE(one["message"].get<std::string>().empty());
  }
  EXPECT_EQ(answer["ground_actions"], 0);
  body["domain"] = "(define (domain broken";
  EXPECT_EQ(post("/v1/check", body).json()["diagnostics"][0]["file"], "domain");
}

// A goal may come from words later: that none is stated is a warning, and everything else keeps its place.
TEST_F(CheckTest, AProblemWithoutAGoal) {
  json body = task();
  body["problem"] = "(define (problem p)\n  (:domain lamps)\n  (:objects a - lamp)\n  (:init (power)))";
  json answer = post("/v1/check", body).json();
  EXPECT_EQ(answer["ok"], true) << answer;
  EXPECT_EQ(answer["diagnostics"][0]["message"], "the problem states no goal") << answer;
  EXPECT_EQ(answer["warnings"], 1) << answer;
  EXPECT_GT(answer["ground_actions"], 0);
  body["problem"] = "(define (problem p)\n  (:domain lamps)\n  (:objects a - lamp)\n  (:init (pover)))";
  answer = post("/v1/check", body).json();
  EXPECT_EQ(answer["ok"], false);
  EXPECT_EQ(answer["errors"], 1) << answer;
  body["problem"] = "(define (problem p";
  EXPECT_EQ(post("/v1/check", body).json()["ok"], false);
}

// Of a goal that comes beside the problem no line of the problem is to blame.
TEST_F(CheckTest, AGoalBesideTheProblem) {
  json body = task();
  body["goal"] = "(and (lit a) (always (power)))";
  json answer = post("/v1/check", body).json();
  EXPECT_EQ(answer["ok"], true) << answer;
  for (const char* wrong : {"(lid a)", "(lit a", "(lit a) (lit b)", "lit", ")", ""}) {
    body["goal"] = wrong;
    answer = post("/v1/check", body).json();
    EXPECT_EQ(answer["ok"], false) << wrong << answer;
    EXPECT_EQ(answer["errors"], 1) << wrong << answer;
    EXPECT_EQ(answer["diagnostics"][0]["file"], "goal") << wrong << answer;
  }
  body["goal"] = "(and)";
  answer = post("/v1/check", body).json();
  EXPECT_EQ(answer["diagnostics"].size(), 1U) << answer;
  EXPECT_EQ(answer["diagnostics"][0]["file"], "goal") << answer;
  body["goal"] = "(lid a)";
  body["plan"] = "(press a)";
  const HttpResponse refused = post("/v1/validate", body);
  EXPECT_ERROR(refused, 400, "bad_pddl");
  const json error = refused.json()["error"];
  EXPECT_EQ(error["diagnostics"][0]["file"], "goal") << error;
  EXPECT_EQ(error["diagnostics"][0]["line"], 0) << error;
  body["goal"] = "(lit a)";
  EXPECT_EQ(post("/v1/validate", body).json()["valid"], true);
}

TEST_F(CheckTest, WhatATextMayCost) {
  options_.limits.memory_bytes = std::size_t{32} << 20;
  start();
  json body = task();
  body["domain"] = std::string(100'000, '(');
  EXPECT_EQ(post("/v1/check", body).json()["ok"], false);
  body["domain"] = domain_of_many_actions();
  body["problem"] = problem_of_forty();
  EXPECT_ERROR(post("/v1/check", body), 422, "task_too_large");
  body["domain"] = domain_that_unfolds();
  EXPECT_ERROR(post("/v1/check", body), 422, "task_too_large");
  body["domain"] = "../../etc/passwd";
  EXPECT_ERROR(post("/v1/check", body), 400, "bad_request");
  expect_healthy();
}

TEST_F(CheckTest, NeedsTheKey) {
  options_.api_key = "sesame";
  start();
  EXPECT_ERROR(post("/v1/check", task()), 401, "invalid_api_key");
  EXPECT_ERROR(post("/v1/export", plan("(press a)")), 401, "invalid_api_key");
}

TEST_F(CheckTest, APlanForOtherPrograms) {
  json body = plan(json::array({{{"action", "press"}, {"arguments", {"a"}}}}));
  json answer = post("/v1/export", body).json();
  EXPECT_EQ(answer["valid"], true);
  EXPECT_NE(answer["text"].get<std::string>().find("<BehaviorTree"), std::string::npos);
  body["format"] = "plansys2";
  answer = post("/v1/export", body).json();
  EXPECT_EQ(answer["text"], "0.000: (press a) [1.000]\n");
  // What is not valid is not written, and it is said why.
  answer = post("/v1/export", plan("(release a)")).json();
  EXPECT_EQ(answer["valid"], false);
  EXPECT_EQ(answer["text"], nullptr);
  EXPECT_FALSE(answer["reason"].get<std::string>().empty());
}

TEST_F(CheckTest, WhatAnExportMayCost) {
  options_.limits.horizon = 8;
  start();
  json steps = json::array();
  for (int i = 0; i < 9; ++i) steps.push_back(i % 2 == 0 ? "(press a)" : "(release a)");
  const HttpResponse longer = post("/v1/export", plan(steps));
  EXPECT_ERROR(longer, 400, "bad_request");
  EXPECT_EQ(longer.json()["error"]["param"], "plan");
  // A tree that is larger than a request's memory is given up while it is written.
  options_.limits.horizon = 256;
  options_.limits.memory_bytes = 200'000;
  start();
  std::string objects;
  std::string needs;
  std::string init;
  for (int i = 0; i < 200; ++i) {
    const std::string name = "o" + std::to_string(i);
    objects += " " + name;
    needs += " (a " + name + ")";
    init += " (a " + name + ")";
  }
  json body = {{"domain", "(define (domain d) (:constants" + objects +
                              ") (:predicates (a ?x) (b)) (:action go :parameters () "
                              ":precondition (and" +
                              needs +
                              ") :effect (b)) (:action back :parameters () :precondition (b) :effect "
                              "(not (b))) (:action lose :parameters (?x) :precondition (b) :effect (not (a ?x))))"},
               {"problem", "(define (problem p) (:domain d) (:init" + init + ") (:goal (b)))"},
               {"format", "bt"}};
  body["plan"] = "(go)";
  EXPECT_EQ(post("/v1/export", body).json()["valid"], true);
  std::string many = "(go)\n";
  for (int i = 0; i < 100; ++i) many += "(back)\n(go)\n";
  body["plan"] = many;
  EXPECT_ERROR(post("/v1/export", body), 422, "task_too_large");
  expect_healthy();
}

}  // namespace
}  // namespace metactrl::serve::service_check_test
