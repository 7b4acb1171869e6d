#include "serve/api_error.h"

namespace metactrl::serve {

const char* error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

Json error_json(const ApiError& error) {
  Json out{{"message", error.what()},
           {"type", error_type(error.status())},
           {"param", error.param().empty() ? Json(nullptr) : Json(error.param())},
           {"code", error.code()}};
  out.update(error.details());
  return {{"error", std::move(out)}};
}

}  // namespace metactrl::serve
