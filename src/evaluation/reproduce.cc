// metactrl reproduce: the tables of the paper, every row for every module, in one command.
//
// Everything is checked before anything is written: the rows, the data, the settings of answers that are there already,
// the model. Then the work begins (benchmarks/reproduce.h). Started by mpirun or srun, each process is a shard, and the
// first one waits for the others and writes the tables.
#include "benchmarks/reproduce.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/classical_planner.h"
#include "benchmarks/reproduce_modules.h"
#include "benchmarks/reproduce_tables.h"
#include "cli/benchmarks_program.h"
#include "cli/common.h"
#include "cli/decoding_options.h"
#include "cli/interrupt.h"
#include "cli/load_decoding.h"
#include "cli/model_registry.h"
#include "cli/model_store.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cluster/join.h"
#include "evaluation/commands.h"
#include "evaluation/options.h"
#include "metactrl/error.h"
#include "support/list_some.h"
#include "support/nearest_name.h"
#include "support/words.h"

namespace metactrl::evaluation {

using benchmarks::Row;
using cli::Json;

namespace {

struct ReproduceArguments : cli::DecodingArguments {
  std::string data;
  std::string out;
  std::string modules;
  std::string rows;
  std::string shard;
  std::string planner;
  std::vector<std::string> hmms;  // FILE, or MODULE=FILE
  double planner_seconds = 30;
  std::size_t limit = 0;
  unsigned jobs = 1;
  bool merge = false;
  std::string rules = "environment,paper";
  benchmarks::PromptStyle prompt = benchmarks::PromptStyle::kBenchmark;
};

// --- what is asked for ---------------------------------------------------------------------------------------------

void need_known(const std::string& name, const char* what, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::string guess = internal::did_you_mean(name, known);
  throw cli::UsageError(str_cat("there is no ", what, " '", name, "'; there are ", join(known, ", "),
                                guess.empty() ? "" : " (" + guess + ")"));
}

// The items of a list, each of them known.
std::vector<std::string> known_items(const std::string& list, const char* what, const std::vector<std::string>& known) {
  std::vector<std::string> items;
  for (const std::string_view item : split(list, ",")) {
    if (!item.empty()) items.emplace_back(item);
  }
  for (const std::string& name : items) need_known(name, what, known);
  return items;
}

// In the order of the table, each once, and under one set of rules after the other.
std::vector<benchmarks::RowOf> chosen_rows(const std::string& list, const std::string& rules_list) {
  std::vector<std::string> known;
  for (const benchmarks::RowFacts& facts : benchmarks::all_rows()) known.emplace_back(facts.name);
  const std::vector<std::string> asked = known_items(list, "row", known);
  std::vector<std::string> known_rules;
  for (const auto& entry : enum_names(benchmarks::Rules{})) known_rules.emplace_back(entry.name);
  const std::vector<std::string> asked_rules = known_items(rules_list, "set of rules", known_rules);
  if (asked_rules.empty()) throw cli::UsageError("--rules names no rules");
  std::vector<benchmarks::RowOf> rows;
  for (const benchmarks::RowFacts& facts : benchmarks::all_rows()) {
    if (std::find(asked.begin(), asked.end(), facts.name) == asked.end()) continue;
    if (facts.row == Row::kNone || facts.row == Row::kPlanner) {
      rows.emplace_back(facts.row);
      continue;
    }
    for (const auto& entry : enum_names(benchmarks::Rules{})) {
      if (std::find(asked_rules.begin(), asked_rules.end(), entry.name) != asked_rules.end()) {
        rows.emplace_back(facts.row, entry.value);
      }
    }
  }
  if (rows.empty()) throw cli::UsageError("--rows names no row");
  return rows;
}

std::vector<benchmarks::ReproduceOptions::OpenModule> open_modules(const ReproduceArguments& arguments) {
  const std::vector<std::string> asked = known_items(arguments.modules, "module", benchmarks::module_names());
  if (asked.empty() && !arguments.modules.empty()) throw cli::UsageError("--modules names no module");
  std::vector<benchmarks::ReproduceOptions::OpenModule> modules;
  std::string first_missing;
  for (const benchmarks::Module& module : benchmarks::modules()) {
    const bool named = std::find(asked.begin(), asked.end(), module.name) != asked.end();
    if (!asked.empty() && !named) continue;
    const std::string missing = benchmarks::missing_file(module, arguments.data);
    if (missing.empty()) {
      modules.push_back({&module, benchmarks::open_tasks(module, arguments.data)});
      continue;
    }
    if (named) {
      throw InputError(missing, str_cat("is not there, and ", module.name, " needs it"),
                       "name the folder that holds the benchmarks' data with --data");
    }
    if (first_missing.empty()) first_missing = missing;
  }
  if (modules.empty()) {
    throw InputError(arguments.data, str_cat("holds the tasks of no module; ", first_missing, " would be the first"),
                     "docs/benchmarks.md says which files there should be");
  }
  return modules;
}

// The file that --hmm names for a module; empty when there is none.
std::string hmm_file(const std::vector<std::string>& hmms, std::string_view module) {
  std::string for_all;
  for (const std::string& text : hmms) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      for_all = text;
    } else if (text.substr(0, equals) == module) {
      return text.substr(equals + 1);
    }
  }
  return for_all;
}

