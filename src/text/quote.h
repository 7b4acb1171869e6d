// Text inside a message: on one line, not too long, without power over the terminal that shows it.
//
//     quote("a\n")             // "a\n" with a backslash and an n, in double quotes
//     quote(long_text, 10)     // "first ten "...
//     printable("a\x1b[2J")    // a\x1b[2J with a backslash; for text that comes from somebody else
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

// How many bytes the character at the beginning of `text` has, when it is one of several bytes that a terminal only
// shows; 0 when it is broken UTF-8, a control character, or one that changes the direction or the line of what follows.
inline std::size_t visible_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned first = byte(0);
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  unsigned code = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool no_character = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
  const bool control = code < 0xa0 || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                       (code >= 0x2066 && code <= 0x2069);
  return overlong || no_character || control ? 0 : length;
}

// At most `limit` bytes of `text`, with every character escaped that is more than a visible one.
inline std::string printable(std::string_view text, std::size_t limit = 200) {
  constexpr const char* kDigits = "0123456789abcdef";
  const std::string_view shown = excerpt(text, limit);
  std::string out;
  for (std::size_t i = 0; i < shown.size();) {
    const char c = shown[i];
    const auto byte = static_cast<unsigned char>(c);
    std::size_t length = 1;
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else if (byte >= 0x80 && visible_length(shown.substr(i)) > 0) {
      length = visible_length(shown.substr(i));
      out += shown.substr(i, length);
    } else {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
    i += length;
  }
  if (shown.size() < text.size()) out += "...";
  return out;
}

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_QUOTE_H_
