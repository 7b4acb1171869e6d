// One thread reads; a call has a thread of its own, since it may take a minute and the message that takes it back comes
// behind it. The end waits until the last of them has left the list of calls, under whose lock a call says its last word
// about itself: nothing of this object is used by a thread that run() no longer waits for.
#include "serve/mcp_stdio.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "serve/mcp.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// What a call is to the service: somebody who may lose interest, and no HTTP.
class PipeExchange : public Exchange {
 public:
  explicit PipeExchange(const std::atomic<bool>& cancelled) : cancelled_(cancelled) {}
  HttpRequest& request() override { return request_; }
  bool respond(int /*status*/, const std::string& /*content_type*/, std::string_view /*body*/,
               const HttpHeaders& /*headers*/) override {
    return false;
  }
  bool begin_stream(const std::string& /*content_type*/, const HttpHeaders& /*headers*/) override { return false; }
  bool write(std::string_view /*bytes*/) override { return false; }
  bool end_stream() override { return false; }
  bool responded() const override { return false; }
  int status() const override { return 0; }
  bool gone() override { return cancelled_; }

 private:
  const std::atomic<bool>& cancelled_;
  HttpRequest request_;
};

bool append(std::string& line, std::string_view part) {
  try {
    line += part;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace

void McpStdio::run() {
  read_lines();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return calls_.empty(); });
}

void McpStdio::read_lines() {
  const std::size_t limit = service_.options().body_bytes;
  std::string line;
  bool too_long = false;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(in_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      too_long = too_long || line.size() + part.size() > limit || !append(line, part);
      if (too_long) line.clear();
      bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
      if (end == std::string_view::npos) continue;
      if (std::exchange(too_long, false)) {
        send(dump(mcp_error(kMcpInvalidRequest, str_cat("Invalid request: a line of more than ", limit,
                                                        " bytes, or than there is memory for"))));
      } else {
        take(std::exchange(line, {}));
      }
    }
  }
  // The last line may have no end.
  if (!line.empty()) take(std::move(line));
}

void McpStdio::take(std::string line) {
  if (line.ends_with('\r')) line.pop_back();
  if (line.find_first_not_of(" \t") == std::string::npos) return;
  try {
    const Json message = parse_json(line);
    if (const Json id = mcp_cancelled_id(message); !id.is_null()) {
      const std::scoped_lock lock(mutex_);
      if (const auto found = calls_.find(dump(id)); found != calls_.end()) found->second->cancelled = true;
      return;
    }
    const Json id = mcp_id(message);
    if (!id.is_null() && message["method"] == "tools/call") {
      start(std::move(line), dump(id));
      return;
    }
    const std::atomic<bool> never{false};
    PipeExchange exchange(never);
    RequestContext context(exchange, service_.options().limits.seconds);
    if (const McpReply reply = answer_mcp(service_, message, {nullptr, context, {}}); reply.body) {
      send(dump(*reply.body));
    }
  } catch (const ApiError& error) {
    send(dump(mcp_error(kMcpParseError, std::string("Parse error: ") + error.what())));
  } catch (const std::bad_alloc&) {
    send_out_of_memory("");
  }
}

void McpStdio::start(std::string line, const std::string& id) {
  const auto refuse = [&](const char* message) { send(dump(mcp_error(parse_json(id), kMcpInvalidRequest, message))); };
  auto call = std::make_shared<Call>();
  {
    const std::scoped_lock lock(mutex_);
    if (calls_.contains(id)) {
      refuse("Invalid request: a request with this id is being worked on");
      return;
    }
    if (calls_.size() >= kMaxCalls) {
      refuse("too many calls at a time; wait for one to end");
      return;
    }
    calls_.emplace(id, call);
  }
  const auto forget = [this](const std::string& ended) {
    const std::scoped_lock lock(mutex_);
    calls_.erase(ended);
    done_.notify_all();
  };
  try {
    std::thread([this, forget, line = std::move(line), id, call] {
      answer(line, id, *call);
      forget(id);
    }).detach();
  } catch (const std::exception&) {
    forget(id);
    send_out_of_memory(id);
  }
}

void McpStdio::answer(const std::string& line, const std::string& id, Call& call) {
  try {
    const Json message = parse_json(line);
    PipeExchange exchange(call.cancelled);
    RequestContext context(exchange, service_.options().limits.seconds);
    const auto notify = [&](const Json& notification) {
      if (!call.cancelled) send(dump(notification));
    };
    std::string text;
    try {
      text = dump(*answer_mcp(service_, message, {nullptr, context, notify}).body);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      text = dump(mcp_error(message["id"], kMcpInternal, error.what()));
    }
    if (!call.cancelled) send(text);
  } catch (const std::bad_alloc&) {
    if (!call.cancelled) send_out_of_memory(id);
  }
}

void McpStdio::send(const std::string& line) {
  const std::scoped_lock lock(write_mutex_);
  write_all(line);
  write_all("\n");
}

void McpStdio::send_out_of_memory(const std::string& id) {
  const std::scoped_lock lock(write_mutex_);
  write_all(R"({"jsonrpc":"2.0",)");
  if (!id.empty()) {
    write_all("\"id\":");
    write_all(id);
    write_all(",");
  }
  write_all(R"("error":{"code":-32603,"message":"there is not enough memory for this request now"}})");
  write_all("\n");
}

void McpStdio::write_all(std::string_view bytes) {
  while (!bytes.empty() && !broken_) {
    const ssize_t count = ::write(out_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      broken_ = true;
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace metactrl::serve
