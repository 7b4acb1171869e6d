// Joins anything printable into one string: the one way messages are built.
#ifndef METACTRL_SRC_SUPPORT_STR_CAT_H_
#define METACTRL_SRC_SUPPORT_STR_CAT_H_

#include <sstream>
#include <string>

namespace metactrl::internal {

template <typename... Parts>
std::string str_cat(const Parts&... parts) {
  std::ostringstream out;
  // A stream that runs out of memory would otherwise say nothing, and cut the text short.
  out.exceptions(std::ios::badbit);
  (out << ... << parts);
  return out.str();
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_STR_CAT_H_
