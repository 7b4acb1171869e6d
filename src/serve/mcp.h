// The Model Context Protocol, one message at a time: planning as tools for whatever agent speaks it.
//
//     McpReply reply = answer_mcp(service, message, {&request, context, notify});
//     if (reply.body) send(reply.status, *reply.body);      // a notification has no answer
//
// Both eras are spoken, each message for itself, and nothing is kept between two: a request whose `_meta` names the
// revision is of the modern one (2026-07-28); any other is of those that begin with `initialize` (2025-11-25 and two
// before). What a request gets wrong is a JSON-RPC error; what a tool's arguments get wrong is a result with `isError`,
// so that the model that wrote them can read it.
//
// Thread safety: as Service. Throws std::bad_alloc, and ApiError for what is the service's fault or a stop's (status 429,
// 499 and above): the transport says that in its own way.
#ifndef METACTRL_SRC_SERVE_MCP_H_
#define METACTRL_SRC_SERVE_MCP_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http_message.h"
#include "serve/json.h"
#include "serve/service.h"

namespace metactrl::serve {

constexpr int kMcpParseError = -32700;
constexpr int kMcpInvalidRequest = -32600;
constexpr int kMcpUnknownMethod = -32601;
constexpr int kMcpInvalidParams = -32602;
constexpr int kMcpInternal = -32603;
constexpr int kMcpHeaderMismatch = -32020;
constexpr int kMcpUnsupportedVersion = -32022;

// How a message came.
struct McpSetting {
  const HttpRequest* http = nullptr;  // null: not by HTTP, so there are no headers to compare
  RequestContext& context;
  // Takes a notification that belongs to the request; empty where none can be sent.
  std::function<void(const Json& message)> notify;
};

struct McpReply {
  int status = 200;          // for HTTP
  std::optional<Json> body;  // nothing: the message was a notification
};

McpReply answer_mcp(Service& service, const Json& message, const McpSetting& setting);

// An error that has no request, or one whose id could not be read.
Json mcp_error(int code, const std::string& message);
// An error as the answer of a request.
Json mcp_error(const Json& id, int code, const std::string& message);

// A request's id, where it has one that can be: text, or a whole number. Null otherwise.
Json mcp_id(const Json& message);

// The id of the request that this message takes back; null when it is none that does.
Json mcp_cancelled_id(const Json& message);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_MCP_H_
