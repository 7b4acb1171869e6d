// Arbitrary bytes as HTTP requests: read at once and byte by byte they mean the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "serve/http_message.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using metactrl::serve::RequestReader;
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
    if (whole.failure())
      require(whole.failure()->status == pieces.failure()->status && !whole.failure()->message.empty());
    if (!whole.done()) return 0;
    require(used == fed);
    require(whole.request().body.size() <= limits.body_bytes && whole.request().body == pieces.request().body);
    require(whole.request().path == pieces.request().path && whole.request().headers == pieces.request().headers);
    bytes.remove_prefix(used);
  }
  return 0;
}
