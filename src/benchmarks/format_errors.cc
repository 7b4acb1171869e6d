#include "benchmarks/format_errors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace metactrl::benchmarks {

// A parameter error comes with the name of a hallucination in one of the evaluators, so it is looked for first.
FormatError format_error(const TaskScore& task) {
  using Name = std::pair<std::string_view, FormatError>;
  constexpr std::array<Name, 7> kNames = {{{"predicate_argument_number", FormatError::kParameter},
                                           {"arguments", FormatError::kParameter},
                                           {"parsing", FormatError::kParsing},
                                           {"NotParseable", FormatError::kParsing},
                                           {"hallucination", FormatError::kHallucination},
                                           {"hullucination", FormatError::kHallucination},
                                           {"Hallucination", FormatError::kHallucination}}};
  for (const auto& [name, error] : kNames) {
    if (task.errors.contains(std::string(name))) return error;
  }
  return FormatError::kNone;
}

FormatErrors count_format_errors(const Score& score, const std::set<std::string>& well_formed) {
  FormatErrors out;
  for (const TaskScore& task : score.tasks) {
    const FormatError error = format_error(task);
    if (!task.scored || error == FormatError::kNone) continue;
    FormatErrors::Count& count = error == FormatError::kParsing         ? out.parsing
                                 : error == FormatError::kHallucination ? out.hallucination
                                                                        : out.parameter;
    ++count.total;
    if (well_formed.contains(task.identifier)) ++count.benchmark_side;
  }
  return out;
}

}  // namespace metactrl::benchmarks
