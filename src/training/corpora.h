// Several corpora as one: what a model is trained on, and how well it knows each.
//
//     std::vector<NamedCorpus> corpora = {{"vh.corpus", Corpus::load("vh.corpus")}, ...};
//     TrainingData data = join(corpora, {.held_out = 20});     // data.alphabet, data.training, data.held_out
//     std::map<std::uint32_t, Fit> fits = fit(hmm, corpora[0], /*held_out=*/20);
//
// Alphabets become one: actions by name, as many slots as the largest has. Tokens are those of one vocabulary.
#ifndef METACTRL_SRC_TRAINING_CORPORA_H_
#define METACTRL_SRC_TRAINING_CORPORA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "metactrl/hmm.h"
#include "metactrl/training/corpus.h"
#include "metactrl/training/train.h"

namespace metactrl::training {

struct NamedCorpus {
  std::string file;  // for messages
  Corpus corpus;
};

struct JoinOptions {
  CorpusLevel level = CorpusLevel::kMeta;
  // What was written for every n-th prompt of each family is kept back, to judge by; 0: nothing.
  std::uint64_t held_out = 0;
  // Every corpus weighs the same, and every family of tasks in it; else every plan does.
  bool balance = false;
};

struct TrainingData {
  Alphabet alphabet;
  // Equal sequences are one, with their number as weight.
  SequenceSet training;
  SequenceSet held_out;
};

// At least one corpus. Throws InputError at the token level, where they are of different vocabularies.
TrainingData join(const std::vector<NamedCorpus>& corpora, const JoinOptions& options);

// How well a model knows a corpus, or a family of it.
struct Fit {
  std::size_t plans = 0;
  std::size_t impossible = 0;
  double symbols = 0;  // of those that are possible, as what follows
  double actions = 0;
  double nats = 0;  // -log p

  void add(const Fit& other);
};

// The level of what a model was trained on.
CorpusLevel level_of(const Hmm& hmm);

// By family; empty when no plan is to be scored. With `every` only what training keeps back. A corpus with names that
// the model does not know is read with UNK for them. Throws InputError for tokens of another vocabulary.
std::map<std::uint32_t, Fit> fit(const Hmm& hmm, const NamedCorpus& named, std::uint64_t every);

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_CORPORA_H_
