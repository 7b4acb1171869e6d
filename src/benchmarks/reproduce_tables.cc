// Numbers of a reproduction as Markdown and JSON.
//
// Wilson's interval for p = s / n with z = 1.96 is
//
//     (p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n).
#include "benchmarks/reproduce_tables.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "benchmarks/report.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

std::string percent(double value) { return fixed_text(value, 1); }

std::string with_interval(double value, std::size_t n) {
  if (n == 0) return "no task";
  const Interval interval = wilson(value * static_cast<double>(n) / 100, n);
  return str_cat(percent(value), " [", percent(interval.low), ", ", percent(interval.high), "]");
}

// Task and execution success in a cell.
std::string both(const RowResult& row) {
  if (std::string missing = row.missing(); !missing.empty()) return missing;
  return str_cat(percent(row.score.task_success), " / ", percent(row.score.execution_success));
}

// Seconds.
struct Median {
  double compile = 0;
  double syntax = 0;     // of that, the token automaton
  double semantics = 0;  // the rest: reading the prompt, grounding, the lookahead
  // Of the answers that a model wrote.
  double model = 0;
  double token = 0;
  double call = 0;
};

Median median_of(const std::vector<Answer>& answers) {
  std::vector<double> compile;
  std::vector<double> syntax;
  std::vector<double> semantics;
  std::vector<double> model;
  std::vector<double> token;
  std::vector<double> call;
  for (const Answer& answer : answers) {
    if (!answer.error.empty() || !answer.fits) continue;
    compile.push_back(answer.times.compile());
    syntax.push_back(answer.times.automaton);
    semantics.push_back(answer.times.compile() - answer.times.automaton);
    if (answer.model_calls == 0) continue;
    model.push_back(answer.times.prompt + answer.times.decode);
    call.push_back(answer.times.decode / static_cast<double>(answer.model_calls));
    if (answer.tokens > 0) token.push_back(answer.times.decode / static_cast<double>(answer.tokens));
  }
  const auto middle = [](std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return quantile(values, 0.5);
  };
  return {middle(compile), middle(syntax), middle(semantics), middle(model), middle(token), middle(call)};
}

// What the paper reports: task and execution success with Llama 3 8B (Watch-And-Help: SR and Exec with Llama 3.1 8B), on
// all tasks of each benchmark. Its planner read the benchmark's own domain.
struct Published {
  Row row;
  std::string_view module;
  std::string_view text;
};
constexpr Published kPublished[] = {
    {Row::kNone, "vh-as", "21.3 / 23.6"},    {Row::kNone, "vh-sd", "48.8 / 58.0"},
    {Row::kNone, "beh-as", "10 / 16"},       {Row::kNone, "beh-sd", "22 / 29"},
    {Row::kNone, "wah", "0.0 / 1.0"},        {Row::kSyntax, "vh-as", "1.4 / 97.3"},
    {Row::kSyntax, "vh-sd", "0.0 / 96.0"},   {Row::kSyntax, "beh-as", "12 / 20"},
    {Row::kSyntax, "beh-sd", "19 / 31"},     {Row::kSyntax, "wah", "0.0 / 1.0"},
    {Row::kPlanner, "vh-as", "47.2 / 84.6"}, {Row::kPlanner, "beh-as", "13 / 37"},
    {Row::kSearch, "vh-as", "83.8 / 93.1"},  {Row::kSearch, "vh-sd", "72.5 / 79.0"},
    {Row::kSearch, "beh-as", "31 / 77"},     {Row::kSearch, "beh-sd", "52 / 64"},
    {Row::kMask, "vh-as", "81.7 / 87.5"},    {Row::kMask, "vh-sd", "88.7 / 92.6"},
    {Row::kMask, "beh-as", "33 / 85"},       {Row::kMask, "beh-sd", "38 / 51"},
    {Row::kUniform, "vh-as", "90.7 / 97.7"}, {Row::kUniform, "vh-sd", "88.4 / 93.2"},
    {Row::kUniform, "beh-as", "36 / 89"},    {Row::kUniform, "beh-sd", "41 / 59"},
    {Row::kTrained, "vh-as", "90.4 / 97.7"}, {Row::kTrained, "vh-sd", "89.9 / 93.5"},
    {Row::kTrained, "beh-as", "34 / 89"},    {Row::kTrained, "beh-sd", "36 / 66"},
    {Row::kTrained, "wah", "47.0 / 100"},
};

