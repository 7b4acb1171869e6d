// Random small PDDL tasks as text, to compare the ground engine with the reference semantics.
#ifndef METACTRL_TESTS_SUPPORT_RANDOM_PDDL_H_
#define METACTRL_TESTS_SUPPORT_RANDOM_PDDL_H_

#include <cstdint>
#include <string>

namespace metactrl::testing {

struct PddlText {
  std::string domain;
  std::string problem;
};

struct PddlOptions {
  std::uint32_t min_objects = 2;
  std::uint32_t max_objects = 4;
  bool constraints = true;  // allow trajectory constraints
  bool preferences =
      false;  // two to five, of the end and of the way, some below `forall`, and a metric that weighs them
};

// Always accepted by the parser, not necessarily without warnings. Uses the whole language: a type hierarchy and
// `either`, constants, quantifiers, counting and matching, conditional and quantified effects, derived predicates
// (recursive, and negated in a higher stratum), costs, every kind of trajectory constraint, negative goals, ill-typed
// initial facts. The same seed gives the same task, on every platform.
PddlText random_pddl(std::uint64_t seed, const PddlOptions& options = {});

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_RANDOM_PDDL_H_
