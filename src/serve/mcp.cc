// A message is looked at from outside to inside: is it JSON-RPC, of which era is it, do its headers say the same, which
// method is it. Whatever is wrong is thrown as a Fault with its code, and becomes the answer in one place.
//
// The statuses are those of the modern revision where the request is modern. Older clients take a status other than 200
// for a broken connection, so their errors come with 200, but for messages that could not be read at all.
#include "serve/mcp.h"

#include <algorithm>
#include <array>
#include <utility>

#include "serve/mcp_tools.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

constexpr const char* kModern = "2026-07-28";
// With `initialize`; the newest first, which is offered to whoever asks for another.
constexpr std::array<const char*, 3> kHandshake = {"2025-11-25", "2025-06-18", "2025-03-26"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
// What is listed changes with the program alone.
constexpr int kKeepMilliseconds = 3'600'000;
constexpr const char* kInstructions =
    "Plans for tasks in PDDL. `plan` and `search` return plans that are proved legal and to reach the goal, or say why "
    "there is none. Carry the actions out in their order. When one fails or the world is not as expected, write what "
    "holds now as the problem's :init and call `plan` again. Where only words say what is wanted, `write_goal` makes "
    "goals of them to choose from. `explain` says what may be done next and why something may not.";

struct Fault {
  int code;
  std::string message;
  int status = 400;
  Json data = nullptr;
};

bool is_handshake_version(std::string_view version) {
  return std::find(kHandshake.begin(), kHandshake.end(), version) != kHandshake.end();
}

Json supported_versions() {
  Json out = Json::array({kModern});
  for (const char* version : kHandshake) out.push_back(version);
  return out;
}

std::string excerpt(std::string_view text) {
  return text.size() <= 80 ? std::string(text) : std::string(text.substr(0, 80)) + "...";
}

[[noreturn]] void refuse_version(std::string_view version) {
  throw Fault{kMcpUnsupportedVersion,
              "Unsupported protocol version",
              400,
              {{"supported", supported_versions()}, {"requested", excerpt(version)}}};
}

bool valid_id(const Json& id) { return id.is_string() || id.is_integer(); }

Json error_object(int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"error", {{"code", code}, {"message", message}}}};
}

// Of `=?base64?...?=`, which a header has where it cannot have the name itself. Nothing for what is no Base64.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size() - padding; ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    const std::size_t have = (i + 1) * 6 % 8;
    if (have < 6) out += static_cast<char>(bits >> have & 0xFFU);
  }
  return out;
}

std::optional<std::string> header_value(std::string_view value) {
  constexpr std::string_view kPrefix = "=?base64?";
  if (!value.starts_with(kPrefix) || !value.ends_with("?=") || value.size() < kPrefix.size() + 2) {
    return std::string(value);
  }
  return decode_base64(value.substr(kPrefix.size(), value.size() - kPrefix.size() - 2));
}

class McpRequest {
 public:
  McpRequest(Service& service, const Json& message, const McpSetting& setting)
      : service_(service), message_(message), setting_(setting), tools_(service) {}

  McpReply answer() {
    try {
      check_envelope();
      // There is none that something would have to be done about here; answers are to questions that nobody asked.
      if (!message_.contains("id") || !message_.contains("method")) return {202, std::nullopt};
      method_ = message_["method"].text();
      check_params();
      check_era();
      Json result = run();
      if (modern_) decorate(result);
      return {200, Json{{"jsonrpc", "2.0"}, {"id", message_["id"]}, {"result", std::move(result)}}};
    } catch (const Fault& fault) {
      Json body = error_object(fault.code, fault.message);
      if (Json id = mcp_id(message_); !id.is_null()) body["id"] = std::move(id);
      if (!fault.data.is_null()) body["error"]["data"] = fault.data;
      return {fault.status, std::move(body)};
    }
  }

