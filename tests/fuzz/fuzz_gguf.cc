// Arbitrary bytes as the header of a GGUF file, as far as it is read before a model is loaded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "lm/model_facts.h"
#include "memory_file.h"
#include "metactrl/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    metactrl::lm::read_model_facts(file.path());
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
