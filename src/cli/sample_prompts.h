// Where the prompts of a corpus come from: tasks that are like the ones given, and none of them.
//
//     std::unique_ptr<SampleSource> source = pddl_source();
//     source->add_options(app);
//     ...                                                        // the command line is read
//     std::unique_ptr<SamplePrompts> prompts = source->open(seed);
//     SamplePrompt prompt = prompts->make(17);                   // the eighteenth
//
// Prompt j is drawn from task j modulo the number of tasks by a seed of its own, so there are as many as are asked for
// and each can be made again.
#ifndef METACTRL_SRC_CLI_SAMPLE_PROMPTS_H_
#define METACTRL_SRC_CLI_SAMPLE_PROMPTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/common.h"
#include "metactrl/format.h"
#include "metactrl/language_model.h"
#include "metactrl/task.h"

namespace metactrl::cli {

struct SamplePrompt {
  Task task;
  std::uint32_t family = 0;
  // Nothing: metactrl writes one.
  std::optional<Prompt> prompt{};
  // With which texts are read, where that is another one: it has the same objects, and actions that no state of the task
  // allows. Slots of objects are those of the task.
  std::optional<Task> reading{};
};

class SamplePrompts {
 public:
  virtual ~SamplePrompts() = default;
  // Throws InputError when no source has another task like it.
  virtual SamplePrompt make(std::uint64_t number) const = 0;
  virtual PlanFormat format() const = 0;
};

// A kind of files that prompts are made from, with its options of `metactrl sample`. Calls come in this order.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual void add_options(CLI::App& app) = 0;
  // Whether the command line names files of this kind.
  virtual bool named() const = 0;
  // An option that was given and makes sense with files of this kind alone, like "--prompt belongs to --module"; empty
  // when none was. Only asked of a source that is not named.
  virtual std::string stray() const { return {}; }
  // Throws UsageError when options are missing or do not belong together.
  virtual void check() const = 0;
  virtual std::unique_ptr<SamplePrompts> open(std::uint64_t seed) = 0;
  // Adds everything that the prompts depend on but for the seed. A corpus keeps it as text and is gone on with only where
  // it is the same, so the order of the keys matters.
  virtual void add_settings(Json& settings) const = 0;
};

// PDDL problems of one domain; each file is a family.
std::unique_ptr<SampleSource> pddl_source();

// A draw that gives nothing is followed by others.
constexpr std::uint64_t kSampleAttempts = 64;
std::uint64_t sample_seed(std::uint64_t seed, std::uint64_t number, std::uint64_t attempt);
// A file in add_settings, by content: in which folder it lies is of no matter.
std::string sample_file_digest(const std::string& file);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_SAMPLE_PROMPTS_H_
