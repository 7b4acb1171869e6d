// As few goals as possible are dropped.
#include "lookahead/drop_goals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/exclusion.h"
#include "lookahead/goals.h"
#include "lookahead/literal_actions.h"
#include "lookahead/mutex_pairs.h"
#include "lookahead/supplies.h"
#include "metactrl/domain.h"
#include "support/random_definition.h"
#include "support/repeats.h"
#include "support/splitmix.h"

namespace metactrl::drop_goals_test {
namespace {

using lookahead::GoalSet;
using lookahead::members;

// Work on the services of a cluster. Approvals and certificates take a ticket each; a node is upgraded while no service is on
// it, and for that a service is stopped, moved and started again. Every service can be in many states, whatever the goals
// are about.
constexpr const char* kRunbook = R"((define (domain runbook) (:requirements :typing :negative-preconditions)
  (:types service node ticket version)
  (:predicates (on ?s - service ?n - node) (free ?n - node) (drained ?n - node) (upgraded ?n - node) (running ?s - service)
    (unused ?t - ticket) (approved ?s - service) (version ?s - service ?v - version) (saved ?s - service)
    (certified ?s - service))
  (:action approve :parameters (?s - service ?t - ticket) :precondition (unused ?t)
    :effect (and (approved ?s) (not (unused ?t))))
  (:action stop :parameters (?s - service) :precondition (and (running ?s) (approved ?s)) :effect (not (running ?s)))
  (:action start :parameters (?s - service ?n - node) :precondition (and (on ?s ?n) (not (drained ?n))) :effect (running ?s))
  (:action move :parameters (?s - service ?a ?b - node)
    :precondition (and (on ?s ?a) (not (running ?s)) (free ?b) (not (drained ?b)))
    :effect (and (not (on ?s ?a)) (on ?s ?b) (free ?a) (not (free ?b))))
  (:action drain :parameters (?n - node) :precondition (free ?n) :effect (drained ?n))
  (:action fill :parameters (?n - node) :precondition (drained ?n) :effect (not (drained ?n)))
  (:action upgrade :parameters (?n - node) :precondition (drained ?n) :effect (upgraded ?n))
  (:action save :parameters (?s - service) :precondition (running ?s) :effect (saved ?s))
  (:action install :parameters (?s - service ?v ?w - version)
    :precondition (and (not (running ?s)) (saved ?s) (version ?s ?v))
    :effect (and (not (version ?s ?v)) (version ?s ?w) (not (saved ?s)) (not (certified ?s))))
  (:action certify :parameters (?s - service ?t - ticket) :precondition (and (running ?s) (unused ?t))
    :effect (and (certified ?s) (not (unused ?t))))))";

Task runbook(int tickets, const std::string& goals) {
  std::string objects;
  std::string init;
  for (int i = 0; i < 8; ++i) {
    const std::string s = "s" + std::to_string(i);
    const std::string n = "n" + std::to_string(i);
    objects += s + " - service " + n + " - node ";
    init += "(on " + s + " " + n + ") (running " + s + ") (version " + s + " v1) ";
  }
  for (int i = 0; i < tickets; ++i) {
    const std::string ticket = "t" + std::to_string(i);
    objects += ticket + " - ticket ";
    init += "(unused " + ticket + ") ";
  }
  return load_pddl_text(kRunbook, "(define (problem p) (:domain runbook) (:objects " + objects +
                                      " spare - node v1 v2 v3 - version) (:init (free spare) " + init +
                                      ") (:goal (and " + goals + ")))");
}

std::string dropped(const Task& task, const ReducedTask& reduced) {
  std::string text;
  for (const GoalId goal : reduced.dropped) text += task.goal_text(goal);
  return text;
}

LookaheadOptions options() {
  LookaheadOptions options;
  options.fitted_horizon = true;
  options.weights = false;
  options.exact.states = 10'000;
  return options;
}

TEST(SlowDropGoals, OneOfTwoThatExcludeEachOther) {
  const Task task = runbook(8,
                            "(version s0 v2) (upgraded n1) (version s0 v3) (running s0) (version s1 v2) (running s1) "
                            "(certified s2) (upgraded n3) (on s4 spare)");
  const ReducedTask reduced = drop_unreachable_goals(task, options());
  EXPECT_EQ(dropped(task, reduced), "(version s0 v3)");
  EXPECT_TRUE(reduced.fewest);
  EXPECT_EQ(why_infeasible(task).reasons,
            std::vector<std::string>{"these goals exclude each other: (version s0 v2), (version s0 v3); "
                                     "each can be reached, but not all of them together"});
}