// Models of plans for the row trained.
void open_hmms(const ReproduceArguments& arguments, benchmarks::ReproduceOptions& options) {
  const bool wanted = std::any_of(options.rows.begin(), options.rows.end(),
                                  [](const benchmarks::RowOf& row) { return row.row == Row::kTrained; });
  if (!wanted && !arguments.hmms.empty()) throw cli::UsageError("--hmm is for the row 'trained'; add it to --rows");
  for (const std::string& text : arguments.hmms) {
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) need_known(text.substr(0, equals), "module", benchmarks::module_names());
  }
  for (benchmarks::ReproduceOptions::OpenModule& open : options.modules) {
    if (!wanted) return;
    const std::string file = hmm_file(arguments.hmms, open.module->name);
    if (file.empty()) {
      throw cli::UsageError(str_cat("the row 'trained' needs a hidden Markov model of plans for ", open.module->name,
                                    "; name one with --hmm FILE or --hmm ", open.module->name,
                                    "=FILE ('metactrl train' makes them), or leave the row out"));
    }
    open.hmm = Hmm::load(file);
    open.hmm_digest = cli::file_digest(file);
  }
}

// The options of what all rows share, with the model of tokens: with bridge hmm for the rows that have a lookahead, and
// for the row level1.
PlanOptions plan_options_of(const ReproduceArguments& arguments, benchmarks::ReproduceOptions& options) {
  const bool level1 = std::any_of(options.rows.begin(), options.rows.end(),
                                  [](const benchmarks::RowOf& row) { return row.row == Row::kLevel1; });
  const std::string& file = arguments.token_hmm;
  if (level1 && file.empty()) {
    throw cli::UsageError(
        "the row 'level1' needs a hidden Markov model of tokens; name one with --token-hmm FILE ('metactrl train "
        "--level "
        "token' and 'metactrl hmm uniform' make one), or leave the row out");
  }
  if (!level1 && !file.empty() && arguments.bridge != Bridge::kHmm) {
    throw cli::UsageError("--token-hmm is for the row 'level1' and for --bridge hmm");
  }
  if (level1) options.token_hmm_digest = cli::file_digest(file);
  if (!level1 || arguments.bridge == Bridge::kHmm) return cli::plan_options(arguments);
  cli::DecodingArguments others = arguments;
  others.token_hmm.clear();
  PlanOptions plan = cli::plan_options(others);
  cli::DecodingArguments syntax = arguments;
  syntax.guidance = Guidance::kSyntax;
  syntax.bridge = Bridge::kUniform;
  syntax.lookahead_device = cli::Device::kCpu;
  plan.token_hmm = cli::plan_options(syntax).token_hmm;
  return plan;
}

struct ShardChoice {
  benchmarks::Shard shard;
  bool joined = false;  // by mpirun or srun: the first process writes the tables
  std::string launch{};
};

