// Choices that an evaluator leaves to chance. Walks through all of their outcomes, the last choice fastest:
//
//     Choices choices;
//     do {
//       ... choices.pick(2) ... choices.pick(3) ...
//     } while (choices.next());
#ifndef METACTRL_SRC_BENCHMARKS_CHOICES_H_
#define METACTRL_SRC_BENCHMARKS_CHOICES_H_

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace metactrl::benchmarks {

class Choices {
 public:
  // One of 0..n-1; n > 0.
  std::size_t pick(std::size_t n) {
    if (used_ == picks_.size()) picks_.emplace_back(0, n);
    return picks_[used_++].first;
  }

  // To the next outcome; false when all were seen.
  bool next() {
    used_ = 0;
    while (!picks_.empty() && picks_.back().first + 1 == picks_.back().second) picks_.pop_back();
    if (!picks_.empty()) ++picks_.back().first;
    return !picks_.empty();
  }

  // How likely the present outcome is.
  double probability() const {
    double result = 1;
    for (const auto& [picked, n] : picks_) result /= static_cast<double>(n);
    return result;
  }
  double log_probability() const {
    double result = 0;
    for (const auto& [picked, n] : picks_) result -= std::log(static_cast<double>(n));
    return result;
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> picks_;  // picked, of how many
  std::size_t used_ = 0;
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_CHOICES_H_