// Beside the rows under the paper's rules, and those that no rules touch.
std::string_view published(const ModuleResult& module, const RowOf& row) {
  if (row.rules == Rules::kEnvironment && row.row != Row::kNone && row.row != Row::kPlanner) return {};
  for (const Published& entry : kPublished) {
    if (entry.row == row.row && entry.module == module.name) return entry.text;
  }
  return {};
}

// The paper's rates of format errors, in percent of all tasks, with Llama 3 8B: alone, and held by its system. It calls all
// of the latter the benchmark's fault.
struct PublishedErrors {
  std::string_view module;
  std::string_view alone;  // parsing, hallucination, parameter, together
  std::string_view held;
};
constexpr PublishedErrors kPublishedErrors[] = {
    {"vh-as", "14.4 | 6.9 | 1.0 | 22.3", "1.3 | 1.3 | 0.0 | 2.7"},
    {"vh-sd", "0.6 | 3.3 | 0.6 | 4.5", "2.1 | 0.0 | 0.0 | 2.1"},
    {"beh-as", "0.0 | 15.0 | 9.0 | 24.0", "0.0 | 0.0 | 0.0 | 0.0"},
    {"beh-sd", "0.0 | 21.0 | 0.0 | 21.0", "0.0 | 1.0 | 0.0 | 1.0"},
};

FormatErrorCount format_errors_of(const RowResult& row) {
  FormatErrorCount out;
  for (const auto& [error, count] : count_format_errors(row.score, row.keep_to_prompt)) {
    out.total += count.total;
    out.benchmark_side += count.benchmark_side;
  }
  return out;
}

std::string module_table(const ModuleResult& module) {
  std::string out =
      "| row | n | task success % [95 %] | execution success % [95 %] | the paper | exact | witness | no room | "
      "failed | compile s | model s |\n"
      "|---|---:|---|---|---|---:|---:|---:|---:|---:|---:|\n";
  for (const RowResult& row : module.rows) {
    out += str_cat("| ", row.row.name(), " | ");
    if (!row.absent.empty()) {
      out += str_cat(" | ", row.absent, " | | ", published(module, row.row), " | | | | | | |\n");
      continue;
    }
    const Median median = median_of(row.answers);
    out += str_cat(row.score.n, " | ", with_interval(row.score.task_success, row.score.n), " | ",
                   with_interval(row.score.execution_success, row.score.n), " | ", published(module, row.row), " | ",
                   row.exact, " | ", row.witness, " | ", row.no_room, " | ", row.failed, " | ",
                   fixed_text(median.compile, 3), " | ",
                   facts_of(row.row.row).needs_model ? fixed_text(median.model, 3) : "", " |\n");
  }
  return out;
}

// A column for each name that some row has a number for, and below it what text(row, name) says; empty without names.
template <typename Numbers, typename Text>
std::string table_by_name(const ModuleResult& module, const char* title, Numbers numbers, const Text& text) {
  std::set<std::string> names;
  for (const RowResult& row : module.rows) {
    for (const auto& [name, value] : row.score.*numbers) names.insert(name);
  }
  std::string head;
  std::string rule;
  for (const std::string& name : names) {
    head += str_cat(" ", name, " |");
    rule += "---:|";
  }
  if (names.empty()) return {};
  std::string out = str_cat(title, ":\n\n| row |", head, "\n|---|", rule, "\n");
  for (const RowResult& row : module.rows) {
    if (!row.absent.empty()) continue;
    out += str_cat("| ", row.row.name(), " |");
    for (const std::string& name : names) {
      const auto found = (row.score.*numbers).find(name);
      out += str_cat(" ", text(found == (row.score.*numbers).end() ? nullptr : &found->second), " |");
    }
    out += "\n";
  }
  return out + "\n";
}

std::string error_table(const ModuleResult& module) {
  return table_by_name(module, "Errors that the evaluator found", &Score::errors,
                       [](const int* count) { return count == nullptr ? 0 : *count; });
}

// Further rates of a benchmark, such as the share of subgoals reached.
std::string rate_table(const ModuleResult& module) {
  return table_by_name(module, "Further rates, in percent", &Score::rates,
                       [](const double* rate) { return rate == nullptr ? "" : percent(*rate); });
}

