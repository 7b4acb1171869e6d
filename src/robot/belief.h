// Belief: which states there may be, and how likely each is. See metactrl/robot/closed_loop.h for the model.
//
//     Belief belief(scene.initial_state(), 64);
//     belief.start(first_observation);
//     belief.predict(scene, step, done, 0.1);
//     belief.update(observation, 0.02);
//     std::size_t n = belief.retained(0.95);      // the first n states have together 0.95
//
// Observations must have passed `checked`. Cost of an update: states times sightings times alternatives, and the number
// of states kept for each of them.
#ifndef METACTRL_SRC_ROBOT_BELIEF_H_
#define METACTRL_SRC_ROBOT_BELIEF_H_

#include <cstddef>
#include <string>
#include <vector>

#include "metactrl/robot/closed_loop.h"
#include "metactrl/robot/scene.h"

namespace metactrl::robot {

// The observation with its facts in the scene's spelling, alternatives of probability 0 left out. Throws WorldError
// that names what is wrong with it.
Observation checked(Observation observation, const Scene& scene);

// Does it leave nothing open, neither between alternatives nor about an object? Of numbers see Belief::shows_all.
bool is_certain(const Observation& observation);

class Belief {
 public:
  Belief(SceneState known, std::size_t max_states);

  // The first observation: what it is about is as it says, the rest as known before.
  void start(const Observation& observation);
  // Does the observation leave nothing open, neither about facts nor about a number that some state has?
  bool shows_all(const Observation& observation) const;
  // Bayes' rule. `change_rate` is per sighting.
  void update(const Observation& observation, double change_rate);
  // A step was executed, and reported as done or failed. `failure_rate` is that of legal steps.
  void predict(const Scene& scene, const PlanStep& step, bool done, double failure_rate);
  // A step was begun, and nothing was heard of it: where it is legal, it happened or did not, one as likely as the
  // other.
  void predict_unknown(const Scene& scene, const PlanStep& step);

  // Descending by probability, ties by facts; probabilities sum to 1. Never empty.
  const std::vector<BelievedState>& states() const { return states_; }
  const BelievedState& likeliest() const { return states_.front(); }
  // How many of the first states have together at least this probability, what was left out included in the reckoning;
  // all of them when that is not enough.
  std::size_t retained(double confidence) const;
  // Their probability: that of the true state being one of the first `count`.
  double covered(std::size_t count) const;
  double goal_probability(const Scene& scene) const;
  double entropy() const;  // bits
  // Probability of the states that were left out, then and before, since an observation was last certain.
  double pruned() const { return pruned_; }

  // The states that are alike in what they say about `object`, as beliefs with their probabilities.
  struct Part {
    double probability = 0;
    std::vector<BelievedState> states;  // conditional probabilities, descending
  };
  std::vector<Part> parts(const std::string& object) const;
  // Objects about which the states differ, sorted.
  std::vector<std::string> uncertain_objects() const;

 private:
  // Merges equal states, sorts, cuts, normalises. `total` is the weight of all states, those not in the list included.
  void settle(std::vector<BelievedState> weighted, double total);

  std::size_t max_states_;
  std::vector<BelievedState> states_;
  double pruned_ = 0;
};

}  // namespace metactrl::robot

#endif  // METACTRL_SRC_ROBOT_BELIEF_H_
