// Why a task has no plan, and what would help.
#include "lookahead/infeasible.h"

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
  EXPECT_EQ(why_infeasible(hospital("(sink a)", "(clean knife)")).reasons, Lines{});
}

TEST(WhyInfeasible, NamesTheFactThatNothingMakesTrue) {
  const Task task = hospital("", "(clean knife)");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"the goal (clean knife) cannot become true: (wash knife ?p) could, but needs (sink "
                  "?p); (sink ?p) does not hold at the start, and no action makes it true"});
  EXPECT_EQ(why_infeasible(task).would_help, (Lines{"with (sink a) at the start", "with (sink b) at the start"}));
}

TEST(WhyInfeasible, FollowsWhatIsNeededToItsRoot) {
  const Task task = hospital("(sink b)", "(and (open) (ready knife))");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"the goal (ready knife) cannot become true: (ready knife) is derived from (and (sterile ?t) (open)); "
                  "(bake knife ?p) could, but needs (hot ?p); (heat ?p) could, but needs (oven ?p); (oven ?p) does not "
                  "hold at the start, and no action makes it true"});
  EXPECT_EQ(why_infeasible(task).would_help,
            (Lines{"without the goal (ready knife)", "with (oven a) at the start", "with (oven b) at the start"}));
}

constexpr const char* kLab = R"((define (domain lab) (:requirements :strips :typing) (:types room tool - object)
  (:predicates (in ?r - room) (door ?a ?b - room) (basin ?r - room) (full) (wet ?t - tool) (sterile ?t - tool))
  (:action walk :parameters (?a ?b - room) :precondition (and (in ?a) (door ?a ?b)) :effect (and (in ?b) (not (in ?a))))
  (:action wash :parameters (?t - tool ?r - room) :precondition (and (full) (in ?r) (basin ?r)) :effect (wet ?t))
  (:action bake :parameters (?t - tool) :precondition (wet ?t) :effect (sterile ?t))))";

// Neither water alone helps nor a basin; a scalpel that is wet already does.
TEST(WhyInfeasible, WhereMoreThanOneThingIsMissingAFactOnTheWayMayHelp) {
  const Task task = load_pddl_text(kLab,
                                   "(define (problem p) (:domain lab) (:objects hall - room scalpel saw - tool) "
                                   "(:init (in hall)) (:goal (sterile scalpel)))");
  const WhyInfeasible why = why_infeasible(task);
  ASSERT_EQ(why.reasons.size(), 1U);
  EXPECT_NE(why.reasons[0].find("does not hold at the start, and no action makes it true"), std::string::npos);
  EXPECT_EQ(why.would_help, Lines{"with (wet scalpel) at the start"});
}

TEST(WhyInfeasible, AChangeThatIsMissingTwiceIsNamedOnce) {
  const Task task = load_pddl_text(kLab,
                                   "(define (problem p) (:domain lab) (:objects hall - room scalpel saw - tool) "
                                   "(:init (in hall) (basin hall)) (:goal (and (wet scalpel) (wet saw))))");
  EXPECT_EQ(why_infeasible(task).reasons.size(), 2U);
  EXPECT_EQ(why_infeasible(task).would_help, Lines{"with (full) at the start"});
}

TEST(WhyInfeasible, NamesTheTypeThatHasNoObject) {
  const Task task = hospital("", "(and (open) (clean knife))", "knife - tool");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"the goal (clean knife) cannot become true: (wash knife ?p) could, but needs an "
                  "object of type place; there is none"});
  // A place alone would be no sink.
  EXPECT_EQ(why_infeasible(task).would_help, Lines{"without the goal (clean knife)"});
}

TEST(WhyInfeasible, NamesTheGoalsThatExcludeEachOther) {
  const Task task = hospital("(sink a)", "(and (clean knife) (open) (locked) (at a))");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"these goals exclude each other: (open), (locked); each can be reached, but not "
                  "all of them together"});
  const Lines help = why_infeasible(task).would_help;
  ASSERT_GE(help.size(), 2U);
  EXPECT_EQ(help[0], "without the goal (open)");
  EXPECT_EQ(help[1], "without the goal (locked)");
}

