#include "metactrl/task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "support/small_definition.h"
#include "task/compile.h"
#include "task/program.h"

namespace metactrl::task_test {
namespace {

using task::Formula;
using task::make_and;
using task::make_at_least;
using task::make_or;
using task::MonitorDefinition;
using testing::matching;
using testing::negative;
using testing::positive;
using testing::SmallDefinition;
using testing::yes;
using Strings = std::vector<std::string>;

Task task_of(SmallDefinition definition) { return {task::compile(definition.take()), nullptr}; }

ActionId action(const Task& task, const std::string& name) {
  const std::optional<ActionId> found = task.find({name, {}});
  EXPECT_TRUE(found) << name;
  return found.value_or(ActionId{0});
}

// The state after the named actions; nothing when one is not legal.
std::optional<State> run(const Task& task, const Strings& names) {
  State state = task.initial_state();
  for (const std::string& name : names) {
    const std::optional<State> next = task.apply(state, action(task, name));
    if (!next) return std::nullopt;
    state = *next;
  }
  return state;
}

bool reaches_goal(const Task& task, const Strings& names) {
  const std::optional<State> state = run(task, names);
  return state && task.is_goal(*state);
}

// --- effects ---------------------------------------------------------------------------------------------------------

TEST(Task, AddsComeAfterDeletes) {
  SmallDefinition d;
  const auto p = d.fact("p", true);
  const auto q = d.fact("q", true);
  d.action("same-effect", yes(), {{yes(), {p}, {p}}});
  d.action("two-effects", yes(), {{yes(), {p}, {}}, {positive(q), {}, {p}}});
  d.action("two-conditional", yes(), {{positive(q), {p}, {}}, {positive(p), {}, {p}}});
  d.action("clear", yes(), {{yes(), {}, {p}}});
  d.action("clear-q", yes(), {{yes(), {}, {q}}});
  d.goal(positive(p));
  const Task task = task_of(std::move(d));
  EXPECT_TRUE(reaches_goal(task, {"same-effect"}));
  EXPECT_TRUE(reaches_goal(task, {"two-effects"}));
  EXPECT_TRUE(reaches_goal(task, {"two-conditional"}));
  EXPECT_FALSE(reaches_goal(task, {"clear"}));
  EXPECT_TRUE(reaches_goal(task, {"clear", "same-effect"}));
  // Without q only the deleting effect fires.
  EXPECT_FALSE(reaches_goal(task, {"clear-q", "two-conditional"}));
}

TEST(Task, ConditionalEffectsLookAtTheOldState) {
  SmallDefinition d;
  const auto p = d.fact("p", true);
  const auto q = d.fact("q", false);
  d.action("swap", yes(),
           {{positive(p), {q}, {}}, {negative(p), {}, {q}}, {positive(q), {p}, {}}, {negative(q), {}, {p}}});
  d.goal(make_and({negative(p), positive(q)}));
  const Task task = task_of(std::move(d));
  EXPECT_FALSE(reaches_goal(task, {}));
  EXPECT_TRUE(reaches_goal(task, {"swap"}));
  EXPECT_FALSE(reaches_goal(task, {"swap", "swap"}));
  EXPECT_EQ(run(task, {"swap", "swap"}), task.initial_state());
}

TEST(Task, AnActionThatChangesNothingIsLegal) {
  SmallDefinition d;
  const auto p = d.fact("p", false);
  d.action("look", yes(), {});
  d.action("set", yes(), {{yes(), {p}, {}}});
  d.goal(positive(p));
  const Task task = task_of(std::move(d));
  EXPECT_EQ(task.num_actions(), 2U);
  EXPECT_TRUE(task.legal(task.initial_state(), action(task, "look")));
  EXPECT_EQ(run(task, {"look"}), task.initial_state());
}

TEST(Task, DerivedFactsFollowTheState) {
  SmallDefinition d;
  const auto ab = d.fact("ab", false);
  const auto bc = d.fact("bc", false);
  const auto ac = d.derived("ac", 0);
  const auto cut = d.derived("cut", 1);
  d.axiom(ac, make_and({positive(ab), positive(bc)}));
  d.axiom(cut, negative(ac));
  d.action("join-ab", yes(), {{yes(), {ab}, {}}});
  d.action("join-bc", yes(), {{yes(), {bc}, {}}});
  d.action("part", positive(ac), {{yes(), {}, {ab}}});
  d.goal(make_and({positive(cut), positive(bc)}));
  const Task task = task_of(std::move(d));
  EXPECT_EQ(task.facts(task.initial_state()), (Strings{"(cut)"}));
  EXPECT_FALSE(run(task, {"part"}));
  const std::optional<State> joined = run(task, {"join-ab", "join-bc"});
  ASSERT_TRUE(joined);
  EXPECT_EQ(task.facts(*joined), (Strings{"(ab)", "(bc)", "(ac)"}));
  EXPECT_TRUE(reaches_goal(task, {"join-ab", "join-bc", "part"}));
}

// --- counting conditions ---------------------------------------------------------------------------------------------

// Four facts and an action per fact that sets it.
Task counting_task(const Formula& goal) {
  SmallDefinition d;
  for (int i = 0; i < 4; ++i) d.fact("f" + std::to_string(i), false);
  for (std::uint32_t i = 0; i < 4; ++i) {
    d.action("s" + std::to_string(i), yes(), {{yes(), {task::FactId{i}}, {}}});
  }
  d.goal(goal);
  return task_of(std::move(d));
}

TEST(Task, AtLeast) {
  const Formula two = make_at_least(2, {positive(0), positive(1), positive(2), negative(3)});
  const Task task = counting_task(two);
  EXPECT_FALSE(reaches_goal(task, {}));
  EXPECT_TRUE(reaches_goal(task, {"s0"}));
  EXPECT_FALSE(reaches_goal(task, {"s0", "s3"}));
  EXPECT_TRUE(reaches_goal(task, {"s0", "s3", "s2"}));
  const Task opposite = counting_task(negate(two));
  EXPECT_TRUE(reaches_goal(opposite, {}));
  EXPECT_FALSE(reaches_goal(opposite, {"s0"}));
  EXPECT_TRUE(reaches_goal(opposite, {"s0", "s3"}));
}

TEST(Task, AtLeastOfNoneAndOfTooMany) {
  EXPECT_TRUE(make_at_least(0, {positive(0)}).is_true());
  EXPECT_TRUE(make_at_least(0, {}).is_true());
  EXPECT_TRUE(make_at_least(2, {positive(0)}).is_false());
  EXPECT_TRUE(negate(make_at_least(0, {positive(0)})).is_false());
}

TEST(Task, Matching) {
  // Rows are two cups, columns two plates: f0 f1 / f2 f3.
  const Formula pairs = matching(2, 2, {positive(0), positive(1), positive(2), positive(3)});
  const Task task = counting_task(pairs);
  EXPECT_FALSE(reaches_goal(task, {"s0", "s1"}));       // one cup on both plates
  EXPECT_FALSE(reaches_goal(task, {"s0", "s2"}));       // both cups on one plate
  EXPECT_TRUE(reaches_goal(task, {"s1", "s2"}));        // the other diagonal
  EXPECT_TRUE(reaches_goal(task, {"s0", "s1", "s2"}));  // greedy must move the first cup
  const Task opposite = counting_task(negate(pairs));
  EXPECT_TRUE(reaches_goal(opposite, {"s0", "s1"}));
  EXPECT_FALSE(reaches_goal(opposite, {"s1", "s2"}));
  EXPECT_TRUE(reaches_goal(counting_task(matching(0, 2, {positive(0), positive(1)})), {}));
  EXPECT_FALSE(reaches_goal(counting_task(matching(2, 2, {positive(0), positive(1)})), {"s0", "s1"}));
  EXPECT_TRUE(reaches_goal(counting_task(matching(2, 2, {positive(0), positive(1)}, true)), {"s0", "s1"}));
}

// --- monitors --------------------------------------------------------------------------------------------------------

// Facts p and q with actions p+ p- q+ q-, "both" (sets p and q) and "wait"; a goal that always holds.
Task monitored(MonitorDefinition::Kind kind, const Formula& first, const Formula& second, bool p_init, bool q_init) {
  SmallDefinition d;
  const auto p = d.fact("p", p_init);
  const auto q = d.fact("q", q_init);
  d.action("p+", yes(), {{yes(), {p}, {}}});
  d.action("p-", yes(), {{yes(), {}, {p}}});
  d.action("q+", yes(), {{yes(), {q}, {}}});
  d.action("q-", yes(), {{yes(), {}, {q}}});
  d.action("both", yes(), {{yes(), {p, q}, {}}});
  d.action("wait", yes(), {});
  d.goal(yes());
  d.monitor(kind, first, second);
  return task_of(std::move(d));
}

TEST(Task, MonitorAlways) {
  const auto task = monitored(MonitorDefinition::Kind::kAlways, negative(0), {}, false, false);
  EXPECT_FALSE(task.initially_violated());
  EXPECT_TRUE(reaches_goal(task, {"q+", "p-"}));
  EXPECT_FALSE(task.legal(task.initial_state(), action(task, "p+")));
  const std::vector<ActionId> legal = task.applicable_actions(task.initial_state());
  EXPECT_EQ(std::count(legal.begin(), legal.end(), action(task, "p+")), 0);
  EXPECT_EQ(legal.size(), 4U);  // not p+ and not both
  EXPECT_TRUE(monitored(MonitorDefinition::Kind::kAlways, negative(0), {}, true, false).initially_violated());
}

TEST(Task, MonitorSometime) {
  const auto task = monitored(MonitorDefinition::Kind::kSometime, positive(0), {}, false, false);
  EXPECT_FALSE(reaches_goal(task, {}));
  EXPECT_TRUE(reaches_goal(task, {"p+", "p-"}));
  EXPECT_FALSE(reaches_goal(task, {"q+"}));
  EXPECT_EQ(task.unmet_goals(task.initial_state()).size(), 1U);
  EXPECT_EQ(task.goal_text(task.unmet_goals(task.initial_state()).front()), "monitor");
  // The initial state counts.
  EXPECT_TRUE(reaches_goal(monitored(MonitorDefinition::Kind::kSometime, positive(0), {}, true, false), {"p-"}));
}

TEST(Task, MonitorAtMostOnce) {
  const auto task = monitored(MonitorDefinition::Kind::kAtMostOnce, positive(0), {}, false, false);
  EXPECT_TRUE(reaches_goal(task, {}));
  EXPECT_TRUE(reaches_goal(task, {"p+", "wait", "p+", "p-", "wait"}));
  EXPECT_FALSE(run(task, {"p+", "p-", "p+"}));
  // The stretch may have begun in the initial state.
  const auto begun = monitored(MonitorDefinition::Kind::kAtMostOnce, positive(0), {}, true, false);
  EXPECT_TRUE(run(begun, {"wait", "p-"}));
  EXPECT_FALSE(run(begun, {"p-", "p+"}));
}

TEST(Task, MonitorSometimeAfter) {
  const auto task = monitored(MonitorDefinition::Kind::kSometimeAfter, positive(0), positive(1), false, false);
  EXPECT_TRUE(reaches_goal(task, {}));
  EXPECT_FALSE(reaches_goal(task, {"p+"}));
  EXPECT_FALSE(reaches_goal(task, {"p+", "p-"}));
  EXPECT_TRUE(reaches_goal(task, {"p+", "p-", "q+"}));
  EXPECT_TRUE(reaches_goal(task, {"both"}));  // then or later
  EXPECT_FALSE(reaches_goal(task, {"both", "q-"}));
  EXPECT_TRUE(reaches_goal(task, {"both", "p-", "q-"}));
  EXPECT_FALSE(reaches_goal(task, {"q+", "q-", "p+"}));
  const auto pending = monitored(MonitorDefinition::Kind::kSometimeAfter, positive(0), positive(1), true, false);
  EXPECT_FALSE(reaches_goal(pending, {}));
  EXPECT_FALSE(reaches_goal(pending, {"p-"}));
  EXPECT_TRUE(reaches_goal(pending, {"q+"}));
}

TEST(Task, MonitorSometimeBefore) {
  const auto task = monitored(MonitorDefinition::Kind::kSometimeBefore, positive(0), positive(1), false, false);
  EXPECT_FALSE(run(task, {"p+"}));
  EXPECT_FALSE(run(task, {"both"}));  // strictly earlier
  EXPECT_TRUE(run(task, {"q+", "both"}));
  EXPECT_TRUE(run(task, {"q+", "q-", "p+"}));
  const auto seen = monitored(MonitorDefinition::Kind::kSometimeBefore, positive(0), positive(1), false, true);
  EXPECT_TRUE(run(seen, {"q-", "p+"}));
  EXPECT_TRUE(
      monitored(MonitorDefinition::Kind::kSometimeBefore, positive(0), positive(1), true, true).initially_violated());
}

TEST(Task, MonitorActionsInOrder) {
  SmallDefinition d;
  const auto p = d.fact("p", false);
  const auto wash = d.action("wash", yes(), {});
  const auto cut = d.action("cut", yes(), {{yes(), {p}, {}}});
  const auto chop = d.action("chop", yes(), {{yes(), {p}, {}}});
  d.goal(yes());
  d.actions_in_order({{wash}, {cut, chop}, {wash}});
  const Task task = task_of(std::move(d));
  EXPECT_FALSE(reaches_goal(task, {}));
  EXPECT_FALSE(reaches_goal(task, {"cut", "wash", "cut"}));
  EXPECT_TRUE(reaches_goal(task, {"wash", "chop", "wash"}));
  EXPECT_TRUE(reaches_goal(task, {"cut", "wash", "wash", "cut", "chop", "wash", "cut"}));
  // One action serves one step.
  EXPECT_FALSE(reaches_goal(task, {"wash", "cut"}));
}

// --- names, plans ----------------------------------------------------------------------------------------------------

constexpr const char* kDomain = R"(
(define (domain kitchen)
  (:requirements :strips :typing :negative-preconditions)
  (:types room item)
  (:predicates (at ?r - room) (in ?i - item ?r - room) (held ?i - item) (linked ?a ?b - room))
  (:action walk :parameters (?from ?to - room)
    :precondition (and (at ?from) (linked ?from ?to)) :effect (and (not (at ?from)) (at ?to)))
  (:action grab :parameters (?i - item ?r - room)
    :precondition (and (at ?r) (in ?i ?r)) :effect (and (held ?i) (not (in ?i ?r))))
  (:action sing :parameters () :precondition () :effect ()))
)";
constexpr const char* kProblem = R"(
(define (problem fetch) (:domain kitchen)
  (:objects hall kitchen cellar - room cup - item)
  (:init (at hall) (linked hall kitchen) (linked kitchen hall) (in cup kitchen))
  (:goal (and (held cup) (at hall))))
)";

