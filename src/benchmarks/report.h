// The report of a benchmark run: a page for a browser, a text for a repository, tables for programs.
//
//     Report report{"vh-as", "VirtualHome, action sequencing", score};
//     write_report("out", report);  // out/index.html, out/report.md, out/score.json, out/tasks.csv
//
// The page is one file that asks for nothing outside itself. Everything that a task, a prompt or a model wrote is data
// in it, never markup, and text that is not UTF-8 is mended.
//
// Cost: linear in what is reported. Thread safety: all functions are pure but write_report and read_answers.
#ifndef METACTRL_SRC_BENCHMARKS_REPORT_H_
#define METACTRL_SRC_BENCHMARKS_REPORT_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/score.h"

namespace metactrl::benchmarks {

// What `metactrl eval --report DIR` leaves in DIR/answers.json.
struct AnswersFile {
  std::string date{};  // on which the last answer was given, "2026-11-16"; may be empty
  Json settings;
  std::vector<Answer> answers;
};

// Throws InputError that names the file and the entry.
AnswersFile read_answers(const std::string& file);
// The same from the journal of a run that is not finished.
AnswersFile read_partial_answers(const std::string& journal);
std::string answers_text(const AnswersFile& file);

// By identifier, the first where there are several.
std::map<std::string, const Answer*> by_identifier(const std::vector<Answer>& answers);

struct Report {
  std::string module;  // "vh-as"
  std::string title;   // "VirtualHome, action sequencing"
  Score score;
  std::string date{};  // on which they were scored; may be empty
  // What is known of how the answers were made; each may be empty or lack tasks.
  AnswersFile run;
  std::map<std::string, std::string> prompts;    // by identifier
  std::map<std::string, std::string> responses;  // by identifier: the answers as they were scored
  AnswersFile other;                             // another run to compare with, or none
  // Answers with a format error that keep to their prompts all the same; known where `prompts` are.
  std::set<std::string> keep_to_prompt{};
};

// Names and how often each occurred, the most frequent first, ties by name.
using Counts = std::vector<std::pair<std::string, std::size_t>>;

// Answers of one run in numbers.
struct AnswerSummary {
  std::size_t answers = 0;
  std::size_t errors = 0;  // answers without a result; the rest counts only those with one
  Counts guarantees;       // "guarantee full", or what came instead of a plan, "infeasible"
  Counts tiers;
  Counts assumptions;
  Counts goals_dropped;
  std::size_t with_assumptions = 0;  // answers that rely on one at least
  std::size_t with_goals_dropped = 0;
  std::vector<double> compile;  // seconds, sorted
  std::vector<double> decode;   // seconds, sorted; of the answers a model wrote
  std::size_t tokens = 0;
  std::size_t forced_tokens = 0;
  std::size_t model_calls = 0;
  // Of the certified plans whose shortest length is known.
  std::size_t compared = 0;
  std::size_t as_short_as_possible = 0;
  std::size_t steps = 0;
  std::size_t shortest = 0;
  std::size_t superfluous() const { return steps - shortest; }
  // Of the plans whose quality is known (plan_quality.h).
  std::size_t judged = 0;
  std::size_t judged_steps = 0;
  std::size_t left_out = 0;  // steps that can be left out
  std::size_t undone = 0;    // pairs of steps that undo one another
  // Of the plans that a model chose.
  std::size_t with_log_probability = 0;
  double log_probability = 0;  // sum
  DeclaredConditions conditions;
};

// Two runs over the same prompts, on the answers that both have.
struct RunComparison {
  std::size_t plans = 0;  // that both have
  std::size_t same = 0;   // word for word
  std::size_t steps = 0;
  std::size_t other_steps = 0;
  std::size_t with_log_probability = 0;  // in both
  double log_probability = 0;            // sums
  double other_log_probability = 0;
  std::size_t more_probable = 0;  // than the other's
  std::size_t less_probable = 0;
};
RunComparison compare_runs(const std::vector<Answer>& answers, const std::vector<Answer>& others);

// Parts of the report in Markdown and JSON (report_quality.cc).
std::string quality_rows(const AnswerSummary& summary);
std::string format_errors_section(const Report& report);
std::string comparison_section(const Report& report);
Json quality_json(const Report& report);

AnswerSummary summarize_answers(const std::vector<Answer>& answers);

// The smallest value that a share `q` of the sorted values does not exceed (nearest rank); 0 for none.
double quantile(const std::vector<double>& sorted, double q);

// With so many digits behind the point, whatever the locale.
std::string fixed_text(double value, int digits);
// Part of a whole; 0 of nothing. And in words: "3 of 8 (37.5 %)".
double ratio(double part, std::size_t whole);
std::string share(std::size_t part, std::size_t whole);
// A line of a table in Markdown.
std::string table_row(const std::vector<std::string>& cells);

Json to_json(const Score& score);
std::string tasks_csv(const Report& report);
std::string report_markdown(const Report& report);
std::string report_page(const Report& report);
// What can be said before the answers are scored.
std::string answers_markdown(std::string_view title, const AnswersFile& run);

// Makes the folder when it is not there. Throws InputError when a file cannot be written.
void write_report(const std::string& folder, const Report& report);

// The text with U+FFFD for every byte that is not UTF-8.
std::string mended_utf8(const std::string& text);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_REPORT_H_
