// metactrl inspect --module: the two levels of every prompt of a benchmark, and of one automaton in their place.
//
// The options of `inspect` mean the same here; --domain and --problem are replaced by the module's prompts.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/files.h"
#include "benchmarks/reproduce.h"
#include "benchmarks/two_levels.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/model_store.h"
#include "cli/options.h"
#include "cli/output.h"
#include "evaluation/commands.h"
#include "evaluation/options.h"
#include "support/words.h"

namespace metactrl::evaluation {

namespace {

struct InspectModule {
  std::string module;
  std::string prompts;
  std::string model = cli::kDefaultModel;
  std::string vocabulary;
  benchmarks::Rules rules = benchmarks::Rules::kEnvironment;
  std::size_t limit = 0;
};

int inspect_module(const InspectModule& arguments, const CLI::App& app) {
  const benchmarks::Module& module = *benchmarks::find_module(arguments.module);
  if (module.read == nullptr) {
    throw cli::UsageError(
        str_cat("inspect --module is for benchmarks with a prompt file, and ", module.name, " has none"));
  }
  if (arguments.prompts.empty()) throw cli::UsageError("--module and --prompts FILE belong together");
  if (app.get_option("--domain")->count() > 0 || app.get_option("--problem")->count() > 0) {
    throw cli::UsageError("give --domain and --problem, or --module and --prompts");
  }
  benchmarks::TwoLevelsOptions options;
  options.rules = arguments.rules;
  options.hidden = app.get_option("--hidden")->as<unsigned>();
  options.horizon = app.get_option("--horizon")->count() > 0 ? app.get_option("--horizon")->as<unsigned>() : 40;
  if (app.get_option("--max-states")->count() > 0) {
    options.budget.states = app.get_option("--max-states")->as<std::size_t>();
  }
  options.stop = [] { return cli::interrupted(); };
  const std::vector<benchmarks::PromptEntry> all = benchmarks::read_prompts(arguments.prompts);
  std::vector<benchmarks::PromptEntry> sample;
  for (const std::size_t i : benchmarks::sample_of(all.size(), arguments.limit)) sample.push_back(all[i]);
  cli::catch_interrupts();
  const cli::LoadedModel model = cli::open_model(arguments.model, arguments.vocabulary, {});
  cli::set_stoppable(true);
  std::vector<benchmarks::TwoLevelsTable> tables;
  {
    const cli::ProgressLine progress("compiling constraints");
    try {
      tables.push_back(benchmarks::two_levels(module, sample, model.vocabulary, options));
    } catch (const Stopped&) {
      return cli::kInterrupted;
    }
  }
  cli::OutputOptions output;
  if (app.get_option("--out")->count() > 0) output.file = app.get_option("--out")->as<std::string>();
  if (app.get_option("--output")->count() > 0 && app.get_option("--output")->results().front() == "json") {
    cli::print(output, benchmarks::two_levels_json(tables));
  } else {
    cli::print(output, benchmarks::two_levels_markdown(tables));
  }
  return cli::kDone;
}

}  // namespace

cli::Command inspect_with_modules(cli::Command inspect) {
  auto arguments = std::make_shared<InspectModule>();
  CLI::App* app = inspect.app;
  add_module_option(*app, "--module", arguments->module, "instead of PDDL files: a benchmark");
  add_file(*app, "--prompts", arguments->prompts, "with --module: the benchmark's prompts");
  app->add_option("--model,-m", arguments->model, "with --module: whose vocabulary the token automaton is for")
      ->type_name("MODEL")
      ->capture_default_str();
  app->add_option("--vocab", arguments->vocabulary, "with --module: GGUF file whose vocabulary random: models use")
      ->type_name("FILE");
  cli::add_choice(*app, "--rules", arguments->rules, "with --module: by which rules the states are counted");
  cli::add_number(*app, "--limit", "N", arguments->limit, 0, 1e9,
                  "with --module: at most N prompts, spread evenly over the file; 0: all");
  return {app, [arguments, app, run = std::move(inspect.run)] {
            if (arguments->module.empty()) return run();
            return inspect_module(*arguments, *app);
          }};
}

}  // namespace metactrl::evaluation
