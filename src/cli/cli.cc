// The command line: which subcommand, and what every kind of failure becomes. A failure is one message on standard
// error that names the place and the way out, and an exit code of the block it belongs to.
#include "cli/cli.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/additions.h"
#include "cli/benchmarks_program.h"
#include "cli/common.h"
#include "cli/retired_options.h"
#include "cluster/join.h"
#include "metactrl/domain.h"
#include "support/gpu_memory_error.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

constexpr const char* kDescription =
    "metactrl: plans from language models that keep the rules, by construction.\n"
    "\n"
    "You give a task in PDDL: which actions there are, what is true now, what is wanted. You get a plan in which "
    "every\n"
    "step is legal and every goal is reached, or a proof that there is none. What is wanted may be said in words. A "
    "first\n"
    "plan, from the root of the source tree, written by a small model that ships:\n"
    "\n"
    "  metactrl plan --domain domains/tabletop/domain.pddl --problem examples/kitchen.pddl --yes \\\n"
    "      --instruction \"The orange and the syrup should be inside the pot, the pot on the stove, and the stove "
    "switched on.\"\n"
    "\n"
    "With --guidance none the model writes alone, and forgets the pot. A task with a goal of its own, with the model "
    "and "
    "without:\n"
    "\n"
    "  metactrl plan   --domain domains/tabletop/domain.pddl --problem domains/tabletop/dishwasher.pddl\n"
    "  metactrl search --domain domains/tabletop/domain.pddl --problem domains/tabletop/dishwasher.pddl\n"
    "\n"
    "Keep a plan, check it as anybody's plan can be checked, and write it for a robot:\n"
    "\n"
    "  metactrl search    -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl --out my.plan\n"
    "  metactrl validate  -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl my.plan\n"
    "  metactrl export bt -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl my.plan\n"
    "\n"
    "Write your own task by copying those two files; 'metactrl check' explains every mistake in them.\n";

constexpr const char* kFooter =
    "\n"
    "'metactrl help COMMAND', or 'metactrl COMMAND --help', lists the options of a command, with examples.\n"
    "\n"
    "Exit codes: 0 done; 10 no plan exists, 11 undecided within the budget, 12 the plan is invalid,\n"
    "13 the goal was not reached, 14 nobody confirmed the goal; 20 out of memory, 21 out of time, 22 no network; 30 "
    "wrong usage, 31 bad input,\n"
    "32 internal error, 33 the world failed.\n";

std::string option_hint(const CLI::App& app, const std::string& unknown) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string guess = internal::did_you_mean(unknown.substr(0, unknown.find('=')), names);
  return guess.empty() ? "" : " (" + guess + ")";
}

// Without memory.
int report_no_memory() {
  std::fputs(
      "metactrl: out of memory; give the program more, or lower --max-states or --max-memory so that it answers within "
      "its budget\n",
      stderr);
  return kOutOfMemory;
}

int report_usage(const std::string& message, const std::string& command) {
  note(str_cat("metactrl: ", message, "; see 'metactrl ", command.empty() ? "" : command + " ", "--help'"));
  return kUsage;
}

// What CLI11 says, in one line of ours.
int report_parse_error(const CLI::ParseError& error, const std::vector<Command>& commands, const CLI::App& app) {
  const CLI::App* active = &app;
  for (const Command& command : commands) {
    if (command.app->parsed()) active = command.app;
  }
  const std::string name = active == &app ? "" : active->get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app.remaining(true);
    if (!extras.empty() && extras[0].starts_with('-')) {
      return report_usage(str_cat("unknown option '", extras[0], "'", option_hint(*active, extras[0])), name);
    }
    if (!extras.empty()) return report_usage(str_cat("unexpected argument '", extras[0], "'"), name);
  }
  std::string message = error.what();
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    message += ": write a number, a whole one for a count";
  for (char& c : message) c = c == '\n' ? ' ' : c;
  return report_usage(message, name);
}

int run_command(const Command& command) {
  try {
    return command.run();
  } catch (...) {
    return report_failure(command.app->get_name());
  }
}

// What stands behind the program's name. 'help COMMAND' is 'COMMAND --help', and 'help' alone '--help'.
std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty() || arguments[0] != "help") return arguments;
  arguments.erase(arguments.begin());
  const bool of_command = !arguments.empty() && arguments[0] != "help" && !arguments[0].starts_with('-');
  return of_command ? std::vector<std::string>{arguments[0], "--help"} : std::vector<std::string>{"--help"};
}

