// The domains and problems that ship, as part of the program: a request names them and never a file.
#ifndef METACTRL_SRC_SERVE_SHIPPED_TASKS_H_
#define METACTRL_SRC_SERVE_SHIPPED_TASKS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::serve {

// A file below domains/, turned into C++ by cmake/embed.cmake.
struct ShippedTaskFile {
  std::string_view name;  // its path below domains/
  std::string_view text;
};
// Defined in the generated file.
std::span<const ShippedTaskFile> shipped_task_files();

struct ShippedProblem {
  std::string name;
  std::string_view text;
};

struct ShippedDomain {
  std::string name;  // "tabletop", or "virtualhome-actions/paper" where a folder has several
  std::string_view text;
  std::vector<ShippedProblem> problems;
};

// Those with problems first, then by name.
const std::vector<ShippedDomain>& shipped_domains();

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_SHIPPED_TASKS_H_