TEST(Task, FindIsTheInverseOfText) {
  const Task task = load_pddl_text(kDomain, kProblem);
  EXPECT_EQ(task.name(), "fetch");
  EXPECT_EQ(task.num_objects(), 4U);
  EXPECT_EQ(task.num_action_names(), 3U);
  ASSERT_EQ(task.num_actions(), 4U);  // nobody gets to the cellar
  for (std::uint32_t a = 0; a < task.num_actions(); ++a) {
    const ActionId action{a};
    EXPECT_EQ(task.find(task.step(action)), action);
    EXPECT_EQ(to_string(task.step(action)), task.text(action));
    const std::vector<PlanStep> parsed = parse_plan(task.text(action), "plan");
    ASSERT_EQ(parsed.size(), 1U);
    EXPECT_EQ(task.find(parsed[0]), action);
    EXPECT_EQ(task.arguments(action).size(), task.arity(task.name_of(action)));
    EXPECT_EQ(task.cost(action), 1);
  }
  EXPECT_EQ(task.text(ActionId{0}), "(walk hall kitchen)");
  EXPECT_FALSE(task.find({"walk", {"kitchen", "cellar"}}));
  EXPECT_FALSE(task.find({"walk", {"hall"}}));
  EXPECT_FALSE(task.find({"fly", {}}));
  EXPECT_FALSE(task.find({"grab", {"spoon", "hall"}}));
}

