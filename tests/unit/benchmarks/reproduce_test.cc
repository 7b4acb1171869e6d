// Reproductions of a benchmark that is made up: what a task's answer is, and whether it is right, depends on its
// number.
#include "benchmarks/reproduce.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/files.h"
#include "benchmarks/reproduce_tables.h"
#include "metactrl/error.h"
#include "support/test_data.h"
#include "support/virtualhome_prompts.h"

namespace metactrl::benchmarks::reproduce_test {
namespace {

using jobs::JournalFile;

namespace fs = std::filesystem;

// Answers "task row"; the evaluator finds even tasks right, every third executable. Task 4 has no room for a model.
class MadeUp : public ReproduceTasks {
 public:
  explicit MadeUp(std::size_t tasks, std::string version = "1") : version_(std::move(version)) {
    for (std::size_t i = 0; i < tasks; ++i) identifiers_.push_back("t" + std::to_string(i));
  }

  const std::vector<std::string>& identifiers() const override { return identifiers_; }
  std::string digest() const override { return version_; }
  void expect_prefix(LanguageModel&, const EvaluateOptions&) const override {}
  Answer answer(std::size_t task, LanguageModel*, const std::shared_ptr<const Vocabulary>&,
                const EvaluateOptions& options) const override {
    ++asked;
    Answer answer;
    answer.identifier = identifiers_[task];
    answer.output = answer.identifier + " " + to_string(options.plan.guidance);
    answer.outcome = "plan";
    answer.guarantee = "full";
    if (task == 4 && options.plan.guidance == Guidance::kMask) {
      answer.fits = false;
      answer.output.clear();
    }
    if (static_cast<int>(task) == fails) {
      answer.error = "the model cannot go on";
      answer.output.clear();
    }
    return answer;
  }
  Answer answer_classically(std::size_t task, const ClassicalPlanner&, const EvaluateOptions& options) const override {
    return answer(task, nullptr, nullptr, options);
  }
  // Of the answers that cannot be read, the first is the benchmark's fault.
  bool keeps_to_prompt(std::size_t task, const std::string& output) const override {
    return task == 1 && output.starts_with(identifiers_[task]);
  }
  Score score(const std::vector<Response>& responses) const override {
    Score score;
    for (std::size_t i = 0; i < identifiers_.size(); ++i) {
      TaskScore task;
      task.identifier = identifiers_[i];
      for (const Response& response : responses)
        task.answered = task.answered || response.identifier == task.identifier;
      const auto response = std::find_if(responses.begin(), responses.end(),
                                         [&](const Response& r) { return r.identifier == task.identifier; });
      const bool written = response != responses.end() && !response->output.empty();
      task.success = written && i % 2 == 0 ? 1 : 0;
      task.executable = written && i % 3 == 0;
      if (!task.executable) task.errors[unreadable && i % 4 == 1 ? "parsing" : "runtime"] = 1;
      score.tasks.push_back(std::move(task));
    }
    score.rates["half"] = 50;
    summarize(score);
    return score;
  }

  mutable std::atomic<int> asked{0};
  int fails = -1;
  bool unreadable = false;  // tasks 1 and 5

 private:
  std::vector<std::string> identifiers_;
  std::string version_;
};

const Module kFirst{.name = "first", .title = "The first one"};
const Module kSecond{.name = "second", .title = "The second one"};

class ReproduceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("metactrl_reproduce_" + std::to_string(::getpid()) + "_" + std::string(info->name()));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  // Two modules of 7 and 5 tasks, three rows.
  ReproduceOptions options(const std::string& out, const std::string& version = "1") {
    ReproduceOptions options;
    options.out = path(out);
    auto first = std::make_unique<MadeUp>(7, version);
    auto second = std::make_unique<MadeUp>(5);
    first_ = first.get();
    second_ = second.get();
    options.modules.push_back({&kFirst, std::move(first)});
    options.modules.push_back({&kSecond, std::move(second)});
    options.rows = {Row::kPlanner, Row::kSearch, Row::kMask};
    options.settings = {{"model", "m"}, {"limit", 0}};
    return options;
  }
  int asked() const { return first_->asked + second_->asked; }

