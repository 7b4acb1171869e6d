// Pages that are written for people: files below web/, turned into C++ by cmake/embed.cmake when the program is built.
#ifndef METACTRL_SRC_BENCHMARKS_PAGE_FILES_H_
#define METACTRL_SRC_BENCHMARKS_PAGE_FILES_H_

#include <span>
#include <string_view>

namespace metactrl::benchmarks {

struct PageFile {
  std::string_view name;  // its path below web/
  std::string_view text;
};

// Defined in the generated file.
std::span<const PageFile> page_files();

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PAGE_FILES_H_
