// metactrl import: a benchmark's own files, turned into prompts and tasks that eval and score read.
#include <unistd.h>

#include <memory>
#include <string>

#include "benchmarks/import_eai.h"
#include "cli/benchmarks_program.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "evaluation/commands.h"
#include "support/str_cat.h"

namespace metactrl::evaluation {

using cli::add_out_option;
using cli::catch_interrupts;
using cli::Command;
using cli::interrupted;
using cli::kBadInput;
using cli::kDone;
using cli::kInterrupted;
using cli::note;
using cli::one_of;
using cli::print;
using cli::set_stoppable;
using internal::str_cat;

namespace {

struct ImportArguments {
  std::string benchmark;
  benchmarks::ImportOptions options;
};

// "VirtualHome: task 42 of 342", on a terminal.
class TaskLine {
 public:
  TaskLine() : terminal_(::isatty(STDERR_FILENO) != 0) {}
  ~TaskLine() { clear(); }
  TaskLine(const TaskLine&) = delete;
  TaskLine& operator=(const TaskLine&) = delete;

  void show(std::string_view what, std::size_t done, std::size_t total) {
    if (!terminal_) return;
    const std::string line = str_cat(what, ": task ", done + 1, " of ", total);
    clear();
    std::fputs(line.c_str(), stderr);
    width_ = line.size();
  }

 private:
  void clear() {
    if (width_ == 0) return;
    std::fputs(("\r" + std::string(width_, ' ') + "\r").c_str(), stderr);
    width_ = 0;
  }

  bool terminal_;
  std::size_t width_ = 0;
};

int run_import(ImportArguments& arguments) {
  catch_interrupts();
  set_stoppable(true);
  arguments.options.cancelled = [] { return interrupted(); };
  benchmarks::ImportResult result;
  {
    TaskLine line;
    arguments.options.progress = [&](std::string_view what, std::size_t done, std::size_t total) {
      line.show(what, done, total);
    };
    result = benchmarks::import_eai(arguments.options);
  }
  set_stoppable(false);
  if (result.cancelled) {
    note("metactrl: stopped before the end; import again with --resume to go on");
    return kInterrupted;
  }
  for (const std::string& file : result.files) print(file + "\n");
  for (const std::string& text : result.notes) note(text);
  for (const std::string& text : result.missing) note(text);
  return result.missing.empty() ? kDone : kBadInput;
}

constexpr const char* kImportExamples =
    "\n"
    "  git clone https://github.com/embodied-agent-interface/embodied-agent-interface\n"
    "  metactrl import eai --root embodied-agent-interface --out data\n"
    "  metactrl eval  vh-as --prompts data/eai_vh/as_prompts.json --guidance search --out answers.json\n"
    "  metactrl score vh-as --tasks data/eai_vh/as.jsonl --responses answers.json\n"
    "\n"
    "Each file is written whole or not at all, and its name printed. Ends with 31 when some of the prompts could not\n"
    "be made; what is said then names the command of the benchmark that makes them.\n";

}  // namespace

Command add_import(CLI::App& parent) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* app = cli::add_benchmarks_command(parent, "import");
  app->add_option("benchmark", arguments->benchmark, "which: the Embodied Agent Interface")
      ->type_name("eai")
      ->required()
      ->check(one_of({"eai"}));
  app->add_option("--root", arguments->options.root, "folder of the checkout")->type_name("DIR")->required();
  add_out_option(*app, arguments->options.out, "folder for eai_vh/ and eai_beh/", "DIR")->required();
  app->add_option("--vh-as-prompts", arguments->options.vh_as_prompts,
                  "prompts of vh-as that the benchmark's generator wrote; without it, those in the checkout's output/, "
                  "and where there are none they are made from its template")
      ->type_name("FILE");
  app->add_option("--sizes", arguments->options.sizes, "sizes of BEHAVIOR's objects, which a checkout does not have")
      ->type_name("FILE");
  app->add_flag("--resume", arguments->options.resume, "go on with an import that was interrupted");
  app->footer(kImportExamples);
  return {app, [arguments] { return run_import(*arguments); }};
}

}  // namespace metactrl::evaluation
