#include "serve/metrics.h"

#include <unistd.h>

#include <fstream>

#include "support/str_cat.h"

namespace metactrl::serve {

using internal::str_cat;

void Metrics::count_request(const std::string& route, int status, double seconds) {
  const std::scoped_lock lock(mutex_);
  ++requests_[{route, status}];
  durations_[route].add(seconds, kBuckets);
}

void Metrics::count_plan(const PlanResult& result) {
  {
    const std::scoped_lock lock(mutex_);
    ++plans_[{to_string(result.outcome), to_string(result.guarantee)}];
    const PlanResult::Times& times = result.times;
    phases_["compile"].add(times.format + times.automaton + times.lookahead, kBuckets);
    phases_["prompt"].add(times.prompt, kBuckets);
    phases_["decode"].add(times.decode, kBuckets);
    phases_["check"].add(times.check, kBuckets);
    if (result.outcome == PlanOutcome::kPlan) actions_.add(static_cast<double>(result.steps.size()), kLengths);
  }
  count_tokens(result.prompt_tokens, result.tokens.size(), result.forced_tokens, result.model_calls);
}

void Metrics::count_tokens(std::size_t prompt, std::size_t generated, std::size_t forced, std::size_t model_calls) {
  const std::scoped_lock lock(mutex_);
  prompt_tokens_ += prompt;
  forced_tokens_ += forced;
  chosen_tokens_ += generated - forced;
  model_calls_ += model_calls;
}

void Metrics::count_cancelled() {
  const std::scoped_lock lock(mutex_);
  ++cancelled_;
}

std::string Metrics::text(const std::vector<Gauge>& gauges) const {
  std::string out;
  const auto declare = [&out](const char* name, const char* type, const char* help) {
    out += str_cat("# HELP ", name, ' ', help, "\n# TYPE ", name, ' ', type, '\n');
  };
  const auto write = [&out](const char* name, const std::string& label, const auto& histogram, const auto& bounds) {
    const std::string more = label.empty() ? "" : label + ",";
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      out += str_cat(name, "_bucket{", more, "le=\"", bounds[i], "\"} ", histogram.buckets[i], '\n');
    }
    out += str_cat(name, "_bucket{", more, "le=\"+Inf\"} ", histogram.count, '\n');
    const std::string braces = label.empty() ? "" : "{" + label + "}";
    out += str_cat(name, "_sum", braces, ' ', histogram.sum, '\n');
    out += str_cat(name, "_count", braces, ' ', histogram.count, '\n');
  };
  const std::scoped_lock lock(mutex_);
  declare("metactrl_requests_total", "counter", "Requests answered.");
  for (const auto& [key, count] : requests_) {
    out += str_cat("metactrl_requests_total{route=\"", key.first, "\",status=\"", key.second, "\"} ", count, '\n');
  }
  declare("metactrl_request_seconds", "histogram", "Time from a request's last byte to its response's last byte.");
  for (const auto& [route, duration] : durations_) {
    write("metactrl_request_seconds", str_cat("route=\"", route, '"'), duration, kBuckets);
  }
  declare("metactrl_plan_seconds", "histogram", "Time of a plan's phases.");
  for (const auto& [phase, duration] : phases_) {
    write("metactrl_plan_seconds", str_cat("phase=\"", phase, '"'), duration, kBuckets);
  }
  declare("metactrl_plan_actions", "histogram", "Actions of the plans made.");
  write("metactrl_plan_actions", "", actions_, kLengths);
  declare("metactrl_plans_total", "counter", "Plans made, by outcome and guarantee.");
  for (const auto& [key, count] : plans_) {
    out += str_cat("metactrl_plans_total{outcome=\"", key.first, "\",guarantee=\"", key.second, "\"} ", count, '\n');
  }
  declare("metactrl_tokens_total", "counter", "Tokens, by where they came from.");
  out += str_cat("metactrl_tokens_total{kind=\"prompt\"} ", prompt_tokens_, '\n');
  out += str_cat("metactrl_tokens_total{kind=\"forced\"} ", forced_tokens_, '\n');
  out += str_cat("metactrl_tokens_total{kind=\"chosen\"} ", chosen_tokens_, '\n');
  declare("metactrl_model_calls_total", "counter", "Times a request asked its model something.");
  out += str_cat("metactrl_model_calls_total ", model_calls_, '\n');
  declare("metactrl_cancelled_total", "counter", "Requests whose client went away before the end.");
  out += str_cat("metactrl_cancelled_total ", cancelled_, '\n');
  for (const Gauge& gauge : gauges) {
    declare(gauge.name, gauge.type, gauge.help);
    out += str_cat(gauge.name, ' ', gauge.value, '\n');
  }
  return out;
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace metactrl::serve
