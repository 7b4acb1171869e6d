// Text inside a message: in double quotes, on one line, not too long.
//
//     quote("a\n")             // "a\n" with a backslash and an n
//     quote(long_text, 10)     // "first ten "...
#ifndef METACTRL_SRC_TEXT_QUOTE_H_
#define METACTRL_SRC_TEXT_QUOTE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace metactrl::text {

// At most `limit` bytes of `text`, never half a UTF-8 character.
inline std::string_view excerpt(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t cut = limit;
  while (cut > 0 && cut + 4 > limit && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80U) --cut;
  return text.substr(0, cut);
}

inline std::string quote(std::string_view text, std::size_t limit = 200) {
  constexpr const char* kDigits = "0123456789abcdef";
  const std::string_view shown = excerpt(text, limit);
  std::string out = "\"";
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
  if (shown.size() < text.size()) out += "...";
  return out;
}

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_QUOTE_H_
