// Text inside a message: on one line, not too long, without power over the terminal that shows it.
//
//     quote("a\n")             // "a\n" with a backslash and an n, in double quotes
//     quote(long_text, 10)     // "first ten "...
//     printable("a\x1b[2J")    // a\x1b[2J with a backslash; for text that comes from somebody else
#ifndef METACTRL_SRC_TEXT_QUOTE_H_
#define METACTRL_SRC_TEXT_QUOTE_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "support/utf8.h"

namespace metactrl::text {

// At most `limit` bytes of `text`, never half a UTF-8 character.
inline std::string_view excerpt(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t cut = limit;
  while (cut > 0 && cut + 4 > limit && internal::is_continuation(text[cut])) --cut;
  return text.substr(0, cut);
}

// A byte as a message shows it; one of no ASCII character as it is, or by its number.
inline std::string escaped(char c, bool ascii = false) {
  constexpr const char* kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  if (byte >= 0x20 && byte != 0x7f && (byte < 0x80 || !ascii)) return {c};
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

inline std::string quote(std::string_view text, std::size_t limit = 200) {
  const std::string_view shown = excerpt(text, limit);
  std::string out = "\"";
  for (const char c : shown) {
    if (c == '"' || c == '\\') out += '\\';
    out += escaped(c);
  }
  out += '"';
  if (shown.size() < text.size()) out += "...";
  return out;
}

// How many bytes the character at the beginning of `text` has, when it is one of several bytes that a terminal only
// shows; 0 when it is broken UTF-8, a control character, or one that changes the direction or the line of what follows.
inline std::size_t visible_length(std::string_view text) {
  const auto [length, code] = internal::first_character(text);
  const bool control = code < 0xa0 || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                       (code >= 0x2066 && code <= 0x2069);
  return control ? 0 : length;
}

// At most `limit` bytes of `text`, with every character escaped that is more than a visible one.
inline std::string printable(std::string_view text, std::size_t limit = 200) {
  std::string_view rest = excerpt(text, limit);
  const bool cut = rest.size() < text.size();
  std::string out;
  while (!rest.empty()) {
    const std::size_t length = visible_length(rest);
    out += length > 0 ? std::string(rest.substr(0, length)) : escaped(rest[0], true);
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return cut ? out + "..." : out;
}

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_QUOTE_H_
