// Scenes with numbers and with actions that take time: states as text, belief, the product of several states, the loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "metactrl/error.h"
#include "metactrl/robot/closed_loop.h"
#include "metactrl/robot/scene.h"
#include "metactrl/robot/simulated_world.h"
#include "metactrl/schedule.h"
#include "robot/belief.h"
#include "support/splitmix.h"
#include "support/test_data.h"

namespace metactrl::scene_numbers_test {
namespace {

using robot::Belief;

std::string file(const std::string& name) { return (testing::source_dir() / "examples/patrol" / name).string(); }

Scene patrol() { return Scene::load(file("domain.pddl"), file("two_rooms.pddl")); }

LoopOptions searching() {
  LoopOptions options;
  options.plan.guidance = Guidance::kSearch;
  options.plan.lookahead.exact.states = 10'000;
  return options;
}

TEST(SceneNumbers, StatesHaveTheNumbersThatChange) {
  const Scene scene = patrol();
  EXPECT_EQ(scene.initial_state(), (SceneState{"(= (battery rover) 9)", "(at rover home)"}));
  const std::vector<std::string> fixed = scene.fixed_facts();
  EXPECT_NE(std::find(fixed.begin(), fixed.end(), "(= (distance hall lab) 2.5)"), fixed.end());
  EXPECT_EQ(Scene::number("(= (battery rover) 9)"), "(battery rover)");
  EXPECT_EQ(Scene::number("(at rover home)"), "");
  EXPECT_EQ(Scene::subject("(= (battery rover) 9)"), "rover");
  EXPECT_EQ(Scene::subject("(= (total) 9)"), "");
  const std::vector<std::string>& possible = scene.possible_facts();
  EXPECT_EQ(possible, (std::vector<std::string>{"(at rover hall)", "(at rover home)", "(at rover lab)",
                                                "(inspected hall)", "(inspected home)", "(inspected lab)"}));
}

TEST(SceneNumbers, StepsChangeThem) {
  const Scene scene = patrol();
  const SceneState start = scene.initial_state();
  const PlanStep drive{"drive", {"rover", "home", "hall"}};
  EXPECT_EQ(scene.apply(start, drive), (SceneState{"(= (battery rover) 6)", "(at rover hall)"}));
  EXPECT_EQ(scene.duration(start, drive), 6 * kTimeUnit);
  // A duration that depends on the state.
  EXPECT_EQ(scene.duration(start, {"charge", {"rover", "home"}}), 12 * kTimeUnit);
  EXPECT_EQ(scene.duration({"(= (battery rover) 1/3)", "(at rover home)"}, {"charge", {"rover", "home"}}), 46'666'667);
  const SceneState low{"(= (battery rover) 2.9)", "(at rover home)"};
  EXPECT_FALSE(scene.apply(low, drive));
  EXPECT_NE(scene.why_illegal(low, drive).find("(battery rover) is 2.9"), std::string::npos)
      << scene.why_illegal(low, drive);
  EXPECT_EQ(scene.apply(low, {"charge", {"rover", "home"}}), (SceneState{"(= (battery rover) 12)", "(at rover home)"}));
  EXPECT_THROW(scene.is_goal({"(= (battery rover) 1)", "(= (battery rover) 2)"}), InputError);
}

TEST(SceneNumbers, ValuesAreReadWithCare) {
  const Scene scene = patrol();
  std::string problem;
  EXPECT_EQ(scene.read_fact(" ( = ( Battery ROVER ) 7.50 ) ", problem), "(= (battery rover) 7.5)");
  EXPECT_EQ(scene.read_fact("(= (battery rover) 2/6)", problem), "(= (battery rover) 1/3)");
  EXPECT_EQ(scene.read_fact("(= (battery rover) -1/3)", problem), "(= (battery rover) -1/3)");
  EXPECT_EQ(scene.read_fact("(=(battery rover)7)", problem), "(= (battery rover) 7)");
  for (const char* bad :
       {"(=)", "(= 7)", "(= (battery rover))", "(= (battery rover) )", "(= (battery rover) seven)", "(= (battery) 7)",
        "(= (battery rover) 7 8)", "(= (battery lab rover) 7)", "(= (battery rovr) 7)", "(= (fuel rover) 7)",
        "(= (distance home hall) 3)", "(= (battery rover) 1/0)", "(= (battery rover) 7e3)", "(= battery rover 7)",
        "(= (battery rover) 7))", "(= (battery (rover)) 7)"}) {
    problem.clear();
    EXPECT_FALSE(scene.read_fact(bad, problem)) << bad;
    EXPECT_FALSE(problem.empty()) << bad;
  }
}

Sighting seen(const std::string& fact) { return {{{{fact}, 1}}}; }

TEST(SceneNumbers, WhatIsSeenIsBelievedAndWhatIsNotStays) {
  const Scene scene = patrol();
  Belief belief(scene.initial_state(), 16);
  Observation place;
  place.sightings = {seen("(at rover hall)")};
  belief.start(robot::checked(place, scene));
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(= (battery rover) 9)", "(at rover hall)"}));
  EXPECT_FALSE(belief.shows_all(place));
  Observation both = place;
  both.sightings.push_back(seen("(= (battery rover) 8.25)"));
  EXPECT_TRUE(belief.shows_all(both));
  belief.update(robot::checked(both, scene), 0);
  EXPECT_EQ(belief.states().size(), 1U);
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(= (battery rover) 8.25)", "(at rover hall)"}));
  belief.predict(scene, {"drive", {"rover", "hall", "lab"}}, true, 0.1);
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(= (battery rover) 5.75)", "(at rover lab)"}));

  // Two values, as likely as the sensor says, and weighed by what was believed.
  Observation unsure;
  unsure.sightings = {seen("(at rover lab)"),
                      {{{{"(= (battery rover) 5.75)"}, 0.5}, {{"(= (battery rover) 2)"}, 0.5}}}};
  belief.update(robot::checked(unsure, scene), 0.02);
  ASSERT_EQ(belief.states().size(), 2U);
  EXPECT_EQ(belief.likeliest().facts[0], "(= (battery rover) 5.75)");
  EXPECT_NEAR(belief.likeliest().probability, 0.99, 1e-9);
  EXPECT_EQ(belief.uncertain_objects(), (std::vector<std::string>{"rover"}));
}

TEST(SceneNumbers, SightingsOfNumbersAreWhole) {
  const Scene scene = patrol();
  const auto refused = [&](std::vector<Sighting> sightings) {
    Observation observation;
    observation.sightings = std::move(sightings);
    try {
      robot::checked(observation, scene);
    } catch (const WorldError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused({{{{{"(= (battery rover) 7)"}, 0.9}}}}).find("add up to 0.9"), std::string::npos);
  EXPECT_NE(refused({{{{{"(= (battery rover) 7)", "(= (battery rover) 8)"}, 1}}}}).find("two values"),
            std::string::npos);
  EXPECT_NE(refused({{{{{"(= (battery rover) 7)"}, 0.5}, {{"(at rover lab)"}, 0.5}}}}).find("no value"),
            std::string::npos);
  EXPECT_NE(refused({seen("(= (battery rover) 7)"), seen("(= (battery rover) 8)")}).find("two sightings"),
            std::string::npos);
  EXPECT_NE(refused({seen("(= (battery rover) much)")}).find("no exact number"), std::string::npos);
}

// A plan of the product is a plan in each state, and there is one if and only if a search over pairs of states finds
// one.
TEST(SceneNumbers, PlansForSeveralStatesHoldInEach) {
  const Scene scene = Scene::load_text(
      "(define (domain d) (:predicates (lit)) (:functions (n) (m))\n"
      "(:action up :parameters () :precondition (and (< (n) 4) (>= (m) (n)))\n"
      ":effect (and (increase (n) 1) (decrease (m) (n))))\n"
      "(:action take :parameters () :precondition (and (>= (n) 2) (>= (+ (n) (m)) 3))\n"
      ":effect (and (decrease (n) 2) (lit)))\n"
      "(:action put :parameters () :precondition (and (lit) (<= (m) 3))\n"
      ":effect (and (assign (m) (* 2 (n))) (not (lit)))))",
      "(define (problem d) (:domain d) (:init (= (n) 0) (= (m) 3)) (:goal (and (lit) (>= (n) 1) (<= (m) 2))))");
  internal::Random random(7, 1);
  std::size_t with_plan = 0;
  std::size_t without = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<SceneState> states;
    const auto count = 1 + random.next() % 2;
    for (std::uint64_t i = 0; i < count; ++i) {
      SceneState state{"(= (m) " + std::to_string(random.next() % 5) + ")",
                       "(= (n) " + std::to_string(random.next() % 4) + ")"};
      if (random.chance(0.5)) state.emplace_back("(lit)");
      states.push_back(state);
    }
    std::set<std::vector<SceneState>> known{states};
    std::deque<std::vector<SceneState>> queue{states};
    bool found = false;
    while (!queue.empty() && !found && known.size() < 10'000) {
      const std::vector<SceneState> here = queue.front();
      queue.pop_front();
      found = std::all_of(here.begin(), here.end(), [&](const SceneState& state) { return scene.is_goal(state); });
      for (const char* name : {"up", "take", "put"}) {
        std::vector<SceneState> next;
        for (const SceneState& state : here) {
          if (auto after = scene.apply(state, {name, {}})) next.push_back(*std::move(after));
        }
        if (next.size() == here.size() && known.insert(next).second) queue.push_back(next);
      }
    }
    const LoopOptions options = searching();
    const PlanResult result = plan(scene.at_all(states), options.format, nullptr, nullptr, options.plan);
    ASSERT_TRUE(found || queue.empty()) << "round " << round;
    if (found) {
      ++with_plan;
      ASSERT_EQ(result.outcome, PlanOutcome::kPlan) << "round " << round << ": " << result.reason;
      for (const SceneState& state : states)
        EXPECT_TRUE(scene.validate(state, result.steps).valid) << "round " << round;
    } else {
      ++without;
      EXPECT_NE(result.outcome, PlanOutcome::kPlan) << "round " << round;
    }
  }
  EXPECT_GE(with_plan, 10U);
  EXPECT_GE(without, 5U);
}

TEST(SceneNumbers, TheLoopPlansAgainFromThePresentValues) {
  const Scene scene = patrol();
  ClosedLoop loop(scene, searching());
  class Drained : public World {
   public:
    explicit Drained(Scene scene) : scene_(std::move(scene)), truth_(scene_.initial_state()) {}
    Observation observe() override { return Observation::certain(truth_); }
    Execution execute(const PlanStep& step) override {
      auto after = scene_.apply(truth_, step);
      if (!after) return {false, scene_.why_illegal(truth_, step)};
      truth_ = *std::move(after);
      // Once, much more is gone than the domain says.
      if (!std::exchange(drained_, true)) truth_[0] = "(= (battery rover) 3.5)";
      return {true, ""};
    }
    Scene scene_;
    SceneState truth_;
    bool drained_ = false;
  };
  Drained world(scene);
  const LoopReport report = loop.run(world);
  EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
  EXPECT_TRUE(scene.is_goal(world.truth_));
  EXPECT_EQ(report.replans, 1U);
  EXPECT_EQ(report.surprises, 1U);
  const auto again = std::find_if(report.events.begin(), report.events.end(),
                                  [](const LoopEvent& event) { return !event.because.empty(); });
  ASSERT_NE(again, report.events.end());
  EXPECT_NE(again->because.find("(battery rover) is"), std::string::npos) << again->because;
  // It has to charge once more.
  std::vector<std::string> acts;
  for (const LoopEvent& event : report.events) {
    if (event.kind == LoopEvent::Kind::kActed) acts.push_back(to_string(event));
  }
  ASSERT_GE(acts.size(), 2U);
  EXPECT_EQ(acts[0], "act 0.000: (charge rover home) [12.000]");
  EXPECT_EQ(acts[1], "act 12.001: (charge rover home) [34.000]");
  // Times follow each other.
  std::int64_t free = 0;
  for (const LoopEvent& event : report.events) {
    if (event.kind != LoopEvent::Kind::kActed) continue;
    ASSERT_TRUE(event.duration);
    EXPECT_EQ(event.start, free);
    free = event.start + *event.duration + kSeparation;
  }
}

TEST(SceneNumbers, SimulatedEpisodesWithEventsThatChangeNumbers) {
  const Scene scene = patrol();
  const Scene nature = Scene::load(file("nature/events.pddl"), file("two_rooms.pddl"));
  ClosedLoop loop(scene, searching());
  std::size_t reached = 0;
  std::size_t drained = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    FaultRates rates;
    rates.action_fails = 0.1;
    rates.not_seen = 0.1;
    rates.events["drain"] = 0.05;
    SimulatedWorld world(scene, nature, rates, seed);
    const LoopReport report = loop.run(world);
    drained += world.faults().contains("drain") ? world.faults().at("drain") : 0;
    EXPECT_TRUE(report.end == LoopEnd::kGoalObserved || report.end == LoopEnd::kGoalBelieved ||
                report.end == LoopEnd::kNoPlan)
        << "seed " << seed << ": " << to_string(report.end) << ": " << report.reason;
    EXPECT_EQ(report.invalid_plans, 0U);
    if (report.end == LoopEnd::kGoalObserved) {
      EXPECT_TRUE(scene.is_goal(world.truth())) << "seed " << seed;
    }
    // Stranded away from the dock is the only way to fail.
    if (report.end == LoopEnd::kNoPlan) {
      EXPECT_FALSE(scene.is_goal(world.truth())) << "seed " << seed;
    }
    reached += is_success(report.end) ? 1 : 0;
  }
  EXPECT_GE(reached, 20U);
  EXPECT_GE(drained, 5U);
}

TEST(SceneNumbers, EventsAgreeWithActionsAboutNumbers) {
  const Scene scene = patrol();
  const auto nature = [&](const std::string& functions, const std::string& event) {
    return Scene::load_text(
        "(define (domain patrol) (:types robot place)\n"
        "(:predicates (at ?r - robot ?p - place) (dock ?p - place) (inspected ?p - place))" +
            functions + event + ")",
        "(define (problem p) (:domain patrol) (:objects rover - robot home - place)\n"
        "(:init (at rover home) (= (battery rover) 9)) (:goal (inspected home)))");
  };
  const std::string battery = "(:functions (battery ?r - robot))";
  // Events that know nothing of numbers leave them alone.
  const Scene blind =
      nature("", "(:action forget :parameters (?p - place) :precondition (inspected ?p) :effect (not (inspected ?p)))")
          .with_facts_of(scene);
  EXPECT_EQ(blind.apply({"(= (battery rover) 5)", "(at rover home)", "(inspected home)"}, {"forget", {"home"}}),
            (SceneState{"(= (battery rover) 5)", "(at rover home)"}));
  // One that changes a number must be able to see it.
  EXPECT_THROW(nature(battery, "(:action drain :parameters (?r - robot) :effect (decrease (battery ?r) 1))")
                   .with_facts_of(scene),
               InputError);
  // And what no action changes stays.
  EXPECT_THROW(nature("(:functions (battery ?r - robot) (distance ?a ?b - place))",
                      "(:action move :parameters (?a ?b - place) :precondition (< (distance ?a ?b) 9)\n"
                      ":effect (increase (distance ?a ?b) 1))")
                   .with_facts_of(scene),
               InputError);
}

}  // namespace
}  // namespace metactrl::scene_numbers_test
