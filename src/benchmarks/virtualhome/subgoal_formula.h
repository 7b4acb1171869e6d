// Goals of VirtualHome's Subgoal Decomposition.
//
//     Formula formula = *parse_formula("exists x. (WASH(x) or RINSE(x)) then ON(light.411)");
//     Goal goal(formula);
//     GoalProgress progress;
//     goal.advance(progress, world, &next_action);  // for every state with the action that follows it
//
// A formula without `then` holds at the first state (with the action taken there) that satisfies it; `A then B` needs B
// strictly after the place where A first held.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_FORMULA_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_FORMULA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/subgoal_formula.h"
#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/virtualhome/world.h"

namespace metactrl::benchmarks::virtualhome {

// Nothing where the text is not a formula, or is nested beyond what the evaluator's parser can take.
std::optional<Formula> parse_formula(std::string_view text);

// What an atom's name can be.
enum class AtomKind : std::uint8_t { kUnknown, kState, kRelation, kProperty, kAction };
AtomKind atom_kind(std::string_view name);
std::size_t atom_arity(std::string_view name);  // of a known one

// "soap.1002" -> {"soap", 1002}; an argument without a number has none, nor has one that is out of all range.
struct ObjectName {
  std::string name;
  std::optional<int> id;
  bool numbered = false;  // there is a number
  bool too_long = false;  // the number has more digits than Python reads
};
ObjectName split_object(const std::string& argument);

// Why the evaluator cannot take a formula.
struct FormulaProblem {
  bool unknown_atom = false;  // otherwise it mixes `then` with `and`
  std::string reason;
};
std::optional<FormulaProblem> check_formula(const Formula& formula);

// How far a trajectory has come: the number of `then` parts that have held.
struct GoalProgress {
  std::size_t stage = 0;
};

// The formula a trajectory must satisfy: formulas without `then`, joined by `then`.
class Goal {
 public:
  // False: `then` is used inside another operator, which no goal of the benchmark does.
  static bool is_supported(const Formula& formula);

  // `formula` must be supported and pass check_formula.
  explicit Goal(const Formula& formula);

  // The next state of the trajectory, with the action that is executed in it; null for the last state.
  void advance(GoalProgress& progress, const World& world, const Action* action) const;
  bool is_reached(const GoalProgress& progress) const { return progress.stage == stages_.size(); }

 private:
  std::vector<Formula> stages_;
};

// Whether an atom without variables holds in a state.
bool holds_now(const Formula& atom, const World& world);

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_FORMULA_H_
