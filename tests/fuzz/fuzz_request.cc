// Arbitrary bytes as the body of a request: what is no plan request, no list of steps and no chat is refused with a status.
// A service whose model knows single bytes answers what looks like a chat, a completion or a response, whole or in events,
// and says what can be asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "byte_service.h"
#include "metactrl/error.h"
#include "serve/api_error.h"
#include "serve/fields.h"
#include "serve/plan_request.h"

namespace {

using metactrl::serve::Json;

// `read` may refuse, as the service would.
template <typename Read>
void attempt(const Json& body, const Read& read) {
  try {
    metactrl::serve::Fields fields(body, "");
    read(fields);
    fields.refuse_others();
  } catch (const metactrl::serve::ApiError& error) {
    if (error.status() < 400 || error.status() > 599) std::abort();
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
}

// An event is "data: JSON".
void check_events(std::string_view events) {
  while (!events.empty()) {
    const std::size_t end = events.find("\n\n");
    if (end == std::string_view::npos) std::abort();
    std::string_view event = events.substr(0, end);
    events.remove_prefix(end + 2);
    if (const std::size_t data = event.find("data: "); data != std::string_view::npos) event.remove_prefix(data + 6);
    if (event != "[DONE]") metactrl::serve::parse_json(event);
  }
}

void answer(const char* method, const char* path, std::string_view body) {
  static metactrl::serve::Service service(byte_model(), small_options());
  SilentExchange exchange;
  exchange.request().method = method;
  exchange.request().path = path;
  exchange.request().headers = {{"host", "localhost"}, {"content-type", "application/json"}};
  exchange.request().body = body;
  service.handle(exchange);
  if (exchange.status() < 200 || exchange.status() > 599) std::abort();
  if (exchange.body().starts_with('{')) {
    metactrl::serve::parse_json(exchange.body());
  } else {
    check_events(exchange.body());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Json body;
  try {
    body = metactrl::serve::parse_body(bytes);
  } catch (const metactrl::serve::ApiError& error) {
    if (error.status() != 400) std::abort();
    return 0;
  }
  // What was read is written as what it is.
  if (!(metactrl::serve::parse_json(dump(body)) == body)) std::abort();
  const metactrl::serve::RequestLimits limits;
  attempt(body, [&](auto& fields) { read_plan(fields, limits, false); });
  attempt(body, [&](auto& fields) { read_plan(fields, limits, true); });
  attempt(body, [&](auto& fields) { read_steps(fields); });
  if (body.contains("options")) {
    answer("GET", "/v1/options", "");
    answer("GET", "/v1/tasks", "");
  }
  if (body.contains("messages")) answer("POST", "/v1/chat/completions", bytes);
  if (body.contains("prompt")) answer("POST", "/v1/completions", bytes);
  if (body.contains("input")) answer("POST", "/v1/responses", bytes);
  return 0;
}
