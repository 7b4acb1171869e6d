// Answers that the evaluator does not even execute, in the three classes of the paper's appendix.
//
//     FormatErrors errors = count_format_errors(score, well_formed);
//     errors.parsing.total; errors.parsing.benchmark_side;
//
// Each benchmark has names of its own for them. An answer that was well formed by construction, under the grammar and
// with the objects that the prompt states, and is rejected all the same is the benchmark's own error
// ("benchmark-side"): a goal that the evaluator cannot read, an object that it renames.
#ifndef METACTRL_SRC_BENCHMARKS_FORMAT_ERRORS_H_
#define METACTRL_SRC_BENCHMARKS_FORMAT_ERRORS_H_

#include <cstddef>
#include <set>
#include <string>

#include "benchmarks/score.h"
#include "support/enum_names.h"

namespace metactrl::benchmarks {

enum class FormatError { kNone, kParsing, kHallucination, kParameter };
constexpr auto enum_names(FormatError) {
  return internal::names<FormatError>({{FormatError::kNone, ""},
                                       {FormatError::kParsing, "parsing"},
                                       {FormatError::kHallucination, "hallucination"},
                                       {FormatError::kParameter, "parameter"}});
}
inline const char* to_string(FormatError value) { return internal::name_of(value); }

FormatError format_error(const TaskScore& task);

struct FormatErrors {
  struct Count {
    std::size_t total = 0;           // scored tasks
    std::size_t benchmark_side = 0;  // of them
  };
  Count parsing;
  Count hallucination;
  Count parameter;
};

// `well_formed` holds the identifiers of answers that were made under a constraint.
FormatErrors count_format_errors(const Score& score, const std::set<std::string>& well_formed);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_FORMAT_ERRORS_H_
