// The service, described for tools that read OpenAPI 3.1: made from the table of routes that requests are answered by,
// and from the tables of members (api_members.h) that the handlers read.
#ifndef METACTRL_SRC_SERVE_OPENAPI_H_
#define METACTRL_SRC_SERVE_OPENAPI_H_

#include <string>
#include <vector>

#include "serve/api_members.h"
#include "serve/json.h"
#include "serve/plan_request.h"

namespace metactrl::serve {

// What is said of a route.
struct ApiRoute {
  const char* method;
  const char* path;  // with a slash at the end: and whatever follows
  const char* summary;
  bool needs_key;
  std::vector<ApiMember> (*members)() = nullptr;  // of the request's body; null: it has none, or is no plain object
};

std::vector<ApiMember> plans_members();
std::vector<ApiMember> goals_members();
std::vector<ApiMember> validate_members();
std::vector<ApiMember> check_members();
std::vector<ApiMember> export_members();
std::vector<ApiMember> chat_members();
std::vector<ApiMember> completions_members();
std::vector<ApiMember> responses_members();

Json openapi_json(const std::vector<ApiRoute>& routes, const RequestLimits& limits, const std::string& version);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_OPENAPI_H_
