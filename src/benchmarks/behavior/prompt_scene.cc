#include "benchmarks/behavior/prompt_scene.h"

#include <algorithm>

#include "support/words.h"

namespace metactrl::benchmarks::behavior::prompt {

namespace {

// A name that is spelled the same in the prompt, in PDDL and in the plan.
bool is_name(std::string_view name) {
  return !name.empty() && name.front() != '?' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.") == std::string_view::npos;
}

std::string pddl_name(const std::string& title) {
  std::string out = title.empty() ? "task" : title;
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!plain) c = '_';
  }
  return out;
}

void collect_arguments(const Goal& goal, std::vector<std::string>& out) {
  for (const std::string& argument : goal.atom.arguments) {
    if (argument.front() != '?') out.push_back(argument);
  }
  for (const Goal& child : goal.children) collect_arguments(child, out);
}

// Writes conditions with negations pushed down to the atoms, as a literal's text depends on its sign.
class GoalWriter {
 public:
  GoalWriter(const Kinds& kinds, LiteralText literal) : kinds_(kinds), literal_(literal) {}

  std::string text(const Goal& goal, bool negated) const {
    switch (goal.kind) {
      case Kind::kAtom: {
        Atom atom = goal.atom;
        atom.negated = negated;
        for (std::string& argument : atom.arguments) {
          if (argument.front() == '?') argument = variable(argument);
        }
        return literal_(atom);
      }
      case Kind::kNot:
        return text(goal.children[0], !negated);
      case Kind::kAnd:
        return list(negated ? "or" : "and", goal, negated);
      case Kind::kOr:
        return list(negated ? "and" : "or", goal, negated);
      case Kind::kForall:
      case Kind::kExists: {
        const bool universal = (goal.kind == Kind::kForall) != negated;
        return str_cat(universal ? "(forall (" : "(exists (", variable(goal.variables[0]), " - thing) (",
                       universal ? "imply " : "and ", kind_text(goal, 0), " ", text(goal.children[0], negated), "))");
      }
      case Kind::kForN:
        return str_cat("(forn (", goal.count, ") (", variable(goal.variables[0]), " - thing) (and ", kind_text(goal, 0),
                       " ", text(goal.children[0], negated), "))");
      case Kind::kForPairs:
      case Kind::kForNPairs: {
        const std::size_t count =
            goal.kind == Kind::kForNPairs ? goal.count : std::min(size(goal.kinds[0]), size(goal.kinds[1]));
        if (count == 0) return "(and)";
        return str_cat("(fornpairs (", count, ") (", variable(goal.variables[0]), " - thing) (",
                       variable(goal.variables[1]), " - thing) (and ", kind_text(goal, 0), " ", kind_text(goal, 1), " ",
                       text(goal.children[0], negated), "))");
      }
    }
    return "(and)";
  }

 private:
  using Kind = Goal::Kind;

  static std::string variable(const std::string& name) { return "?x" + name.substr(1); }

  std::string list(const char* word, const Goal& goal, bool negated) const {
    std::string out = str_cat("(", word);
    for (const Goal& child : goal.children) out += " " + text(child, negated);
    return out + ")";
  }

  std::size_t size(const std::string& kind) const {
    const auto it = kinds_.find(kind);
    return it == kinds_.end() ? 0 : it->second.size();
  }

  static std::string kind_text(const Goal& goal, std::size_t i) {
    return str_cat("(kind ", variable(goal.variables[i]), " ", goal.kinds[i], ")");
  }

  const Kinds& kinds_;
  LiteralText literal_;
};

void collect_kinds(const Goal& goal, std::set<std::string>& out) {
  out.insert(goal.kinds.begin(), goal.kinds.end());
  for (const Goal& child : goal.children) collect_kinds(child, out);
}

}  // namespace

bool is_place(std::string_view predicate) {
  return predicate == "inside" || predicate == "ontop" || predicate == "onfloor" || predicate == "under";
}

std::string_view category_of(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size() || name[end] != '_') return name;
  return name.substr(0, end);
}