// Who may enumerate far more states does not do so first.
TEST(DropGoals, ConflictsAreFoundBeforeManyStatesAreEnumerated) {
  const Task task = runbook(8, "(version s0 v2) (version s0 v3) (running s1)");
  const auto times_asked = [&](std::size_t states) {
    LookaheadOptions wanted = options();
    wanted.exact.states = states;
    std::size_t asked = 0;
    const auto lookahead = Lookahead::compile(task, wanted, [&] { return ++asked == 0; });
    EXPECT_EQ(lookahead->reason(), "no state that can be reached satisfies (version s0 v2), (version s0 v3) together");
    EXPECT_FALSE(lookahead->num_states());
    return asked;
  };
  EXPECT_EQ(times_asked(1'000'000), times_asked(20'000));
}

// Whoever waits is asked less often, since less is done.
TEST(DropGoals, WhatIsKnownOfTheWholeIsNotAskedAgain) {
  const std::string goals = "(version s0 v2) (version s0 v3) (running s1)";
  const Task task = runbook(8, goals);
  const auto known = Lookahead::compile(task, options());
  ASSERT_EQ(known->verdict(), Verdict::kInfeasible);
  std::size_t asked = 0;
  const Stop counting = [&] { return ++asked == 0; };
  const ReducedTask again = drop_unreachable_goals(task, options(), counting);
  const std::size_t without = std::exchange(asked, 0);
  const ReducedTask reduced = drop_unreachable_goals(task, options(), counting, known);
  EXPECT_LT(asked, without);
  EXPECT_EQ(reduced.dropped, again.dropped);
  EXPECT_EQ(dropped(task, reduced), "(version s0 v3)");
  EXPECT_TRUE(reduced.fewest);
}

// Seven of the goals take a ticket each, and there are three.
TEST(DropGoals, AsManyAsThereIsTooLittleFor) {
  const Task task = runbook(3,
                            "(certified s0) (certified s1) (version s2 v2) (running s2) (certified s3) (certified s4) "
                            "(certified s5) (drained spare) (certified s6)");
  const ReducedTask reduced = drop_unreachable_goals(task, options());
  EXPECT_EQ(reduced.dropped.size(), 4U) << dropped(task, reduced);
  EXPECT_TRUE(reduced.fewest);
  EXPECT_EQ(reduced.lookahead->verdict(), Verdict::kSolvable);
}

// One node is free at a time, whoever moves: two facts about it never hold together, and no state need be looked at.
TEST(DropGoals, TwoThatNeedTheOnlyFreeNode) {
  const Task task = runbook(8,
                            "(drained n0) (drained n1) (running s2) (upgraded n3) (version s4 v3) (certified s5) "
                            "(running s6) (on s7 n7) (approved s3)");
  const ReducedTask reduced = drop_unreachable_goals(task, options());
  EXPECT_EQ(dropped(task, reduced), "(drained n1)");
  EXPECT_TRUE(reduced.fewest);
}

// What takes a ticket is not among the goals: a version is installed on a service that was stopped, which takes an approval.
TEST(SlowDropGoals, WhatLeadsToTheGoalsUsesUpMoreThanThereIs) {
  const Task task = runbook(8,
                            "(version s0 v2) (version s1 v2) (version s2 v2) (version s3 v2) (version s4 v2) "
                            "(version s5 v2) (version s6 v2) (version s7 v2) (certified s0)");
  const std::vector<std::string> reasons = why_infeasible(task).reasons;
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_NE(reasons[0].find("these goals exclude each other"), std::string::npos) << reasons[0];
  EXPECT_NE(reasons[0].find("any fewer of them can be reached"), std::string::npos) << reasons[0];
  const ReducedTask reduced = drop_unreachable_goals(task, options());
  EXPECT_EQ(reduced.dropped.size(), 1U) << dropped(task, reduced);
  EXPECT_TRUE(reduced.fewest);
}

// What the task's own states say, all of them.
std::vector<State> reachable_states(const Task& task) {
  std::vector<State> states = {task.initial_state()};
  const auto known = [&](const State& state) {
    return std::any_of(states.begin(), states.end(), [&](const State& other) {
      return std::equal(state.words().begin(), state.words().end(), other.words().begin());
    });
  };
  for (std::size_t i = 0; i < states.size(); ++i) {
    const State state = states[i];
    for (const ActionId action : task.applicable_actions(state)) {
      State next = *task.apply(state, action);
      if (!known(next)) states.push_back(std::move(next));
    }
  }
  return states;
}

std::vector<GoalSet> sets_met(const Task& task) {
  std::vector<GoalSet> met;
  for (const State& state : reachable_states(task)) {
    GoalSet set = 0;
    for (std::uint32_t goal = 0; goal < task.num_goals(); ++goal) set |= GoalSet{1} << goal;
    for (const GoalId goal : task.unmet_goals(state)) set &= ~(GoalSet{1} << static_cast<std::uint32_t>(goal));
    lookahead::add_largest(met, set);
  }
  return met;
}

TEST(DropGoals, FewestByBruteForce) {
  std::size_t some = 0;
  for (std::uint64_t seed = 0; seed < testing::repeats(1500); ++seed) {
    const Task task = testing::random_task(seed, {.max_monitors = 0});
    int most = 0;
    for (const GoalSet met : sets_met(task)) most = std::max(most, std::popcount(met));
    LookaheadOptions exact;
    LookaheadOptions searching;
    searching.exact.states = 1;
    for (const LookaheadOptions& how : {exact, searching}) {
      const ReducedTask reduced = drop_unreachable_goals(task, how);
      EXPECT_EQ(reduced.dropped.size(), task.num_goals() - static_cast<std::size_t>(most)) << seed;
      EXPECT_TRUE(reduced.fewest) << seed;
    }
    if (static_cast<std::size_t>(most) + 1 < task.num_goals()) ++some;
  }
  EXPECT_GT(some, testing::repeats(1500) / 50);
}

TEST(Exclusion, ConflictsAreNeverMet) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < testing::repeats(3000); ++seed) {
    const Task task = testing::random_task(seed, {.max_monitors = 0});
    const std::vector<GoalSet> met = sets_met(task);
    for (const GoalSet conflict : lookahead::find_exclusion(task.program(), 1'000'000, true)) {
      ++found;
      for (const GoalSet set : met) EXPECT_NE(conflict & ~set, 0U) << seed << ": " << conflict;
    }
  }
  EXPECT_GT(found, testing::repeats(3000) / 50);
}

