// Executes VirtualHome actions one by one, by the rules of the benchmark's own executor.
//
//     Executor executor(scene);
//     StepResult walk = executor.execute({"WALK", {{"soap", 1002}}});
//     walk.outcome;  // Outcome::kOk, or why it did not happen; then the world is as before
//
// An action whose precondition fails is a missing step, unless the condition held in some earlier state: then it is a
// wrong order. An action that would change nothing is an additional step. What the official evaluator answers with an
// exception is Outcome::kCrash.
//
// Copying an executor copies the whole history. Not for use by several threads at once; the scene must outlive it.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_EXECUTOR_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_EXECUTOR_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/virtualhome/world.h"
#include "support/enum_names.h"

namespace metactrl::benchmarks::virtualhome {

struct Argument {
  std::string name;  // as the answer writes it
  int id = 0;        // must be in the scene
};

struct Action {
  std::string name;  // upper case
  std::vector<Argument> arguments;
};

// "[PUTIN] <soap> (1002) <washing_machine> (1001)": the evaluator's notation.
std::string to_script(const Action& action);
// "PUTIN soap 1002 washing_machine 1001": for people.
std::string to_text(const Action& action);

// How many objects an action of an Action Sequencing answer takes; nothing: the evaluator does not accept the action.
std::optional<std::size_t> accepted_arity(std::string_view action);

enum class Outcome : std::uint8_t { kOk, kWrongOrder, kMissingStep, kAffordance, kAdditionalStep, kCrash };

// The evaluator's names, but for the first and the last.
constexpr auto enum_names(Outcome) {
  return internal::names<Outcome>({{Outcome::kOk, "ok"},
                                   {Outcome::kWrongOrder, "WRONG_TEMPORAL_ORDER"},
                                   {Outcome::kMissingStep, "MISSING_STEP"},
                                   {Outcome::kAffordance, "AFFORDANCE_ERROR"},
                                   {Outcome::kAdditionalStep, "ADDITIONAL_STEP"},
                                   {Outcome::kCrash, "crash"}});
}
inline std::string_view outcome_name(Outcome outcome) { return internal::name_of(outcome); }

struct StepResult {
  Outcome outcome = Outcome::kOk;
  std::string reason;  // empty when ok
  // A missing step for which the evaluator names no condition. Its Subgoal Decomposition half fails on these.
  bool without_condition = false;
};

// What must hold before an action: an edge or a state, possibly negated.
struct Condition {
  enum class Kind : std::uint8_t { kEdge, kHolds, kHoldsAnything, kHoldsNothing, kState, kNotState };
  Kind kind = Kind::kEdge;
  SceneEdge edge;  // kEdge; kHolds uses its target
  State state = State::kOpen;
  int node = 0;
};

class Executor {
 public:
  explicit Executor(const Scene& scene);

  StepResult execute(const Action& action);

  const World& world() const { return world_; }
  // What copying the world does to the evaluator's sets.
  void copy_sets() { world_.begin_action(); }

 private:
  // A failed check, or nothing. `missing` are the conditions of a missing step, of which `all` or the first must have
  // held for it to be a wrong order.
  struct Failure {
    Outcome outcome = Outcome::kMissingStep;
    std::string reason;
    std::vector<Condition> missing;
    bool all = false;
  };
  using Check = std::optional<Failure>;
  static Failure missing(std::string reason, std::vector<Condition> conditions = {});
  static Failure crash(std::string reason);

  const SceneNode& node(int id) const { return world_.scene().node(id); }
  std::string describe(int id) const;

  // Derived notions.
  bool is_near(int x) const;
  bool faces(int x) const;
  std::optional<int> room(int x) const;
  bool is_shut(int x) const;
  std::optional<Relation> free_hand() const;
  bool holds(int x) const;
  std::vector<int> held() const;
  void link(int a, int b);

  // Checks that several actions share.
  Check need_near(int x) const;
  Check need_holds(int x) const;
  Check need_free_hand() const;
  Check need_access(int x) const;
  Check need_facing(int x) const;
  Check need_room(int x) const;
  Check need_property(int x, Property property) const;
  Check affordance(bool allowed, int x, std::string_view problem) const;
  static Check additional(bool superfluous, std::string reason);

  // Actions: all checks, then all effects.
  Check act(const Action& action);
  Check walk(int x);
  Check find(int x);
  Check turn_to(int x);
  Check watch(int x) const;
  Check settle(int x, bool lying);  // sit down, or lie down
  Check stand_up();
  Check sleep() const;
  Check grab(int x);
  Check put(int x, int y, Relation relation);
  Check check_put(int x, int y, Relation relation) const;
  Check put_object_back(int x);
  Check drop(int x);
  Check open(int x);
  Check close(int x);
  Check switch_on(int x);
  Check switch_off(int x);
  Check plug(int x, bool in);
  Check eat(int x) const;
  Check cut(int x) const;
  Check pour(int x, int y);
  Check clean(int x, bool with_something);
  Check squeeze(int x) const;
  Check touch(int x) const;
  Check type(int x) const;
  Check move(int x, bool push) const;
  Check put_on(int x);
  Check put_off(int x);
  bool is_full(int x, int capacity) const;
  // The last check and the effect of an action that changes a state; `otherwise` says what x is not.
  Check change(int x, State from, State to, std::string_view otherwise);
  void let_go(int x);

  bool ever_held(const Condition& condition) const;
  void record();

  World world_;
  // What was true in the initial state or after some successful action, beyond the scene itself.
  std::set<SceneEdge> past_edges_;
  std::set<std::pair<int, State>> past_states_;
  bool once_empty_handed_ = false;
  bool once_not_sitting_ = false;
  bool once_not_lying_ = false;
};

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_EXECUTOR_H_