TEST(Task, RunsAPlan) {
  const Task task = load_pddl_text(kDomain, kProblem);
  State state = task.initial_state();
  EXPECT_EQ(task.unmet_goals(state).size(), 1U);
  std::vector<ActionId> plan;
  for (const PlanStep& step : parse_plan("(walk hall kitchen)\n(grab cup kitchen)\n(walk kitchen hall)\n", "plan")) {
    plan.push_back(task.find(step).value());
    ASSERT_TRUE(task.legal(state, plan.back()));
    state = *task.apply(state, plan.back());
  }
  EXPECT_TRUE(task.is_goal(state));
  EXPECT_TRUE(task.unmet_goals(state).empty());
  EXPECT_EQ(task.facts(state), (Strings{"(at hall)", "(held cup)"}));
  const Validation validation = task.validate(plan);
  EXPECT_TRUE(validation.valid) << validation.reason;
  EXPECT_EQ(validation.cost, 3);
  // The cup is no longer there.
  EXPECT_FALSE(task.apply(state, plan[1]));
  EXPECT_FALSE(task.legal(state, ActionId{99}));
}

TEST(Task, ApplyIntoAReusedState) {
  const Task task = load_pddl_text(kDomain, kProblem);
  State successor;
  ASSERT_TRUE(task.apply(task.initial_state(), ActionId{0}, successor));
  EXPECT_EQ(successor, task.apply(task.initial_state(), ActionId{0}));
  EXPECT_FALSE(task.apply(successor, ActionId{0}, successor));
}

