// The domains and data of the benchmarks, files below domains/, and the page of a report, below web/: turned into C++ by
// cmake/embed.cmake when the program is built.
#ifndef METACTRL_SRC_BENCHMARKS_SHIPPED_FILES_H_
#define METACTRL_SRC_BENCHMARKS_SHIPPED_FILES_H_

#include <span>
#include <string_view>

namespace metactrl::benchmarks {

struct ShippedFile {
  std::string_view name;  // its path below that folder
  std::string_view text;
};

// Defined in the generated files.
std::span<const ShippedFile> shipped_files();
std::span<const ShippedFile> page_files();

// The text of one of those below domains/; std::logic_error if it is not there.
std::string_view shipped_file(std::string_view name);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_SHIPPED_FILES_H_
