// Arbitrary bytes as HTTP requests: read at once and byte by byte they mean the same. Whatever is answered begins with a
// head of whole lines.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/http_message.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_heads() {
  for (int status = 100; status < 600; ++status) {
    const std::string head = metactrl::serve::response_head(status, {{"Content-Length", "0"}});
    require(head.starts_with("HTTP/1.1 " + std::to_string(status) + " ") && head.ends_with("\r\n\r\n"));
  }
}

// A refusal has a phrase, and what comes back of a request stays on its line.
void check_answer(int status, const metactrl::serve::HttpHeaders& headers) {
  require(metactrl::serve::reason_phrase(status) != std::string_view("Unknown"));
  const std::string head = metactrl::serve::response_head(status, headers);
  std::size_t lines = 0;
  for (std::size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) ++lines;
  require(lines == headers.size() + 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using metactrl::serve::RequestReader;
  static const bool heads_are_good = (check_heads(), true);
  require(heads_are_good);
  const metactrl::serve::HttpLimits limits{512, 256};
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  while (!bytes.empty()) {
    RequestReader whole(limits);
    const std::size_t used = whole.feed(bytes);
    require(used <= bytes.size());
    RequestReader pieces(limits);
    std::size_t fed = 0;
    while (fed < bytes.size() && !pieces.done() && !pieces.failure()) fed += pieces.feed(bytes.substr(fed, 1));
    require(whole.done() == pieces.done());
    require(whole.failure().has_value() == pieces.failure().has_value());
    if (whole.failure()) {
      require(whole.failure()->status == pieces.failure()->status && !whole.failure()->message.empty());
      check_answer(whole.failure()->status, {});
    }
    if (!whole.done()) return 0;
    check_answer(200, whole.request().headers);
    require(!whole.empty() && !whole.wants_continue());
    require(used == fed);
    require(whole.request().body.size() <= limits.body_bytes && whole.request().body == pieces.request().body);
    require(whole.request().path == pieces.request().path && whole.request().headers == pieces.request().headers);
    bytes.remove_prefix(used);
  }
  return 0;
}
