#include "support/test_data.h"

#include <cstdlib>

namespace metactrl::testing {

std::filesystem::path source_dir() { return METACTRL_SOURCE_DIR; }

std::filesystem::path test_dir() { return source_dir() / "tests"; }

std::filesystem::path data_dir() {
  const char* from_environment = std::getenv("METACTRL_DATA");
  return from_environment != nullptr && *from_environment != '\0' ? from_environment : METACTRL_DEFAULT_DATA;
}

std::string program() { return METACTRL_PROGRAM; }

bool has_benchmarks_program() { return METACTRL_HAS_BENCHMARKS != 0; }

}  // namespace metactrl::testing
