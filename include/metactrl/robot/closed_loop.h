// The closed loop: observe, plan from what is believed, act, compare, plan again.
//
//     metactrl::Scene scene = metactrl::Scene::load("domain.pddl", "problem.pddl");
//     MyRobot robot;                                       // implements metactrl::World
//     metactrl::ClosedLoop loop(scene, {}, model.get(), vocabulary);
//     metactrl::LoopReport report = loop.run(robot);
//     std::cout << to_string(report.end) << ": " << report.reason << '\n';
//
// A plan is right with respect to the state that it starts from. A robot only believes that state: a cup slips, a door
// is found closed, a camera errs. So the loop
//
//   1. observes, and believes a set of states with their probabilities (below);
//   2. decodes a plan that is legal, step by step, and reaches the goal *in every state it must hold in*: the most
//      likely ones that have together at least `confidence`. Under the guidances mask, uniform and search this is
//      checked by the reference semantics, state by state, before the first step; a plan that failed the check would be
//      a bug and is thrown as one (std::logic_error);
//   3. executes it step by step, observes after each, and compares what it sees with what it predicted;
//   4. keeps the rest of the plan as long as it holds in every state it must hold in: a step that failed and changed
//      nothing is tried again, three times. Otherwise it plans again, and says why. A rest that holds is not replaced by a
//      longer plan;
//   5. ends, always: at the goal, when no plan exists (with a proof), when a bound is reached, when the world or the
//      model fails, when somebody cancels. The report says which, and lists everything that happened.
//
// Belief. An observation is a list of sightings, each a choice between alternatives with probabilities: "the cup is on
// the table, 0.9, or in the sink, 0.1". The loop keeps weighted states and updates them by Bayes' rule, exactly:
//
//   - a sighting multiplies a state's weight by the probability of the alternative that the state agrees with; before
//     that, each sighting's subject may have changed unseen with probability `change_rate`, to any alternative alike;
//   - a step that is reported as done keeps the states in which it is legal and moves each to its successor; one that
//     is reported as failed happens with probability `failure_rate` where it is legal, and surely where it is not;
//   - a step that the world never answers for (it broke, or the run was ended) happened or did not, one as likely as
//     the other where it is legal. It counts as an action, and nothing follows it.
//
// At most `max_states` states are kept, the most likely ones, so the entropy of the belief is at most log2(max_states)
// bits; the probability of what was left out is reported, and counts against the plan's confidence, until an
// observation is certain.
//
// Numbers (a battery's charge) are seen with their values, "(= (battery robot) 7)", for certain or as alternatives. One
// that no sighting mentions keeps the value it had, which steps change as the domain says.
//
// Looking. A world may offer to look at one object closely. The loop does that first when it pays: when the expected
// length of the plan after the look (over what it may show), plus `failure_cost` times the probability that the plan
// does not cover the true state, plus `look_cost`, is less than the same without looking; and when no plan holds in all
// the states, but one would after looking.
//
// Cost: grounding and planning at every plan; with guidance search plans are remembered by state. Thread safety: one
// run at a time per ClosedLoop; a Scene and a model can be shared.
#ifndef METACTRL_ROBOT_CLOSED_LOOP_H_
#define METACTRL_ROBOT_CLOSED_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "metactrl/format.h"
#include "metactrl/language_model.h"
#include "metactrl/planner.h"
#include "metactrl/robot/scene.h"
#include "metactrl/task.h"

namespace metactrl {

// --- the world -------------------------------------------------------------------------------------------------------

// Some facts that hold together, and none of the others that the sighting mentions.
struct Alternative {
  std::vector<std::string> facts;
  double probability = 1;
};

// One of these; with what is left of probability 1, none of the facts mentioned holds. Different sightings are
// independent of each other, so facts that exclude each other belong into one. A fact is in at most one sighting.
struct Sighting {
  std::vector<Alternative> alternatives;
};

struct Observation {
  std::vector<Sighting> sightings;
  // A fact is about its first object. Facts about what was observed that no sighting mentions are false. Nothing is
  // learned about these objects:
  std::vector<std::string> unseen;
  // False: nothing is learned about any fact that no sighting mentions.
  bool complete = true;
  // Not empty: about this object alone (World::look).
  std::string object;

  // Exactly these facts, for certain.
  static Observation certain(const SceneState& facts);
};

struct Execution {
  bool done = true;
  std::string message;  // why not, for the report, which keeps the first 2000 bytes
};

// The world, or the way to it, is broken: no answer, no sense in it. Ends the loop.
class WorldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class World {
 public:
  virtual ~World() = default;
  virtual Observation observe() = 0;
  // Does the step, to its end. That it cannot be done, or went wrong, is an answer.
  virtual Execution execute(const PlanStep& step) = 0;
  // Can it look at one object closely?
  virtual bool can_look() const { return false; }
  virtual Observation look(const std::string& object);
};

// --- the loop --------------------------------------------------------------------------------------------------------

struct LoopOptions {
  // Guidance, decoding, budgets, instruction. `on_infeasible` must be kError: a goal is not dropped on the way.
  PlanOptions plan;
  PlanFormat format = PlanFormat::builtin("pddl");

  // Plans after the first. 0: the first plan is all there is, and no step of it is tried again.
  unsigned max_replans = 20;
  unsigned max_actions = 200;
  unsigned max_looks = 20;
  // For all of a run; none: it ends by what is counted above. Also ends a search, or an answer of the model, that is
  // under way. `plan.time_limit` is for each plan; a run in which one is over ends with kUndecided.
  std::optional<double> seconds;

