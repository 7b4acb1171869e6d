// From what a prompt says to a PDDL problem. Every fact below is either a line of the prompt or follows from one by a
// rule of the environment that holds in every house:
//
//   - an object is in at most one container, so one that is shown in a container is in no other (settled);
//   - the states of an object are shown completely or not at all;
//   - hands are empty unless something is shown in them, and at the start nothing is near the robot.
//
// Objects that no answer can name are left out with all that is shown about them; what is in one of them is out of reach
// unless that is known to be open or has no door.
//
// What is not shown is left out: in these domains a missing fact means "not known".
#include "benchmarks/virtualhome/prompt_scene.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {

using internal::lower_case;

namespace {

// The classes and properties that the environment's rules test; domains declare the same.
constexpr std::array<std::string_view, 22> kClasses = {"water",       "child",    "desk",
                                                       "window",      "keyboard", "button",
                                                       "chair",       "curtain",  "hands_both",
                                                       "sponge",      "face",     "cleaning_solution",
                                                       "tooth_paste", "shampoo",  "food_peanut_butter",
                                                       "dish_soap",   "soap",     "towel",
                                                       "rag",         "paper",    "food_lemon",
                                                       "check"};
constexpr std::array<std::string_view, 23> kProperties = {
    "surfaces", "grabbable", "sittable",     "lieable",    "hangable",  "drinkable", "eatable",    "recipient",
    "cuttable", "pourable",  "can_open",     "has_switch", "readable",  "lookable",  "containers", "clothes",
    "person",   "body_part", "cover_object", "has_plug",   "has_paper", "movable",   "cream"};

// The actions that a goal may ask for; where a module has no such action, the goal is out of reach.
constexpr std::array<std::string_view, 38> kActions = {
    "walk",  "run",    "find", "turnto",  "lookat", "pointat", "watch", "sit",   "lie",      "standup",
    "sleep", "wakeup", "grab", "putback", "putin",  "drop",    "open",  "close", "switchon", "switchoff",
    "drink", "read",   "eat",  "cut",     "pour",   "wipe",    "wash",  "rinse", "scrub",    "squeeze",
    "touch", "type",   "push", "pull",    "move",   "greet",   "puton", "putoff"};

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct StateFact {
  std::string_view state;
  std::string_view predicate;
};
constexpr std::array<StateFact, 8> kStates = {{{"ON", "running"},
                                               {"OFF", "stopped"},
                                               {"OPEN", "is-open"},
                                               {"CLOSED", "is-closed"},
                                               {"PLUGGED_IN", "plugged"},
                                               {"PLUGGED_OUT", "unplugged"},
                                               {"CLEAN", "clean"},
                                               {"DIRTY", "dirty"}}};

std::string_view state_predicate(std::string_view state) {
  for (const StateFact& fact : kStates) {
    if (fact.state == state) return fact.predicate;
  }
  return {};
}

class ProblemWriter {
 public:
  ProblemWriter(const PromptScene& scene, const ProblemStyle& style) : scene_(scene), style_(style) {}

  PromptTask write();

 private:
  const PromptScene::Object& object(std::size_t index) const { return scene_.objects[index]; }
  bool is_thing(std::size_t index) const {
    return !object(index).character && !object(index).room && object(index).spoken;
  }
  void fact(const std::string& text) { facts_ += "\n    " + text; }
  void goal(const std::string& text) {
    if (goal_set_.insert(text).second) goals_ += "\n    " + text;
  }
  void cannot(const std::string& what) {
    if (!contains(unmet_, what)) unmet_.push_back(what);
    goal(str_cat("(cannot ", what, ")"));
  }

