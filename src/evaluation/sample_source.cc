#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "benchmarks/question.h"
#include "benchmarks/substitute.h"
#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/plan_problem.h"
#include "benchmarks/watch_and_help/prompt.h"
#include "benchmarks/watch_and_help/resample.h"
#include "cli/options.h"
#include "cli/sample_prompts.h"
#include "evaluation/commands.h"
#include "evaluation/options.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "pddl/well_formed.h"
#include "support/hash.h"
#include "support/words.h"

namespace metactrl::evaluation {

namespace {

// The paper keeps what is well-formed, whether or not it can be carried out. By the environment's rules, whose assumptions
// allow nearly everything somewhere, an answer is one over the actions that some state allows.
std::optional<Task> reading_task(std::string_view domain, const std::string& problem, benchmarks::Rules rules) {
  if (rules == benchmarks::Rules::kEnvironment) return std::nullopt;
  return load_pddl_text(pddl::well_formed_domain(domain), problem);
}

class BenchmarkPrompts : public cli::SamplePrompts {
 public:
  BenchmarkPrompts(const benchmarks::Module& module, const std::vector<benchmarks::PromptEntry>& prompts,
                   benchmarks::EvaluateOptions options, std::uint64_t seed)
      : module_(module),
        resampler_(module, prompts),
        num_sources_(prompts.size()),
        options_(std::move(options)),
        seed_(seed) {
    if (prompts.empty()) throw InputError("prompts", "are none", "give a file that holds some");
  }

  cli::SamplePrompt make(std::uint64_t number) const override {
    for (std::uint64_t attempt = 0; attempt < cli::kSampleAttempts; ++attempt) {
      const std::size_t source = (number + attempt) % num_sources_;
      const std::optional<std::string> text = resampler_.sample(source, cli::sample_seed(seed_, number, attempt));
      if (!text) continue;
      const benchmarks::PromptTask read = benchmarks::read_prompt(module_, *text, options_.rules);
      const std::string_view domain = domain_text(module_, options_.rules);
      const std::string problem = read.problem_assuming(read.assumptions.size());
      return {load_pddl_text(domain, problem), 0, benchmarks::model_prompt(module_, {"", *text}, options_),
              reading_task(domain, problem, options_.rules)};
    }
    throw InputError("prompts", "hold no objects that could stand for one another", "give more prompts");
  }

  PlanFormat format() const override { return PlanFormat::builtin(std::string(module_.format)); }

 private:
  const benchmarks::Module& module_;
  benchmarks::PromptResampler resampler_;
  std::size_t num_sources_;
  benchmarks::EvaluateOptions options_;
  std::uint64_t seed_;
};

class HelpPrompts : public cli::SamplePrompts {
 public:
  HelpPrompts(const benchmarks::Module& module, const benchmarks::TaskSource& source, benchmarks::Rules rules,
              std::uint64_t seed)
      : module_(module),
        resampler_(benchmarks::watch_and_help::read_tasks(source.tasks, source.scenes)),
        rules_(rules),
        seed_(seed) {
    if (resampler_.size() == 0) throw InputError(source.tasks, "holds no tasks", "give a file that holds some");
  }

  cli::SamplePrompt make(std::uint64_t number) const override {
    namespace wah = benchmarks::watch_and_help;
    for (std::uint64_t attempt = 0; attempt < cli::kSampleAttempts; ++attempt) {
      const std::size_t source = (number + attempt) % resampler_.size();
      const std::optional<wah::HelpTask> task = resampler_.sample(source, cli::sample_seed(seed_, number, attempt));
      if (!task) continue;
      const wah::Listing listing = wah::list_things(*task->scene, task->goal);
      const benchmarks::PromptTask problem = wah::plan_problem(*task->scene, listing, task->goal);
      Prompt prompt{std::string(wah::plan_system_prompt()),
                    wah::plan_prompt(*task->scene, listing, task->goal, task->instructions[0]), ""};
      const std::string_view domain = domain_text(module_, rules_);
      const std::string text = problem.problem_assuming(problem.assumptions.size());
      return {load_pddl_text(domain, text), resampler_.family(source), std::move(prompt),
              reading_task(domain, text, rules_)};
    }
    throw InputError("tasks", "have goals that cannot be changed in their apartments", "give more tasks");
  }

  PlanFormat format() const override { return PlanFormat::builtin(std::string(module_.format)); }