TEST(Exclusion, PairsThatAreExcludedNeverHoldTogether) {
  std::size_t excluded = 0;
  for (std::uint64_t seed = 0; seed < testing::repeats(1000); ++seed) {
    const Task task = testing::random_task(seed, {.max_monitors = 0});
    const lookahead::LiteralTask literals(task.program());
    std::uint64_t work = 10'000'000;
    const auto pairs = lookahead::MutexPairs::find(literals, work, internal::no_meter());
    ASSERT_TRUE(pairs);
    const std::vector<State> states = reachable_states(task);
    for (lookahead::LiteralCode a = 0; a < literals.num_literals; ++a) {
      for (lookahead::LiteralCode b = 0; b < a; ++b) {
        if (b == lookahead::opposite(a) || !pairs->exclude(a, b)) continue;
        ++excluded;
        for (const State& state : states) {
          const task::Word* words = state.words().data();
          ASSERT_FALSE(task::Literal{a}.holds(words) && task::Literal{b}.holds(words)) << seed << ": " << a << " " << b;
        }
      }
    }
  }
  EXPECT_GT(excluded, testing::repeats(1000) / 10);
}

// Things to be made of parts, in ways that take one or two of them, some of them for others first.
TEST(Exclusion, WhatUsesUpMoreThanThereIsIsNeverMet) {
  std::size_t exceeded = 0;
  const std::size_t count = testing::repeats(400);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    internal::Random random(seed);
    const auto draw = [&](std::size_t limit) { return random.below(limit); };
    std::string objects = "t0 t1 - thing p0 p1 p2 - part";
    std::string init;
    for (std::size_t i = 0, parts = 1 + draw(3); i < parts; ++i) init += "(unused p" + std::to_string(i) + ")";
    for (int thing = 0; thing < 2; ++thing) {
      if (draw(4) == 0) init += "(planned t" + std::to_string(thing) + ")";
    }
    const bool returns = draw(4) == 0;
    const std::string domain =
        std::string("(define (domain d) (:requirements :adl) (:types thing part) (:predicates ") +
        "(unused ?p - part) (planned ?t - thing) (made ?t - thing) (painted ?t - thing))"
        "(:action plan :parameters (?t - thing ?p - part) :precondition (unused ?p) :effect (and (planned ?t) (not "
        "(unused ?p))))"
        "(:action make :parameters (?t - thing ?p - part) :precondition (and (planned ?t) (unused ?p))"
        " :effect (and (made ?t) (not (unused ?p)) (when (painted ?t) (not (planned ?t)))))"
        "(:action paint :parameters (?t - thing) :precondition (made ?t) :effect (and (painted ?t) (not (made ?t))))"
        "(:action scrap :parameters (?t - thing ?p - part) :precondition (made ?t) :effect (and (not (made ?t))" +
        (returns ? " (unused ?p)" : "") + ")))";
    std::string goal;
    for (const char* wish : {"(made t0)", "(made t1)", "(painted t0)", "(painted t1)"}) {
      if (draw(2) == 0) goal += wish;
    }
    const Task task = load_pddl_text(domain, "(define (problem p) (:domain d) (:objects " + objects + ") (:init " +
                                                 init + ") (:goal (and " + goal + ")))");
    const lookahead::LiteralTask literals(task.program());
    std::uint64_t work = 10'000'000;
    const auto supplies = lookahead::Supplies::find(literals, work, internal::no_meter());
    ASSERT_TRUE(supplies);
    const GoalSet set = supplies->exceeded_by((GoalSet{1} << task.num_goals()) - 1);
    if (set == 0) continue;
    ++exceeded;
    for (const GoalSet met : sets_met(task)) EXPECT_NE(set & ~met, 0U) << seed << ": " << init << goal;
  }
  EXPECT_GT(exceeded, count / 20);
}

