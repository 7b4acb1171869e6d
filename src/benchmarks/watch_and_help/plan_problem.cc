// "Two apples on the table" is a disjunction over pairs of apples of a conjunction; "all on the same table" is a
// disjunction over tables of all goals at that table.
#include "benchmarks/watch_and_help/plan_problem.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "benchmarks/prompt_lines.h"
#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks::watch_and_help {

using internal::str_cat;
using virtualhome::Property;
using virtualhome::Relation;
using virtualhome::Scene;
using virtualhome::SceneNode;
using virtualhome::State;

namespace {

constexpr std::size_t kMostChoices = 20'000;

bool has(const SceneNode& node, State state) { return (node.states >> static_cast<unsigned>(state) & 1U) != 0; }

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
    const std::string goal = goal_formulas();  // first: it finds out which wishes there are
    std::string& out = result_.problem;
    out = "(define (problem help) (:domain watch-and-help)\n  (:objects";
    for (const int x : listing_.things()) out += " " + name(x);
    out += " - thing\n   ";
    for (const int x : listing_.rooms) out += " " + name(x);
    out += " - room";
    if (!wishes_.empty()) out += "\n   ";
    for (const std::string& wish : wishes_) out += " " + wish;
    if (!wishes_.empty()) out += " - wish";
    out += ")\n  (:init";
    for (const int x : listing_.things()) facts(x);
    if (!listing_.held.empty()) fact("one-held", {});
    if (listing_.held.size() > 1) fact("two-held", {});
    result_.init_end = out.size();
    out += ")\n  (:goal (and" + goal;
    result_.goal_end = out.size();
    out += ")))\n";
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
    result_.problem += str_cat("\n    (", predicate);
    for (const int x : things) result_.problem += " " + name(x);
    result_.problem += ')';
  }

  void facts(int x) {
    const SceneNode& node = scene_.node(x);
    const bool held = std::binary_search(listing_.held.begin(), listing_.held.end(), x);
    if (listing_.is_carried(x) && node.has(Property::kGrabbable)) fact("grabbable", {x});
    if (held) {
      fact("held", {x});
      fact("near", {x});
    } else {
      for (const Relation relation : {Relation::kOn, Relation::kInside}) {
        for (const int y : scene_.targets(x, relation)) {
          if (listing_.is_place(y)) fact(relation == Relation::kOn ? "on" : "inside", {x, y});
        }
      }
    }
    if (!listing_.is_place(x)) return;
    if (node.has(Property::kContainers)) fact("container", {x});
    if (node.has(Property::kSurfaces)) fact("surface", {x});
    if (node.has(Property::kCanOpen)) fact("can-open", {x});
    if (node.has(Property::kHasSwitch) && !has(node, State::kPluggedOut)) fact("has-switch", {x});
    if (has(node, State::kOpen)) fact("is-open", {x});
    if (has(node, State::kClosed)) fact("is-closed", {x});
    if (has(node, State::kOn)) fact("is-on", {x});
    if (has(node, State::kOff)) fact("is-off", {x});
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

  // All ways to choose as many things as the goal asks for.
  std::vector<std::string> choices(const Goal& goal, int target) const {
    if (goal.line.kind == GoalKind::kTurnOn) return {str_cat("(is-on ", name(target), ")")};
    std::vector<int> things = of_class(listing_.carried, goal.line.object);
    std::erase(things, target);
    std::vector<std::string> out;
    std::vector<std::size_t> chosen;
    choose(goal, things, target, 0, chosen, out);
    return out;
  }

  void choose(const Goal& goal, const std::vector<int>& things, int target, std::size_t from,
              std::vector<std::size_t>& chosen, std::vector<std::string>& out) const {
    if (chosen.size() == goal.count) {
      std::string all = goal.count == 1 ? "" : "(and ";
      for (const std::size_t i : chosen) {
        all += str_cat("(", goal.line.kind == GoalKind::kOn ? "on" : "inside", " ", name(things[i]), " ", name(target),
                       ")");
      }
      out.push_back(goal.count == 1 ? all : all + ")");
      if (out.size() > kMostChoices) {
        throw InputError("",
                         str_cat("the goal ", to_text(goal.line), " asks for ", goal.count, " of ", things.size(),
                                 " things: too many ways to choose"),
                         "ask for fewer");
      }
      return;
    }
    for (std::size_t i = from; i < things.size(); ++i) {
      chosen.push_back(i);
      choose(goal, things, target, i + 1, chosen, out);
      chosen.pop_back();
    }
  }

  std::string impossible(const Goal& goal, const std::string& why) {
    const std::string wish = str_cat(goal_name(goal.line.kind), "-",
                                     goal.line.object.empty() ? "" : goal.line.object + "-", goal.line.target);
    const bool spelled = std::all_of(wish.begin(), wish.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    wishes_.push_back(spelled ? wish : str_cat("wish-", wishes_.size() + 1));
    result_.notes.push_back(str_cat("the goal ", to_text(goal.line), " cannot be reached: ", why));
    return str_cat("(granted ", wishes_.back(), ")");
  }

  std::string goal_formulas() {
    std::string out;
    std::map<std::string, std::vector<int>> targets;
    // Target class -> for each target, all its goals; nothing where one of them cannot be.
    std::map<std::string, std::vector<std::optional<std::string>>> joint;
    for (const Goal& goal : goals_) {
      const std::string& target_class = goal.line.target;
      if (!targets.contains(target_class)) {
        targets[target_class] = of_class(listing_.places, target_class);
        joint[target_class].assign(targets[target_class].size(), "");
      }
      std::vector<std::string> all;
      for (std::size_t i = 0; i < targets[target_class].size(); ++i) {
        const std::vector<std::string> here = choices(goal, targets[target_class][i]);
        all.insert(all.end(), here.begin(), here.end());
        std::optional<std::string>& together = joint[target_class][i];
        if (here.empty()) together.reset();
        if (together) *together += " " + any(here);
      }
      if (targets[target_class].empty()) {
        out += "\n    " + impossible(goal, str_cat("the apartment has no ", target_class));
      } else if (all.empty()) {
        const std::size_t there = of_class(listing_.carried, goal.line.object).size();
        out += "\n    " + impossible(goal, there == 0 ? str_cat("the apartment has no ", goal.line.object)
                                                      : str_cat("the apartment has ", there, " ", goal.line.object,
                                                                ", and ", goal.count, " are asked for"));
      } else {
        out += "\n    " + any(all);
      }
    }
    for (const auto& [target_class, alternatives] : joint) {
      const auto same = [&name = target_class](const Goal& goal) { return goal.line.target == name; };
      if (alternatives.size() < 2 || std::count_if(goals_.begin(), goals_.end(), same) < 2) continue;
      std::vector<std::string> possible;
      for (const std::optional<std::string>& one : alternatives) {
        if (one) possible.push_back(str_cat("(and", *one, ")"));
      }
      // Where there is none, one of the goals is impossible everywhere, or each has its own target; that was said
      // above, or is said here.
      if (possible.empty()) {
        wishes_.push_back(str_cat("one-", target_class, "-for-all"));
        possible.push_back(str_cat("(granted ", wishes_.back(), ")"));
      }
      out += "\n    " + any(possible);
    }
    return out;
  }

  const Scene& scene_;
  const Listing& listing_;
  std::vector<Goal> goals_;
  std::vector<std::string> wishes_;
  PromptTask result_;
};

}  // namespace

PromptTask plan_problem(const Scene& scene, const Listing& listing, const std::vector<GoalLine>& goal) {
  return Writer(scene, listing, goal).write();
}

}  // namespace metactrl::benchmarks::watch_and_help
