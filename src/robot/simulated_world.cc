// The truth is a state; the rules of the domain and nature's events move it; what is seen of it is drawn anew at every
// observation.
#include "metactrl/robot/simulated_world.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "metactrl/error.h"
#include "support/nearest_name.h"
#include "support/splitmix.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl {

using internal::Random;
using internal::str_cat;

namespace {

// Streams of random numbers, one per kind of fault.
enum Stream : std::uint64_t { kActionFails = 1, kNotSeen, kFalseSighting, kLook, kFirstEvent = 100 };

void check_rate(const std::string& name, double rate) {
  if (!(rate >= 0 && rate <= 1)) {
    throw InputError("fault " + name, str_cat(rate, " is no probability"), "give one from 0 to 1");
  }
}

// Of a number none: it is seen as it is.
std::size_t num_arguments(std::string_view fact) {
  if (!Scene::number(fact).empty()) return 0;
  return static_cast<std::size_t>(std::count(fact.begin(), fact.end(), ' '));
}

// The predicate and the first object: "(on cup". Facts that differ in their last object only are places of one thing.
std::string place_of(const std::string& fact) { return fact.substr(0, fact.rfind(' ')); }

}  // namespace

class SimulatedWorld::Impl {
 public:
  Impl(Scene scene, const std::optional<Scene>& nature, FaultRates rates, std::uint64_t seed)
      : scene_(std::move(scene)),
        rates_(std::move(rates)),
        truth_(scene_.initial_state()),
        action_fails_(seed, kActionFails),
        not_seen_(seed, kNotSeen),
        false_sighting_(seed, kFalseSighting),
        look_(seed, kLook) {
    check_rate("action-fails", rates_.action_fails);
    check_rate("not-seen", rates_.not_seen);
    check_rate("false-sighting", rates_.false_sighting);
    check_rate("look-false-sighting", rates_.look_false_sighting);
    take_events(nature, seed);
    for (const std::string& fact : scene_.possible_facts()) {
      const std::string_view subject = Scene::subject(fact);
      if (!subject.empty()) subjects_.emplace(subject);
      if (num_arguments(fact) >= 2) places_[place_of(fact)].push_back(fact);
    }
    for (const std::string& fact : truth_) {
      if (!Scene::number(fact).empty() && !Scene::subject(fact).empty()) subjects_.emplace(Scene::subject(fact));
    }
    let_nature_act();
  }

  const SceneState& truth() const { return truth_; }
  const std::map<std::string, std::size_t>& faults() const { return faults_; }

  Execution execute(const PlanStep& step) {
    Execution execution;
    std::optional<SceneState> after = scene_.apply(truth_, step);
    const bool fails = action_fails_.chance(rates_.action_fails);
    if (!after) {
      execution = {false, "not possible: " + scene_.why_illegal(truth_, step)};
    } else if (fails) {
      ++faults_["action-fails"];
      execution = {false, "the action failed"};
    } else {
      truth_ = *std::move(after);
    }
    let_nature_act();
    return execution;
  }

  Observation observe() {
    Observation observation;
    // Drawn for every object, so that one more of them moves no other's luck.
    for (const std::string& object : subjects_) {
      if (not_seen_.chance(rates_.not_seen)) observation.unseen.push_back(object);
    }
    faults_["not-seen"] += observation.unseen.size();
    const std::set<std::string, std::less<>> unseen(observation.unseen.begin(), observation.unseen.end());
    report(observation, false_sighting_, rates_.false_sighting,
           [&](std::string_view subject) { return !unseen.contains(subject); });
    return observation;
  }

  Observation look(const std::string& object) {
    Observation observation;
    observation.object = object;
    report(observation, look_, rates_.look_false_sighting, [&](std::string_view subject) { return subject == object; });
    return observation;
  }

 private:
  struct Event {
    std::string name;
    double rate = 0;
    Random random;
  };

