// Arbitrary bytes as a corpus. What is accepted has no symbol outside of its alphabets.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "memory_file.h"
#include "metactrl/error.h"
#include "metactrl/training/corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    const metactrl::Corpus corpus = metactrl::Corpus::load(file.path());
    if (corpus.bytes_cut_off > size) std::abort();
    for (const metactrl::CorpusRecord& record : corpus.records) {
      for (const metactrl::SymbolId symbol : record.symbols) {
        if (static_cast<std::size_t>(symbol) >= corpus.header.meta.size) std::abort();
      }
      for (const metactrl::SymbolId token : record.tokens) {
        if (static_cast<std::size_t>(token) >= corpus.header.tokens.size) std::abort();
      }
    }
    metactrl::held_out(corpus, 2);
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
