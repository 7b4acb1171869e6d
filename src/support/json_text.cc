#include "support/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "support/utf8.h"

namespace metactrl::internal {

std::string hex(unsigned char byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {kDigits[byte >> 4], kDigits[byte & 15]};
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = first_character(text.substr(i)).length;
    const char c = text[i];
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += "\\u00" + hex(static_cast<unsigned char>(c));
    } else {
      out += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out + '"';
}

std::string number_text(double value) {
  std::array<char, 64> buffer{};
  const auto [end, failure] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  // A number too long for the buffer is written with an exponent.
  if (failure == std::errc()) return {buffer.data(), end};
  const auto [last, ignored] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), last};
}

}  // namespace metactrl::internal