  std::string objects() const;
  void object_facts();
  void edge_facts();
  std::string edge_atom(const PromptScene::Edge& edge) const;
  void state_goals();
  void action_goals();
  void ordered_wishes(const std::vector<std::vector<std::string>>& lines);
  void wishes_in_either_order(const std::vector<std::vector<std::string>>& lines);
  std::vector<Assumption> assumptions() const;
  std::string assumed(std::string_view predicate, const std::set<std::size_t>& about) const;
  std::string assumed_homes(const std::set<std::size_t>& about) const;
  std::set<std::size_t> holders() const;
  std::set<std::size_t> shut_away() const;
  bool posture_known() const;

  const PromptScene& scene_;
  const ProblemStyle& style_;
  std::string facts_;
  std::string goals_;
  std::set<std::string> goal_set_;
  std::vector<std::string> wishes_;
  std::vector<std::string> unmet_;
  std::vector<std::string> notes_;
};

std::string ProblemWriter::objects() const {
  std::string things;
  std::string rooms;
  std::string characters;
  for (const PromptScene::Object& o : scene_.objects) {
    if (!o.spoken) continue;
    (o.character ? characters : o.room ? rooms : things) += " " + o.pddl();
  }
  std::string text;
  if (!things.empty()) text += things + " - thing";
  if (!rooms.empty()) text += rooms + " - room";
  if (style_.character_is_object && !characters.empty()) text += characters + " - character";
  for (const std::string& wish : wishes_) text += " " + wish + " - wish";
  for (const std::string& what : unmet_) text += " " + what + " - unmet";
  return text;
}

void ProblemWriter::object_facts() {
  for (const PromptScene::Object& o : scene_.objects) {
    if (!o.spoken) continue;
    if (o.character) {
      if (style_.character_is_object) fact(str_cat("(is-robot ", o.pddl(), ")"));
      const bool sitting = contains(o.states, "SITTING");
      const bool lying = contains(o.states, "LYING");
      if (sitting) fact("(sitting)");
      if (lying) fact("(lying)");
      if (scene_.posture_shown && !sitting && !lying) fact("(standing)");
      continue;
    }
    if (o.room) fact(str_cat("(is-room ", o.pddl(), ")"));
    for (const std::string& property : o.properties) {
      if (contains(kProperties, lower_case(property))) {
        fact(str_cat("(", lower_case(property), " ", o.pddl(), ")"));
      } else {
        notes_.push_back(str_cat("no rule of the environment tests the property ", property, " of ", o.name));
      }
    }
    if (contains(kClasses, o.name)) fact(str_cat("(of-class ", o.pddl(), " ", o.name, ")"));
    if (o.name.find("knife") != std::string::npos) fact(str_cat("(knife ", o.pddl(), ")"));
    if (o.room) continue;
    for (const std::string& state : o.states) {
      if (const std::string_view predicate = state_predicate(state); !predicate.empty()) {
        fact(str_cat("(", predicate, " ", o.pddl(), ")"));
      }
    }
  }
}

// The atom for an edge; empty where no predicate stands for it.
std::string ProblemWriter::edge_atom(const PromptScene::Edge& edge) const {
  const PromptScene::Object& from = object(edge.from);
  const PromptScene::Object& to = object(edge.to);
  if (!from.spoken || !to.spoken) return {};
  const auto about = [](std::string_view predicate, const PromptScene::Object& o) {
    return str_cat("(", predicate, " ", o.pddl(), ")");
  };
  const auto between = [&](std::string_view predicate) {
    return str_cat("(", predicate, " ", from.pddl(), " ", to.pddl(), ")");
  };
  if (from.character) {
    if (to.character) return {};
    if (edge.relation == "INSIDE") return to.room ? about("in-room", to) : about("robot-inside", to);
    if (edge.relation == "FACING") return about("facing", to);
    if (to.room) return {};
    if (edge.relation == "ON") return about("seat", to);
    if (edge.relation == "CLOSE") return about("by", to);
    if (edge.relation == "HOLDS_RH") return about("right", to);
    if (edge.relation == "HOLDS_LH") return about("left", to);
    return {};
  }
  if (to.character) {
    if (edge.relation == "CLOSE" && !from.room) return about("by", from);
    return edge.relation == "ON" && !from.room ? about("worn", from) : std::string();
  }
  if (edge.relation == "INSIDE" && !from.room) return between("inside");
  if (edge.relation == "BETWEEN") return between("between");
  if (from.room || to.room) return {};
  if (edge.relation == "ON") return between("on");
  if (edge.relation == "CLOSE") return between("next");
  return {};
}

void ProblemWriter::edge_facts() {
  // Nearness among things is shown at length and matters only to goals about it.
  const bool nearness = std::any_of(scene_.edge_goals.begin(), scene_.edge_goals.end(), [&](const auto& goal) {
    return goal.relation == "CLOSE" && is_thing(goal.from) && is_thing(goal.to);
  });
  std::set<std::string> seen;
  std::array<bool, 2> full = {false, false};
  for (const PromptScene::Edge& edge : scene_.edges) {
    if (edge.relation == "CLOSE" && is_thing(edge.from) && is_thing(edge.to) && !nearness) continue;
    const bool held = edge.relation == "HOLDS_RH" || edge.relation == "HOLDS_LH";
    if (held && object(edge.from).character) full[edge.relation == "HOLDS_LH" ? 1 : 0] = true;
    const std::string atom = edge_atom(edge);
    if (atom.empty() || !seen.insert(atom).second) continue;
    fact(atom);
    const bool in_container = edge.relation == "INSIDE" && is_thing(edge.from) && is_thing(edge.to);
    if (edge.relation == "INSIDE" && is_thing(edge.from) && object(edge.to).room) {
      fact(str_cat("(home ", object(edge.from).pddl(), " ", object(edge.to).pddl(), ")"));
    }
    const std::size_t placed = held ? edge.to : edge.from;
    if (held || in_container) {
      const std::string settled = str_cat("(settled ", object(placed).pddl(), ")");
      if (seen.insert(settled).second) fact(settled);
    }
  }
  if (style_.character_is_object) fact("(alone)");
  if (!full[0]) fact("(right-free)");
  if (!full[1]) fact("(left-free)");
}

void ProblemWriter::state_goals() {
  for (const PromptScene::NodeGoal& wanted : scene_.node_goals) {
    const PromptScene::Object& o = object(wanted.object);
    const std::string_view predicate = state_predicate(wanted.state);
    if (o.character && (wanted.state == "SITTING" || wanted.state == "LYING")) {
      goal(str_cat("(", lower_case(wanted.state), ")"));
    } else if (!o.character && !o.room && o.spoken && !predicate.empty()) {
      goal(str_cat("(", predicate, " ", o.pddl(), ")"));
    } else {
      cannot(str_cat(o.pddl(), "-is-", lower_case(wanted.state)));
    }
  }
  for (const PromptScene::Edge& wanted : scene_.edge_goals) {
    const std::string atom = edge_atom(wanted);
    if (atom.starts_with("(by ")) {
      // What is in a hand is close, too.
      const std::string name = object(object(wanted.from).character ? wanted.to : wanted.from).pddl();
      goal(str_cat("(or ", atom, " (right ", name, ") (left ", name, "))"));
    } else if (!atom.empty()) {
      goal(atom);
    } else {
      cannot(
          str_cat(object(wanted.from).pddl(), "-is-", lower_case(wanted.relation), "-to-", object(wanted.to).pddl()));
    }
  }
  for (const PromptScene::LostGoal& lost : scene_.lost_goals) {
    cannot(str_cat("line-", lost.line, "-names-an-unlisted-object"));
  }
}

// Each line is a wish for one of its alternatives, after the wishes before it.
void ProblemWriter::ordered_wishes(const std::vector<std::vector<std::string>>& lines) {
  for (const std::vector<std::string>& line : lines) {
    const std::string wish = str_cat("wish-", wishes_.size() + 1);
    for (const std::string& action : line) fact(str_cat("(asks ", wish, " a_", lower_case(action), ")"));
    const bool tracked = style_.order == ActionOrder::kTracked;
    for (const std::string& earlier : wishes_) {
      if (tracked) fact(str_cat("(before ", earlier, " ", wish, ")"));
    }
    goal(str_cat("(did ", wish, ")"));
    if (!tracked && !wishes_.empty()) goal(str_cat("(did-after ", wishes_.back(), " ", wish, ")"));
    wishes_.push_back(wish);
  }
}

// Each alternative is a wish. The evaluator looks for the lines in an order of its own; for each line it takes the
// first alternative, in the order of the line, that occurs at all, at its first occurrence, and goes on behind it. So
// for lines A and B, something of B has to come after the first occurrence of each alternative of A that is used, and
// the other way round.
void ProblemWriter::wishes_in_either_order(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::vector<std::string>> names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string any;
    names.emplace_back();
    for (const std::string& action : lines[i]) {
      const std::string wish = str_cat("wish-", i + 1, "-", lower_case(action));
      if (contains(names.back(), wish)) continue;
      fact(str_cat("(asks ", wish, " a_", lower_case(action), ")"));
      names.back().push_back(wish);
      wishes_.push_back(wish);
      any += str_cat(" (did ", wish, ")");
    }
    goal(str_cat("(or", any, ")"));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (i == j) continue;
      for (const std::string& first : names[i]) {
        std::string any;
        for (const std::string& then : names[j]) any += str_cat(" (did-after ", first, " ", then, ")");
        goal(str_cat("(imply (did ", first, ") (or", any, "))"));
      }
    }
  }
}

