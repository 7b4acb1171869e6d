// The words for a request and its result, as they are written on the command line and in JSON.
#include "metactrl/planner.h"

namespace metactrl {

const char* to_string(PlanGuidance guidance) {
  switch (guidance) {
    case PlanGuidance::kNone:
      return "none";
    case PlanGuidance::kSyntax:
      return "syntax";
    case PlanGuidance::kMask:
      return "mask";
    case PlanGuidance::kUniform:
      return "uniform";
    case PlanGuidance::kTrained:
      return "trained";
    case PlanGuidance::kSearch:
      return "search";
  }
  return "";
}

const char* to_string(PlanBridge bridge) {
  switch (bridge) {
    case PlanBridge::kUniform:
      return "uniform";
    case PlanBridge::kSurrogate:
      return "surrogate";
    case PlanBridge::kModel:
      return "model";
    case PlanBridge::kHmm:
      return "hmm";
  }
  return "";
}

const char* to_string(OnInfeasible what) {
  switch (what) {
    case OnInfeasible::kError:
      return "error";
    case OnInfeasible::kDropGoals:
      return "drop-goals";
    case OnInfeasible::kSyntax:
      return "syntax";
  }
  return "";
}

const char* to_string(Guarantee guarantee) {
  switch (guarantee) {
    case Guarantee::kFull:
      return "full";
    case Guarantee::kGoalsDropped:
      return "goals dropped";
    case Guarantee::kSyntaxOnly:
      return "syntax only";
    case Guarantee::kNone:
      return "none";
  }
  return "";
}

const char* to_string(PlanOutcome outcome) {
  switch (outcome) {
    case PlanOutcome::kPlan:
      return "plan";
    case PlanOutcome::kInfeasible:
      return "infeasible";
    case PlanOutcome::kUndecided:
      return "undecided";
    case PlanOutcome::kCancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace metactrl
