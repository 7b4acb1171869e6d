// What cannot be called is found before anything is decoded: for every action name of the task a function is looked up,
// without regard to case, and its parameters are counted. So a plan never stops for want of a function.
#include "serve/tools.h"

#include <random>
#include <string_view>
#include <utility>

#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl::serve {

using internal::str_cat;

std::string make_id(const char* prefix) {
  static thread_local std::mt19937_64 random(std::random_device{}());
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string id = prefix;
  for (int i = 0; i < 24; ++i) id += kLetters[random() % kLetters.size()];
  return id;
}

Tools::Tools(const Json& tools) {
  const auto refuse = [](const std::string& where, const char* message) {
    throw ApiError(400, "bad_request", str_cat("'", where, "' ", message), where);
  };
  if (!tools.is_array()) refuse("tools", "must be a list of functions");
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string where = str_cat("tools[", i, "]");
    const Json& tool = tools[i];
    const bool is_function = tool.is_object() && tool["type"] == "function" && tool["function"].is_object();
    if (!is_function) refuse(where, "must be {\"type\": \"function\", \"function\": {...}}");
    const Json& declared = tool["function"];
    const Json& name = declared["name"];
    if (!name.is_string()) refuse(where + ".function.name", "must be text");
    Function function;
    function.name = name.text();
    const Json& parameters = declared["parameters"];
    if (!parameters.is_null() && !parameters.is_object()) refuse(where + ".function.parameters", "must be an object");
    const Json properties = parameters.is_object() ? parameters["properties"] : Json();
    if (!properties.is_null() && !properties.is_object()) {
      refuse(where + ".function.parameters.properties", "must be an object");
    }
    if (properties.is_object()) {
      for (const auto& [parameter, type] : properties.members()) function.parameters.push_back(parameter);
    }
    functions_[internal::lower_case(function.name)] = std::move(function);
  }
}

void Tools::check(const Task& task) const {
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) {
    const std::string& action = task.action_name(ActionNameId{i});
    const auto found = functions_.find(internal::lower_case(action));
    if (found == functions_.end()) {
      throw ApiError(400, "bad_request",
                     str_cat("the domain has an action '", action, "', and 'tools' has no function of that name"),
                     "tools");
    }
    const std::size_t arity = task.arity(ActionNameId{i});
    if (found->second.parameters.size() != arity) {
      throw ApiError(400, "bad_request",
                     str_cat("the action '", action, "' has ", arity, " parameters, and the function of that name has ",
                             found->second.parameters.size()),
                     "tools");
    }
  }
}

Json Tools::calls(const Json& plan, std::size_t count) const {
  Json out = Json::array();
  for (const Json& step : plan.list()) {
    if (out.size() == count) break;
    const Function& function = functions_.at(internal::lower_case(step["action"].text()));
    Json arguments = Json::object();
    for (std::size_t i = 0; i < function.parameters.size(); ++i)
      arguments[function.parameters[i]] = step["arguments"][i];
    out.push_back({{"id", make_id("call_")},
                   {"type", "function"},
                   {"function", {{"name", function.name}, {"arguments", dump(arguments)}}}});
  }
  return out;
}

PlanStep Tools::step(const std::string& name, const std::string& arguments, const std::string& where) const {
  const auto refuse = [&where](const char* message) {
    throw ApiError(400, "bad_request", str_cat("'", where, "' ", message), where);
  };
  const auto found = functions_.find(internal::lower_case(name));
  if (found == functions_.end()) refuse("calls a function that 'tools' does not have");
  Json given;
  try {
    given = parse_body(arguments.empty() ? "{}" : arguments);
  } catch (const ApiError&) {
    refuse("has arguments that are no JSON object");
  }
  PlanStep step;
  step.action = found->first;
  for (const std::string& parameter : found->second.parameters) {
    const Json& value = given[parameter];
    if (!value.is_string()) refuse("has not the text arguments that its function declares");
    step.arguments.push_back(internal::lower_case(value.text()));
  }
  return step;
}

}  // namespace metactrl::serve
