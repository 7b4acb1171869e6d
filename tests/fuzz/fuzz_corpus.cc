// Arbitrary bytes as a corpus: as they are, and with the checksums that belong to them. What is accepted has no symbol
// outside of its alphabets, can be gone on with, and is written and read as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "memory_file.h"
#include "metactrl/error.h"
#include "metactrl/training/corpus.h"
#include "support/hash.h"

namespace {

using metactrl::Corpus;
using metactrl::CorpusLevel;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_content(const Corpus& corpus) {
  for (const metactrl::CorpusRecord& record : corpus.records) {
    for (const metactrl::SymbolId symbol : record.symbols) {
      require(static_cast<std::size_t>(symbol) < corpus.header.meta.size);
    }
    for (const metactrl::SymbolId token : record.tokens) {
      require(static_cast<std::size_t>(token) < corpus.header.tokens.size);
    }
  }
  for (const CorpusLevel level : {CorpusLevel::kMeta, CorpusLevel::kToken}) {
    const metactrl::Alphabet& alphabet = corpus.alphabet(level);
    for (std::size_t i = 0; i < alphabet.names.size(); ++i) {
      const metactrl::SymbolId symbol{static_cast<std::uint32_t>(i)};
      require(static_cast<std::size_t>(alphabet.translate(alphabet, symbol)) < alphabet.size);
    }
    require(corpus.sequences(level).size() <= corpus.records.size() && *to_string(level) != '\0');
  }
  require(metactrl::held_out(corpus, 2).size() == corpus.records.size());
}

void write(const std::string& path, const Corpus& corpus, bool resume) {
  metactrl::CorpusWriter writer(path, corpus.header, resume);
  require(writer.earlier() == (resume ? corpus.records : std::vector<metactrl::CorpusRecord>()));
  for (const metactrl::CorpusRecord& record : corpus.records) writer.add(record);
}

// What must be refused.
void expect_refusal(const std::string& path, const metactrl::CorpusHeader& header, bool resume) {
  try {
    const metactrl::CorpusWriter writer(path, header, resume);
  } catch (const metactrl::InputError&) {
    return;
  }
  std::abort();
}

void read(const std::vector<std::uint8_t>& bytes) {
  const MemoryFile file(bytes.data(), bytes.size());
  try {
    const Corpus corpus = Corpus::load(file.path());
    require(corpus.bytes_cut_off <= bytes.size());
    check_content(corpus);
    const MemoryName copy;
    write(copy.path(), corpus, false);
    const Corpus again = Corpus::load(copy.path());
    require(again.header == corpus.header && again.records == corpus.records && again.bytes_cut_off == 0);
    expect_refusal(copy.path(), corpus.header, false);
    metactrl::CorpusHeader other = corpus.header;
    other.made_by += " otherwise";
    expect_refusal(copy.path(), other, true);
    write(file.path(), corpus, true);
    const Corpus longer = Corpus::load(file.path());
    require(longer.records.size() == 2 * corpus.records.size() && longer.bytes_cut_off == 0);
  } catch (const metactrl::InputError& error) {
    require(error.diagnostics().has_errors());
  }
}

// Puts the right checksum behind every block that fits.
void mend(std::vector<std::uint8_t>& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::size_t at = std::string_view("mctrlcor").size() + sizeof(std::uint32_t);
  std::uint32_t length = 0;
  std::uint64_t hash = 0;
  while (at + sizeof(length) + sizeof(hash) <= bytes.size()) {
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    const std::size_t covered = sizeof(length) + length;
    if (bytes.size() - at < covered + sizeof(hash)) return;
    hash = metactrl::internal::hash_bytes(text.substr(at, covered));
    std::memcpy(bytes.data() + at + covered, &hash, sizeof(hash));
    at += covered + sizeof(hash);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> bytes(data, data + size);
  read(bytes);
  std::vector<std::uint8_t> mended = bytes;
  mend(mended);
  if (mended != bytes) read(mended);
  return 0;
}
