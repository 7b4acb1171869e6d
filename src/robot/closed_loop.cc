// The loop itself. Every turn does one thing (look, plan or act) and observes; every turn counts against a bound, so
// that the loop ends. A step counts when it begins: when the world fails in the middle of it, the report has it with an
// unknown outcome, and the belief covers both.
#include "metactrl/robot/closed_loop.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "metactrl/error.h"
#include "metactrl/schedule.h"
#include "robot/belief.h"
#include "robot/loop_planner.h"
#include "support/list_some.h"
#include "support/stopwatch.h"
#include "support/str_cat.h"
#include "text/quote.h"

namespace metactrl {

using internal::str_cat;
using robot::Belief;

namespace {

// Rounding must not decide. States that are too unlikely to be kept add up to less.
constexpr double kTolerance = 1e-6;
// An action sequence that does not exist counts as this many times the cost of a failure.
constexpr double kNoPlanFactor = 10;
// A step that fails this often in a row is not tried again before there is another plan.
constexpr unsigned kMaxTries = 4;
// Observations without an action, hoping for a belief that allows a plan.
constexpr unsigned kSecondThoughts = 3;
// Looks that are weighed at one time, and outcomes of each.
constexpr std::size_t kMaxLookObjects = 8;
constexpr std::size_t kMaxLookOutcomes = 16;
// Bytes of the world's and the model's text that are kept, and that are shown in a line.
constexpr std::size_t kMaxKept = 2000;
constexpr std::size_t kMaxShown = 500;

std::string percent(double probability) {
  const double rounded = std::round(probability * 1000) / 10;
  return str_cat(probability < 1 && rounded >= 100 ? 99.9 : rounded, " %");
}

void check_options(const LoopOptions& options) {
  const auto probability = [](const char* name, double value) {
    if (!(value >= 0 && value <= 1))
      throw InputError(name, str_cat(value, " is no probability"), "give one from 0 to 1");
  };
  probability("confidence", options.confidence);
  probability("change rate", options.change_rate);
  probability("failure rate", options.failure_rate);
  if (options.confidence <= 0) throw InputError("confidence", "must be above 0", "0.95 is a good start");
  if (options.seconds && !(*options.seconds > 0)) throw InputError("seconds", "must be above 0");
  if (options.max_states == 0) throw InputError("max states", "must be at least 1");
  if (options.plan.on_infeasible != PlanOptions::OnInfeasible::kError) {
    throw InputError("on infeasible", "the closed loop pursues all goals or ends", "use error");
  }
}

}  // namespace

class LoopRun {
 public:
  LoopRun(const Scene& scene, const LoopOptions& options, LoopPlanner& planner, World& world,
          const LoopObserver& observer)
      : scene_(scene),
        options_(options),
        planner_(planner),
        world_(world),
        observer_(observer),
        belief_(scene.initial_state(), options.max_states) {
    has_preferences_ = !scene_.validate(belief_.likeliest().facts, {}).preferences.empty();
    stop_ = [this] { return stopped(); };
  }

