// Preferences, for the commands that judge plans by them.
#ifndef METACTRL_SRC_CLI_PREFERENCES_H_
#define METACTRL_SRC_CLI_PREFERENCES_H_

#include <span>
#include <string>

#include "metactrl/task.h"

namespace metactrl::cli {

// "metric 7, which no plan betters", "metric 7, of at least 4"
std::string metric_text(double value, double lower_bound);

// Is there no smaller value, as far as sums of decimal numbers can tell?
bool is_least(double value, double lower_bound);

// "; violated  p1, weight 4: (at truck depot)" for each, with a comment sign or another beginning.
std::string preference_lines(std::span<const Validation::Preference> preferences, const std::string& beginning);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PREFERENCES_H_
