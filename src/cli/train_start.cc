// Every sequence is read on its own, behind the same few tokens. A corpus holds no prompts, and the Markov model knows
// of none: what is clustered is what a plan so far says about its rest.
//
// At the meta level the text is cut where symbols end, and each piece is encoded behind the ones before it, so that
// every symbol has tokens of its own:  "(open" " ID3" ")\n(grab" " ID0" ...
#include "cli/train_start.h"

#include <algorithm>
#include <span>
#include <vector>

#include "cli/common.h"
#include "support/str_cat.h"

namespace metactrl::cli {

namespace {

using internal::str_cat;

// What the model reads, and behind which of its tokens the vectors are taken: one place for each symbol but the end.
struct Reading {
  std::vector<TokenId> tokens;
  std::vector<std::size_t> places;
};

class Reader {
 public:
  Reader(const Alphabet& alphabet, LanguageModel& model)
      : alphabet_(alphabet), model_(model), prefix_(model.encode_prompt({})) {}

  Reading read(std::span<const SymbolId> sequence) const {
    Reading reading{prefix_, {}};
    if (alphabet_.is_meta()) {
      std::string so_far;
      for (const std::string& text : symbol_texts(alphabet_, sequence)) {
        const std::vector<TokenId> tokens = model_.vocabulary().encode(text, so_far);
        reading.tokens.insert(reading.tokens.end(), tokens.begin(), tokens.end());
        reading.places.push_back(reading.tokens.size() - 1);
        so_far += text;
      }
      return reading;
    }
    for (const SymbolId symbol : sequence) {
      if (symbol == alphabet_.end) continue;
      reading.places.push_back(reading.tokens.size());
      reading.tokens.push_back(TokenId{static_cast<std::int32_t>(symbol)});
    }
    return reading;
  }

 private:
  const Alphabet& alphabet_;
  LanguageModel& model_;
  std::vector<TokenId> prefix_;
};

LoadedModel open(const Alphabet& alphabet, const ClusterStart& options) {
  LoadedModel loaded = open_model(options.model, "", options.runtime);
  if (loaded.model->embedding_size() == 0) {
    throw InputError(options.model, "gives no embeddings to make clusters of",
                     "name a GGUF model, or start with --init random");
  }
  const Vocabulary& vocabulary = *loaded.vocabulary;
  if (!alphabet.is_meta() && (alphabet.size != vocabulary.size() ||
                              (alphabet.vocabulary != 0 && alphabet.vocabulary != vocabulary.fingerprint()))) {
    throw InputError(options.model, "has another vocabulary than the corpus", "name the model that wrote the corpus");
  }
  return loaded;
}

}  // namespace

std::vector<std::string> symbol_texts(const Alphabet& alphabet, std::span<const SymbolId> sequence) {
  std::vector<std::string> texts;
  for (const SymbolId symbol : sequence) {
    if (symbol == alphabet.end) continue;
    // UNK stands for actions, too; in the middle of a plan it is taken for an object.
    const bool begins = texts.empty() || static_cast<std::size_t>(symbol) < alphabet.num_actions;
    texts.push_back(str_cat(begins ? (texts.empty() ? "(" : ")\n(") : " ", alphabet.text(symbol)));
  }
  return texts;
}

Hmm cluster_start(const Alphabet& alphabet, const SequenceSet& sequences, const ClusterStart& options) {
  try {
    const LoadedModel loaded = open(alphabet, options);
    LanguageModel& model = *loaded.model;
    const std::size_t dimension = model.embedding_size();
    const Reader reader(alphabet, model);
    const std::size_t count = std::min(options.sequences, sequences.size());
    SequenceSet chosen;
    std::vector<float> vectors;
    {
      CountProgress progress("sequences read by the model", static_cast<double>(count));
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t which = i * sequences.size() / count;
        const Reading reading = reader.read(sequences[which]);
        progress.done(static_cast<double>(i + 1));
        if (reading.tokens.size() > model.context_length()) continue;
        const std::vector<float> states = model.embed(reading.tokens);
        for (const std::size_t place : reading.places) {
          const auto first = states.begin() + static_cast<std::ptrdiff_t>(place * dimension);
          vectors.insert(vectors.end(), first, first + static_cast<std::ptrdiff_t>(dimension));
        }
        chosen.add(sequences[which], sequences.weight(which));
      }
    }
    if (vectors.empty()) {
      throw InputError(options.model, "can read none of the sequences: they are empty, or longer than its context",
                       "start with --init random");
    }
    const ProgressLine progress("clustering");
    return cluster_hmm(alphabet, chosen, vectors, dimension, options.clusters);
  } catch (const ModelError& error) {
    throw ResourceError(kOutOfMemory, str_cat("the model cannot go on: ", error.what()));
  }
}

}  // namespace metactrl::cli
