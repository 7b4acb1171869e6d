// Arbitrary bytes as a message of the Model Context Protocol, answered by a service whose model knows single bytes:
// an answer is JSON-RPC.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "metactrl/vocabulary.h"
#include "serve/api_error.h"
#include "serve/mcp.h"

namespace {

using namespace metactrl::serve;  // NOLINT(google-build-using-namespace)

class SilentExchange : public Exchange {
 public:
  HttpRequest& request() override { return request_; }
  bool respond(int, const std::string&, std::string_view, const HttpHeaders&) override { return true; }
  bool begin_stream(const std::string&, const HttpHeaders&) override { return true; }
  bool write(std::string_view) override { return true; }
  bool end_stream() override { return true; }
  bool responded() const override { return false; }
  int status() const override { return 0; }
  bool gone() override { return false; }

 private:
  HttpRequest request_;
};

std::vector<ServedModel> byte_model() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.emplace_back("");
  const std::vector<metactrl::TokenId> ends{metactrl::TokenId{256}};
  const auto vocabulary = std::make_shared<metactrl::TableVocabulary>(tokens, ends);
  return {{"bytes", metactrl::random_model(vocabulary, 7), vocabulary}};
}

ServiceOptions small_options() {
  ServiceOptions options;
  options.limits.seconds = 0.2;
  options.limits.states = 200;
  options.limits.horizon = 8;
  options.limits.ground_actions = 500;
  options.limits.ground_facts = 500;
  options.cache_bytes = 1 << 20;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Service service(byte_model(), small_options());
  Json message;
  try {
    message = parse_json({reinterpret_cast<const char*>(data), size});
  } catch (const ApiError&) {
    return 0;
  }
  mcp_cancelled_id(message);
  SilentExchange exchange;
  RequestContext context(exchange, 0.2);
  try {
    const McpReply reply = answer_mcp(service, message, {nullptr, context, [](const Json& note) { dump(note); }});
    if (!reply.body) return 0;
    if (!reply.body->is_object() || (*reply.body)["jsonrpc"].text() != "2.0") std::abort();
    dump(*reply.body);
  } catch (const ApiError& error) {
    if (error.status() != 429 && error.status() < 499) std::abort();
  }
  return 0;
}
