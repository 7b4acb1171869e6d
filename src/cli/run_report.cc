#include "cli/run_report.h"

#include <algorithm>
#include <cmath>

#include "cli/interrupt.h"
#include "metactrl/schedule.h"
#include "serve/plan_json.h"
#include "serve/thinking.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

Json steps_json(const std::vector<PlanStep>& steps) {
  Json out = Json::array();
  for (const PlanStep& step : steps) out.push_back(to_string(step));
  return out;
}

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

double mean(const std::vector<Episode>& episodes, double (*value)(const Episode&)) {
  double sum = 0;
  for (const Episode& episode : episodes) sum += value(episode);
  return episodes.empty() ? 0 : sum / static_cast<double>(episodes.size());
}

bool succeeded(const Episode& episode) { return is_success(episode.report.end) && episode.goal_is_true.value_or(true); }

std::size_t count_successes(const std::vector<Episode>& episodes) {
  return static_cast<std::size_t>(std::count_if(episodes.begin(), episodes.end(), succeeded));
}

}  // namespace

Json to_json(const LoopEvent& event) {
  Json json;
  const auto belief = [&] {
    json["appeared"] = event.appeared;
    json["vanished"] = event.vanished;
    json["states"] = event.states;
    json["likeliest"] = event.likeliest;
    json["entropy_bits"] = event.entropy;
    json["pruned"] = event.pruned;
  };
  switch (event.kind) {
    case LoopEvent::Kind::kObserved:
      json["event"] = "observe";
      belief();
      break;
    case LoopEvent::Kind::kLooked:
      json["event"] = "look";
      json["object"] = event.object;
      json["expected_saving"] = event.expected_saving;
      belief();
      break;
    case LoopEvent::Kind::kPlanned:
      json["event"] = "plan";
      json["outcome"] = to_string(event.outcome);
      json["plan"] = steps_json(event.plan);
      json["guarantee"] = to_string(event.guarantee);
      json["reason"] = event.reason;
      json["states"] = event.states;
      json["holds_in"] = event.holds_in;
      json["covered"] = event.covered;
      json["model_calls"] = event.model_calls;
      json["because"] = event.because;
      json["replaced"] = event.replaced;
      json["rejected"] = event.rejected;
      if (event.thought) json["reasoning"] = Json(serve::reasoning_json(event.thought));
      break;
    case LoopEvent::Kind::kActed:
      json["event"] = "act";
      json["step"] = to_string(event.step);
      if (event.duration) {
        json["start"] = static_cast<double>(event.start) / static_cast<double>(kTimeUnit);
        json["duration"] = static_cast<double>(*event.duration) / static_cast<double>(kTimeUnit);
      }
      json["done"] = event.answered ? Json(event.done) : Json(nullptr);
      json["message"] = event.answered ? event.message : "outcome unknown: " + event.message;
      break;
  }
  json["seconds"] = event.seconds;
  return json;
}

Json to_json(const Episode& episode) {
  const LoopReport& report = episode.report;
  Json json{{"episode", episode.number},
            {"seed", episode.seed},
            {"end", to_string(report.end)},
            {"reason", report.reason},
            {"goal_reached", is_success(report.end)},
            {"goal_is_true", episode.goal_is_true ? Json(*episode.goal_is_true) : Json(nullptr)},
            {"goal_probability", report.goal_probability},
            {"plans", report.plans},
            {"replans", report.replans},
            {"actions", report.actions},
            {"failures", report.failures},
            {"retries", report.retries},
            {"surprises", report.surprises},
            {"looks", report.looks},
            {"observations", report.observations},
            {"checks", report.checks},
            {"invalid_plans", report.invalid_plans},
            {"model_calls", report.model_calls},
            {"pruned", report.pruned},
            {"seconds", report.seconds},
            {"faults", episode.faults}};
  if (episode.stages) {
    json["stages"] = {{"planning", episode.stages->planning},
                      {"perception", episode.stages->perception},
                      {"execution", episode.stages->execution}};
  }
  if (!report.preferences.empty()) json["preferences"] = serve::preferences_json(report.preferences);
  json["events"] = Json::array();
  for (const LoopEvent& event : report.events) json["events"].push_back(to_json(event));
  json["belief"] = Json::array();
  for (const BelievedState& state : report.belief) {
    json["belief"].push_back({{"probability", state.probability}, {"facts", state.facts}});
  }
  return json;
}

