// Tests of the program on a task that anybody sees through: three lamps, two of which are to be lit. d.pddl and p.pddl are in the
// test's folder.
#ifndef METACTRL_TESTS_SUPPORT_LAMPS_H_
#define METACTRL_TESTS_SUPPORT_LAMPS_H_

#include <string>

#include "support/command_line.h"

namespace metactrl::testing {

inline constexpr const char* kLampsDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp))
  (:action press :parameters (?l - lamp) :precondition (and (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))))";

class LampsTest : public CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write("d.pddl", kLampsDomain);
    write("p.pddl", problem("(and (lit a) (lit b))"));
  }

  static std::string problem(const std::string& goal, const std::string& init = "") {
    return "(define (problem two-lamps) (:domain lamps) (:objects a b c - lamp) (:init " + init + ") (:goal " + goal +
           "))";
  }
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_LAMPS_H_
