// Stratification of derived predicates.
#ifndef METACTRL_SRC_PDDL_STRATA_H_
#define METACTRL_SRC_PDDL_STRATA_H_

#include <cstdint>

#include "pddl/ast.h"

namespace metactrl::pddl {

// -1 when a predicate is not derived, otherwise its stratum: at least that of every derived predicate its axioms
// use, and above that of every one they use negated. The parser has made sure that such numbers exist.
IdVector<PredicateId, std::int32_t> strata(const Ast& ast);

// A number that a predicate shares with exactly those predicates it is defined by, directly or not, and that are
// defined by it. The axioms need not be stratified.
IdVector<PredicateId, std::uint32_t> recursion_components(const Ast& ast);

// No predicate depends on its own negation. The parser has made sure of it for what it read.
bool stratified(const Ast& ast);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_STRATA_H_
