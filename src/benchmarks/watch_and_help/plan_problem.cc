// "An apple on the table" is a disjunction over apples and tables; "two apples on the table" counts: at least two of
// the apples are on it (forn), or on the other table. "All on the same table" is a disjunction over tables of all goals
// at that table. All of this is exact, and linear in the number of things.
//
// Each goal of the problem has a name in the benchmark's words and, where the apartment cannot grant it, the reason.
#include "benchmarks/watch_and_help/plan_problem.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "benchmarks/prompt_lines.h"
#include "benchmarks/watch_and_help/obstacle.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "metactrl/error.h"
#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

class Writer {
 public:
  Writer(const Scene& scene, const Listing& listing, const std::vector<GoalLine>& goal)
      : scene_(scene), listing_(listing) {
    for (const GoalLine& line : goal) {
      const auto found = std::find_if(goals_.begin(), goals_.end(), [&](const Goal& one) { return one.line == line; });
      if (found == goals_.end()) {
        goals_.push_back({line, 1});
      } else {
        ++found->count;
      }
    }
  }

  PromptTask write() {
    write_goals();  // first: it finds out which wishes there are
    std::string out = "(define (problem help) (:domain watch-and-help)\n  (:objects";
    for (const int x : listing_.things()) out += " " + name(x);
    out += " - thing\n   ";
    for (const int x : listing_.rooms) out += " " + name(x);
    out += " - room";
    if (!wishes_.empty()) out += "\n   ";
    for (const std::string& wish : wishes_) out += " " + wish;
    if (!wishes_.empty()) out += " - wish";
    for (const int x : listing_.things()) facts(x);
    room_facts();
    if (is_seated(scene_)) fact("seated", {});
    if (!listing_.held.empty()) fact("one-held", {});
    if (listing_.held.size() > 1) fact("two-held", {});
    result_.set_problem(out + ")", facts_, formulas_);
    return std::move(result_);
  }

 private:
  struct Goal {
    GoalLine line;
    std::size_t count = 1;
  };

  std::string name(int x) const {
    const std::string& class_name = scene_.node(x).name;
    if (!is_plain_name(class_name)) {
      throw InputError("", str_cat("the thing ", x, " is of the class '", class_name, "', which a plan cannot name"),
                       "class names are lower-case letters, digits, '_' and '-'");
    }
    return str_cat(class_name, "_", x);
  }

  void fact(const char* predicate, const std::vector<int>& things) {
    facts_ += str_cat("\n    (", predicate);
    for (const int x : things) facts_ += " " + name(x);
    facts_ += ')';
  }

  void facts(int x) {
    const SceneNode& node = scene_.node(x);
    if (listing_.is_carried(x) && node.has(Property::kGrabbable)) fact("grabbable", {x});
    if (is_held(x)) {
      fact("held", {x});
      fact("near", {x});
    }
    // What is held may be somewhere, too: the executor keeps that until the thing is grabbed.
    for (const Relation relation : {Relation::kOn, Relation::kInside}) {
      for (const int y : scene_.targets(x, relation)) {
        if (listing_.is_place(y) || is_target_room(y)) fact(relation == Relation::kOn ? "on" : "inside", {x, y});
      }
    }
    way_to(x);
    if (!listing_.is_place(x)) return;
    if (node.has(Property::kContainers)) fact("container", {x});
    if (node.has(Property::kSurfaces)) fact("surface", {x});
    if (node.has(Property::kCanOpen)) fact("can-open", {x});
    if (node.has(Property::kHasSwitch) && !node.is(State::kPluggedOut)) fact("has-switch", {x});
    if (node.is(State::kOpen)) fact("is-open", {x});
    if (node.is(State::kClosed)) fact("is-closed", {x});
    if (node.is(State::kOn)) fact("is-on", {x});
    if (node.is(State::kOff)) fact("is-off", {x});
  }

  bool is_held(int x) const { return std::binary_search(listing_.held.begin(), listing_.held.end(), x); }

  bool is_target_room(int x) const {
    return std::binary_search(listing_.target_rooms.begin(), listing_.target_rooms.end(), x);
  }

  // Whether x can be walked to. The executor looks for its room, along what it is inside of; when one of these is
  // grabbed, the thread is cut. What is held and in no room itself will be somewhere else.
  void way_to(int x) {
    std::vector<int> thread;
    bool found = false;
    for (int at = x; !found && thread.size() <= scene_.nodes().size();) {
      const std::vector<int>& around = scene_.targets(at, Relation::kInside);
      found = std::any_of(around.begin(), around.end(), [&](int y) { return scene_.node(y).is_room(); });
      if (found || around.size() != 1 || is_held(at)) break;
      at = around.front();
      thread.push_back(at);
    }
    if (!found) {
      fact("no-room", {x});
      return;
    }
    for (const int y : thread) {
      if (listing_.is_carried(y) && scene_.node(y).has(Property::kGrabbable)) fact("room-through", {x, y});
    }
  }

  void room_facts() {
    const std::optional<int> begin = room_of(scene_, scene_.character());
    for (const int x : listing_.target_rooms) {
      if (x == begin) fact("begins", {x});
      if (scene_.node(x).is(State::kOn)) fact("is-on", {x});
    }
  }

