// Arbitrary bytes as a journal: it is read up to its last whole line, or refused as damaged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "jobs/journal.h"
#include "memory_file.h"
#include "metactrl/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    const auto content = metactrl::jobs::read_journal(file.path());
    if (!content) return 0;
    if (content->bytes > size || (content->bytes > 0 && data[content->bytes - 1] != '\n')) std::abort();
    for (const auto& line : content->lines) metactrl::jobs::dump(line, -1);
    metactrl::jobs::settings_difference(content->settings,
                                        content->lines.empty() ? content->settings : content->lines[0]);
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
