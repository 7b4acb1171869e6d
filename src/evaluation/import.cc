// metactrl import: a benchmark's own files, turned into prompts and tasks that eval and score read.
#include <memory>
#include <optional>
#include <string>

#include "benchmarks/import_eai.h"
#include "cli/benchmarks_program.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "evaluation/commands.h"
#include "evaluation/options.h"
#include "support/words.h"

namespace metactrl::evaluation {

namespace {

struct ImportArguments {
  std::string benchmark;
  benchmarks::ImportOptions options;
};

int run_import(ImportArguments& arguments) {
  cli::catch_interrupts();
  cli::set_stoppable(true);
  arguments.options.cancelled = [] { return cli::interrupted(); };
  benchmarks::ImportResult result;
  {
    std::string shown;
    std::optional<cli::CountProgress> progress;
    arguments.options.progress = [&](std::string_view what, std::size_t done, std::size_t total) {
      if (what != shown) progress.emplace(str_cat("tasks of ", shown = what), static_cast<double>(total));
      progress->done(static_cast<double>(done));
    };
    result = benchmarks::import_eai(arguments.options);
  }
  cli::set_stoppable(false);
  if (result.cancelled) {
    cli::note("metactrl: stopped before the end; import again with --resume to go on");
    return cli::kInterrupted;
  }
  for (const std::string& file : result.files) cli::print(file + "\n");
  for (const std::string& text : result.notes) cli::note(text);
  for (const std::string& text : result.missing) cli::note(text);
  return result.missing.empty() ? cli::kDone : cli::kBadInput;
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

cli::Command add_import(CLI::App& parent) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* app = cli::add_benchmarks_command(parent, "import");
  app->add_option("benchmark", arguments->benchmark, "which: the Embodied Agent Interface")
      ->type_name("eai")
      ->required()
      ->check(cli::one_of({"eai"}));
  add_folder(*app, "--root", arguments->options.root, "folder of the checkout")->required();
  cli::add_out_option(*app, arguments->options.out, "folder for eai_vh/ and eai_beh/", "DIR")->required();
  add_file(*app, "--vh-as-prompts", arguments->options.vh_as_prompts,
           "prompts of vh-as that the benchmark's generator wrote; without it, those in the checkout's output/, "
           "and where there are none they are made from its template");
  add_file(*app, "--sizes", arguments->options.sizes, "sizes of BEHAVIOR's objects, which a checkout does not have");
  app->add_flag("--resume", arguments->options.resume, "go on with an import that was interrupted");
  app->footer(kImportExamples);
  return {app, [arguments] { return run_import(*arguments); }};
}

}  // namespace metactrl::evaluation