// 2^17 states and more: too many for all goals together.
TEST(WhyInfeasible, GoalsThatExcludeEachOtherAreFoundAmongMany) {
  std::string tools;
  std::string goal = "(and (open) (at b)";
  for (int i = 0; i < 16; ++i) {
    tools += "k" + std::to_string(i) + " ";
    goal += " (clean k" + std::to_string(i) + ")";
  }
  const Task task = hospital("(sink a)", goal + " (locked))", tools + "- tool a b - place");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"these goals exclude each other: (open), (locked); each can be reached, but not "
                  "all of them together"});
  EXPECT_EQ(why_infeasible(task).would_help, (Lines{"without the goal (open)", "without the goal (locked)"}));
}

// To unlock takes an action, to wash two.
TEST(WhyInfeasible, WhatHelpsDoesSoWithinTheHorizon) {
  const Task task = hospital("(sink a)", "(and (open) (clean knife))");
  LookaheadOptions options;
  options.horizon = 1;
  options.fixed_horizon = true;
  const auto known = Lookahead::compile(task, options);
  ASSERT_EQ(known->verdict(), Verdict::kInfeasible);
  const WhyInfeasible why = lookahead::why_infeasible(task, *known, {});
  EXPECT_EQ(why.reasons, Lines{});
  EXPECT_EQ(std::ranges::count(why.would_help, "without the goal (clean knife)"), 1);
  EXPECT_EQ(std::ranges::count(why.would_help, "without the goal (open)"), 0);
}

// A place that only its type asks for, behind a door that is forbidden to all who have no key.
constexpr const char* kWards = R"((define (domain wards) (:requirements :strips :typing :negative-preconditions)
  (:types lab - room room key)
  (:predicates (in ?r - room) (restricted ?r - room) (key-in ?k - key ?r - room) (has ?k - key) (tested ?r - room)
               (hatch ?r - room))
  (:action walk :parameters (?from ?to - room) :precondition (and (in ?from) (not (restricted ?to)))
    :effect (and (in ?to) (not (in ?from))))
  (:action unlock :parameters (?from ?to - room ?k - key) :precondition (and (in ?from) (restricted ?to) (has ?k))
    :effect (and (in ?to) (not (in ?from))))
  (:action take :parameters (?k - key ?r - room) :precondition (and (in ?r) (key-in ?k ?r))
    :effect (and (has ?k) (not (key-in ?k ?r))))
  (:action climb :parameters (?from ?to - room) :precondition (and (in ?from) (hatch ?to))
    :effect (and (in ?to) (not (in ?from))))
  (:action test :parameters (?l - lab) :precondition (in ?l) :effect (tested ?l))))";

Task wards(const std::string& objects, const std::string& init, const std::string& goal) {
  return load_pddl_text(kWards, "(define (problem p) (:domain wards) (:objects " + objects +
                                    ") (:init (in hall) (hatch hall) " + init + ") (:goal " + goal + "))");
}