  // A plan must hold in states that have together this probability; so must the goal.
  double confidence = 0.95;
  // The chance that what a sighting is about has changed by itself since the last one.
  double change_rate = 0.02;
  // The chance that a legal step fails.
  double failure_rate = 0.1;
  std::size_t max_states = 64;
  // Searches for a plan that holds in several states, and those that weigh what a look would save, end after so many
  // states: they are many. One for a single state has all of `plan.lookahead.search`.
  std::size_t belief_search_states = 10'000;

  // Both in actions.
  double look_cost = 1;
  double failure_cost = 10;
};

enum class LoopEnd {
  kGoalObserved,  // the last observation was certain, and the goal holds in it
  kGoalBelieved,  // with at least the probability asked for
  kNoPlan,        // proven: no plan holds in every state it must hold in
  kUndecided,     // neither a plan nor a proof within the budget
  kOutOfReplans,
  kOutOfActions,
  kOutOfTime,
  kWorldFailed,
  kModelFailed,
  kInterrupted,
};
// "goal observed", "out of re-plans", ...
const char* to_string(LoopEnd end);
inline bool is_success(LoopEnd end) { return end == LoopEnd::kGoalObserved || end == LoopEnd::kGoalBelieved; }

struct BelievedState {
  SceneState facts;
  double probability = 0;
};

// One thing that happened.
struct LoopEvent {
  enum class Kind { kObserved, kPlanned, kActed, kLooked };
  Kind kind = Kind::kObserved;
  double seconds = 0;  // since the run began

  // kObserved, kLooked: facts of the most likely state now that are new, or gone, against what was predicted.
  std::vector<std::string> appeared;
  std::vector<std::string> vanished;
  std::string object;          // kLooked
  double expected_saving = 0;  // kLooked: in actions
  // The belief afterwards.
  std::size_t states = 0;
  double likeliest = 0;  // probability of the most likely state
  double entropy = 0;    // in bits
  double pruned = 0;     // probability of the states that were left out

  // kPlanned
  PlanOutcome outcome = PlanOutcome::kPlan;
  std::vector<PlanStep> plan;
  Guarantee guarantee = Guarantee::kNone;
  std::string reason;
  std::size_t holds_in = 0;  // states it was checked in
  double covered = 0;        // their probability
  std::size_t model_calls = 0;
  std::optional<Thought> thought;  // of a model that thinks before it writes the plan
  std::string prompt_text;         // what the model read; empty where none was asked
  // Of a plan that replaces one: why that was not kept, and how many of its actions were left.
  std::string because;
  std::size_t replaced = 0;
  // Not 0: what was left is kept, and is `plan`, since the new one has so many actions, and so more.
  std::size_t rejected = 0;

  // kActed
  PlanStep step;
  // Of an action that takes time: how long, in the state that was most likely when it began, and when it began, if those
  // before it took theirs. As in metactrl/schedule.h.
  std::optional<std::int64_t> duration;
  std::int64_t start = 0;
  bool done = true;
  bool answered = true;  // false: the outcome is unknown, `done` is false, and `message` says why no answer came
  std::string message;   // the world's, as it is
};
// One line: "act (grab cup): failed: the gripper slipped". Control characters of the world's message are escaped, and
// long ones cut.
std::string to_string(const LoopEvent& event);

struct LoopReport {
  LoopEnd end = LoopEnd::kInterrupted;
  std::string reason;  // one sentence, printable
  double goal_probability = 0;
  std::vector<LoopEvent> events;
  std::vector<BelievedState> belief;  // at the end, most likely first
  // The task's preferences, as the most likely state at the end has them. Where the belief is one state they are chosen
  // and pursued like goals, with every plan anew; where it is several, the goals alone are.
  std::vector<Validation::Preference> preferences;

  unsigned plans = 0;
  unsigned replans = 0;    // plans after the first
  unsigned actions = 0;    // begun
  unsigned failures = 0;   // of them reported as failed
  unsigned retries = 0;    // steps that were tried again, because the plan still held
  unsigned surprises = 0;  // observations that differ from what was predicted
  unsigned looks = 0;
  unsigned observations = 0;
  std::size_t checks = 0;      // plan and state pairs that the reference semantics judged valid
  unsigned invalid_plans = 0;  // without guarantee (guidance none, syntax): plans it judged invalid
  std::size_t model_calls = 0;
  double pruned = 0;  // the largest probability that was left out
  double seconds = 0;
};

struct LoopObserver {
  std::function<void(const LoopEvent&)> event;
  // The world is about to be asked to execute this step. Its event follows when the answer is there, or will not come.
  std::function<void(const PlanStep&)> acting;
  // Something that may take a while begins.
  std::function<void(Observer::Phase)> phase;
  // Asked often; true ends the run, a search that is under way included.
  std::function<bool()> cancelled;
};

class LoopPlanner;

class ClosedLoop {
 public:
  // `model` and `vocabulary` may be null with guidance kSearch. Throws InputError for options that cannot be.
  ClosedLoop(Scene scene, LoopOptions options, LanguageModel* model = nullptr,
             std::shared_ptr<const Vocabulary> vocabulary = nullptr);
  ~ClosedLoop();

  // Lets no exception of the world or the model out: they are part of the report.
  LoopReport run(World& world, const LoopObserver& observer = {});

  const Scene& scene() const { return scene_; }
  const LoopOptions& options() const { return options_; }

 private:
  Scene scene_;
  LoopOptions options_;
  std::unique_ptr<LoopPlanner> planner_;
};

}  // namespace metactrl

#endif  // METACTRL_ROBOT_CLOSED_LOOP_H_