  static bool work(Reproduction& run) {
    return run.work(nullptr, nullptr, [](std::size_t) {});
  }
  // The tables without what differs from run to run.
  static Json tables(const Reproduction& run) {
    Json json = tables_json(run.results(), {"c", "d", "m", {}});
    for (Json& module : json["modules"]) {
      for (Json& row : module["rows"]) row.erase("seconds");
    }
    return json;
  }

  fs::path folder_;
  MadeUp* first_ = nullptr;
  MadeUp* second_ = nullptr;
};

TEST_F(ReproduceTest, AnswersEverythingOnceAndScoresIt) {
  const ReproduceOptions options = this->options("a");
  Reproduction run(options);
  EXPECT_EQ(run.total(), 24U);
  EXPECT_EQ(run.done(), 0U);
  EXPECT_FALSE(run.complete());
  EXPECT_TRUE(run.needs_model());
  EXPECT_FALSE(fs::exists(path("a"))) << "nothing is written before the work begins";
  std::size_t last = 0;
  EXPECT_TRUE(run.work(nullptr, nullptr, [&](std::size_t done) { last = done; }));
  EXPECT_EQ(last, 24U);
  EXPECT_EQ(asked(), 24);
  ASSERT_TRUE(run.complete());
  const std::vector<ModuleResult> results = run.results();
  ASSERT_EQ(results.size(), 2U);
  ASSERT_EQ(results[0].rows.size(), 3U);
  EXPECT_EQ(results[0].rows[0].absent, "n/a");
  const RowResult& search = results[0].rows[1];
  EXPECT_EQ(search.score.n, 7U);
  EXPECT_NEAR(search.score.task_success, 100.0 * 4 / 7, 1e-9);
  EXPECT_NEAR(search.score.execution_success, 100.0 * 3 / 7, 1e-9);
  EXPECT_EQ(search.score.rates.at("half"), 50);
  const RowResult& mask = results[0].rows[2];
  EXPECT_EQ(mask.score.n, 6U) << "task 4 has no room: neither a success nor a failure";
  EXPECT_EQ(mask.no_room, 1U);
  EXPECT_NEAR(mask.score.task_success, 100.0 * 3 / 6, 1e-9);
  EXPECT_TRUE(mask.score.rates.empty()) << "of other tasks than these";

  // A second run has nothing to do.
  const ReproduceOptions again = this->options("a");
  Reproduction second(again);
  EXPECT_EQ(second.done(), 24U);
  EXPECT_FALSE(second.needs_model());
  EXPECT_TRUE(work(second));
  EXPECT_EQ(asked(), 0);
  EXPECT_EQ(tables(second), tables(run));
}

TEST_F(ReproduceTest, GoesOnAfterBeingKilledAtAnyByteOfAnyLine) {
  const ReproduceOptions whole = options("whole");
  Reproduction reference(whole);
  ASSERT_TRUE(work(reference));
  const std::string journal = read(path("whole/answers.jsonl"));
  const Json expected = tables(reference);
  std::vector<std::size_t> cuts = {0, 1};
  for (std::size_t end = journal.find('\n'); end != std::string::npos; end = journal.find('\n', end + 1)) {
    cuts.insert(cuts.end(), {end, end + 1, std::min(end + 9, journal.size())});
  }
  for (const std::size_t cut : cuts) {
    fs::create_directories(path("cut"));
    std::ofstream(path("cut/answers.jsonl"), std::ios::binary | std::ios::trunc) << journal.substr(0, cut);
    const ReproduceOptions options = this->options("cut");
    Reproduction run(options);
    const std::size_t earlier = run.done();
    ASSERT_TRUE(work(run)) << cut;
    EXPECT_EQ(static_cast<std::size_t>(asked()), 24 - earlier) << cut;
    EXPECT_EQ(tables(run), expected) << cut;
    // And what is there now is whole.
    const ReproduceOptions after = this->options("cut");
    EXPECT_EQ(Reproduction(after).done(), 24U) << cut;
    fs::remove_all(path("cut"));
  }
}

TEST_F(ReproduceTest, ShardsThatAreMergedEqualOneRun) {
  const ReproduceOptions whole = options("whole");
  Reproduction reference(whole);
  ASSERT_TRUE(work(reference));
  int total = 0;
  for (std::size_t shard = 0; shard < 3; ++shard) {
    ReproduceOptions part = options("parts");
    part.shard = {shard, 3};
    part.jobs = 2;
    Reproduction run(part);
    ASSERT_TRUE(work(run));
    total += asked();
    const ReproduceOptions merge = options("parts");
    Reproduction merged(merge);
    EXPECT_EQ(merged.complete(), shard == 2);
    if (shard < 2) {
      EXPECT_FALSE(merged.gaps().empty());
    } else {
      EXPECT_EQ(tables(merged), tables(reference));
    }
  }
  EXPECT_EQ(total, 24) << "nothing is done twice";
  EXPECT_TRUE(fs::exists(path("parts/answers-2-of-3.jsonl")));

  // Of another number of shards, too: what is there is taken.
  ReproduceOptions more = options("parts");
  more.shard = {1, 2};
  Reproduction run(more);
  EXPECT_EQ(run.done(), run.total());
}

TEST_F(ReproduceTest, OtherSettingsAreRefusedAndSaidWhich) {
  const ReproduceOptions first = options("a");
  Reproduction run(first);
  ASSERT_TRUE(work(run));
  ReproduceOptions other = options("a");
  other.settings["limit"] = 5;
  other.settings["model"] = "n";
  try {
    Reproduction refused(other);
    FAIL() << "other settings are gone on with";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("was begun with other settings: model was 'm' and is 'n'; limit was 0 and is 5"),
              std::string::npos)
        << text;
  }
  const ReproduceOptions other_data = options("a", "2");
  try {
    Reproduction refused(other_data);
    FAIL() << "other tasks are gone on with";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("was begun with other tasks of first"), std::string::npos) << error.what();
  }
  // More rows and fewer modules are fine.
  ReproduceOptions more = options("a");
  more.rows.push_back(Row::kUniform);
  more.modules.pop_back();
  Reproduction added(more);
  EXPECT_EQ(added.done(), 14U);
  EXPECT_EQ(added.total(), 21U);
}

