// The names of an enumeration's values: written once, read in both directions.
//
//     constexpr auto enum_names(Guidance) {
//       return internal::names<Guidance>({{Guidance::kNone, "none"}, {Guidance::kSyntax, "syntax"}});
//     }
//
//     internal::name_of(Guidance::kSyntax)          // "syntax"
//     internal::value_named<Guidance>("syntax")     // Guidance::kSyntax; nothing for a name that no value has
//     for (const auto& [value, name] : enum_names(Guidance{})) ...
//
// The table stands in the enumeration's namespace: beside it, or for those of public headers in a header of the module
// that owns them (decode/names.h). The public to_string reads it, and so do the command line and the service, which list
// the names that they accept, in its order.
#ifndef METACTRL_SRC_SUPPORT_ENUM_NAMES_H_
#define METACTRL_SRC_SUPPORT_ENUM_NAMES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace metactrl::internal {

template <typename Enum>
struct EnumName {
  Enum value;
  const char* name;
};

template <typename Enum, std::size_t kSize>
constexpr std::array<EnumName<Enum>, kSize> names(const EnumName<Enum> (&all)[kSize]) {
  return std::to_array(all);
}

// Empty for a number that is no value.
template <typename Enum>
constexpr const char* name_of(Enum value) {
  for (const EnumName<Enum>& one : enum_names(value)) {
    if (one.value == value) return one.name;
  }
  return "";
}

template <typename Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
  for (const EnumName<Enum>& one : enum_names(Enum{})) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_ENUM_NAMES_H_