void ProblemWriter::action_goals() {
  std::vector<std::vector<std::string>> lines;
  for (const std::vector<std::string>& line : scene_.action_goals) {
    lines.emplace_back();
    std::string all;
    for (const std::string& action : line) {
      all += "-" + lower_case(action);
      if (contains(kActions, lower_case(action))) lines.back().push_back(action);
    }
    if (lines.back().empty()) {
      lines.pop_back();
      cannot("action" + all);
    }
  }
  if (style_.order == ActionOrder::kEither) {
    wishes_in_either_order(lines);
  } else {
    ordered_wishes(lines);
  }
}

std::string ProblemWriter::assumed(std::string_view predicate, const std::set<std::size_t>& about) const {
  std::string text;
  for (const std::size_t index : about) text += str_cat(" (", predicate, " ", object(index).pddl(), ")");
  return text;
}

// First about the objects whose place is shown, then about those that goals name, then about all.
std::vector<Assumption> ProblemWriter::assumptions() const {
  std::set<std::size_t> named;
  for (const PromptScene::NodeGoal& goal : scene_.node_goals) named.insert(goal.object);
  for (const PromptScene::Edge& goal : scene_.edge_goals) named.insert({goal.from, goal.to});
  const std::set<std::size_t> lost = shut_away();
  std::erase_if(named, [&](std::size_t index) { return !is_thing(index) || lost.contains(index); });
  std::set<std::size_t> placed;  // on or in a thing
  std::set<std::size_t> roomed;  // in a room, and perhaps in something there
  for (const PromptScene::Edge& edge : scene_.edges) {
    if (!is_thing(edge.from) || lost.contains(edge.from) || object(edge.to).character) continue;
    if (edge.relation != "ON" && edge.relation != "INSIDE") continue;
    (object(edge.to).room ? roomed : placed).insert(edge.from);
  }
  std::set<std::size_t> rest;
  for (std::size_t i = 0; i < scene_.objects.size(); ++i) {
    if (is_thing(i) && !named.contains(i) && !lost.contains(i)) rest.insert(i);
  }
  const auto without = [](const std::set<std::size_t>& all, const std::set<std::size_t>& some) {
    std::set<std::size_t> out;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::inserter(out, out.end()));
    return out;
  };

  std::vector<Assumption> result;
  if (!style_.can_stand_up && !posture_known()) result.push_back({"(standing)", "the robot stands at the start"});
  result.push_back({assumed("assumed-within-reach", placed), "what is shown in a place is not shut in somewhere else"});
  result.push_back({assumed("assumed-within-reach", without(named, placed)) + assumed("assumed-seat-free", named) +
                        assumed("assumed-plugged", named) + assumed("assumed-not-shut", holders()),
                    "the objects that goals name are not shut in somewhere unseen, have room to sit where they are "
                    "seats, and are plugged in unless shown otherwise"});
  result.push_back({assumed("assumed-within-reach", without(without(roomed, named), placed)),
                    "so are the objects whose room is shown"});
  result.push_back({assumed_homes(named), "the objects that goals name are in the room that a goal names"});
  if (!style_.can_stand_up) {
    result.push_back({assumed("assumed-near-seat", named), "what goals name is near the seat"});
  }
  result.push_back({assumed("assumed-within-reach", without(without(rest, placed), roomed)) +
                        assumed("assumed-seat-free", rest) + assumed("assumed-plugged", rest),
                    "no listed object is shut in, and all seats have room"});
  if (!style_.can_stand_up) {
    result.push_back({assumed("assumed-near-seat", rest), "all listed objects are near the seat"});
  }
  std::erase_if(result, [](const Assumption& a) { return a.facts.empty(); });
  return result;
}