bool readable_subgoal_name(std::string_view name) {
  static constexpr std::string_view kLostWords[] = {"agent", "forall", "exists", "forpairs", "forn", "t-shirt"};
  const std::string_view category = category_of(name);
  if (category == name || category.empty() || (category.front() >= '0' && category.front() <= '9')) return false;
  if (category.find_first_of("-.", 1) != std::string_view::npos || category.front() == '.') return false;
  return std::none_of(std::begin(kLostWords), std::end(kLostWords),
                      [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

void read_objects(PromptLines& lines, PromptScene& scene, std::string_view end) {
  std::set<std::string> seen;
  while (!lines.at_end() && !lines.peek().starts_with(end)) {
    const std::string_view line = lines.take();
    if (line.empty()) continue;
    // Every second quoted word is a value.
    const std::vector<std::string_view> parts = split(line, "'");
    if (line.front() != '{' || line.back() != '}' || parts.size() != 9 || parts[1] != "name" ||
        parts[5] != "category") {
      lines.fail(str_cat("'", line, "' is not an object"),
                 "write for example {'name': 'jar_0', 'category': 'jar.n.01'}");
    }
    if (!is_name(parts[3]) || !is_name(parts[7])) {
      lines.fail(str_cat("'", line, "' holds a name with characters that a plan cannot spell"));
    }
    if (!seen.insert(std::string(parts[3])).second) lines.fail(str_cat("'", parts[3], "' is declared twice"));
    scene.objects.push_back({std::string(parts[3]), std::string(parts[7])});
  }
}

void declare_missing_objects(PromptScene& scene) {
  std::set<std::string> known;
  for (const PromptObject& object : scene.objects) known.insert(object.name);
  std::set<std::string> kinds;
  std::vector<std::string> named;
  for (const Atom& atom : scene.init) named.insert(named.end(), atom.arguments.begin(), atom.arguments.end());
  for (const Goal& goal : scene.goals) {
    collect_arguments(goal, named);
    collect_kinds(goal, kinds);
  }
  for (const std::string& name : named) {
    // A category outside its quantifier stands for no object.
    if (kinds.contains(name) || !known.insert(name).second) continue;
    scene.objects.push_back({name, ""});
    scene.notes.push_back(str_cat("'", name, "' is not among the objects that can be interacted with"));
  }
}

SceneIndex::SceneIndex(const PromptScene& scene) : scene_(scene) {
  for (const PromptObject& object : scene.objects) {
    if (!object.synset.empty()) kinds_[object.synset].push_back(object.name);
    if (object.synset == "floor.n.01" || object.name.starts_with("room_floor_")) floors_.insert(object.name);
  }
  for (const Atom& atom : scene.init) {
    init_.insert(atom);
    if (!atom.negated && is_place(atom.predicate)) placed_.insert(atom.arguments[0]);
  }
  for (const Goal& goal : scene.goals) {
    const std::vector<Atom> atoms = ground_atoms(goal, kinds_);
    wanted_.insert(atoms.begin(), atoms.end());
  }
}

bool SceneIndex::stated(std::string_view predicate, const std::string& x) const {
  return init_.contains(Atom{false, std::string(predicate), {x}});
}

bool SceneIndex::stated(std::string_view predicate, const std::string& x, const std::string& y) const {
  return init_.contains(Atom{false, std::string(predicate), {x, y}});
}

std::string atom_text(std::string_view predicate, const std::vector<std::string>& arguments) {
  std::string out = str_cat("(", predicate);
  for (const std::string& argument : arguments) out += " " + argument;
  return out + ")";
}

std::string goal_text(const Goal& goal, const Kinds& kinds, LiteralText literal) {
  return GoalWriter(kinds, literal).text(goal, false);
}

std::string options_text(const std::vector<std::vector<Atom>>& options, LiteralText literal) {
  std::string out = "(or";
  for (std::vector<Atom> option : options) {
    std::sort(option.begin(), option.end());
    option.erase(std::unique(option.begin(), option.end()), option.end());
    out += "\n      (and";
    for (const Atom& atom : option) out += " " + literal(atom);
    out += ")";
  }
  return out + ")";
}

bool counts_negated(const Goal& goal, bool negated) {
  using Kind = Goal::Kind;
  const bool counting = goal.kind == Kind::kForN || goal.kind == Kind::kForPairs || goal.kind == Kind::kForNPairs;
  if (counting && negated) return true;
  const bool inner = negated != (goal.kind == Kind::kNot);
  return std::any_of(goal.children.begin(), goal.children.end(),
                     [&](const Goal& child) { return counts_negated(child, inner); });
}

PromptTask write_problem(const PromptScene& scene, std::string_view domain, const std::vector<std::string>& init,
                         const std::vector<std::string>& goals, const std::set<std::string>& spoken) {
  std::set<std::string> kinds;
  for (const PromptObject& object : scene.objects) {
    if (!object.synset.empty()) kinds.insert(object.synset);
  }
  for (const Goal& goal : scene.goals) collect_kinds(goal, kinds);
  std::string text =
      str_cat("(define (problem ", pddl_name(scene.title), ")\n  (:domain ", domain, ")\n  (:objects\n   ");
  std::string things;
  std::string spoken_things;
  for (const PromptObject& object : scene.objects) {
    (spoken.contains(object.name) ? spoken_things : things) += " " + object.name;
  }
  if (!spoken_things.empty()) text += spoken_things + " - spoken";
  if (!things.empty()) text += things + " - thing";
  text += "\n   ";
  for (const std::string& kind : kinds) text += " " + kind;
  if (!kinds.empty()) text += " - category";
  std::string facts;
  for (const std::string& fact : init) facts += "\n    " + fact;
  std::string goal_lines;
  for (const std::string& goal : goals) goal_lines += "\n    " + goal;
  PromptTask task;
  task.title = scene.title;
  task.set_problem(text + ")", facts, goal_lines);
  task.notes = scene.notes;
  return task;
}

}  // namespace metactrl::benchmarks::behavior::prompt