TEST_F(ReproduceTest, WhatFailedIsTriedAgain) {
  const ReproduceOptions first = options("a");
  first_->fails = 2;
  Reproduction run(first);
  ASSERT_TRUE(work(run));
  ASSERT_TRUE(run.complete());
  EXPECT_EQ(run.results()[0].rows[1].failed, 1U);
  EXPECT_NEAR(run.results()[0].rows[1].score.task_success, 100.0 * 3 / 7, 1e-9) << "it counts as a failure";

  const ReproduceOptions second = options("a");
  Reproduction again(second);
  EXPECT_EQ(again.done(), 22U);
  ASSERT_TRUE(work(again));
  EXPECT_EQ(asked(), 2);
  EXPECT_EQ(again.results()[0].rows[1].failed, 0U);
  const ReproduceOptions third = options("a");
  EXPECT_EQ(Reproduction(third).done(), 24U) << "the later answer counts";
}

// What failed in another shard is waited for until that shard says, in the same launch, that it has tried again.
TEST_F(ReproduceTest, TheFirstOfALaunchWaitsForTheOthersRetries) {
  const auto part = [&](std::size_t shard, const std::string& launch, int fails) {
    ReproduceOptions part = options("a");
    part.shard = {shard, 2};
    part.launch = launch;
    first_->fails = fails;
    return part;
  };
  for (const std::size_t shard : {0U, 1U}) {
    const ReproduceOptions options = part(shard, "monday", 1);
    Reproduction run(options);
    ASSERT_TRUE(work(run));
    EXPECT_EQ(run.awaited(), shard == 0 ? std::vector<std::size_t>{2} : std::vector<std::size_t>{});
  }
  const ReproduceOptions zero = part(0, "tuesday", -1);
  Reproduction first(zero);
  ASSERT_TRUE(work(first));
  EXPECT_TRUE(first.complete()) << "there is an answer to everything";
  EXPECT_EQ(first.awaited(), std::vector<std::size_t>{2}) << "but two that may get better";
  const ReproduceOptions one = part(1, "tuesday", -1);
  Reproduction second(one);
  ASSERT_TRUE(work(second));
  EXPECT_EQ(asked(), 2);
  EXPECT_TRUE(first.awaited().empty());
  EXPECT_EQ(first.results()[0].rows[1].failed, 0U);
  // Still failing is an answer, too; and without a launch there is nobody to wait for.
  fs::remove_all(path("a"));
  for (const std::size_t shard : {1U, 0U}) {
    const ReproduceOptions options = part(shard, shard == 1 ? "monday" : "", 1);
    Reproduction run(options);
    ASSERT_TRUE(work(run));
    EXPECT_TRUE(shard == 1 || run.awaited().empty());
  }
}

