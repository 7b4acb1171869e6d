// POST /mcp: the Model Context Protocol over streamable HTTP. One message in, one answer out: as JSON, or, where the
// client asked for progress and takes events, as a stream whose last event is the answer. There are no sessions and no
// streams beside requests, so GET and DELETE are refused, as the protocol lets a server do.
#include <memory>
#include <utility>

#include "serve/mcp.h"
#include "serve/service.h"

namespace metactrl::serve {

namespace {

constexpr const char* kMessageType = "application/json";

class MessageStream {
 public:
  explicit MessageStream(Exchange& exchange) : exchange_(exchange) {}
  bool begun() const { return begun_; }
  void send(const Json& message) {
    if (!std::exchange(begun_, true)) exchange_.begin_stream("text/event-stream", {{"X-Accel-Buffering", "no"}});
    exchange_.write("event: message\ndata: " + dump(message) + "\n\n");
  }
  void finish() { exchange_.end_stream(); }

 private:
  Exchange& exchange_;
  bool begun_ = false;
};

}  // namespace

void Service::post_mcp(RequestContext& context) {
  Exchange& exchange = context.exchange();
  const HttpRequest& request = exchange.request();
  Json message;
  try {
    message = parse_json(request.body);
  } catch (const ApiError& error) {
    exchange.respond(400, kMessageType, dump(mcp_error(kMcpParseError, std::string("Parse error: ") + error.what())));
    return;
  }
  MessageStream stream(exchange);
  McpSetting setting{&request, context, {}};
  if (request.header("accept").find("text/event-stream") != std::string_view::npos) {
    setting.notify = [&stream](const Json& notification) { stream.send(notification); };
  }
  McpReply reply;
  try {
    reply = answer_mcp(*this, message, setting);
  } catch (...) {
    if (!stream.begun()) throw;
    const ApiError error = to_api_error(std::current_exception(), context);
    reply.body = mcp_error(mcp_id(message), kMcpInternal, error.what());
  }
  if (stream.begun()) {
    stream.send(*reply.body);
    stream.finish();
  } else {
    exchange.respond(reply.status, kMessageType, reply.body ? dump(*reply.body) : "");
  }
}

}  // namespace metactrl::serve