// Format errors in the paper's classes, in percent, and by whose fault they are, in answers.
std::string format_error_table(const ModuleResult& module) {
  std::string out =
      "Format errors, % of n:\n\n"
      "| row | parsing | hallucination | parameter | together | benchmark-side, answers | the model's |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n";
  for (const RowResult& row : module.rows) {
    if (!row.absent.empty()) continue;
    out += str_cat("| ", row.row.name(), " | ");
    const auto of_all = [&](std::size_t count) {
      return percent(100 * ratio(static_cast<double>(count), row.score.n));
    };
    const auto counts = count_format_errors(row.score, row.keep_to_prompt);
    for (const FormatError error : {FormatError::kParsing, FormatError::kHallucination, FormatError::kParameter}) {
      out += of_all(counts.at(error).total) + " | ";
    }
    const FormatErrorCount errors = format_errors_of(row);
    out += str_cat(of_all(errors.total), " | ", errors.benchmark_side, " | ", errors.total - errors.benchmark_side,
                   " |\n");
  }
  for (const PublishedErrors& published : kPublishedErrors) {
    if (published.module != module.name) continue;
    out += str_cat("| the paper: the model alone | ", published.alone, " | | |\n", "| the paper: Meta-Ctrl | ",
                   published.held, " | all | 0 |\n");
  }
  return out + "\n";
}

// What writing takes with a constraint and without. The paper's figures are medians over 12 tasks of vh-as.
std::string decoding_table(const ModuleResult& module) {
  std::string out =
      "Decoding, medians:\n\n"
      "| row | ms per token | ms per model call | syntax, s | semantics, s |\n|---|---:|---:|---:|---:|\n";
  const std::size_t head = out.size();
  for (const RowResult& row : module.rows) {
    if (!row.absent.empty() || !facts_of(row.row.row).needs_model) continue;
    const Median median = median_of(row.answers);
    out += str_cat("| ", row.row.name(), " | ", fixed_text(1000 * median.token, 2), " | ",
                   fixed_text(1000 * median.call, 2), " | ", fixed_text(median.syntax, 3), " | ",
                   fixed_text(median.semantics, 3), " |\n");
  }
  if (out.size() == head) return {};
  if (module.name == "vh-as") {
    out += "| the paper, an 8B model on a GPU: alone | 20.9 | | | |\n| the paper: Meta-Ctrl | 20.6 | | 2.3 | 0.7 |\n";
  }
  return out + "\n";
}

// What the plans of rows with a lookahead are like.
std::string quality_table(const ModuleResult& module) {
  std::string out =
      "| row | plans | steps | can be left out | pairs that undo one another |\n|---|---:|---:|---:|---:|\n";
  const std::size_t head = out.size();
  for (const RowResult& row : module.rows) {
    if (!row.absent.empty()) continue;
    const AnswerSummary summary = summarize_answers(row.answers);
    if (summary.judged == 0) continue;
    out += str_cat("| ", row.row.name(), " | ", summary.judged, " | ", summary.judged_steps, " | ", summary.left_out,
                   " | ", summary.undone, " |\n");
  }
  return out.size() == head ? std::string() : out + "\n";
}

// The paper's audit, beside what it states.
std::string audit_table(const std::vector<InformationAudit>& audits) {
  std::string out =
      "\n"
      "## What prompts state\n\n"
      "Declared preconditions of the steps of reference plans, by the benchmark's own domain, and which of them the "
      "prompt states of their objects; all of them, and those that are not about the robot itself. `tags` are "
      "properties listed in a prompt, the mean; `names` are of things in reference plans, `able` those to which the "
      "taxonomy gives an ability that an action asks for. The paper counts the reference plans of all tasks.\n\n"
      "| benchmark | tasks | steps | of all conditions | of those about things | the paper | tags | the paper | names "
      "| able |\n"
      "|---|---:|---:|---|---|---|---:|---|---:|---:|\n";
  const auto count = [](const InformationAudit::Count& c) {
    return str_cat(percent(c.percent()), " % (", c.derivable, " of ", c.declared, ")");
  };
  for (const InformationAudit& audit : audits) {
    out += str_cat("| ", audit.benchmark, " | ", audit.tasks, " | ", audit.steps, " | ", count(audit.all), " | ",
                   count(audit.of_things), " | ", audit.paper_derivable, " | ", percent(audit.tags_per_prompt), " | ",
                   audit.paper_tags, " | ");
    out += audit.names == 0 ? std::string(" | |\n") : str_cat(audit.names, " | ", audit.able_names, " |\n");
  }
  return out;
}

