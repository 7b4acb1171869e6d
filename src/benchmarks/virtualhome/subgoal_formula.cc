// What the evaluator makes of formulas, and evaluation of a goal along a trajectory.
#include "benchmarks/virtualhome/subgoal_formula.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "benchmarks/python_text.h"
#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {
namespace {

struct ActionName {
  std::string_view name;
  std::size_t arity;
};

constexpr std::array<ActionName, 20> kFormulaActions = {{
    {"DRINK", 1}, {"EAT", 1},   {"CUT", 1},  {"TOUCH", 1}, {"LOOKAT", 1},  {"WATCH", 1},     {"READ", 1},
    {"TYPE", 1},  {"PUSH", 1},  {"PULL", 1}, {"MOVE", 1},  {"SQUEEZE", 1}, {"SLEEP", 0},     {"WAKEUP", 0},
    {"RINSE", 1}, {"SCRUB", 1}, {"WASH", 1}, {"WIPE", 1},  {"GRAB", 1},    {"SWITCHOFF", 1},
}};

// A relation's name in a formula.
std::optional<Relation> find_formula_relation(std::string_view name) {
  if (name == "ONTOP") return Relation::kOn;
  if (name == "NEXT_TO") return Relation::kClose;
  if (name == "ON" || name == "CLOSE" || name == "SITTING") return std::nullopt;
  return find_relation(name);
}

// Without `then` all the way down: can be decided in one state.
bool is_state_formula(const Formula& formula) {
  return formula.kind != Formula::Kind::kThen &&
         std::all_of(formula.parts.begin(), formula.parts.end(), is_state_formula);
}

using Binding = std::map<std::string, int>;

// The object an argument stands for; nothing where there is no such object.
std::optional<int> resolve(const std::string& argument, const Binding& binding, const Scene& scene) {
  const auto bound = binding.find(argument);
  if (bound != binding.end()) return bound->second;
  const ObjectName object = split_object(argument);
  if (!object.id || !scene.contains(*object.id) || scene.node(*object.id).name != object.name) return std::nullopt;
  // The evaluator compares texts, and writes numbers without leading zeros.
  if (str_cat(object.name, ".", *object.id) != argument) return std::nullopt;
  return object.id;
}

bool evaluate_atom(const Formula& atom, const World& world, const Action* action, const Binding& binding) {
  const bool is_action = atom_kind(atom.name) == AtomKind::kAction;
  if (is_action && (action == nullptr || action->name != atom.name)) return false;
  std::vector<int> objects;
  for (const std::string& argument : atom.arguments) {
    const std::optional<int> object = resolve(argument, binding, world.scene());
    if (!object) return false;
    objects.push_back(*object);
  }
  if (is_action) {
    return std::equal(objects.begin(), objects.end(), action->arguments.begin(), action->arguments.end(),
                      [](int object, const Argument& argument) { return object == argument.id; });
  }
  const std::optional<State> state = find_state(atom.name);
  if (state && objects.size() == 1) return world.has_state(objects[0], *state);
  const std::optional<Relation> relation = find_formula_relation(atom.name);
  return relation && objects.size() == 2 && world.has_edge_now(objects[0], *relation, objects[1]);
}

bool evaluate(const Formula& formula, const World& world, const Action* action, Binding& binding) {
  const auto part = [&](const Formula& inner) { return evaluate(inner, world, action, binding); };
  const auto with = [&](int object) {
    const auto [slot, is_new] = binding.emplace(formula.name, object);
    const int outer = std::exchange(slot->second, object);
    const bool result = evaluate(formula.parts.front(), world, action, binding);
    if (is_new) {
      binding.erase(slot);
    } else {
      slot->second = outer;
    }
    return result;
  };
  const std::vector<SceneNode>& nodes = world.scene().nodes();
  switch (formula.kind) {
    case Formula::Kind::kAtom:
      return evaluate_atom(formula, world, action, binding);
    case Formula::Kind::kNot:
      return !part(formula.parts.front());
    case Formula::Kind::kAnd:
      return std::all_of(formula.parts.begin(), formula.parts.end(), part);
    case Formula::Kind::kOr:
      return std::any_of(formula.parts.begin(), formula.parts.end(), part);
    case Formula::Kind::kExists:
      return std::any_of(nodes.begin(), nodes.end(), [&](const SceneNode& node) { return with(node.id); });
    case Formula::Kind::kForall:
      return std::all_of(nodes.begin(), nodes.end(), [&](const SceneNode& node) { return with(node.id); });
    case Formula::Kind::kThen:
    case Formula::Kind::kForNumber:  // compares a number with a text in the evaluator, and so never holds
      break;
  }
  return false;
}

}  // namespace

