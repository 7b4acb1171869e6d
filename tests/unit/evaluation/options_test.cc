// One convention for the options of all commands: what has one name is one thing, and docs/cli.md says which.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/additions.h"
#include "cli/retired_options.h"
#include "evaluation/commands.h"
#include "support/command_line.h"
#include "support/test_data.h"

namespace metactrl::options_test {
namespace {

struct Declared {
  std::string command;
  std::string name;  // without its hyphens
  std::string shortcut;
  std::string type;
  std::string help;
};

// Of metactrl-benchmarks, which has all commands.
std::vector<Declared> declared_options() {
  CLI::App app;
  std::vector<Declared> declared;
  for (const cli::Command& command : cli::add_commands(app, evaluation::additions())) {
    for (const CLI::Option* option : command.app->get_options()) {
      if (option->get_positional()) continue;
      EXPECT_EQ(option->get_lnames().size(), 1U) << command.app->get_name() << ' ' << option->get_name();
      EXPECT_LE(option->get_snames().size(), 1U) << command.app->get_name() << ' ' << option->get_name();
      declared.push_back({command.app->get_name(), option->get_lnames().at(0),
                          option->get_snames().empty() ? "" : option->get_snames()[0], option->get_type_name(),
                          option->get_description()});
    }
  }
  return declared;
}

// A name's type, where it does not depend on the command: --output has fewer forms where there is no plan to write,
// --out is a folder where there is more than one file, and tables are made by several --rules.
std::string common_type(const Declared& option) {
  if (option.name == "output" && option.type == "text|json") return "text|json|pddl";
  if (option.name == "out" && option.type == "DIR") return "FILE";
  if (option.name == "rules" && option.type == "LIST") return "environment|paper|literal";
  return option.type;
}

TEST(Options, WhatHasOneNameIsOneThing) {
  std::map<std::string, Declared> by_name;
  std::map<std::string, std::string> by_shortcut;
  for (const Declared& option : declared_options()) {
    const std::string where = option.command + " --" + option.name;
    EXPECT_FALSE(option.help.empty()) << where;
    const Declared& first = by_name.try_emplace(option.name, option).first->second;
    const std::string elsewhere = where + ", but " + first.command + " --" + first.name;
    EXPECT_EQ(common_type(option), common_type(first)) << elsewhere;
    EXPECT_EQ(option.shortcut, first.shortcut) << elsewhere;
    if (option.shortcut.empty()) continue;
    EXPECT_EQ(by_shortcut.try_emplace(option.shortcut, option.name).first->second, option.name) << where;
  }
  ASSERT_TRUE(by_name.contains("out"));
  EXPECT_EQ(by_name["out"].shortcut, "o");
  EXPECT_EQ(common_type(by_name["output"]), "text|json|pddl");
  EXPECT_EQ(by_name["instruction"].type, "TEXT");
  EXPECT_FALSE(by_name.contains("json"));
}

// Who chooses the form can choose the place.
TEST(Options, WhereThereIsOutputThereIsOut) {
  std::map<std::string, std::set<std::string>> of_command;
  for (const Declared& option : declared_options()) of_command[option.command].insert(option.name);
  std::size_t with_output = 0;
  for (const auto& [command, names] : of_command) {
    if (!names.contains("output")) continue;
    ++with_output;
    EXPECT_TRUE(names.contains("out")) << command;
  }
  EXPECT_EQ(with_output, 12U);
}

// What two commands or more have is in the table of conventions, with its short name and its value.
TEST(Options, TheTableOfConventionsIsWhole) {
  std::map<std::string, std::set<std::string>> commands;
  std::map<std::string, Declared> by_name;
  for (const Declared& option : declared_options()) {
    commands[option.name].insert(option.command);
    by_name.emplace(option.name, option);
  }
  std::set<std::string> expected;
  for (const auto& [name, where] : commands) {
    if (where.size() < 2) continue;
    const Declared& option = by_name[name];
    const std::string type = common_type(option);
    const bool choice = type.find('|') != std::string::npos;
    expected.insert("| `--" + name + "`" + (option.shortcut.empty() ? "" : ", `-" + option.shortcut + "`") +
                    (type.empty() || choice ? "" : " " + type) + " |");
  }
  const std::string page = testing::read_text(testing::source_dir() / "docs/cli.md");
  const std::size_t begin = page.find("\n## The same in every command\n");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream section(page.substr(begin, page.find("\n## ", begin + 1) - begin));
  std::set<std::string> documented;
  for (std::string line; std::getline(section, line);) {
    if (line.starts_with("| `--")) documented.insert(line.substr(0, line.find(" |") + 2));
  }
  EXPECT_EQ(documented, expected);
}

TEST(Options, WhatIsRetiredIsNoLongerDeclaredAndLeadsToWhatIs) {
  std::set<std::string> declared;
  for (const Declared& option : declared_options()) {
    declared.insert(option.command + " --" + option.name);
    EXPECT_TRUE(cli::without_retired_options({option.command, "--" + option.name}).warnings.empty())
        << option.command << " --" << option.name;
  }
  const std::vector<std::vector<std::string>> retired = {
      {"backends", "--json"}, {"check", "--json"},       {"hmm", "--json"},       {"inspect", "--json"},
      {"models", "--json"},   {"run", "--json"},         {"score", "--json"},     {"search", "--json"},
      {"validate", "--json"}, {"plan", "--prompt"},      {"explain", "--prompt"}, {"plan", "--raw-prompt"},
      {"plan", "-o", "json"}, {"explain", "-o", "text"}, {"run", "--report"},     {"eval", "--instruction"}};
  for (const std::vector<std::string>& arguments : retired) {
    const cli::ModernArguments modern = cli::without_retired_options(arguments);
    ASSERT_EQ(modern.warnings.size(), 1U) << arguments[0] << ' ' << arguments[1];
    ASSERT_GE(modern.arguments.size(), 2U);
    EXPECT_TRUE(declared.contains(arguments[0] + " " + modern.arguments[1])) << modern.arguments[1];
  }
  // Once for each spelling, however often it is there; not behind --, and not for a file.
  EXPECT_EQ(cli::without_retired_options({"check", "--json", "--json"}).warnings.size(), 1U);
  EXPECT_TRUE(cli::without_retired_options({"check", "--", "--json"}).warnings.empty());
  const std::vector<std::string> file = {"plan", "-o", "out.json"};
  EXPECT_EQ(cli::without_retired_options(file).arguments, file);
}

}  // namespace
}  // namespace metactrl::options_test
