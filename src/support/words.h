// What messages and lists are made with: str_cat, and text without the blanks around it, cut apart, put together, in quotes,
// in capitals, for a page.
#ifndef METACTRL_SRC_SUPPORT_WORDS_H_
#define METACTRL_SRC_SUPPORT_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/str_cat.h"

namespace metactrl::internal {

inline std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// At least one part, which may be empty.
inline std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

template <typename Words>
std::string join(const Words& words, std::string_view glue) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += glue;
    out += word;
  }
  return out;
}

// In quotes, and of a long text no more than `most` characters: nonsense does not belong into a report.
inline std::string in_quotes(std::string_view text, std::size_t most) {
  return str_cat("'", text.substr(0, most), text.size() > most ? "...'" : "'");
}

// Letters of ASCII in capitals.
inline std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// How XML and HTML write a character that would mean something there; empty for any other.
constexpr std::string_view markup_entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}
inline std::string markup_text(std::string_view text) {
  std::string out;
  for (const char& c : text) {
    const std::string_view entity = markup_entity(c);
    out += entity.empty() ? std::string_view(&c, 1) : entity;
  }
  return out;
}

}  // namespace metactrl::internal

// Nearly every file that includes this uses them; none declares them for itself.
namespace metactrl {
using internal::join;     // NOLINT(misc-unused-using-decls)
using internal::split;    // NOLINT(misc-unused-using-decls)
using internal::str_cat;  // NOLINT(misc-unused-using-decls)
using internal::trim;     // NOLINT(misc-unused-using-decls)
}  // namespace metactrl

#endif  // METACTRL_SRC_SUPPORT_WORDS_H_
