// Plans worth executing: the horizon, idle steps, detours, needless steps, preferences.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "decode/preference.h"
#include "metactrl/domain.h"
#include "metactrl/explain.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"
#include "support/planner_setting.h"

namespace metactrl::plan_quality_test {
namespace {

using testing::hostile_setting;
using testing::make;
using testing::random_setting;

// Lamps that can be pressed again and again, which changes nothing.
Task patient_lamps() {
  return load_pddl_text(
      R"((define (domain lamps) (:requirements :strips :typing) (:types lamp) (:predicates (lit ?l - lamp) (asked))
  (:action press :parameters (?l - lamp) :precondition () :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action ask :parameters () :precondition () :effect (asked))))",
      "(define (problem p) (:domain lamps) (:objects a b - lamp) (:init) (:goal (and (lit a) (lit b))))");
}

PlanOptions fitted(Guidance guidance) {
  PlanOptions options;
  options.guidance = guidance;
  options.lookahead.fitted_horizon = true;
  options.generate.mode = DecodeMode::kSample;
  return options;
}

std::size_t idle_steps(const Task& task, const std::vector<ActionId>& plan) {
  std::size_t idle = 0;
  State state = task.initial_state();
  for (const ActionId action : plan) {
    const State next = *task.apply(state, action);
    idle += next == state ? 1 : 0;
    state = next;
  }
  return idle;
}

TEST(Planner, TheHorizonFitsTheBestPlan) {
  const Task task = patient_lamps();
  PlanOptions options = fitted(Guidance::kMask);
  const PlanResult result = make(task, hostile_setting(1), options);
  EXPECT_EQ(result.best_length, 2U);
  EXPECT_TRUE(result.best_is_shortest);
  EXPECT_EQ(result.best_cost, 2);
  EXPECT_EQ(result.horizon, 4U);
  EXPECT_EQ(result.horizon_rule, "the best known plan plus slack");
  options.lookahead.slack = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(make(task, hostile_setting(seed), options).plan.size(), 2U);
  }
}

TEST(Planner, IdleStepsOnlyWhereTheyAreWanted) {
  const Task task = patient_lamps();
  std::size_t wanted = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    PlanOptions options = fitted(Guidance::kMask);
    options.generate.seed = seed;
    options.lookahead.slack = 6;
    const PlanResult result = make(task, random_setting(seed), options);
    ASSERT_TRUE(result.valid());
    EXPECT_EQ(idle_steps(task, result.plan), 0U) << result.text;
    options.support.idle_steps = true;
    wanted += idle_steps(task, make(task, random_setting(seed), options).plan);
  }
  EXPECT_GT(wanted, 0U);
}

TEST(Planner, NoStateTwiceWithoutDetours) {
  const Task task = patient_lamps();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    PlanOptions options = fitted(seed % 2 == 0 ? Guidance::kMask : Guidance::kUniform);
    options.generate.seed = seed;
    options.lookahead.slack = 6;
    options.support.detours = false;
    const PlanResult result = make(task, seed % 3 == 0 ? hostile_setting(seed) : random_setting(seed), options);
    ASSERT_TRUE(result.valid());
    // Two lamps have four states, there is no way around to the last, and to ask is nothing that the goal sees.
    EXPECT_EQ(result.plan.size(), 2U) << result.text;
    EXPECT_EQ(result.text.find("ask"), std::string::npos) << result.text;
  }
}

