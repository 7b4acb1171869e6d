// What Lookahead computes once and Support reads.
#ifndef METACTRL_SRC_LOOKAHEAD_DATA_H_
#define METACTRL_SRC_LOOKAHEAD_DATA_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lookahead/cost_table.h"
#include "lookahead/focus.h"
#include "lookahead/goals.h"
#include "lookahead/hmm_table.h"
#include "lookahead/relaxed.h"
#include "lookahead/space.h"
#include "lookahead/surrogate.h"
#include "lookahead/uniform.h"
#include "metactrl/lookahead.h"
#include "support/enum_names.h"

namespace metactrl {

namespace lookahead {

// How the horizon in use came about.
enum class HorizonRule {
  kAsAsked,
  kShortestPlusSlack,  // the table for the horizon asked for did not fit, or the enumeration did not get this deep
  kGrown,              // the shortest plan known needs more than the horizon asked for
  kFitted,             // to the best plan known
};

constexpr auto enum_names(HorizonRule) {
  return internal::names<HorizonRule>({
      {HorizonRule::kAsAsked, "as asked"},
      {HorizonRule::kShortestPlusSlack, "shortest plan plus slack"},
      {HorizonRule::kGrown, "grown to the shortest known plan plus slack"},
      {HorizonRule::kFitted, "the best known plan plus slack"},
  });
}

// Where the weights come from.
enum class WeightRule {
  kUniformExact,  // backward recursion over (actions left, projected state)
  kWitnessPlan,   // the probability of one plan, the witness: a lower bound of the exact value
  kTrainedExact,  // the same two with a trained surrogate
  kTrainedWitnessPlan,
  kNone,
};

constexpr auto enum_names(WeightRule) {
  return internal::names<WeightRule>({
      {WeightRule::kUniformExact, "uniform, exact"},
      {WeightRule::kWitnessPlan, "uniform, witness plan only"},
      {WeightRule::kTrainedExact, "trained, exact"},
      {WeightRule::kTrainedWitnessPlan, "trained, witness plan only"},
      {WeightRule::kNone, "none"},
  });
}

}  // namespace lookahead

constexpr auto enum_names(Verdict) {
  return internal::names<Verdict>({
      {Verdict::kSolvable, "solvable"},
      {Verdict::kInfeasible, "infeasible"},
      {Verdict::kUndecided, "undecided"},
  });
}

constexpr auto enum_names(Lookahead::Tier) {
  return internal::names<Lookahead::Tier>({
      {Lookahead::Tier::kExact, "exact"},
      {Lookahead::Tier::kWitness, "witness"},
  });
}

class LookaheadData {
 public:
  LookaheadData(const task::Program& program, const LookaheadOptions& options)
      : options(options), relaxed(program), horizon(options.horizon) {
    this->options.fitted_horizon = options.fitted_horizon && !options.fixed_horizon;
    if (options.hmm) surrogate.emplace(program, *options.hmm);
  }

  bool large() const { return relaxed.evaluation_work() >= options.large_task; }

  LookaheadOptions options;
  lookahead::RelaxedTask relaxed;
  std::optional<lookahead::Space> space;         // tier A
  std::optional<lookahead::UniformTable> table;  // over `space`
  std::optional<lookahead::CostTable> costs;     // over `space`, where they are asked for
  // With a trained surrogate: it, and instead of `table` its own.
  std::optional<lookahead::Surrogate> surrogate;
  std::optional<lookahead::HmmTable<float>> hmm_table;
  Verdict verdict = Verdict::kUndecided;
  std::string reason;
  std::uint64_t work = 0;  // steps (Budget::work) that all of this took
  std::vector<GoalId> unreachable_goals;
  // Where that is what makes the task infeasible: goals that no state that can be reached satisfies together.
  std::vector<lookahead::GoalSet> conflicts;
  unsigned horizon;
  lookahead::HorizonRule horizon_rule = lookahead::HorizonRule::kAsAsked;
  lookahead::WeightRule weight_rule = lookahead::WeightRule::kNone;
  std::optional<unsigned> shortest;
  std::vector<ActionId> plan;
  std::size_t left_out = 0;  // steps that it had when it was found, and does not need
  // What every plan costs at least, in actions where there is no metric; and that none costs less than `plan`.
  double least_cost = 0;
  bool cheapest = false;
  // In a large task of tier B, where it is less than all: what the goal asks for from the start, and the plan.
  std::unique_ptr<const lookahead::Focus> focus;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_LOOKAHEAD_DATA_H_
