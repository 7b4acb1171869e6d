// metactrl eval: answers to the prompts of a benchmark, in the form its evaluator reads.
//
// A benchmark has prompt files, or tasks for which the prompts are written here. Prompts are answered by --jobs threads
// in the order of the file. Each answer is in the journal before its thread takes the next prompt; the answer file
// itself appears at the end, whole. A run whose journal is there goes on with it. One that answers a part of
// the prompts leaves its journal for a run that answers more.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "benchmarks/report.h"
#include "benchmarks/reproduce.h"
#include "cli/benchmarks_program.h"
#include "cli/common.h"
#include "cli/decoding_options.h"
#include "cli/interrupt.h"
#include "cli/load_decoding.h"
#include "cli/options.h"
#include "cli/output.h"
#include "evaluation/commands.h"
#include "evaluation/options.h"
#include "jobs/run_jobs.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/words.h"

namespace metactrl::evaluation {

using benchmarks::Answer;

namespace {

struct EvalArguments : cli::DecodingArguments {
  std::string module;
  std::string prompts;
  benchmarks::TaskSource source;  // instead of prompts
  CLI::Option* scenes_option = nullptr;
  CLI::Option* goals_option = nullptr;
  CLI::Option* instruction_option = nullptr;
  std::string system;
  std::string out;
  std::string report;
  benchmarks::Rules rules = benchmarks::Rules::kEnvironment;
  benchmarks::PromptStyle prompt = benchmarks::PromptStyle::kBenchmark;
  unsigned jobs = 1;
  std::size_t limit = 0;
};

// The file that the questions come from.
const std::string& questions_file(const EvalArguments& arguments) {
  return arguments.prompts.empty() ? arguments.source.tasks : arguments.prompts;
}

// Refuses options that the module has no use for.
void check_source(const EvalArguments& arguments, const benchmarks::Module& module) {
  const bool has_tasks = !arguments.source.tasks.empty();
  if (module.ask == nullptr) {
    if (arguments.prompts.empty())
      throw cli::UsageError(str_cat("eval ", module.name, " needs the prompts: --prompts FILE"));
    for (const CLI::Option* option : {arguments.scenes_option, arguments.goals_option, arguments.instruction_option}) {
      if (option->count() == 0 && !has_tasks) continue;
      throw cli::UsageError(str_cat("eval ", module.name, " answers the prompts of a prompt file; ",
                                    has_tasks ? "--tasks" : option->get_name(),
                                    " is for benchmarks without one, as wah"));
    }
    return;
  }
  if (!has_tasks) throw cli::UsageError(str_cat("eval ", module.name, " needs the tasks: --tasks FILE"));
  if (arguments.prompt == benchmarks::PromptStyle::kCompact) {
    throw cli::UsageError(str_cat("the prompts of ", module.name, " are short already; leave out --prompt"));
  }
  if (!arguments.prompts.empty() || !arguments.system.empty()) {
    throw cli::UsageError(str_cat("eval ", module.name, " writes its prompts from the tasks; leave out ",
                                  arguments.prompts.empty() ? "--system" : "--prompts"));
  }
  if (arguments.source.goals == benchmarks::GoalSource::kInstruction && arguments.guidance == Guidance::kSearch) {
    throw cli::UsageError(
        "guidance search has no model that could read an instruction; use another guidance, or --goals oracle");
  }
}

std::vector<benchmarks::PromptEntry> read_questions(const EvalArguments& arguments, const benchmarks::Module& module) {
  check_source(arguments, module);
  if (module.ask == nullptr) return benchmarks::read_prompts(arguments.prompts);
  benchmarks::TaskSource source = arguments.source;
  source.scenes = scenes_folder(source.scenes, source.tasks);
  return module.ask(source);
}

std::string file_digest(const std::string& file) { return str_cat(internal::hash_bytes(internal::read_file(file))); }

// Everything that an answer depends on: a journal begun with other settings is not gone on with.
benchmarks::Json settings(const EvalArguments& arguments, const std::vector<benchmarks::PromptEntry>& prompts,
                          const Budget& exact) {
  const bool from_tasks = !arguments.source.tasks.empty();
  benchmarks::Json json{{"module", arguments.module},
                        {"prompts", arguments.prompts},
                        {"tasks", arguments.source.tasks},
                        {"goals", from_tasks ? to_string(arguments.source.goals) : ""},
                        {"instruction", from_tasks ? str_cat(arguments.source.instruction) : ""},
                        {"number_of_prompts", prompts.size()},
                        {"digest_of_prompts", benchmarks::digest(prompts)},
                        {"system", arguments.system},
                        {"prompt_style", to_string(arguments.prompt)},
                        {"model", arguments.guidance == Guidance::kSearch ? "" : arguments.model},
                        {"rules", to_string(arguments.rules)},
                        {"guidance", to_string(arguments.guidance)}};
  json["hmm"] = arguments.hmm.empty() ? "" : str_cat(arguments.hmm, " ", file_digest(arguments.hmm));
  json["token_hmm"] =
      arguments.token_hmm.empty() ? "" : str_cat(arguments.token_hmm, " ", file_digest(arguments.token_hmm));
  json.update(cli::decoding_settings(arguments));
  json["exact_states"] = exact.states;
  json["exact_memory"] = exact.bytes;
  return json;
}

class Evaluation {
 public:
  Evaluation(const EvalArguments& arguments, const benchmarks::Module& module)
      : arguments_(arguments), module_(module), prompts_(read_questions(arguments, module)) {
    options_.rules = arguments.rules;
    options_.prompt = arguments.prompt;
    options_.plan = cli::plan_options(arguments);
    set_benchmark_budgets(arguments.budget, options_.plan);
    options_.plan.time_limit = arguments.budget.time_limit();
    // Search reads no prompt.
    options_.system = system_prompt(module, {arguments.system, arguments.prompts}, arguments.prompt,
                                    arguments.guidance != Guidance::kSearch);
    options_.count_conditions = !arguments.report.empty();
    options_.cancelled = [] { return cli::interrupted(); };
  }

