// Formats of one's own over HTTP: as text, as an object, and by those who mean no good.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/service_fixture.h"

namespace metactrl::serve::service_formats_test {
namespace {

using nlohmann::json;
using testing::HttpResponse;
using testing::kDomain;
using testing::lamps;
using testing::problem;
using testing::ServiceTest;

class FormatsTest : public ServiceTest {
 protected:
  HttpResponse plan(const json& format, const char* guidance = "uniform") const {
    json body = lamps();
    body["format"] = format;
    body["guidance"] = guidance;
    return post("/v1/plans", body);
  }
};

constexpr const char* kDeclaration = R"(# Lamps
item press: "light {1}"
item release: "darken {1}"
item blow-fuse: "ruin it"
separator: ", then "
close: "!"
)";

TEST_F(FormatsTest, ATextAndAnObjectAreTheSame) {
  const json object = {{"item", {{"press", "light {1}"}, {"release", "darken {1}"}, {"blow-fuse", "ruin it"}}},
                       {"separator", ", then "},
                       {"close", "!"}};
  for (const char* guidance : {"search", "mask", "uniform"}) {
    const HttpResponse by_text = plan(kDeclaration, guidance);
    ASSERT_EQ(by_text.status, 200) << by_text.body;
    const json answer = by_text.json();
    EXPECT_EQ(answer["guarantee"], "full");
    EXPECT_EQ(answer["valid"], true);
    EXPECT_EQ(answer["check"]["parsed"], true);
    const std::string text = answer["text"];
    EXPECT_TRUE(text.ends_with("!")) << text;
    EXPECT_NE(text.find(", then "), std::string::npos) << text;
    EXPECT_EQ(plan(object, guidance).json()["text"], text);
  }
  // In a chat and for a tool, too.
  json in_chat = lamps();
  in_chat["format"] = object;
  const HttpResponse answer =
      post("/v1/chat/completions", {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"plan", in_chat}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(answer.json()["choices"][0]["message"]["content"].get<std::string>().ends_with("!"));
}

// What stands in an object's texts is text, whatever it would be in a declaration.
TEST_F(FormatsTest, TextsAreQuoted) {
  const std::string odd = "\"\n# close: \"x\"\t\\ \r";
  const json object = {{"open", odd},
                       {"item", "{action}[{arguments}]"},
                       {"separator", json::array({"|", "/" + odd})},
                       {"close", "<|im_end|>"},
                       {"object", {{"a", "\"a\": \"b\""}}}};
  const HttpResponse response = plan(object);
  ASSERT_EQ(response.status, 200) << response.body;
  const std::string text = response.json()["text"];
  EXPECT_TRUE(text.starts_with(odd)) << text;
  EXPECT_TRUE(text.ends_with("<|im_end|>")) << text;
  EXPECT_NE(text.find("[\"a\": \"b\"]"), std::string::npos) << text;
  EXPECT_EQ(response.json()["guarantee"], "full");
}

TEST_F(FormatsTest, MistakesAreToldWithTheirPlaces) {
  const HttpResponse response = plan("item: \"{acton}\"\nseperator: \", \"\nclose: \".\"");
  EXPECT_ERROR(response, 400, "bad_format");
  EXPECT_EQ(response.json()["error"]["param"], "format");
  EXPECT_EQ(response.json()["error"]["diagnostics"][0]["line"], 2);
  EXPECT_EQ(response.json()["error"]["diagnostics"][0]["file"], "format");
  // Two plans with one text.
  const HttpResponse same = plan({{"item", "{action}"}, {"separator", ";"}, {"close", "."}});
  EXPECT_ERROR(same, 400, "bad_request");
  EXPECT_NE(same.body.find("both written"), std::string::npos) << same.body;
}

TEST_F(FormatsTest, NoFileIsRead) {
  for (const char* name : {"/etc/passwd", "../formats/pddl.format", "domains/formats/json.format", "pddl.format", ""}) {
    const HttpResponse response = plan(name);
    EXPECT_ERROR(response, 400, "bad_request");
    EXPECT_EQ(response.body.find("root:"), std::string::npos);
    EXPECT_NE(response.body.find("must be one of"), std::string::npos);
  }
}

TEST_F(FormatsTest, WhatIsNoFormatIsRefused) {
  const std::vector<json> wrong = {
      7,
      true,
      json::array({"pddl"}),
      json::object(),
      {{"item", 7}, {"separator", ";"}, {"close", "."}},
      {{"item", {{"press", json::object()}}}, {"separator", ";"}, {"close", "."}},
      {{"item", "{action} {arguments}"}, {"separator", json::array({7})}, {"close", "."}},
      {{"item", "{action} {arguments}"}, {"separator", json::array()}, {"close", "."}},
      {{"open", json::array({"a"})}, {"item", "{action} {arguments}"}, {"separator", ";"}, {"close", "."}},
      {{"close: \"x\"\nitem", "x"}, {"separator", ";"}},
      {{"load", "/etc/passwd"}, {"item", "{action} {arguments}"}, {"separator", ";"}, {"close", "."}},
      {{"item", {{"fly", "x"}, {"*", "{action} {arguments}"}}}, {"separator", ";"}, {"close", "."}},
      "item: \"x\"",
      "\"",
      std::string(1000, '"'),
  };
  for (const json& format : wrong) {
    const HttpResponse response = plan(format);
    EXPECT_EQ(response.status, 400) << format << response.body;
  }
  expect_healthy();
}

// A few kilobytes that ask for gigabytes.
TEST_F(FormatsTest, WhatItMayCostIsBounded) {
  EXPECT_ERROR(plan("close: \".\" # " + std::string(20'000, 'x')), 400, "bad_request");
  json many = {{"item", "{action} {arguments}"}, {"close", "."}, {"separator", json::array()}};
  for (int i = 0; i < 9; ++i) many["separator"].push_back(";" + std::to_string(i));
  EXPECT_ERROR(plan(many), 400, "bad_request");
  std::string often;
  for (int i = 0; i < 1000; ++i) often += "{object}";
  std::string arguments;
  for (int i = 0; i < 300; ++i) arguments += "{arguments}";
  json body = {{"domain", kDomain}, {"problem", problem("(lit a)")}, {"guidance", "search"}};
  body["format"] = {{"item", arguments}, {"argument", often}, {"separator", ";"}, {"close", "."}};
  const std::string long_name(1000, 'n');
  body["problem"] =
      "(define (problem p) (:domain lamps) (:objects a " + long_name + " - lamp) (:init (power)) (:goal (lit a)))";
  EXPECT_ERROR(post("/v1/plans", body), 422, "task_too_large");
  // The same over many actions.
  std::string objects;
  for (int i = 0; i < 200; ++i) objects += " o" + std::to_string(i);
  body["domain"] = "(define (domain d) (:predicates (b ?x ?y)) (:action go :parameters (?x ?y) :effect (b ?x ?y)))";
  body["problem"] = "(define (problem p) (:domain d) (:objects" + objects + ") (:init) (:goal (b o1 o2)))";
  body["format"] = {{"item", "{action} {arguments}" + std::string(10'000, '.')}, {"separator", ";"}, {"close", "!"}};
  EXPECT_ERROR(post("/v1/plans", body), 422, "task_too_large");
  body["format"] = {{"item", "{action} {arguments}"}, {"separator", ";"}, {"close", "!"}};
  EXPECT_EQ(post("/v1/plans", body).json()["outcome"], "plan");
  expect_healthy();
}

// Two formats of one name have a constraint each.
TEST_F(FormatsTest, TheCacheTellsThemApart) {
  json format = {{"item", "{action} {arguments}"}, {"separator", ";"}, {"close", "."}};
  const std::string first = plan(format).json()["text"];
  format["close"] = "!";
  const std::string second = plan(format).json()["text"];
  EXPECT_TRUE(first.ends_with("."));
  EXPECT_TRUE(second.ends_with("!"));
  EXPECT_EQ(plan(format).json()["cached"], true);
}

}  // namespace
}  // namespace metactrl::serve::service_formats_test
