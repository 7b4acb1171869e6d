// The work is a list of items (module, row, task). An item's shard depends on its task's place in the sample alone, so
// that shards are about equally long and a task's rows are answered together.
//
// A journal has a line per answer, and before the first answer to a module a line with the digest of its data and one
// per row with what made its answers, so that rows and modules can be added later. A shard that was launched together
// with others ends with a line that says so: failed answers are tried again, and until then nobody knows whether they
// still fail. Journals of all shards are read; each is written by its own shard only.
//
// Modules are worked on one after the other, with all threads meeting in between: the prompts of a module have a long
// beginning in common, which the model keeps as long as the module lasts.
#include "benchmarks/reproduce.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "benchmarks/files.h"
#include "jobs/run_jobs.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

namespace fs = std::filesystem;

constexpr const char* kHint = "repeat the settings, or name another folder with --out";

std::string journal_name(const Shard& shard) {
  if (shard.count == 1) return "answers.jsonl";
  return str_cat("answers-", shard.index + 1, "-of-", shard.count, ".jsonl");
}

// In a fixed order, so that of two answers to the same task the same one is taken every time.
std::vector<std::string> journals_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& name : internal::names_in(folder)) {
    if (name.starts_with("answers") && name.ends_with(".jsonl")) files.push_back(fs::path(folder) / name);
  }
  return files;
}

}  // namespace

const std::vector<RowFacts>& all_rows() {
  static const std::vector<RowFacts> kRows = {
      {Row::kNone, "none", "model alone", true, Guidance::kNone},
      {Row::kSyntax, "syntax", "model, held to the form", true, Guidance::kSyntax},
      {Row::kLevel1, "level1", "model, held to the form, a model of tokens looks ahead", true, Guidance::kSyntax},
      {Row::kPlanner, "planner", "classical planner, the benchmark's PDDL", false, Guidance::kSearch},
      {Row::kSearch, "search", "search, no model", false, Guidance::kSearch},
      {Row::kMask, "mask", "model, masked", true, Guidance::kMask},
      {Row::kUniform, "uniform", "model, uniform lookahead", true, Guidance::kUniform},
      {Row::kTrained, "trained", "model, trained lookahead", true, Guidance::kTrained},
  };
  return kRows;
}

const RowFacts& facts_of(Row row) {
  for (const RowFacts& facts : all_rows()) {
    if (facts.row == row) return facts;
  }
  throw std::logic_error("a row that is not in the list of rows");
}

std::string RowOf::name() const {
  const std::string name(facts_of(row).name);
  return rules == Rules::kEnvironment ? name : str_cat(name, ", ", to_string(rules));
}

std::vector<std::size_t> sample_of(std::size_t tasks, std::size_t limit) {
  const std::size_t count = limit == 0 ? tasks : std::min(limit, tasks);
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < count; ++i) sample.push_back(i * tasks / count);
  return sample;
}

Reproduction::Reproduction(const ReproduceOptions& options) : options_(options) {
  for (const ReproduceOptions::OpenModule& open : options.modules) {
    samples_.push_back(sample_of(open.tasks->identifiers().size(), options.limit));
    digests_.push_back(open.tasks->digest());
  }
  read_folder();
}

// --- journals ------------------------------------------------------------------------------------------------------

void Reproduction::read_folder() {
  for (const std::string& file : journals_in(options_.out)) {
    std::error_code ignored;
    const std::uintmax_t size = fs::file_size(file, ignored);
    if (const auto found = sizes_.find(file); found != sizes_.end() && found->second == size) continue;
    const std::optional<jobs::JournalContent> content = jobs::read_journal(file);
    sizes_[file] = size;
    if (!content) continue;
    jobs::check_settings(file, content->settings, options_.settings, kHint);
    for (const Json& line : content->lines) {
      try {
        take_line(file, line);
      } catch (const Json::exception& error) {
        throw InputError(file, str_cat("holds a line that is not an answer: ", error.what()),
                         "remove the file, or name another folder with --out");
      }
    }
  }
}

void Reproduction::take_line(const std::string& file, const Json& line) {
  if (line.contains("finished")) {
    if (line["finished"] == options_.launch && line.at("of") == options_.shard.count) {
      finished_.insert(line.at("shard").get<std::size_t>() - 1);
    }
    return;
  }
  const std::string module = line.at("module");
  if (line.contains("with")) {
    const std::string row_name = line.at("row");
    for (std::size_t i = 0; i < options_.modules.size(); ++i) {
      if (options_.modules[i].module->name != module) continue;
      for (const RowOf row : options_.rows) {
        if (row.name() == row_name) jobs::check_settings(file, line["with"], made_with(i, row), kHint);
      }
    }
    return;
  }
  if (line.contains("data")) {
    for (std::size_t i = 0; i < options_.modules.size(); ++i) {
      if (options_.modules[i].module->name != module || line["data"] == digests_[i]) continue;
      throw InputError(file, str_cat("was begun with other tasks of ", module), kHint);
    }
    return;
  }
  Answer answer = answer_from_json(line.at("answer"));
  Key key(module, line.at("row").get<std::string>(), answer.identifier);
  // A later answer replaces one that failed; otherwise the first counts.
  const auto found = answers_.find(key);
  if (found == answers_.end()) {
    answers_.emplace(std::move(key), std::move(answer));
  } else if (!found->second.error.empty()) {
    found->second = std::move(answer);
  }
}