// People who may approve so many times each, step by step; what was approved is used up by what it was for.
TEST(Exclusion, WhatIsTakenStepByStepIsCounted) {
  std::size_t exceeded = 0;
  for (std::uint64_t seed = 0; seed < testing::repeats(150); ++seed) {
    internal::Random random(seed);
    std::string init = "(next l0 l1)(next l1 l2)";
    std::size_t approvals = 0;
    for (const char* who : {"ann", "bob"}) {
      const std::size_t quota = random.below(3);
      approvals += quota;
      init += std::string("(quota ") + who + " l" + std::to_string(quota) + ")";
    }
    const bool renewed = random.below(4) == 0;
    std::string goal;
    std::size_t wanted = 0;
    for (const char* service : {"s0", "s1", "s2"}) {
      const std::size_t wish = random.below(3);
      wanted += wish == 0 ? 0 : 1;
      if (wish > 0) goal += std::string(wish == 1 ? "(approved " : "(patched ") + service + ")";
    }
    const Task task = load_pddl_text(
        std::string("(define (domain d) (:requirements :strips :typing) (:types person level service)"
                    "(:constants l0 l1 l2 - level) (:predicates (quota ?p - person ?l - level) (next ?x ?y - level) "
                    "(approved ?s - service)"
                    " (patched ?s - service))"
                    "(:action approve :parameters (?p - person ?s - service ?x ?y - level)"
                    " :precondition (and (quota ?p ?y) (next ?x ?y))"
                    " :effect (and (approved ?s) (not (quota ?p ?y)) (quota ?p ?x)))") +
            (renewed
                 ? "(:action renew :parameters (?p - person) :precondition (quota ?p l0) :effect (and (quota ?p l2) "
                   "(not (quota ?p l0))))"
                 : "") +
            "(:action patch :parameters (?s - service) :precondition (approved ?s)"
            " :effect (and (patched ?s) (not (approved ?s)))))",
        "(define (problem p) (:domain d) (:objects ann bob - person s0 s1 s2 - service) (:init " + init +
            ") (:goal (and " + goal + ")))");
    const lookahead::LiteralTask literals(task.program());
    std::uint64_t work = 10'000'000;
    const auto supplies = lookahead::Supplies::find(literals, work, internal::no_meter());
    ASSERT_TRUE(supplies);
    const GoalSet set = supplies->exceeded_by((GoalSet{1} << task.num_goals()) - 1);
    // A goal that is out of reach by itself has no landmarks.
    if (approvals > 0) {
      EXPECT_EQ(set != 0, !renewed && wanted > approvals) << seed << ": " << init << goal;
    }
    if (set == 0) continue;
    ++exceeded;
    EXPECT_EQ(static_cast<std::size_t>(std::popcount(set)), approvals + 1);
    for (const GoalSet met : sets_met(task)) EXPECT_NE(set & ~met, 0U) << seed << ": " << init << goal;
  }
  EXPECT_GT(exceeded, testing::repeats(150) / 10);
}

}  // namespace
}  // namespace metactrl::drop_goals_test
