// For each thing that could be the target: how many things are there already, and, if it takes any, how many could be
// brought. Where that is enough for some target, there is no obstacle; else the first one met is named: too few things,
// targets that take nothing, things that nobody can fetch.
#include "benchmarks/watch_and_help/obstacle.h"

#include <algorithm>
#include <vector>

#include "benchmarks/watch_and_help/task_file.h"
#include "support/list_some.h"
#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

using Obstacle = std::optional<std::string>;

class Finder {
 public:
  Finder(const Scene& scene, const GoalLine& line, std::size_t count) : scene_(scene), line_(line), count_(count) {}

  Obstacle find() const {
    std::vector<const SceneNode*> targets = of_class(line_.target);
    if (targets.empty()) return str_cat("the apartment has no ", line_.target);
    if (line_.kind == GoalKind::kTurnOn) return turn_on(targets);
    std::vector<const SceneNode*> things = of_class(line_.object);
    std::erase_if(things, [](const SceneNode* x) { return x->is_room(); });
    if (things.empty()) return str_cat("the apartment has no ", line_.object);

    std::vector<std::string> refusals;  // of targets, then of things
    bool taken = false;                 // by some target
    for (const SceneNode* y : targets) {
      const Obstacle refusal = takes(*y);
      std::size_t possible = 0;
      for (const SceneNode* x : things) {
        const bool there = scene_.has_edge(x->id, relation(), y->id);
        if (x != y && (there || (!refusal && !fetching(*x)))) ++possible;
      }
      if (possible >= count_) return std::nullopt;
      if (refusal) refusals.push_back(*refusal);
      taken = taken || !refusal;
    }
    if (things.size() < count_) {
      return str_cat("the apartment has ", things.size(), " ", line_.object, ", and ", count_, " are asked for");
    }
    if (taken) {
      refusals.clear();
      for (const SceneNode* x : things) {
        if (const Obstacle trouble = fetching(*x)) refusals.push_back(*trouble);
      }
    }
    if (refusals.empty()) return std::nullopt;
    return list(refusals);
  }

 private:
  Relation relation() const { return line_.kind == GoalKind::kOn ? Relation::kOn : Relation::kInside; }

  std::vector<const SceneNode*> of_class(const std::string& name) const {
    std::vector<const SceneNode*> out;
    for (const SceneNode& node : scene_.nodes()) {
      if (node.name == name && node.id != scene_.character()) out.push_back(&node);
    }
    return out;
  }

  // Each once: a robot that sits is the same for all.
  static std::string list(const std::vector<std::string>& all) {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> different;
    for (const std::string& one : all) {
      if (std::find(different.begin(), different.end(), one) == different.end()) different.push_back(one);
    }
    return internal::list_some(different, kShown);
  }

  bool is_held(const SceneNode& x) const {
    return scene_.has_edge(scene_.character(), Relation::kHoldsRight, x.id) ||
           scene_.has_edge(scene_.character(), Relation::kHoldsLeft, x.id);
  }

  // Can the robot come near x? Also by walking to what x is on or in, or to what is on it or in it.
  Obstacle reaching(const SceneNode& x) const {
    if (is_held(x)) return std::nullopt;
    if (is_seated(scene_)) return "the robot does not stand, and no action lets it stand up";
    if (room_of(scene_, x.id)) return std::nullopt;
    for (const Relation relation : {Relation::kOn, Relation::kInside}) {
      for (const int y : scene_.targets(x.id, relation)) {
        if (!scene_.node(y).is_room() && room_of(scene_, y)) return std::nullopt;
      }
      for (const SceneNode& z : scene_.nodes()) {
        if (scene_.has_edge(z.id, relation, x.id) && room_of(scene_, z.id)) return std::nullopt;
      }
    }
    return str_cat(describe(x), " is in no room, so nobody can walk to it");
  }

  // "is closed and cannot be opened"; nothing when x is open or can be opened.
  static Obstacle opening(const SceneNode& x) {
    if (!x.is(State::kClosed)) {
      if (!x.has(Property::kCanOpen) || x.is(State::kOpen)) return std::nullopt;
      return "is neither open nor closed";
    }
    if (!x.has(Property::kCanOpen)) return "is closed and cannot be opened";
    if (x.is(State::kOn)) return "is closed and cannot be opened while it is on";
    return std::nullopt;
  }

  // Can the robot get hold of x?
  Obstacle fetching(const SceneNode& x) const {
    if (is_held(x)) return std::nullopt;
    if (!x.has(Property::kGrabbable)) return str_cat(describe(x), " cannot be grabbed");
    for (const int y : scene_.targets(x.id, Relation::kInside)) {
      const SceneNode& place = scene_.node(y);
      if (place.is_room() || !place.is(State::kClosed)) continue;
      if (const Obstacle shut = opening(place)) {
        return str_cat(describe(x), " is in ", describe(place), ", which ", *shut);
      }
    }
    return reaching(x);
  }

  // Can things be put onto y, or into it?
  Obstacle takes(const SceneNode& y) const {
    if (y.is_room()) {
      // What is grabbed counts as being in the room that the robot began in.
      if (line_.kind == GoalKind::kInside && room_of(scene_, scene_.character()) == y.id) return std::nullopt;
      return str_cat(describe(y), " is a room, and nothing is put ", line_.kind == GoalKind::kOn ? "onto" : "into",
                     " a room as such");
    }
    if (line_.kind == GoalKind::kOn) {
      if (!y.has(Property::kSurfaces)) return str_cat(describe(y), " is no surface");
    } else {
      if (!y.has(Property::kContainers)) return str_cat(describe(y), " is no container");
      if (const Obstacle shut = opening(y)) return str_cat(describe(y), " ", *shut);
    }
    return reaching(y);
  }

  Obstacle turn_on(const std::vector<const SceneNode*>& targets) const {
    std::vector<std::string> refusals;
    for (const SceneNode* y : targets) {
      if (y->is(State::kOn)) return std::nullopt;
      const bool shuts = !y->has(Property::kCanOpen) || y->is(State::kOpen) || y->is(State::kClosed);
      if (!y->has(Property::kHasSwitch)) {
        refusals.push_back(describe(*y) + " has no switch");
      } else if (y->is(State::kPluggedOut)) {
        refusals.push_back(describe(*y) + " is not plugged in");
      } else if (!y->is(State::kOff)) {
        refusals.push_back(describe(*y) + " is neither on nor off");
      } else if (!shuts) {
        refusals.push_back(describe(*y) + " is neither open nor closed");
      } else if (const Obstacle far = reaching(*y)) {
        refusals.push_back(*far);
      } else {
        return std::nullopt;
      }
    }
    return list(refusals);
  }

  const Scene& scene_;
  const GoalLine& line_;
  std::size_t count_;
};

}  // namespace

bool is_seated(const Scene& scene) {
  const SceneNode& robot = scene.node(scene.character());
  return robot.is(State::kSitting) || robot.is(State::kLying);
}

std::optional<std::string> find_obstacle(const Scene& scene, const GoalLine& line, std::size_t count) {
  return Finder(scene, line, count).find();
}

}  // namespace metactrl::benchmarks::watch_and_help
