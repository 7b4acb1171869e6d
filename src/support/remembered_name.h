// Names of predicates that nobody is told of: their facts remember what was on the way, or whether a time has passed.
#ifndef METACTRL_SRC_SUPPORT_REMEMBERED_NAME_H_
#define METACTRL_SRC_SUPPORT_REMEMBERED_NAME_H_

#include <string>
#include <string_view>

namespace metactrl::internal {

// No file has a name with a blank.
constexpr std::string_view kRemembers = "remembers ";

inline std::string remembered_name(std::string_view what) { return std::string(kRemembers).append(what); }

inline bool is_remembered_name(std::string_view predicate) { return predicate.starts_with(kRemembers); }

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_REMEMBERED_NAME_H_