// The first argument, when it is meant as a command but is none.
std::string unknown_command(const std::vector<std::string>& arguments, const std::vector<Command>& commands) {
  if (arguments[0].empty() || arguments[0][0] == '-') return {};
  std::vector<std::string> names = {"help"};
  for (const Command& command : commands) names.push_back(command.app->get_name());
  if (std::find(names.begin(), names.end(), arguments[0]) != names.end()) return {};
  const std::string guess = internal::did_you_mean(arguments[0], names);
  return str_cat("unknown command '", arguments[0], "'", guess.empty() ? "" : " (" + guess + ")");
}

int parse_and_run(const std::vector<std::string>& given, Additions additions) {
  CLI::App app(kDescription, "metactrl");
  const std::vector<Command> commands = add_commands(app, std::move(additions));
  if (given.empty()) {
    note(app.help());
    return kUsage;
  }
  if (const std::string unknown = unknown_command(given, commands); !unknown.empty()) return report_usage(unknown, "");
  // Of the processes that mpirun starts with one command line, the first says what is wrong with it, and has the exit
  // code: mpirun ends all others when one fails, so that another's failure could come before what the first says.
  const bool speaks = cluster::launch().rank == 0;
  ModernArguments modern = without_retired_options(given);
  for (const std::string& warning : modern.warnings) {
    if (speaks) note(warning);
  }
  try {
    std::reverse(modern.arguments.begin(), modern.arguments.end());  // as CLI11 wants them
    app.parse(std::move(modern.arguments));
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
    return kDone;
  } catch (const CLI::ParseError& error) {
    return speaks ? report_parse_error(error, commands, app) : int{kDone};
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return run_command(command);
  }
  return report_usage("no command given", "");
}

}  // namespace

std::vector<Command> add_commands(CLI::App& app, Additions additions) {
  app.set_version_flag("--version", "metactrl " METACTRL_VERSION, "print the version");
  app.set_help_flag("--help,-h", "print this help");
  app.footer(kFooter);
  app.require_subcommand(1);
  std::vector<Command> commands{
      add_plan(app),   add_explain(app),  add_run(app),
      add_serve(app),  add_mcp(app),      add_sample(app, std::move(additions.sample_source)),
      add_corpus(app), add_train(app),    add_hmm(app),
      add_models(app), add_backends(app), add_check(app),
      add_search(app), add_validate(app), additions.inspect ? additions.inspect(add_inspect(app)) : add_inspect(app),
      add_export(app),
  };
  for (const auto& add : additions.commands) commands.push_back(add(app));
  for (const Command& command : commands) {
    command.app->footer(command.app->get_footer() + "\n'metactrl --help' explains the exit codes.\n");
  }
  return commands;
}

int report_failure(const std::string& command) {
  try {
    throw;
  } catch (const UsageError& error) {
    return report_usage(error.what(), command);
  } catch (const TaskTooLarge& error) {
    print_diagnostics(error.diagnostics());
    return kOutOfMemory;
  } catch (const InputError& error) {
    print_diagnostics(error.diagnostics());
    return kBadInput;
  } catch (const EarlyAnswer& answer) {
    note(answer.what());
    return answer.code();
  } catch (const ResourceError& error) {
    note(str_cat("metactrl: ", error.what()));
    return error.code();
  } catch (const internal::GpuMemoryError& error) {
    note(str_cat("metactrl: ", error.what()));
    return kOutOfMemory;
  } catch (const std::bad_alloc&) {
    return report_no_memory();
  } catch (const std::exception& error) {
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    // What std::thread says when there is no room for a stack.
    const bool no_stack = system != nullptr && system->code() == std::errc::resource_unavailable_try_again;
    if (no_stack) return report_no_memory();
    note(str_cat("metactrl: internal error: ", error.what(), "; please report it with the files and the command line"));
    return kInternal;
  }
}

namespace {

// Memory may end where no exception may be thrown, as in a destructor of nlohmann's JSON, or in a thread that nobody
// waits for. There is nothing to clean up that the end of the process does not.
void end_without_memory() {
  try {
    if (const std::exception_ptr failure = std::current_exception()) std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    std::_Exit(report_no_memory());
  } catch (...) {
    std::abort();
  }
  std::abort();
}

template <typename Run>
int without_exceptions(const Run& run) {
  std::set_terminate(end_without_memory);
  try {
    return run();
  } catch (...) {
    return report_failure("");
  }
}

}  // namespace

int run(int argc, const char* const* argv) {
  return without_exceptions([&] {
    const std::vector<std::string> arguments = arguments_of(argc, argv);
    if (const std::string what = needs_benchmarks(arguments); !what.empty()) return hand_over(what, argv);
    return parse_and_run(arguments, {handed_over_commands(argv), nullptr});
  });
}

int run(int argc, const char* const* argv, Additions (*additions)()) {
  return without_exceptions([&] { return parse_and_run(arguments_of(argc, argv), additions()); });
}

}  // namespace metactrl::cli
