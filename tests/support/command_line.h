// Tests that run the program as a user does, each in a folder of its own.
//
//     class EvalCli : public testing::CommandLineTest { ... };
//     TEST_F(EvalCli, NamesWhatIsWrong) {
//       write("p.json", "[]");
//       const CommandResult result = run("eval vh-as --prompts p.json");
//       EXPECT_EQ(result.code, 21) << result.err;
//     }
//
// What the program remembers between calls is in the test's folder, too.
#ifndef METACTRL_TESTS_SUPPORT_COMMAND_LINE_H_
#define METACTRL_TESTS_SUPPORT_COMMAND_LINE_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "support/test_data.h"

namespace metactrl::testing {

struct CommandResult {
  int code = -1;  // -1: a signal ended it
  std::string out;
  std::string err;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class CommandLineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / ("metactrl_" + std::string(info->test_suite_name()) + "_" +
                                                        std::to_string(::getpid()) + "_" + std::string(info->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // In the test's folder, unless it is named from the root on.
  std::string read(const std::string& name) const { return read_text(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }

  // For a shell; `environment` holds further settings, NAME=VALUE. The shell becomes the program.
  std::string command(const std::string& arguments, const std::string& environment = "") const {
    return "cd '" + folder_.string() + "' && exec env METACTRL_CACHE='" + path("cache") +
           "' METACTRL_BACKENDS= NO_COLOR=1 " + environment + " '" + program() + "' " + arguments;
  }
  CommandResult run(const std::string& arguments, const std::string& environment = "") const {
    const std::string line =
        "( " + command(arguments, environment) + " ) >'" + path("out") + "' 2>'" + path("err") + "' </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  // How it ends when Ctrl-C comes after so long; nothing where it had not begun to listen. What it wrote is in "out" and "err".
  std::optional<int> interrupted_after(useconds_t microseconds, const std::string& arguments) const {
    const std::string line = command(arguments) + " >'" + path("out") + "' 2>'" + path("err") + "' </dev/null";
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    EXPECT_GE(pid, 0);
    ::usleep(microseconds);
    if (pid > 0) ::kill(pid, SIGINT);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? std::nullopt : std::optional<int>(WEXITSTATUS(status));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace metactrl::testing

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

#endif  // METACTRL_TESTS_SUPPORT_COMMAND_LINE_H_
