// Arbitrary bytes as the file of a hidden Markov model: as they are, and with the checksum that belongs to them. What is
// accepted says something finite of every symbol, and is written and read as the same.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memory_file.h"
#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "support/files.h"
#include "support/hash.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_alphabet(const metactrl::Alphabet& alphabet) {
  for (std::size_t i = 0; i < alphabet.names.size(); ++i) {
    const metactrl::SymbolId symbol{static_cast<std::uint32_t>(i)};
    require(static_cast<std::size_t>(alphabet.translate(alphabet, symbol)) < alphabet.size);
  }
  require(!alphabet.text(alphabet.end).empty());
}

void read(const std::vector<std::uint8_t>& bytes) {
  const MemoryFile file(bytes.data(), bytes.size());
  try {
    const metactrl::Hmm hmm = metactrl::Hmm::load(file.path());
    check_alphabet(hmm.alphabet());
    const metactrl::SymbolId end[] = {hmm.alphabet().end};
    require(!std::isnan(hmm.log_likelihood(end)));
    const MemoryName copy;
    hmm.save(copy.path());
    const metactrl::Hmm again = metactrl::Hmm::load(copy.path());
    require(again.alphabet() == hmm.alphabet() && again.made_by() == hmm.made_by() && again.step() == hmm.step());
    require(std::ranges::equal(again.initial(), hmm.initial()));
    require(std::ranges::equal(again.transition(), hmm.transition()));
    require(std::ranges::equal(again.emission(), hmm.emission()));
  } catch (const metactrl::InputError& error) {
    require(error.diagnostics().has_errors());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  read(bytes);
  if (size < sizeof(std::uint64_t)) return 0;
  const std::size_t covered = size - sizeof(std::uint64_t);
  const std::uint64_t hash = metactrl::internal::hash_bytes({reinterpret_cast<const char*>(data), covered});
  std::memcpy(bytes.data() + covered, &hash, sizeof(hash));
  if (!std::equal(bytes.begin(), bytes.end(), data)) read(bytes);
  return 0;
}
