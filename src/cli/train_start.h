// Where training begins: at random, or from what a language model knows of the corpus.
#ifndef METACTRL_SRC_CLI_TRAIN_START_H_
#define METACTRL_SRC_CLI_TRAIN_START_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/model_store.h"
#include "metactrl/language_model.h"
#include "metactrl/training/train.h"

namespace metactrl::cli {

struct ClusterStart {
  std::string model = kDefaultModel;
  // The model reads so many of the sequences, evenly spread over them.
  std::size_t sequences = 2000;
  ModelOptions runtime;
  ClusterOptions clusters;
};

// Latent variable distillation: the model reads sequences of the corpus, and clusters of its hidden states become the
// states of the Markov model (cluster_hmm in metactrl/training/train.h).
//
// At the token level the model reads the tokens as they are. At the meta level it reads the sequence as a list of
// actions, "(open ID3)" and so on, the symbols by their names in the alphabet; a symbol's vector is the one behind the
// last token of its text. In front stands the model's own prompt without a word in it. Shows progress. Throws
// InputError for a model that gives no embeddings, or another one's tokens, ResourceError when the model cannot go on.
Hmm cluster_start(const Alphabet& alphabet, const SequenceSet& sequences, const ClusterStart& options);

// The texts of a sequence's symbols but its end, one for each, which together are the text that the model reads. At the
// meta level.
std::vector<std::string> symbol_texts(const Alphabet& alphabet, std::span<const SymbolId> sequence);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_TRAIN_START_H_
