// Arbitrary bytes as a catalogue of models.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/model_catalogue.h"
#include "memory_file.h"
#include "metactrl/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  ::setenv("METACTRL_CATALOGUE", file.path().c_str(), 1);
  try {
    for (const metactrl::cli::CatalogueModel& model : metactrl::cli::catalogue()) {
      if (model.name.empty() || model.parts.empty() || model.sha256.size() != 64) std::abort();
    }
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
