// The language of subgoal plans: atoms such as inside(jar.0, fridge.97), joined by not, and, or, then and brackets.
//
//     std::optional<Formula> plan = parse_formula("open(fridge.97) then inside(a.0, b.1) and not open(b.1)");
//
// As in the evaluator's grammar, words need no space around them (`notopen(x)` is a negation), an object is a name with
// or without .number, and a hyphen can only come first in a name. Linear in the text; nesting is bounded, where the
// evaluator would run out of its stack. Thread safe.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_FORMULA_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_FORMULA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks::behavior {

struct Formula {
  enum class Kind : std::uint8_t { kAtom, kNot, kAnd, kOr, kThen };

  Kind kind = Kind::kAtom;
  std::string name;               // of an atom
  std::vector<std::string> args;  // of an atom
  std::vector<Formula> children;  // one of kNot, two or more of the others
};

// nullopt when the text is not a formula.
std::optional<Formula> parse_formula(std::string_view text);

// As the evaluator prints it: "inside(a.0, b.1)", "Not(open(b.1))". For atoms and negated atoms.
std::string to_text(const Formula& formula);

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_SUBGOAL_FORMULA_H_