  void take_events(const std::optional<Scene>& nature, std::uint64_t seed) {
    if (rates_.events.empty()) return;
    if (!nature) {
      throw InputError("fault " + rates_.events.begin()->first, "is an event, and there is no file of events",
                       "name one, or use action-fails, not-seen and false-sighting only");
    }
    nature_ = nature->with_facts_of(scene_);
    const std::vector<std::string> known = nature_->actions();
    for (const auto& [name, rate] : rates_.events) {
      check_rate(name, rate);
      const auto found = std::find(known.begin(), known.end(), name);
      if (found == known.end()) {
        throw InputError("fault " + name, "there is no such event; there are " + internal::join(known, ", "),
                         internal::did_you_mean(name, known));
      }
      const auto number = static_cast<std::uint64_t>(found - known.begin());
      if (rate > 0) events_.push_back({name, rate, Random(seed, kFirstEvent + number)});
    }
  }

  void let_nature_act() {
    for (Event& event : events_) {
      const bool happens = event.random.chance(event.rate);
      const double which = event.random.uniform();
      if (!happens) continue;
      const std::vector<PlanStep> steps = nature_->legal_steps(truth_, event.name);
      if (steps.empty()) continue;
      const auto index = static_cast<std::size_t>(which * static_cast<double>(steps.size()));
      truth_ = *nature_->apply(truth_, steps[std::min(index, steps.size() - 1)]);
      ++faults_[event.name];
    }
  }

  // Sightings of everything true about the subjects that are `seen`.
  template <typename Seen>
  void report(Observation& observation, Random& random, double rate, const Seen& seen) {
    std::map<std::string, std::vector<std::string>> true_places;
    for (const std::string& fact : truth_) {
      const std::string_view subject = Scene::subject(fact);
      if (subject.empty() && !observation.object.empty()) continue;
      if (!subject.empty() && !seen(subject)) continue;
      if (num_arguments(fact) >= 2) {
        true_places[place_of(fact)].push_back(fact);
      } else {
        observation.sightings.push_back({{{{fact}, 1}}});
      }
    }
    for (const auto& [place, facts] : true_places) {
      const bool errs = random.chance(rate);
      const double which = random.uniform();
      std::vector<std::string> others;
      if (facts.size() == 1) {
        const auto possible = places_.find(place);
        if (possible != places_.end()) others = possible->second;
        std::erase(others, facts[0]);
      }
      if (others.empty() || rate <= 0) {
        for (const std::string& fact : facts) observation.sightings.push_back({{{{fact}, 1}}});
        continue;
      }
      std::string reported = facts[0];
      if (errs) {
        const auto index = static_cast<std::size_t>(which * static_cast<double>(others.size()));
        std::swap(reported, others[std::min(index, others.size() - 1)]);
        ++faults_["false-sighting"];
      }
      observation.sightings.push_back(sighting(reported, others, rate));
    }
  }

  // As likely as the sensor makes them: each of the others was reported wrongly with the same chance.
  Sighting sighting(const std::string& reported, const std::vector<std::string>& others, double rate) const {
    if (!rates_.state_probabilities) return {{{{reported}, 1}}};
    Sighting result{{{{reported}, 1 - rate}}};
    for (const std::string& other : others) {
      result.alternatives.push_back({{other}, rate / static_cast<double>(others.size())});
    }
    return result;
  }

  Scene scene_;
  std::optional<Scene> nature_;
  FaultRates rates_;
  SceneState truth_;
  Random action_fails_;
  Random not_seen_;
  Random false_sighting_;
  Random look_;
  std::vector<Event> events_;
  std::set<std::string> subjects_;                          // objects that some changing fact is about
  std::map<std::string, std::vector<std::string>> places_;  // by predicate and object
  std::map<std::string, std::size_t> faults_;
};

SimulatedWorld::SimulatedWorld(Scene scene, const std::optional<Scene>& nature, FaultRates rates, std::uint64_t seed)
    : impl_(std::make_unique<Impl>(std::move(scene), nature, std::move(rates), seed)) {}

SimulatedWorld::~SimulatedWorld() = default;

Observation SimulatedWorld::observe() { return impl_->observe(); }
Execution SimulatedWorld::execute(const PlanStep& step) { return impl_->execute(step); }
Observation SimulatedWorld::look(const std::string& object) { return impl_->look(object); }
const SceneState& SimulatedWorld::truth() const { return impl_->truth(); }
const std::map<std::string, std::size_t>& SimulatedWorld::faults() const { return impl_->faults(); }

}  // namespace metactrl