TEST_F(ReproduceTest, RowsMayBeAddedWithoutAModelOrWith) {
  ReproduceOptions search = options("a");
  search.rows = {Row::kSearch};
  Reproduction run(search);
  ASSERT_TRUE(work(run));
  ReproduceOptions masked = options("a");
  masked.rows = {Row::kSearch, Row::kMask, Row::kTrained};
  masked.model = {{"model", "m"}, {"model_sha256", "1"}};
  masked.modules[0].hmm_digest = "h";
  Reproduction more(masked);
  EXPECT_EQ(more.done(), 12U);
  ASSERT_TRUE(work(more));
  // Of another model, search is the same and mask is not; and only trained depends on a model of plans.
  for (const Row row : {Row::kSearch, Row::kMask, Row::kTrained}) {
    for (const char* what : {"model_sha256", "hmm"}) {
      ReproduceOptions other = options("a");
      other.rows = {row};
      other.model = masked.model;
      other.modules[0].hmm_digest = std::string(what) == "hmm" ? "i" : "h";
      if (std::string(what) != "hmm") other.model["model_sha256"] = "2";
      const bool differs = row == Row::kTrained || (row == Row::kMask && std::string(what) != "hmm");
      if (!differs) {
        EXPECT_EQ(Reproduction(other).done(), 12U);
        continue;
      }
      try {
        Reproduction refused(other);
        ADD_FAILURE() << "answers of another " << what << " are taken for row " << facts_of(row).name;
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(std::string(what) + " was '"), std::string::npos) << error.what();
      }
    }
  }
}

