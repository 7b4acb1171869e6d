// The problem for a robot that knows the prompt and the taxonomy, and nothing else.
//
// What the prompt hides and how the problem deals with it:
//
// Doors and machines. What the prompt does not mention is neither (open x) nor (closed x), neither (on x) nor (off x):
// the plan opens, closes or switches it.
//
// Places. Stated places are believed; they are certain (settled) only for what cannot be lifted. A goal that is stated
// to hold already is made true once more; where so much carrying is too much to plan for, things are assumed to be
// where the prompt says.
//
// Sizes. A hand takes everything below 1.5 cubic metres. Taken to be that small: what a goal wants moved, soaked or
// cooked; tools; what lies on or in other things. One thing is put into another one only where the prompt shows that it
// fits: a goal wants it there, or it comes from there. Things that can be soaked fit into a sink. To put something *on*
// a thing nobody asks for sizes, and for sinks, saucepans and dishwashers it is as good.
//
// All else (dust, stains, slices, ...) is false unless stated, as the simulator starts.
#include <algorithm>
#include <utility>

#include "benchmarks/behavior/prompt_scene.h"
#include "support/words.h"

namespace metactrl::benchmarks::behavior::prompt {

namespace {

// One atom or its negation, with nothing said about how certain it is.
std::string plain_literal(const Atom& atom) {
  const std::string& p = atom.predicate;
  if (p == "open") return atom_text(atom.negated ? "closed" : "open", atom.arguments);
  if (p == "toggled_on") return atom_text(atom.negated ? "off" : "on", atom.arguments);
  const std::string text = atom_text(p == "touching" ? "nextto" : p, atom.arguments);
  return atom.negated ? str_cat("(not ", text, ")") : text;
}

std::string environment_literal(const Atom& atom) {
  const std::string& p = atom.predicate;
  std::string text = plain_literal(atom);
  const bool place = !atom.negated && (p == "inside" || p == "ontop" || p == "onfloor");
  return place ? str_cat("(and ", text, " (settled ", atom.arguments[0], "))") : text;
}

struct Ability {
  const char* ability;
  const char* predicate;  // what an object with it is
  const char* state;      // what may be true of it
};
constexpr Ability kAbilities[] = {
    {"openable", "openable", ""},
    {"toggleable", "toggleable", ""},
    {"sliceable", "sliceable", "sliced"},
    {"soakable", "soakable", "soaked"},
    {"cookable", "cookable", "cooked"},
    {"freezable", "freezable", "frozen"},
    {"dustyable", "", "dusty"},
    {"stainable", "", "stained"},
    {"slicer", "slicer", ""},
    {"cleaningTool", "cleaning-tool", ""},
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class Facts {
 public:
  Facts(const SceneIndex& index, Module module) : index_(index), module_(module) {
    for (const PromptObject& object : index.scene().objects) look_up(object);
    for (const PromptObject& object : index.scene().objects) {
      if (can_grasp(object.name)) graspable_.insert(object.name);
    }
  }

  std::vector<std::string> run() {
    out_.emplace_back("(left-empty) (right-empty)");
    for (const PromptObject& object : index_.scene().objects) describe(object);
    for (const Atom& atom : index_.scene().init) {
      if (!atom.negated && atom.arguments.size() == 2) state_relation(atom);
    }
    for (const PromptObject& object : index_.scene().objects) relate(object.name);
    for (const std::string& target : targets_) add("target", {target});
    return std::move(out_);
  }

  // For what a goal wants where it already is.
  Assumption places() const {
    Assumption out{"", "things are where the prompt says"};
    for (const PromptObject& object : index_.scene().objects) {
      const std::string& x = object.name;
      if (graspable_.contains(x) && place_matters(x)) out.facts += atom_text("settled", {x});
    }
    return out;
  }

  // For what lies on the floor and no goal wants moved.
  Assumption lifting() const {
    Assumption out{"", "things that lie on the floor are not too large to be lifted"};
    for (const PromptObject& object : index_.scene().objects) {
      const std::string& x = object.name;
      if (index_.placed(x) && !graspable_.contains(x) && nameable(x)) out.facts += atom_text("graspable", {x});
    }
    return out;
  }

 private:
  void add(std::string_view predicate, const std::vector<std::string>& arguments) {
    out_.push_back(atom_text(predicate, arguments));
  }

  void look_up(const PromptObject& object) {
    const Taxonomy& taxonomy = Taxonomy::builtin();
    const Taxonomy::Class* entry = taxonomy.of_category(category_of(object.name));
    if (entry == nullptr || !entry->in_evaluator) entry = taxonomy.of_synset(object.synset);
    if (entry != nullptr) abilities_[object.name] = &entry->evaluator;
  }

  bool able(const std::string& x, std::string_view ability) const {
    const auto it = abilities_.find(x);
    return it != abilities_.end() && it->second->contains(ability);
  }

  bool nameable(const std::string& x) const { return module_ == Module::kActions || readable_subgoal_name(x); }

  bool can_grasp(const std::string& x) const {
    if (index_.is_floor(x) || !nameable(x)) return false;
    if (able(x, "cleaningTool") || able(x, "slicer") || contains(x, "detergent")) return true;
    for (const Atom& atom : index_.scene().init) {
      if (atom.negated || atom.arguments.size() != 2 || atom.arguments[0] != x) continue;
      if ((atom.predicate == "inside" || atom.predicate == "ontop") && !index_.is_floor(atom.arguments[1])) return true;
    }
    return std::any_of(index_.wanted().begin(), index_.wanted().end(),
                       [&](const Atom& atom) { return wants_moved(atom, x); });
  }

  bool wants_moved(const Atom& atom, const std::string& x) const {
    const bool holds = index_.stated(Atom{false, atom.predicate, atom.arguments});
    if (atom.arguments.size() == 1) {
      return atom.arguments[0] == x && !atom.negated && !holds &&
             (atom.predicate == "soaked" || atom.predicate == "cooked");
    }
    if (holds != atom.negated) return false;
    const std::string& mover = is_place(atom.predicate) || index_.placed(atom.arguments[0]) || atom.negated
                                   ? atom.arguments[0]
                                   : atom.arguments[1];
    return mover == x;
  }

  void describe(const PromptObject& object) {
    const std::string& x = object.name;
    if (!object.synset.empty()) add("kind", {x, object.synset});
    if (index_.is_floor(x)) add("floor", {x});
    if (module_ == Module::kSubgoals && nameable(x)) add("nameable", {x});
    for (const Ability& ability : kAbilities) {
      if (!able(x, ability.ability)) continue;
      if (*ability.predicate != '\0') add(ability.predicate, {x});
      if (*ability.state != '\0' && index_.stated(ability.state, x)) add(ability.state, {x});
    }
    two_valued(x, "openable", "open", "open", "closed");
    two_valued(x, "toggleable", "toggled_on", "on", "off");
    // The evaluator goes by these words in names.
    if (contains(x, "sink")) add("sink", {x});
    if (contains(x, "sink") || contains(x, "teapot")) add("water", {x});
    if (contains(x, "saucepan")) add("saucepan", {x});
    if (contains(x, "dishwasher")) add("dishwasher", {x});
    if (contains(x, "detergent")) add("detergent", {x});
    if (graspable_.contains(x)) add("graspable", {x});
    if (!index_.is_floor(x) && !(graspable_.contains(x) && place_matters(x))) add("settled", {x});
    if (is_surface(x)) {
      add("surface", {x});
      targets_.insert(x);
    }
  }

  // Whether something depends on x being where the prompt says: a goal wants it there, or something else that is to be
  // next to it; or there is water or heat. Of other things it need not be certain.
  bool place_matters(const std::string& x) const {
    for (const Atom& atom : index_.scene().init) {
      if (atom.negated || atom.arguments.size() != 2 || atom.arguments[0] != x) continue;
      const std::string& y = atom.arguments[1];
      if (is_fixture(y) || wanted(atom.predicate, x, y)) return true;
      for (const PromptObject& object : index_.scene().objects) {
        if (neighbours(x, object.name) && wanted(atom.predicate, object.name, y)) return true;
      }
    }
    return false;
  }

  static bool is_fixture(const std::string& x) {
    return contains(x, "sink") || contains(x, "teapot") || contains(x, "saucepan") || contains(x, "dishwasher");
  }

  bool neighbours(const std::string& x, const std::string& y) const {
    return wanted("nextto", x, y) || wanted("touching", x, y) || wanted("nextto", y, x) || wanted("touching", y, x);
  }

  // Known one way, the other way, or not at all; what lacks the ability counts as false.
  void two_valued(const std::string& x, const char* ability, const char* state, const char* yes, const char* no) {
    const Atom negative{true, state, {x}};
    if (!able(x, ability) ? index_.wanted().contains(negative) : index_.stated(negative)) {
      add(no, {x});
    } else if (able(x, ability) && index_.stated(state, x)) {
      add(yes, {x});
    }
  }

  bool is_surface(const std::string& x) const {
    if (!nameable(x)) return false;
    if (index_.is_floor(x) || is_fixture(x)) return true;
    if (!index_.placed(x) && !able(x, "openable") && !graspable_.contains(x)) return true;
    const auto target = [&](const Atom& atom) {
      return !atom.negated && atom.predicate == "ontop" && atom.arguments[1] == x;
    };
    return std::any_of(index_.scene().init.begin(), index_.scene().init.end(), target) ||
           std::any_of(index_.wanted().begin(), index_.wanted().end(), target);
  }

  void state_relation(const Atom& atom) {
    const std::string& x = atom.arguments[0];
    const std::string& y = atom.arguments[1];
    const std::string predicate = atom.predicate == "touching" ? "nextto" : atom.predicate;
    // "ontop" of a floor is an edge to it.
    add(predicate == "ontop" && index_.is_floor(y) ? "onfloor" : predicate, {x, y});
    if (predicate == "nextto") add(predicate, {y, x});
  }

  void relate(const std::string& x) {
    if (!graspable_.contains(x)) return;
    for (const PromptObject& object : index_.scene().objects) {
      const std::string& y = object.name;
      if (x == y || !nameable(y)) continue;
      if (fits(x, y)) {
        add("fits", {x, y});
        targets_.insert(y);
      }
      if (neighbours(x, y) && moves_to(x, y)) stands_by(x, y);
      if (wanted("under", x, y)) {
        add("goes-under", {x, y});
        targets_.insert(y);
      }
      if (module_ != Module::kSubgoals) continue;
      // The evaluator takes y in a hand for x when y's name holds x's.
      if (contains(y, x)) add("mistaken-for", {x, y});
      if (index_.stated("inside", x, y) && index_.wanted().contains(Atom{true, "inside", {x, y}}))
        add("leaves", {x, y});
    }
  }

  void stands_by(const std::string& x, const std::string& y) {
    if (index_.is_floor(y)) return;
    add("stands-by", {x, y});
    targets_.insert(y);
    if (module_ == Module::kSubgoals) {
      if (wanted("touching", x, y) || wanted("touching", y, x)) add("touches", {x, y});
      return;
    }
    std::set<std::string> goes_on;
    for (const PromptObject& object : index_.scene().objects) {
      const std::string& s = object.name;
      if (s == x) continue;
      if (index_.is_floor(s) || wanted("ontop", x, s)) goes_on.insert(s);
    }
    for (const std::string& s : goes_on) {
      if (goes_on_.insert({x, s}).second) add("goes-on", {x, s});
    }
  }

  // Which of two neighbours is moved: the one the goal names first, as a rule. The other one as well where the first
  // cannot be moved, has to be inside something, or has several neighbours by goals of their own.
  bool moves_to(const std::string& x, const std::string& y) const {
    if (wanted("nextto", x, y) || wanted("touching", x, y) || !graspable_.contains(y)) return true;
    if (std::any_of(index_.wanted().begin(), index_.wanted().end(), [&](const Atom& atom) {
          return !atom.negated && atom.predicate == "inside" && atom.arguments[0] == y;
        })) {
      return true;
    }
    const auto names = [&](const Goal& goal) {
      return goal.kind == Goal::Kind::kAtom && (goal.atom.predicate == "nextto" || goal.atom.predicate == "touching") &&
             goal.atom.arguments[0] == y;
    };
    return std::count_if(index_.scene().goals.begin(), index_.scene().goals.end(), names) > 1;
  }

  bool wanted(std::string_view predicate, const std::string& x, const std::string& y) const {
    return index_.wanted().contains(Atom{false, std::string(predicate), {x, y}});
  }

  bool fits(const std::string& x, const std::string& y) const {
    if (index_.is_floor(y)) return false;
    if (wanted("inside", x, y) || index_.stated("inside", x, y)) return true;
    return contains(y, "sink") && able(x, "soakable");
  }

  const SceneIndex& index_;
  Module module_;
  std::map<std::string, const Taxonomy::Abilities*> abilities_;
  std::set<std::string> graspable_;
  std::set<std::string> targets_;
  std::set<std::pair<std::string, std::string>> goes_on_;
  std::vector<std::string> out_;
};

// No state has all of these: a thing on or in itself, however indirectly; in two places; next to itself; both signs.
bool contradicts_itself(const std::vector<Atom>& option) {
  const std::set<Atom> atoms(option.begin(), option.end());
  std::map<std::string, const Atom*> parent;
  for (const Atom& atom : atoms) {
    if (atom.negated) {
      if (atoms.contains(Atom{false, atom.predicate, atom.arguments})) return true;
      continue;
    }
    if (atom.arguments.size() == 2 && atom.arguments[0] == atom.arguments[1]) return true;
    if (atom.predicate != "inside" && atom.predicate != "ontop") continue;
    if (!parent.emplace(atom.arguments[0], &atom).second) return true;
  }
  for (const auto& [thing, atom] : parent) {
    auto up = parent.find(atom->arguments[1]);
    for (std::size_t steps = 0; up != parent.end(); ++steps, up = parent.find(up->second->arguments[1])) {
      if (up->first == thing || steps > parent.size()) return true;
    }
  }
  return false;
}

// A conjunction at the top of a goal would be taken apart; a line of the prompt is one goal.
std::string whole(const std::string& text) { return text.starts_with("(and ") ? str_cat("(or ", text, ")") : text; }

// A goal with its parts: the goal itself, and for one that no state fulfils as much of it as some state does. Such a
// goal is written with (impossible), so that everybody sees at once that it has to be dropped.
void add_goal(const Goal& goal, const Kinds& kinds, std::vector<std::string>& goals, std::vector<std::string>& notes) {
  const std::optional<Expansion> expansion = expand(goal, kinds);
  std::string text = goal_text(goal, kinds, environment_literal);
  if (!expansion) {
    goals.push_back(whole(text));
    return;
  }
  std::vector<std::vector<Atom>> options = expansion->options;
  std::erase_if(options, contradicts_itself);
  if (!options.empty()) {
    goals.push_back(expansion->cut || counts_negated(goal) ? options_text(options, environment_literal) : whole(text));
    return;
  }
  notes.push_back(str_cat("no state fulfils the goal ", text));
  goals.push_back(whole(str_cat("(and (impossible) ", text, ")")));
  std::vector<Atom> part;
  for (const Atom& atom : expansion->options.empty() ? std::vector<Atom>{} : expansion->options.front()) {
    part.push_back(atom);
    if (contradicts_itself(part)) part.pop_back();
  }
  if (!part.empty()) goals.push_back(options_text({part}, environment_literal));
}

}  // namespace

PromptTask environment_problem(const PromptScene& scene, Module module) {
  const SceneIndex index(scene);
  Facts facts(index, module);
  std::vector<std::string> goals;
  std::vector<std::string> notes;
  std::vector<std::vector<std::string>> keep;
  for (const Goal& goal : scene.goals) {
    std::vector<std::string> parts;
    for (const Atom& atom : ground_atoms(goal, index.kinds())) parts.push_back(plain_literal(atom));
    add_goal(goal, index.kinds(), goals, notes);
    keep.resize(goals.size(), parts);
  }
  const std::string_view domain = module == Module::kActions ? "behavior-actions" : "behavior-subgoals";
  PromptTask task = write_problem(scene, domain, facts.run(), goals);
  task.keep = std::move(keep);
  task.notes.insert(task.notes.end(), notes.begin(), notes.end());
  for (Assumption assumption : {facts.places(), facts.lifting()}) {
    if (!assumption.facts.empty()) task.assumptions.push_back(std::move(assumption));
  }
  return task;
}

}  // namespace metactrl::benchmarks::behavior::prompt
