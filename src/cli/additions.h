// What a program has beyond the commands that plan.
//
// `metactrl` has nothing; `metactrl-benchmarks` (src/evaluation) has the commands that answer and judge benchmarks, and
// their prompts for `sample`.
#ifndef METACTRL_SRC_CLI_ADDITIONS_H_
#define METACTRL_SRC_CLI_ADDITIONS_H_

#include <functional>
#include <memory>
#include <vector>

#include "cli/common.h"
#include "cli/sample_prompts.h"

namespace metactrl::cli {

struct Additions {
  // Behind the others, in this order.
  std::vector<std::function<Command(CLI::App&)>> commands;
  // What `sample` takes instead of PDDL files; null: nothing.
  std::unique_ptr<SampleSource> sample_source;
  // `inspect`, made to take more than PDDL files; null: as it is.
  std::function<Command(Command)> inspect{};
};

// Declares the commands of a program: all that plan, then the additions.
std::vector<Command> add_commands(CLI::App& app, Additions additions);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_ADDITIONS_H_