TEST(Planner, SimplifyLeavesOutWhatIsNotNeeded) {
  const Task task = patient_lamps();
  std::size_t left_out = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    PlanOptions options = fitted(Guidance::kMask);
    options.generate.seed = seed;
    options.lookahead.slack = 6;
    const PlanResult as_written = make(task, random_setting(seed), options);
    options.simplify = true;
    const PlanResult result = make(task, random_setting(seed), options);
    ASSERT_TRUE(result.valid());
    EXPECT_EQ(result.guarantee, Guarantee::kFull);
    EXPECT_EQ(result.left_out.size(), as_written.needless.size());
    EXPECT_EQ(result.plan.size() + result.left_out.size(), as_written.plan.size());
    EXPECT_EQ(result.plan.size(), 2U) << result.text;
    EXPECT_TRUE(result.needless.empty());
    EXPECT_TRUE(as_written.left_out.empty());
    EXPECT_EQ(PlanSpelling(PlanFormat::builtin("pddl"), task).render(result.plan, result.separators), result.text);
    left_out += result.left_out.size();
  }
  EXPECT_GT(left_out, 0U);
}

// A fast and expensive way, a slow and cheap one.
Task two_ways() {
  return load_pddl_text(
      R"((define (domain ways) (:requirements :strips :action-costs) (:predicates (home) (stop) (office))
  (:functions (total-cost) - number)
  (:action taxi :parameters () :precondition (home) :effect (and (office) (not (home)) (increase (total-cost) 20)))
  (:action walk :parameters () :precondition (home) :effect (and (stop) (not (home)) (increase (total-cost) 1)))
  (:action bus :parameters () :precondition (stop) :effect (and (office) (not (stop)) (increase (total-cost) 3)))
  (:action limousine :parameters () :precondition (stop) :effect (and (office) (not (stop)) (increase (total-cost) 90)))))",
      "(define (problem p) (:domain ways) (:init (home) (= (total-cost) 0)) (:goal (office)) "
      "(:metric minimize (total-cost)))");
}

// A flight, or a walk of nine cheap steps: a table for fewer actions would leave the walk no room.
TEST(Planner, TheHorizonFitsTheBestPlanHoweverLittleMemoryThereIs) {
  std::string places = "a";
  std::string ways = "(at a) (= (total-cost) 0)";
  for (char from = 'a'; from < 'j'; ++from) {
    const auto to = static_cast<char>(from + 1);
    places += std::string(" ") + to;
    ways += std::string(" (next ") + from + " " + to + ")";
  }
  const Task task = load_pddl_text(
      R"((define (domain ways) (:requirements :strips :typing :action-costs) (:types place)
  (:predicates (at ?p - place) (next ?p ?q - place)) (:functions (total-cost) - number)
  (:action step :parameters (?p ?q - place) :precondition (and (at ?p) (next ?p ?q))
    :effect (and (at ?q) (not (at ?p)) (increase (total-cost) 1)))
  (:action fly :parameters (?p ?q - place) :precondition (at ?p)
    :effect (and (at ?q) (not (at ?p)) (increase (total-cost) 100)))))",
      "(define (problem p) (:domain ways) (:objects " + places + " - place) (:init " + ways +
          ") (:goal (at j)) (:metric minimize (total-cost)))");
  std::size_t exact = 0;
  for (std::size_t bytes = 64; bytes < 100'000; bytes += bytes / 8) {
    LookaheadOptions options = fitted_lookahead();
    options.weight_bytes = bytes;
    const auto lookahead = Lookahead::compile(task, options);
    ASSERT_EQ(lookahead->plan().size(), 9U);
    EXPECT_EQ(lookahead->horizon(), 11U) << bytes;
    exact += lookahead->weights_exact() ? 1 : 0;
  }
  EXPECT_GT(exact, 0U);
}

TEST(Planner, ShortAndCheapPlansCanBePreferred) {
  const Task task = two_ways();
  for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform}) {
    for (const std::size_t exact_states : {std::size_t{1}, std::size_t{1000}}) {
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        PlanOptions options;
        options.guidance = guidance;
        options.lookahead.exact.states = exact_states;
        options.lookahead.horizon = 4;
        options.lookahead.fixed_horizon = true;
        options.prefer_short = 1000;
        EXPECT_EQ(make(task, random_setting(seed), options).text, "(taxi);\n");
        options.prefer_short = 0;
        options.prefer_cheap = 1000;
        options.lookahead.costs = true;
        const PlanResult cheap = make(task, random_setting(seed), options);
        ASSERT_TRUE(cheap.valid());
        if (exact_states == 1000) {
          EXPECT_EQ(cheap.text, "(walk)\n(bus);\n");
          EXPECT_EQ(cheap.best_cost, 4);
        }
      }
    }
  }
}

