// What Lookahead computes once and Support reads.
#ifndef METACTRL_SRC_LOOKAHEAD_DATA_H_
#define METACTRL_SRC_LOOKAHEAD_DATA_H_

#include <optional>
#include <string>
#include <vector>

#include "lookahead/hmm_table.h"
#include "lookahead/relaxed.h"
#include "lookahead/space.h"
#include "lookahead/surrogate.h"
#include "lookahead/uniform.h"
#include "metactrl/lookahead.h"

namespace metactrl {

class LookaheadData {
 public:
  LookaheadData(const task::Program& program, const LookaheadOptions& options)
      : options(options), relaxed(program), horizon(options.horizon) {
    if (options.hmm) surrogate.emplace(program, *options.hmm);
  }

  LookaheadOptions options;
  lookahead::RelaxedTask relaxed;
  std::optional<lookahead::Space> space;         // tier A
  std::optional<lookahead::UniformTable> table;  // over `space`
  // With a trained surrogate: it, and instead of `table` its own.
  std::optional<lookahead::Surrogate> surrogate;
  std::optional<lookahead::HmmTable<float>> hmm_table;
  Verdict verdict = Verdict::kUndecided;
  std::string reason;
  std::vector<GoalId> unreachable_goals;
  unsigned horizon;
  HorizonRule horizon_rule = HorizonRule::kAsAsked;
  WeightRule weight_rule = WeightRule::kNone;
  std::optional<unsigned> shortest;
  std::vector<ActionId> plan;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_LOOKAHEAD_DATA_H_
