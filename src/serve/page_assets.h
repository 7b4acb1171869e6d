// The browser page: files of web/dist, turned into C++ by cmake/embed.cmake.
#ifndef METACTRL_SRC_SERVE_PAGE_ASSETS_H_
#define METACTRL_SRC_SERVE_PAGE_ASSETS_H_

#include <span>
#include <string_view>

namespace metactrl::serve {

struct PageAsset {
  std::string_view name;  // its path below web/dist
  std::string_view text;
};

// Defined in the generated file.
std::span<const PageAsset> page_assets();

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_PAGE_ASSETS_H_
