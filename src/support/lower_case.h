// Characters as ASCII has them, whatever the locale. Names are compared in lower case: letters change, all other bytes
// stay.
#ifndef METACTRL_SRC_SUPPORT_LOWER_CASE_H_
#define METACTRL_SRC_SUPPORT_LOWER_CASE_H_

#include <string>
#include <string_view>

namespace metactrl::internal {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_LOWER_CASE_H_
