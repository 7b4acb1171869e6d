// SimulatedWorld: a world that follows the rules of a PDDL domain, and goes wrong at stated rates.
//
//     metactrl::FaultRates rates;
//     rates.action_fails = 0.1;                         // one action in ten does nothing
//     rates.events["slip"] = 0.05;                      // an event of nature.pddl, after one action in twenty
//     metactrl::SimulatedWorld world(scene, nature, rates, seed);
//     metactrl::LoopReport report = loop.run(world);
//     bool success = scene.is_goal(world.truth());      // what really is, whatever is believed
//
// Events are actions that nobody chooses, in a PDDL domain file of their own ("what is held falls onto the furniture",
// "a door that was open is found closed"): nothing about a domain is written in C++. Before the first observation and
// after every action each event gets its chance; one of its legal instances is drawn.
//
// Sensors err about objects (a fact is about its first object): one is not seen at all, or is seen in another place
// than where it is: a fact with two or more objects is reported with the same predicate and another last object. With
// `state_probabilities` the observation says so: the rate of false sightings becomes the probability of the other
// places. Without, it is wrong and sure of itself.
//
// Each kind of fault draws from a random stream of its own, and the streams of neighbouring seeds have nothing in
// common: changing one rate does not move the other faults.
#ifndef METACTRL_ROBOT_SIMULATED_WORLD_H_
#define METACTRL_ROBOT_SIMULATED_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "metactrl/robot/closed_loop.h"
#include "metactrl/robot/scene.h"

namespace metactrl {

// Probabilities.
struct FaultRates {
  double action_fails = 0;               // a legal action is reported as failed, and changes nothing
  double not_seen = 0;                   // per object and observation
  double false_sighting = 0;             // per place of an object and observation
  double look_false_sighting = 0;        // the same for a close look, which always sees its object
  std::map<std::string, double> events;  // by name, each after every action
  bool state_probabilities = false;
};

class SimulatedWorld : public World {
 public:
  // `nature` has the events, for the same problem; none are needed when no event has a rate. Throws InputError for a
  // rate that is no probability and an event that does not exist.
  SimulatedWorld(Scene scene, const std::optional<Scene>& nature, FaultRates rates, std::uint64_t seed);
  ~SimulatedWorld() override;

  Observation observe() override;
  Execution execute(const PlanStep& step) override;
  bool can_look() const override { return true; }
  Observation look(const std::string& object) override;

  const SceneState& truth() const;
  // How often each fault was injected, by name.
  const std::map<std::string, std::size_t>& faults() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace metactrl

#endif  // METACTRL_ROBOT_SIMULATED_WORLD_H_