TEST(Task, ApplyInPlace) {
  SmallDefinition d;
  const auto p = d.fact("p", true);
  const auto q = d.fact("q", false);
  d.action("swap", yes(),
           {{positive(p), {q}, {}}, {negative(p), {}, {q}}, {positive(q), {p}, {}}, {negative(q), {}, {p}}});
  d.goal(positive(q));
  const Task task = task_of(std::move(d));
  State state = task.initial_state();
  ASSERT_TRUE(task.apply(state, ActionId{0}, state));
  EXPECT_EQ(state, task.apply(task.initial_state(), ActionId{0}));
}

TEST(Task, CopiesShareTheirData) {
  const Task task = load_pddl_text(kDomain, kProblem);
  const Task copy = task;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(&copy.program(), &task.program());
  EXPECT_EQ(copy.initial_state(), task.initial_state());
  EXPECT_GT(task.memory_bytes(), 0U);
}

TEST(Task, WithoutFactsAtAll) {
  SmallDefinition d;
  d.action("wave", yes(), {});
  d.goal(yes());
  const Task task = task_of(std::move(d));
  EXPECT_TRUE(reaches_goal(task, {}));
  EXPECT_TRUE(reaches_goal(task, {"wave", "wave"}));
  EXPECT_TRUE(task.facts(task.initial_state()).empty());
}

}  // namespace
}  // namespace metactrl::task_test
