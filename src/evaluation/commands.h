// The commands of the program metactrl-benchmarks that metactrl does not have: benchmarks answered, judged, reproduced,
// imported, and their prompts for `metactrl sample`.
#ifndef METACTRL_SRC_EVALUATION_COMMANDS_H_
#define METACTRL_SRC_EVALUATION_COMMANDS_H_

#include "cli/additions.h"
#include "cli/common.h"

namespace metactrl::evaluation {

cli::Command add_eval(CLI::App& parent);
cli::Command add_score(CLI::App& parent);
cli::Command add_reproduce(CLI::App& parent);
cli::Command add_import(CLI::App& parent);

// All of it, for cli::run.
cli::Additions additions();

}  // namespace metactrl::evaluation

#endif  // METACTRL_SRC_EVALUATION_COMMANDS_H_