 private:
  void check_envelope() const {
    const auto refuse = [](const char* message) { throw Fault{kMcpInvalidRequest, message}; };
    if (message_.is_array()) refuse("Invalid request: a message is one object; batches are not spoken any more");
    if (!message_.is_object()) refuse("Invalid request: a message is a JSON object");
    if (message_["jsonrpc"] != "2.0") refuse("Invalid request: \"jsonrpc\" must be \"2.0\"");
    if (message_.contains("id") && !valid_id(message_["id"])) {
      refuse("Invalid request: \"id\" must be text or a whole number");
    }
    if (message_.contains("method")) {
      if (!message_["method"].is_string()) refuse("Invalid request: \"method\" must be text");
      return;
    }
    if (!message_.contains("result") && !message_.contains("error")) refuse("Invalid request: \"method\" is missing");
  }

  void check_params() {
    const Json& params = message_["params"];
    if (params.is_null()) return;
    if (!params.is_object()) throw Fault{kMcpInvalidParams, "Invalid params: must be an object"};
    params_ = &params;
    if (const Json& meta = params["_meta"]; !meta.is_null()) {
      if (!meta.is_object()) throw Fault{kMcpInvalidParams, "Invalid params: \"_meta\" must be an object"};
      meta_ = &meta;
    }
  }

  void check_era() {
    const std::string_view header =
        setting_.http != nullptr ? setting_.http->header("mcp-protocol-version") : std::string_view();
    const Json* version = meta_ != nullptr && meta_->contains(kVersionKey) ? &(*meta_)[kVersionKey] : nullptr;
    if (version == nullptr) {
      if (header.empty() || is_handshake_version(header)) return;
      if (header != kModern) refuse_version(header);
      throw Fault{kMcpInvalidParams, str_cat("Invalid params: \"_meta\" must have \"", kVersionKey, "\"")};
    }
    modern_ = true;
    if (!version->is_string()) {
      throw Fault{kMcpInvalidParams, str_cat("Invalid params: \"", kVersionKey, "\" must be text")};
    }
    if (setting_.http != nullptr) compare_header("MCP-Protocol-Version", header, version->text());
    if (version->text() != kModern) refuse_version(version->text());
    if (!(*meta_)[kCapabilitiesKey].is_object()) {
      throw Fault{kMcpInvalidParams,
                  str_cat("Invalid params: \"_meta\" must have the object \"", kCapabilitiesKey, "\"")};
    }
    if (setting_.http == nullptr) return;
    compare_header("Mcp-Method", setting_.http->header("mcp-method"), method_);
    const Json& name = member("name");
    if (method_ != "tools/call" || !name.is_string()) return;
    const std::optional<std::string> decoded = header_value(setting_.http->header("mcp-name"));
    if (!decoded) throw Fault{kMcpHeaderMismatch, "Header mismatch: Mcp-Name is no Base64"};
    compare_header("Mcp-Name", *decoded, name.text());
  }

  static void compare_header(const char* name, std::string_view header, std::string_view body) {
    if (header == body) return;
    throw Fault{kMcpHeaderMismatch, str_cat("Header mismatch: ", name, " is '", excerpt(header),
                                            "', and the body says '", excerpt(body), "'")};
  }

  const Json& member(std::string_view name) const {
    static const Json kNull;
    return params_ != nullptr ? (*params_)[name] : kNull;
  }

  Json run() {
    if (method_ == "tools/list") return list();
    if (method_ == "tools/call") return call();
    if (modern_ && method_ == "server/discover") {
      return {{"supportedVersions", supported_versions()},
              {"capabilities", {{"tools", Json::object()}}},
              {"instructions", kInstructions},
              {"ttlMs", kKeepMilliseconds},
              {"cacheScope", "public"}};
    }
    if (!modern_ && method_ == "initialize") return initialize();
    if (!modern_ && method_ == "ping") return Json::object();
    throw Fault{kMcpUnknownMethod, str_cat("Method not found: ", excerpt(method_)), modern_ ? 404 : 200};
  }

  Json server_info() const {
    return {{"name", "metactrl"}, {"title", "Meta-Ctrl"}, {"version", service_.options().version}};
  }

