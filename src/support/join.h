// Names in a row: join({"a", "b"}, ", ") is "a, b".
#ifndef METACTRL_SRC_SUPPORT_JOIN_H_
#define METACTRL_SRC_SUPPORT_JOIN_H_

#include <string>
#include <string_view>

namespace metactrl::internal {

template <typename Names>
std::string join(const Names& names, std::string_view between) {
  std::string out;
  for (const auto& name : names) {
    if (&name != &*names.begin()) out += between;
    out += name;
  }
  return out;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_JOIN_H_
