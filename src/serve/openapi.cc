#include "serve/openapi.h"

#include <string_view>
#include <utility>

#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

constexpr const char* kModelDescription = "the id of one of /v1/models; the first one if not given";

void describe_messages(const RequestLimits& /*limits*/, Json& schema) {
  const Json text{{"type", "string"}};
  Json properties{
      {"role", {{"type", "string"}, {"enum", Json::array({"system", "developer", "user", "assistant", "tool"})}}},
      {"content", {{"description", "text, or parts of type text"}}},
      {"tool_calls", {{"type", "array"}, {"items", {{"type", "object"}}}}},
      {"tool_call_id", text}};
  schema["items"] = {{"type", "object"}, {"properties", std::move(properties)}, {"required", Json::array({"role"})}};
}

void describe_plan(const RequestLimits& limits, Json& schema) {
  const ApiMember prompt{"prompt", "string",
                         "task: a prompt made from the task; messages: those of the request, as they are", false,
                         [](const RequestLimits&, Json& inner) {
                           inner["enum"] = Json::array({"task", "messages"});
                         }};
  schema.update(object_schema(joined({task_members(), plan_option_members(), {&prompt, 1}}), limits));
}

constexpr ApiMember kModelMember{"model", "string", kModelDescription};
constexpr ApiMember kStreamMember{"stream", "boolean", "answer with server-sent events"};

// What both kinds of completions have.
constexpr ApiMember kShared[] = {
    kModelMember,
    {"plan", "object", "the task of a guaranteed plan; without it the model writes text", false, describe_plan},
    {"max_tokens", "integer", "longest text", false,
     [](const RequestLimits& limits, Json& schema) {
       schema["minimum"] = 1;
       schema["maximum"] = limits.tokens;
     }},
    {"max_completion_tokens", "integer", "the same, by its newer name"},
    {"temperature", "number", "0: the best token, always"},
    {"top_p", "number", "sample among the likeliest tokens that have this much probability together"},
    {"seed", "integer", "equal seeds give equal samples"},
    {"stop", "", "a text, or up to four, that ends the answer; not for plans"},
    kStreamMember,
    {"stream_options", "object", "include_usage: a last chunk with the number of tokens"},
    {"n", "integer", "choices, each with a seed of its own", false,
     [](const RequestLimits& limits, Json& schema) {
       schema["minimum"] = 1;
       schema["maximum"] = limits.samples;
     }},
    {"logprobs", "", "chat: true or false; completions: so many of the likeliest tokens beside each, at most 5"},
};

constexpr ApiMember kChat[] = {
    {"messages", "array", "the conversation; what tools returned is gone on from", true, describe_messages},
    {"tools", "array", "with a plan: a function for every action of the domain"},
    {"tool_choice", "string", "auto, required or none"},
    {"parallel_tool_calls", "boolean", "false: one action at a time"},
    {"top_logprobs", "integer", "with logprobs: so many of the likeliest tokens beside each; 0 for plans", false,
     [](const RequestLimits&, Json& schema) {
       schema["minimum"] = 0;
       schema["maximum"] = 20;
     }},
    {"response_format", "object", "{\"type\": \"text\"}"},
    {"reasoning_effort", "string", "none, minimal, low, medium or high: how long a model that thinks first may do so"},
    {"reasoning_budget_tokens", "integer", "the same in tokens"},
    {"thinking_budget_tokens", "integer", "the same, by another name"},
    {"thinking_token_budget", "integer", "the same, by a third one"},
    {"include_reasoning", "boolean", "whether the thought is part of the answer"},
    {"chat_template_kwargs", "object", "further arguments of the model's chat template"},
};

constexpr ApiMember kExportFormat{"format", "string", "bt: a behavior tree; plansys2: lines with times", true,
                                  [](const RequestLimits&, Json& schema) {
                                    schema["enum"] = Json::array({"bt", "plansys2"});
                                  }};

