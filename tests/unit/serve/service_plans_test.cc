// Plans over HTTP: what is guaranteed, what the events say, and the examples of docs/serve.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/certificate_court.h"
#include "support/service_fixture.h"
#include "support/test_data.h"

namespace metactrl::serve::service_plans_test {
namespace {

using nlohmann::json;
using testing::HttpClient;
using testing::HttpResponse;
using testing::kDomain;
using testing::lamps;
using testing::problem;
using testing::ServiceTest;

class PlansTest : public ServiceTest {};

TEST_F(PlansTest, APlanIsGuaranteedAndSaysSo) {
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

// Whether /v1/options lists it.
bool offers_trained(const HttpResponse& options) {
  const json guidances = options.json()["guidance"];
  return std::any_of(guidances.begin(), guidances.end(), [](const json& one) { return one["name"] == "trained"; });
}

TEST_F(PlansTest, TrainedGuidance) {
  json body = lamps();
  body["guidance"] = "trained";
  const HttpResponse without = post("/v1/plans", body);
  EXPECT_ERROR(without, 400, "bad_request");
  EXPECT_EQ(without.json()["error"]["param"], "guidance");
  EXPECT_FALSE(offers_trained(get("/v1/options")));

  // Among several, the one that knows the task's actions.
  options_.hmms = {Hmm::uniform(Alphabet::meta({"walk"}, 4)),
                   Hmm::random(Alphabet::meta({"press", "release", "blow-fuse"}, 4), 3, 5)};
  start();
  EXPECT_TRUE(offers_trained(get("/v1/options")));
  const HttpResponse response = post("/v1/plans", body);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.json()["guarantee"], "full");
  EXPECT_EQ(response.json()["valid"], true);
  EXPECT_EQ(response.json()["weights"], "trained, exact");
  // The same task without it has a constraint of its own.
  body["guidance"] = "uniform";
  const json uniform = post("/v1/plans", body).json();
  EXPECT_EQ(uniform["cached"], false);
  EXPECT_EQ(uniform["weights"], "uniform, exact");
  body["guidance"] = "trained";
  const json again = post("/v1/plans", body).json();
  EXPECT_EQ(again["cached"], true);
  EXPECT_EQ(again["weights"], "trained, exact");
  EXPECT_ERROR(post("/v1/plans", {{"domain", "tabletop"}, {"problem", "dishwasher"}, {"guidance", "trained"}}), 400,
               "bad_request");
}

TEST_F(PlansTest, ShippedNames) {
  const HttpResponse response =
      post("/v1/plans", {{"domain", "tabletop"}, {"problem", "dishwasher"}, {"model", "other"}, {"trace", true}});
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.json()["guarantee"], "full");
  EXPECT_EQ(response.json()["trace"][0]["problem"], "dishwasher");
  EXPECT_EQ(response.json()["trace"][0]["model"], "other");
}

TEST_F(PlansTest, HandsOutProofs) {
  testing::Court court;
  for (const char* goal : {"(lit a)", "(and (lit a) (lit c))"}) {
    json body = lamps(goal);
    EXPECT_FALSE(post("/v1/plans", body).json().contains("certificate"));
    body["certificate"] = true;
    const json answer = post("/v1/plans", body).json();
    ASSERT_TRUE(answer["certificate"].is_object()) << answer;
    const testing::PddlText text{body["domain"], body["problem"]};
    court.add(text, answer["certificate"].dump(), true, goal);
    json forged = answer["certificate"];
    forged["claim"] = forged["claim"] == "plan" ? "infeasible" : "plan";
    court.add(text, forged.dump(), false, "forged");
  }
  court.judge();
  json body = lamps("(lit a)");
  body["certificate"] = true;
  body["guidance"] = "none";
  const json free = post("/v1/plans", body).json();
  EXPECT_TRUE(free["certificate"].is_null());
  EXPECT_EQ(free["no_certificate"], "there is nothing to prove");
}

TEST_F(PlansTest, NoPlanIsAnAnswer) {
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
        EXPECT_NE(std::find(facts.begin(), facts.end(), start["goals"][goal.get<std::size_t>()].get<std::string>()),
                  facts.end());
      }
      EXPECT_EQ(event["wanted"].is_null(), !traced);
      EXPECT_EQ(event["candidates"].is_null(), !traced);
      if (traced) {
        EXPECT_EQ(event["wanted"]["allowed"].get<bool>(), event["wanted"]["why_not"].get<std::string>().empty());
        EXPECT_EQ(event["candidates"]["legal"].get<int>() + event["candidates"]["illegal"].get<int>(), 5);
      }
    }
  }
  EXPECT_EQ(text, end["text"].get<std::string>());
  EXPECT_EQ(tokens, end["tokens"]);
  EXPECT_EQ(actions, end["plan"].size());
}

TEST_F(PlansTest, EventsTellWhatHappens) {
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

TEST_F(PlansTest, EventsOfEveryWayToDecode) {
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

TEST_F(PlansTest, WithoutTheConstraintItFailsInSight) {
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

TEST_F(PlansTest, ValidateNamesTheMistake) {
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

TEST_F(PlansTest, ManyAtOnce) {
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
TEST_F(PlansTest, TheDocumentedExamplesWork) {
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
  EXPECT_EQ(examples, 11);
}

}  // namespace
}  // namespace metactrl::serve::service_plans_test
