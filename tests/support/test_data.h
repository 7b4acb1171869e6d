// Where tests find files.
//
// Files of this repository are below `test_dir()` (tests/) and `source_dir()`. Larger planning data sets live outside
// the repository: the environment variable METACTRL_DATA names their folder. A test that needs them begins with
//
//     METACTRL_NEEDS_DATA("ipc/STATES.tsv");
//
// and is reported as skipped, with the missing path, where the file or folder does not exist. Excerpts of some of them
// ship in tests/data. A test that can run on either takes an Extent:
//
//     class Vectors : public ::testing::TestWithParam<Extent> {};
//     TEST_P(Vectors, AreReproduced) {
//       METACTRL_NEEDS_EXTENT(GetParam(), "eai_vh");
//       read(data_path("eai_vh/as.jsonl", GetParam()));
//     }
//     INSTANTIATE_TEST_SUITE_P(Data, Vectors, ::testing::ValuesIn(kExtents), extent_name);
//
// Only test_data.cc is compiled with these paths: the other objects are the same in every checkout, so a compiler
// cache can keep them.
#ifndef METACTRL_TESTS_SUPPORT_TEST_DATA_H_
#define METACTRL_TESTS_SUPPORT_TEST_DATA_H_

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <ostream>
#include <string>

namespace metactrl::testing {

std::filesystem::path source_dir();
std::filesystem::path test_dir();
std::filesystem::path data_dir();

// The program metactrl of this build, for a test with RUNS_PROGRAM.
std::string program();
// Whether this build has metactrl-benchmarks beside it, for a test with RUNS_BENCHMARKS.
bool has_benchmarks_program();

// The excerpts, which every clone has, or the data set that they are from.
enum class Extent { kExcerpt, kWhole };
inline constexpr std::array kExtents = {Extent::kExcerpt, Extent::kWhole};

inline std::string to_string(Extent extent) { return extent == Extent::kExcerpt ? "Excerpt" : "Whole"; }
inline std::string extent_name(const ::testing::TestParamInfo<Extent>& info) { return to_string(info.param); }
inline void PrintTo(Extent extent, std::ostream* out) { *out << to_string(extent); }

inline std::filesystem::path data_path(const std::string& relative, Extent extent = Extent::kWhole) {
  return (extent == Extent::kWhole ? data_dir() : test_dir() / "data") / relative;
}

inline bool has_data(const std::string& relative) { return std::filesystem::exists(data_path(relative)); }

}  // namespace metactrl::testing

#define METACTRL_NEEDS_DATA(relative)                             \
  if (!metactrl::testing::has_data(relative))                     \
  GTEST_SKIP() << "no " << metactrl::testing::data_path(relative) \
               << "; set METACTRL_DATA to the folder with the planning data to run this test"

// Excerpts are always there.
#define METACTRL_NEEDS_EXTENT(extent, relative) \
  if ((extent) == metactrl::testing::Extent::kWhole) METACTRL_NEEDS_DATA(relative)

#endif  // METACTRL_TESTS_SUPPORT_TEST_DATA_H_
