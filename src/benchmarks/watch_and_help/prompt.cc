// Rooms in the order of their numbers, below each its places; then the carried things, each with the place that can
// keep it shut in, else with the one it is on, in the order of those places. Where a thing is stands on the thing's own
// line: small models fail to look for it in the line of a place.
#include "benchmarks/watch_and_help/prompt.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "benchmarks/watch_and_help/task_file.h"
#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

constexpr std::string_view kPlanSystem =
    R"text(You plan for a robot with two hands in an apartment. Its actions:
WALK x: go to x. Near are then x, what is in it or on it, what it is in or on, and what the robot holds.
GRAB x: x is near and not in anything closed; a hand is free.
OPEN y, CLOSE y: y is near; a hand is free.
PUTIN x y: the robot holds x; y is a container, near and not closed.
PUTBACK x y: the robot holds x; y is a surface and near.
SWITCHON y: y is near, off, and not open; a hand is free.
Write one JSON object whose keys are the actions in order, each with the names and numbers of its things:
{"WALK": ["book", "12"], "GRAB": ["book", "12"], "WALK": ["desk", "30"], "PUTBACK": ["book", "12", "desk", "30"]}
Output only JSON.)text";

constexpr std::string_view kGoalSystem =
    R"text(You read what a person asks of a robot in an apartment, and write what shall hold in the end, as goals:
on(x, y): an x is on a y, one of the surfaces.
inside(x, y): an x is in a y, one of the containers.
turnOn(y): a y, one of the switches, is on.
Goals with the same y are about one and the same y. One goal for each thing: two of a kind are written twice.
Write one JSON object:
{"goal": ["inside(book, box)", "turnOn(radio)"]}
Output only JSON.)text";

std::string name(const Scene& scene, int x) { return str_cat(scene.node(x).name, " ", x); }

// " (container, closed)", or nothing.
std::string marks(const SceneNode& node) {
  std::string out;
  const auto mark = [&](bool applies, const char* word) {
    if (applies) out += str_cat(out.empty() ? "" : ", ", word);
  };
  mark(node.has(Property::kContainers), "container");
  mark(node.has(Property::kSurfaces), "surface");
  mark(node.has(Property::kCanOpen) && node.is(State::kOpen), "open");
  mark(node.has(Property::kCanOpen) && node.is(State::kClosed), "closed");
  mark(node.has(Property::kHasSwitch) && node.is(State::kOn), "on");
  mark(node.has(Property::kHasSwitch) && node.is(State::kOff), "off");
  return out.empty() ? "" : str_cat(" (", out, ")");
}

// "apple 1004 1005, wine 1006"
std::string by_class(const Scene& scene, const std::vector<int>& things) {
  std::map<std::string, std::string> numbers;
  for (const int x : things) numbers[scene.node(x).name] += str_cat(" ", x);
  std::string out;
  for (const auto& [name, list] : numbers) out += str_cat(out.empty() ? "" : ", ", name, list);
  return out;
}

// A line for each of the things in or on a place, by class, then number.
std::string lines_of(const Scene& scene, std::vector<int> things, std::string_view relation, int place) {
  std::stable_sort(things.begin(), things.end(), [&](int a, int b) { return scene.node(a).name < scene.node(b).name; });
  const SceneNode& node = scene.node(place);
  const bool closed = relation == "in" && node.has(Property::kCanOpen) && node.is(State::kClosed);
  std::string out;
  for (const int x : things) {
    out += str_cat("- ", name(scene, x), " ", relation, " ", name(scene, place), closed ? " (closed)\n" : "\n");
  }
  return out;
}

// With which place a carried thing is listed.
std::optional<std::pair<int, Relation>> place_of(const Scene& scene, const Listing& listing, int x) {
  for (const Relation relation : {Relation::kInside, Relation::kOn}) {
    std::vector<int> found = scene.targets(x, relation);
    std::erase_if(found, [&](int y) { return !listing.is_place(y) || !room_of(scene, y); });
    if (!found.empty()) return std::pair(*std::min_element(found.begin(), found.end()), relation);
  }
  return std::nullopt;
}

std::string one_line(std::string_view text) {
  std::string out;
  bool blank = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      blank = !out.empty();
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

}  // namespace

std::string_view plan_system_prompt() { return kPlanSystem; }
std::string_view goal_system_prompt() { return kGoalSystem; }

std::string plan_prompt(const Scene& scene, const Listing& listing, const std::vector<GoalLine>& goal,
                        std::string_view instruction) {
  std::map<std::pair<int, Relation>, std::vector<int>> contents;
  std::map<int, std::vector<int>> lines;  // room -> what has a line of its own
  for (const int x : listing.things()) {
    const bool held = std::binary_search(listing.held.begin(), listing.held.end(), x);
    bool shown = held;
    if (listing.is_carried(x) && !held) {
      if (const auto place = place_of(scene, listing, x)) {
        contents[*place].push_back(x);
        shown = true;
      }
    }
    if (!shown || listing.is_place(x)) {
      if (const std::optional<int> room = room_of(scene, x)) lines[*room].push_back(x);
    }
  }
  std::string out = "Apartment:\n";
  std::string things;
  for (const int room : listing.rooms) {
    out += str_cat(name(scene, room), ":", lines[room].empty() ? " nothing\n" : "\n");
    for (const int x : lines[room]) {
      out += str_cat("- ", name(scene, x), listing.is_place(x) ? marks(scene.node(x)) : "", "\n");
      things += lines_of(scene, contents[{x, Relation::kInside}], "in", x);
      things += lines_of(scene, contents[{x, Relation::kOn}], "on", x);
    }
  }
  if (!things.empty()) out += "Things:\n" + things;
  out += "The robot is in the " + name(scene, room_of(scene, scene.character()).value_or(scene.character()));
  if (!listing.held.empty()) out += " and holds " + by_class(scene, listing.held);
  out += str_cat(".\nInstruction: ", one_line(instruction), "\nGoal, for one and the same ");
  bool first = true;
  for (const std::string& target : target_classes(goal)) {
    out += str_cat(std::exchange(first, false) ? "" : " and one and the same ", target);
  }
  out += ':';
  for (const GoalLine& line : goal) out += "\n" + to_text(line);
  return out;
}

std::string goal_prompt(const Inventory& inventory, std::string_view instruction) {
  return str_cat("Things: ", join(inventory.things(), ", "), "\nContainers: ", join(inventory.containers, ", "),
                 "\nSurfaces: ", join(inventory.surfaces, ", "), "\nSwitches: ", join(inventory.switches, ", "),
                 "\nInstruction: ", one_line(instruction));
}

}  // namespace metactrl::benchmarks::watch_and_help
