// metactrl score: how a benchmark's own evaluator would judge a file of answers.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "benchmarks/prompt_language.h"
#include "benchmarks/report.h"
#include "cli/benchmarks_program.h"
#include "cli/common.h"
#include "cli/output.h"
#include "evaluation/commands.h"
#include "evaluation/options.h"
#include "support/list_some.h"
#include "support/words.h"

namespace metactrl::evaluation {

using benchmarks::Score;
using benchmarks::TaskScore;
using cli::Json;

namespace {

struct ScoreArguments {
  std::string module;
  std::string tasks;
  std::string responses;
  std::string scenes;
  std::string report;
  std::string answers;
  std::string prompts;
  std::string compare;
  cli::OutputOptions output;
};

std::string percent(double value) { return cli::number_text(std::round(value * 100) / 100); }

std::string score_text(const Score& score) {
  std::string text;
  text += str_cat("scored tasks         ", score.n, score.n == score.n_all ? "" : str_cat(" of ", score.n_all), "\n");
  if (score.unanswered > 0) {
    text += str_cat("unanswered           ", score.unanswered, "; all numbers are over the tasks that were answered\n");
  }
  text += str_cat("task success         ", percent(score.task_success), " %\n");
  text += str_cat("execution success    ", percent(score.execution_success), " %\n");
  for (const auto& [name, value] : score.rates) text += str_cat(name, "  ", percent(value), " %\n");
  for (const auto& [name, value] : score.figures) {
    text += str_cat(name, std::string(name.size() < 19 ? 21 - name.size() : 2, ' '),
                    cli::number_text(std::round(value * 1000) / 1000), "\n");
  }
  for (const auto& [action, count] : score.first_failures) {
    if (count > 0) text += str_cat("first failure at ", action, "  ", count, "\n");
  }
  for (const auto& [name, count] : score.errors) text += str_cat("errors: ", name, "  ", count, "\n");
  if (score.equal_to_gold > 0) {
    text +=
        str_cat("equal to the reference, which the evaluator does not count as a success: ", score.equal_to_gold, "\n");
  }
  for (const TaskScore& task : score.tasks) {
    if (!task.scored || task.success == 1) continue;
    text += str_cat("failed: ", task.identifier, "  ", task.verdict, "  ", task.reason, "\n");
  }
  return text;
}

// The answers that were named, or the journal of a run that has not finished them: that knows more than the answers.
struct Judged {
  std::vector<benchmarks::Response> responses;
  std::optional<benchmarks::AnswersFile> run{};
};

Judged read_judged(const std::string& file) {
  const std::string suffix = benchmarks::kPartial;
  std::error_code ignored;
  const bool named = file.ends_with(suffix);
  if (!named && (std::filesystem::exists(file, ignored) || !std::filesystem::exists(file + suffix, ignored))) {
    return {benchmarks::read_responses(file)};
  }
  const std::string journal = named ? file : file + suffix;
  Judged out{{}, benchmarks::read_partial_answers(journal)};
  cli::note(str_cat("metactrl: ", journal, " is what a run has answered so far"));
  for (const benchmarks::Answer& answer : out.run->answers) out.responses.push_back({answer.identifier, answer.output});
  return out;
}

// The answers of a run whose report is in the folder, or those that were named. Answers that are not the ones scored
// would tell of another run: they are left out.
benchmarks::AnswersFile matching_answers(const ScoreArguments& arguments,
                                         const std::map<std::string, std::string>& responses) {
  std::string file = arguments.answers;
  if (file.empty()) {
    file = (std::filesystem::path(arguments.report) / "answers.json").string();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return {};
  }
  benchmarks::AnswersFile run = benchmarks::read_answers(file);
  const std::size_t all = run.answers.size();
  std::erase_if(run.answers, [&](const benchmarks::Answer& answer) {
    const auto response = responses.find(answer.identifier);
    return response == responses.end() || response->second != answer.output;
  });
  if (run.answers.size() < all) {
    cli::note(str_cat(file, ": ", all - run.answers.size(), " of ", all, " answers are not those in ",
                      arguments.responses, "; the report leaves them out"));
  }
  if (run.answers.empty()) run.settings = nullptr;
  return run;
}

// Of the file that was named, or of the one that the run read, where it is still there.
std::map<std::string, std::string> prompts_by_identifier(const ScoreArguments& arguments, const Json& settings) {
  std::vector<benchmarks::PromptEntry> entries;
  if (!arguments.prompts.empty()) {
    entries = benchmarks::read_prompts(arguments.prompts);
  } else if (settings.is_object() && settings.contains("prompts") && settings["prompts"].is_string()) {
    std::string file = settings["prompts"];
    if (file.empty()) file = (std::filesystem::path(arguments.report) / benchmarks::kPromptsOfReport).string();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return {};
    try {
      entries = benchmarks::read_prompts(file);
    } catch (const InputError& error) {
      cli::note(str_cat(error.what(), "; the report has no prompts"));
    }
  }
  std::map<std::string, std::string> prompts;
  for (benchmarks::PromptEntry& entry : entries) prompts.emplace(entry.identifier, std::move(entry.prompt));
  return prompts;
}

void write_report(const ScoreArguments& arguments, const benchmarks::Module& module, const Score& score,
                  const Judged& judged) {
  benchmarks::Report report;
  report.module = module.name;
  report.title = module.title;
  report.date = today();
  report.score = score;
  for (const TaskScore& task : score.tasks) {
    if (task.response) report.responses.emplace(task.identifier, judged.responses[*task.response].output);
  }
  report.run = judged.run ? *judged.run : matching_answers(arguments, report.responses);
  report.prompts = prompts_by_identifier(arguments, report.run.settings);
  report.keep_to_prompt = benchmarks::rejected_by_benchmark(module, score, report.prompts, report.responses);
  if (!arguments.compare.empty()) report.other = benchmarks::read_answers(arguments.compare);
  benchmarks::write_report(arguments.report, report);
  cli::note(str_cat("the report is in ", (std::filesystem::path(arguments.report) / "index.html").string()));
}

// Says which tasks were answered more than once: only one of the answers counts.
void note_repetitions(const ScoreArguments& arguments, const std::vector<benchmarks::Response>& responses) {
  std::map<std::string, std::size_t> count;
  std::vector<std::string> repeated;
  for (const benchmarks::Response& response : responses) {
    if (++count[response.identifier] == 2) repeated.push_back(response.identifier);
  }
  if (repeated.empty()) return;
  cli::note(str_cat(arguments.responses, ": ", internal::list_some(repeated), repeated.size() == 1 ? " has" : " have",
                    " several answers; as the evaluator does, the ", arguments.module == "beh-sd" ? "first" : "last",
                    " one is judged"));
}

int run_score(const ScoreArguments& arguments) {
  if (arguments.report.empty() &&
      !(arguments.answers.empty() && arguments.prompts.empty() && arguments.compare.empty())) {
    throw cli::UsageError("--answers, --prompts and --compare are for the report; add --report DIR");
  }
  const benchmarks::Module& module = *benchmarks::find_module(arguments.module);
  const Judged judged = read_judged(arguments.responses);
  const std::vector<benchmarks::Response>& responses = judged.responses;
  Score score = module.score(arguments.tasks, scenes_folder(arguments.scenes, arguments.tasks), responses);
  benchmarks::leave_out_unanswered(score);
  note_repetitions(arguments, responses);
  for (const std::string& stranger : score.strangers) {
    cli::note(str_cat(arguments.responses, ": there is no task '", stranger, "' in ", arguments.tasks));
  }
  if (!arguments.report.empty()) write_report(arguments, module, score, judged);
  if (arguments.output.json()) {
    cli::print(arguments.output, benchmarks::to_json(score));
  } else {
    cli::print(arguments.output, score_text(score));
  }
  return cli::kDone;
}

constexpr const char* kScoreExamples =
    "\n"
    "  metactrl score vh-as --tasks as.jsonl --responses answers.json --report report\n"
    "\n"
    "judges what 'metactrl eval vh-as' wrote to answers.json; report/index.html shows each task. While that runs, or\n"
    "after it was stopped, what it has answered so far is judged.\n";

}  // namespace

cli::Command add_score(CLI::App& parent) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* app = cli::add_benchmarks_command(parent, "score");
  add_module_option(*app, "module", arguments->module, "which benchmark")->required();
  add_file(*app, "--tasks", arguments->tasks, "the benchmark's tasks, one JSON object a line (docs/benchmarks.md)")
      ->required();
  add_file(*app, "--responses", arguments->responses, "the answers, as 'metactrl eval' writes them")->required();
  add_folder(*app, "--scenes", arguments->scenes, "folder of the scenes; without it, that of the tasks");
  add_folder(*app, "--report", arguments->report, "folder for a report: index.html, report.md, score.json, tasks.csv");
  add_file(*app, "--answers", arguments->answers,
           "for the report: what is known of the answers; without it, answers.json in that folder");
  add_file(*app, "--prompts", arguments->prompts,
           "for the report: the prompts; without it, those that the answers were given to");
  add_file(*app, "--compare", arguments->compare,
           "for the report: answers.json of another run, to set plan lengths and log-probabilities beside");
  add_output_options(*app, arguments->output);
  app->footer(kScoreExamples);
  return {app, [arguments] { return run_score(*arguments); }};
}

}  // namespace metactrl::evaluation
