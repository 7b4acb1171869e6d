// The transition model of the BEHAVIOR evaluator: 29 actions, the checks that precede them and their effects.
//
//     Executor executor(scene, start);
//     const Outcome outcome = executor.apply(*action_of_name("RIGHT_GRASP"), {jar});
//     if (!outcome.ok) report(error_names(outcome), explain(scene, outcome.faults[0]));
//
// Checks run in a fixed order and the first that fails names the error. For all actions but the placing and pouring
// ones, an action that would have been possible in an earlier state is in the wrong temporal order in addition.
// An action costs a few walks over the objects; one that fails also looks at earlier states, at each of them once per
// action and object in the life of the executor. Not thread safe; use one executor per answer.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_EXECUTOR_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "benchmarks/behavior/world.h"
#include "support/enum_names.h"

namespace metactrl::benchmarks::behavior {

enum class Verb : std::uint8_t {
  kGrasp,
  kRelease,
  kPlaceOnTop,
  kPlaceInside,
  kPlaceNextTo,
  kPlaceUnder,
  kPlaceNextToOnTop,
  kTransferInside,
  kTransferOnTop,
  kOpen,
  kClose,
  kToggleOn,
  kToggleOff,
  kSlice,
  kSoak,
  kDry,
  kFreeze,
  kUnfreeze,
  kCook,
  kClean,
  kUnimplemented  // the evaluator knows the name and cannot execute it: NAVIGATE_TO, BURN
};

struct Action {
  Verb verb = Verb::kUnimplemented;
  Hand hand = Hand::kRight;  // of the verbs up to kTransferOnTop
  // How many objects it takes.
  std::size_t arity() const { return verb == Verb::kPlaceNextToOnTop ? 2 : 1; }
};

// Case sensitive, e.g. "LEFT_PLACE_NEXTTO_ONTOP"; nullopt for a name that the evaluator does not know.
std::optional<Action> action_of_name(std::string_view name);
// The inverse, for actions that can be executed.
std::string name_of(Action action);

// kCrash: the evaluator's program itself fails.
enum class ErrorClass : std::uint8_t { kAffordance, kMissingStep, kAdditionalStep, kWrongOrder, kCrash };
constexpr auto enum_names(ErrorClass) {
  return internal::names<ErrorClass>({{ErrorClass::kAffordance, "AFFORDANCE_ERROR"},
                                      {ErrorClass::kMissingStep, "MISSING_STEP"},
                                      {ErrorClass::kAdditionalStep, "ADDITIONAL_STEP"},
                                      {ErrorClass::kWrongOrder, "WRONG_TEMPORAL_ORDER"},
                                      {ErrorClass::kCrash, "unknown_execution_error"}});
}
inline std::string_view name_of(ErrorClass error) { return internal::name_of(error); }

struct Fault {
  ErrorClass error = ErrorClass::kCrash;
  // One clause for a person, with {subject}, {object} and {property} in the place of what follows.
  std::string_view why;
  ObjectId subject = kNothing;
  ObjectId object = kNothing;
  Property property = Property::kOpen;
};

struct Outcome {
  bool ok = false;
  std::vector<Fault> faults;  // in the order in which the evaluator reports them; may be filled when ok
};

// "MISSING_STEP+WRONG_TEMPORAL_ORDER"
std::string error_names(const Outcome& outcome);
bool contains(const Outcome& outcome, ErrorClass error);
// The first of the classes in `order` that occurs; nullopt when none does.
std::optional<ErrorClass> first_of(const Outcome& outcome, std::initializer_list<ErrorClass> order);
// One clause for a person: "fridge_97, in which jar_0 lies, is closed".
std::string explain(const Scene& scene, const Fault& fault);

class Executor {
 public:
  // `scene` must outlive the executor.
  Executor(const Scene& scene, State start) : scene_(&scene), state_(std::move(start)) {}

  // `objects` has action.arity() elements.
  Outcome apply(Action action, const std::vector<ObjectId>& objects);
  const State& state() const { return state_; }

 private:
  // What a check looks for, to remember the answer for the past.
  enum class Part : std::uint8_t { kWhole, kDust, kStain };
  struct Search {
    bool found = false;
    std::size_t looked = 0;
  };

  bool passes(Action action, ObjectId object, Part part, std::vector<Fault>& faults);
  Outcome clean(ObjectId object);
  void effect(Action action, const std::vector<ObjectId>& objects, Outcome& outcome);
  void grasp(Hand hand, ObjectId object);
  void put_on(ObjectId object, ObjectId target);
  void inherit_place(ObjectId object, ObjectId target);
  void pour(ObjectId vessel, ObjectId target, Holding holding, Outcome& outcome);
  void slice(ObjectId object);
  void toggle(ObjectId object, bool on);
  void remember(State before);

  // More distinct states than any sensible plan visits; later ones are not looked back at.
  static constexpr std::size_t kMaxHistory = 20000;

  const Scene* scene_;
  State state_;
  std::vector<State> history_;                              // without repetitions
  std::unordered_multimap<std::size_t, std::size_t> seen_;  // hash of a state -> its place in history_
  std::map<std::tuple<Verb, Hand, ObjectId, Part>, Search> searches_;
};

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_EXECUTOR_H_
