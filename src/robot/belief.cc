// Bayes' rule over weighted states.
//
// A sighting h offers patterns b (an alternative, or none of its facts) with probabilities p_h(b) > 0, n_h of them.
// Facts that are observed to be false because no sighting mentions them are sightings with one pattern, "false". Before
// the sighting is made, what it is about has changed with probability e (the change rate), to each pattern alike. For a
// state s with pattern h(s), the weight of s and the patterns (b_h) together is
//
//     w(s) * product over h of  ((1 - e) [b_h = h(s)] + e / n_h) * p_h(b_h)
//
// and the new state is s with its patterns exchanged for (b_h). The product has too many terms to list, but its sum
// over all (b_h) is a product of sums, so that the weight of what is not listed is known exactly; and the heaviest
// terms come from a beam: when the factors are independent, the k heaviest products begin with one of the k heaviest
// partial products.
//
// A number is seen with its value, and one that no sighting mentions is what it was before: it has a value that an
// action gave it, or that was seen last. The state's own value is a pattern like any other, which no alternative need
// be.
//
// What is left out stays left out: its share is kept, as if it explained what is seen later as well as the rest does,
// until an observation is certain.
#include "robot/belief.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace metactrl::robot {

namespace {

struct Pattern {
  SceneState facts;  // sorted
  double probability = 0;
};

struct Group {
  std::vector<Pattern> patterns;  // probability > 0
};

// An observation in the form that weights are computed from.
class Reading {
 public:
  explicit Reading(const Observation& observation)
      : complete_(observation.complete),
        object_(observation.object),
        unseen_(observation.unseen.begin(), observation.unseen.end()) {
    for (const Sighting& sighting : observation.sightings) {
      Group group;
      double left = 1;
      bool none_listed = false;
      bool of_numbers = false;
      for (const Alternative& alternative : sighting.alternatives) {
        left -= alternative.probability;
        none_listed = none_listed || alternative.facts.empty();
        for (const std::string& fact : alternative.facts) {
          of_numbers = of_numbers || !Scene::number(fact).empty();
          group_of_.emplace(subject_matter(fact), groups_.size());
        }
        if (alternative.probability > 0) group.patterns.push_back({alternative.facts, alternative.probability});
      }
      if (left > 1e-12 && !none_listed && !of_numbers) group.patterns.push_back({{}, left});
      groups_.push_back(std::move(group));
    }
  }

  const std::vector<Group>& groups() const { return groups_; }

  // Splits a state: what no sighting is about stays; `patterns` gets the facts of each group. Returns how many facts
  // are observed to be false, and leaves those out.
  std::size_t split(const SceneState& state, SceneState& rest, std::vector<SceneState>& patterns) const {
    std::size_t denied = 0;
    rest.clear();
    patterns.assign(groups_.size(), {});
    for (const std::string& fact : state) {
      const auto group = group_of_.find(subject_matter(fact));
      if (group != group_of_.end()) {
        patterns[group->second].push_back(fact);
      } else if (in_scope(fact)) {
        ++denied;
      } else {
        rest.push_back(fact);
      }
    }
    return denied;
  }

  // Is every number of the state among what was seen?
  bool mentions_numbers_of(const SceneState& state) const {
    return std::all_of(state.begin(), state.end(), [this](const std::string& fact) {
      return Scene::number(fact).empty() || group_of_.contains(subject_matter(fact));
    });
  }

 private:
  // A fact, or a number whatever its value.
  static std::string_view subject_matter(std::string_view fact) {
    const std::string_view number = Scene::number(fact);
    return number.empty() ? fact : number;
  }

  // A number that is not mentioned is what it was: there is no value that it has by default.
  bool in_scope(const std::string& fact) const {
    if (!complete_ || !Scene::number(fact).empty()) return false;
    const std::string_view subject = Scene::subject(fact);
    if (!object_.empty()) return subject == object_;
    return !unseen_.contains(subject);
  }

  bool complete_;
  std::string object_;
  std::set<std::string, std::less<>> unseen_;
  std::vector<Group> groups_;
  std::map<std::string, std::size_t, std::less<>> group_of_;
};

struct Partial {
  SceneState facts;  // not sorted
  double weight = 0;
};

// Appends the heaviest outcomes for one state, at most `limit`; returns the weight of all of them.
double expand(const Reading& reading, const BelievedState& state, double change_rate, std::size_t limit,
              std::vector<BelievedState>& out) {
  SceneState rest;
  std::vector<SceneState> own;
  const std::size_t denied = reading.split(state.facts, rest, own);
  const double start = state.probability * std::pow(change_rate, static_cast<double>(denied));
  double total = start;
  std::vector<Partial> beam{{std::move(rest), start}};
  for (std::size_t h = 0; h < reading.groups().size() && total > 0; ++h) {
    const Group& group = reading.groups()[h];
    double sum = 0;
    std::vector<Partial> next;
    for (const Pattern& pattern : group.patterns) {
      const double stay = pattern.facts == own[h] ? 1 - change_rate : 0;
      const double factor = (stay + change_rate / static_cast<double>(group.patterns.size())) * pattern.probability;
      sum += factor;
      if (factor <= 0) continue;
      for (const Partial& partial : beam) {
        Partial longer{partial.facts, partial.weight * factor};
        longer.facts.insert(longer.facts.end(), pattern.facts.begin(), pattern.facts.end());
        next.push_back(std::move(longer));
      }
    }
    if (next.size() > limit) {
      std::stable_sort(next.begin(), next.end(),
                       [](const Partial& a, const Partial& b) { return a.weight > b.weight; });
      next.resize(limit);
    }
    beam = std::move(next);
    total *= sum;
  }
  for (Partial& partial : beam) {
    if (partial.weight <= 0) continue;
    std::sort(partial.facts.begin(), partial.facts.end());
    out.push_back({std::move(partial.facts), partial.weight});
  }
  return total;
}

// States less likely than this are left out.
constexpr double kNegligible = 1e-9;

}  // namespace

