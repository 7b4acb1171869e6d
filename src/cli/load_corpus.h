// A corpus that the user named: Corpus::load, with a word about what was cut off.
#ifndef METACTRL_SRC_CLI_LOAD_CORPUS_H_
#define METACTRL_SRC_CLI_LOAD_CORPUS_H_

#include <string>

#include "cli/common.h"
#include "metactrl/training/corpus.h"
#include "support/str_cat.h"

namespace metactrl::cli {

// `speaks`: whether this process says it; of several that work together one does.
inline Corpus load_corpus(const std::string& file, bool speaks) {
  Corpus corpus = Corpus::load(file);
  if (corpus.bytes_cut_off > 0 && speaks) {
    note(internal::str_cat(
        file, ": warning: the last record was cut off and is left out; 'metactrl sample --resume' mends it"));
  }
  return corpus;
}

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_LOAD_CORPUS_H_
