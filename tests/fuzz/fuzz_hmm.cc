// Arbitrary bytes as the file of a hidden Markov model. What is accepted says something finite of every symbol.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "memory_file.h"
#include "metactrl/error.h"
#include "metactrl/hmm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    const metactrl::Hmm hmm = metactrl::Hmm::load(file.path());
    const metactrl::SymbolId end[] = {hmm.alphabet().end};
    if (std::isnan(hmm.log_likelihood(end)) || hmm.alphabet().text(end[0]).empty()) std::abort();
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