  Json initialize() const {
    const Json& wanted = member("protocolVersion");
    if (!wanted.is_string()) fail_params("\"protocolVersion\" must be text");
    const bool known = is_handshake_version(wanted.text());
    return {{"protocolVersion", known ? wanted : Json(kHandshake[0])},
            {"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", server_info()},
            {"instructions", kInstructions}};
  }

  [[noreturn]] void fail_params(const std::string& message) const {
    throw Fault{kMcpInvalidParams, "Invalid params: " + message, modern_ ? 400 : 200};
  }

  Json list() const {
    // All are in the first portion: no cursor was ever given out.
    if (!member("cursor").is_null()) fail_params("\"cursor\" is none of this server");
    Json result{{"tools", tools_.list()}};
    if (modern_) {
      result["ttlMs"] = kKeepMilliseconds;
      result["cacheScope"] = "public";
    }
    return result;
  }

  Json call() {
    const Json& name = member("name");
    if (!name.is_string()) fail_params("\"name\" must be the name of a tool");
    if (!tools_.has(name.text())) fail_params("Unknown tool: " + excerpt(name.text()));
    const Json none = Json::object();
    const Json& given = member("arguments");
    if (!given.is_null() && !given.is_object()) fail_params("\"arguments\" must be an object");
    try {
      const Json found = tools_.call(name.text(), given.is_null() ? none : given, setting_.context, progress());
      return {{"content", Json::array({{{"type", "text"}, {"text", dump(found)}}})},
              {"structuredContent", found},
              {"isError", false}};
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      const ApiError error = to_api_error(std::current_exception(), setting_.context);
      if (error.status() == 429 || error.status() >= 499) throw ApiError(error);
      return {{"content", Json::array({{{"type", "text"}, {"text", text_of(error)}}})}, {"isError", true}};
    }
  }

  // What is wrong, in words, with every mistake of a PDDL text on its line.
  static std::string text_of(const ApiError& error) {
    const Json& diagnostics = error.details()["diagnostics"];
    if (!diagnostics.is_array()) return error.what();
    std::string text;
    for (const Json& one : diagnostics.list()) {
      text += str_cat(text.empty() ? "" : "\n", one["file"].text(), ':', one["line"].whole_number(), ':',
                      one["column"].whole_number(), ": ", one["severity"].text(), ": ", one["message"].text());
      if (!one["hint"].text().empty()) text += str_cat("; ", one["hint"].text());
    }
    return text;
  }

  McpTools::Progress progress() const {
    const Json* token = meta_ != nullptr && meta_->contains("progressToken") ? &(*meta_)["progressToken"] : nullptr;
    if (token == nullptr || !setting_.notify || !valid_id(*token)) return {};
    return [this, token, done = 0](const std::string& action) mutable {
      setting_.notify(Json{{"jsonrpc", "2.0"},
                           {"method", "notifications/progress"},
                           {"params", {{"progressToken", *token}, {"progress", ++done}, {"message", action}}}});
    };
  }

  void decorate(Json& result) const {
    result["resultType"] = "complete";
    result["_meta"] = {{kServerKey, server_info()}};
  }

  Service& service_;
  const Json& message_;
  const McpSetting& setting_;
  McpTools tools_;
  std::string method_;
  const Json* params_ = nullptr;
  const Json* meta_ = nullptr;
  bool modern_ = false;
};

}  // namespace

McpReply answer_mcp(Service& service, const Json& message, const McpSetting& setting) {
  return McpRequest(service, message, setting).answer();
}

Json mcp_error(int code, const std::string& message) { return error_object(code, message); }

Json mcp_error(const Json& id, int code, const std::string& message) {
  Json out = error_object(code, message);
  out["id"] = id;
  return out;
}

Json mcp_id(const Json& message) {
  return message.is_object() && message.contains("id") && valid_id(message["id"]) ? message["id"] : Json(nullptr);
}

Json mcp_cancelled_id(const Json& message) {
  if (!message.is_object() || message["method"] != "notifications/cancelled" || !message["params"].is_object()) {
    return nullptr;
  }
  const Json& id = message["params"]["requestId"];
  return valid_id(id) ? id : Json(nullptr);
}

}  // namespace metactrl::serve
