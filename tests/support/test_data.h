// Where tests find files.
//
// Files of this repository are below `test_dir()` (tests/) and `source_dir()`. Larger planning data sets live outside
// the repository: the environment variable METACTRL_DATA names their folder. A test that needs them begins with
//
//     METACTRL_NEEDS_DATA("ipc/STATES.tsv");
//
// and is reported as skipped, with the missing path, where the file or folder does not exist.
//
// Only test_data.cc is compiled with these paths: the other objects are the same in every checkout, so a compiler
// cache can keep them.
#ifndef METACTRL_TESTS_SUPPORT_TEST_DATA_H_
#define METACTRL_TESTS_SUPPORT_TEST_DATA_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace metactrl::testing {

std::filesystem::path source_dir();
std::filesystem::path test_dir();
std::filesystem::path data_dir();

// The program metactrl of this build, for a test with RUNS_PROGRAM.
std::string program();
// Whether this build has metactrl-benchmarks beside it, for a test with RUNS_BENCHMARKS.
bool has_benchmarks_program();

inline std::filesystem::path data_path(const std::string& relative) { return data_dir() / relative; }

inline bool has_data(const std::string& relative) { return std::filesystem::exists(data_path(relative)); }

}  // namespace metactrl::testing

#define METACTRL_NEEDS_DATA(relative)                             \
  if (!metactrl::testing::has_data(relative))                     \
  GTEST_SKIP() << "no " << metactrl::testing::data_path(relative) \
               << "; set METACTRL_DATA to the folder with the planning data to run this test"

#endif  // METACTRL_TESTS_SUPPORT_TEST_DATA_H_
