// What a compiled constraint holds for decoders and for those who report on it.
#ifndef METACTRL_SRC_DECODE_CONSTRAINT_PARTS_H_
#define METACTRL_SRC_DECODE_CONSTRAINT_PARTS_H_

#include <memory>

#include "decode/entry_mass.h"
#include "metactrl/constraint.h"
#include "text/token_automaton.h"

namespace metactrl {

struct Constraint::Parts {
  // What the compilation took, in seconds.
  struct Times {
    double format = 0;
    double automaton = 0;
    double lookahead = 0;
    double total() const { return format + automaton + lookahead; }
  };

  std::shared_ptr<const TokenAutomaton> automaton;
  // How many entries of each kind any range holds.
  std::shared_ptr<const EntryCounts> entry_counts;
  Times times;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_DECODE_CONSTRAINT_PARTS_H_