Json audit_json(const InformationAudit& audit) {
  const auto count = [](const InformationAudit::Count& c) {
    return Json{{"declared", c.declared}, {"derivable", c.derivable}, {"percent", c.percent()}};
  };
  return {{"benchmark", audit.benchmark},
          {"tasks", audit.tasks},
          {"steps", audit.steps},
          {"foreign_steps", audit.foreign_steps},
          {"all", count(audit.all)},
          {"of_things", count(audit.of_things)},
          {"tags_per_prompt", audit.tags_per_prompt},
          {"names", audit.names},
          {"able_names", audit.able_names}};
}

Json rate_json(double value, std::size_t n) {
  if (n == 0) return nullptr;
  const Interval interval = wilson(value * static_cast<double>(n) / 100, n);
  return {{"percent", value}, {"low", interval.low}, {"high", interval.high}};
}

Json row_json(const RowResult& row) {
  Json json = {{"row", facts_of(row.row.row).name},
               {"rules", to_string(row.row.rules)},
               {"title", facts_of(row.row.row).title},
               {"measured", row.absent.empty()}};
  if (!row.absent.empty()) {
    json["absent"] = row.absent;
    return json;
  }
  const AnswerSummary summary = summarize_answers(row.answers);
  const Median median = median_of(row.answers);
  const FormatErrorCount errors = format_errors_of(row);
  Json classes = Json::object();
  for (const auto& [error, count] : count_format_errors(row.score, row.keep_to_prompt)) {
    classes[to_string(error)] = {{"total", count.total}, {"benchmark_side", count.benchmark_side}};
  }
  json.update(
      {{"answers", row.answers.size()},
       {"n", row.score.n},
       {"no_room", row.no_room},
       {"failed", row.failed},
       {"exact", row.exact},
       {"witness", row.witness},
       {"task_success", rate_json(row.score.task_success, row.score.n)},
       {"execution_success", rate_json(row.score.execution_success, row.score.n)},
       {"errors", row.score.errors},
       {"format_errors", {{"total", errors.total}, {"benchmark_side", errors.benchmark_side}, {"classes", classes}}},
       {"quality",
        {{"plans", summary.judged},
         {"steps", summary.judged_steps},
         {"superfluous", summary.left_out},
         {"undone", summary.undone}}},
       {"rates", row.score.rates},
       {"outcomes", Json::object()},
       {"tokens", summary.tokens},
       {"forced_tokens", summary.forced_tokens},
       {"seconds",
        {{"compile_median", median.compile},
         {"syntax_median", median.syntax},
         {"semantics_median", median.semantics},
         {"model_median", median.model},
         {"token_median", median.token},
         {"call_median", median.call}}}});
  for (const auto& [what, count] : summary.guarantees) json["outcomes"][what] = count;
  return json;
}

}  // namespace

Interval wilson(double successes, std::size_t n) {
  if (n == 0) return {};
  constexpr double kZ = 1.959963984540054;  // the 97.5 % point of the normal distribution
  const double size = static_cast<double>(n);
  const double p = std::clamp(successes / size, 0.0, 1.0);
  const double centre = p + kZ * kZ / (2 * size);
  const double spread = kZ * std::sqrt(p * (1 - p) / size + kZ * kZ / (4 * size * size));
  const double scale = 1 + kZ * kZ / size;
  return {std::max(0.0, 100 * (centre - spread) / scale), std::min(100.0, 100 * (centre + spread) / scale)};
}

std::string overview_markdown(const std::vector<ModuleResult>& modules) {
  std::string out = "| task / execution success, % |";
  for (const ModuleResult& module : modules) out += str_cat(" ", module.name, " |");
  out += "\n|---|";
  for (std::size_t i = 0; i < modules.size(); ++i) out += "---|";
  out += "\n";
  if (modules.empty()) return out;
  for (std::size_t i = 0; i < modules[0].rows.size(); ++i) {
    const RowOf& row = modules[0].rows[i].row;
    out += str_cat("| ", row.name(), ": ", facts_of(row.row).title, " |");
    for (const ModuleResult& module : modules) out += str_cat(" ", both(module.rows[i]), " |");
    out += "\n";
  }
  return out;
}

