// The program metactrl-benchmarks, an optional component: all commands of metactrl, and those that answer and judge
// benchmarks.
//
//     if (const std::string what = needs_benchmarks(arguments); !what.empty()) return hand_over(what, argv);
//
// `metactrl eval ...` becomes that program in the same process, so that a user, a shell and mpirun see one program. It is
// looked for beside metactrl itself (a build), then where it is installed (libexec/metactrl).
#ifndef METACTRL_SRC_CLI_BENCHMARKS_PROGRAM_H_
#define METACTRL_SRC_CLI_BENCHMARKS_PROGRAM_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common.h"

namespace metactrl::cli {

// Declares one of the commands that come with the benchmarks: "eval", "score", "reproduce" or "import".
CLI::App* add_benchmarks_command(CLI::App& parent, std::string_view name);
// All of them as metactrl lists them: without their options, and with what to do where they are not installed.
std::vector<std::function<Command(CLI::App&)>> handed_over_commands(const char* const* argv);

// Empty when it is not installed.
std::filesystem::path benchmarks_program();
// What of a command line takes that program: "eval", "sample --module"; empty when nothing does.
std::string needs_benchmarks(const std::vector<std::string>& arguments);
// Becomes that program. Returns, with an exit code, only where that cannot be; standard error has the reason and what to
// do about it.
int hand_over(const std::string& what, const char* const* argv);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_BENCHMARKS_PROGRAM_H_
