// The commands of the program metactrl-benchmarks that metactrl does not have: benchmarks answered, judged, reproduced,
// imported, and their prompts for `metactrl sample`.
#ifndef METACTRL_SRC_EVALUATION_COMMANDS_H_
#define METACTRL_SRC_EVALUATION_COMMANDS_H_

#include <memory>

#include "cli/additions.h"
#include "cli/common.h"
#include "cli/sample_prompts.h"

namespace metactrl::evaluation {

cli::Command add_eval(CLI::App& parent);
cli::Command add_score(CLI::App& parent);
cli::Command add_reproduce(CLI::App& parent);
cli::Command add_import(CLI::App& parent);

// `inspect` that takes a benchmark's prompts, too (`metactrl inspect --module vh-as --prompts as_prompts.json`): how large
// the two levels are beside one, over all of them.
cli::Command inspect_with_modules(cli::Command inspect);

// Prompts of a corpus that are made from a benchmark's (`metactrl sample --module vh-as --prompts as_prompts.json`), or
// from the tasks of Watch-And-Help, for which the prompts are written here; families are then those of the tasks.
std::unique_ptr<cli::SampleSource> benchmark_source();

// All of it, for cli::run.
cli::Additions additions();

}  // namespace metactrl::evaluation

#endif  // METACTRL_SRC_EVALUATION_COMMANDS_H_
