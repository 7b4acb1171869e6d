// The normaliser of a row of logits, and its largest entry.
#ifndef METACTRL_SRC_LM_LOG_SOFTMAX_H_
#define METACTRL_SRC_LM_LOG_SOFTMAX_H_

#include <cstddef>
#include <span>

namespace metactrl::lm {

// log(sum(exp(logits))), to about 1e-6; subtract it from a logit for a log-probability. Entries that are not a number
// or minus infinity do not count; minus infinity when none counts, plus infinity when one entry is. A quarter of a
// millisecond for 128K entries.
double log_sum_exp(std::span<const float> logits);

// The first of the largest. Entries that are not a number do not count; minus infinity and 0 when nothing is above that.
struct Largest {
  float value;
  std::size_t index;
};
Largest largest(std::span<const float> logits);

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LOG_SOFTMAX_H_
