// The belief against Bayes' rule written down: all states, a matrix of changes, a vector of likelihoods.
#include "robot/belief.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/splitmix.h"

namespace metactrl::belief_test {
namespace {

using robot::Belief;

constexpr const char* kDomain = R"((define (domain toys)
  (:requirements :adl)
  (:predicates (at ?x ?y) (lit ?x) (ready) (box ?x))
  (:action put :parameters (?x ?y) :precondition (box ?y) :effect (at ?x ?y))
  (:action take :parameters (?x ?y) :precondition (at ?x ?y) :effect (not (at ?x ?y)))
  (:action light :parameters (?x) :precondition (not (lit ?x)) :effect (lit ?x))
  (:action rest :parameters () :precondition (ready) :effect (not (ready)))))";
constexpr const char* kProblem = R"((define (problem toys-1) (:domain toys)
  (:objects cup key a b) (:init (box a) (box b) (at cup a) (ready)) (:goal (at cup b))))";

Scene scene() { return Scene::load_text(kDomain, kProblem); }

Observation observation(std::vector<Sighting> sightings) {
  Observation result;
  result.sightings = std::move(sightings);
  return result;
}

TEST(Belief, FirstObservationSaysWhatIsSeenAndTheProblemTheRest) {
  Belief belief(scene().initial_state(), 64);
  Observation first = observation({{{{{"(at cup a)"}, 0.7}, {{"(at cup b)"}, 0.3}}}, {{{{"(lit key)"}, 0.5}}}});
  first.unseen = {"a"};
  belief.start(robot::checked(first, scene()));
  // (ready) has no object: it was observed not to hold.
  ASSERT_EQ(belief.states().size(), 4U);
  EXPECT_EQ(belief.states()[0].facts, (SceneState{"(at cup a)"}));
  EXPECT_NEAR(belief.states()[0].probability, 0.35, 1e-12);
  EXPECT_NEAR(belief.states()[3].probability, 0.15, 1e-12);
  EXPECT_NEAR(belief.entropy(), 1 + (-0.7 * std::log2(0.7) - 0.3 * std::log2(0.3)), 1e-9);
  EXPECT_EQ(belief.pruned(), 0);
}

TEST(Belief, UnseenObjectsKeepWhatWasKnown) {
  Belief belief(scene().initial_state(), 64);
  Observation first = observation({{{{{"(ready)"}, 1}}}});
  first.unseen = {"cup"};
  belief.start(robot::checked(first, scene()));
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(at cup a)", "(ready)"}));
  first.unseen = {};
  belief.update(robot::checked(first, scene()), 0.1);
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(ready)"}));
  EXPECT_EQ(belief.states().size(), 1U);
}

TEST(Belief, IncompleteObservationsLeaveTheRestAlone) {
  Belief belief(scene().initial_state(), 64);
  Observation first = observation({{{{{"(lit key)"}, 1}}}});
  first.complete = false;
  belief.start(robot::checked(first, scene()));
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(at cup a)", "(lit key)", "(ready)"}));
}

TEST(Belief, TwoSightingsOutweighAFalseOne) {
  Belief belief(scene().initial_state(), 64);
  belief.start(robot::checked(Observation::certain({"(at cup a)"}), scene()));
  const auto seen = [&](const std::string& where, const std::string& other) {
    return robot::checked(observation({{{{{"(at cup " + where + ")"}, 0.9}, {{"(at cup " + other + ")"}, 0.1}}}}),
                          scene());
  };
  belief.update(seen("b", "a"), 0.02);
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(at cup a)"}));
  // (0.99 * 0.1) against (0.01 * 0.9)
  EXPECT_NEAR(belief.likeliest().probability, 0.099 / (0.099 + 0.009), 1e-12);
  belief.update(seen("b", "a"), 0.02);
  belief.update(seen("b", "a"), 0.02);
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(at cup b)"}));
}

TEST(Belief, WhatIsCertainIsBelievedEvenWhenItWasImpossible) {
  Belief belief(scene().initial_state(), 64);
  belief.start(robot::checked(Observation::certain({"(at cup a)"}), scene()));
  belief.update(robot::checked(Observation::certain({"(at cup b)", "(lit key)"}), scene()), 0);
  ASSERT_EQ(belief.states().size(), 1U);
  EXPECT_EQ(belief.likeliest().facts, (SceneState{"(at cup b)", "(lit key)"}));
}

TEST(Belief, ActionsMoveEveryStateAndTellThemApart) {
  const Scene s = scene();
  Belief belief(s.initial_state(), 64);
  belief.start(robot::checked(observation({{{{{"(at cup a)"}, 0.6}, {{"(at cup b)"}, 0.4}}}}), s));
  Belief failed = belief;
  failed.predict(s, {"take", {"cup", "a"}}, false, 0.1);
  // It fails surely where the cup is not in a.
  EXPECT_EQ(failed.likeliest().facts, (SceneState{"(at cup b)"}));
  EXPECT_NEAR(failed.likeliest().probability, 0.4 / (0.4 + 0.06), 1e-12);
  belief.predict(s, {"take", {"cup", "a"}}, true, 0.1);
  ASSERT_EQ(belief.states().size(), 1U);
  EXPECT_EQ(belief.likeliest().facts, SceneState{});
}

