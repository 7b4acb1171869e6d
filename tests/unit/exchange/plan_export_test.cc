// Plans as lines and as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exchange/names.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/exchange/export.h"
#include "support/json_text.h"

namespace metactrl::plan_export_test {
namespace {

using Json = nlohmann::json;

constexpr const char* kDomain = R"((define (domain kitchen)
  (:requirements :adl :derived-predicates :action-costs)
  (:predicates (open ?x) (in ?x ?y) (held ?x) (free) (hidden ?x) (wet ?x) (box ?x))
  (:functions (total-cost) - number)
  (:derived (hidden ?x) (exists (?y) (and (in ?x ?y) (not (open ?y)))))
  (:action toggle :parameters (?x) :precondition (and (box ?x) (free))
    :effect (and (when (open ?x) (not (open ?x))) (when (not (open ?x)) (open ?x)) (increase (total-cost) 2.5)))
  (:action take :parameters (?x ?from) :precondition (and (free) (in ?x ?from) (not (hidden ?x)))
    :effect (and (held ?x) (not (in ?x ?from)) (not (free)) (increase (total-cost) 1)))))";
constexpr const char* kProblem = R"((define (problem fetch) (:domain kitchen) (:objects cup box)
  (:init (free) (box box) (in cup box) (= (total-cost) 0)) (:goal (and (held cup) (open box)))
  (:metric minimize (total-cost))))";

Task task() { return load_pddl_text(kDomain, kProblem); }
const std::vector<PlanStep> kPlan = {{"toggle", {"box"}}, {"take", {"cup", "box"}}};

TEST(PlanLines, Pddl) {
  EXPECT_EQ(pddl_plan(task(), kPlan), "(toggle box)\n(take cup box)\n; cost = 3.5\n");
  EXPECT_EQ(parse_plan(pddl_plan(task(), kPlan), "plan"), kPlan);
}

TEST(PlanLines, PlanSys2) {
  EXPECT_EQ(plansys2_plan(kPlan), "0.000: (toggle box) [1.000]\n1.000: (take cup box) [1.000]\n");
  EXPECT_EQ(plansys2_plan(kPlan, 2.5), "0.000: (toggle box) [2.500]\n2.500: (take cup box) [2.500]\n");
  EXPECT_EQ(plansys2_plan(std::span<const PlanStep>()), "");
  EXPECT_EQ(parse_plan(plansys2_plan(kPlan, 0.25), "plan"), kPlan);
}

TEST(PlanJson, HasEveryStep) {
  const Json json = Json::parse(plan_json(task(), kPlan));
  EXPECT_EQ(json["task"], "fetch");
  EXPECT_EQ(json["valid"], true);
  EXPECT_EQ(json["reason"], "");
  EXPECT_EQ(json["steps_executed"], 2);
  EXPECT_EQ(json["cost"], 3.5);
  EXPECT_EQ(json["initial"], Json::parse(R"j(["(free)", "(box box)", "(in cup box)"])j"));
  ASSERT_EQ(json["steps"].size(), 2U);
  const Json& first = json["steps"][0];
  EXPECT_EQ(first["index"], 1);
  EXPECT_EQ(first["text"], "(toggle box)");
  EXPECT_EQ(first["action"], "toggle");
  EXPECT_EQ(first["arguments"], Json::parse(R"j(["box"])j"));
  EXPECT_EQ(first["parameters"], Json::parse(R"j(["x"])j"));
  EXPECT_EQ(first["legal"], true);
  EXPECT_EQ(first["preconditions"], Json::parse(R"j(["(free)"])j"));  // (box box) never changes
  EXPECT_EQ(first["effects"], Json::parse(R"j({"add": ["(open box)"], "delete": []})j"));
  EXPECT_EQ(first["changes"], Json::parse(R"j({"true": ["(open box)"], "false": ["(hidden cup)"]})j"));
  const Json& second = json["steps"][1];
  EXPECT_EQ(second["parameters"], Json::parse(R"j(["x", "from"])j"));
  EXPECT_EQ(second["effects"]["add"], Json::parse(R"j(["(held cup)"])j"));
  EXPECT_EQ(json["goals"],
            Json::parse(R"j([{"text": "(held cup)", "met": true}, {"text": "(open box)", "met": true}])j"));
}

