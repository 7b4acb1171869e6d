// The language of Subgoal Decomposition: what answers are made of, and VirtualHome's goals.
//
//     stmt := or ("then" or)*     or := and ("or" and)*     and := unit ("and" unit)*
//     unit := "not" unit | NAME(argument, ...) | (stmt) | exists V. (stmt) | forall V. (stmt) | forn N. V. (stmt)
//
//     std::optional<Formula> plan = parse_formula("open(fridge.97) then inside(a.0, b.1) and not open(b.1)", grammar);
//
// As in the evaluators' grammars, words need no space around them, an argument is a name with or without .number, and a
// hyphen can only come first in a name. Linear in the text. Thread safe.
#ifndef METACTRL_SRC_BENCHMARKS_SUBGOAL_FORMULA_H_
#define METACTRL_SRC_BENCHMARKS_SUBGOAL_FORMULA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks {

struct Formula {
  enum class Kind : std::uint8_t { kAtom, kNot, kAnd, kOr, kThen, kForall, kExists, kForNumber };
  Kind kind = Kind::kAtom;
  std::string name;                    // of an atom or a variable
  std::vector<std::string> arguments;  // of an atom
  std::vector<Formula> parts;          // one of kNot and quantifiers, two or more of the others
};

std::string to_string(const Formula& atom);  // "ONTOP(cup.1, table.2)"

// Where the two evaluators differ.
struct FormulaGrammar {
  // Of a name that begins with "not" whether a negation is tried first; else it is one only where no atom can be read.
  bool prefers_negation = false;
  bool has_quantifiers = false;
  // Nesting beyond which an evaluator runs out of its stack; a bracket counts so many levels, anything else one.
  int max_depth = 0;
  int bracket_depth = 1;
  // Behind the letters, digits and underscores that begin at `at`.
  std::size_t (*skip_word)(std::string_view text, std::size_t at) = nullptr;
};

// Nothing where the text is not a formula.
std::optional<Formula> parse_formula(std::string_view text, const FormulaGrammar& grammar);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_SUBGOAL_FORMULA_H_
