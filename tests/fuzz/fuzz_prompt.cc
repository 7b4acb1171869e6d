// Arbitrary bytes as a prompt of a benchmark: the first byte says of which module, the second whose rules, the rest is the
// prompt. What a reader accepts is a problem for the module's domain.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/module.h"
#include "metactrl/error.h"
#include "pddl/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace metactrl::benchmarks;  // NOLINT(google-build-using-namespace)
  static const std::vector<const Module*> readers = [] {
    std::vector<const Module*> found;
    for (const Module& module : modules()) {
      if (module.read != nullptr) found.push_back(&module);
    }
    return found;
  }();
  if (size < 2) return 0;
  const Module& module = *readers[data[0] % readers.size()];
  const Rules rules = data[1] % 2 == 0 ? Rules::kEnvironment : Rules::kPaper;
  const std::string prompt(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    const PromptTask task = module.read(prompt, rules);
    if (task.init_end > task.goal_end || task.goal_end > task.problem.size()) std::abort();
    metactrl::Diagnostics diagnostics;
    const std::string problem = task.problem_assuming(task.assumptions.size());
    metactrl::pddl::parse({"domain", domain_text(module, rules)}, {"problem", problem}, diagnostics);
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
