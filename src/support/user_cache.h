// Where the program keeps what it fetched.
#ifndef METACTRL_SRC_SUPPORT_USER_CACHE_H_
#define METACTRL_SRC_SUPPORT_USER_CACHE_H_

#include <filesystem>

namespace metactrl::internal {

// $METACTRL_CACHE, $XDG_CACHE_HOME/metactrl or ~/.cache/metactrl; empty when none of these is set. Need not be there.
std::filesystem::path user_cache();

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_USER_CACHE_H_