  std::vector<int> of_class(const std::vector<int>& things, const std::string& class_name) const {
    std::vector<int> out;
    for (const int x : things) {
      if (scene_.node(x).name == class_name) out.push_back(x);
    }
    return out;
  }

  // One of the alternatives.
  static std::string any(const std::vector<std::string>& alternatives) {
    if (alternatives.size() == 1) return alternatives.front();
    std::string out = "(or";
    for (const std::string& one : alternatives) out += " " + one;
    return out + ")";
  }

  // The ways to have at `target` what the goal asks for; none where there are too few things.
  std::vector<std::string> choices(const Goal& goal, int target) const {
    if (goal.line.kind == GoalKind::kTurnOn) return {str_cat("(is-on ", name(target), ")")};
    std::vector<int> things = of_class(listing_.carried, goal.line.object);
    std::erase(things, target);
    if (things.size() < goal.count) return {};
    const std::string predicate = goal.line.kind == GoalKind::kOn ? "(on " : "(inside ";
    std::vector<std::string> out;
    if (goal.count == 1) {
      for (const int x : things) out.push_back(str_cat(predicate, name(x), " ", name(target), ")"));
      return out;
    }
    std::string one_of;
    for (const int x : things) one_of += str_cat(" (= ?x ", name(x), ")");
    return {
        str_cat("(forn (", goal.count, ") (?x - thing) (and (or", one_of, ") ", predicate, "?x ", name(target), ")))")};
  }

  // A goal of the problem, with its name and why it cannot be reached.
  void add_goal(const std::string& formula, std::string name, std::string why) {
    formulas_ += "\n    " + formula;
    result_.goals.push_back({std::move(name), std::move(why)});
  }

  // A goal that cannot be written down, for want of things.
  std::string never() {
    wishes_.push_back(str_cat("wish-", wishes_.size() + 1));
    return str_cat("(granted ", wishes_.back(), ")");
  }

  void add_line(const Goal& goal, const std::vector<std::string>& ways) {
    const std::string text = to_text(goal.line);
    const std::optional<std::string> obstacle = find_obstacle(scene_, goal.line, goal.count);
    const std::string why = obstacle.value_or(ways.empty() ? "there are too few things for it" : "");
    if (!why.empty()) result_.notes.push_back(str_cat("the goal ", text, " cannot be reached: ", why));
    add_goal(ways.empty() ? never() : any(ways), goal.count == 1 ? text : str_cat(text, " x ", goal.count), why);
  }

  void write_goals() {
    std::map<std::string, std::vector<int>> targets;
    // Target class -> for each target, its goals one by one; nothing where one of them cannot be.
    std::map<std::string, std::vector<std::optional<std::vector<std::string>>>> joint;
    for (const Goal& goal : goals_) {
      const std::string& target_class = goal.line.target;
      if (!targets.contains(target_class)) {
        targets[target_class] = of_class(listing_.places, target_class);
        const std::vector<int> rooms = of_class(listing_.target_rooms, target_class);
        targets[target_class].insert(targets[target_class].end(), rooms.begin(), rooms.end());
        joint[target_class].assign(targets[target_class].size(), std::vector<std::string>());
      }
      std::vector<std::string> all;
      for (std::size_t i = 0; i < targets[target_class].size(); ++i) {
        const std::vector<std::string> here = choices(goal, targets[target_class][i]);
        all.insert(all.end(), here.begin(), here.end());
        std::optional<std::vector<std::string>>& together = joint[target_class][i];
        if (here.empty()) together.reset();
        if (together) together->push_back(any(here));
      }
      add_line(goal, all);
    }
    for (const auto& [target_class, alternatives] : joint) {
      const auto same = [&name = target_class](const Goal& goal) { return goal.line.target == name; };
      if (alternatives.size() < 2 || std::count_if(goals_.begin(), goals_.end(), same) < 2) continue;
      std::vector<std::string> possible;
      const std::vector<std::string>* only = nullptr;
      for (const std::optional<std::vector<std::string>>& one : alternatives) {
        if (!one) continue;
        only = &*one;
        std::string all = "(and";
        for (const std::string& part : *one) all += " " + part;
        possible.push_back(all + ")");
      }
      const std::string name = str_cat("all of it at one and the same ", target_class);
      if (possible.empty()) {
        // One of the goals is impossible everywhere, or each has a target of its own.
        add_goal(never(), name, str_cat("no ", target_class, " can have all of it"));
      } else if (possible.size() == 1) {
        for (const std::string& part : *only) add_goal(part, name, "");
      } else {
        add_goal(any(possible), name, "");
      }
    }
  }

  const Scene& scene_;
  const Listing& listing_;
  std::vector<Goal> goals_;
  std::vector<std::string> wishes_;
  std::string facts_;
  std::string formulas_;
  PromptTask result_;
};

}  // namespace

PromptTask plan_problem(const Scene& scene, const Listing& listing, const std::vector<GoalLine>& goal) {
  return Writer(scene, listing, goal).write();
}

}  // namespace metactrl::benchmarks::watch_and_help
