#include "cli/plan_report.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "cli/preferences.h"
#include "serve/plan_json.h"
#include "serve/thinking.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "task/program.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

std::string seconds_text(double seconds) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(seconds < 10 ? 2 : 1) << seconds << " s";
  return out.str();
}

Json timings_json(const PlanInput& input, const PlanResult& result) {
  Json json{{"load_task", input.task.load_seconds}, {"load_model", input.model.seconds}};
  json.update(serve::times_json(result.times));
  return json;
}

// Tokens may end in the middle of a character; JSON texts must not.
std::string token_text(const Vocabulary* vocabulary, TokenId token) {
  return vocabulary == nullptr ? std::string() : std::string(vocabulary->bytes(token));
}

Json setup_json(const PlanInput& input) {
  const PlanOptions& options = input.options;
  return {{"task", input.task.task.name()},
          {"format", input.format.name},
          {"model", input.model.model == nullptr ? Json(nullptr) : Json(input.model.name)},
          {"guidance", to_string(options.guidance)},
          {"bridge", to_string(options.bridge)},
          {"tokenization", to_string(options.tokenization)},
          {"decode", to_string(options.generate.mode)},
          {"seed", options.generate.seed}};
}

Json wish_json(const PlanInput& input, const ExplainedStep::Wish& wish) {
  const Task& task = input.task.task;
  return {{"token", static_cast<std::int32_t>(wish.token)},
          {"token_text", token_text(input.model.vocabulary.get(), wish.token)},
          {"action", wish.action ? Json(task.text(*wish.action)) : Json(nullptr)},
          {"stops", wish.stops},
          {"standing", to_string(wish.standing)},
          {"allowed", wish.veto.empty()},
          {"why_not", wish.veto}};
}

Json step_json(const PlanInput& input, std::size_t index, const ExplainedStep& step) {
  const Task& task = input.task.task;
  Json json{{"event", "step"}, {"step", index + 1}, {"left", step.left}, {"goal_holds", step.goal_holds}};
  json["candidates"] = Json::array();
  for (const ExplainedStep::Judged& entry : step.legal) {
    Json candidate{{"action", task.text(entry.action)}, {"standing", to_string(entry.standing)}};
    if (entry.standing == ExplainedStep::Standing::kAllowed) {
      candidate["remaining"] = entry.remaining;
      candidate["log_weight"] = serve::number_or_null(entry.log_weight);
    }
    json["candidates"].push_back(std::move(candidate));
  }
  json["wanted"] = step.wish ? wish_json(input, *step.wish) : Json(nullptr);
  json["chosen"] = step.chosen ? Json(task.text(*step.chosen)) : Json(nullptr);
  json["legal"] = step.chosen_is_legal;
  json["stops"] = step.stops;
  return json;
}

Json token_json(const PlanInput& input, std::size_t step, const ExplainedStep::Token& token) {
  const Vocabulary* vocabulary = input.model.vocabulary.get();
  Json json{{"event", "token"},
            {"step", step},
            {"token", static_cast<std::int32_t>(token.token)},
            {"text", token_text(vocabulary, token.token)},
            {"forced", token.forced},
            {"choices", token.choices},
            {"log_weight", serve::number_or_null(token.log_weight)}};
  if (token.favourite) {
    json["favourite"] = static_cast<std::int32_t>(*token.favourite);
    json["favourite_text"] = token_text(vocabulary, *token.favourite);
  }
  return json;
}

// "best known 84, at least 60", "cheapest 84"
std::string best_text(double best, const char* name, bool proved, double at_least) {
  if (proved) return str_cat(", ", name, " ", number_text(best));
  return str_cat(", best known ", number_text(best), at_least > 0 ? ", at least " + number_text(at_least) : "");
}

// "17 actions, shortest 15, cost 96, best known 84, at least 60; 2 steps could be left out (--simplify)"
std::string length_text(const Task& task, const PlanResult& result, const PlanOptions& options) {
  const bool metric = task.program().definition().has_metric;
  std::string text = count_text(result.steps.size(), "action", "actions");
  if (result.best_length) {
    const auto length = static_cast<double>(result.shortest_length.value_or(*result.best_length));
    text += best_text(length, "shortest", result.shortest_length.has_value(), metric ? 0 : result.least_cost);
  }
  if (task.has_costs()) {
    text += str_cat(", cost ", number_text(result.validation.cost));
    if (result.best_length) {
      text +=
          best_text(result.best_cost, "cheapest", metric && result.best_is_cheapest, metric ? result.least_cost : 0);
      const bool chosen = options.guidance != Guidance::kNone && options.guidance != Guidance::kSyntax;
      if (metric && chosen && options.prefer_cheap == 0 && result.validation.cost > result.best_cost) {
        text += " (--prefer cheap weighs costs)";
      }
    }
  }
  if (!result.needless.empty()) {
    text += str_cat("; ", count_text(result.needless.size(), "step", "steps"), " could be left out (--simplify)");
  }
  return text;
}