// --- the work ------------------------------------------------------------------------------------------------------

Json Reproduction::made_with(std::size_t module, RowOf row) const {
  Json with = facts_of(row.row).needs_model ? options_.model : Json::object();
  if (row.row == Row::kPlanner) with["planner"] = options_.planner.program.empty() ? "search" : "Fast Downward";
  if (row.row == Row::kTrained) with["hmm"] = options_.modules[module].hmm_digest;
  if (row.row == Row::kLevel1) with["token_hmm"] = options_.token_hmm_digest;
  return with;
}

bool Reproduction::is_done(const Item& item) const {
  const auto found = answers_.find(key_of(item));
  return found != answers_.end() && found->second.error.empty();
}

Reproduction::Key Reproduction::key_of(const Item& item) const {
  const ReproduceOptions::OpenModule& open = options_.modules[item.module];
  return {std::string(open.module->name), item.row.name(), open.tasks->identifiers()[item.task]};
}

std::string Reproduction::absence(std::size_t module, RowOf row) const {
  if (row.row != Row::kPlanner) return {};
  return options_.modules[module].tasks->has_problems() ? "" : "n/a";
}

std::vector<Reproduction::Item> Reproduction::items(std::size_t module) const {
  std::vector<Item> items;
  for (const RowOf row : options_.rows) {
    if (!absence(module, row).empty()) continue;
    for (std::size_t i = 0; i < samples_[module].size(); ++i) {
      if (is_mine(i)) items.push_back({module, row, samples_[module][i]});
    }
  }
  return items;
}

std::vector<Reproduction::Item> Reproduction::items() const {
  std::vector<Item> all;
  for (std::size_t module = 0; module < options_.modules.size(); ++module) {
    const std::vector<Item> some = items(module);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::size_t Reproduction::done() const {
  const std::vector<Item> all = items();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [this](const Item& item) { return is_done(item); }));
}

bool Reproduction::needs_model() const {
  const std::vector<Item> all = items();
  return std::any_of(all.begin(), all.end(),
                     [this](const Item& item) { return facts_of(item.row.row).needs_model && !is_done(item); });
}

bool Reproduction::work(LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
                        const std::function<void(std::size_t)>& progress) {
  std::error_code error;
  fs::create_directories(options_.out, error);
  if (error) {
    throw InputError(options_.out, str_cat("cannot be made a folder: ", error.message()), "name another folder");
  }
  jobs::JournalFile journal((fs::path(options_.out) / journal_name(options_.shard)).string(), options_.settings,
                            jobs::JournalFile::Begin::kGoOn, kHint);
  const auto cancelled = [this] { return options_.evaluate.cancelled && options_.evaluate.cancelled(); };
  std::mutex mutex;
  std::size_t finished = done();
  for (std::size_t module = 0; module < options_.modules.size(); ++module) {
    const ReproduceOptions::OpenModule& open = options_.modules[module];
    std::vector<Item> missing = items(module);
    std::erase_if(missing, [&](const Item& item) { return is_done(item); });
    if (missing.empty()) continue;
    journal.add({{"module", open.module->name}, {"data", digests_[module]}});
    for (const RowOf row : options_.rows) {
      const auto of_row = [&](const Item& item) { return item.row == row; };
      if (std::none_of(missing.begin(), missing.end(), of_row)) continue;
      journal.add({{"module", open.module->name}, {"row", row.name()}, {"with", made_with(module, row)}});
    }
    if (model != nullptr) open.tasks->expect_prefix(*model, options_.evaluate);
    std::size_t next = 0;
    jobs::run_jobs(options_.jobs, [&] {
      std::unique_lock lock(mutex);
      if (next == missing.size() || cancelled()) return false;
      const Item item = missing[next++];
      lock.unlock();
      EvaluateOptions evaluate = options_.evaluate;
      evaluate.rules = item.row.rules;
      evaluate.plan.guidance = facts_of(item.row.row).guidance;
      if (item.row.row == Row::kTrained) evaluate.plan.lookahead.hmm = open.hmm;
      if (item.row.row == Row::kSyntax) evaluate.plan.bridge = Bridge::kUniform;
      if (item.row.row != Row::kLevel1 && evaluate.plan.bridge != Bridge::kHmm) evaluate.plan.token_hmm.reset();
      Answer answer = item.row.row == Row::kPlanner
                          ? open.tasks->answer_classically(item.task, options_.planner, evaluate)
                          : open.tasks->answer(item.task, model, vocabulary, evaluate);
      lock.lock();
      if (answer.cancelled) return false;
      journal.add({{"module", open.module->name}, {"row", item.row.name()}, {"answer", to_json(answer)}});
      answers_.insert_or_assign(key_of(item), std::move(answer));
      progress(++finished);
      return true;
    });
    if (cancelled()) return false;
  }
  if (!options_.launch.empty()) {
    journal.add({{"finished", options_.launch}, {"shard", options_.shard.index + 1}, {"of", options_.shard.count}});
  }
  return true;
}

