// Numbers of a run, and the files of its report but for the page.
#include "benchmarks/report.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <locale>
#include <sstream>

#include "jobs/journal.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

std::string milliseconds(double seconds) { return fixed_text(1000 * seconds, 1); }

Counts sorted_counts(const std::map<std::string, std::size_t>& counts) {
  Counts out(counts.begin(), counts.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

// A plan that the planner answers for; others need not reach the goals and cannot be compared with the shortest.
bool certified(const Answer& answer) {
  return answer.outcome == "plan" && (answer.guarantee == "full" || answer.guarantee == "goals dropped");
}

// --- CSV, as RFC 4180 has it but for the line ends

std::string csv_cell(const std::string& text) {
  const std::string mended = mended_utf8(text);
  if (mended.find_first_of(",\"\r\n") == std::string::npos) return mended;
  std::string out = "\"";
  for (const char c : mended) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  return out + "\n";
}

std::string yes_no(bool value) { return value ? "yes" : "no"; }

std::string error_list(const TaskScore& task) {
  std::string out;
  for (const auto& [name, count] : task.errors) out += str_cat(out.empty() ? "" : "; ", name, " ", count);
  return out;
}

// --- Markdown

// Text in a line or a table's cell that means nothing but itself.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : mended_utf8(text)) {
    if (c == '\n' || c == '\r' || c == '\t') {
      out += ' ';
    } else if (std::string_view("\\`*<>|[]&~#").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

// `first` is the heading of the names.
std::string counts_table(const char* first, const Counts& counts) {
  constexpr std::size_t kMost = 50;
  std::string out = str_cat("| ", first, " | answers |\n| --- | ---: |\n");
  for (std::size_t i = 0; i < counts.size() && i < kMost; ++i) {
    out += table_row({plain(counts[i].first), str_cat(counts[i].second)});
  }
  if (counts.size() > kMost) out += table_row({str_cat("and ", counts.size() - kMost, " more"), ""});
  return out + "\n";
}

std::string settings_table(const Json& settings) {
  if (!settings.is_object() || settings.empty()) return "";
  std::string out = "### Settings\n\n| setting | value |\n| --- | --- |\n";
  for (const auto& [name, value] : settings.items()) {
    if (value.is_string() && value.get_ref<const std::string&>().empty()) continue;
    out += table_row({plain(name), plain(value.is_string() ? value.get<std::string>() : value.dump())});
  }
  return out + "\n";
}

std::string times_row(const char* name, const std::vector<double>& sorted) {
  return table_row({name, milliseconds(quantile(sorted, 0.5)), milliseconds(quantile(sorted, 0.95)),
                    milliseconds(quantile(sorted, 1))});
}

// Which goal of which task was dropped and why, where reasons are known.
std::string drop_reasons_table(const std::vector<Answer>& answers) {
  constexpr std::size_t kMost = 50;
  std::string out;
  std::size_t rows = 0;
  for (const Answer& answer : answers) {
    for (std::size_t i = 0; i < std::min(answer.goals_dropped.size(), answer.drop_reasons.size()); ++i) {
      if (answer.drop_reasons[i].empty() || ++rows > kMost) continue;
      out += table_row({plain(answer.identifier), plain(answer.goals_dropped[i]), plain(answer.drop_reasons[i])});
    }
  }
  if (rows == 0) return "";
  if (rows > kMost) out += table_row({str_cat("and ", rows - kMost, " more"), "", ""});
  return "| task | goal dropped | why |\n| --- | --- | --- |\n" + out + "\n";
}

std::string answers_section(const AnswersFile& run) {
  const AnswerSummary summary = summarize_answers(run.answers);
  std::string out = str_cat("## How the answers were made\n\n", summary.answers, " answers");
  if (summary.errors > 0) out += str_cat(", ", summary.errors, " of them without a result");
  out += str_cat(". Goals were dropped in ", share(summary.with_goals_dropped, summary.answers),
                 "; assumptions were made in ", share(summary.with_assumptions, summary.answers), ".\n\n");
  out += counts_table("result", summary.guarantees);
  if (!summary.tiers.empty()) out += counts_table("lookahead", summary.tiers);
  if (!summary.compile.empty()) {
    out += "| time (ms) | median | p95 | most |\n| --- | ---: | ---: | ---: |\n";
    out += times_row("compile", summary.compile);
    if (!summary.decode.empty()) out += times_row("decode", summary.decode);
    out += "\n";
  }
  if (summary.compared > 0) {
    out += "| certified plans of known shortest length | |\n| --- | ---: |\n";
    out += table_row({"plans", str_cat(summary.compared)});
    out += table_row({"as short as possible", share(summary.as_short_as_possible, summary.compared)});
    out += table_row({"steps", str_cat(summary.steps)});
    out += table_row({"steps of the shortest plans", str_cat(summary.shortest)});
    out += table_row({"superfluous steps, beyond the shortest", share(summary.superfluous(), summary.steps)});
    out += "\n";
  }
  out += quality_rows(summary);
  if (summary.tokens > 0) {
    out += str_cat(summary.tokens, " tokens, of which the model had no choice in ",
                   share(summary.forced_tokens, summary.tokens), "; ", summary.model_calls, " calls of the model.\n\n");
  }
  if (!summary.assumptions.empty()) {
    out += "### Assumptions that plans rely on\n\n" + counts_table("assumption", summary.assumptions);
  }
  if (!summary.goals_dropped.empty()) {
    out += "### Goals that were dropped\n\n" + counts_table("goal", summary.goals_dropped);
    out += drop_reasons_table(run.answers);
  }
  if (summary.errors > 0) {
    out += "### Answers without a result\n\n| task | what went wrong |\n| --- | --- |\n";
    for (const Answer& answer : run.answers) {
      if (!answer.error.empty()) out += table_row({plain(answer.identifier), plain(answer.error)});
    }
    out += "\n";
  }
  return out + settings_table(run.settings);
}

// "Model pocket, guidance mask, rules environment; answered 2026-11-16, scored 2026-11-17." And what is missing.
std::string header_line(const Report& report) {
  std::string out;
  const auto add = [&](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
  const Json& settings = report.run.settings;
  for (const char* name : {"model", "guidance", "rules"}) {
    const bool known = settings.is_object() && settings.contains(name) && settings[name].is_string();
    const std::string value = known ? settings[name].get<std::string>() : "";
    if (!value.empty()) add(str_cat(name, " ", plain(value)));
  }
  if (!report.run.date.empty()) add("answered " + plain(report.run.date));
  if (!report.date.empty()) add("scored " + plain(report.date));
  if (!out.empty())
    out = str_cat(static_cast<char>(std::toupper(static_cast<unsigned char>(out[0]))), out.substr(1), ".\n\n");
  if (report.score.unanswered > 0) {
    out += str_cat("Not complete: ", report.score.unanswered,
                   " tasks have no answer yet. All numbers are over the tasks that were answered.\n\n");
  }
  return out;
}

std::string score_section(const Score& score) {
  std::string out = "| | |\n| --- | ---: |\n";
  out += table_row({"scored tasks", str_cat(score.n)});
  out += table_row({"all tasks", str_cat(score.n_all)});
  out += table_row({"task success", fixed_text(score.task_success, 2) + " %"});
  out += table_row({"execution success", fixed_text(score.execution_success, 2) + " %"});
  for (const auto& [name, value] : score.rates) out += table_row({plain(name), fixed_text(value, 2) + " %"});
  for (const auto& [name, value] : score.figures) out += table_row({plain(name), fixed_text(value, 3)});
  if (score.equal_to_gold > 0) {
    out += table_row({"equal to the reference, not counted as a success", str_cat(score.equal_to_gold)});
  }
  std::map<std::string, std::size_t> verdicts;
  for (const TaskScore& task : score.tasks) ++verdicts[task.verdict];
  out += "\n## Verdicts\n\n| verdict | tasks |\n| --- | ---: |\n";
  for (const auto& [verdict, count] : sorted_counts(verdicts)) out += table_row({plain(verdict), str_cat(count)});
  if (!score.first_failures.empty()) {
    out += "\n## First failures\n\n| action | answers |\n| --- | ---: |\n";
    for (const auto& [action, count] : score.first_failures) out += table_row({plain(action), str_cat(count)});
  }
  out += "\n## Error classes\n\n";
  if (score.errors.empty()) return out + "No errors.\n\n";
  std::map<std::string, std::size_t> tasks;
  for (const TaskScore& task : score.tasks) {
    if (!task.scored) continue;
    for (const auto& [name, count] : task.errors) tasks[name] += count > 0 ? 1 : 0;
  }
  out += "| class | errors | scored tasks with it |\n| --- | ---: | ---: |\n";
  for (const auto& [name, count] : score.errors)
    out += table_row({plain(name), str_cat(count), share(tasks[name], score.n)});
  return out + "\n";
}

std::string failures_section(const Score& score) {
  std::string out;
  for (const TaskScore& task : score.tasks) {
    if (!task.scored || task.success == 1) continue;
    out += table_row(
        {plain(task.identifier), plain(task.title), plain(task.verdict), yes_no(task.executable), plain(task.reason)});
  }
  if (out.empty()) return str_cat("## Failed tasks\n\n", score.n == 0 ? "No task was scored." : "None.", "\n\n");
  return "## Failed tasks\n\n| task | title | verdict | executable | reason |\n| --- | --- | --- | --- | --- |\n" +
         out + "\n";
}

}  // namespace

std::string mended_utf8(const std::string& text) {
  const Json json = text;
  return Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

std::string fixed_text(double value, int digits) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

double ratio(double part, std::size_t whole) { return whole == 0 ? 0 : part / static_cast<double>(whole); }

std::string share(std::size_t part, std::size_t whole) {
  return str_cat(part, " of ", whole, " (", fixed_text(ratio(100 * static_cast<double>(part), whole), 1), " %)");
}

std::string table_row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += str_cat(" ", cell, " |");
  return out + "\n";
}

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[std::clamp<std::size_t>(static_cast<std::size_t>(std::max(rank, 1.0)), 1, sorted.size()) - 1];
}

AnswersFile read_answers(const std::string& file) {
  const std::string text = internal::read_file(file);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("answers") || !json["answers"].is_array()) {
    throw InputError(file, "is not what 'metactrl eval --report' writes: there is no list 'answers'",
                     "name DIR/answers.json of such a run");
  }
  AnswersFile out;
  if (json.contains("date") && json["date"].is_string()) out.date = json["date"];
  if (json.contains("settings")) out.settings = json["settings"];
  for (const Json& entry : json["answers"]) {
    try {
      out.answers.push_back(answer_from_json(entry));
    } catch (const Json::exception& error) {
      throw InputError(file, str_cat("answer ", out.answers.size() + 1, " cannot be read: ", error.what()),
                       "write the file again with 'metactrl eval --report'");
    }
  }
  return out;
}

AnswersFile read_partial_answers(const std::string& journal) {
  AnswersFile out;
  const std::optional<jobs::JournalContent> content = jobs::read_journal(journal);
  if (!content) return out;
  out.settings = content->settings;
  for (const Json& line : content->lines) {
    try {
      out.answers.push_back(answer_from_json(line));
    } catch (const Json::exception& error) {
      throw InputError(journal, str_cat("holds a line that is not an answer: ", error.what()), "name another file");
    }
  }
  return out;
}

std::map<std::string, const Answer*> by_identifier(const std::vector<Answer>& answers) {
  std::map<std::string, const Answer*> out;
  for (const Answer& answer : answers) out.emplace(answer.identifier, &answer);
  return out;
}

std::string answers_text(const AnswersFile& file) {
  Json list = Json::array();
  for (const Answer& answer : file.answers) list.push_back(to_json(answer));
  Json json = Json::object();
  if (!file.date.empty()) json["date"] = file.date;
  json["settings"] = file.settings;
  json["answers"] = std::move(list);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

AnswerSummary summarize_answers(const std::vector<Answer>& answers) {
  AnswerSummary out;
  std::map<std::string, std::size_t> guarantees, tiers, assumptions, goals_dropped;
  for (const Answer& answer : answers) {
    ++out.answers;
    if (!answer.error.empty()) {
      ++out.errors;
      continue;
    }
    ++guarantees[answer.outcome == "plan" ? "guarantee " + answer.guarantee : answer.outcome];
    if (!answer.tier.empty()) ++tiers[answer.tier];
    for (const std::string& assumption : answer.assumptions) ++assumptions[assumption];
    for (const std::string& goal : answer.goals_dropped) ++goals_dropped[goal];
    if (!answer.assumptions.empty()) ++out.with_assumptions;
    if (!answer.goals_dropped.empty()) ++out.with_goals_dropped;
    out.compile.push_back(answer.times.compile());
    if (answer.model_calls > 0) out.decode.push_back(answer.times.decode);
    out.tokens += answer.tokens;
    out.forced_tokens += answer.forced_tokens;
    out.model_calls += answer.model_calls;
    out.conditions.declared += answer.conditions.declared;
    out.conditions.derivable += answer.conditions.derivable;
    if (answer.log_probability && std::isfinite(*answer.log_probability)) {
      ++out.with_log_probability;
      out.log_probability += *answer.log_probability;
    }
    if (answer.quality) {
      ++out.judged;
      out.judged_steps += answer.steps.size();
      out.left_out += answer.quality->superfluous;
      out.undone += answer.quality->undone.size();
    }
    if (!certified(answer) || !answer.shortest || answer.steps.size() < *answer.shortest) continue;
    ++out.compared;
    out.steps += answer.steps.size();
    out.shortest += *answer.shortest;
    if (answer.steps.size() == *answer.shortest) ++out.as_short_as_possible;
  }
  std::sort(out.compile.begin(), out.compile.end());
  std::sort(out.decode.begin(), out.decode.end());
  out.guarantees = sorted_counts(guarantees);
  out.tiers = sorted_counts(tiers);
  out.assumptions = sorted_counts(assumptions);
  out.goals_dropped = sorted_counts(goals_dropped);
  return out;
}

Json to_json(const Score& score) {
  Json tasks = Json::array();
  for (const TaskScore& task : score.tasks) {
    Json steps = Json::array();
    for (const StepScore& step : task.steps) {
      steps.push_back({{"action", step.action}, {"outcome", step.outcome}, {"reason", step.reason}});
    }
    Json goals = Json::array();
    for (const GoalScore& goal : task.goals) goals.push_back({{"goal", goal.goal}, {"reached", goal.reached}});
    tasks.push_back({{"identifier", task.identifier},
                     {"title", task.title},
                     {"answered", task.answered},
                     {"scored", task.scored},
                     {"verdict", task.verdict},
                     {"executable", task.executable},
                     {"success", task.success},
                     {"equals_gold", task.equals_gold},
                     {"errors", task.errors},
                     {"format_error", to_string(format_error(task))},
                     {"steps", steps},
                     {"goals", goals},
                     {"reason", task.reason}});
  }
  Json json = {{"n", score.n}, {"n_all", score.n_all}, {"unanswered", score.unanswered}};
  Json figures = Json::object();
  for (const auto& [name, value] : score.figures) {
    figures[name] = value;
    json[name] = value;
  }
  json["task_success"] = score.task_success;
  json["execution_success"] = score.execution_success;
  json["errors"] = score.errors;
  if (!score.first_failures.empty()) json["first_failures"] = score.first_failures;
  for (const auto& [error, count] : count_format_errors(score, {})) {
    json["format_errors"][to_string(error)] = count.total;
  }
  json["rates"] = score.rates;
  if (!figures.empty()) json["figures"] = figures;
  json["equal_to_gold"] = score.equal_to_gold;
  json["unknown_identifiers"] = score.strangers;
  json["tasks"] = tasks;
  return json;
}

std::string tasks_csv(const Report& report) {
  const std::map<std::string, const Answer*> answers = by_identifier(report.run.answers);
  std::string out = csv_line({"identifier",    "title",          "scored",          "answered",     "verdict",
                              "executable",    "success",        "equals_gold",     "steps",        "goals",
                              "goals_reached", "errors",         "reason",          "guarantee",    "lookahead",
                              "assumptions",   "goals_dropped",  "shortest",        "compile_ms",   "decode_ms",
                              "format_error",  "benchmark_side", "can_be_left_out", "undone_pairs", "log_probability"});
  for (const TaskScore& task : report.score.tasks) {
    const auto reached = std::count_if(task.goals.begin(), task.goals.end(), [](const auto& g) { return g.reached; });
    std::vector<std::string> cells = {task.identifier,
                                      task.title,
                                      yes_no(task.scored),
                                      yes_no(task.answered),
                                      task.verdict,
                                      yes_no(task.executable),
                                      str_cat(task.success),
                                      yes_no(task.equals_gold),
                                      str_cat(task.steps.size()),
                                      str_cat(task.goals.size()),
                                      str_cat(reached),
                                      error_list(task),
                                      task.reason};
    const auto found = answers.find(task.identifier);
    if (found == answers.end()) {
      cells.resize(20);
      cells.insert(cells.end(), {to_string(format_error(task)), "", "", "", ""});
    } else {
      const Answer& answer = *found->second;
      for (std::string cell :
           {answer.guarantee, answer.tier, join(answer.assumptions, "; "), join(answer.goals_dropped, "; "),
            answer.shortest ? str_cat(*answer.shortest) : "", fixed_text(1000 * answer.times.compile(), 3),
            fixed_text(1000 * answer.times.decode, 3)}) {
        cells.push_back(std::move(cell));
      }
      const bool judged = format_error(task) != FormatError::kNone && report.prompts.contains(task.identifier);
      cells.emplace_back(to_string(format_error(task)));
      cells.push_back(judged ? yes_no(report.keep_to_prompt.contains(task.identifier)) : "");
      cells.push_back(answer.quality ? str_cat(answer.quality->superfluous) : "");
      cells.push_back(answer.quality ? str_cat(answer.quality->undone.size()) : "");
      cells.push_back(answer.log_probability ? fixed_text(*answer.log_probability, 3) : "");
    }
    out += csv_line(cells);
  }
  return out;
}

std::string answers_markdown(std::string_view title, const AnswersFile& run) {
  return str_cat("# ", plain(std::string(title)), "\n\n", answers_section(run));
}

std::string report_markdown(const Report& report) {
  std::string out = str_cat("# ", plain(report.title), "\n\n", header_line(report), score_section(report.score),
                            format_errors_section(report), failures_section(report.score));
  if (!report.score.strangers.empty()) {
    out += "## Answers to no task\n\n";
    for (const std::string& stranger : report.score.strangers) out += str_cat("- ", plain(stranger), "\n");
    out += "\n";
  }
  if (!report.run.answers.empty()) out += answers_section(report.run);
  return out + comparison_section(report);
}

void write_report(const std::string& folder, const Report& report) {
  const std::filesystem::path path(folder);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw InputError(folder, str_cat("cannot be made a folder: ", error.message()), "name another folder");
  const auto write = [&](const char* name, const std::string& text) {
    internal::write_file((path / name).string(), text);
  };
  Json score = to_json(report.score);
  score["quality"] = quality_json(report);
  write("score.json", score.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  write("tasks.csv", tasks_csv(report));
  write("report.md", report_markdown(report));
  write("index.html", report_page(report));
}

}  // namespace metactrl::benchmarks
