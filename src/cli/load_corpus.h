// Corpora that the user named: Corpus::load, with a word about what was cut off.
#ifndef METACTRL_SRC_CLI_LOAD_CORPUS_H_
#define METACTRL_SRC_CLI_LOAD_CORPUS_H_

#include <string>
#include <utility>
#include <vector>

#include "cli/common.h"
#include "metactrl/training/corpus.h"
#include "support/str_cat.h"
#include "training/corpora.h"

namespace metactrl::cli {

// `speaks`: whether this process says it; of several that work together one does.
inline std::vector<training::NamedCorpus> load_corpora(const std::vector<std::string>& files, bool speaks) {
  std::vector<training::NamedCorpus> corpora;
  for (const std::string& file : files) {
    Corpus corpus = Corpus::load(file);
    if (corpus.bytes_cut_off > 0 && speaks) {
      note(internal::str_cat(
          file, ": warning: the last record was cut off and is left out; 'metactrl sample --resume' mends it"));
    }
    corpora.push_back({file, std::move(corpus)});
  }
  return corpora;
}

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_LOAD_CORPUS_H_
