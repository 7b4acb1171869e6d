// The paper's table "Why two levels", measured on the prompts of a benchmark with the token automaton of a vocabulary.
//
//     TwoLevelsTable table = two_levels(module, prompts, vocabulary, options);
//     print(two_levels_markdown({table}));
//
// Cost: that of compiling a constraint for each prompt. Thread safety: pure.
#ifndef METACTRL_SRC_BENCHMARKS_TWO_LEVELS_H_
#define METACTRL_SRC_BENCHMARKS_TWO_LEVELS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/module.h"
#include "decode/level_sizes.h"
#include "jobs/journal.h"
#include "metactrl/planner.h"

namespace metactrl::benchmarks {

struct TwoLevelsOptions {
  Rules rules = Rules::kEnvironment;
  Budget budget{200'000, std::size_t{1} << 30, 20'000'000'000};  // for enumerating a prompt's states
  unsigned horizon = 40;
  unsigned hidden = 128;
  Stop stop;
};

struct TwoLevelsTable {
  std::string module;
  std::size_t prompts = 0;
  std::size_t uncounted = 0;  // prompts with more states than the budget allows; their numbers are lower bounds
  // Medians over prompts, each for itself.
  decode::LevelSizes sizes;
  decode::LevelCosts costs;
  double seconds = 0;           // to compile the constraint
  double constraint_bytes = 0;  // that it holds: the automaton, the states and their weights
};

// Prompts that cannot be read are left out. For modules with prompts.
TwoLevelsTable two_levels(const Module& module, const std::vector<PromptEntry>& prompts,
                          const std::shared_ptr<const Vocabulary>& vocabulary, const TwoLevelsOptions& options);

// With the paper's numbers for a median task of VirtualHome.
std::string two_levels_markdown(const std::vector<TwoLevelsTable>& tables);
jobs::Json two_levels_json(const std::vector<TwoLevelsTable>& tables);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_TWO_LEVELS_H_