  int run() {
    cli::catch_interrupts();
    model_ = cli::load_model_for(arguments_, arguments_.jobs);
    cli::BudgetOptions budget = arguments_.budget;
    budget.uses_gpu = arguments_.lookahead_device == cli::Device::kCuda ||
                      (model_.model != nullptr && arguments_.runtime.gpu_layers != 0U);
    cli::limit_memory(budget);
    cli::expect_vocabulary(options_.plan, model_);
    if (model_.model != nullptr && module_.ask == nullptr)
      benchmarks::expect_common_prefix(*model_.model, module_, prompts_, options_);
    // Not before everything is there: a start that fails leaves nothing behind.
    // What the settings say is said of all prompts: a run with another limit goes on with the same journal.
    settings_ = settings(arguments_, prompts_, options_.plan.lookahead.exact);
    std::vector<benchmarks::PromptEntry> sample;
    std::set<std::string> asked;
    for (const std::size_t i : benchmarks::sample_of(prompts_.size(), arguments_.limit)) {
      asked.insert(prompts_[i].identifier);
      sample.push_back(std::move(prompts_[i]));
    }
    prompts_ = std::move(sample);
    keep_the_whole(asked);
    journal_.emplace(arguments_.out, settings_, true);
    for (const Answer& answer : journal_->earlier()) {
      if (asked.contains(answer.identifier)) answers_.emplace(answer.identifier, answer);
    }
    if (!answers_.empty()) {
      cli::note(str_cat("metactrl: goes on with the ", cli::count_text(answers_.size(), "answer", "answers"), " of ",
                        arguments_.out, ".partial"));
    }
    work();
    if (cli::interrupted()) {
      cli::note(str_cat("metactrl: stopped after ", answers_.size(), " of ", prompts_.size(),
                        " prompts; run it again to go on"));
      return cli::kInterrupted;
    }
    write();
    return summarize();
  }

 private:
  // A part of the answers does not take the place of all, unless a journal has those that it lacks.
  void keep_the_whole(const std::set<std::string>& asked) const {
    std::error_code ignored;
    if (arguments_.limit == 0 || !std::filesystem::is_regular_file(arguments_.out, ignored) ||
        std::filesystem::exists(arguments_.out + benchmarks::kPartial, ignored)) {
      return;
    }
    for (const benchmarks::Response& response : benchmarks::read_responses(arguments_.out)) {
      if (asked.contains(response.identifier)) continue;
      throw InputError(arguments_.out, "holds answers that this run would not give", "name another file with --out");
    }
  }

