// Prompts of a corpus that are made from a benchmark's: `metactrl sample --module vh-as --prompts as_prompts.json`.
#ifndef METACTRL_SRC_EVALUATION_SAMPLE_SOURCE_H_
#define METACTRL_SRC_EVALUATION_SAMPLE_SOURCE_H_

#include <memory>

#include "cli/sample_prompts.h"

namespace metactrl::evaluation {

// From a benchmark's prompts, or from the tasks of Watch-And-Help, for which the prompts are written here; families are
// then those of the tasks.
std::unique_ptr<cli::SampleSource> benchmark_source();

}  // namespace metactrl::evaluation

#endif  // METACTRL_SRC_EVALUATION_SAMPLE_SOURCE_H_
