// Counters of the service, in Prometheus' text format.
//
//     metrics.count_request("/v1/plans", 200, 0.12);
//     std::string page = metrics.text();
//
// All functions may be called from many threads. Labels are routes, statuses and outcomes, never anything a client
// wrote, so the page does not grow.
#ifndef METACTRL_SRC_SERVE_METRICS_H_
#define METACTRL_SRC_SERVE_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/planner.h"

namespace metactrl::serve {

class Metrics {
 public:
  void count_request(const std::string& route, int status, double seconds);
  void count_plan(const PlanResult& result);
  void count_tokens(std::size_t prompt, std::size_t generated, std::size_t forced, std::size_t model_calls);
  void count_cancelled();

  // A number that is read when the page is asked for.
  struct Gauge {
    const char* name;
    const char* help;
    const char* type;  // "gauge" or "counter"
    double value;
  };
  std::string text(const std::vector<Gauge>& gauges) const;

 private:
  static constexpr std::array<double, 11> kBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60};
  static constexpr std::array<double, 9> kLengths = {1, 2, 5, 10, 20, 50, 100, 200, 500};
  template <std::size_t kSize>
  struct Histogram {
    std::array<std::uint64_t, kSize> buckets{};
    std::uint64_t count = 0;
    double sum = 0;

    void add(double value, const std::array<double, kSize>& bounds) {
      for (std::size_t i = 0; i < kSize; ++i) buckets[i] += value <= bounds[i] ? 1 : 0;
      ++count;
      sum += value;
    }
  };
  using Duration = Histogram<kBuckets.size()>;

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Duration> durations_;
  std::map<std::string, Duration> phases_;                              // of plans: compile, prompt, decode, check
  Histogram<kLengths.size()> actions_;                                  // of plans
  std::map<std::pair<std::string, std::string>, std::uint64_t> plans_;  // outcome, guarantee
  std::uint64_t prompt_tokens_ = 0;
  std::uint64_t forced_tokens_ = 0;
  std::uint64_t chosen_tokens_ = 0;
  std::uint64_t model_calls_ = 0;
  std::uint64_t cancelled_ = 0;
};

// Memory that this process has in use, in bytes; 0 where the system does not say.
double resident_bytes();

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_METRICS_H_