Belief::Belief(SceneState known, std::size_t max_states)
    : max_states_(std::max<std::size_t>(1, max_states)), states_{{std::move(known), 1}} {
  std::sort(states_[0].facts.begin(), states_[0].facts.end());
}

void Belief::settle(std::vector<BelievedState> weighted, double total) {
  std::map<SceneState, double> merged;
  for (BelievedState& state : weighted) merged[std::move(state.facts)] += state.probability;
  std::vector<BelievedState> states;
  for (auto& [facts, weight] : merged) states.push_back({facts, weight});
  std::stable_sort(states.begin(), states.end(),
                   [](const BelievedState& a, const BelievedState& b) { return a.probability > b.probability; });
  if (states.size() > max_states_) states.resize(max_states_);
  while (states.size() > 1 && states.back().probability < kNegligible * total) states.pop_back();
  double kept = 0;
  for (const BelievedState& state : states) kept += state.probability;
  for (BelievedState& state : states) state.probability /= kept;
  const double left_out = std::clamp(1 - kept / total, 0.0, 1.0);
  if (left_out > 1e-12) pruned_ += (1 - pruned_) * left_out;
  states_ = std::move(states);
}

// With a change rate of 1 what was believed does not matter. All patterns are then equally likely beforehand, which
// leaves exactly the probabilities of the observation.
void Belief::start(const Observation& observation) { update(observation, 1); }

bool Belief::shows_all(const Observation& observation) const {
  if (!is_certain(observation)) return false;
  const Reading reading(observation);
  return std::all_of(states_.begin(), states_.end(),
                     [&](const BelievedState& state) { return reading.mentions_numbers_of(state.facts); });
}

void Belief::update(const Observation& observation, double change_rate) {
  const Reading reading(observation);
  if (shows_all(observation)) pruned_ = 0;  // whatever was left out looks the same now
  const auto weigh = [&](double rate) {
    std::vector<BelievedState> weighted;
    double total = 0;
    for (const BelievedState& state : states_) total += expand(reading, state, rate, max_states_, weighted);
    if (total <= 0 || weighted.empty()) return false;
    settle(std::move(weighted), total);
    return true;
  };
  // What is certain and was thought impossible has happened all the same.
  if (!weigh(change_rate) && !weigh(1e-6)) weigh(1);
}

void Belief::predict(const Scene& scene, const PlanStep& step, bool done, double failure_rate) {
  std::vector<BelievedState> next;
  double total = 0;
  for (const BelievedState& state : states_) {
    std::optional<SceneState> after = scene.apply(state.facts, step);
    double weight = state.probability;
    if (after) weight *= done ? 1 - failure_rate : failure_rate;
    if (!after && done) weight = 0;
    if (weight <= 0) continue;
    total += weight;
    next.push_back({done ? *std::move(after) : state.facts, weight});
  }
  // Reported as done though it was legal nowhere, or as failed though it never fails: nothing is learned from that.
  if (total > 0) settle(std::move(next), total);
}

void Belief::predict_unknown(const Scene& scene, const PlanStep& step) {
  std::vector<BelievedState> next;
  for (const BelievedState& state : states_) {
    std::optional<SceneState> after = scene.apply(state.facts, step);
    next.push_back({state.facts, after ? state.probability / 2 : state.probability});
    if (after) next.push_back({*std::move(after), state.probability / 2});
  }
  settle(std::move(next), 1);
}

std::size_t Belief::retained(double confidence) const {
  double sum = 0;
  for (std::size_t count = 1; count <= states_.size(); ++count) {
    sum += states_[count - 1].probability;
    if (sum * (1 - pruned_) >= confidence - 1e-12) return count;
  }
  return states_.size();
}

double Belief::covered(std::size_t count) const {
  double sum = 0;
  for (std::size_t i = 0; i < count && i < states_.size(); ++i) sum += states_[i].probability;
  return std::min(1.0, sum) * (1 - pruned_);
}

double Belief::goal_probability(const Scene& scene) const {
  double sum = 0;
  for (const BelievedState& state : states_) sum += scene.is_goal(state.facts) ? state.probability : 0;
  return std::min(1.0, sum) * (1 - pruned_);
}

double Belief::entropy() const {
  double bits = 0;
  for (const BelievedState& state : states_) {
    if (state.probability > 0) bits -= state.probability * std::log2(state.probability);
  }
  return std::max(0.0, bits);
}

std::vector<Belief::Part> Belief::parts(const std::string& object) const {
  std::map<SceneState, Part> by_view;
  for (const BelievedState& state : states_) {
    SceneState view;
    for (const std::string& fact : state.facts) {
      if (Scene::subject(fact) == object) view.push_back(fact);
    }
    Part& part = by_view[std::move(view)];
    part.probability += state.probability;
    part.states.push_back(state);
  }
  std::vector<Part> result;
  for (auto& [view, part] : by_view) {
    for (BelievedState& state : part.states) state.probability /= part.probability;
    result.push_back(std::move(part));
  }
  return result;
}

std::vector<std::string> Belief::uncertain_objects() const {
  std::map<std::string, std::size_t> seen;  // in how many states each fact holds
  for (const BelievedState& state : states_) {
    for (const std::string& fact : state.facts) ++seen[fact];
  }
  std::set<std::string> objects;
  for (const auto& [fact, count] : seen) {
    if (count < states_.size() && !Scene::subject(fact).empty()) objects.emplace(Scene::subject(fact));
  }
  return {objects.begin(), objects.end()};
}

}  // namespace metactrl::robot
