// metactrl eval: answers to the prompts of a benchmark, in the form its evaluator reads.
//
// Prompts are answered by --jobs threads in the order of the file. Each answer is in the journal before its thread
// takes the next prompt; the answer file itself appears at the end, whole.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "benchmarks/report.h"
#include "cli/common.h"
#include "cli/plan_options.h"
#include "cli/rate_line.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using benchmarks::Answer;
using internal::str_cat;

namespace {

struct EvalArguments : DecodingArguments {
  std::string module;
  std::string prompts;
  std::string system;
  std::string out;
  std::string report;
  benchmarks::Rules rules = benchmarks::Rules::kEnvironment;
  unsigned jobs = 1;
  bool resume = false;
};

const char* text_of(benchmarks::Rules rules) { return to_string(rules); }

// Tells two prompt files apart (FNV-1a).
std::string digest(const std::vector<benchmarks::PromptEntry>& prompts) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;  // where a text ends
  };
  for (const benchmarks::PromptEntry& prompt : prompts) {
    add(prompt.identifier);
    add(prompt.prompt);
  }
  return str_cat(hash);
}

std::string file_digest(const std::string& file) { return str_cat(internal::hash_bytes(internal::read_file(file))); }

// Everything that an answer depends on: a journal begun with other settings is not gone on with.
benchmarks::Json settings(const EvalArguments& arguments, const std::vector<benchmarks::PromptEntry>& prompts) {
  const GenerateOptions& generate = arguments.generate;
  return {{"module", arguments.module},
          {"prompts", arguments.prompts},
          {"number_of_prompts", prompts.size()},
          {"digest_of_prompts", digest(prompts)},
          {"system", arguments.system},
          {"model", arguments.guidance == PlanGuidance::kSearch ? "" : arguments.model},
          {"vocabulary", arguments.vocabulary},
          {"rules", to_string(arguments.rules)},
          {"guidance", to_string(arguments.guidance)},
          {"bridge", to_string(arguments.bridge)},
          {"hmm", arguments.hmm.empty() ? "" : str_cat(arguments.hmm, " ", file_digest(arguments.hmm))},
          {"tokens", to_string(arguments.tokenization)},
          {"on_infeasible", to_string(arguments.on_infeasible)},
          {"decode", to_string(generate.mode)},
          {"temperature", generate.temperature},
          {"top_p", generate.top_p},
          {"beam", generate.beam},
          {"samples", generate.samples},
          {"seed", generate.seed},
          {"max_tokens", generate.max_tokens},
          {"horizon", arguments.horizon},
          {"fixed_horizon", arguments.horizon_option->count() > 0},
          {"max_states", arguments.budget.states},
          {"max_memory", arguments.budget.memory},
          {"time_limit", arguments.budget.seconds}};
}

// The system's part of the prompts: from the file named, or from one beside the prompts, sd_system.json or
// system_setup.json.
std::string system_prompt(const EvalArguments& arguments, const benchmarks::Module& module) {
  if (!arguments.system.empty()) return benchmarks::read_system_prompt(arguments.system);
  if (!module.system_prompt) return "";
  const std::filesystem::path folder = std::filesystem::path(arguments.prompts).parent_path();
  std::error_code ignored;
  for (const char* name : {"sd_system.json", "system_setup.json"}) {
    const std::filesystem::path file = folder / name;
    if (std::filesystem::exists(file, ignored)) return benchmarks::read_system_prompt(file.string());
  }
  if (arguments.guidance == PlanGuidance::kSearch) return "";
  throw UsageError(str_cat("the prompts of ", module.name,
                           " have a part for the system in a file of its own; name it with --system, or put it beside "
                           "the prompts as sd_system.json"));
}

class Evaluation {
 public:
  Evaluation(const EvalArguments& arguments, const benchmarks::Module& module)
      : arguments_(arguments),
        module_(module),
        prompts_(benchmarks::read_prompts(arguments.prompts)),
        journal_(arguments.out, settings(arguments, prompts_), arguments.resume) {
    options_.rules = arguments.rules;
    options_.plan = plan_options(arguments);
    const Budget budget = arguments.budget.budget();
    const double search_seconds = options_.plan.lookahead.search.seconds;
    options_.plan.lookahead.exact = budget;
    options_.plan.lookahead.search = budget;
    if (arguments.budget.seconds_option->count() == 0) options_.plan.lookahead.search.seconds = search_seconds;
    options_.system = system_prompt(arguments, module);
    options_.cancelled = [] { return interrupted(); };
    for (const Answer& answer : journal_.earlier()) answers_.emplace(answer.identifier, answer);
  }

  int run() {
    catch_interrupts();
    model_ = load_model_for(arguments_);
    work();
    if (interrupted()) {
      note(str_cat("metactrl: stopped after ", answers_.size(), " of ", prompts_.size(),
                   " prompts; run again with --resume to go on"));
      return kInterrupted;
    }
    write();
    return summarize();
  }

