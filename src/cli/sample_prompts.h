// Where the prompts of a corpus come from: tasks that are like the ones given, and none of them.
//
//     SamplePrompts prompts(...);
//     SamplePrompt prompt = prompts.make(17);     // the eighteenth
//
// Prompt j is drawn from source j modulo the number of sources by a seed of its own, so there are as many as are asked
// for and each can be made again.
#ifndef METACTRL_SRC_CLI_SAMPLE_PROMPTS_H_
#define METACTRL_SRC_CLI_SAMPLE_PROMPTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"
#include "benchmarks/question.h"
#include "benchmarks/substitute.h"
#include "metactrl/format.h"
#include "metactrl/language_model.h"
#include "metactrl/task.h"
#include "pddl/resample.h"

namespace metactrl::cli {

struct SamplePrompt {
  Task task;
  std::uint32_t family = 0;
  // Nothing: metactrl writes one.
  std::optional<Prompt> prompt;
};

class SamplePrompts {
 public:
  virtual ~SamplePrompts() = default;
  // Throws InputError when no source has another task like it.
  virtual SamplePrompt make(std::uint64_t number) const = 0;
  virtual PlanFormat format() const = 0;
};

// From PDDL problems of one domain; each file is a family.
std::unique_ptr<SamplePrompts> pddl_prompts(const std::string& domain_file,
                                            const std::vector<std::string>& problem_files, const std::string& format,
                                            std::uint64_t seed);
// From a benchmark's prompts; the model reads them as `options` say (style and the system's part).
std::unique_ptr<SamplePrompts> benchmark_prompts(const benchmarks::Module& module,
                                                 const std::vector<benchmarks::PromptEntry>& prompts,
                                                 const benchmarks::EvaluateOptions& options, std::uint64_t seed);
// From the tasks of Watch-And-Help, for which the prompts are written here; families are those of the tasks.
std::unique_ptr<SamplePrompts> help_prompts(const benchmarks::Module& module, const benchmarks::TaskSource& source,
                                            std::uint64_t seed);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_SAMPLE_PROMPTS_H_
