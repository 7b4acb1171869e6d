// Why a task has no plan, and what would help.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lookahead/goals.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/random_definition.h"

namespace metactrl::infeasible_test {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kHospital = R"((define (domain hospital) (:requirements :adl :derived-predicates :constraints)
  (:types tool place)
  (:predicates (sterile ?t - tool) (clean ?t - tool) (sink ?p - place) (at ?p - place) (oven ?p - place) (hot ?p - place)
               (ready ?t - tool) (open) (locked))
  (:derived (ready ?t - tool) (and (sterile ?t) (open)))
  (:action go :parameters (?p - place) :precondition () :effect (and (at ?p) (forall (?q - place) (when (not (= ?p ?q)) (not (at ?q))))))
  (:action wash :parameters (?t - tool ?p - place) :precondition (and (at ?p) (sink ?p)) :effect (clean ?t))
  (:action heat :parameters (?p - place) :precondition (oven ?p) :effect (hot ?p))
  (:action bake :parameters (?t - tool ?p - place) :precondition (and (clean ?t) (hot ?p)) :effect (sterile ?t))
  (:action unlock :parameters () :precondition () :effect (and (open) (not (locked))))
  (:action lock :parameters () :precondition () :effect (and (locked) (not (open))))))";

Task hospital(const std::string& init, const std::string& goal, const std::string& objects = "knife - tool a b - place",
              const std::string& more = "") {
  return load_pddl_text(kHospital, "(define (problem p) (:domain hospital) (:objects " + objects + ") (:init " + init +
                                       ") (:goal " + goal + ")" + more + ")");
}

TEST(WhyInfeasible, ATaskWithAPlanHasNoReason) {
  EXPECT_EQ(why_infeasible(hospital("(sink a)", "(clean knife)")), Lines{});
}

TEST(WhyInfeasible, NamesTheFactThatNothingMakesTrue) {
  const Task task = hospital("", "(clean knife)");
  EXPECT_EQ(why_infeasible(task),
            Lines{"the goal (clean knife) cannot become true: (wash knife ?p) could, but needs (sink "
                  "?p); (sink ?p) does not hold at the start, and no action makes it true"});
  EXPECT_EQ(what_would_help(task), (Lines{"with (sink a) at the start", "with (sink b) at the start"}));
}

TEST(WhyInfeasible, FollowsWhatIsNeededToItsRoot) {
  const Task task = hospital("(sink b)", "(and (open) (ready knife))");
  EXPECT_EQ(why_infeasible(task),
            Lines{"the goal (ready knife) cannot become true: (ready knife) is derived from (and (sterile ?t) (open)); "
                  "(bake knife ?p) could, but needs (hot ?p); (heat ?p) could, but needs (oven ?p); (oven ?p) does not "
                  "hold at the start, and no action makes it true"});
  EXPECT_EQ(what_would_help(task),
            (Lines{"without the goal (ready knife)", "with (oven a) at the start", "with (oven b) at the start"}));
}

TEST(WhyInfeasible, NamesTheTypeThatHasNoObject) {
  const Task task = hospital("", "(and (open) (clean knife))", "knife - tool");
  EXPECT_EQ(why_infeasible(task),
            Lines{"the goal (clean knife) cannot become true: (wash knife ?p) could, but needs an "
                  "object of type place; there is none"});
  // A place alone would be no sink.
  EXPECT_EQ(what_would_help(task), Lines{"without the goal (clean knife)"});
}

TEST(WhyInfeasible, NamesTheGoalsThatExcludeEachOther) {
  const Task task = hospital("(sink a)", "(and (clean knife) (open) (locked) (at a))");
  EXPECT_EQ(why_infeasible(task),
            Lines{"these goals exclude each other: (open), (locked); each can be reached, but not "
                  "all of them together"});
  const Lines help = what_would_help(task);
  ASSERT_GE(help.size(), 2U);
  EXPECT_EQ(help[0], "without the goal (open)");
  EXPECT_EQ(help[1], "without the goal (locked)");
}

TEST(WhyInfeasible, AConstraintCanBeTheReason) {
  const Task task =
      hospital("(sink a)", "(clean knife)", "knife - tool a b - place", "(:constraints (always (not (at a))))");
  const Lines help = what_would_help(task);
  ASSERT_FALSE(help.empty());
  EXPECT_EQ(help[0], "without the constraint (always (not (at a)))");
}

// The smallest set, by looking at every state that can be reached.
TEST(WhyInfeasible, TheExcludedGoalsAreExcludedAndNoFewerAre) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Task task = testing::random_task(seed, {.max_monitors = 0});
    const std::vector<GoalId> goals = lookahead::smallest_excluded_goals(task.program(), {100'000, 1U << 30, 1U << 30});
    const bool solvable = Lookahead::compile(task, {})->verdict() == Verdict::kSolvable;
    if (solvable) {
      EXPECT_TRUE(goals.empty()) << seed;
    }
    if (goals.empty()) continue;
    ++found;
    const auto verdict_of = [&](const std::vector<GoalId>& kept) {
      std::vector<GoalId> dropped;
      for (std::uint32_t goal = 0; goal < task.num_goals(); ++goal) {
        if (std::find(kept.begin(), kept.end(), GoalId{goal}) == kept.end()) dropped.push_back(GoalId{goal});
      }
      return Lookahead::compile(task.without_goals(dropped), {})->verdict();
    };
    EXPECT_EQ(verdict_of(goals), Verdict::kInfeasible) << seed;
    for (const GoalId goal : goals) {
      std::vector<GoalId> fewer = goals;
      std::erase(fewer, goal);
      EXPECT_EQ(verdict_of(fewer), Verdict::kSolvable) << seed;
    }
  }
  EXPECT_GT(found, 100U);
}

}  // namespace
}  // namespace metactrl::infeasible_test
