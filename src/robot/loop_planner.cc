// One state is one task (Scene::at). Several are one task, too (Scene::at_all): its plans are exactly those that hold
// in each, so that lookahead, constraint and decoder do for a belief what they do for a state, and a proof that the
// product has no plan is a proof that no plan holds in all.
//
// The search first tries the plan for the most likely state, which often holds in the others as well, and turns to the
// product when it does not. Plans and proofs of the search depend on the states alone and are remembered.
#include "robot/loop_planner.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "metactrl/planner.h"
#include "support/splitmix.h"
#include "support/str_cat.h"

namespace metactrl {

using internal::str_cat;

namespace {

// More than that are forgotten, all at once.
constexpr std::size_t kMaxRemembered = 4096;

}  // namespace

LoopPlanner::LoopPlanner(const Scene& scene, const LoopOptions& options, LanguageModel* model,
                         std::shared_ptr<const Vocabulary> vocabulary)
    : scene_(scene), options_(options), model_(model), vocabulary_(std::move(vocabulary)) {}

bool LoopPlanner::guaranteed() const {
  return options_.plan.guidance != Guidance::kNone && options_.plan.guidance != Guidance::kSyntax;
}

PlanResult LoopPlanner::call(const Task& task, const PlanOptions& options, const Stop& stop,
                             const std::function<void(Observer::Phase)>& phase) {
  Observer observer;
  observer.cancelled = stop;
  observer.phase = phase;
  PlanResult result = metactrl::plan(task, options_.format, model_, vocabulary_, options, observer);
  if (result.out_of_time) {
    throw Stopped(Stopped::kCancelled, str_cat("no plan was made in time: ", result.reason));
  }
  return result;
}

std::size_t LoopPlanner::count_valid(std::span<const SceneState> states, std::span<const PlanStep> steps,
                                     std::string& first_problem) const {
  std::size_t valid = 0;
  for (const SceneState& state : states) {
    const Validation validation = scene_.validate(state, steps);
    valid += validation.valid ? 1 : 0;
    if (!validation.valid && first_problem.empty()) first_problem = validation.reason;
  }
  return valid;
}

LookaheadOptions LoopPlanner::lookahead_for(std::size_t states, bool weighed) const {
  LookaheadOptions options = options_.plan.lookahead;
  if (states == 1 && !weighed) return options;
  options.exact.states = std::min(options.exact.states, options_.belief_search_states);
  options.search.states = std::min(options.search.states, options_.belief_search_states);
  return options;
}

// `weighed`: what a look would show is no more than weighed.
LoopPlan LoopPlanner::search_alone(std::span<const SceneState> states, bool weighed, const Stop& stop) {
  Key key({states.begin(), states.end()}, weighed || states.size() > 1);
  const auto known = remembered_.find(key);
  if (known != remembered_.end()) return known->second;
  PlanOptions options = options_.plan;
  options.guidance = Guidance::kSearch;
  options.lookahead = lookahead_for(states.size(), weighed);
  options.lookahead.weights = false;
  // A product's state costs as much as its parts together.
  options.lookahead.exact.states = std::max<std::size_t>(1, options.lookahead.exact.states / states.size());
  PlanResult result = call(states.size() == 1 ? scene_.at(states[0]) : scene_.at_all(states), options, stop, {});
  LoopPlan plan;
  plan.outcome = result.outcome;
  plan.steps = std::move(result.steps);
  plan.guarantee = result.guarantee;
  plan.reason = std::move(result.reason);
  if (plan.outcome == PlanOutcome::kPlan || plan.outcome == PlanOutcome::kInfeasible) {
    if (remembered_.size() >= kMaxRemembered) remembered_.clear();
    remembered_.emplace(std::move(key), plan);
  }
  return plan;
}

LoopPlan LoopPlanner::search(std::span<const SceneState> states, bool weighed, const Stop& stop) {
  if (states.size() == 1) return search_alone(states, weighed, stop);
  LoopPlan first = search_alone(states.first(1), weighed, stop);
  // Where one state has no plan there is none for all.
  if (first.outcome != PlanOutcome::kPlan) return first;
  std::string problem;
  if (count_valid(states, first.steps, problem) == states.size()) return first;
  return search_alone(states, weighed, stop);
}

std::optional<std::size_t> LoopPlanner::plan_length(std::span<const SceneState> states, const Stop& stop) {
  const LoopPlan plan = search(states, true, stop);
  if (plan.outcome == PlanOutcome::kCancelled) throw Stopped(Stopped::kCancelled, plan.reason);
  return plan.outcome == PlanOutcome::kPlan ? std::optional<std::size_t>(plan.steps.size()) : std::nullopt;
}

LoopPlan LoopPlanner::plan(std::span<const SceneState> states, std::uint64_t number, const Stop& stop,
                           const std::function<void(Observer::Phase)>& phase) {
  LoopPlan plan;
  if (options_.plan.guidance == Guidance::kSearch) {
    if (phase) phase(Observer::Phase::kCompiling);
    plan = search(states, false, stop);
  } else {
    PlanOptions options = options_.plan;
    // Equal states ask for equal plans, unless the choice is drawn.
    options.generate.seed = internal::Random(options.generate.seed, number).next();
    const Task likeliest = scene_.at(states[0]);
    const bool several = states.size() > 1 && guaranteed();
    options.lookahead = lookahead_for(several ? states.size() : 1, false);
    // The model reads about the most likely state, in the words of the domain.
    if (several && !options.prompt) {
      options.prompt = make_prompt(likeliest, PlanSpelling(options_.format, likeliest), options.instruction);
    }
    PlanResult result = call(several ? scene_.at_all(states) : likeliest, options, stop, phase);
    plan.outcome = result.outcome;
    plan.steps = std::move(result.steps);
    plan.guarantee = result.guarantee;
    plan.reason = std::move(result.reason);
    plan.model_calls = result.model_calls;
    plan.thought = std::move(result.thought);
    plan.prompt_text = std::move(result.prompt_text);
  }
  if (plan.outcome != PlanOutcome::kPlan) return plan;
  std::string problem;
  plan.holds_in = count_valid(states, plan.steps, problem);
  if (guaranteed() && (plan.holds_in != states.size() || plan.guarantee != Guarantee::kFull)) {
    throw std::logic_error(str_cat("a plan does not hold in a state it was made for: ", problem));
  }
  return plan;
}

}  // namespace metactrl
