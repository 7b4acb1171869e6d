// Arbitrary bytes as files of benchmarks: the first byte says which, the rest is the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "benchmarks/files.h"
#include "benchmarks/virtualhome/task_file.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "memory_file.h"
#include "metactrl/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace metactrl::benchmarks;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const MemoryFile file(data + 1, size - 1);
  try {
    switch (data[0] % 6) {
      case 0:
        watch_and_help::read_tasks(file.path(), "/nonexistent");
        break;
      case 1:
        virtualhome::read_action_tasks(file.path());
        break;
      case 2:
        virtualhome::read_subgoal_tasks(file.path());
        break;
      case 3:
        read_prompts(file.path());
        break;
      case 4:
        read_system_prompt(file.path());
        break;
      default:
        read_responses(file.path());
    }
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