TEST(PlanJson, SaysWhereAPlanFails) {
  const std::vector<PlanStep> plan = {{"take", {"cup", "box"}}, {"fly", {"\"away\""}}, {"toggle", {"box"}}};
  const Json json = Json::parse(plan_json(task(), plan));
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["steps_executed"], 0);
  EXPECT_EQ(json["steps"][0]["legal"], false);
  EXPECT_EQ(json["steps"][0]["problem"], "precondition (not (hidden cup)) is false");
  EXPECT_EQ(json["steps"][1]["preconditions"], nullptr);
  EXPECT_FALSE(json["steps"][1].contains("problem"));
  // Behind the first mistake nothing is known about conditions.
  EXPECT_EQ(json["steps"][2]["effects"], Json::parse(R"j({"add": [], "delete": []})j"));
  EXPECT_EQ(json["steps"][2]["changes"], Json::parse(R"j({"true": [], "false": []})j"));
  EXPECT_EQ(json["goals"][0]["met"], false);
}

TEST(PlanJson, AnEmptyPlan) {
  const Json json = Json::parse(plan_json(task(), {}));
  EXPECT_EQ(json["steps"], Json::array());
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["goals"].size(), 2U);
}

TEST(ExchangeNames, TextForXmlAndJson) {
  EXPECT_EQ(exchange::xml_text("a<b>&\"c'\t"), "a&lt;b&gt;&amp;&quot;c&apos;&#9;");
  EXPECT_EQ(exchange::xml_text("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  for (const char* bad : {"\x01", "a\x7f", "\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"}) {
    EXPECT_THROW(exchange::xml_text(bad), InputError) << bad;
  }
  EXPECT_EQ(internal::json_text("a\"b\\c\n\x01\xff"), "\"a\\\"b\\\\c\\n\\u0001\xef\xbf\xbd\"");
  EXPECT_EQ(Json::parse(internal::json_text("a\"b\\c\n\x01 \xc3\xbc")), "a\"b\\c\n\x01 \xc3\xbc");
}

TEST(ExchangeNames, NumbersReadBack) {
  for (const double value : {0.0, 1.0, 7.0, 2.5, 0.1, 1e-7, 123456789.0, 1e300}) {
    EXPECT_EQ(std::stod(internal::number_text(value)), value) << internal::number_text(value);
  }
  EXPECT_EQ(internal::number_text(7), "7");
  EXPECT_EQ(internal::number_text(2.5), "2.5");
}

TEST(ExchangeNames, NamesForEverybody) {
  EXPECT_EQ(exchange::pddl_name("pick-up_2", "a-"), "pick-up_2");
  EXPECT_EQ(exchange::pddl_name("2go", "a-"), "a-2go");
  EXPECT_EQ(exchange::pddl_name("a.b/c", "a-"), "a_b_c");
  EXPECT_EQ(exchange::pddl_name("and", "p-"), "p-and");
  EXPECT_EQ(exchange::class_name("pick-up"), "PickUp");
  EXPECT_EQ(exchange::class_name("2go"), "Do2Go");
  EXPECT_EQ(exchange::class_name("fallback"), "FallbackAction");
  EXPECT_EQ(exchange::class_name("??"), "Do");
  EXPECT_EQ(exchange::port_name("?from-room"), "from_room");
  EXPECT_EQ(exchange::port_name("?name"), "name_");
  EXPECT_EQ(exchange::port_name("?1"), "p1");
  exchange::UniqueNames names("-");
  EXPECT_EQ(names.make("a"), "a");
  EXPECT_EQ(names.make("a"), "a-2");
  EXPECT_EQ(names.make("a"), "a-3");
}

}  // namespace
}  // namespace metactrl::plan_export_test