// 0 for what is no number.
std::size_t number_of(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

ShardChoice choose_shard(const std::string& text) {
  if (!text.empty()) {
    const std::size_t slash = std::min(text.find('/'), text.size() - 1);
    const std::size_t index = number_of(std::string_view(text).substr(0, slash));
    const std::size_t count = number_of(std::string_view(text).substr(slash + 1));
    constexpr std::size_t kMost = 100'000;
    if (index < 1 || index > count || count > kMost) {
      throw cli::UsageError(str_cat("--shard '", text, "' is not a part of a whole; write it like 2/4"));
    }
    return {{index - 1, count}};
  }
  cluster::Launch started = cluster::launch();
  if (started.size > 1) return {{started.rank, started.size}, true, std::move(started.job)};
  return {};
}

// --- the run -------------------------------------------------------------------------------------------------------

class ReproduceRun {
 public:
  ReproduceRun(const ReproduceArguments& arguments, std::string command)
      : arguments_(arguments), command_(std::move(command)), choice_(choose_shard(arguments.shard)) {
    if (arguments.merge && !arguments.shard.empty())
      throw cli::UsageError("--merge joins all shards; leave out --shard");
    if (arguments.data.empty() || arguments.out.empty()) throw cli::UsageError("--data and --out must name folders");
    options_.rows = chosen_rows(arguments.rows, arguments.rules);
    options_.out = arguments.out;
    options_.limit = arguments.limit;
    options_.shard = choice_.shard;
    options_.launch = choice_.launch;
    options_.jobs = arguments.jobs;
    options_.modules = open_modules(arguments);
    open_hmms(arguments, options_);
    options_.planner = {benchmarks::find_classical_planner(arguments.planner), arguments.planner_seconds};
    if (!arguments.planner.empty() && options_.planner.program.empty()) {
      throw InputError(arguments.planner, "there is no such program", "name Fast Downward's driver, fast-downward.py");
    }
    options_.evaluate.prompt = arguments.prompt;
    options_.evaluate.plan = plan_options_of(arguments, options_);
    set_benchmark_budgets(arguments.budget, options_.evaluate.plan);
    options_.evaluate.plan.time_limit = arguments.budget.time_limit();
    options_.evaluate.cancelled = [] { return cli::interrupted(); };
    options_.settings = settings();
    if (needs_model()) {
      const auto file = cli::model_file(arguments_.model);
      options_.model = {{"model", arguments_.model}, {"model_sha256", file ? cli::file_digest(*file) : ""}};
    }
    run_.emplace(options_);
  }

  int run() {
    cli::catch_interrupts();
    for (const benchmarks::ReproduceOptions::OpenModule& open : options_.modules) {
      if (choice_.shard.index > 0 || open.tasks->left_out() == 0) continue;
      cli::note(str_cat("metactrl: ", open.tasks->left_out(), " prompts of ", open.module->name,
                        " are left out: there is no task to judge an answer by"));
    }
    if (!arguments_.merge && !answer()) return cli::kInterrupted;
    if (!arguments_.shard.empty()) {
      cli::note(str_cat("metactrl: shard ", arguments_.shard, " is done; '--merge' writes the tables once all are"));
      return cli::kDone;
    }
    if (choice_.shard.index > 0) return cli::kDone;
    if (choice_.joined && !arguments_.merge && !wait_for_others()) return cli::kInterrupted;
    return write();
  }

 private:
  bool needs_model() const {
    return std::any_of(options_.rows.begin(), options_.rows.end(),
                       [](const benchmarks::RowOf& row) { return benchmarks::facts_of(row.row).needs_model; });
  }

  // Everything that an answer depends on, but for the model and the models of plans, on which not all rows do.
  Json settings() const {
    Json json{{"version", METACTRL_VERSION},
              {"prompt", to_string(arguments_.prompt)},
              {"limit", arguments_.limit},
              {"planner_seconds", arguments_.planner_seconds}};
    json.update(cli::decoding_settings(arguments_));
    json["exact_states"] = options_.evaluate.plan.lookahead.exact.states;
    json["exact_memory"] = options_.evaluate.plan.lookahead.exact.bytes;
    if (arguments_.bridge == Bridge::kHmm) json["token_hmm"] = cli::file_digest(arguments_.token_hmm);
    return json;
  }

  // False when it was interrupted.
  bool answer() {
    cli::LoadedModel model;
    if (run_->needs_model()) model = cli::load_model_for(arguments_, arguments_.jobs);
    const std::size_t earlier = run_->done();
    const std::string start =
        choice_.shard.count > 1 ? str_cat("shard ", choice_.shard.index + 1, "/", choice_.shard.count, ": ") : "";
    if (earlier > 0)
      cli::note(str_cat("metactrl: ", start, earlier, " of ", run_->total(), " answers are there already"));
    cli::set_stoppable(true);
    bool finished = false;
    {
      cli::CountProgress progress("answered", static_cast<double>(run_->total()), static_cast<double>(earlier),
                                  cli::CountProgress::quantity, start);
      finished = run_->work(model.model.get(), model.vocabulary,
                            [&](std::size_t done) { progress.done(static_cast<double>(done)); });
    }
    cli::set_stoppable(false);
    if (!finished) {
      cli::note(str_cat("metactrl: stopped after ", run_->done(), " of ", run_->total(),
                        " answers; the same command goes on where it stopped, --merge writes the tables of these"));
    }
    return finished;
  }

  bool wait_for_others() {
    cli::set_stoppable(true);
    const cli::ProgressLine progress("waiting for the other shards");
    constexpr int kPollsPerNote = 120;  // a minute
    for (int polls = 1; !cli::interrupted(); ++polls) {
      std::vector<std::string> names;
      for (const std::size_t shard : run_->awaited()) names.push_back(std::to_string(shard));
      if (names.empty()) break;
      if (polls % kPollsPerNote == 0) {
        cli::note(str_cat("metactrl: waiting for shards ", internal::list_some(names), " of ", choice_.shard.count));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    cli::set_stoppable(false);
    return !cli::interrupted();
  }

  int write() {
    const std::vector<std::string> missing = run_->complete() ? std::vector<std::string>() : run_->gaps();
    if (!missing.empty()) {
      const std::string what = str_cat("answers are missing: ", internal::list_some(missing));
      if (run_->answers() == 0) throw InputError(arguments_.out, what, "run the shards into this folder first");
      cli::note(str_cat("metactrl: ", arguments_.out, ": ", what, "; the tables are over what was answered"));
    }
    std::vector<benchmarks::ModuleResult> results;
    {
      const cli::ProgressLine progress("scoring");
      results = run_->results();
    }
    Json settings = options_.settings;
    settings.update(options_.model);
    settings["planner"] = options_.planner.program.empty() ? "a search of our own" : "Fast Downward (lama-first)";
    benchmarks::write_tables(arguments_.out, results,
                             {command_, today(), model_text(), settings, missing,
                              benchmarks::information_audits(arguments_.data), two_levels()});
    cli::print(benchmarks::overview_markdown(results));
    const int code = report(results);
    return missing.empty() ? code : cli::kBadInput;
  }

  // Of all prompts, by the vocabulary of the model, if there is one and a sample was not asked for.
  std::vector<benchmarks::TwoLevelsTable> two_levels() const {
    std::vector<benchmarks::TwoLevelsTable> tables;
    if (!needs_model() || arguments_.limit > 0) return tables;
    const cli::LoadedModel model = cli::load_model_for(arguments_);
    if (model.vocabulary == nullptr) return tables;
    const cli::ProgressLine progress("measuring the two levels");
    for (const benchmarks::ReproduceOptions::OpenModule& open : options_.modules) {
      if (auto table = open.tasks->two_levels(model.vocabulary, {})) tables.push_back(*std::move(table));
    }
    return tables;
  }

  // What the tables do not show; the exit code.
  int report(const std::vector<benchmarks::ModuleResult>& results) const {
    std::size_t failed = 0;
    std::size_t no_room = 0;
    std::set<std::string> reasons;
    for (const benchmarks::ModuleResult& module : results) {
      for (const benchmarks::RowResult& row : module.rows) {
        failed += row.failed;
        no_room += row.no_room;
        for (const benchmarks::Answer& answer : row.answers) {
          if (!answer.error.empty()) reasons.insert(answer.error);
        }
      }
    }
    if (no_room > 0) {
      cli::note(
          str_cat("metactrl: ", cli::count_text(no_room, "answer", "answers"),
                  " had no room in the model's context and ", no_room == 1 ? "is" : "are", " not counted",
                  arguments_.prompt == benchmarks::PromptStyle::kBenchmark ? "; --prompt compact takes less" : ""));
    }
    cli::note(str_cat("metactrl: the tables are in ", arguments_.out, "/index.html and tables.md"));
    if (failed == 0) return cli::kDone;
    cli::note(str_cat("metactrl: ", cli::count_text(failed, "answer", "answers"), " ended in an error, see ",
                      arguments_.out, "/answers*.jsonl; the same command tries again"));
    constexpr std::size_t kShown = 3;
    std::size_t shown = 0;
    for (const std::string& reason : reasons) {
      if (shown++ == kShown) break;
      cli::note(str_cat("metactrl: ", reason));
    }
    return cli::kBadInput;
  }

  std::string model_text() const {
    if (!needs_model()) return {};
    const std::string digest = options_.model["model_sha256"];
    return digest.empty() ? arguments_.model : str_cat(arguments_.model, " (SHA-256 ", digest.substr(0, 12), "...)");
  }

  const ReproduceArguments& arguments_;
  std::string command_;
  ShardChoice choice_;
  benchmarks::ReproduceOptions options_;
  std::optional<benchmarks::Reproduction> run_;
};

// The command as it could be typed again. Paths are not shown: they are of one machine.
std::string command_text(const CLI::App& app) {
  std::string text = "metactrl reproduce";
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    if (name == "--help" || name == "--jobs" || name == "--shard" || name == "--merge" || name == "--threads") continue;
    text += " " + name;
    if (name == "--data" || name == "--out" || name == "--hmm" || name == "--token-hmm") {
      text += name == "--data" ? " DATA" : name == "--out" ? " OUT" : " FILE";
      continue;
    }
    for (const std::string& value : option->results()) text += " " + value;
  }
  return text;
}

constexpr const char* kReproduceExamples =
    "\n"
    "  metactrl reproduce --data DATA --out tables\n"
    "  metactrl reproduce --data DATA --out tables --model tinyllama --prompt compact --limit 20\n"
    "  mpirun -n 8 metactrl reproduce --data DATA --out tables\n"
    "\n"
    "DATA holds the benchmarks' task files, as docs/benchmarks.md lists them. OUT gets index.html, tables.md, "
    "tables.json "
    "and\n"
    "a plot per module. Answers are kept as they come: the same command goes on where it was stopped, and tries those "
    "again\n"
    "that failed.\n";

}  // namespace

cli::Command add_reproduce(CLI::App& parent) {
  auto arguments = std::make_shared<ReproduceArguments>();
  arguments->on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
  arguments->generate.max_tokens = 400;
  CLI::App* app = cli::add_benchmarks_command(parent, "reproduce");
  add_folder(*app, "--data", arguments->data, "folder of the benchmarks' task files")->required();
  cli::add_out_option(*app, arguments->out, "folder for answers, tables and plots", "DIR")->required();
  app->add_option("--modules", arguments->modules,
                  str_cat("which benchmarks, of ", join(benchmarks::module_names(), ","),
                          "; without it, all whose files are there"))
      ->type_name("LIST");
  arguments->rows = "none,syntax,planner,search,mask,uniform";
  app->add_option("--rows", arguments->rows, "who answers")->type_name("LIST")->capture_default_str();
  cli::add_number(*app, "--limit", "N", arguments->limit, 0, 1e9,
                  "at most N tasks of each benchmark, evenly spread; 0: all");
  app->add_option("--rules", arguments->rules,
                  "by which rules, of environment,paper,literal: what the benchmark's environment does, what the paper "
                  "must have run, what its appendix lists")
      ->type_name("LIST")
      ->capture_default_str();
  cli::add_choice(*app, "--prompt", arguments->prompt,
                  "what the model reads: the benchmark's prompt, or the same facts in fewer words");
  app->add_option("--planner", arguments->planner,
                  "Fast Downward's driver; without it, fast-downward.py or fast-downward if it is installed, else a "
                  "search of our own")
      ->type_name("PROGRAM");
  cli::add_number(*app, "--planner-seconds", "SECONDS", arguments->planner_seconds, 1, 1e6,
                  "for the classical planner, each task");
  cli::add_number(*app, "--jobs,-j", "N", arguments->jobs, 1, 1024, "tasks that are worked on at once");
  app->add_option("--shard", arguments->shard, "do part I of N only; without it, what mpirun or srun says, else all")
      ->type_name("I/N");
  app->add_flag("--merge", arguments->merge,
                "answer nothing; join the shards in --out and write the tables of what is there");
  arguments->as_in_paper = true;
  cli::add_decoding_options(*app, *arguments, cli::budget_of_many());
  // The rows say which guidance.
  app->remove_option(app->get_option("--guidance"));
  app->remove_option(app->get_option("--hmm"));
  app->add_option("--hmm", arguments->hmms,
                  "for the row trained: a hidden Markov model of plans, for all modules or as MODULE=FILE for one")
      ->type_name("FILE");
  app->footer(kReproduceExamples);
  return {app, [arguments, app] { return ReproduceRun(*arguments, command_text(*app)).run(); }};
}

}  // namespace metactrl::evaluation