  void work() {
    cli::set_stoppable(true);
    cli::CountProgress progress("answered", static_cast<double>(prompts_.size()), static_cast<double>(answers_.size()));
    jobs::run_jobs(arguments_.jobs, [&] { return answer_one(progress); });
    cli::set_stoppable(false);
  }

  // False when there is nothing left to do.
  bool answer_one(cli::CountProgress& progress) {
    const benchmarks::PromptEntry* entry = take();
    if (entry == nullptr) return false;
    Answer answer = benchmarks::answer_prompt(module_, *entry, model_.model.get(), model_.vocabulary, options_);
    const std::lock_guard lock(mutex_);
    if (answer.cancelled) return false;
    journal_->add(answer);
    answers_.insert_or_assign(entry->identifier, std::move(answer));
    progress.done(static_cast<double>(answers_.size()));
    return true;
  }

  // The next prompt without an answer; null when there is none, or when the work is to end.
  const benchmarks::PromptEntry* take() {
    const std::lock_guard lock(mutex_);
    if (cli::interrupted()) return nullptr;
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
      benchmarks::AnswersFile run{today(), settings_, {}};
      for (const benchmarks::PromptEntry& entry : prompts_) run.answers.push_back(answers_.at(entry.identifier));
      const std::filesystem::path folder(arguments_.report);
      internal::write_file((folder / "answers.json").string(), benchmarks::answers_text(run));
      internal::write_file((folder / "report.md").string(), benchmarks::answers_markdown(module_.title, run));
      if (arguments_.prompts.empty()) {
        benchmarks::write_prompts((folder / benchmarks::kPromptsOfReport).string(), prompts_);
      }
    }
    if (arguments_.limit == 0) journal_->remove();
  }

  // What of an answer's goals cannot be had, and why; empty when all can.
  static std::string lacking(const Answer& answer) {
    constexpr std::size_t kLongest = 200;
    if (!answer.error.empty() || !answer.fits) return "";
    if (answer.goals_dropped.empty()) {
      return answer.outcome == to_string(PlanOutcome::kInfeasible) ? "infeasible: " + answer.reason : "";
    }
    std::vector<std::string> goals;
    for (std::size_t i = 0; i < answer.goals_dropped.size(); ++i) {
      std::string goal = answer.goals_dropped[i];
      if (goal.size() > kLongest) goal = goal.substr(0, kLongest) + "...";
      const bool known = i < answer.drop_reasons.size() && !answer.drop_reasons[i].empty();
      goals.push_back(known ? str_cat(goal, ": ", answer.drop_reasons[i]) : goal);
    }
    std::string out = "goal dropped: ";
    constexpr std::size_t kGoals = 6;
    for (std::size_t i = 0; i < goals.size() && i < kGoals; ++i) out += (i == 0 ? "" : "; ") + goals[i];
    if (goals.size() > kGoals) out += str_cat("; and ", goals.size() - kGoals, " more");
    return out;
  }

  // A line for each of the first tasks whose goals cannot all be reached.
  void name_infeasible() const {
    constexpr std::size_t kMost = 10;
    std::size_t count = 0;
    for (const benchmarks::PromptEntry& entry : prompts_) {
      const std::string what = lacking(answers_.at(entry.identifier));
      if (what.empty() || ++count > kMost) continue;
      cli::note(str_cat(questions_file(arguments_), ": ", module_.ask == nullptr ? "prompt" : "task", " '",
                        entry.identifier, "': ", what));
    }
    if (count > kMost) cli::note(str_cat("... and ", count - kMost, " more; --report DIR names them all"));
  }

