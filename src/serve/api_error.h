// What a client did wrong, or what ran out: an HTTP status, and a body in the shape that OpenAI's clients read.
//
//     {"error": {"message": "...", "type": "invalid_request_error", "param": "plan.horizon", "code": "bad_request"}}
#ifndef METACTRL_SRC_SERVE_API_ERROR_H_
#define METACTRL_SRC_SERVE_API_ERROR_H_

#include <stdexcept>
#include <string>
#include <utility>

#include "serve/json.h"

namespace metactrl::serve {

class ApiError : public std::runtime_error {
 public:
  ApiError(int status, std::string code, const std::string& message, std::string param = {})
      : std::runtime_error(message), status_(status), code_(std::move(code)), param_(std::move(param)) {}

  int status() const { return status_; }
  const std::string& code() const { return code_; }
  const std::string& param() const { return param_; }
  // Further members of the error object.
  Json& details() { return details_; }
  const Json& details() const { return details_; }

 private:
  int status_;
  std::string code_;
  std::string param_;
  Json details_ = Json::object();
};

// The error type that OpenAI's clients expect beside a status.
const char* error_type(int status);
Json error_json(const ApiError& error);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_API_ERROR_H_