std::string sample_text(const std::vector<ModuleResult>& modules) {
  std::string out;
  for (const ModuleResult& module : modules) {
    out += str_cat(out.empty() ? "" : ", ", module.name, " ", module.sample);
    if (module.sample < module.tasks) out += str_cat(" of ", module.tasks);
  }
  return out;
}

std::string tables_body(const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  std::string out;
  if (!about.missing.empty()) {
    out += str_cat("Not complete: answers are missing. All rates are over the tasks that were answered. Missing: ",
                   join(about.missing, ", "), ".\n\n");
  }
  out += str_cat(
      overview_markdown(modules),
      "\nRates are over the `n` tasks that the evaluator scores and whose prompt has room in the model's "
      "context; `no room` counts the others, `failed` the answers that ended in an error, which are counted "
      "as failures. `exact` counts the answers whose states were enumerated, so that weights are what the "
      "recursion gives; `witness` those for which each choice rests on a plan that was found. `the paper` is "
      "what it reports, on all tasks and with its own model. Intervals are Wilson's, 95 %. Seconds are "
      "medians: `compile` from the prompt to the "
      "constraint, `model` from the prompt to the last token; `syntax` is the token automaton, `semantics` the "
      "rest of `compile`. A format error is benchmark-side where the answer keeps to the form, the words and the "
      "objects that its prompt states: it is read again, whoever wrote it.\n");
  for (const ModuleResult& module : modules) {
    out += str_cat("\n## ", module.title, " (", module.name, ")\n\n![", module.title, "](", module.name, ".svg)\n\n",
                   module_table(module), "\n", format_error_table(module), quality_table(module),
                   decoding_table(module), error_table(module), rate_table(module));
    while (out.ends_with("\n\n")) out.pop_back();
  }
  if (!about.audits.empty()) out += audit_table(about.audits);
  if (!about.levels.empty()) out += "\n## Why two levels\n\n" + two_levels_markdown(about.levels);
  return out;
}

std::string tables_markdown(const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  std::string out = str_cat("# Tables\n\n", about.date, ", `", about.command, "`\n\n");
  if (!about.model.empty()) out += str_cat("Model: ", about.model, ".\n");
  if (about.settings.contains("prompt")) {
    out += str_cat("Prompts: ", about.settings["prompt"].get<std::string>(), ".\n");
  }
  out += "Rules: the benchmark's environment's, where a row does not say otherwise.\n";
  if (about.settings.contains("planner")) {
    out += str_cat("The classical planner is ", about.settings["planner"].get<std::string>(),
                   ", and reads the benchmark's own domain and problems.\n");
  }
  return str_cat(out, "Tasks: ", sample_text(modules), ".\n\n", tables_body(modules, about));
}

Json tables_json(const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  Json json = {{"date", about.date}, {"command", about.command}, {"model", about.model}, {"settings", about.settings}};
  if (!about.missing.empty()) json["missing"] = about.missing;
  json["information"] = Json::array();
  for (const InformationAudit& audit : about.audits) json["information"].push_back(audit_json(audit));
  json["two_levels"] = two_levels_json(about.levels);
  json["modules"] = Json::array();
  for (const ModuleResult& module : modules) {
    Json rows = Json::array();
    for (const RowResult& row : module.rows) rows.push_back(row_json(row));
    json["modules"].push_back({{"module", module.name},
                               {"title", module.title},
                               {"tasks", module.tasks},
                               {"sample", module.sample},
                               {"rows", rows}});
  }
  return json;
}

void write_tables(const std::string& folder, const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  const std::filesystem::path path(folder);
  for (const ModuleResult& module : modules) {
    internal::write_file((path / (module.name + ".svg")).string(), module_plot(module));
  }
  internal::write_file((path / "tables.json").string(), jobs::dump(tables_json(modules, about), 2) + "\n");
  internal::write_file((path / "tables.md").string(), tables_markdown(modules, about));
  internal::write_file((path / "index.html").string(), tables_page(modules, about));
}

}  // namespace metactrl::benchmarks