 private:
  void work() {
    set_stoppable(true);
    RateLine progress(prompts_.size(), "answered", answers_.size());
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < arguments_.jobs; ++i) threads.emplace_back([&] { answer_some(progress); });
    answer_some(progress);
    threads.clear();
    set_stoppable(false);
    if (failure_) std::rethrow_exception(failure_);
  }

  void answer_some(RateLine& progress) {
    try {
      while (const benchmarks::PromptEntry* entry = take()) {
        Answer answer = benchmarks::answer_prompt(module_, *entry, model_.model.get(), model_.vocabulary, options_);
        const std::lock_guard lock(mutex_);
        if (answer.cancelled) return;
        journal_.add(answer);
        answers_.insert_or_assign(entry->identifier, std::move(answer));
        progress.done(answers_.size());
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  // The next prompt without an answer; null when there is none, or when the work is to end.
  const benchmarks::PromptEntry* take() {
    const std::lock_guard lock(mutex_);
    if (interrupted() || failure_) return nullptr;
    while (next_ < prompts_.size() && answers_.contains(prompts_[next_].identifier)) ++next_;
    return next_ < prompts_.size() ? &prompts_[next_++] : nullptr;
  }

  void write() {
    std::vector<benchmarks::Response> responses;
    for (const benchmarks::PromptEntry& entry : prompts_) {
      responses.push_back({entry.identifier, answers_.at(entry.identifier).output});
    }
    benchmarks::write_responses(arguments_.out, responses);
    if (!arguments_.report.empty()) {
      std::error_code error;
      std::filesystem::create_directories(arguments_.report, error);
      benchmarks::AnswersFile run{settings(arguments_, prompts_), {}};
      for (const benchmarks::PromptEntry& entry : prompts_) run.answers.push_back(answers_.at(entry.identifier));
      const std::filesystem::path folder(arguments_.report);
      internal::write_file((folder / "answers.json").string(), benchmarks::answers_text(run));
      internal::write_file((folder / "report.md").string(), benchmarks::answers_markdown(module_.title, run));
    }
    journal_.remove();
  }

  int summarize() const {
    std::map<std::string, std::size_t> guarantees;
    std::vector<std::string> failed;
    std::vector<double> compile;
    for (const benchmarks::PromptEntry& entry : prompts_) {
      const Answer& answer = answers_.at(entry.identifier);
      if (!answer.error.empty()) {
        failed.push_back(entry.identifier);
        note(str_cat(arguments_.prompts, ": prompt '", entry.identifier, "': ", answer.error));
        continue;
      }
      compile.push_back(answer.times.compile());
      ++guarantees[answer.outcome == to_string(PlanOutcome::kPlan) ? "guarantee " + answer.guarantee : answer.outcome];
    }
    std::string line = str_cat(prompts_.size(), " prompts");
    for (const auto& [what, count] : guarantees) line += str_cat(", ", count, " ", what);
    if (!failed.empty()) line += str_cat(", ", failed.size(), " without an answer");
    if (!compile.empty()) {
      std::sort(compile.begin(), compile.end());
      const auto milliseconds = [&](double share) {
        return number_text(std::round(benchmarks::quantile(compile, share) * 1e4) / 10);
      };
      line += str_cat("; compile median ", milliseconds(0.5), " ms, p95 ", milliseconds(0.95), " ms, most ",
                      milliseconds(1), " ms");
    }
    note(str_cat(line, "; answers are in ", arguments_.out));
    return failed.empty() ? kDone : kBadInput;
  }

  const EvalArguments& arguments_;
  const benchmarks::Module& module_;
  std::vector<benchmarks::PromptEntry> prompts_;
  benchmarks::Journal journal_;
  benchmarks::EvaluateOptions options_;
  LoadedModel model_;

  std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  std::size_t next_ = 0;
  std::exception_ptr failure_;
};

constexpr const char* kExamples =
    "\n"
    "PROMPTS.json is what the benchmark's prompt generator writes, [{\"identifier\", \"llm_prompt\"}, ...];\n"
    "the answers go to --out as its evaluator reads them, [{\"identifier\", \"llm_output\"}, ...].\n"
    "\n"
    "  metactrl eval vh-as --prompts as_prompts.json --guidance search --out answers.json\n"
    "\n"
    "'metactrl score' judges the answers. "
    "A run that was interrupted goes on with --resume: answers are kept in OUT.partial as they come.\n";

}  // namespace

Command add_eval(CLI::App& parent) {
  auto arguments = std::make_shared<EvalArguments>();
  arguments->on_infeasible = OnInfeasible::kDropGoals;
  CLI::App* app = parent.add_subcommand("eval", "answer the prompts of a benchmark");
  std::vector<std::string> names;
  for (const benchmarks::Module& module : benchmarks::modules()) names.emplace_back(module.name);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : "|") + name;
  app->add_option("module", arguments->module, "which benchmark")->type_name(list)->required()->check(one_of(names));
  app->add_option("--prompts", arguments->prompts, "the benchmark's prompts")->type_name("FILE")->required();
  app->add_option("--system", arguments->system,
                  "the system's part of the prompts; without it, sd_system.json or system_setup.json beside them")
      ->type_name("FILE");
  app->add_option("--out", arguments->out, "file for the answers")->type_name("FILE")->required();
  add_choice(*app, "--rules", arguments->rules, {benchmarks::Rules::kEnvironment, benchmarks::Rules::kPaper}, text_of,
             "what the benchmark's environment does, or what the paper states");
  app->add_option("--report", arguments->report, "folder for what is known about each answer")->type_name("DIR");
  app->add_option("--jobs,-j", arguments->jobs, "prompts that are worked on at once")
      ->type_name("N")
      ->check(finite_in_range(1, 1024))
      ->capture_default_str();
  app->add_flag("--resume", arguments->resume, "go on with a run that was interrupted");
  add_decoding_options(*app, *arguments, 10'000);
  app->footer(kExamples);
  return {app, [arguments] {
            const benchmarks::Module& module = *benchmarks::find_module(arguments->module);
            return Evaluation(*arguments, module).run();
          }};
}

}  // namespace metactrl::cli
