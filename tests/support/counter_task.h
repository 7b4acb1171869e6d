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
// a look at all states excludes: to be in three places at once, each two of which go together.
inline PddlTexts counter_task(unsigned bits, bool impossible = false) {
  std::string domain =
      "(define (domain counter) (:requirements :strips :negative-preconditions) (:predicates (here) (there) (far) "
      "(all)";
  std::string goal = impossible ? " (all)" : "";
  std::string actions =
      "(:action go :parameters () :precondition (and (here) (there)) :effect (and (far) (not (here))))"
      "(:action turn :parameters () :precondition (and (there) (far)) :effect (and (here) (not (there))))"
      "(:action return :parameters () :precondition (and (far) (here)) :effect (and (there) (not (far))))";
  std::string counted;
  for (unsigned i = 0; i < bits; ++i) {
    const std::string bit = "(b" + std::to_string(i) + ")";
    domain += " " + bit;
    goal += " " + bit;
    counted += " " + bit;
    std::string condition = "(not " + bit + ")";
    std::string effect = bit;
    for (unsigned j = 0; j < i; ++j) {
      condition += " (b" + std::to_string(j) + ")";
      effect += " (not (b" + std::to_string(j) + "))";
    }
    actions += " (:action inc" + std::to_string(i) + " :parameters () :precondition (and " + condition +
               ") :effect (and " + effect + "))";
  }
  actions += "(:action be :parameters () :precondition (and (here) (there) (far)" + counted + ") :effect (all))";
  return {domain + ")" + actions + ")",
          "(define (problem count) (:domain counter) (:init (here) (there)) (:goal (and" + goal + ")))"};
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_COUNTER_TASK_H_
