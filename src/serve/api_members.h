// What the members of requests are called and what they mean: one table, from which the service describes itself to
// OpenAPI's tools and to clients of the Model Context Protocol. That it says what the handlers read is tested.
//
//     Json schema = object_schema(plan_members(), limits);
//     // {"type": "object", "properties": {"domain": {"type": "string", ...}, ...}, "required": ["domain", "problem"], ...}
#ifndef METACTRL_SRC_SERVE_API_MEMBERS_H_
#define METACTRL_SRC_SERVE_API_MEMBERS_H_

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "serve/json.h"
#include "serve/plan_request.h"

namespace metactrl::serve {

struct ApiMember {
  const char* name;
  const char* type;  // as JSON Schema has it; empty: several, and `refine` says which
  const char* description;
  bool required = false;
  // Adds what depends on the limits of the service: ranges, names to choose from.
  void (*refine)(const RequestLimits& limits, Json& schema) = nullptr;
};

// A task: "domain", "problem" and "goal".
std::span<const ApiMember> task_members();
// What read_plan reads beside the task; `prompt`, which is for chats alone, excepted.
std::span<const ApiMember> plan_option_members();
// "plan" of a request that judges one.
const ApiMember& steps_member();
// What a request for goals alone has beside its task and its model.
std::vector<ApiMember> goal_option_members();

// The schema of one member, and of an object that has these and no others.
Json member_schema(const ApiMember& member, const RequestLimits& limits);
Json object_schema(std::span<const ApiMember> members, const RequestLimits& limits);

// Several tables as one; and the members of these names, in the table's order.
std::vector<ApiMember> joined(std::initializer_list<std::span<const ApiMember>> tables);
std::vector<ApiMember> selected(std::span<const ApiMember> table, std::initializer_list<std::string_view> names);

// Throws ApiError, with the nearest name, for a member that is none of these.
void refuse_unlisted(const Json& object, const std::vector<ApiMember>& members);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_API_MEMBERS_H_
