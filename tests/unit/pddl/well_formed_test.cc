// Every action of the right types, whatever the state.
#include "pddl/well_formed.h"

#include <gtest/gtest.h>

#include <string>

#include "metactrl/domain.h"
#include "metactrl/task.h"

namespace metactrl::pddl::well_formed_test {
namespace {

constexpr const char* kDomain = R"((define (domain doors) ; (with a comment
  (:requirements :adl :typing :derived-predicates) (:types door key - object steel - door)
  (:predicates (open ?d - door) (held ?k - key) (fits ?k - key ?d - door) (free))
  (:derived (free) (exists (?d - door) (open ?d)))
  (:action unlock :parameters (?k - key ?d - door) :precondition (and (held ?k) (fits ?k ?d))
    :effect (and (open ?d) (forall (?e - door) (when (open ?e) (not (open ?e))))))
  (:action kick :parameters (?d - steel) :precondition (free) :effect (open ?d))
  (:action wait :parameters () :precondition (free) :effect (and))))";
constexpr const char* kProblem = R"((define (problem p) (:domain doors)
  (:objects front back - door safe - steel k1 k2 k3 - key) (:init (fits k1 front)) (:goal (open front))))";

TEST(WellFormedTest, HasEveryActionOfTheRightTypes) {
  const Task strict = load_pddl_text(kDomain, kProblem);
  EXPECT_EQ(strict.num_actions(), 0U);  // nobody holds a key
  const Task reading = load_pddl_text(well_formed_domain(kDomain), kProblem);
  // Three keys and three doors, the safe among them; the safe; and waiting.
  EXPECT_EQ(reading.num_actions(), 9U + 1U + 1U);
  EXPECT_EQ(reading.num_action_names(), strict.num_action_names());
  EXPECT_EQ(reading.num_objects(), strict.num_objects());
}

TEST(WellFormedTest, LeavesWhatIsNoDomain) {
  EXPECT_EQ(well_formed_domain("(define (domain"), "(define (domain");
  EXPECT_EQ(well_formed_domain(""), "");
}

}  // namespace
}  // namespace metactrl::pddl::well_formed_test
