// The words for a request and its result, as they are written on the command line, in JSON and in messages.
#ifndef METACTRL_SRC_DECODE_NAMES_H_
#define METACTRL_SRC_DECODE_NAMES_H_

#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/explain.h"
#include "metactrl/generate.h"
#include "metactrl/planner.h"
#include "support/enum_names.h"

namespace metactrl {

constexpr auto enum_names(Guidance) {
  return internal::names<Guidance>({
      {Guidance::kNone, "none"},
      {Guidance::kSyntax, "syntax"},
      {Guidance::kMask, "mask"},
      {Guidance::kUniform, "uniform"},
      {Guidance::kTrained, "trained"},
      {Guidance::kSearch, "search"},
  });
}

constexpr auto enum_names(Bridge) {
  return internal::names<Bridge>({
      {Bridge::kUniform, "uniform"},
      {Bridge::kSurrogate, "surrogate"},
      {Bridge::kModel, "model"},
      {Bridge::kHmm, "hmm"},
  });
}

constexpr auto enum_names(Tokenization) {
  return internal::names<Tokenization>({
      {Tokenization::kCanonical, "canonical"},
      {Tokenization::kAny, "any"},
  });
}

constexpr auto enum_names(DecodeMode) {
  return internal::names<DecodeMode>({
      {DecodeMode::kGreedy, "greedy"},
      {DecodeMode::kSample, "sample"},
      {DecodeMode::kBeam, "beam"},
      {DecodeMode::kSmc, "smc"},
  });
}

constexpr auto enum_names(PlanOptions::OnInfeasible) {
  return internal::names<PlanOptions::OnInfeasible>({
      {PlanOptions::OnInfeasible::kError, "error"},
      {PlanOptions::OnInfeasible::kDropGoals, "drop-goals"},
      {PlanOptions::OnInfeasible::kSyntax, "syntax"},
  });
}

constexpr auto enum_names(ThinkOptions::Mode) {
  return internal::names<ThinkOptions::Mode>({
      {ThinkOptions::Mode::kAuto, "auto"},
      {ThinkOptions::Mode::kOff, "off"},
      {ThinkOptions::Mode::kOn, "on"},
  });
}

constexpr auto enum_names(Thought::End) {
  return internal::names<Thought::End>({
      {Thought::End::kMarker, "marker"},
      {Thought::End::kBudget, "budget"},
      {Thought::End::kTurn, "end of turn"},
      {Thought::End::kCancelled, "cancelled"},
  });
}

constexpr auto enum_names(Guarantee) {
  return internal::names<Guarantee>({
      {Guarantee::kFull, "full"},
      {Guarantee::kGoalsDropped, "goals dropped"},
      {Guarantee::kSyntaxOnly, "syntax only"},
      {Guarantee::kNone, "none"},
  });
}

constexpr auto enum_names(PlanOutcome) {
  return internal::names<PlanOutcome>({
      {PlanOutcome::kPlan, "plan"},
      {PlanOutcome::kInfeasible, "infeasible"},
      {PlanOutcome::kUndecided, "undecided"},
      {PlanOutcome::kCancelled, "cancelled"},
  });
}

constexpr auto enum_names(ExplainedStep::Standing) {
  return internal::names<ExplainedStep::Standing>({
      {ExplainedStep::Standing::kAllowed, "allowed"},
      {ExplainedStep::Standing::kIllegal, "illegal"},
      {ExplainedStep::Standing::kTooLate, "too late"},
      {ExplainedStep::Standing::kDeadEnd, "dead end"},
      {ExplainedStep::Standing::kIdle, "idle"},
      {ExplainedStep::Standing::kDetour, "detour"},
      {ExplainedStep::Standing::kUndecided, "undecided"},
      {ExplainedStep::Standing::kNotJudged, "not judged"},
  });
}

}  // namespace metactrl

#endif  // METACTRL_SRC_DECODE_NAMES_H_
