// The evaluator joins the strings by " then ", parses the whole, checks names while it builds its tree, then numbers of
// arguments, then objects, and last flattens the tree. Each stage can end in an exception, and an exception is
// NotParseable.
#include "benchmarks/behavior/subgoal_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "benchmarks/behavior/python_literal.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks::behavior {

namespace {

using internal::str_cat;
using nlohmann::json;

constexpr std::string_view kHallucination = "Hallucination";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  while (true) {
    const std::size_t at = text.find(from);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += to;
    text.remove_prefix(at + from.size());
  }
}

// The first {...} without a brace inside.
std::optional<std::string_view> innermost_braces(std::string_view text) {
  std::size_t open = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') open = i;
    if (text[i] == '}' && open != std::string_view::npos) return text.substr(open, i - open + 1);
  }
  return std::nullopt;
}

bool contains(std::string_view text, std::string_view piece) { return text.find(piece) != std::string_view::npos; }

// Longer quantifiers contain one of these.
bool quantified(std::string_view text) {
  return contains(text, "forall") || contains(text, "exists") || contains(text, "forpairs") || contains(text, "forn");
}

// A state of the vocabulary and its number of arguments.
std::optional<std::size_t> state_arity(std::string_view name) {
  constexpr std::array<std::string_view, 6> kBinary = {"inside", "nextto", "touching", "under", "ontop", "onfloor"};
  constexpr std::array<std::string_view, 38> kUnary = {"isInUndefined",   "isInBedRoom",
                                                       "isInEmptyRoom",   "isInDiningRoom",
                                                       "isInPantryRoom",  "inFOVOfRobot",
                                                       "isInGarage",      "isInBathroom",
                                                       "inHandOfRobot",   "isInPlayRoom",
                                                       "isInHomeOffice",  "isInLibrary",
                                                       "isInStaircase",   "isInKitchen",
                                                       "isInLivingRoom",  "isInExerciseRoom",
                                                       "isInCorridor",    "inReachOfRobot",
                                                       "isInAuditorium",  "isInTelevisionRoom",
                                                       "isInLobby",       "isInBalcony",
                                                       "isInStorageRoom", "isInChildsRoom",
                                                       "isInCloset",      "inSameRoomAsRobot",
                                                       "isInUtilityRoom", "frozen",
                                                       "dusty",           "soaked",
                                                       "toggledon",       "sliced",
                                                       "burnt",           "cooked",
                                                       "stained",         "open",
                                                       "holds_rh",        "holds_lh"};
  if (std::find(kBinary.begin(), kBinary.end(), name) != kBinary.end()) return 2;
  if (std::find(kUnary.begin(), kUnary.end(), name) != kUnary.end()) return 1;
  return std::nullopt;
}

struct ActionWord {
  std::string_view name;
  std::size_t arity;  // 0: the vocabulary does not say, and the evaluator fails when it asks
};

const ActionWord* action_word(std::string_view name) {
  static constexpr std::array<ActionWord, 33> kActions = {{{"navigate_to", 1},
                                                           {"left_grasp", 1},
                                                           {"right_grasp", 1},
                                                           {"left_place_ontop", 1},
                                                           {"right_place_ontop", 1},
                                                           {"left_place_inside", 1},
                                                           {"right_place_inside", 1},
                                                           {"right_release", 1},
                                                           {"left_release", 1},
                                                           {"open", 1},
                                                           {"close", 1},
                                                           {"burn", 0},
                                                           {"cook", 1},
                                                           {"clean", 1},
                                                           {"freeze", 1},
                                                           {"unfreeze", 1},
                                                           {"slice", 1},
                                                           {"soak", 1},
                                                           {"dry", 1},
                                                           {"stain", 0},
                                                           {"toggle_on", 1},
                                                           {"toggle_off", 1},
                                                           {"unclean", 0},
                                                           {"left_place_nextto", 1},
                                                           {"right_place_nextto", 1},
                                                           {"left_transfer_contents_inside", 1},
                                                           {"right_transfer_contents_inside", 1},
                                                           {"left_transfer_contents_ontop", 1},
                                                           {"right_transfer_contents_ontop", 1},
                                                           {"left_place_nextto_ontop", 2},
                                                           {"right_place_nextto_ontop", 2},
                                                           {"left_place_under", 1},
                                                           {"right_place_under", 1}}};
  const auto* found =
      std::find_if(kActions.begin(), kActions.end(), [name](const ActionWord& word) { return word.name == name; });
  return found == kActions.end() ? nullptr : &*found;
}

