// Names are compared in lower case: ASCII letters change, all other bytes stay, whatever the locale.
#ifndef METACTRL_SRC_SUPPORT_LOWER_CASE_H_
#define METACTRL_SRC_SUPPORT_LOWER_CASE_H_

#include <string>
#include <string_view>

namespace metactrl::internal {

constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_LOWER_CASE_H_