// Nobody's file is cut, and damage is not taken for the end.
TEST_F(ReproduceTest, DamagedAndForeignJournalsAreLeftAsTheyAre) {
  const ReproduceOptions whole = options("a");
  Reproduction run(whole);
  ASSERT_TRUE(work(run));
  const std::string journal = read(path("a/answers.jsonl"));
  const std::size_t third = journal.find('\n', journal.find('\n') + 1) + 1;
  std::string damaged = journal;
  damaged[third] = 'x';
  const std::vector<std::pair<std::string, std::string>> files = {
      {"my own notes\nline 2\n", ":1: error: is not what a run leaves"},
      {"my own notes", ":1: error: is not what a run leaves"},
      {"garbage" + journal, ":1: error: is not what a run leaves"},
      {damaged, ":3: error: is damaged"},
      {journal + "7\n",
       ":" + std::to_string(std::count(journal.begin(), journal.end(), '\n') + 1) + ": error: is damaged"}};
  for (const auto& [text, message] : files) {
    std::ofstream(path("a/answers.jsonl"), std::ios::binary | std::ios::trunc) << text;
    const ReproduceOptions options = this->options("a");
    try {
      Reproduction again(options);
      ADD_FAILURE() << message;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
    EXPECT_THROW(JournalFile(path("a/answers.jsonl"), options.settings, JournalFile::Begin::kGoOn, ""), InputError);
    EXPECT_EQ(read(path("a/answers.jsonl")), text);
  }
}

TEST_F(ReproduceTest, OneRunAtATimeWritesToAJournal) {
  fs::create_directories(folder_);
  const Json settings = {{"a", 1}};
  const JournalFile journal(path("j"), settings, JournalFile::Begin::kGoOn, "");
  EXPECT_THROW(JournalFile(path("j"), settings, JournalFile::Begin::kGoOn, ""), InputError);
}

TEST_F(ReproduceTest, SamplesAreSpreadEvenly) {
  EXPECT_EQ(sample_of(10, 3), (std::vector<std::size_t>{0, 3, 6}));
  EXPECT_EQ(sample_of(3, 10), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(sample_of(2, 0), (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(sample_of(0, 5).empty());
  ReproduceOptions limited = options("a");
  limited.limit = 2;
  Reproduction run(limited);
  ASSERT_TRUE(work(run));
  EXPECT_EQ(run.total(), 8U);
  const ModuleResult result = run.results()[0];
  EXPECT_EQ(result.tasks, 7U);
  EXPECT_EQ(result.sample, 2U);
  EXPECT_EQ(result.rows[1].score.n, 2U) << "tasks outside the sample do not count";
}

// Against R's binom::binom.confint(method = "wilson") and the worked values in Wilson's and Brown's papers.
TEST(Wilson, KnownValues) {
  const auto expect = [](double successes, std::size_t n, double low, double high) {
    const Interval interval = wilson(successes, n);
    EXPECT_NEAR(interval.low, low, 0.005) << successes << " of " << n;
    EXPECT_NEAR(interval.high, high, 0.005) << successes << " of " << n;
  };
  expect(0, 10, 0, 27.75);
  expect(10, 10, 72.25, 100);
  expect(5, 10, 23.66, 76.34);
  expect(1, 10, 1.79, 40.42);
  expect(50, 100, 40.38, 59.62);
  expect(139, 140, 96.065, 99.874);
  expect(0, 0, 0, 100);
}

TEST_F(ReproduceTest, TablesAndPlotsSayWhatThereIs) {
  const ReproduceOptions options = this->options("a");
  Reproduction run(options);
  ASSERT_TRUE(work(run));
  write_tables(path("a"), run.results(), {"metactrl reproduce", "2026-01-02", "m", options.settings});
  const std::string markdown = read(path("a/tables.md"));
  for (const char* part :
       {"2026-01-02, `metactrl reproduce`", "Model: m.",
        "| planner: classical planner, the benchmark's PDDL | n/a | n/a |",
        "| search | 7 | 57.1 [25.0, 84.2] | 42.9 [15.8, 75.0] |  | 0 | 0 | 0 | 0 |", "## The first one (first)",
        "| mask | 6 |", "![The first one](first.svg)", "Errors that the evaluator found:", "| row | runtime |"}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
  }
  const Json json = Json::parse(read(path("a/tables.json")));
  EXPECT_EQ(json["modules"][1]["rows"][1]["n"], 5);
  EXPECT_NEAR(json["modules"][0]["rows"][1]["task_success"]["low"].get<double>(), 25.0, 0.1);
  EXPECT_EQ(json["modules"][0]["rows"][0]["measured"], false);
  const std::string plot = read(path("a/first.svg"));
  EXPECT_TRUE(plot.starts_with("<svg "));
  EXPECT_TRUE(plot.ends_with("</svg>\n"));
  EXPECT_NE(plot.find(">mask</text>"), std::string::npos);
  EXPECT_NE(plot.find(">n/a</text>"), std::string::npos);
}

TEST_F(ReproduceTest, FormatErrorsAreTheModelsUnlessThePromptAllowsTheAnswer) {
  const ReproduceOptions options = this->options("a");
  first_->unreadable = true;
  Reproduction run(options);
  ASSERT_TRUE(work(run));
  write_tables(path("a"), run.results(), {"metactrl reproduce", "2026-01-02", "m", options.settings});
  const std::string markdown = read(path("a/tables.md"));
  // Two of seven, and of the six that have room.
  for (const char* part : {"| search | 28.6 | 0.0 | 0.0 | 28.6 | 1 | 1 |", "| mask | 33.3 | 0.0 | 0.0 | 33.3 | 1 | 1 |",
                           "| mask | 0.0 | 0.0 | 0.0 | 0.0 | 0 | 0 |"}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
  }
  const Json errors = Json::parse(read(path("a/tables.json")))["modules"][0]["rows"][1]["format_errors"];
  EXPECT_EQ(errors["total"], 2);
  EXPECT_EQ(errors["classes"]["parsing"]["benchmark_side"], 1);
  EXPECT_EQ(errors["classes"]["hallucination"]["total"], 0);
}

// What the paper reports stands below the rows of its own modules, and what a token takes is that of the answers.
TEST(ReproduceTables, HaveThePapersFormatErrorsAndTimes) {
  ModuleResult module{"vh-as", "VirtualHome", 1, 1, {}};
  for (const Row row : {Row::kNone, Row::kUniform, Row::kSearch}) {
    RowResult result;
    result.row = row;
    Answer answer;
    answer.tokens = 10;
    answer.model_calls = row == Row::kSearch ? 0 : 4;
    answer.times.decode = row == Row::kNone ? 0.2 : 0.1;
    answer.times.automaton = 0.25;
    answer.times.lookahead = 0.5;
    result.answers = {answer, answer};
    module.rows.push_back(result);
  }
  const std::string text = tables_body({module}, {});
  for (const char* part :
       {"| the paper: the model alone | 14.4 | 6.9 | 1.0 | 22.3 | | |",
        "| the paper: Meta-Ctrl | 1.3 | 1.3 | 0.0 | 2.7 | all | 0 |", "| none | 20.00 | 50.00 | 0.250 | 0.500 |",
        "| uniform | 10.00 | 25.00 | 0.250 | 0.500 |", "| the paper: Meta-Ctrl | 20.6 | | 2.3 | 0.7 |"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("| search | 0.00 |"), std::string::npos) << "nothing is written without a model";
  module.name = "wah";
  EXPECT_EQ(tables_body({module}, {}).find("the paper: "), std::string::npos);
}

// The page says what the text says, in its head who answered and when, and has the plots in it.
TEST_F(ReproduceTest, ThePageSaysWhatTheTextSays) {
  ReproduceOptions options = this->options("a");
  Reproduction run(options);
  ASSERT_TRUE(work(run));
  std::vector<ModuleResult> results = run.results();
  results[0].title = "The <first> & one";
  TablesAbout about{
      "metactrl reproduce", "2026-01-02", "m<b>", {{"prompt", "compact"}}, {"first mask: 3 of 9 missing"}};
  write_tables(path("a"), results, about);
  const std::string page = read(path("a/index.html"));
  for (const char* part :
       {"<dt>Model</dt><dd>m&lt;b&gt;</dd>", "<dt>Guidance</dt><dd>planner, search, mask</dd>",
        "<dt>Rules</dt><dd>environment</dd>", "<dt>Date</dt><dd>2026-01-02</dd>", "<dt>Prompts</dt><dd>compact</dd>",
        "<h2>The &lt;first&gt; &amp; one (first)</h2>", "<p class=\"note warn\">Not complete",
        "first mask: 3 of 9 missing", "<td>57.1 [25.0, 84.2]</td>", "<th scope=\"row\">search</th>",
        "the <code>n</code> tasks", "--accent: #2a4fd0", "prefers-color-scheme: dark"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page.substr(page.find("<body>"));
  }
  std::size_t plots = 0;
  for (std::size_t at = page.find("<svg "); at != std::string::npos; at = page.find("<svg ", at + 1)) ++plots;
  EXPECT_EQ(plots, results.size());
  for (const char* outside : {"https://", "src=", "<script", "url(", "@STYLE@", "@BODY@", "@TITLE@", "]("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(read(path("a/tables.md")).find("Not complete: answers are missing."), std::string::npos);
  EXPECT_EQ(Json::parse(read(path("a/tables.json")))["missing"][0], "first mask: 3 of 9 missing");
}

// --- the classical planner, played by a script -----------------------------------------------------------------------

// A benchmark with a lamp.
class LampOwn : public OwnPddl {
 public:
  explicit LampOwn(const std::string& goal = "(lit lamp)") {
    domain_ =
        "(define (domain lamps) (:predicates (lit ?x) (broken ?x))"
        " (:action light :parameters (?x) :precondition (not (broken ?x)) :effect (lit ?x)))";
    OwnProblem problem;
    problem.identifier = "1";
    problem.text = "(define (problem p) (:domain lamps) (:objects lamp) (:init) (:goal (and " + goal + ")))";
    problem.names = {{"lamp", "lamp_7"}};
    problems_.push_back(problem);
  }
  std::string answer(const OwnProblem& problem, std::span<const PlanStep> plan) const override {
    std::string out;
    for (const PlanStep& step : plan) out += step.action + " " + problem.names.at(step.arguments[0]) + ";";
    return out;
  }
  const std::set<std::string, std::less<>>& robot_predicates() const override { return none_; }
  const std::set<std::string, std::less<>>& state_predicates() const override { return none_; }

 private:
  std::set<std::string, std::less<>> none_;
};

class ClassicalPlannerTest : public ReproduceTest {
 protected:
  ClassicalPlanner planner(const std::string& script) {
    fs::create_directories(folder_);
    const std::string file = path("fast-downward.py");
    std::ofstream(file) << "#!/bin/sh\n" << script;
    ::chmod(file.c_str(), 0755);
    return {file, 5};
  }
  // The plan file is the argument behind --plan-file; the domain and the problem are the last two.
  Answer answer(const std::string& script) { return answer_classically(own_, "1", planner(script), {}); }

  LampOwn own_;
};

constexpr const char* kFindPlanFile =
    "while [ \"$1\" != --plan-file ]; do shift; done\nplan=$2; domain=$3; problem=$4\n";

TEST_F(ClassicalPlannerTest, ItsPlanIsExecutedBeforeItIsTaken) {
  const Answer answer = this->answer(std::string(kFindPlanFile) +
                                     "grep -q lamps $domain && grep -q lamps $problem && { echo '(light lamp)'; "
                                     "echo '; cost = 1'; } > $plan\n");
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.outcome, "plan");
  EXPECT_EQ(answer.output, "light lamp_7;");
  EXPECT_EQ(answer.steps, (std::vector<std::string>{"(light lamp)"}));

  const Answer wrong = this->answer(std::string(kFindPlanFile) + "echo '' > $plan\n");
  EXPECT_NE(wrong.error.find("the planner's plan is not valid"), std::string::npos) << wrong.error;
  EXPECT_EQ(wrong.output, "");
}

TEST_F(ClassicalPlannerTest, ItsOtherAnswersAreSaid) {
  EXPECT_EQ(answer("exit 11\n").outcome, "infeasible");
  EXPECT_EQ(answer("exit 23\n").outcome, "undecided");
  const Answer broken = answer("echo 'no compiler' >&2; exit 36\n");
  EXPECT_NE(broken.error.find("ended with code 36: no compiler"), std::string::npos) << broken.error;
  EXPECT_EQ(find_classical_planner("/no/such/program"), "");
  EXPECT_EQ(find_classical_planner(folder_.string()), "") << "a folder";

  ClassicalPlanner stuck = planner("sleep 600\n");
  stuck.seconds = 1;
  stuck.grace = 0.1;
  EXPECT_EQ(answer_classically(own_, "1", stuck, {}).outcome, "undecided");
}

TEST_F(ClassicalPlannerTest, WithoutAProgramWeSearch) {
  const Answer answer = answer_classically(own_, "1", {}, {});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.outcome, "plan");
  EXPECT_EQ(answer.output, "light lamp_7;");
  EXPECT_EQ(answer_classically(LampOwn("(broken lamp)"), "1", {}, {}).outcome, "infeasible");
  EXPECT_EQ(answer_classically(own_, "2", {}, {}).outcome, "undecided") << "there is no such task";
}

}  // namespace
}  // namespace metactrl::benchmarks::reproduce_test