// The drug is somewhere, and the robot may be somewhere; but where the drug is, the robot never is. It cannot carry itself
// there either.
TEST(WhyInfeasible, PartsOfAPreconditionMayHaveNoObjectInCommon) {
  const Task task = load_pddl_text(
      R"((define (domain pharmacy) (:requirements :adl) (:types room thing - object robot - thing)
        (:predicates (in ?t - thing ?r - room) (restricted ?r - room) (badge ?b - robot) (has ?b - robot ?t - thing))
        (:action walk :parameters (?b - robot ?a ?c - room)
          :precondition (and (in ?b ?a) (or (not (restricted ?c)) (badge ?b))) :effect (and (in ?b ?c) (not (in ?b ?a))))
        (:action take :parameters (?b - robot ?t - thing ?r - room)
          :precondition (and (in ?b ?r) (in ?t ?r) (not (= ?b ?t))) :effect (and (has ?b ?t) (not (in ?t ?r))))
        (:action put :parameters (?b - robot ?t - thing ?r - room)
          :precondition (and (in ?b ?r) (has ?b ?t)) :effect (and (in ?t ?r) (not (has ?b ?t))))))",
      "(define (problem p) (:domain pharmacy) (:objects hall ward store - room drug - thing rob - robot)"
      " (:init (in rob hall) (in drug store) (restricted store)) (:goal (in drug ward)))");
  const WhyInfeasible why = why_infeasible(task);
  EXPECT_EQ(why.reasons,
            Lines{"the goal (in drug ward) cannot become true: (put ?b drug ward) could, but needs (has ?b "
                  "drug); (take ?b drug ?r) could, but needs (in rob store); (walk rob ?a store) could, but "
                  "needs (badge rob); (badge rob) does not hold at the start, and no action makes it true"});
  ASSERT_FALSE(why.would_help.empty());
  EXPECT_EQ(why.would_help[0], "with (badge rob) at the start");
}

// A hatch would be one step less, but there are hatches elsewhere, and there is no key.
TEST(WhyInfeasible, TypesOfOpenArgumentsAreLookedAt) {
  const Task task = wards("hall - room north - lab silver - key", "(restricted north)", "(tested north)");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"the goal (tested north) cannot become true: (test north) could, but needs (in north); (unlock ?from "
                  "north ?k) could, but needs (has ?k); (take ?k ?r) could, but needs (key-in ?k ?r); (key-in ?k ?r) "
                  "does not hold at the start, and no action makes it true"});
  const Task any =
      wards("hall - room north - lab silver - key", "(restricted north)", "(exists (?l - lab) (tested ?l))");
  EXPECT_EQ(why_infeasible(any).reasons,
            Lines{"the goal (exists (?l - lab) (tested ?l)) cannot become true: (test ?l) could, but needs (in north); "
                  "(unlock ?from north ?k) could, but needs (has ?k); (take ?k ?r) could, but needs (key-in ?k ?r); "
                  "(key-in ?k ?r) does not hold at the start, and no action makes it true"});
}

TEST(WhyInfeasible, WhatAlwaysHoldsCanBeTheReason) {
  constexpr const char* kDoor = R"((define (domain door) (:requirements :strips :negative-preconditions)
    (:predicates (jammed) (open))
    (:action push :parameters () :precondition (not (jammed)) :effect (open))))";
  const Task task = load_pddl_text(kDoor, "(define (problem p) (:domain door) (:init (jammed)) (:goal (open)))");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"the goal (open) cannot become true: (push) could, but needs (not (jammed)); "
                  "(jammed) holds at the start, and no action makes it false"});
  EXPECT_EQ(why_infeasible(task).would_help, Lines{"without (jammed) at the start"});
}

TEST(WhyInfeasible, AConstraintCanBeTheReason) {
  const Task task =
      hospital("(sink a)", "(clean knife)", "knife - tool a b - place", "(:constraints (always (not (at a))))");
  EXPECT_EQ(why_infeasible(task).reasons,
            Lines{"no state that can be reached without breaking the constraint (always (not (at a))) satisfies (clean "
                  "knife)"});
  const Lines help = why_infeasible(task).would_help;
  ASSERT_FALSE(help.empty());
  EXPECT_EQ(help[0], "without the constraint (always (not (at a)))");
}

