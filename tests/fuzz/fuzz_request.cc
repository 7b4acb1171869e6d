// Arbitrary bytes as the body of a request: what is no plan request, no list of steps and no chat is refused with a status.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

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
  return 0;
}
