// Corpus: what a language model wrote when nobody held it, kept to train surrogates on.
//
//     metactrl::CorpusWriter writer("household.corpus", header, /*resume=*/false);
//     writer.add(record);                                            // with the operating system when it returns
//
//     metactrl::Corpus corpus = metactrl::Corpus::load("household.corpus");
//     metactrl::SequenceSet plans = corpus.sequences(metactrl::CorpusLevel::kMeta);
//
// One record per generation: which prompt, which seed, the tokens, and what they mean as a plan, in the symbols of the
// meta level (hmm.h). A generation that could not be read as a plan keeps its record, without tokens and symbols, so
// that what was done is known exactly. The same corpus serves both levels.
//
// A run that was killed leaves at most one incomplete record at the end: it is not read, and a writer that goes on
// writes over it. Any other damage is found by checksums and refused.
#ifndef METACTRL_TRAINING_CORPUS_H_
#define METACTRL_TRAINING_CORPUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "metactrl/hmm.h"
#include "metactrl/training/train.h"

namespace metactrl {

struct CorpusHeader {
  std::string made_by;  // every setting that the content depends on, as one text
  Alphabet meta;        // of the symbols
  Alphabet tokens;      // of the model's vocabulary
  bool operator==(const CorpusHeader&) const = default;
};

struct CorpusRecord {
  std::uint64_t prompt = 0;  // its number
  std::uint64_t seed = 0;    // of the generation
  std::uint32_t family = 0;  // of the task: which file or benchmark the prompt came from
  bool parsed = false;       // the text is a plan
  std::uint32_t actions = 0;
  std::vector<SymbolId> tokens;   // as symbols of the token level; the last is the end
  std::vector<SymbolId> symbols;  // of the meta level; the last is the end
  bool operator==(const CorpusRecord&) const = default;
};

enum class CorpusLevel { kMeta, kToken };
const char* to_string(CorpusLevel level);

struct Corpus {
  CorpusHeader header;
  std::vector<CorpusRecord> records;
  // Bytes behind the last whole record: those of a run that was killed while writing.
  std::size_t bytes_cut_off = 0;

  // Throws InputError when the file is missing, none of ours, or damaged.
  static Corpus load(const std::string& file);

  const Alphabet& alphabet(CorpusLevel level) const {
    return level == CorpusLevel::kMeta ? header.meta : header.tokens;
  }
  // Of the records that were parsed, in order.
  SequenceSet sequences(CorpusLevel level) const;
};

// Which records training keeps back to judge by: all that was written for every n-th prompt of each family, since what
// a model writes for one prompt is much alike. 0: none.
std::vector<bool> held_out(const Corpus& corpus, std::uint64_t n);

class CorpusWriter {
 public:
  // A new file; or with `resume` goes on with the file if it is there. Throws InputError when a file is there and
  // `resume` is not set, or when its header is another one.
  CorpusWriter(const std::string& file, const CorpusHeader& header, bool resume);
  CorpusWriter(const CorpusWriter&) = delete;
  CorpusWriter& operator=(const CorpusWriter&) = delete;
  ~CorpusWriter();

  // What an earlier run had written.
  const std::vector<CorpusRecord>& earlier() const { return earlier_; }
  void add(const CorpusRecord& record);

 private:
  std::string file_;
  int descriptor_ = -1;
  std::vector<CorpusRecord> earlier_;
};

}  // namespace metactrl

#endif  // METACTRL_TRAINING_CORPUS_H_