  LoopReport run() {
    try {
      observe_first();
      while (!ended_) turn();
    } catch (const WorldError& error) {
      // Waiting for the world was perhaps ended by us.
      if (!out_of_bounds()) end(LoopEnd::kWorldFailed, text::printable(error.what(), kMaxKept));
    } catch (const Stopped& stopped) {
      if (!out_of_bounds()) end(LoopEnd::kUndecided, stopped.what());
    } catch (const ModelError& error) {
      end(LoopEnd::kModelFailed, text::printable(error.what(), kMaxKept));
    }
    report_.goal_probability = belief_.goal_probability(scene_);
    report_.belief = belief_.states();
    report_.preferences = scene_.validate(belief_.likeliest().facts, {}).preferences;
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  // --- bounds --------------------------------------------------------------------------------------------------------

  double seconds() const { return watch_.seconds(); }
  bool out_of_time() const { return options_.seconds && seconds() >= *options_.seconds; }
  bool cancelled() const { return observer_.cancelled && observer_.cancelled(); }
  bool stopped() const { return cancelled() || out_of_time(); }

  void end(LoopEnd why, std::string reason) {
    report_.end = why;
    report_.reason = std::move(reason);
    ended_ = true;
  }

  bool out_of_bounds() {
    if (cancelled()) {
      end(LoopEnd::kInterrupted, "stopped from outside");
    } else if (out_of_time()) {
      end(LoopEnd::kOutOfTime, str_cat("the ", *options_.seconds, " s of the run are over", goal_note()));
    }
    return ended_;
  }

  std::string goal_note() const {
    const std::vector<std::string> unmet = scene_.unmet_goals(belief_.likeliest().facts);
    return unmet.empty() ? "" : "; not reached: " + internal::list_some(unmet);
  }

  // --- one turn ------------------------------------------------------------------------------------------------------

  void turn() {
    if (out_of_bounds() || goal_reached()) return;
    if (next_ == plan_.size()) {
      if (!look_if_it_pays()) make_plan();
      return;
    }
    act();
  }

  bool goal_reached() {
    const double probability = belief_.goal_probability(scene_);
    if (probability < options_.confidence - kTolerance) return false;
    // What is preferred may come behind the goal: the plan is carried out to its end, and there is one.
    if (has_preferences_ && (report_.plans == 0 || next_ < plan_.size())) return false;
    if (certain_ && belief_.states().size() == 1) {
      end(LoopEnd::kGoalObserved, "the goal holds in what was observed");
    } else {
      end(LoopEnd::kGoalBelieved, str_cat("the goal holds with probability ", percent(probability)));
    }
    return true;
  }

  // --- observing -----------------------------------------------------------------------------------------------------

  void observe_first() {
    if (out_of_bounds()) return;
    const Observation observation = observe();
    const SceneState before = belief_.likeliest().facts;
    belief_.start(observation);
    record_observation(LoopEvent{}, before);
  }

  Observation observe() {
    ++report_.observations;
    Observation observation = robot::checked(world_.observe(), scene_);
    certain_ = belief_.shows_all(observation);
    return observation;
  }

  void observe_again() {
    const Observation observation = observe();
    const SceneState predicted = belief_.likeliest().facts;
    belief_.update(observation, options_.change_rate);
    record_observation(LoopEvent{}, predicted);
    surprised_ = belief_.likeliest().facts != predicted;
    report_.surprises += surprised_ ? 1 : 0;
  }

  // Of a kObserved or kLooked event.
  void record_observation(LoopEvent event, const SceneState& predicted) {
    const SceneState& now = belief_.likeliest().facts;
    std::set_difference(now.begin(), now.end(), predicted.begin(), predicted.end(), std::back_inserter(event.appeared));
    std::set_difference(predicted.begin(), predicted.end(), now.begin(), now.end(), std::back_inserter(event.vanished));
    event.states = belief_.states().size();
    event.likeliest = belief_.likeliest().probability;
    event.entropy = belief_.entropy();
    event.pruned = belief_.pruned();
    report_.pruned = std::max(report_.pruned, event.pruned);
    record(std::move(event));
  }

  void record(LoopEvent event) {
    event.seconds = seconds();
    if (observer_.event) observer_.event(event);
    report_.events.push_back(std::move(event));
  }

  // --- looking -------------------------------------------------------------------------------------------------------

  static std::vector<SceneState> facts_of(std::span<const BelievedState> states) {
    std::vector<SceneState> facts;
    for (const BelievedState& state : states) facts.push_back(state.facts);
    return facts;
  }

  // What is to be expected of planning from these states, in actions. `pruned` is the probability of none of them.
  double expected_cost(std::span<const BelievedState> states, double pruned) {
    double sum = 0;
    std::size_t count = 0;
    while (count < states.size() && (count == 0 || sum * (1 - pruned) < options_.confidence - 1e-12)) {
      sum += states[count++].probability;
    }
    const std::optional<std::size_t> length = planner_.plan_length(facts_of(states.first(count)), stop_);
    if (!length) return kNoPlanFactor * options_.failure_cost;
    return static_cast<double>(*length) + (1 - std::min(1.0, sum) * (1 - pruned)) * options_.failure_cost;
  }

  // Looks at the object that saves the most; false when none saves more than it costs.
  bool look_if_it_pays() {
    if (!world_.can_look() || report_.looks >= options_.max_looks || belief_.states().size() == 1) return false;
    const double without = expected_cost(belief_.states(), belief_.pruned());
    std::string best;
    double best_saving = 0;
    std::size_t weighed = 0;
    for (const std::string& object : belief_.uncertain_objects()) {
      if (looked_at_.contains(object)) continue;
      const std::vector<Belief::Part> parts = belief_.parts(object);
      if (parts.size() > kMaxLookOutcomes || ++weighed > kMaxLookObjects) continue;
      double expected = options_.look_cost;
      for (const Belief::Part& part : parts) {
        expected += part.probability * expected_cost(part.states, belief_.pruned());
        if (expected >= without) break;
      }
      if (without - expected > best_saving + 1e-9) {
        best = object;
        best_saving = without - expected;
      }
    }
    if (best.empty()) return false;
    look(best, best_saving);
    return true;
  }

  void look(const std::string& object, double saving) {
    ++report_.looks;
    looked_at_.insert(object);
    Observation observation = world_.look(object);
    observation.object = object;
    observation = robot::checked(std::move(observation), scene_);
    const SceneState before = belief_.likeliest().facts;
    belief_.update(observation, 0);
    LoopEvent event;
    event.kind = LoopEvent::Kind::kLooked;
    event.object = object;
    event.expected_saving = saving;
    record_observation(std::move(event), before);
  }

  // --- planning ------------------------------------------------------------------------------------------------------

  void make_plan() {
    if (report_.plans > options_.max_replans) {
      end(LoopEnd::kOutOfReplans, str_cat("a new plan was needed after ", report_.replans, " re-plans", goal_note()));
      return;
    }
    const std::size_t count = belief_.retained(options_.confidence);
    const std::vector<SceneState> states = facts_of(std::span(belief_.states()).first(count));
    LoopPlan plan;
    if (belief_.covered(count) < options_.confidence - kTolerance) {
      plan.reason =
          str_cat("the ", count, " states that are kept have together only ", percent(belief_.covered(count)));
    } else {
      plan = planner_.plan(states, report_.plans, stop_, observer_.phase);
    }
    LoopEvent event;
    event.kind = LoopEvent::Kind::kPlanned;
    keep_what_is_left(plan, event);
    event.outcome = plan.outcome;
    event.plan = plan.steps;
    event.guarantee = plan.guarantee;
    event.reason = plan.reason;
    event.holds_in = plan.holds_in;
    event.states = count;
    event.covered = belief_.covered(count);
    event.model_calls = plan.model_calls;
    event.thought = plan.thought;
    event.prompt_text = plan.prompt_text;
    event.because = std::exchange(why_again_, "");
    event.replaced = std::exchange(replaced_, 0);
    report_.replans += report_.plans > 0 ? 1 : 0;
    ++report_.plans;
    report_.model_calls += plan.model_calls;
    record(std::move(event));
    if (plan.outcome != PlanOutcome::kPlan) {
      without_plan(plan, count);
      return;
    }
    if (planner_.guaranteed()) {
      report_.checks += plan.holds_in;
    } else if (plan.holds_in < count) {
      ++report_.invalid_plans;
    }
    plan_ = std::move(plan.steps);
    next_ = 0;
    tries_ = 0;
  }

  // In place of a longer plan.
  void keep_what_is_left(LoopPlan& plan, LoopEvent& event) {
    std::vector<PlanStep> left = std::exchange(left_, {});
    if (left.empty() || plan.outcome != PlanOutcome::kPlan || plan.steps.size() <= left.size()) return;
    if (const std::optional<std::string> problem = broken(left)) {  // by what a look has shown
      why_again_ += "; the rest of the plan no longer holds: " + *problem;
      return;
    }
    event.rejected = plan.steps.size();
    plan.steps = std::move(left);
  }

  // Another observation may show that the belief was wrong; when it does not, there is nothing left to do.
  void without_plan(const LoopPlan& plan, std::size_t count) {
    if (out_of_bounds()) return;
    plan_.clear();
    next_ = 0;
    if (observed_without_plan_ < kSecondThoughts && report_.plans <= options_.max_replans) {
      ++observed_without_plan_;
      observe_again();
      return;
    }
    const std::string where =
        count == 1 ? "the believed state"
                   : str_cat("all of the ", count, " states that have together ", percent(belief_.covered(count)));
    if (plan.outcome == PlanOutcome::kInfeasible) {
      std::string hint;
      if (count > 1) {
        const std::vector<SceneState> first{belief_.likeliest().facts};
        if (planner_.plan_length(first, stop_)) {
          hint = str_cat("; there is a plan for the most likely one, which has ", percent(belief_.covered(1)));
        }
      }
      end(LoopEnd::kNoPlan, str_cat("no plan holds in ", where, ", proven: ", plan.reason, hint));
    } else {
      end(LoopEnd::kUndecided, str_cat("no plan was found for ", where, " within the budget: ", plan.reason));
    }
  }

  // --- acting --------------------------------------------------------------------------------------------------------

  void act() {
    if (report_.actions >= options_.max_actions) {
      end(LoopEnd::kOutOfActions, str_cat(report_.actions, " actions were executed", goal_note()));
      return;
    }
    const PlanStep step = plan_[next_++];
    const Execution execution = execute(step);
    report_.failures += execution.done ? 0 : 1;
    looked_at_.clear();
    observed_without_plan_ = 0;
    record_action(step, execution, true);
    belief_.predict(scene_, step, execution.done, options_.failure_rate);
    observe_again();
    if (execution.done) tries_ = 0;
    if (execution.done ? !rest_holds(next_) : !goes_on_after_failure(step))
      drop_plan(execution.done ? next_ : next_ - 1);
  }

  // A step that failed changes nothing, or not what it should have, or everything: the plan stays if it still holds,
  // from that step on or without it. Without a guarantee nobody knows whether it does.
  bool goes_on_after_failure(const PlanStep& step) {
    if (!planner_.guaranteed() || options_.max_replans == 0) {
      why_again_ = str_cat(to_string(step), " failed");
      return false;
    }
    ++tries_;
    if (rest_holds(next_)) {
      tries_ = 0;
      return true;
    }
    if (!rest_holds(next_ - 1)) return false;
    if (tries_ >= kMaxTries) {
      why_again_ = str_cat(to_string(step), " failed ", tries_, " times");
      // Another plan may satisfy more of what is preferred.
      if (!has_preferences_) left_.assign(plan_.begin() + static_cast<std::ptrdiff_t>(next_ - 1), plan_.end());
      return false;
    }
    --next_;
    ++report_.retries;
    return true;
  }

  Execution execute(const PlanStep& step) {
    ++report_.actions;
    start_ = clock_;
    duration_ = scene_.duration(belief_.likeliest().facts, step);
    if (duration_) clock_ += *duration_ + kSeparation;
    if (observer_.acting) observer_.acting(step);
    try {
      return world_.execute(step);
    } catch (const WorldError& error) {
      record_action(step, {false, error.what()}, false);
      belief_.predict_unknown(scene_, step);
      report_.pruned = std::max(report_.pruned, belief_.pruned());
      throw;
    }
  }

  void record_action(const PlanStep& step, const Execution& execution, bool answered) {
    LoopEvent event;
    event.kind = LoopEvent::Kind::kActed;
    event.step = step;
    event.duration = duration_;
    event.start = start_;
    event.done = execution.done;
    event.answered = answered;
    event.message = text::excerpt(execution.message, kMaxKept);
    if (event.message.size() < execution.message.size()) event.message += "...";
    record(std::move(event));
  }

  // Is the plan from this step on still a plan in every state it must hold in? Without a guarantee nobody knew that
  // before, so there only a surprise counts.
  bool rest_holds(std::size_t from) {
    if (!planner_.guaranteed()) {
      if (surprised_) why_again_ = "what was observed is not what was predicted";
      return !surprised_;
    }
    const std::optional<std::string> problem = broken(std::span(plan_).subspan(from));
    why_again_ = problem ? "the rest of the plan no longer holds: " + *problem : "";
    return !problem;
  }

  // Why it is no plan in one of the states that it must hold in; nothing where it is one in each.
  std::optional<std::string> broken(std::span<const PlanStep> plan) {
    const std::size_t count = belief_.retained(options_.confidence);
    for (std::size_t i = 0; i < count; ++i) {
      Validation validation = scene_.validate(belief_.states()[i].facts, plan);
      if (!validation.valid) return std::move(validation.reason);
    }
    report_.checks += count;
    return std::nullopt;
  }

  // Carried out up to there.
  void drop_plan(std::size_t done) {
    replaced_ = plan_.size() - done;
    plan_.clear();
    next_ = 0;
  }

  const Scene& scene_;
  const LoopOptions& options_;
  LoopPlanner& planner_;
  World& world_;
  const LoopObserver& observer_;
  std::function<bool()> stop_;
  const internal::Stopwatch watch_;

  bool has_preferences_ = false;
  Belief belief_;
  bool certain_ = false;    // the last observation was
  bool surprised_ = false;  // by the last observation
  std::vector<PlanStep> plan_;
  std::size_t next_ = 0;
  unsigned tries_ = 0;                    // of the step that is next, which failed as often
  std::int64_t clock_ = 0;                // when the next action begins, if those before it took their time
  std::int64_t start_ = 0;                // of the action under way
  std::optional<std::int64_t> duration_;  // of the action under way
  std::string why_again_;                 // the plan is not kept
  std::size_t replaced_ = 0;              // actions of it that were left
  std::vector<PlanStep> left_;            // these, where they still held
  std::set<std::string> looked_at_;       // since the last action
  unsigned observed_without_plan_ = 0;    // since the last action
  bool ended_ = false;
  LoopReport report_;
};

ClosedLoop::ClosedLoop(Scene scene, LoopOptions options, LanguageModel* model,
                       std::shared_ptr<const Vocabulary> vocabulary)
    : scene_(std::move(scene)), options_(std::move(options)) {
  check_options(options_);
  if (options_.plan.guidance != Guidance::kSearch && (model == nullptr || vocabulary == nullptr)) {
    throw InputError(str_cat("guidance ", to_string(options_.plan.guidance)), "needs a language model",
                     "name one, or use guidance search");
  }
  planner_ = std::make_unique<LoopPlanner>(scene_, options_, model, std::move(vocabulary));
}

ClosedLoop::~ClosedLoop() = default;

LoopReport ClosedLoop::run(World& world, const LoopObserver& observer) {
  return LoopRun(scene_, options_, *planner_, world, observer).run();
}

const char* to_string(LoopEnd end) {
  switch (end) {
    case LoopEnd::kGoalObserved:
      return "goal observed";
    case LoopEnd::kGoalBelieved:
      return "goal believed";
    case LoopEnd::kNoPlan:
      return "no plan";
    case LoopEnd::kUndecided:
      return "undecided";
    case LoopEnd::kOutOfReplans:
      return "out of re-plans";
    case LoopEnd::kOutOfActions:
      return "out of actions";
    case LoopEnd::kOutOfTime:
      return "out of time";
    case LoopEnd::kWorldFailed:
      return "world failed";
    case LoopEnd::kModelFailed:
      return "model failed";
    case LoopEnd::kInterrupted:
      return "interrupted";
  }
  return "";
}

namespace {

std::string belief_text(const LoopEvent& event) {
  std::string text;
  if (!event.appeared.empty()) text += "; new: " + internal::list_some(event.appeared);
  if (!event.vanished.empty()) text += "; gone: " + internal::list_some(event.vanished);
  if (event.states > 1) {
    text += str_cat("; ", event.states, " states, the most likely one with ", percent(event.likeliest));
  }
  if (event.pruned > 0) text += str_cat("; left out: ", percent(event.pruned));
  return text.empty() ? ": as predicted" : ":" + text.substr(1);
}

}  // namespace

std::string to_string(const LoopEvent& event) {
  switch (event.kind) {
    case LoopEvent::Kind::kObserved:
      return "observe" + belief_text(event);
    case LoopEvent::Kind::kLooked:
      return str_cat("look at ", event.object, belief_text(event));
    case LoopEvent::Kind::kActed:
      return str_cat(
          "act ",
          event.duration ? to_string(TimedStep{event.step, event.start, *event.duration, true}) : to_string(event.step),
          !event.answered ? ": outcome unknown"
          : event.done    ? ""
                          : ": failed",
          event.message.empty() ? "" : ": " + text::printable(event.message, kMaxShown));
    case LoopEvent::Kind::kPlanned:
      break;
  }
  const std::string again = event.because.empty() ? "" : str_cat(" again, because ", event.because);
  if (event.outcome != PlanOutcome::kPlan)
    return str_cat("plan", again, ": ", to_string(event.outcome), ": ", event.reason);
  std::string text = str_cat("plan", again, ": ", event.plan.size(), event.plan.size() == 1 ? " action" : " actions");
  if (!again.empty()) text += str_cat(" where ", event.replaced, event.replaced == 1 ? " was left" : " were left");
  if (event.rejected > 0) text += str_cat(", kept, since a new plan has ", event.rejected);
  if (event.states > 1)
    text += str_cat(", in ", event.holds_in, " of ", event.states, " states (", percent(event.covered), ")");
  if (event.holds_in < event.states) text += ", not valid";
  for (const PlanStep& step : event.plan) text += " " + to_string(step);
  return text;
}

}  // namespace metactrl
