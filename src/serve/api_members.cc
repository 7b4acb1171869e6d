#include "serve/api_members.h"

#include <algorithm>

#include "decode/names.h"
#include "serve/api_error.h"
#include "serve/own_format.h"
#include "serve/shipped_tasks.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

void in_range(Json& schema, Json low, Json high) {
  schema["minimum"] = std::move(low);
  schema["maximum"] = std::move(high);
}

template <typename Enum>
void one_of(Json& schema, std::optional<Enum> except = {}) {
  Json names = Json::array();
  for (const auto& one : enum_names(Enum{})) {
    if (one.value != except) names.push_back(one.name);
  }
  schema["enum"] = std::move(names);
}

void name_domains(const RequestLimits& /*limits*/, Json& schema) {
  std::vector<std::string> names;
  for (const ShippedDomain& domain : shipped_domains()) {
    if (!domain.problems.empty()) names.push_back(domain.name);
  }
  schema["description"] = str_cat(schema["description"].text(), ": ", internal::join(names, ", "));
}

constexpr ApiMember kTask[] = {
    {"domain", "string", "PDDL text of the domain, or the name of one that ships", true, name_domains},
    {"problem", "string", "PDDL text of the problem, or the name of one that ships with the domain", true},
    {"goal", "string", "a goal in PDDL, like (and (p a) (not (q b))), instead of the problem's own"},
};

constexpr ApiMember kPlanOptions[] = {
    {"instruction", "string",
     "in words: said to the model in front of the task; where the problem states no goal, the model writes one from "
     "it"},
    {"yes", "boolean", "plan for the likeliest goal that the model writes; otherwise the goal is the answer"},
    {"hypotheses", "integer", "goals to choose from, where the model writes one", false,
     [](const RequestLimits&, Json& schema) { in_range(schema, 1, kMaxHypotheses); }},
    {"guidance", "string", "what the model is held to; plans are guaranteed from mask up, and search asks no model",
     false,
     [](const RequestLimits& limits, Json& schema) {
       one_of<Guidance>(schema, limits.trained ? std::optional<Guidance>() : Guidance::kTrained);
     }},
    {"format", "", "how the plan is written", false,
     [](const RequestLimits&, Json& schema) {
       const Json named{{"type", "string"}, {"enum", PlanFormat::builtin_names()}};
       const Json text{{"type", "string"},
                       {"maxLength", kMaxFormatBytes},
                       {"description", "the declaration of a format of one's own"}};
       const Json object{{"type", "object"}, {"description", "the same, its keys as members"}};
       schema["anyOf"] = Json::array({named, text, object});
     }},
    {"horizon", "integer", "at most so many actions; without it, the best known plan and slack", false,
     [](const RequestLimits& limits, Json& schema) { in_range(schema, 0, limits.horizon); }},
    {"slack", "integer", "actions beyond the best known plan that the model may use", false,
     [](const RequestLimits& limits, Json& schema) { in_range(schema, 0, limits.horizon); }},
    {"idle_steps", "boolean", "allow actions that change nothing"},
    {"no_detours", "boolean", "never come back to a state that the plan has passed"},
    {"prefer", "string", "model, short or cheap; the last two also with a weight, like cheap:0.5"},
    {"simplify", "boolean", "leave out the steps that the plan does not need, once it is written"},
    {"on_infeasible", "string", "what to do when not all goals can be reached together", false,
     [](const RequestLimits&, Json& schema) { one_of<PlanOptions::OnInfeasible>(schema); }},
    {"decode", "string", "how tokens are chosen", false,
     [](const RequestLimits&, Json& schema) { one_of<DecodeMode>(schema); }},
    {"temperature", "number", "above 0 alone it means decode sample", false,
     [](const RequestLimits&, Json& schema) { in_range(schema, 0, 1000); }},
    {"top_p", "number", "sample among the likeliest tokens that have this much probability together", false,
     [](const RequestLimits&, Json& schema) { in_range(schema, 1e-6, 1); }},
    {"top_k", "integer", "sample among so many of the likeliest tokens; 0: all", false,
     [](const RequestLimits&, Json& schema) { schema["minimum"] = 0; }},
    {"min_p", "number", "sample among tokens with this share of the likeliest one's probability", false,
     [](const RequestLimits&, Json& schema) { in_range(schema, 0, 1); }},
    {"frequency_penalty", "number", "taken from a token's logit for each time that it was written", false,
     [](const RequestLimits&, Json& schema) { in_range(schema, -2, 2); }},
    {"presence_penalty", "number", "taken from a token's logit once it was written", false,
     [](const RequestLimits&, Json& schema) { in_range(schema, -2, 2); }},
    {"logit_bias", "object", "added to the logits of tokens, by their ids: {\"50256\": -100}", false,
     [](const RequestLimits&, Json& schema) {
       schema["additionalProperties"] = {{"type", "number"}, {"minimum", -100}, {"maximum", 100}};
     }},
    {"seed", "integer", "for sampling", false, [](const RequestLimits&, Json& schema) { schema["minimum"] = 0; }},
    {"beam", "integer", "plans that are kept side by side, with decode beam", false,
     [](const RequestLimits& limits, Json& schema) { in_range(schema, 1, limits.beam); }},
    {"samples", "integer", "plans that are sampled side by side, with decode smc", false,
     [](const RequestLimits& limits, Json& schema) { in_range(schema, 1, limits.samples); }},
    {"bridge", "string", "how the weight of an action becomes that of its tokens", false,
     [](const RequestLimits&, Json& schema) { one_of<Bridge>(schema, Bridge::kHmm); }},
    {"tokens", "string", "whether only the tokenizer's own tokens may spell an action", false,
     [](const RequestLimits&, Json& schema) { one_of<Tokenization>(schema); }},
    {"think", "", "auto, on or off, or how many tokens a model that thinks first may take for it"},
    {"max_tokens", "integer", "with guidance none: where the model is cut off", false,
     [](const RequestLimits& limits, Json& schema) { in_range(schema, 1, limits.tokens); }},
    {"max_states", "integer", "states to look at", false,
     [](const RequestLimits& limits, Json& schema) { in_range(schema, 1, limits.states); }},
    {"time_limit", "number", "seconds; when they are over there is no plan", false,
     [](const RequestLimits& limits, Json& schema) { in_range(schema, 0.001, limits.seconds); }},
    {"trace", "boolean", "also tell what the model wanted instead, and why it did not get it"},
    {"certificate", "boolean", "also hand out a proof of the plan, or that there is none; not in chats"},
};