// Things without a door in which something is shown.
std::set<std::size_t> ProblemWriter::holders() const {
  std::set<std::size_t> result;
  for (const PromptScene::Edge& edge : scene_.edges) {
    if (edge.relation != "INSIDE" || !is_thing(edge.from) || !is_thing(edge.to)) continue;
    if (!contains(object(edge.to).properties, "CAN_OPEN")) result.insert(edge.to);
  }
  return result;
}

// Things in something that no answer can name, so that nobody can open it, and that is not known to be open.
std::set<std::size_t> ProblemWriter::shut_away() const {
  std::set<std::size_t> result;
  for (const PromptScene::Edge& edge : scene_.edges) {
    const PromptScene::Object& to = object(edge.to);
    if (edge.relation != "INSIDE" || to.spoken || to.room || !is_thing(edge.from)) continue;
    if (contains(to.properties, "CAN_OPEN") && !contains(to.states, "OPEN")) result.insert(edge.from);
  }
  return result;
}

bool ProblemWriter::posture_known() const {
  if (scene_.posture_shown) return true;
  return std::any_of(scene_.objects.begin(), scene_.objects.end(), [](const PromptScene::Object& o) {
    return o.character && (contains(o.states, "SITTING") || contains(o.states, "LYING"));
  });
}

// Where a goal wants the robot in a room.
std::string ProblemWriter::assumed_homes(const std::set<std::size_t>& about) const {
  std::string text;
  for (const PromptScene::Edge& goal : scene_.edge_goals) {
    if (goal.relation != "INSIDE" || !object(goal.from).character || !object(goal.to).room) continue;
    for (const std::size_t index : about) {
      text += str_cat(" (home ", object(index).pddl(), " ", object(goal.to).pddl(), ")");
    }
    break;
  }
  return text;
}

PromptTask ProblemWriter::write() {
  object_facts();
  edge_facts();
  action_goals();
  state_goals();

  PromptTask task;
  task.title = scene_.title;
  task.set_problem(str_cat("(define (problem prompt)\n  (:domain ", style_.domain, ")\n  (:objects", objects(), ")"),
                   facts_, goals_);
  task.nonempty = "(acted)";
  task.assumptions = assumptions();
  if (!style_.can_stand_up && !posture_known()) task.fewest_assumptions = 1;
  task.notes = scene_.notes;
  task.notes.insert(task.notes.end(), notes_.begin(), notes_.end());
  return task;
}

}  // namespace

PromptTask make_problem(const PromptScene& scene, const ProblemStyle& style) {
  return ProblemWriter(scene, style).write();
}

}  // namespace metactrl::benchmarks::virtualhome