std::optional<Formula> parse_formula(std::string_view text) {
  constexpr int kMaxDepth = 80;
  return benchmarks::parse_formula(text, {false, true, kMaxDepth, 1, skip_word});
}

AtomKind atom_kind(std::string_view name) {
  if (find_state(name)) return AtomKind::kState;
  if (find_formula_relation(name)) return AtomKind::kRelation;
  if (find_property(name)) return AtomKind::kProperty;
  const bool is_action =
      std::any_of(kFormulaActions.begin(), kFormulaActions.end(), [&](const auto& row) { return row.name == name; });
  return is_action ? AtomKind::kAction : AtomKind::kUnknown;
}

std::size_t atom_arity(std::string_view name) {
  if (atom_kind(name) == AtomKind::kRelation) return 2;
  const auto action =
      std::find_if(kFormulaActions.begin(), kFormulaActions.end(), [&](const auto& row) { return row.name == name; });
  return action == kFormulaActions.end() ? 1 : action->arity;
}

ObjectName split_object(const std::string& argument) {
  constexpr std::size_t kMaxDigits = 4300;
  ObjectName object;
  const std::size_t dot = argument.find('.');
  object.name = argument.substr(0, dot);
  if (dot == std::string::npos) return object;
  object.numbered = true;
  object.too_long = argument.size() - dot - 1 > kMaxDigits;
  int id = 0;
  for (std::size_t i = dot + 1; i < argument.size(); ++i) {
    id = id * 10 + (argument[i] - '0');
    if (id >= Scene::kMaxId) return object;
  }
  object.id = id;
  return object;
}

std::optional<FormulaProblem> check_formula(const Formula& formula) {
  for (const Formula& part : formula.parts) {
    if (std::optional<FormulaProblem> problem = check_formula(part)) return problem;
  }
  if (formula.kind == Formula::Kind::kAtom && atom_kind(formula.name) == AtomKind::kUnknown) {
    return FormulaProblem{true, str_cat("there is no state or action '", formula.name, "'")};
  }
  if (formula.kind == Formula::Kind::kAnd) {
    const bool first = is_state_formula(formula.parts.front());
    for (const Formula& part : formula.parts) {
      if (is_state_formula(part) != first)
        return FormulaProblem{false, "'and' joins a formula with 'then' and one without"};
    }
  }
  return std::nullopt;
}

bool Goal::is_supported(const Formula& formula) {
  if (formula.kind != Formula::Kind::kThen) return is_state_formula(formula);
  return std::all_of(formula.parts.begin(), formula.parts.end(), is_state_formula);
}

Goal::Goal(const Formula& formula) {
  if (formula.kind == Formula::Kind::kThen) {
    stages_ = formula.parts;
  } else {
    stages_.push_back(formula);
  }
}

void Goal::advance(GoalProgress& progress, const World& world, const Action* action) const {
  if (is_reached(progress)) return;
  Binding binding;
  if (evaluate(stages_[progress.stage], world, action, binding)) ++progress.stage;
}

bool holds_now(const Formula& atom, const World& world) { return evaluate_atom(atom, world, nullptr, {}); }

}  // namespace metactrl::benchmarks::virtualhome