TEST(Belief, AStepWithoutAnswerHappenedOrDidNot) {
  Belief belief(scene().initial_state(), 64);
  Observation first = observation({{{{{"(at cup a)"}, 0.8}, {{"(at cup b)"}, 0.2}}}});
  belief.start(robot::checked(first, scene()));
  belief.predict_unknown(scene(), {"take", {"cup", "a"}});
  // Where the cup is in b, it cannot be taken from a.
  ASSERT_EQ(belief.states().size(), 3U);
  std::map<SceneState, double> states;
  for (const BelievedState& state : belief.states()) states[state.facts] = state.probability;
  EXPECT_NEAR(states[SceneState{"(at cup a)"}], 0.4, 1e-12);
  EXPECT_NEAR(states[SceneState{}], 0.4, 1e-12);
  EXPECT_NEAR(states[SceneState{"(at cup b)"}], 0.2, 1e-12);
  EXPECT_EQ(belief.pruned(), 0);
  // With room for one state the other half is known to be missing.
  Belief narrow({"(at cup a)"}, 1);
  narrow.predict_unknown(scene(), {"take", {"cup", "a"}});
  EXPECT_EQ(narrow.states().size(), 1U);
  EXPECT_NEAR(narrow.pruned(), 0.5, 1e-12);
}

TEST(Belief, StatesAreBoundedAndWhatIsLeftOutIsCounted) {
  const Scene s = scene();
  Belief belief(s.initial_state(), 3);
  belief.start(robot::checked(
      observation(
          {{{{{"(at cup a)"}, 0.6}, {{"(at cup b)"}, 0.4}}}, {{{{"(lit cup)"}, 0.9}}}, {{{{"(lit key)"}, 0.8}}}}),
      s));
  ASSERT_EQ(belief.states().size(), 3U);
  // 0.6*0.9*0.8, 0.4*0.9*0.8, 0.6*0.9*0.2
  EXPECT_NEAR(belief.pruned(), 1 - (0.432 + 0.288 + 0.108), 1e-12);
  EXPECT_NEAR(belief.likeliest().probability, 0.432 / 0.828, 1e-12);
  EXPECT_LE(belief.entropy(), std::log2(3.0));
  EXPECT_NEAR(belief.covered(3), 0.828, 1e-12);
  EXPECT_EQ(belief.retained(0.43), 1U);
  EXPECT_EQ(belief.retained(0.72), 2U);
  EXPECT_EQ(belief.retained(0.95), 3U) << "cannot be had: all there are";
}

TEST(Belief, PartsAndUncertainObjects) {
  const Scene s = scene();
  Belief belief(s.initial_state(), 64);
  belief.start(robot::checked(
      observation({{{{{"(at cup a)"}, 0.6}, {{"(at cup b)"}, 0.4}}}, {{{{"(lit key)"}, 0.5}}}, {{{{"(lit a)"}, 1}}}}),
      s));
  EXPECT_EQ(belief.uncertain_objects(), (std::vector<std::string>{"cup", "key"}));
  const std::vector<Belief::Part> parts = belief.parts("cup");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_NEAR(parts[0].probability, 0.6, 1e-12);
  ASSERT_EQ(parts[0].states.size(), 2U);
  EXPECT_NEAR(parts[0].states[0].probability, 0.5, 1e-12);
}

TEST(Belief, BadObservationsAreRefusedWithTheReason) {
  const Scene s = scene();
  const auto message = [&](const Observation& bad) -> std::string {
    try {
      robot::checked(bad, s);
    } catch (const WorldError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(Observation::certain({"(at cupp a)"})).find("there is no object 'cupp'; did you mean 'cup'?"),
            std::string::npos);
  EXPECT_NE(message(Observation::certain({"(box a)"})).find("no action changes 'box'"), std::string::npos);
  EXPECT_NE(message(Observation::certain({"(at cup)"})).find("takes 2 objects, not 1"), std::string::npos);
  EXPECT_NE(message(Observation::certain({"at cup a"})).find("is no fact"), std::string::npos);
  EXPECT_NE(message(Observation::certain({"(nowhere cup)"})).find("no predicate"), std::string::npos);
  EXPECT_NE(message(observation({{{{{"(lit cup)"}, 1.5}}}})).find("not between 0 and 1"), std::string::npos);
  EXPECT_NE(message(observation({{{{{"(lit cup)"}, std::nan("")}}}})).find("not between 0 and 1"), std::string::npos);
  EXPECT_NE(message(observation({{{{{"(at cup a)"}, 0.8}, {{"(at cup b)"}, 0.8}}}})).find("more than 1"),
            std::string::npos);
  EXPECT_NE(message(observation({{{{{"(lit cup)"}, 1}}}, {{{{"(lit cup)"}, 1}}}})).find("two sightings"),
            std::string::npos);
  EXPECT_NE(message(observation({{{{{"(lit cup)"}, 0.5}, {{"(LIT cup)"}, 0.2}}}})).find("twice"), std::string::npos);
  Observation unseen;
  unseen.unseen = {"table"};
  EXPECT_NE(message(unseen).find("did not see 'table'"), std::string::npos);
}

// --- brute force -----------------------------------------------------------------------------------------------------

// All subsets of the facts, by bit mask; each sighting owns some bits.
struct Universe {
  std::vector<std::string> facts{"(at cup a)", "(at cup b)", "(at key a)", "(lit cup)", "(lit key)", "(ready)"};

  SceneState state(unsigned mask) const {
    SceneState out;
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if ((mask >> i & 1U) != 0) out.push_back(facts[i]);
    }
    return out;
  }
  unsigned mask(const SceneState& state) const {
    unsigned out = 0;
    for (std::size_t i = 0; i < facts.size(); ++i) {
      for (const std::string& fact : state) out |= fact == facts[i] ? 1U << i : 0U;
    }
    return out;
  }
};

