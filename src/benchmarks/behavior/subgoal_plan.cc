// The evaluator joins the strings by " then ", parses the whole, checks names while it builds its tree, then numbers of
// arguments, then objects, and last flattens the tree. Each stage can end in an exception, and an exception is
// NotParseable.
#include "benchmarks/behavior/subgoal_plan.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "benchmarks/behavior/executor.h"
#include "benchmarks/python_text.h"
#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::benchmarks::behavior {

namespace {

using nlohmann::json;

constexpr std::string_view kHallucination = "Hallucination";

// Letters outside ASCII are told from punctuation by the block of their first byte, which is all that matters here: no
// object has such a name.
std::size_t skip_name(std::string_view text, std::size_t at) {
  const auto is_word = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) return byte != 0xC2 && byte != 0xE2 && byte != 0xE3 && byte != 0xEF;
    const char lower = internal::lower_case(c);
    return (lower >= 'a' && lower <= 'z') || internal::is_digit(c) || c == '_';
  };
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

// Nesting is measured in levels of the evaluator's tree: a bracket makes five, a negation one.
constexpr FormulaGrammar kGrammar = {true, false, 300, 5, skip_name};

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

// Of an action: those of the executor, in small letters, and two more. 0: the vocabulary does not say, and the evaluator
// fails when it asks.
std::optional<std::size_t> action_arity(std::string_view name) {
  if (name == "burn" || name == "stain" || name == "unclean") return 0;
  const std::optional<Action> action = action_of_name(internal::upper_case(name));
  return action && internal::lower_case(name) == name ? std::optional(action->arity()) : std::nullopt;
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
    if (std::any_of(atoms.begin(), atoms.end(), [](const Formula* atom) { return atom->arguments.empty(); })) {
      return fail(plan, kNotParseable, "an atom has no arguments");
    }
    for (const Formula* atom : atoms) {
      const std::optional<std::size_t> arity = arity_of(atom->name);
      if (!arity) return fail(plan, kNotParseable, str_cat("'", atom->name, "' says nothing about its arguments"));
      if (*arity != atom->arguments.size()) {
        return fail(plan, kHallucination,
                    str_cat(to_text(*atom), " has the wrong number of arguments; it takes ", *arity));
      }
    }
    for (const Formula* atom : atoms) {
      for (const std::string& arg : atom->arguments) {
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
        return std::all_of(formula.parts.begin(), formula.parts.end(),
                           [&](const Formula& child) { return flatten(child, choices, atoms); });
      case Kind::kOr:
        return flatten(formula.parts[choices.pick(formula.parts.size())], choices, atoms);
      default:  // kNot: there are no quantifiers here
        break;
    }
    const Formula& inner = formula.parts[0];
    if (inner.kind == Kind::kAtom) {
      atoms.push_back(formula);
      return true;
    }
    // A double negation is taken away, and what is left must be a negation itself.
    return inner.kind == Kind::kNot && inner.parts[0].kind == Kind::kNot && flatten(inner.parts[0], choices, atoms);
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
    const std::optional<std::size_t> arity = action_arity(name);
    return arity == 0U ? std::nullopt : arity;
  }

  // Innermost first, from left to right: an unknown name, or a conjunction of a state and a sequence.
  bool tree_built(const Formula& formula, SubgoalPlan& plan, bool& is_state_goal) {
    is_state_goal = true;
    if (formula.kind == Formula::Kind::kAtom) {
      if (is_state(formula.name) || action_arity(formula.name)) return true;
      return fail(plan, kHallucination, str_cat("there is no predicate '", formula.name, "'"));
    }
    std::size_t states = 0;
    for (const Formula& child : formula.parts) {
      bool child_is_state = true;
      if (!tree_built(child, plan, child_is_state)) return false;
      states += child_is_state ? 1 : 0;
    }
    is_state_goal = formula.kind != Formula::Kind::kThen && states == formula.parts.size();
    if (formula.kind == Formula::Kind::kAnd && states != 0 && states != formula.parts.size()) {
      return fail(plan, kNotParseable, "a conjunction mixes states and sequences");
    }
    return true;
  }

  static void collect(const Formula& formula, std::vector<const Formula*>& atoms) {
    if (formula.kind == Formula::Kind::kAtom) atoms.push_back(&formula);
    for (const Formula& child : formula.parts) collect(child, atoms);
  }

  std::set<std::string, std::less<>> objects_;
  std::set<std::string, std::less<>> categories_;
};

}  // namespace

std::string to_text(const Formula& formula) {
  return formula.kind == Formula::Kind::kNot ? "Not(" + to_text(formula.parts[0]) + ")" : to_string(formula);
}

std::optional<std::vector<std::string>> read_subgoal_strings(std::string_view answer) {
  const std::string text = python_replace(
      python_replace(python_replace(python_strip(answer), "}}", "}"), "toggled.on", "toggledon"), "t-shirt", "shirt");
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
    const std::vector<std::string_view> some = split(entry, " or ");
    const std::string_view chosen = some[choices.pick(some.size())];
    if (chosen.empty()) continue;
    if (!text.empty()) text += " then ";
    text += chosen;
  }
  SubgoalPlan plan;
  const std::optional<Formula> formula = parse_formula(text, kGrammar);
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
