// Goals as the BEHAVIOR evaluator tests them.
//
// The evaluator does not evaluate quantifiers. It expands each goal condition once into options, each a conjunction of
// literals, and the condition holds when all literals of one option do. The expansion is cut off: a forall keeps at
// most 20 combinations, forpairs at most 10 assignments. A state that fulfils the condition as it is written but none
// of the options that were kept is scored as a failure.
//
//     GoalOptions options = expand_goal(goal, scene);      // goal: ["forall", ["jar.n.01", "-", "jar.n.01"], [...]]
//     GoalTruth truth = goal_truth(scene, state, options);
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_GOAL_OPTIONS_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_GOAL_OPTIONS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/behavior/world.h"

namespace metactrl::benchmarks::behavior {

enum class LiteralKind : std::uint8_t { kProperty, kHolding, kRelation };

struct Literal {
  bool negated = false;
  LiteralKind kind = LiteralKind::kProperty;
  Property property = Property::kOpen;     // of kProperty
  Holding holding = Holding::kInside;      // of kHolding
  Relation relation = Relation::kOnFloor;  // of kRelation
  ObjectId object = kNothing;
  ObjectId target = kNothing;  // of kHolding and kRelation

  friend bool operator==(const Literal&, const Literal&) = default;
};

using GoalOption = std::vector<Literal>;
using GoalOptions = std::vector<GoalOption>;

// Something in a goal that cannot be read; what() says what.
class GoalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The options of a goal condition in nested form, in the evaluator's order. Quantifiers range over the objects that are
// declared with exactly the named synset, in the order of the scene. Throws GoalError.
GoalOptions expand_goal(const nlohmann::json& goal, const Scene& scene);

// Options that a task file lists: [[literal, ...], ...], a literal being ["not", "open", "jar_0"] for example. Throws
// GoalError.
GoalOptions read_goal_options(const nlohmann::json& options, const Scene& scene);

enum class GoalTruth : std::uint8_t {
  kTrue,
  kFalse,
  kCrash  // the evaluator's program fails on the test
};

GoalTruth goal_truth(const Scene& scene, const State& state, const GoalOptions& options);

// Whether the evaluator fails before it looks at any condition: a sliced object has no parts, or objects stand in a
// circle.
bool goal_test_crashes(const Scene& scene, const State& state);

// The nested form for people: (forall (jar.n.01 - jar.n.01) (not (open jar.n.01)))
std::string goal_text(const nlohmann::json& goal);

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_GOAL_OPTIONS_H_