// The stages after parsing, on one formula.
class Checker {
 public:
  explicit Checker(const SubgoalTask& task) {
    for (const SubgoalObject& object : task.objects) {
      objects_.insert(object.name);
      categories_.insert(object.category);
    }
  }

  // False when the verdict is in `plan`.
  bool names_known(const Formula& formula, SubgoalPlan& plan) {
    bool is_state = true;
    return tree_built(formula, plan, is_state);
  }

  bool arguments_fit(const Formula& formula, SubgoalPlan& plan) {
    std::vector<const Formula*> atoms;
    collect(formula, atoms);
    std::stable_partition(atoms.begin(), atoms.end(), [this](const Formula* atom) { return is_state(atom->name); });
    if (std::any_of(atoms.begin(), atoms.end(), [](const Formula* atom) { return atom->args.empty(); })) {
      return fail(plan, kNotParseable, "an atom has no arguments");
    }
    for (const Formula* atom : atoms) {
      const std::optional<std::size_t> arity = arity_of(atom->name);
      if (!arity) return fail(plan, kNotParseable, str_cat("'", atom->name, "' says nothing about its arguments"));
      if (*arity != atom->args.size()) {
        return fail(plan, kHallucination,
                    str_cat(to_text(*atom), " has the wrong number of arguments; it takes ", *arity));
      }
    }
    for (const Formula* atom : atoms) {
      for (const std::string& arg : atom->args) {
        if (!objects_.contains(arg)) return fail(plan, kHallucination, str_cat("there is no object '", arg, "'"));
      }
    }
    return true;
  }

  // False when the evaluator fails on a negation it cannot push inwards.
  static bool flatten(const Formula& formula, Choices& choices, std::vector<Formula>& atoms) {
    using Kind = Formula::Kind;
    switch (formula.kind) {
      case Kind::kAtom:
        atoms.push_back(formula);
        return true;
      case Kind::kAnd:
      case Kind::kThen:
        return std::all_of(formula.children.begin(), formula.children.end(),
                           [&](const Formula& child) { return flatten(child, choices, atoms); });
      case Kind::kOr:
        return flatten(formula.children[choices.pick(formula.children.size())], choices, atoms);
      case Kind::kNot:
        break;
    }
    const Formula& inner = formula.children[0];
    if (inner.kind == Kind::kAtom) {
      atoms.push_back(formula);
      return true;
    }
    // A double negation is taken away, and what is left must be a negation itself.
    return inner.kind == Kind::kNot && inner.children[0].kind == Kind::kNot &&
           flatten(inner.children[0], choices, atoms);
  }

 private:
  static bool fail(SubgoalPlan& plan, std::string_view verdict, std::string reason) {
    plan.verdict = verdict;
    plan.reason = std::move(reason);
    return false;
  }

  bool is_state(const std::string& name) const { return state_arity(name) || categories_.contains(name); }

  std::optional<std::size_t> arity_of(const std::string& name) const {
    if (const auto arity = state_arity(name)) return arity;
    if (categories_.contains(name)) return std::nullopt;
    const ActionWord* action = action_word(name);
    if (action == nullptr || action->arity == 0) return std::nullopt;
    return action->arity;
  }

