// A task of counting: its plan is as long as the number is large, which makes work in any amount.
#ifndef METACTRL_TESTS_SUPPORT_COUNTER_TASK_H_
#define METACTRL_TESTS_SUPPORT_COUNTER_TASK_H_

#include <string>

namespace metactrl::testing {

struct PddlTexts {
  std::string domain;
  std::string problem;
};

// Counts in binary from 0 to 2^bits - 1; nothing short of counting leads to the goal. `impossible` adds one that only
// a look at all states excludes: to be here and there at once.
inline PddlTexts counter_task(unsigned bits, bool impossible = false) {
  std::string domain =
      "(define (domain counter) (:requirements :strips :negative-preconditions) (:predicates (here) (there) (both)";
  std::string goal = impossible ? " (both)" : "";
  std::string actions =
      "(:action go :parameters () :precondition (here) :effect (and (there) (not (here))))"
      "(:action return :parameters () :precondition (there) :effect (and (here) (not (there))))"
      "(:action be :parameters () :precondition (and (here) (there)) :effect (both))";
  for (unsigned i = 0; i < bits; ++i) {
    const std::string bit = "(b" + std::to_string(i) + ")";
    domain += " " + bit;
    goal += " " + bit;
    std::string condition = "(not " + bit + ")";
    std::string effect = bit;
    for (unsigned j = 0; j < i; ++j) {
      condition += " (b" + std::to_string(j) + ")";
      effect += " (not (b" + std::to_string(j) + "))";
    }
    actions += " (:action inc" + std::to_string(i) + " :parameters () :precondition (and " + condition +
               ") :effect (and " + effect + "))";
  }
  return {domain + ")" + actions + ")",
          "(define (problem count) (:domain counter) (:init (here)) (:goal (and" + goal + ")))"};
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_COUNTER_TASK_H_
