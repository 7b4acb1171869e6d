// What a newcomer tries first: the example on the first screen of README.md, with the model that ships, and every command that `metactrl --help` shows.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "support/command_line.h"

namespace metactrl::readme_test {
namespace {

class FirstCommands : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    for (const char* name : {"domains", "examples"}) {
      std::filesystem::create_directory_symlink(testing::source_dir() / name, folder() / name);
    }
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// Lines that go on behind a backslash as one.
std::string joined(std::string text) {
  for (std::size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n")) text.erase(at, 2);
  return text;
}

// Behind the program's name.
std::string quickstart_arguments() {
  const std::string text = joined(testing::read_text(testing::source_dir() / "scripts/quickstart"));
  const std::string program = "exec build/metactrl ";
  const std::string rest = " \"$@\"";
  const std::size_t begin = text.find(program);
  const std::size_t end = text.find(rest, begin);
  EXPECT_NE(end, std::string::npos);
  if (end == std::string::npos) return {};
  return text.substr(begin + program.size(), end - begin - program.size());
}

// The block with two plans side by side, and what is said of them: what the model writes alone, and what it writes held to the task.
struct Columns {
  std::string alone;
  std::string held;
};

Columns first_example() {
  const std::vector<std::string> lines = lines_of(testing::read_text(testing::source_dir() / "README.md"));
  Columns out;
  bool inside = false;
  std::size_t column = std::string::npos;
  for (const std::string& line : lines) {
    if (line.starts_with("```")) {
      if (column != std::string::npos) break;
      inside = !inside;
      continue;
    }
    if (!inside) continue;
    if (column == std::string::npos && line.starts_with("(")) column = line.find('(', 1);
    if (column == std::string::npos) continue;
    const std::string left = line.substr(0, column);
    const std::size_t last = left.find_last_not_of(' ');
    if (last != std::string::npos) out.alone += left.substr(0, last + 1) + "\n";
    if (line.size() > column) out.held += line.substr(column) + "\n";
  }
  return out;
}

// Is all of this said, a line of it in one piece?
void expect_said(const std::string& column, const testing::CommandResult& result) {
  EXPECT_FALSE(column.empty());
  for (const std::string& line : lines_of(column)) {
    EXPECT_NE((result.out + result.err).find(line), std::string::npos) << "not said: " << line << "\n"
                                                                       << result.out << result.err;
  }
}

TEST_F(FirstCommands, ReadmesExampleIsWhatComesOut) {
  const std::string command = quickstart_arguments();
  EXPECT_CONTAINS(command, "--instruction");
  const Columns shown = first_example();
  const testing::CommandResult held = run(command);
  EXPECT_EQ(held.code, 0) << held.err;
  expect_said(shown.held, held);
  // The model alone reads the instruction alike, and misses the goal.
  const testing::CommandResult alone = run(command + " --guidance none");
  EXPECT_EQ(alone.code, 12) << alone.err;
  expect_said(shown.alone, alone);
  const std::size_t goal = held.err.find("(and (");
  ASSERT_NE(goal, std::string::npos);
  const std::string line = held.err.substr(goal, held.err.find('\n', goal) - goal);
  EXPECT_CONTAINS(alone.err, line);
  EXPECT_CONTAINS(testing::read_text(testing::source_dir() / "README.md"), line);
}

TEST_F(FirstCommands, ThoseOfTheHelpWork) {
  std::size_t commands = 0;
  for (const std::string& line : lines_of(joined(run("--help").out))) {
    const std::string program = "  metactrl ";
    if (!line.starts_with(program)) continue;
    const testing::CommandResult result = run(line.substr(program.size()));
    EXPECT_EQ(result.code, 0) << line << "\n" << result.err;
    ++commands;
  }
  EXPECT_GE(commands, 5U);
}

}  // namespace
}  // namespace metactrl::readme_test
