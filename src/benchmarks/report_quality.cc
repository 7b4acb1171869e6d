// The parts of a report about the quality of plans: what could be left out, what the model thought of its choices, what
// the prompts told, which answers were not even read, and how another run over the same prompts did.
#include <cmath>
#include <map>

#include "benchmarks/report.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

std::string setting(const Json& settings, const char* name) {
  return settings.is_object() && settings.contains(name) && settings[name].is_string()
             ? settings[name].get<std::string>()
             : "";
}

std::string run_name(const Json& settings) {
  const std::string guidance = setting(settings, "guidance");
  const std::string model = setting(settings, "model");
  if (guidance.empty()) return "another run";
  return model.empty() ? guidance : str_cat(guidance, ", ", model);
}

}  // namespace

RunComparison compare_runs(const std::vector<Answer>& answers, const std::vector<Answer>& others) {
  const std::map<std::string, const Answer*> known = by_identifier(others);
  RunComparison out;
  for (const Answer& answer : answers) {
    const auto found = known.find(answer.identifier);
    if (found == known.end()) continue;
    const Answer& other = *found->second;
    if (answer.outcome != "plan" || other.outcome != "plan") continue;
    ++out.plans;
    out.same += answer.output == other.output ? 1 : 0;
    out.steps += answer.steps.size();
    out.other_steps += other.steps.size();
    if (!answer.log_probability || !other.log_probability) continue;
    if (!std::isfinite(*answer.log_probability) || !std::isfinite(*other.log_probability)) continue;
    ++out.with_log_probability;
    out.log_probability += *answer.log_probability;
    out.other_log_probability += *other.log_probability;
    out.more_probable += *answer.log_probability > *other.log_probability ? 1 : 0;
    out.less_probable += *answer.log_probability < *other.log_probability ? 1 : 0;
  }
  return out;
}

std::string quality_rows(const AnswerSummary& summary) {
  std::string out;
  const auto row = [&](const char* name, const std::string& value) { out += table_row({name, value}); };
  if (summary.judged > 0) {
    row("plans that reach what they pursue", str_cat(summary.judged));
    row("steps that can be left out", share(summary.left_out, summary.judged_steps));
    row("pairs of steps that undo one another", str_cat(summary.undone));
  }
  if (summary.with_log_probability > 0) {
    row("log-probability of the model's choices, mean per plan",
        fixed_text(ratio(summary.log_probability, summary.with_log_probability), 2));
  }
  if (summary.conditions.declared > 0) {
    row("declared preconditions of the steps that the prompt decides",
        share(summary.conditions.derivable, summary.conditions.declared));
  }
  return out.empty() ? out : str_cat("| quality | |\n| --- | ---: |\n", out, "\n");
}

std::string format_errors_section(const Report& report) {
  const bool known = !report.prompts.empty();
  std::string out = "## Format errors\n\n";
  out += known ? "| class | scored tasks | benchmark-side | the model's |\n| --- | ---: | ---: | ---: |\n"
               : "| class | scored tasks |\n| --- | ---: |\n";
  for (const auto& [error, count] : count_format_errors(report.score, report.keep_to_prompt)) {
    out += str_cat("| ", to_string(error), " | ", share(count.total, report.score.n), " |");
    if (known) out += str_cat(" ", count.benchmark_side, " | ", count.total - count.benchmark_side, " |");
    out += "\n";
  }
  if (known) {
    out +=
        "\nBenchmark-side: the answer keeps to the form, the words and the objects that its prompt states, and the "
        "evaluator rejected it all the same.\n";
  }
  return out + "\n";
}

std::string comparison_section(const Report& report) {
  if (report.other.answers.empty()) return "";
  const RunComparison c = compare_runs(report.run.answers, report.other.answers);
  std::string out =
      str_cat("## Beside ", run_name(report.other.settings), "\n\n| | this run | the other |\n",
              "| --- | ---: | ---: |\n| plans that both have | ", c.plans, " | |\n", "| the same, word for word | ",
              c.same, " | |\n| steps | ", c.steps, " | ", c.other_steps, " |\n");
  if (c.with_log_probability > 0) {
    out += str_cat("| log-probability of the model's choices, mean per plan | ",
                   fixed_text(ratio(c.log_probability, c.with_log_probability), 2), " | ",
                   fixed_text(ratio(c.other_log_probability, c.with_log_probability), 2), " |\n| more probable | ",
                   c.more_probable, " | ", c.less_probable, " |\n");
  }
  return out + "\n";
}

Json quality_json(const Report& report) {
  const AnswerSummary summary = summarize_answers(report.run.answers);
  Json errors;
  for (const auto& [error, count] : count_format_errors(report.score, report.keep_to_prompt)) {
    errors[to_string(error)]["total"] = count.total;
    if (!report.prompts.empty()) errors[to_string(error)]["benchmark_side"] = count.benchmark_side;
  }
  Json out = {{"plans", summary.judged},
              {"steps", summary.judged_steps},
              {"superfluous", summary.left_out},
              {"undone", summary.undone},
              {"format_errors", errors}};
  if (summary.with_log_probability > 0) {
    out["log_probability"] = {{"plans", summary.with_log_probability},
                              {"mean", ratio(summary.log_probability, summary.with_log_probability)}};
  }
  if (summary.conditions.declared > 0) {
    out["conditions"] = {{"declared", summary.conditions.declared}, {"derivable", summary.conditions.derivable}};
  }
  if (!report.other.answers.empty()) {
    const RunComparison c = compare_runs(report.run.answers, report.other.answers);
    out["comparison"] = {{"other", run_name(report.other.settings)},
                         {"plans", c.plans},
                         {"same", c.same},
                         {"steps", c.steps},
                         {"other_steps", c.other_steps},
                         {"with_log_probability", c.with_log_probability},
                         {"log_probability", ratio(c.log_probability, c.with_log_probability)},
                         {"other_log_probability", ratio(c.other_log_probability, c.with_log_probability)},
                         {"more_probable", c.more_probable},
                         {"less_probable", c.less_probable}};
  }
  return out;
}

}  // namespace metactrl::benchmarks
