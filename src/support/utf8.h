// Characters of UTF-8 text.
#ifndef METACTRL_SRC_SUPPORT_UTF8_H_
#define METACTRL_SRC_SUPPORT_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace metactrl::internal {

// A byte that is not the first one of its character.
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

struct Utf8Character {
  std::size_t length = 0;  // in bytes; 0: there is none
  std::uint32_t code = 0;
};

// The character at the beginning of `text`: none for what is empty, cut off, overlong, a surrogate or beyond U+10FFFF.
inline Utf8Character first_character(std::string_view text) {
  if (text.empty()) return {};
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return {};
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool no_character = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
  return overlong || no_character ? Utf8Character{} : Utf8Character{length, code};
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_UTF8_H_