 private:
  const benchmarks::Module& module_;
  benchmarks::watch_and_help::TaskResampler resampler_;
  benchmarks::Rules rules_;
  std::uint64_t seed_;
};

class BenchmarkSource : public cli::SampleSource {
 public:
  void add_options(CLI::App& app) override {
    add_module_option(app, "--module", module_, "instead of PDDL files: a benchmark");
    add_file(app, "--prompts", prompts_, "with --module: the benchmark's prompts");
    add_file(app, "--tasks", tasks_.tasks, "with --module wah: the benchmark's tasks, instead of prompts");
    add_folder(app, "--scenes", tasks_.scenes,
               "with --module wah: folder of the apartments; without it, that of the tasks");
    add_file(app, "--system", system_file_,
             "with --module: the system's part of the prompts; without it, sd_system.json or system_setup.json "
             "beside them");
    style_option_ = cli::add_choice(app, "--prompt", style_,
                                    "with --module: the benchmark's prompt, or the same facts in fewer words");
    rules_option_ =
        cli::add_choice(app, "--rules", rules_,
                        "with --module: whose actions the alphabet has; by environment, answers over actions that some "
                        "state allows are plans, by the others whatever is well-formed");
  }

  bool named() const override { return !module_.empty() || !prompts_.empty() || has_tasks(); }

  std::string stray() const override {
    if (!system_file_.empty()) return "--system belongs to --module";
    if (rules_option_->count() > 0) return "--rules belongs to --module";
    return style_option_->count() > 0 ? "--prompt belongs to --module" : "";
  }

  void check() const override {
    if (!module_.empty() && module().read == nullptr) {
      if (tasks_.tasks.empty()) throw cli::UsageError(str_cat(module_, " needs its tasks: --tasks FILE"));
      if (!prompts_.empty() || !system_file_.empty() || style_option_->count() > 0) {
        throw cli::UsageError(str_cat("the prompts of ", module_,
                                      " are written from its tasks; leave out --prompts, --system and --prompt"));
      }
      return;
    }
    if (has_tasks()) throw cli::UsageError("--tasks and --scenes are for --module wah");
    if (module_.empty() || prompts_.empty()) throw cli::UsageError("--module and --prompts FILE belong together");
  }

  std::unique_ptr<cli::SamplePrompts> open(std::uint64_t seed) override {
    if (!tasks_.tasks.empty()) return std::make_unique<HelpPrompts>(module(), task_source(), rules_, seed);
    system_ = system_prompt(module(), {system_file_, prompts_}, style_);
    benchmarks::EvaluateOptions options;
    options.prompt = style_;
    options.rules = rules_;
    options.system = system_;
    return std::make_unique<BenchmarkPrompts>(module(), benchmarks::read_prompts(prompts_), options, seed);
  }

  void add_settings(cli::Json& settings) const override {
    settings["module"] = module_;
    if (rules_ != benchmarks::Rules::kEnvironment) settings["rules"] = to_string(rules_);
    if (!tasks_.tasks.empty()) {
      // What is asked depends on the apartments, too.
      settings["tasks"] = benchmarks::digest(module().ask(task_source()));
      return;
    }
    settings["prompts"] = cli::sample_file_digest(prompts_);
    settings["system"] = str_cat(internal::hash_bytes(system_));
    settings["prompt_style"] = to_string(style_);
  }

 private:
  bool has_tasks() const { return !tasks_.tasks.empty() || !tasks_.scenes.empty(); }
  benchmarks::TaskSource task_source() const {
    benchmarks::TaskSource source = tasks_;
    source.scenes = scenes_folder(tasks_.scenes, tasks_.tasks);
    return source;
  }
  const benchmarks::Module& module() const { return *benchmarks::find_module(module_); }

  std::string module_;
  std::string prompts_;
  benchmarks::TaskSource tasks_;  // of a benchmark without prompt files
  std::string system_file_;
  benchmarks::PromptStyle style_ = benchmarks::PromptStyle::kBenchmark;
  CLI::Option* style_option_ = nullptr;
  benchmarks::Rules rules_ = benchmarks::Rules::kEnvironment;
  CLI::Option* rules_option_ = nullptr;
  std::string system_;  // from when the prompts were opened
};

}  // namespace

std::unique_ptr<cli::SampleSource> benchmark_source() { return std::make_unique<BenchmarkSource>(); }

}  // namespace metactrl::evaluation
