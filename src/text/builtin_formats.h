// The plan formats that are part of the library: the files domains/formats/*.format, turned into C++ by
// cmake/embed.cmake when the library is built.
#ifndef METACTRL_SRC_TEXT_BUILTIN_FORMATS_H_
#define METACTRL_SRC_TEXT_BUILTIN_FORMATS_H_

#include <span>
#include <string_view>

namespace metactrl::text {

struct BuiltinFormat {
  std::string_view name;
  std::string_view text;
};

// Ordered by name. Defined in the generated file.
std::span<const BuiltinFormat> builtin_formats();

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_BUILTIN_FORMATS_H_
