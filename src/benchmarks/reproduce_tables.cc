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

// "vh-as 158, vh-sd 20 of 156"
std::string sample_text(const std::vector<ModuleResult>& modules) {
  std::string out;
  for (const ModuleResult& module : modules) {
    out += str_cat(out.empty() ? "" : ", ", module.name, " ", module.sample);
    if (module.sample < module.tasks) out += str_cat(" of ", module.tasks);
  }
  return out;
}

struct Median {
  double compile = 0;
  double model = 0;  // of those that a model answered
};

Median median_of(const std::vector<Answer>& answers) {
  std::vector<double> compile;
  std::vector<double> model;
  for (const Answer& answer : answers) {
    if (!answer.error.empty() || !answer.fits) continue;
    compile.push_back(answer.times.compile());
    if (answer.model_calls > 0) model.push_back(answer.times.prompt + answer.times.decode);
  }
  std::sort(compile.begin(), compile.end());
  std::sort(model.begin(), model.end());
  return {quantile(compile, 0.5), quantile(model, 0.5)};
}

std::string module_table(const ModuleResult& module) {
  std::string out =
      "| row | n | task success % [95 %] | execution success % [95 %] | no room | failed | compile s | model s |\n"
      "|---|---:|---|---|---:|---:|---:|---:|\n";
  for (const RowResult& row : module.rows) {
    out += str_cat("| ", facts_of(row.row).name, " | ");
    if (!row.absent.empty()) {
      out += str_cat(" | ", row.absent, " | | | | | |\n");
      continue;
    }
    const Median median = median_of(row.answers);
    out += str_cat(row.score.n, " | ", with_interval(row.score.task_success, row.score.n), " | ",
                   with_interval(row.score.execution_success, row.score.n), " | ", row.no_room, " | ", row.failed,
                   " | ", fixed_text(median.compile, 3), " | ",
                   facts_of(row.row).needs_model ? fixed_text(median.model, 3) : "", " |\n");
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
    out += str_cat("| ", facts_of(row.row).name, " |");
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

Json rate_json(double value, std::size_t n) {
  if (n == 0) return nullptr;
  const Interval interval = wilson(value * static_cast<double>(n) / 100, n);
  return {{"percent", value}, {"low", interval.low}, {"high", interval.high}};
}

Json row_json(const RowResult& row) {
  Json json = {{"row", facts_of(row.row).name}, {"title", facts_of(row.row).title}, {"measured", row.absent.empty()}};
  if (!row.absent.empty()) {
    json["absent"] = row.absent;
    return json;
  }
  const AnswerSummary summary = summarize_answers(row.answers);
  const Median median = median_of(row.answers);
  json.update({{"answers", row.answers.size()},
               {"n", row.score.n},
               {"no_room", row.no_room},
               {"failed", row.failed},
               {"task_success", rate_json(row.score.task_success, row.score.n)},
               {"execution_success", rate_json(row.score.execution_success, row.score.n)},
               {"errors", row.score.errors},
               {"rates", row.score.rates},
               {"outcomes", Json::object()},
               {"tokens", summary.tokens},
               {"forced_tokens", summary.forced_tokens},
               {"seconds", {{"compile_median", median.compile}, {"model_median", median.model}}}});
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
    const RowFacts& facts = facts_of(modules[0].rows[i].row);
    out += str_cat("| ", facts.name, ": ", facts.title, " |");
    for (const ModuleResult& module : modules) out += str_cat(" ", both(module.rows[i]), " |");
    out += "\n";
  }
  return out;
}

std::string tables_markdown(const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  std::string out = str_cat("# Tables\n\n", about.date, ", `", about.command, "`\n\n");
  if (!about.model.empty()) out += str_cat("Model: ", about.model, ".\n");
  for (const char* key : {"prompt", "rules"}) {
    if (about.settings.contains(key)) {
      out += str_cat(key == std::string("prompt") ? "Prompts: " : "Rules: ", about.settings[key].get<std::string>(),
                     ".\n");
    }
  }
  out += str_cat("Tasks: ", sample_text(modules), ".\n\n", overview_markdown(modules),
                 "\nRates are over the `n` tasks that the evaluator scores and whose prompt has room in the model's "
                 "context; `no room` counts the others, `failed` the answers that ended in an error, which are counted "
                 "as failures. Intervals are Wilson's, 95 %. Seconds are medians: `compile` from the prompt to the "
                 "constraint, `model` from the prompt to the last token.\n");
  for (const ModuleResult& module : modules) {
    out += str_cat("\n## ", module.title, " (", module.name, ")\n\n![", module.title, "](", module.name, ".svg)\n\n",
                   module_table(module), "\n", error_table(module), rate_table(module));
    while (out.ends_with("\n\n")) out.pop_back();
  }
  return out;
}

Json tables_json(const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  Json json = {{"date", about.date}, {"command", about.command}, {"model", about.model}, {"settings", about.settings}};
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
}

}  // namespace metactrl::benchmarks