constexpr ApiMember kCompletions[] = {{"prompt", "", "a text, sent as it is", true}};

constexpr ApiMember kResponses[] = {
    {"input", "", "a text, or a list of messages, function_call and function_call_output items", true},
    {"instructions", "string", "what the system says"},
    {"max_output_tokens", "integer", "longest text"},
};

Json json_content(Json schema) { return {{"application/json", {{"schema", std::move(schema)}}}}; }

Json operation(const ApiRoute& route, const RequestLimits& limits) {
  Json out{{"summary", route.summary}};
  if (std::string_view(route.path).ends_with('/')) {
    out["parameters"] =
        Json::array({{{"name", "id"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
  }
  if (route.members != nullptr) {
    out["requestBody"] = {{"required", true}, {"content", json_content(object_schema(route.members(), limits))}};
  } else if (std::string_view(route.method) == "POST") {
    out["requestBody"] = {{"required", true}, {"content", json_content({{"type", "object"}})}};
  }
  out["responses"] = {
      {"200", {{"description", "the answer"}}},
      {"default",
       {{"description", "what went wrong"}, {"content", json_content({{"$ref", "#/components/schemas/Error"}})}}}};
  out["security"] = Json::array();
  if (route.needs_key) out["security"] = Json::array({{{"key", Json::array()}}, Json::object()});
  return out;
}

}  // namespace

std::vector<ApiMember> plans_members() {
  return joined({task_members(), {&kModelMember, 1}, plan_option_members(), {&kStreamMember, 1}});
}
std::vector<ApiMember> goals_members() {
  return joined({selected(task_members(), {"domain", "problem"}), {&kModelMember, 1}, goal_option_members()});
}
std::vector<ApiMember> validate_members() { return joined({task_members(), {&steps_member(), 1}}); }
// The settings of a plan object that count for texts, too.
std::vector<ApiMember> sampling_members() {
  return selected(plan_option_members(), {"top_k", "min_p", "frequency_penalty", "presence_penalty", "logit_bias"});
}
std::vector<ApiMember> chat_members() { return joined({kChat, kShared, sampling_members()}); }
std::vector<ApiMember> check_members() { return joined({task_members()}); }
std::vector<ApiMember> export_members() { return joined({task_members(), {&steps_member(), 1}, {&kExportFormat, 1}}); }
std::vector<ApiMember> responses_members() {
  return joined({kResponses, selected(kChat, {"tools", "tool_choice", "parallel_tool_calls"}),
                 selected(kShared, {"model", "plan", "temperature", "top_p", "seed", "stream"})});
}
std::vector<ApiMember> completions_members() { return joined({kCompletions, kShared, sampling_members()}); }

Json openapi_json(const std::vector<ApiRoute>& routes, const RequestLimits& limits, const std::string& version) {
  Json paths = Json::object();
  for (const ApiRoute& route : routes) {
    const std::string path = str_cat(route.path, std::string_view(route.path).ends_with('/') ? "{id}" : "");
    if (!paths.contains(path)) paths[path] = Json::object();
    paths[path][internal::lower_case(route.method)] = operation(route, limits);
  }
  const Json text{{"type", "string"}};
  const Json maybe{{"type", Json::array({"string", "null"})}};
  Json error{{"type", "object"},
             {"properties", {{"message", text}, {"type", text}, {"param", maybe}, {"code", text}}},
             {"required", Json::array({"message", "type", "param", "code"})}};
  Json schemas{
      {"Error",
       {{"type", "object"}, {"properties", {{"error", std::move(error)}}}, {"required", Json::array({"error"})}}}};
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Meta-Ctrl"},
        {"version", version},
        {"description",
         "Plans that are guaranteed, over HTTP. docs/serve.md has examples and the events of streams."}}},
      {"paths", std::move(paths)},
      {"components",
       {{"schemas", std::move(schemas)}, {"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace metactrl::serve
