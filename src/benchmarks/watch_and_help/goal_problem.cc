// Which goals an apartment can grant.
//
// A robot that sits or lies can walk to nothing, and there is no action to stand up: nothing can be granted then but
// what is on already. Else a thing is *available* if it can be grabbed, is in a room, and whatever it is inside of is
// in a room and either not closed or can be opened (which needs it switched off). Of each class one thing serves as
// *target*: one that cannot be grabbed, is in a room, and serves the most purposes:
//   on      it is a surface;
//   inside  it is a container, and not closed, or can be opened;
//   turnOn  it is on; or off, plugged in, and, if it can be opened, open or closed. (Here things that can be grabbed
//           serve, too, where no other thing of the class does.)
//
// Any set of goals over these, with no more things of a class than are available, can be reached: take the goals one
// after the other, turnOn last. For on and inside: choose a thing that no earlier goal has used, walk to what it is
// inside of and open that, walk to it and grab it, walk to the target, open that where need be, put the thing there.
// One hand is always free; nothing that an earlier goal put down is touched; a target is never moved. What has to be
// opened is off, for nothing has been switched on yet. At the end close what is to be switched on, and switch it on.
#include "benchmarks/watch_and_help/goal_problem.h"

#include <algorithm>

#include "benchmarks/prompt_lines.h"
#include "benchmarks/watch_and_help/obstacle.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

bool can_be_opened(const SceneNode& node) {
  return node.has(Property::kCanOpen) && node.is(State::kClosed) && !node.is(State::kOn);
}

bool is_available(const Scene& scene, const SceneNode& node) {
  if (!node.has(Property::kGrabbable) || !room_of(scene, node.id) || is_seated(scene)) return false;
  const std::vector<int>& around = scene.targets(node.id, Relation::kInside);
  return std::all_of(around.begin(), around.end(), [&](int y) {
    const SceneNode& place = scene.node(y);
    return place.is_room() || (room_of(scene, y) && (!place.is(State::kClosed) || can_be_opened(place)));
  });
}

struct Purposes {
  bool on = false;
  bool inside = false;
  bool turn_on = false;

  int count() const { return (on ? 1 : 0) + (inside ? 1 : 0) + (turn_on ? 1 : 0); }
};

Purposes purposes(const Scene& scene, const SceneNode& node) {
  Purposes result;
  if (node.is_room() || node.id == scene.character() || !room_of(scene, node.id)) return result;
  const bool stays = !node.has(Property::kGrabbable);
  const bool is_open = !node.is(State::kClosed) && (!node.has(Property::kCanOpen) || node.is(State::kOpen));
  const bool stands = !is_seated(scene);
  result.on = stands && stays && node.has(Property::kSurfaces);
  result.inside = stands && stays && node.has(Property::kContainers) && (is_open || can_be_opened(node));
  const bool can_shut = !node.has(Property::kCanOpen) || node.is(State::kClosed) || node.is(State::kOpen);
  result.turn_on =
      node.has(Property::kHasSwitch) &&
      (node.is(State::kOn) || (stands && node.is(State::kOff) && !node.is(State::kPluggedOut) && can_shut));
  return result;
}

}  // namespace

Inventory::Inventory(const Scene& scene) {
  std::map<std::string, Purposes> targets;
  for (const SceneNode& node : scene.nodes()) {
    // A class that PDDL cannot spell cannot be written about.
    if (!is_plain_name(node.name)) continue;
    if (node.id != scene.character() && is_available(scene, node)) ++available[node.name];
    const Purposes here = purposes(scene, node);
    Purposes& best = targets[node.name];
    if (here.count() > best.count()) best = here;
  }
  for (const auto& [name, purpose] : targets) {
    if (purpose.inside) containers.push_back(name);
    if (purpose.on) surfaces.push_back(name);
    if (purpose.turn_on) switches.push_back(name);
  }
}

std::vector<std::string> Inventory::things() const {
  std::vector<std::string> names;
  for (const auto& [name, count] : available) names.push_back(name);
  return names;
}

PromptTask goal_problem(const Inventory& inventory) {
  std::vector<std::string> classes = inventory.things();
  std::string facts;
  for (const auto& [name, count] : inventory.available) {
    facts += str_cat("\n    (left ", name, " n", std::min<std::size_t>(count, kMostGoals), ")");
  }
  const auto add = [&](const std::vector<std::string>& names, const char* predicate) {
    for (const std::string& name : names) {
      facts += str_cat("\n    (", predicate, " ", name, ")");
      classes.push_back(name);
    }
  };
  add(inventory.surfaces, "takes-on");
  add(inventory.containers, "takes-inside");
  add(inventory.switches, "takes-turnon");
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());

  std::string numbers = "n0";
  for (unsigned i = 1; i <= kMostGoals; ++i) {
    numbers += str_cat(" n", i);
    facts += str_cat("\n    (next n", i - 1, " n", i, ")");
  }
  PromptTask out;
  std::string head = "(define (problem goal) (:domain watch-and-help-goal)\n  (:objects";
  for (const std::string& name : classes) head += " " + name;
  head += str_cat(classes.empty() ? " " : " - class ", numbers, " - number)");
  out.set_problem(head, facts, " (written)");
  return out;
}

}  // namespace metactrl::benchmarks::watch_and_help
