#include "cli/benchmarks_program.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "cli/places.h"
#include "cluster/join.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct BenchmarksCommand {
  std::string_view name;
  const char* summary;
};

constexpr std::array kCommands = {
    BenchmarksCommand{"eval", "answer the prompts of a benchmark"},
    BenchmarksCommand{"score", "judge answers as the benchmark's evaluator would"},
    BenchmarksCommand{"reproduce", "the paper's tables: every row for every benchmark"},
    BenchmarksCommand{"import", "turn a benchmark's checkout into prompts and tasks"},
};

// The options of `sample` and `inspect` that are about a benchmark.
constexpr std::array<std::string_view, 7> kBenchmarkOptions = {"--module", "--prompts", "--tasks", "--scenes",
                                                               "--system", "--prompt",  "--rules"};

constexpr const char* kGroup = "Benchmarks";
constexpr const char* kProgram = "metactrl-benchmarks";
constexpr const char* kRemedy =
    "build it with 'scripts/build -DMETACTRL_EVALUATION=ON', or install the Debian package metactrl-benchmarks";

bool is_command(std::string_view name) {
  return std::any_of(kCommands.begin(), kCommands.end(), [&](const auto& command) { return command.name == name; });
}

}  // namespace

CLI::App* add_benchmarks_command(CLI::App& parent, std::string_view name) {
  for (const BenchmarksCommand& command : kCommands) {
    if (command.name == name) return parent.add_subcommand(std::string(name), command.summary)->group(kGroup);
  }
  throw std::logic_error(str_cat("no command of the benchmarks: ", name));
}

std::vector<std::function<Command(CLI::App&)>> handed_over_commands(const char* const* argv) {
  const bool installed = !benchmarks_program().empty();
  const std::string group =
      installed ? kGroup : str_cat(kGroup, " (not installed; 'metactrl eval' says how to get them)");
  std::vector<std::function<Command(CLI::App&)>> commands;
  for (const BenchmarksCommand& command : kCommands) {
    commands.emplace_back([name = std::string(command.name), group, argv](CLI::App& parent) {
      CLI::App* app = add_benchmarks_command(parent, name)->group(group);
      return Command{app, [name, argv] { return hand_over(name, argv); }};
    });
  }
  return commands;
}

std::filesystem::path benchmarks_program() {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  for (const std::string_view folder : {std::string_view("."), libexec_from_program()}) {
    const std::filesystem::path program = (self.parent_path() / folder / kProgram).lexically_normal();
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

std::string needs_benchmarks(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {};
  if (is_command(arguments[0])) return arguments[0];
  if (arguments[0] != "sample" && arguments[0] != "inspect") return {};
  for (const std::string_view argument : arguments) {
    const std::string_view option = argument.substr(0, argument.find('='));
    if (std::find(kBenchmarkOptions.begin(), kBenchmarkOptions.end(), option) != kBenchmarkOptions.end()) {
      return str_cat(arguments[0], " ", option);
    }
    // The help of the program that can do more, where it is there.
    if ((argument == "--help" || argument == "-h") && !benchmarks_program().empty()) {
      return str_cat(arguments[0], " --help");
    }
  }
  return {};
}

int hand_over(const std::string& what, const char* const* argv) {
  const std::filesystem::path program = benchmarks_program();
  std::string reason = "which is not installed";
  if (!program.empty()) {
    // execv changes neither; its type is older than const.
    ::execv(program.c_str(), const_cast<char* const*>(argv));
    reason = str_cat("and ", program.string(), " cannot be started: ", std::generic_category().message(errno));
  }
  // Of the processes that mpirun starts with one command line, the first says what is wrong with it.
  if (cluster::launch().rank > 0) return kDone;
  note(str_cat("metactrl: '", what, "' needs the program ", kProgram, ", ", reason, "; ", kRemedy));
  return kUsage;
}

}  // namespace metactrl::cli