Json summary_json(const std::vector<Episode>& episodes) {
  std::map<std::string, std::size_t> ends;
  for (const Episode& episode : episodes) ++ends[to_string(episode.report.end)];
  const std::size_t successes = count_successes(episodes);
  return {
      {"episodes", episodes.size()},
      {"successes", successes},
      {"success_rate", episodes.empty() ? 0 : static_cast<double>(successes) / static_cast<double>(episodes.size())},
      {"ends", ends},
      {"mean_actions", mean(episodes, [](const Episode& e) { return static_cast<double>(e.report.actions); })},
      {"mean_replans", mean(episodes, [](const Episode& e) { return static_cast<double>(e.report.replans); })},
      {"mean_looks", mean(episodes, [](const Episode& e) { return static_cast<double>(e.report.looks); })},
      {"mean_invalid_plans",
       mean(episodes, [](const Episode& e) { return static_cast<double>(e.report.invalid_plans); })},
      {"mean_seconds", mean(episodes, [](const Episode& e) { return e.report.seconds; })}};
}

std::string closing_line(const Episode& episode) {
  const LoopReport& report = episode.report;
  std::string line =
      str_cat(to_string(report.end), ": ", report.reason, "; ", count_text(report.actions, "action", "actions"), ", ",
              count_text(report.replans, "re-plan", "re-plans"));
  if (!report.preferences.empty()) {
    const auto holds = [](const Validation::Preference& one) { return one.satisfied; };
    const auto held = std::count_if(report.preferences.begin(), report.preferences.end(), holds);
    line += str_cat(", ", held, " of ", report.preferences.size(), " preferences hold");
  }
  if (report.looks > 0) line += ", " + count_text(report.looks, "look", "looks");
  if (report.invalid_plans > 0) line += ", " + count_text(report.invalid_plans, "invalid plan", "invalid plans");
  if (is_success(report.end) && episode.goal_is_true == false) line += "; in truth the goal does not hold";
  if (!is_success(report.end) && episode.goal_is_true == true) line += "; in truth the goal holds";
  return line + "; " + number_text(rounded(report.seconds, 0.001)) + " s";
}

std::string summary_line(const std::vector<Episode>& episodes) {
  const std::size_t successes = count_successes(episodes);
  std::map<std::string, std::size_t> ends;
  for (const Episode& episode : episodes) ++ends[to_string(episode.report.end)];
  std::string line = str_cat(
      count_text(episodes.size(), "episode", "episodes"), ": goal reached in ", successes, " (",
      number_text(rounded(100.0 * static_cast<double>(successes) / static_cast<double>(episodes.size()), 0.1)), " %)");
  for (const auto& [end, count] : ends) line += str_cat(", ", count, " ", end);
  const auto average = [&](double (*value)(const Episode&)) {
    return number_text(rounded(mean(episodes, value), 0.01));
  };
  return line + str_cat("; per episode ",
                        average([](const Episode& e) { return static_cast<double>(e.report.actions); }), " actions, ",
                        average([](const Episode& e) { return static_cast<double>(e.report.replans); }), " re-plans");
}

int exit_code(LoopEnd end, int signal) {
  switch (end) {
    case LoopEnd::kGoalObserved:
    case LoopEnd::kGoalBelieved:
      return kDone;
    case LoopEnd::kNoPlan:
      return kInfeasible;
    case LoopEnd::kUndecided:
      return kUndecided;
    case LoopEnd::kOutOfReplans:
    case LoopEnd::kOutOfActions:
      return kNotReached;
    case LoopEnd::kOutOfTime:
      return kOutOfTime;
    case LoopEnd::kWorldFailed:
      return kWorldFailed;
    case LoopEnd::kModelFailed:
      return kOutOfMemory;
    case LoopEnd::kInterrupted:
      return signal == 0 ? kInterrupted : 128 + signal;
  }
  return kInternal;
}

}  // namespace metactrl::cli
