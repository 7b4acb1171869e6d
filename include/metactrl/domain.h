// Loading tasks: a PDDL domain and problem. Other files: metactrl/exchange/sas.h.
//
// What PDDL is understood, what is warned about and what is refused: docs/pddl-support.md.
#ifndef METACTRL_DOMAIN_H_
#define METACTRL_DOMAIN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "metactrl/error.h"
#include "metactrl/task.h"

namespace metactrl {

// A task that passes one of the limits below.
class TaskTooLarge : public InputError {
 public:
  using InputError::InputError;
};

struct LoadOptions {
  // Refuse (TaskTooLarge) a task that would ground to more than this many actions or facts.
  std::size_t max_ground_actions = 5'000'000;
  std::size_t max_ground_facts = 20'000'000;
  // Stop (Stopped) when about so much was done, in pieces: a binding that is tried, a part of a formula that is built. A
  // piece takes about a microsecond and a few hundred bytes at most. 0: no limit.
  std::uint64_t max_work = 0;
  // Where warnings go; may be null.
  Diagnostics* diagnostics = nullptr;
  // Asked every few milliseconds; true ends the loading with Stopped.
  Stop stop{};
};

// Throws InputError with every mistake found in either file. Cost: linear in the text, then proportional to the number
// of ground actions that relaxed reachability cannot exclude.
Task load_pddl(const std::string& domain_file, const std::string& problem_file, const LoadOptions& options = {});
Task load_pddl_text(std::string_view domain, std::string_view problem, const LoadOptions& options = {});

}  // namespace metactrl

#endif  // METACTRL_DOMAIN_H_
