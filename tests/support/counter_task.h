// A task of counting: its plan is as long as the number is large, which makes work in any amount.
#ifndef METACTRL_TESTS_SUPPORT_COUNTER_TASK_H_
#define METACTRL_TESTS_SUPPORT_COUNTER_TASK_H_

#include <string>

namespace metactrl::testing {

struct PddlTexts {
  std::string domain;
  std::string problem;
};

// Counts in binary from 0 to 2^bits - 1; nothing short of counting leads to the goal. `impossible` also keeps count by
// threes, and asks for a remainder that only a look at all states excludes: some of the bits go with each of the three.
inline PddlTexts counter_task(unsigned bits, bool impossible = false) {
  const unsigned remainders = impossible ? 3 : 1;
  std::string domain = "(define (domain counter) (:requirements :strips :negative-preconditions) (:predicates";
  for (unsigned r = 0; r < remainders; ++r) domain += " (r" + std::to_string(r) + ")";
  std::string actions;
  std::string goal = "(r" + std::to_string(impossible ? bits % 2 + 1 : 0) + ")";
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
    for (unsigned r = 0; r < remainders; ++r) {
      const std::string now = "(r" + std::to_string(r) + ")";
      const std::string then = "(r" + std::to_string((r + 1) % remainders) + ")";
      actions += " (:action inc" + std::to_string(i) + "-" + std::to_string(r) + " :parameters () :precondition (and " +
                 condition + " " + now + ") :effect (and " + effect + (impossible ? " (not " + now + ") " + then : "") +
                 "))";
    }
  }
  return {domain + ")" + actions + ")",
          "(define (problem count) (:domain counter) (:init (r0)) (:goal (and " + goal + ")))"};
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_COUNTER_TASK_H_
