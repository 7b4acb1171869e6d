#include "cli/sample_prompts.h"

#include <utility>

#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/plan_problem.h"
#include "benchmarks/watch_and_help/prompt.h"
#include "benchmarks/watch_and_help/resample.h"
#include "cli/plan_options.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/hash.h"

namespace metactrl::cli {

namespace {

// A draw that gives nothing is followed by others, from the next source.
constexpr std::uint64_t kAttempts = 64;

std::uint64_t draw_seed(std::uint64_t seed, std::uint64_t number, std::uint64_t attempt) {
  return internal::mix(internal::mix(seed + 1, number + 1), attempt + 1);
}

class PddlPrompts : public SamplePrompts {
 public:
  PddlPrompts(const std::string& domain_file, const std::vector<std::string>& problem_files, const std::string& format,
              std::uint64_t seed)
      : domain_(internal::read_file(domain_file)), format_(load_format(format)), seed_(seed) {
    for (const std::string& file : problem_files) {
      load_pddl(domain_file, file);  // which says what is wrong with it
      const std::string text = internal::read_file(file);
      sources_.emplace_back(text);
      own_.insert(pddl::ProblemResampler::canonical(text));
    }
  }

  SamplePrompt make(std::uint64_t number) const override {
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      const std::size_t source = (number + attempt / 8) % sources_.size();
      const std::optional<std::string> problem = sources_[source].sample(draw_seed(seed_, number, attempt));
      if (!problem || own_.contains(pddl::ProblemResampler::canonical(*problem))) continue;
      return {load_pddl_text(domain_, *problem), static_cast<std::uint32_t>(source), std::nullopt};
    }
    throw InputError("problems", "have no others like them: no two objects of a kind, and a single goal each",
                     "give problems with more objects or more goals");
  }

  PlanFormat format() const override { return format_; }

 private:
  std::string domain_;
  PlanFormat format_;
  std::uint64_t seed_;
  std::vector<pddl::ProblemResampler> sources_;
  std::set<std::string> own_;
};

class BenchmarkPrompts : public SamplePrompts {
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

  SamplePrompt make(std::uint64_t number) const override {
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      const std::size_t source = (number + attempt) % num_sources_;
      const std::optional<std::string> text = resampler_.sample(source, draw_seed(seed_, number, attempt));
      if (!text) continue;
      const benchmarks::PromptTask read = module_.read(*text, benchmarks::Rules::kEnvironment);
      const std::string_view domain = domain_text(module_, benchmarks::Rules::kEnvironment);
      return {load_pddl_text(domain, read.problem_assuming(read.assumptions.size())), 0,
              benchmarks::model_prompt(module_, {"", *text}, options_)};
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

class HelpPrompts : public SamplePrompts {
 public:
  HelpPrompts(const benchmarks::Module& module, const benchmarks::TaskSource& source, std::uint64_t seed)
      : module_(module), resampler_(benchmarks::watch_and_help::read_tasks(source.tasks, source.scenes)), seed_(seed) {
    if (resampler_.size() == 0) throw InputError(source.tasks, "holds no tasks", "give a file that holds some");
  }

  SamplePrompt make(std::uint64_t number) const override {
    namespace wah = benchmarks::watch_and_help;
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
      const std::size_t source = (number + attempt) % resampler_.size();
      const std::optional<wah::HelpTask> task = resampler_.sample(source, draw_seed(seed_, number, attempt));
      if (!task) continue;
      const wah::Listing listing = wah::list_things(*task->scene, task->goal);
      const benchmarks::PromptTask problem = wah::plan_problem(*task->scene, listing, task->goal);
      Prompt prompt{std::string(wah::plan_system_prompt()),
                    wah::plan_prompt(*task->scene, listing, task->goal, task->instructions[0]), ""};
      const std::string_view domain = domain_text(module_, benchmarks::Rules::kEnvironment);
      return {load_pddl_text(domain, problem.problem_assuming(problem.assumptions.size())), resampler_.family(source),
              std::move(prompt)};
    }
    throw InputError("tasks", "have goals that cannot be changed in their apartments", "give more tasks");
  }

  PlanFormat format() const override { return PlanFormat::builtin(std::string(module_.format)); }

 private:
  const benchmarks::Module& module_;
  benchmarks::watch_and_help::TaskResampler resampler_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<SamplePrompts> help_prompts(const benchmarks::Module& module, const benchmarks::TaskSource& source,
                                            std::uint64_t seed) {
  return std::make_unique<HelpPrompts>(module, source, seed);
}

std::unique_ptr<SamplePrompts> pddl_prompts(const std::string& domain_file,
                                            const std::vector<std::string>& problem_files, const std::string& format,
                                            std::uint64_t seed) {
  return std::make_unique<PddlPrompts>(domain_file, problem_files, format, seed);
}

std::unique_ptr<SamplePrompts> benchmark_prompts(const benchmarks::Module& module,
                                                 const std::vector<benchmarks::PromptEntry>& prompts,
                                                 const benchmarks::EvaluateOptions& options, std::uint64_t seed) {
  return std::make_unique<BenchmarkPrompts>(module, prompts, options, seed);
}

}  // namespace metactrl::cli
