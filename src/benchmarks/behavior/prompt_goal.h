// Goals as the BEHAVIOR prompts write them: BDDL conditions, flattened into a list of words (action sequencing) or as
// text with brackets (subgoal decomposition).
//
//     Goal goal = read_flat_goal({"forall", "jar.n.01", "-", "jar.n.01", "not", "open", "jar.n.01"});
//     Goal same = read_bracketed_goal("forall(jar_n_01, (not open(jar_n_01)))");
//     for (const GroundAtom& atom : atoms(goal, kinds)) ...;       // not open(jar_0), not open(jar_1)
//     std::optional<Expansion> expansion = expand(goal, kinds);    // what the evaluator makes of it
//
// A prompt uses the synset as the variable of a quantifier; here each quantifier has a variable of its own, "?1", "?2".
// Thread safety: plain values.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_GOAL_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_GOAL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks::behavior::prompt {

// "inside(jar_0, fridge_1)" or "not open(jar_0)"; arguments may be variables.
struct Atom {
  bool negated = false;
  std::string predicate;
  std::vector<std::string> arguments;

  friend bool operator==(const Atom&, const Atom&) = default;
  friend auto operator<=>(const Atom&, const Atom&) = default;
};

struct Goal {
  enum class Kind : std::uint8_t { kAtom, kNot, kAnd, kOr, kForall, kExists, kForN, kForPairs, kForNPairs };
  Kind kind = Kind::kAtom;
  Atom atom;                           // of kAtom
  std::vector<std::string> variables;  // of quantifiers: one, or two for pairs
  std::vector<std::string> kinds;      // the synsets they range over
  std::size_t count = 0;               // of kForN and kForNPairs
  std::vector<Goal> children;
};

// The objects of each synset, in the prompt's order.
using Kinds = std::map<std::string, std::vector<std::string>, std::less<>>;

// Why a goal or a fact cannot be read; the reader of the prompt adds the line.
class ReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The number of arguments of a predicate; no value when there is no such predicate.
std::optional<std::size_t> arity(std::string_view predicate);

// Flat words lose the brackets of "and" and "or": such a list takes all conditions that follow. It ends earlier only
// where a second list of the same kind begins directly in it while one of the other kind is open around it: or(and(a b)
// and(c d)), as nobody writes "and" directly inside "and". Throws ReadError.
Goal read_flat_goal(std::span<const std::string> words);
// Objects are written jar.0 and come out as jar_0; synsets are written jar_n_01 and come out as jar.n.01. Throws
// ReadError.
Goal read_bracketed_goal(std::string_view text);

// "jar.0" -> "jar_0", "jar_n_01" -> "jar.n.01".
std::string object_from_dotted(std::string_view name);
std::string synset_from_underscored(std::string_view name);

// Every ground atom of the goal, with the sign it has in it, sorted, each once.
std::vector<Atom> ground_atoms(const Goal& goal, const Kinds& kinds);

// What the evaluator makes of a goal: options, of which all atoms of one must hold. It keeps at most 20 combinations of
// a forall and 10 assignments of pairs.
struct Expansion {
  std::vector<std::vector<Atom>> options;
  bool cut = false;  // some combinations that fulfil the goal as it is written are not among the options
};
// No value when there are more than `limit` options.
std::optional<Expansion> expand(const Goal& goal, const Kinds& kinds, std::size_t limit = 5000);

}  // namespace metactrl::benchmarks::behavior::prompt

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_GOAL_H_
