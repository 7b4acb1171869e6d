// Replays the malformed PDDL files of tests/golden/malformed and compares every diagnostic with NAME.expected, to the
// letter.
//
// A case is one file. It is read as the problem when it says "(problem", as the domain otherwise; the other file is
// good_problem.pddl or good_domain.pddl. After a deliberate change of wording run the test once with
// METACTRL_UPDATE_GOLDEN=1 and read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "pddl/parse.h"
#include "support/test_data.h"

namespace metactrl::pddl::golden_test {
namespace {

namespace fs = std::filesystem;

fs::path directory() { return testing::test_dir() / "golden" / "malformed"; }

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> cases() {
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory())) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".pddl" && !name.starts_with("good_")) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string diagnose(const std::string& name) {
  const std::string text = read(directory() / (name + ".pddl"));
  const bool is_problem = text.find("(problem") != std::string::npos;
  const std::string good_name = is_problem ? "good_domain.pddl" : "good_problem.pddl";
  const std::string good = read(directory() / good_name);
  const Source tested{name + ".pddl", text};
  const Source other{good_name, good};
  Diagnostics diagnostics;
  parse(is_problem ? other : tested, is_problem ? tested : other, diagnostics);
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.items()) {
    // A malformed domain leaves the good problem without its names: only the file under test is compared.
    if (diagnostic.where.file == tested.name) out += to_string(diagnostic) + "\n";
  }
  return out;
}

class MalformedPddl : public ::testing::TestWithParam<std::string> {};

TEST_P(MalformedPddl, GivesTheExpectedDiagnostics) {
  const std::string actual = diagnose(GetParam());
  EXPECT_FALSE(actual.empty()) << "every case of this corpus has something to complain about";
  const fs::path expected = directory() / (GetParam() + ".expected");
  if (std::getenv("METACTRL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected, std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(actual, read(expected));
}

INSTANTIATE_TEST_SUITE_P(Corpus, MalformedPddl, ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<std::string>& info) { return info.param; });

TEST(MalformedPddl, CorpusIsComplete) {
  EXPECT_GE(cases().size(), 40U);
  for (const fs::directory_entry& entry : fs::directory_iterator(directory())) {
    if (entry.path().extension() != ".expected") continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".pddl"))) << entry.path() << " has no case";
  }
}

TEST(MalformedPddl, TheGoodCounterpartsAreGood) {
  const std::string domain = read(directory() / "good_domain.pddl");
  const std::string problem = read(directory() / "good_problem.pddl");
  Diagnostics diagnostics;
  const Ast ast = parse({"good_domain.pddl", domain}, {"good_problem.pddl", problem}, diagnostics);
  EXPECT_EQ(diagnostics.num_errors(), 0U);
  EXPECT_EQ(diagnostics.num_warnings(), 0U);
  EXPECT_EQ(ast.actions.size(), 2U);
}

}  // namespace
}  // namespace metactrl::pddl::golden_test
