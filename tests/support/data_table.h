// Tables and files of the data sets that are not part of the repository (support/test_data.h).
#ifndef METACTRL_TESTS_SUPPORT_DATA_TABLE_H_
#define METACTRL_TESTS_SUPPORT_DATA_TABLE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/test_data.h"

namespace metactrl::testing {

// The rows of a file with tabs between its columns, without the heading.
inline std::vector<std::vector<std::string>> data_table(const std::string& file) {
  std::ifstream in(data_path(file));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);  // the heading
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

inline std::string data_text(const std::string& file) {
  std::ifstream in(data_path(file), std::ios::binary);
  EXPECT_TRUE(in.good()) << file;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Compares the reasons for refusals with those that are expected, by name.
class Refusals {
 public:
  explicit Refusals(std::map<std::string, std::string> expected) : expected_(std::move(expected)) {}

  void found(const std::string& name, const std::string& reason) {
    const auto expected = expected_.find(name);
    if (expected == expected_.end()) {
      EXPECT_EQ(reason, "") << name;
      return;
    }
    EXPECT_NE(reason.find(expected->second), std::string::npos) << name << ": '" << reason << "'";
    expected_.erase(expected);
  }
  void finish() const {
    for (const auto& [name, reason] : expected_) ADD_FAILURE() << name << " is not there";
  }

 private:
  std::map<std::string, std::string> expected_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_DATA_TABLE_H_