// Where one is in the way; where two are, neither helps alone.
TEST(WhyInfeasible, OfSeveralConstraintsThoseInTheWayAreNamed) {
  const std::string harmless = "(always (not (locked))) (sometime (open))";
  const Task one = hospital("(sink a)", "(clean knife)", "knife - tool a b - place",
                            "(:constraints (and " + harmless + " (always (not (at a)))))");
  const std::string reason =
      "no state that can be reached without breaking a trajectory constraint satisfies (clean knife); it is enough to "
      "do "
      "without ";
  EXPECT_EQ(why_infeasible(one).reasons, Lines{reason + "the constraint (always (not (at a)))"});
  const Task both =
      hospital("(sink a)", "(clean knife)", "knife - tool a b - place",
               "(:constraints (and " + harmless + " (always (not (at a))) (always (not (clean knife)))))");
  EXPECT_EQ(why_infeasible(both).reasons,
            Lines{"no state that can be reached without breaking a trajectory constraint satisfies (clean knife)"});
}

TEST(WhyInfeasible, TheConstraintThatIsBrokenFromTheStartIsNamed) {
  const Task task = hospital("(sink a) (locked)", "(clean knife)", "knife - tool a b - place",
                             "(:constraints (and (always (not (at b))) (always (not (locked)))))");
  const auto lookahead = Lookahead::compile(task, {});
  EXPECT_EQ(lookahead->verdict(), Verdict::kInfeasible);
  EXPECT_EQ(lookahead->reason(), "the initial state breaks the constraint (always (not (locked)))");
  const WhyInfeasible why = why_infeasible(task);
  EXPECT_EQ(why.reasons, Lines{"the initial state breaks the constraint (always (not (locked)))"});
  EXPECT_EQ(std::ranges::count(why.would_help, "without the constraint (always (not (locked)))"), 1);
  EXPECT_EQ(std::ranges::count(why.would_help, "without the constraint (always (not (at b)))"), 0);
}

// (x) grows without end: (p) and (q) exclude each other as far as it is followed, and at 500 no more. Three litres each
// cannot be had twice from five, whatever grows.
TEST(WhyInfeasible, WhatExcludesEachOtherAsFarAsNumbersAreFollowedIsNoReason) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :adl :numeric-fluents)\n"
      "(:predicates (home) (away) (far) (free) (p) (q) (lit ?o)) (:functions (x) (fuel))\n"
      "(:action up :effect (increase (x) 1)) (:action down :effect (decrease (x) 1))\n"
      "(:action go :precondition (and (home) (>= (fuel) 3)) :effect (and (not (home)) (away) (decrease (fuel) 3)))\n"
      "(:action further :precondition (and (away) (>= (fuel) 3)) :effect (and (far) (decrease (fuel) 3)))\n"
      "(:action take-p :precondition (free) :effect (and (p) (not (free))))\n"
      "(:action take-q :precondition (free) :effect (and (q) (not (free))))\n"
      "(:action refill :precondition (>= (x) 500) :effect (free))\n"
      "(:action light :parameters (?o) :effect (lit ?o)))",
      "(define (problem p) (:domain d) (:objects a b c d e f g h) (:init (home) (free) (= (x) 0) (= (fuel) 5))\n"
      "(:goal (and (p) (q) (far) (= (x) 5) (lit a) (lit b) (lit c) (lit d) (lit e) (lit f) (lit g) (lit h))))");
  const auto lookahead = Lookahead::compile(task, {});
  EXPECT_EQ(lookahead->reason(), "a goal is out of reach, whatever grows; out of reach: (far)");
  EXPECT_EQ(lookahead::why_infeasible(task, *lookahead, {}).reasons,
            Lines{"no state that can be reached satisfies (far)"});
}

// The smallest set, by looking at every state that can be reached.
TEST(WhyInfeasible, TheExcludedGoalsAreExcludedAndNoFewerAre) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Task task = testing::random_task(seed, {.max_monitors = 0});
    const std::vector<lookahead::GoalSet> sets =
        lookahead::smallest_excluded_goals(task.program(), {100'000, 1U << 30, 1U << 30});
    const std::vector<GoalId> goals = sets.empty() ? std::vector<GoalId>() : lookahead::members(sets.back());
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