// "goals met: 2 of 3"; where nothing but trajectory constraints is asked for, these: "constraints kept: 1"
std::string goals_text(const Task& task, const PlanResult& result) {
  const std::size_t goals = result.goals_met.size() + result.goals_unmet.size();
  if (goals > 0) return str_cat("goals met: ", result.goals_met.size(), " of ", goals);
  const std::size_t constraints = task.program().monitors().size();
  return constraints > 0 && result.validation.valid ? str_cat("constraints kept: ", constraints) : "no goal";
}

// "preferences: 3 of 5 hold, metric 7, at least 4"
std::string preference_summary(const Validation& validation, const PlanResult::Preferences& preferences) {
  const auto holds = [](const Validation::Preference& one) { return one.satisfied; };
  const auto held = std::count_if(validation.preferences.begin(), validation.preferences.end(), holds);
  return str_cat("preferences: ", held, " of ", validation.preferences.size(), " hold, ",
                 metric_text(preferences.value, preferences.lower_bound));
}

}  // namespace

std::string closing_line(const PlanInput& input, const PlanResult& result) {
  const double seconds = result.times.format + result.times.automaton + result.times.lookahead + result.times.prompt +
                         result.times.decode + result.times.check;
  std::string line = str_cat("guarantee: ", to_string(result.guarantee), guaranteed_of(input.goal), "; ",
                             goals_text(input.task.task, result));
  if (result.preferences) line += "; " + preference_summary(result.validation, *result.preferences);
  line += "; " + length_text(input.task.task, result, input.options);
  if (input.options.guidance != Guidance::kSearch) {
    line += str_cat("; model calls: ", result.model_calls, "; tokens: ", result.tokens.size(), ", ",
                    result.forced_tokens, " of them forced");
  }
  if (result.thought) {
    line += str_cat("; thought before: ", count_text(result.thought->tokens, "token", "tokens"), ", ended by ",
                    to_string(result.thought->ended_by));
  }
  const bool weighs = result.lookahead != nullptr && result.weight_rule != "none";
  if (weighs && !result.lookahead->weights_exact()) line += str_cat("; weights: ", result.weight_rule);
  line += "; " + seconds_text(seconds);
  return result.device.empty() ? line : line + "; on " + result.device;
}

Json result_json(const PlanInput& input, const PlanResult& result) {
  Json json = serve::outcome_json(input.task.task, result, input.schedule);
  json["goal"] = input.goal ? serve::goal_json(*input.goal) : serve::Json(nullptr);
  json.update(setup_json(input));
  json.update(serve::decoding_json(result, input.options.guidance));
  if (result.thought) json["reasoning"] = serve::reasoning_json(result.thought);
  json["timings"] = timings_json(input, result);
  return json;
}

std::vector<Json> trace_events(const PlanInput& input, const PlanResult& result,
                               const std::vector<ExplainedStep>& steps) {
  std::vector<Json> events;
  Json start{{"event", "start"}};
  start.update(setup_json(input));
  start["horizon"] = result.horizon;
  start["prompt_tokens"] = result.prompt_tokens;
  start["goals_dropped"] = serve::goals_json(input.task.task, result.goals_dropped);
  events.push_back(std::move(start));
  if (result.thought) {
    Json thought{{"event", "thought"}};
    thought.update(Json(serve::reasoning_json(result.thought)));
    events.push_back(std::move(thought));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    events.push_back(step_json(input, i, steps[i]));
    for (const ExplainedStep::Token& token : steps[i].tokens) events.push_back(token_json(input, i + 1, token));
  }
  if (result.constraint == nullptr) {
    // Free text has no steps that its tokens could belong to.
    for (TokenId token : result.tokens) events.push_back(token_json(input, 0, {token, false, 0, 0, std::nullopt}));
  }
  Json end = result_json(input, result);
  end["event"] = "end";
  events.push_back(std::move(end));
  return events;
}

void write_trace(const std::string& file, const PlanInput& input, const PlanResult& result) {
  std::vector<ExplainedStep> steps;
  {
    const ProgressLine progress("writing the trace");
    try {
      steps = explain(input.task.task, result, input.model.model.get());
    } catch (const ModelError& error) {
      note(str_cat("metactrl: the trace says nothing about the model's wishes: ", error.what()));
      steps = explain(input.task.task, result, nullptr);
    }
  }
  std::string text;
  for (const Json& event : trace_events(input, result, steps)) {
    text += event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  internal::write_file(file, text);
}

}  // namespace metactrl::cli
