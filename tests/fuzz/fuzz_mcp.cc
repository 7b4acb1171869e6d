// Arbitrary bytes as a message of the Model Context Protocol, answered by a service whose model knows single bytes, as if
// it came through a pipe and as if it came by HTTP, with the headers that the member "headers" of its `_meta` names: an
// answer is JSON-RPC.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "byte_service.h"
#include "serve/api_error.h"
#include "serve/mcp.h"

namespace {

using namespace metactrl::serve;  // NOLINT(google-build-using-namespace)

const Json& meta_headers(const Json& message) {
  static const Json kNone = Json::object();
  const Json& params = message.is_object() ? message["params"] : kNone;
  const Json& meta = params.is_object() ? params["_meta"] : kNone;
  const Json& headers = meta.is_object() ? meta["headers"] : kNone;
  return headers.is_object() ? headers : kNone;
}

void answer(Service& service, const Json& message, bool by_http) {
  SilentExchange exchange;
  for (const Json::Member& header : meta_headers(message).members()) {
    if (header.value.is_string()) exchange.request().headers.emplace_back(header.name, header.value.text());
  }
  RequestContext context(exchange, 0.2);
  const HttpRequest* http = by_http ? &exchange.request() : nullptr;
  try {
    const McpReply reply = answer_mcp(service, message, {http, context, [](const Json& note) { dump(note); }});
    if (!reply.body) return;
    if (!reply.body->is_object() || (*reply.body)["jsonrpc"].text() != "2.0") std::abort();
    dump(*reply.body);
  } catch (const ApiError& error) {
    if (error.status() != 429 && error.status() < 499) std::abort();
    dump(mcp_error(mcp_id(message), kMcpInternal, error.what()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Service service(byte_model(), small_options());
  Json message;
  try {
    message = parse_json({reinterpret_cast<const char*>(data), size});
  } catch (const ApiError& error) {
    dump(mcp_error(kMcpParseError, error.what()));
    return 0;
  }
  mcp_cancelled_id(message);
  answer(service, message, false);
  if (meta_headers(message).size() > 0) answer(service, message, true);
  return 0;
}