// --- what came out -------------------------------------------------------------------------------------------------

std::vector<std::string> Reproduction::gaps() const {
  std::vector<std::string> gaps;
  for (std::size_t module = 0; module < options_.modules.size(); ++module) {
    for (const RowOf row : options_.rows) {
      if (!absence(module, row).empty()) continue;
      std::size_t missing = 0;
      for (const std::size_t task : samples_[module]) missing += answers_.contains(key_of({module, row, task})) ? 0 : 1;
      if (missing == 0) continue;
      gaps.push_back(str_cat(options_.modules[module].module->name, " ", row.name(), ": ", missing, " of ",
                             samples_[module].size(), " missing"));
    }
  }
  return gaps;
}

bool Reproduction::complete() {
  read_folder();
  return gaps().empty();
}

std::vector<std::size_t> Reproduction::awaited() {
  read_folder();
  std::set<std::size_t> shards;
  for (std::size_t module = 0; module < options_.modules.size(); ++module) {
    for (const RowOf row : options_.rows) {
      if (!absence(module, row).empty()) continue;
      for (std::size_t i = 0; i < samples_[module].size(); ++i) {
        const std::size_t shard = i % options_.shard.count;
        const Item item{module, row, samples_[module][i]};
        if (shard == options_.shard.index || is_done(item)) continue;
        const bool may_change = !options_.launch.empty() && !finished_.contains(shard);
        if (may_change || !answers_.contains(key_of(item))) shards.insert(shard + 1);
      }
    }
  }
  return {shards.begin(), shards.end()};
}

RowResult Reproduction::result_of(std::size_t module, RowOf row) const {
  RowResult result;
  result.row = row;
  result.absent = absence(module, row);
  if (!result.absent.empty()) return result;
  std::vector<Response> responses;
  std::set<std::string> judged;
  for (const std::size_t task : samples_[module]) {
    const auto found = answers_.find(key_of({module, row, task}));
    if (found == answers_.end()) continue;
    const Answer& answer = found->second;
    result.answers.push_back(answer);
    result.failed += answer.error.empty() ? 0 : 1;
    result.exact += has_exact_weights(answer) ? 1 : 0;
    result.witness += !answer.tier.empty() && !has_exact_weights(answer) ? 1 : 0;
    if (!answer.fits) {
      ++result.no_room;
      continue;
    }
    judged.insert(answer.identifier);
    responses.push_back({answer.identifier, answer.output});
  }
  const ReproduceTasks& tasks = *options_.modules[module].tasks;
  result.score = tasks.score(responses);
  const bool all = judged.size() == result.score.tasks.size();
  std::erase_if(result.score.tasks, [&](const TaskScore& task) { return !judged.contains(task.identifier); });
  // Further rates are the scorer's own, over all tasks of the file.
  if (!all) result.score.rates.clear();
  summarize(result.score);
  std::set<std::string> rejected;
  for (const TaskScore& task : result.score.tasks) {
    if (task.scored && format_error(task) != FormatError::kNone) rejected.insert(task.identifier);
  }
  for (const std::size_t task : samples_[module]) {
    const auto found = answers_.find(key_of({module, row, task}));
    if (found == answers_.end() || !rejected.contains(found->second.identifier)) continue;
    if (tasks.keeps_to_prompt(task, found->second.output)) result.keep_to_prompt.insert(found->second.identifier);
  }
  return result;
}

std::vector<ModuleResult> Reproduction::results() const {
  std::vector<ModuleResult> results;
  for (std::size_t i = 0; i < options_.modules.size(); ++i) {
    const ReproduceOptions::OpenModule& open = options_.modules[i];
    ModuleResult result{std::string(open.module->name),
                        std::string(open.module->title),
                        open.tasks->identifiers().size(),
                        samples_[i].size(),
                        {}};
    for (const RowOf row : options_.rows) result.rows.push_back(result_of(i, row));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace metactrl::benchmarks