  int summarize() const {
    std::map<std::string, std::size_t> guarantees;
    std::vector<std::string> failed;
    std::vector<std::string> too_long;
    std::vector<double> compile;
    for (const benchmarks::PromptEntry& entry : prompts_) {
      const Answer& answer = answers_.at(entry.identifier);
      if (!answer.error.empty()) {
        failed.push_back(entry.identifier);
        cli::note(str_cat(questions_file(arguments_), ": prompt '", entry.identifier, "': ", answer.error));
        continue;
      }
      if (!answer.fits) {
        too_long.push_back(entry.identifier);
        cli::note(str_cat(questions_file(arguments_), ": prompt '", entry.identifier, "': ", answer.reason));
        continue;
      }
      compile.push_back(answer.times.compile());
      ++guarantees[answer.outcome == to_string(PlanOutcome::kPlan) ? "guarantee " + answer.guarantee : answer.outcome];
    }
    name_infeasible();
    std::string line = str_cat(prompts_.size(), " prompts");
    for (const auto& [what, count] : guarantees) line += str_cat(", ", count, " ", what);
    if (!too_long.empty()) line += str_cat(", ", too_long.size(), " too long for the model's context");
    if (!failed.empty()) line += str_cat(", ", failed.size(), " without an answer");
    if (!compile.empty()) {
      std::sort(compile.begin(), compile.end());
      const auto milliseconds = [&](double share) {
        return cli::number_text(std::round(benchmarks::quantile(compile, share) * 1e4) / 10);
      };
      line += str_cat("; compile median ", milliseconds(0.5), " ms, p95 ", milliseconds(0.95), " ms, most ",
                      milliseconds(1), " ms");
    }
    cli::note(str_cat(line, "; answers are in ", arguments_.out));
    return failed.empty() && too_long.empty() ? cli::kDone : cli::kBadInput;
  }

  const EvalArguments& arguments_;
  const benchmarks::Module& module_;
  std::vector<benchmarks::PromptEntry> prompts_;
  benchmarks::Json settings_;
  std::optional<benchmarks::Journal> journal_;
  benchmarks::EvaluateOptions options_;
  cli::LoadedModel model_;

  std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  std::size_t next_ = 0;
};

constexpr const char* kEvalExamples =
    "\n"
    "PROMPTS.json is what the benchmark's prompt generator writes, [{\"identifier\", \"llm_prompt\"}, ...];\n"
    "the answers go to --out as its evaluator reads them, [{\"identifier\", \"llm_output\"}, ...].\n"
    "\n"
    "  metactrl eval vh-as --prompts as_prompts.json --guidance search --out answers.json\n"
    "\n"
    "wah has no prompt file: its prompts are written from the tasks.\n"
    "\n"
    "  metactrl eval wah --tasks tasks.jsonl --scenes . --guidance mask --out answers.json\n"
    "\n"
    "'metactrl score' judges the answers. "
    "A run that was interrupted goes on when it is started again: answers are kept in OUT.partial as they come.\n";

}  // namespace

cli::Command add_eval(CLI::App& parent) {
  auto arguments = std::make_shared<EvalArguments>();
  arguments->on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
  CLI::App* app = cli::add_benchmarks_command(parent, "eval");
  add_module_option(*app, "module", arguments->module, "which benchmark")->required();
  add_file(*app, "--prompts", arguments->prompts, "the benchmark's prompts");
  add_file(*app, "--tasks", arguments->source.tasks, "wah: the benchmark's tasks, instead of prompts");
  arguments->scenes_option = add_folder(*app, "--scenes", arguments->source.scenes,
                                        "wah: folder of the apartments; without it, that of the tasks");
  arguments->goals_option =
      cli::add_choice(*app, "--goals", arguments->source.goals,
                      "wah: plan for the task's goal, or for the one that the model makes of the instruction");
  arguments->instruction_option =
      cli::add_number(*app, "--instruction-number", "N", arguments->source.instruction, 1, 1000,
                      "wah: which of a task's instructions, from 1; its last where it has fewer");
  add_file(*app, "--system", arguments->system,
           "the system's part of the prompts; without it, sd_system.json or system_setup.json beside them");
  cli::add_out_option(*app, arguments->out, "file for the answers")->required();
  cli::add_choice(*app, "--rules", arguments->rules,
                  "what the benchmark's environment does, what the paper must have run, or what its appendix lists");
  cli::add_choice(*app, "--prompt", arguments->prompt,
                  "what the model reads: the benchmark's prompt, or the same facts in fewer words");
  add_folder(*app, "--report", arguments->report, "folder for what is known about each answer");
  cli::add_number(*app, "--jobs,-j", "N", arguments->jobs, 1, 1024, "prompts that are worked on at once");
  cli::add_number(*app, "--limit", "N", arguments->limit, 0, 1e9,
                  "answer at most N prompts, spread evenly over the file; 0: all; a later run with more goes on");
  arguments->as_in_paper = true;
  cli::add_decoding_options(*app, *arguments, cli::budget_of_many());
  app->footer(kEvalExamples);
  return {app, [arguments] {
            const benchmarks::Module& module = *benchmarks::find_module(arguments->module);
            return Evaluation(*arguments, module).run();
          }};
}

}  // namespace metactrl::evaluation
