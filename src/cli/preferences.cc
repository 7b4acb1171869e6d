#include "cli/preferences.h"

#include <algorithm>
#include <cmath>

#include "cli/common.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

bool is_least(double value, double lower_bound) {
  constexpr double kRounding = 1e-9;
  return value <= lower_bound + kRounding * std::max(1.0, std::abs(value));
}

std::string metric_text(double value, double lower_bound) {
  const std::string text = "metric " + number_text(value);
  return is_least(value, lower_bound) ? text + ", which no plan betters"
                                      : str_cat(text, ", of at least ", number_text(lower_bound));
}

std::string preference_lines(std::span<const Validation::Preference> preferences, const std::string& beginning) {
  std::string text;
  for (const Validation::Preference& one : preferences) {
    text += str_cat(beginning, one.satisfied ? "satisfied " : "violated  ", one.name.empty() ? "unnamed" : one.name,
                    ", weight ", number_text(one.weight), ": ", one.text, "\n");
  }
  return text;
}

}  // namespace metactrl::cli
