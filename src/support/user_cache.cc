#include "support/user_cache.h"

#include <cstdlib>
#include <string>

namespace metactrl::internal {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path user_cache() {
  if (const std::string cache = environment("METACTRL_CACHE"); !cache.empty()) return cache;
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) {
    return std::filesystem::path(cache) / "metactrl";
  }
  const std::string home = environment("HOME");
  return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".cache" / "metactrl";
}

}  // namespace metactrl::internal
