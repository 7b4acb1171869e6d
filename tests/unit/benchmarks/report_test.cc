// The files of a report: the page keeps to itself and survives hostile text, the tables say what the score says.
#include "benchmarks/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "support/files.h"

namespace metactrl::benchmarks::report_test {
namespace {

constexpr const char* kHostile = "</script><script>alert(1)</script><!-- \"quoted\", a|b\nnext line & \xff\xfe";

TaskScore task_score(const std::string& identifier, double success, bool executable) {
  TaskScore task;
  task.identifier = identifier;
  task.title = "Wash " + identifier;
  task.answered = true;
  task.verdict = "run";
  task.success = success;
  task.executable = executable;
  task.steps = {{"WALK cup 1", "ok", ""}, {"GRAB cup 1", executable ? "ok" : "MISSING_STEP", executable ? "" : "far"}};
  task.goals = {{"cup is HELD", success == 1}};
  if (!executable) task.errors = {{"MISSING_STEP", 2}};
  if (success < 1) task.reason = "not reached: cup is HELD";
  return task;
}

Answer answer_to(const std::string& identifier, std::size_t steps, std::size_t shortest, double seconds) {
  Answer answer;
  answer.identifier = identifier;
  answer.output = "{}";
  answer.outcome = "plan";
  answer.guarantee = "full";
  answer.tier = "exact";
  answer.steps.assign(steps, "(walk cup)");
  answer.shortest = shortest;
  answer.times.ground = seconds;
  return answer;
}

Report small_report() {
  Report report;
  report.module = "vh-as";
  report.title = "VirtualHome, action sequencing";
  report.score.tasks = {task_score("1_1", 1, true), task_score("2_1", 0, true), task_score("3_1", 0, false),
                        task_score("4_1", 0, false)};
  report.score.tasks[3].scored = false;
  report.score.rates = {{"node_goals", 62.5}};
  report.score.strangers = {"9_9"};
  summarize(report.score);
  report.run.settings = {{"guidance", "search"}};
  report.run.answers = {answer_to("1_1", 2, 2, 0.001), answer_to("2_1", 5, 3, 0.003)};
  report.run.answers[1].guarantee = "goals dropped";
  report.run.answers[1].goals_dropped = {"(held cup)"};
  report.run.answers[1].assumptions = {"no cup is shut in"};
  report.prompts = {{"1_1", "Find the cup."}};
  report.responses = {{"1_1", "{}"}};
  return report;
}

std::string data_text(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(open);
  if (begin == std::string::npos) return "";
  const std::size_t start = begin + open.size();
  return page.substr(start, page.find("</script>", start) - start);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Rows of cells, by the rules of RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = rows.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.emplace_back(1);
    } else {
      cell += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(ReportPage, AsksForNothingOutsideItself) {
  const std::string page = report_page(small_report());
  // The name of SVG's namespace is no address that is fetched.
  EXPECT_EQ(count_of(page, "http://"), count_of(page, "http://www.w3.org/2000/svg"));
  for (const char* outside : {"https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_EQ(count_of(page, "<link"), 1u);
  EXPECT_NE(page.find("<link rel=\"icon\" href=\"data:,\">"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_EQ(page.find("@DATA@"), std::string::npos);
  EXPECT_EQ(page.find("@TITLE@"), std::string::npos);
  EXPECT_NE(page.find("<title>VirtualHome, action sequencing</title>"), std::string::npos);
}

TEST(ReportPage, TextOfOthersIsNeverMarkup) {
  Report report = small_report();
  const std::size_t scripts = count_of(report_page(report), "<script");
  TaskScore& task = report.score.tasks[0];
  task.title = task.verdict = task.reason = task.steps[0].reason = task.goals[0].goal = kHostile;
  task.errors[kHostile] = 1;
  report.title = kHostile;
  report.prompts["1_1"] = report.responses["1_1"] = kHostile;
  report.run.answers[0].notes = {kHostile};
  report.run.settings["model"] = kHostile;
  summarize(report.score);
  const std::string page = report_page(report);
  EXPECT_EQ(count_of(page, "<script"), scripts);
  EXPECT_EQ(count_of(page, "</script"), scripts);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_NE(page.find("<title>&lt;/script&gt;"), std::string::npos);
  const std::string expected = mended_utf8(kHostile);
  const Json data = Json::parse(data_text(page));
  EXPECT_EQ(data["title"], expected);
  EXPECT_EQ(data["settings"]["model"], expected);
  const Json& first = data["score"]["tasks"][0];
  EXPECT_EQ(first["title"], expected);
  EXPECT_EQ(first["reason"], expected);
  EXPECT_EQ(first["prompt"], expected);
  EXPECT_EQ(first["response"], expected);
  EXPECT_EQ(first["answer"]["notes"][0], expected);
}

TEST(ReportPage, HasTheNumbersOfTheScore) {
  const Report report = small_report();
  const Json data = Json::parse(data_text(report_page(report)));
  EXPECT_EQ(data["module"], "vh-as");
  EXPECT_EQ(data["score"]["n"], 3);
  EXPECT_EQ(data["score"]["n_all"], 4);
  EXPECT_DOUBLE_EQ(data["score"]["task_success"].get<double>(), report.score.task_success);
  EXPECT_DOUBLE_EQ(data["score"]["execution_success"].get<double>(), report.score.execution_success);
  EXPECT_EQ(data["score"]["errors"]["MISSING_STEP"], 2);
  ASSERT_EQ(data["score"]["tasks"].size(), 4u);
  const Json& first = data["score"]["tasks"][0];
  EXPECT_EQ(first["answer"]["shortest"], 2);
  EXPECT_EQ(first["prompt"], "Find the cup.");
  EXPECT_FALSE(data["score"]["tasks"][2].contains("answer"));
  EXPECT_FALSE(data["score"]["tasks"][2].contains("prompt"));
}

// The page has the service's look, in whose colours the plots are drawn, and says who answered, and when.
TEST(ReportPage, HasTheLookAndTheHead) {
  Report report = small_report();
  report.run.settings = {{"model", "pocket"}, {"guidance", "mask"}, {"rules", "paper"}};
  report.run.date = "2026-01-02";
  report.date = "2026-01-03";
  const std::string page = report_page(report);
  EXPECT_EQ(page.find("@STYLE@"), std::string::npos);
  for (const char* rule : {"--accent: #2a4fd0", ".brand {", ".card {", ".plot text { fill: var(--text)"}) {
    EXPECT_NE(page.find(rule), std::string::npos) << rule;
  }
  const Json data = Json::parse(data_text(page));
  EXPECT_EQ(data["answered"], "2026-01-02");
  EXPECT_EQ(data["date"], "2026-01-03");
  EXPECT_EQ(data["settings"]["model"], "pocket");
  const std::string markdown = report_markdown(report);
  EXPECT_NE(markdown.find("Model pocket, guidance mask, rules paper, answered 2026-01-02, scored 2026-01-03.\n"),
            std::string::npos)
      << markdown;
}

// What was not answered is left out of every number, and that is said.
TEST(ReportPage, ARunThatIsNotCompleteSaysSo) {
  Report report = small_report();
  report.score.tasks.push_back(unanswered("5_1", "Wash 5_1"));
  report.score.tasks.push_back(unanswered("6_1", "Wash 6_1"));
  summarize(report.score);
  ASSERT_EQ(report.score.n, 5U);
  leave_out_unanswered(report.score);
  EXPECT_EQ(report.score.n, 3U);
  EXPECT_EQ(report.score.unanswered, 2U);
  EXPECT_NEAR(report.score.task_success, 100.0 / 3, 1e-9);
  EXPECT_TRUE(report.score.rates.empty());
  EXPECT_EQ(Json::parse(data_text(report_page(report)))["score"]["unanswered"], 2);
  EXPECT_NE(report_markdown(report).find("Not complete: 2 tasks have no answer yet."), std::string::npos);
  EXPECT_EQ(report_markdown(small_report()).find("Not complete"), std::string::npos);
  // A run that answered nothing failed.
  Score none;
  none.tasks = {unanswered("1", "a")};
  summarize(none);
  leave_out_unanswered(none);
  EXPECT_EQ(none.n, 1U);
  EXPECT_EQ(none.unanswered, 0U);
}

TEST(ReportPage, OfNothingIsAPage) {
  Report report;
  report.title = "Nothing";
  summarize(report.score);
  const Json data = Json::parse(data_text(report_page(report)));
  EXPECT_EQ(data["score"]["n"], 0);
  EXPECT_TRUE(data["score"]["tasks"].is_array());
  EXPECT_TRUE(data["score"]["errors"].is_object());
  EXPECT_TRUE(data["score"]["rates"].is_object());
  EXPECT_EQ(parse_csv(tasks_csv(report)).size(), 1u);
  const std::string markdown = report_markdown(report);
  EXPECT_NE(markdown.find("| scored tasks | 0 |"), std::string::npos);
  EXPECT_NE(markdown.find("No errors."), std::string::npos);
  EXPECT_NE(markdown.find("No task was scored."), std::string::npos);
}

TEST(ReportTable, QuotesWhatNeedsIt) {
  Report report = small_report();
  report.score.tasks[0].title = "a \"cup\", washed\nand dried";
  report.score.tasks[1].title = kHostile;
  const std::string csv = tasks_csv(report);
  const auto rows = parse_csv(csv);
  ASSERT_EQ(rows.size(), 5u);
  for (const auto& row : rows) EXPECT_EQ(row.size(), 25u);
  EXPECT_EQ(rows[0][0], "identifier");
  EXPECT_EQ(rows[1][0], "1_1");
  EXPECT_EQ(rows[1][1], report.score.tasks[0].title);
  EXPECT_EQ(rows[2][1], mended_utf8(kHostile));
  EXPECT_NE(csv.find("\"a \"\"cup\"\", washed\nand dried\""), std::string::npos);
  EXPECT_EQ(rows[3][4], "run");
  EXPECT_EQ(rows[3][5], "no");
  EXPECT_EQ(rows[3][11], "MISSING_STEP 2");
  EXPECT_EQ(rows[2][16], "(held cup)");
  EXPECT_EQ(rows[2][17], "3");
  EXPECT_EQ(rows[2][18], "3.000");
  EXPECT_EQ(rows[3][17], "");
  EXPECT_EQ(rows[4][2], "no");
}

TEST(ReportText, HasTheNumbersOfTheScore) {
  Report report = small_report();
  report.score.tasks[1].reason = "a|b <b>bold</b>\nnext";
  const std::string markdown = report_markdown(report);
  for (const char* line :
       {"# VirtualHome, action sequencing\n", "| scored tasks | 3 |", "| all tasks | 4 |", "| run | 4 |",
        "| task success | 33.33 % |", "| execution success | 66.67 % |", "| node_goals | 62.50 % |",
        "| MISSING_STEP | 2 | 1 of 3 (33.3 %) |", "| 2_1 | Wash 2_1 | run | yes | a\\|b \\<b\\>bold\\</b\\> next |",
        "- 9_9\n", "| guarantee goals dropped | 1 |", "| (held cup) | 1 |", "| no cup is shut in | 1 |",
        "| guidance | search |"}) {
    EXPECT_NE(markdown.find(line), std::string::npos) << line << "\nin\n" << markdown;
  }
  EXPECT_EQ(markdown.find("| 4_1 |"), std::string::npos) << "a task that is not scored cannot fail";
}

TEST(ReportAnswers, AreSummarized) {
  std::vector<Answer> answers = small_report().run.answers;
  answers.push_back(answer_to("3_1", 1, 4, 0.002));
  answers[2].guarantee = "none";  // promises nothing: being shorter than the shortest is no merit
  answers.push_back(answer_to("4_1", 0, 0, 1));
  answers[3].error = "line 3 cannot be read";
  const AnswerSummary summary = summarize_answers(answers);
  EXPECT_EQ(summary.answers, 4u);
  EXPECT_EQ(summary.errors, 1u);
  EXPECT_EQ(summary.guarantees, (Counts{{"guarantee full", 1}, {"guarantee goals dropped", 1}, {"guarantee none", 1}}));
  EXPECT_EQ(summary.tiers, (Counts{{"exact", 3}}));
  EXPECT_EQ(summary.with_goals_dropped, 1u);
  EXPECT_EQ(summary.with_assumptions, 1u);
  EXPECT_EQ(summary.compile, (std::vector<double>{0.001, 0.002, 0.003}));
  EXPECT_TRUE(summary.decode.empty());
  EXPECT_EQ(summary.compared, 2u);
  EXPECT_EQ(summary.as_short_as_possible, 1u);
  EXPECT_EQ(summary.steps, 7u);
  EXPECT_EQ(summary.shortest, 5u);
  EXPECT_EQ(summary.superfluous(), 2u);
  const std::string markdown = answers_markdown("Answers", {"", nullptr, answers});
  EXPECT_NE(markdown.find("| compile | 2.0 | 3.0 | 3.0 |"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| 4_1 | line 3 cannot be read |"), std::string::npos) << markdown;
}

TEST(ReportAnswers, QuantilesOfFewValues) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({7}, 0.95), 7);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0.5), 3);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 1), 5);
}

class ReportFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("metactrl-report-test-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(ReportFolder, HasFourFiles) {
  const Report report = small_report();
  write_report(path("deep/er"), report);
  EXPECT_EQ(internal::read_file(path("deep/er/index.html")), report_page(report));
  EXPECT_EQ(internal::read_file(path("deep/er/report.md")), report_markdown(report));
  EXPECT_EQ(internal::read_file(path("deep/er/tasks.csv")), tasks_csv(report));
  Json score = Json::parse(internal::read_file(path("deep/er/score.json")));
  EXPECT_TRUE(score.contains("quality"));
  score.erase("quality");
  EXPECT_EQ(score, to_json(report.score));
  EXPECT_THROW(write_report(path("deep/er/report.md"), report), InputError);
}

TEST_F(ReportFolder, AnswersAreReadAsTheyWereWritten) {
  AnswersFile run = small_report().run;
  run.date = "2026-01-02";
  std::filesystem::create_directories(folder_);
  internal::write_file(path("answers.json"), answers_text(run));
  const AnswersFile again = read_answers(path("answers.json"));
  EXPECT_EQ(answers_text(again), answers_text(run));
  EXPECT_EQ(again.date, run.date);
  internal::write_file(path("list.json"), "[]");
  EXPECT_THROW(read_answers(path("list.json")), InputError);
  internal::write_file(path("cut.json"), "{\"answers\": [");
  EXPECT_THROW(read_answers(path("cut.json")), InputError);
  internal::write_file(path("odd.json"), "{\"answers\": [{\"identifier\": 7}]}");
  try {
    read_answers(path("odd.json"));
    FAIL() << "an answer without text was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("answer 1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace metactrl::benchmarks::report_test