constexpr ApiMember kSteps = {
    "plan", "", "text with one (action argument ...) a line, a list of such texts, or a list of {action, arguments}",
    true, [](const RequestLimits&, Json& schema) {
      const Json text{{"type", "string"}};
      Json step{{"type", "object"},
                {"properties", {{"action", text}, {"arguments", {{"type", "array"}, {"items", text}}}}},
                {"required", Json::array({"action"})},
                {"additionalProperties", false}};
      Json items{{"anyOf", Json::array({text, std::move(step)})}};
      schema["anyOf"] = Json::array({text, {{"type", "array"}, {"items", std::move(items)}}});
    }};

}  // namespace

std::span<const ApiMember> task_members() { return kTask; }
std::span<const ApiMember> plan_option_members() { return kPlanOptions; }
const ApiMember& steps_member() { return kSteps; }
std::vector<ApiMember> goal_option_members() {
  std::vector<ApiMember> out = selected(
      kPlanOptions, {"instruction", "hypotheses", "guidance", "horizon", "think", "seed", "max_states", "time_limit"});
  out.front().required = true;
  return out;
}

Json member_schema(const ApiMember& member, const RequestLimits& limits) {
  Json schema = Json::object();
  if (*member.type != '\0') schema["type"] = member.type;
  schema["description"] = member.description;
  if (member.refine != nullptr) member.refine(limits, schema);
  return schema;
}

Json object_schema(std::span<const ApiMember> members, const RequestLimits& limits) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ApiMember& member : members) {
    properties[member.name] = member_schema(member, limits);
    if (member.required) required.push_back(member.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

std::vector<ApiMember> joined(std::initializer_list<std::span<const ApiMember>> tables) {
  std::vector<ApiMember> out;
  for (const std::span<const ApiMember> table : tables) out.insert(out.end(), table.begin(), table.end());
  return out;
}

std::vector<ApiMember> selected(std::span<const ApiMember> table, std::initializer_list<std::string_view> names) {
  std::vector<ApiMember> out;
  std::copy_if(table.begin(), table.end(), std::back_inserter(out), [&](const ApiMember& member) {
    return std::find(names.begin(), names.end(), member.name) != names.end();
  });
  return out;
}

void refuse_unlisted(const Json& object, const std::vector<ApiMember>& members) {
  for (const auto& [name, value] : object.members()) {
    const bool known = std::any_of(members.begin(), members.end(),
                                   [&name = name](const ApiMember& member) { return name == member.name; });
    if (known) continue;
    std::vector<std::string> names;
    for (const ApiMember& member : members) names.emplace_back(member.name);
    const std::string shown = name.size() <= 80 ? name : name.substr(0, 80) + "...";
    const std::string guess = name.size() <= 80 ? internal::did_you_mean(name, names) : "";
    throw ApiError(400, "bad_request", str_cat("'", shown, "' is not known", guess.empty() ? "" : "; " + guess), shown);
  }
}

}  // namespace metactrl::serve