struct Kernel {
  unsigned bits = 0;                   // what the sighting is about
  std::map<unsigned, double> pattern;  // its patterns and their probabilities
};

// Posterior over all masks by the definition: for every pair of states, the chance of the change times the likelihood.
std::vector<double> by_definition(const std::vector<double>& prior, const std::vector<Kernel>& kernels, double rate) {
  std::vector<double> posterior(prior.size(), 0);
  for (unsigned from = 0; from < prior.size(); ++from) {
    for (unsigned to = 0; to < prior.size(); ++to) {
      double weight = prior[from];
      unsigned covered = 0;
      for (const Kernel& kernel : kernels) {
        covered |= kernel.bits;
        const auto seen = kernel.pattern.find(to & kernel.bits);
        const double likelihood = seen == kernel.pattern.end() ? 0 : seen->second;
        const bool same = (from & kernel.bits) == (to & kernel.bits);
        weight *= ((same ? 1 - rate : 0) + rate / static_cast<double>(kernel.pattern.size())) * likelihood;
      }
      if ((from & ~covered) == (to & ~covered)) posterior[to] += weight;
    }
  }
  double sum = 0;
  for (double value : posterior) sum += value;
  for (double& value : posterior) value /= sum;
  return posterior;
}

TEST(Belief, UpdatesAreBayesRule) {
  const Scene s = scene();
  const Universe universe;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    internal::Random random(seed, 1);
    // Start: independent probabilities for every fact.
    Belief belief(s.initial_state(), 64);
    std::vector<double> exact(64, 0);
    std::vector<Sighting> start;
    std::vector<double> chance;
    for (const std::string& fact : universe.facts) {
      chance.push_back(0.05 + 0.9 * random.uniform());
      start.push_back({{{{fact}, chance.back()}}});
    }
    for (unsigned mask = 0; mask < 64; ++mask) {
      exact[mask] = 1;
      for (std::size_t i = 0; i < 6; ++i) exact[mask] *= (mask >> i & 1U) != 0 ? chance[i] : 1 - chance[i];
    }
    belief.start(robot::checked(observation(start), s));
    for (int round = 0; round < 4; ++round) {
      const double rate = random.chance(0.2) ? 0 : 0.3 * random.uniform();
      // The cup's places are one sighting with alternatives, (lit key) another; the rest is open, or observed as false.
      const double p = 0.1 + 0.8 * random.uniform();
      const double q = (1 - p) * random.uniform();
      const double r = random.chance(0.3) ? 1 : random.uniform() * 0.98 + 0.01;
      Observation seen = observation({{{{{"(at cup a)"}, p}, {{"(at cup b)"}, q}}}, {{{{"(lit key)"}, r}}}});
      std::vector<Kernel> kernels{{3, {{1, p}, {2, q}, {0, 1 - p - q}}}, {16, {{16, r}}}};
      if (r < 1) kernels[1].pattern[0] = 1 - r;
      seen.complete = random.chance(0.5);
      if (seen.complete) {
        seen.unseen = {"cup"};  // (lit cup) stays open, though the cup's place is sighted
        kernels.push_back({4, {{0, 1}}});
        kernels.push_back({32, {{0, 1}}});
      }
      exact = by_definition(exact, kernels, rate > 0 || !seen.complete ? rate : 0.01);
      belief.update(robot::checked(seen, s), rate > 0 || !seen.complete ? rate : 0.01);
      double checked = 0;
      for (const BelievedState& state : belief.states()) {
        const double wanted = exact[universe.mask(state.facts)];
        ASSERT_NEAR(state.probability, wanted, 1e-7) << "seed " << seed << " round " << round;
        checked += wanted;
      }
      ASSERT_NEAR(checked, 1, 1e-6) << "seed " << seed << " round " << round;
      ASSERT_LT(belief.pruned(), 1e-6);
    }
  }
}

}  // namespace
}  // namespace metactrl::belief_test