// Six legs, each on foot or by taxi: as many actions whatever is taken, and the cheapest way costs 6.
TEST(Planner, CheapPlansArePreferredWhereTheLookaheadSearches) {
  std::string places = "p0";
  std::string ways = "(at p0) (= (total-cost) 0)";
  for (int i = 0; i < 6; ++i) {
    places += " p" + std::to_string(i + 1);
    ways += " (next p" + std::to_string(i) + " p" + std::to_string(i + 1) + ")";
  }
  const Task task = load_pddl_text(
      R"((define (domain legs) (:requirements :strips :typing :action-costs) (:types place)
  (:predicates (at ?p - place) (next ?p ?q - place)) (:functions (total-cost) - number)
  (:action foot :parameters (?p ?q - place) :precondition (and (at ?p) (next ?p ?q))
    :effect (and (at ?q) (not (at ?p)) (increase (total-cost) 1)))
  (:action taxi :parameters (?p ?q - place) :precondition (and (at ?p) (next ?p ?q))
    :effect (and (at ?q) (not (at ?p)) (increase (total-cost) 20)))))",
      "(define (problem p) (:domain legs) (:objects " + places + " - place) (:init " + ways +
          ") (:goal (at p6)) (:metric minimize (total-cost)))");
  for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform}) {
    double cost[2] = {0, 0};
    constexpr std::uint64_t kSeeds = 20;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      for (const bool cheap : {false, true}) {
        PlanOptions options = fitted(guidance);
        options.generate.seed = seed;
        options.lookahead.exact.states = 1;
        ASSERT_TRUE(decode::set_preference(cheap ? "cheap" : "model", options));
        const PlanResult result = make(task, random_setting(seed), options);
        ASSERT_TRUE(result.valid());
        ASSERT_EQ(result.lookahead->tier(), Lookahead::Tier::kWitness);
        cost[cheap ? 1 : 0] += result.validation.cost;
      }
    }
    EXPECT_LT(cost[1], cost[0] / 2) << to_string(guidance);
  }
}

TEST(Planner, WithoutAPreferenceTheModelDecides) {
  const Task task = two_ways();
  std::map<std::string, int> texts;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    PlanOptions options;
    options.guidance = Guidance::kMask;
    options.generate.mode = DecodeMode::kSample;
    options.generate.seed = seed;
    ++texts[make(task, random_setting(seed), options).text];
  }
  EXPECT_EQ(texts.size(), 3U);
}

TEST(Explain, SaysWhatIsIdleAndWhatIsADetour) {
  const Task task = patient_lamps();
  PlanOptions options = fitted(Guidance::kMask);
  options.lookahead.slack = 2;
  options.support.detours = false;
  const PlanResult result = make(task, random_setting(3), options);
  ASSERT_TRUE(result.valid());
  std::map<std::string, std::map<ExplainedStep::Standing, int>> standings;
  for (const ExplainedStep& step : explain(task, result, nullptr)) {
    for (const ExplainedStep::Judged& judged : step.legal) ++standings[task.text(judged.action)][judged.standing];
  }
  EXPECT_EQ(standings["(ask)"].count(ExplainedStep::Standing::kAllowed), 0U);
  EXPECT_GT(standings["(ask)"][ExplainedStep::Standing::kDetour], 0);
  EXPECT_GT(
      standings["(press a)"][ExplainedStep::Standing::kIdle] + standings["(press b)"][ExplainedStep::Standing::kIdle],
      0);
}

}  // namespace
}  // namespace metactrl::plan_quality_test
