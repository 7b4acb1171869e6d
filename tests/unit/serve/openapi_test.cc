// What the service says of itself is what it does.
#include "serve/openapi.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "support/service_fixture.h"

namespace metactrl::serve::openapi_test {
namespace {

using nlohmann::json;
using testing::HttpClient;
using testing::HttpResponse;
using testing::kDomain;
using testing::lamps;
using testing::problem;
using testing::ServiceTest;

class OpenApiTest : public ServiceTest {};

// The table has what read_plan and read_steps read, and nothing else.
TEST(OpenApi, TheTablesAreWhatIsRead) {
  std::set<std::string> listed;
  for (const ApiMember& member : joined({task_members(), plan_option_members()})) listed.insert(member.name);
  const Json body{{"domain", kDomain}, {"problem", problem("(lit a)")}};
  Fields fields(body, "");
  read_plan(fields, RequestLimits{}, false);
  EXPECT_EQ(std::set<std::string>(fields.names().begin(), fields.names().end()), listed);
}

TEST_F(OpenApiTest, EveryPathIsThereAndNoOther) {
  const json description = get("/openapi.json").json();
  EXPECT_EQ(description["openapi"], "3.1.0");
  EXPECT_EQ(description["info"]["version"], "test");
  std::size_t operations = 0;
  for (const auto& [path, methods] : description["paths"].items()) {
    std::string real = path;
    if (const std::size_t id = real.find("{id}"); id != std::string::npos) real.replace(id, 4, "other");
    for (const auto& [method, operation] : methods.items()) {
      ++operations;
      EXPECT_FALSE(operation["summary"].get<std::string>().empty()) << path;
      const HttpResponse response = method == "get" ? get(real) : post(real, json{{"nothing_that_anybody_knows", 1}});
      EXPECT_EQ(response.status, method == "get" ? 200 : 400) << path;
      EXPECT_EQ(method == "get" ? post(real, json::object()).status : get(real).status, 405) << path;
    }
  }
  EXPECT_EQ(operations, 16U);
}

// Every member that is described is read: what it cannot be is refused by its name. What is not described is refused.
TEST_F(OpenApiTest, EveryMemberIsRead) {
  const json description = get("/openapi.json").json();
  const json chat = {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"max_tokens", 1}};
  const std::map<std::string, json> right = {
      {"/v1/plans", lamps()},
      {"/v1/goals", {{"domain", kDomain}, {"problem", problem("(and)")}, {"instruction", "light a"}}},
      {"/v1/validate", {{"domain", kDomain}, {"problem", problem("(lit a)")}, {"plan", "(press a)"}}},
      {"/v1/check", {{"domain", kDomain}, {"problem", problem("(lit a)")}}},
      {"/v1/export", {{"domain", kDomain}, {"problem", problem("(lit a)")}, {"plan", "(press a)"}, {"format", "bt"}}},
      {"/v1/chat/completions", chat},
      {"/v1/responses", {{"input", "x"}, {"max_output_tokens", 1}}},
      {"/v1/completions", {{"prompt", "x"}, {"max_tokens", 1}}}};
  const auto expect_read = [&](const std::string& path, const json& body, const std::string& param) {
    const HttpResponse refused = post(path, body);
    ASSERT_GE(refused.status, 400) << path << ' ' << param;
    EXPECT_TRUE(refused.json()["error"]["param"].is_string() &&
                refused.json()["error"]["param"].get<std::string>().starts_with(param))
        << path << ' ' << param << ": " << refused.body;
  };
  for (const auto& [path, body] : right) {
    EXPECT_EQ(post(path, body).status, 200) << path;
    const json& schema = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"];
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const auto& [name, member] : schema["properties"].items()) {
      json wrong = body;
      const bool object = name == "messages" || name == "plan" || name == "chat_template_kwargs";
      wrong[name] = object ? json(7) : json{{"wrong", 1}};
      // Those of tools count where there are some.
      if (name == "tool_choice" || name == "parallel_tool_calls") {
        wrong["plan"] = lamps();
        const json press = {{"name", "press"}};
        json tool = path == "/v1/responses" ? press : json{{"function", press}};
        tool["type"] = "function";
        wrong["tools"] = json::array({tool});
      }
      expect_read(path, wrong, name);
    }
    for (const json& name : schema["required"]) {
      json less = body;
      less.erase(name.get<std::string>());
      expect_read(path, less, name);
    }
    json more = body;
    more["zzz"] = 1;
    expect_read(path, more, "zzz");
  }
  // A chat's plan object, likewise.
  const json& plan = description["paths"]["/v1/chat/completions"]["post"]["requestBody"]["content"]["application/json"]
                                ["schema"]["properties"]["plan"]["properties"];
  for (const auto& [name, member] : plan.items()) {
    json wrong = chat;
    wrong["plan"] = lamps();
    // An empty object biases nothing, and that is in order.
    wrong["plan"][name] = name == "logit_bias" ? json(7) : json::object();
    expect_read("/v1/chat/completions", wrong, "plan." + name);
  }
}

TEST_F(OpenApiTest, NeedsTheKey) {
  options_.api_key = "sesame";
  start();
  EXPECT_ERROR(get("/openapi.json"), 401, "invalid_api_key");
}

}  // namespace
}  // namespace metactrl::serve::openapi_test
