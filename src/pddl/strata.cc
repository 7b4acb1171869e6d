// Strata by relaxation: raise a head's stratum until every axiom is satisfied. With n derived predicates no stratum
// exceeds n when the axioms are stratified, so n rounds suffice.
#include "pddl/strata.h"

#include <algorithm>

namespace metactrl::pddl {

namespace {

// The least stratum the head may have because of what `condition` uses.
std::int32_t needed(const Condition& condition, bool negated, const IdVector<PredicateId, std::int32_t>& stratum) {
  if (condition.kind == Condition::Kind::kAtom) {
    const std::int32_t used = stratum[condition.atom.predicate];
    return used < 0 ? 0 : used + (negated ? 1 : 0);
  }
  // Counting is monotone unless it stands under a negation.
  const bool flips = condition.kind == Condition::Kind::kNot;
  std::int32_t result = 0;
  for (const Condition& child : condition.children) {
    result = std::max(result, needed(child, negated != flips, stratum));
  }
  return result;
}

}  // namespace

IdVector<PredicateId, std::int32_t> strata(const Ast& ast) {
  IdVector<PredicateId, std::int32_t> stratum(ast.predicates.size(), -1);
  std::size_t num_derived = 0;
  for (const Axiom& axiom : ast.axioms) {
    num_derived += stratum[axiom.head] < 0 ? 1U : 0U;
    stratum[axiom.head] = 0;
  }
  bool changed = true;
  for (std::size_t round = 0; changed && round <= num_derived; ++round) {
    changed = false;
    for (const Axiom& axiom : ast.axioms) {
      const std::int32_t least = needed(axiom.body, false, stratum);
      if (least <= stratum[axiom.head]) continue;
      stratum[axiom.head] = least;
      changed = true;
    }
  }
  return stratum;
}

}  // namespace metactrl::pddl