  // Innermost first, from left to right: an unknown name, or a conjunction of a state and a sequence.
  bool tree_built(const Formula& formula, SubgoalPlan& plan, bool& is_state_goal) {
    is_state_goal = true;
    if (formula.kind == Formula::Kind::kAtom) {
      if (is_state(formula.name) || action_word(formula.name) != nullptr) return true;
      return fail(plan, kHallucination, str_cat("there is no predicate '", formula.name, "'"));
    }
    std::size_t states = 0;
    for (const Formula& child : formula.children) {
      bool child_is_state = true;
      if (!tree_built(child, plan, child_is_state)) return false;
      states += child_is_state ? 1 : 0;
    }
    is_state_goal = formula.kind != Formula::Kind::kThen && states == formula.children.size();
    if (formula.kind == Formula::Kind::kAnd && states != 0 && states != formula.children.size()) {
      return fail(plan, kNotParseable, "a conjunction mixes states and sequences");
    }
    return true;
  }

  static void collect(const Formula& formula, std::vector<const Formula*>& atoms) {
    if (formula.kind == Formula::Kind::kAtom) atoms.push_back(&formula);
    for (const Formula& child : formula.children) collect(child, atoms);
  }

  std::set<std::string, std::less<>> objects_;
  std::set<std::string, std::less<>> categories_;
};

std::vector<std::string_view> alternatives(std::string_view text) {
  constexpr std::string_view kOr = " or ";
  std::vector<std::string_view> result;
  while (true) {
    const std::size_t at = text.find(kOr);
    result.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return result;
    text.remove_prefix(at + kOr.size());
  }
}

}  // namespace

std::size_t Choices::pick(std::size_t n) {
  if (n == 1) return 0;
  if (next_ == trail_.size()) trail_.emplace_back(0, n);
  return trail_[next_++].first;
}

double Choices::probability() const {
  double result = 1;
  for (const auto& [picked, n] : trail_) result /= static_cast<double>(n);
  return result;
}

bool Choices::advance() {
  next_ = 0;
  while (!trail_.empty() && trail_.back().first + 1 == trail_.back().second) trail_.pop_back();
  if (trail_.empty()) return false;
  ++trail_.back().first;
  return true;
}

std::optional<std::vector<std::string>> read_subgoal_strings(std::string_view answer) {
  const std::string text =
      replaced(replaced(replaced(python_strip(answer), "}}", "}"), "toggled.on", "toggledon"), "t-shirt", "shirt");
  const std::optional<std::string_view> braces = innermost_braces(text);
  if (!braces) return std::nullopt;
  const json object = json::parse(*braces, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  const auto output = object.find("output");
  if (output == object.end() || !output->is_array()) return std::nullopt;
  std::vector<std::string> strings;
  for (const json& entry : *output) {
    if (!entry.is_string()) return std::nullopt;
    const std::string_view stripped = python_strip(entry.get_ref<const std::string&>());
    if (!stripped.empty() && !contains(stripped, "agent") && !quantified(stripped)) strings.emplace_back(stripped);
  }
  return strings;
}

SubgoalPlan plan_of_strings(const SubgoalTask& task, const std::vector<std::string>& strings, Choices& choices) {
  std::string text;
  for (const std::string& entry : strings) {
    const std::vector<std::string_view> some = alternatives(entry);
    const std::string_view chosen = some[choices.pick(some.size())];
    if (chosen.empty()) continue;
    if (!text.empty()) text += " then ";
    text += chosen;
  }
  SubgoalPlan plan;
  const std::optional<Formula> formula = parse_formula(text);
  if (!formula) {
    plan.verdict = kNotParseable;
    plan.reason = text.empty() ? "no subgoal is left" : "the subgoals are no formula";
    return plan;
  }
  Checker checker(task);
  if (!checker.names_known(*formula, plan) || !checker.arguments_fit(*formula, plan)) return plan;
  if (!Checker::flatten(*formula, choices, plan.atoms)) {
    plan.verdict = kNotParseable;
    plan.reason = "a negation spans more than one atom";
    plan.atoms.clear();
  }
  return plan;
}

}  // namespace metactrl::benchmarks::behavior
