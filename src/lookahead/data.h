// What Lookahead computes once and Support reads.
#ifndef METACTRL_SRC_LOOKAHEAD_DATA_H_
#define METACTRL_SRC_LOOKAHEAD_DATA_H_

#include <optional>
#include <string>
#include <vector>

#include "lookahead/relaxed.h"
#include "lookahead/space.h"
#include "lookahead/uniform.h"
#include "metactrl/lookahead.h"

namespace metactrl {

class LookaheadData {
 public:
  LookaheadData(const task::Program& program, const LookaheadOptions& options)
      : options(options), relaxed(program), horizon(options.horizon) {}

  LookaheadOptions options;
  lookahead::RelaxedTask relaxed;
  std::optional<lookahead::Space> space;         // tier A
  std::optional<lookahead::UniformTable> table;  // over `space`
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
