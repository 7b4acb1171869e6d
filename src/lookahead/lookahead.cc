// Compiling a lookahead: which tier, which horizon, which verdict.
//
//   1. An infinite h_max of the initial state proves the goal unreachable, and says which goals are.
//   2. The projected state space is enumerated within its budget. Complete, it decides everything (tier A). Cut short,
//      the cone down to the last complete depth still decides plans up to that length; it is used when it leaves
//      `slack` actions beyond the shortest plan and the caller did not insist on a longer horizon.
//   3. Otherwise heuristic search looks for a first plan (tier B), and Support searches for each candidate as it is
//      asked. Where it does not find one soon, goals that exclude each other are looked for before it goes on, and before
//      more than a few states are enumerated: both prove that there is no plan only by exhausting the states.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "lookahead/action_costs.h"
#include "lookahead/belief.h"
#include "lookahead/best_known.h"
#include "lookahead/data.h"
#include "lookahead/exclusion.h"
#include "lookahead/goals.h"
#include "lookahead/improve.h"
#include "lookahead/infeasible.h"
#include "lookahead/search.h"
#include "lookahead/spending.h"
#include "metactrl/schedule.h"
#include "support/list_some.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/program.h"
#include "task/source.h"

namespace metactrl {

namespace {

using internal::ids;
using internal::index;
using internal::str_cat;
using lookahead::Cost;
using lookahead::kInfinite;
using lookahead::SearchResult;
using lookahead::Space;
using task::Word;

class LookaheadCompiler {
 public:
  LookaheadCompiler(const Task& task, LookaheadData& data, internal::Meter& meter)
      : task_(task), program_(task.program()), data_(data), meter_(meter), initial_(program_.total_words()) {}

  void run() {
    decide();
    if (data_.verdict == Verdict::kUndecided && !program_.definition().whole()) refute_a_goal();
  }

 private:
  void decide() {
    if (!program_.initial(initial_.data())) {
      infeasible(lookahead::initial_violation(task_));
      return;
    }
    const std::vector<task::GoalDefinition>& goals = program_.definition().goals;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      if (goals[i].never) data_.unreachable_goals.push_back(internal::to_id<GoalId>(i));
    }
    if (!data_.unreachable_goals.empty()) {
      infeasible("numbers never come within what the goal asks for");
      return;
    }
    program_.project(initial_.data());
    lookahead::RelaxedEvaluator evaluator(data_.relaxed);
    if (evaluator.h_max(initial_.data()) == kInfinite) {
      for (const GoalId goal : ids<GoalId>(program_.num_goals())) {
        if (!evaluator.goal_reachable(goal)) data_.unreachable_goals.push_back(goal);
      }
      refuted("the goal cannot be reached even if nothing ever became false again");
      return;
    }
    lookahead::SpaceResult enumerated = enumerate(evaluator);
    if (!data_.conflicts.empty()) {
      refuted_by_conflicts();
      return;
    }
    if (enumerated.space) {
      use_space(std::move(*enumerated.space), enumerated.limit);
      if (data_.space) return;
    }
    use_search(evaluator, enumerated);
  }

  // Ends early where goals exclude each other.
  lookahead::SpaceResult enumerate(lookahead::RelaxedEvaluator& evaluator) {
    constexpr std::size_t kFewStates = 20'000;
    const Budget whole = enumeration_budget();
    Budget little = whole;
    little.states = std::min(whole.states, kFewStates);
    lookahead::SpaceResult result = Space::enumerate(program_, little, Space::kNoDepthLimit, {}, meter_);
    if (little == whole || result.limit != lookahead::Limit::kStates) return result;
    search_a_little(evaluator);
    return data_.conflicts.empty() ? Space::enumerate(program_, whole, Space::kNoDepthLimit, {}, meter_)
                                   : std::move(result);
  }

  // One goal alone may depend on none of the numbers that grow.
  void refute_a_goal() {
    constexpr std::size_t kMostGoals = 40;
    const task::Source* const source = task_.source();
    if (source == nullptr) return;
    LookaheadOptions options;
    options.fitted_horizon = true;
    options.weights = false;
    constexpr Budget kLittleExact{.states = 20'000, .work = 1'000'000'000};
    constexpr Budget kLittleSearch{.states = 5'000, .work = 200'000'000};
    options.exact = data_.options.exact;
    options.search = data_.options.search;
    lookahead::limit(options.exact, kLittleExact);
    lookahead::limit(options.search, kLittleSearch);
    for (const GoalId goal : ids<GoalId>(std::min(program_.num_goals(), kMostGoals))) {
      const std::optional<Task> part = source->goal_part(task_.goal_text(goal), meter_);
      if (!part || !part->program().definition().whole()) continue;
      LookaheadData alone(part->program(), options);
      LookaheadCompiler(*part, alone, meter_).run();
      if (alone.verdict != Verdict::kInfeasible) continue;
      data_.unreachable_goals = {goal};
      return infeasible("a goal is out of reach, whatever grows");
    }
  }

  void infeasible(std::string reason) {
    data_.verdict = Verdict::kInfeasible;
    const std::string which = which_plans(task_);
    data_.reason = which.empty() ? std::move(reason) : which + ": " + reason;
    if (data_.unreachable_goals.empty()) return;
    data_.reason += "; out of reach:";
    for (GoalId goal : data_.unreachable_goals) data_.reason += " " + task_.goal_text(goal);
  }

  // Infeasible, as far as the task goes: one whose numbers were cut, or whose actions take other durations, too, says
  // nothing of the rest.
  void refuted(std::string reason) {
    const task::Definition& definition = program_.definition();
    if (definition.whole()) return infeasible(std::move(reason));
    data_.verdict = Verdict::kUndecided;
    data_.unreachable_goals.clear();
    data_.conflicts.clear();
    const std::vector<std::string>& cut = definition.cut;
    data_.reason =
        str_cat("no plan ", cut.empty() ? "" : "within the values that were followed",
                cut.empty() || definition.other_durations.empty() ? "" : ", ",
                definition.other_durations.empty() ? "" : "with the durations that were tried", ": ", reason);
    if (!cut.empty())
      data_.reason +=
          str_cat("; not followed: ", internal::list_some(cut), cut.size() == 1 ? ", which grows" : ", which grow");
    if (!definition.other_durations.empty())
      data_.reason += "; not tried: the durations of " + internal::list_some(definition.other_durations);
  }

  // A plan of this length is a shortest one of the cut task: is it one of the whole?
  bool certainly_shortest(unsigned length) const {
    const task::Definition& definition = program_.definition();
    return definition.whole() || length <= definition.cut_depth + 1;
  }

  // Beyond a plan of this length.
  unsigned slack(unsigned length) const {
    constexpr unsigned kWhenGrown = 8;
    return data_.options.slack.value_or(data_.options.fitted_horizon ? std::max(2U, length / 4) : kWhenGrown);
  }

  // True when the horizon covers a plan of this length, growing it if that is allowed.
  bool fit_horizon(unsigned length) {
    if (data_.options.fitted_horizon) {
      data_.horizon = length + slack(length);
      data_.horizon_rule = lookahead::HorizonRule::kFitted;
      return true;
    }
    if (length <= data_.horizon) return true;
    if (data_.options.fixed_horizon) return false;
    data_.horizon = length + slack(length);
    data_.horizon_rule = lookahead::HorizonRule::kGrown;
    return true;
  }

  void use_space(Space space, lookahead::Limit limit) {
    const unsigned shortest = space.distance(space.initial());
    if (shortest == Space::kUnreachable) {
      if (!space.complete()) return;
      find_unreachable_goals();
      refuted(str_cat("none of the ", space.num_states(), " reachable goal-relevant states satisfies the goal",
                      data_.unreachable_goals.empty() && program_.num_goals() > 1
                          ? "; each part of it can be reached, but not all of them jointly"
                          : ""));
      data_.space = std::move(space);
      return;
    }
    if (certainly_shortest(shortest)) data_.shortest = shortest;
    data_.plan = space.shortest_plan(space.initial());
    if (data_.options.costs || (data_.options.improve > 0 && program_.definition().has_metric))
      data_.costs.emplace(program_, space, meter_);
    if (!fit_horizon(shortest)) {
      refuted(str_cat("the shortest plan has ", shortest, " actions, more than the horizon of ", data_.horizon));
      data_.space = std::move(space);
      return;
    }
    if (data_.costs) take_cheapest_plan(space);
    bound_cost(space);
    if (space.max_depth() < data_.horizon) {
      // A cone: everything about plans of at most max_depth() actions is known.
      if (data_.options.fixed_horizon || space.max_depth() < shortest + slack(shortest)) return;
      data_.horizon = space.max_depth();
      data_.horizon_rule = lookahead::HorizonRule::kShortestPlusSlack;
    }
    data_.space = std::move(space);
    data_.verdict = Verdict::kSolvable;
    build_table();
    data_.reason = str_cat("exact goal distances of ", data_.space->num_states(), " goal-relevant states",
                           limit == lookahead::Limit::kNone ? "" : str_cat(", all within ", data_.horizon, " actions"),
                           "; shortest plan: ", shortest, shortest == 1 ? " action" : " actions");
  }

  // The cheapest plan may have more actions than a shortest one.
  void take_cheapest_plan(const Space& space) {
    std::vector<ActionId> plan = data_.costs->cheapest_plan(space, space.initial());
    const auto length = static_cast<unsigned>(plan.size());
    if (length > space.max_depth() || (!data_.options.fitted_horizon && length > data_.horizon)) return;
    data_.plan = std::move(plan);
    fit_horizon(length);
  }

  // Of plans beyond a cone nothing is known but their length.
  void bound_cost(const Space& space) {
    const lookahead::ActionCosts costs(program_);
    if (!costs.has_metric()) least_ = space.distance(space.initial());
    if (costs.has_metric() && data_.costs && space.complete())
      least_ = costs.sum(data_.costs->cheapest_plan(space, space.initial()));
    bound_cost(costs);
  }

  // By what every plan of the task costs at least, if its numbers were not cut.
  void bound_cost(const lookahead::ActionCosts& costs) {
    const task::Definition& definition = program_.definition();
    if (!costs.exact()) return;
    if (!definition.whole()) least_ = costs.has_metric() ? 0 : std::min(least_, definition.cut_depth + Cost{1});
    data_.least_cost = costs.in_words(least_);
    data_.cheapest = costs.sum(data_.plan) <= least_;
    if (data_.cheapest && !costs.has_metric()) data_.shortest = static_cast<unsigned>(data_.plan.size());
  }

  void build_table() {
    if (!data_.options.weights) return;
    const auto known = static_cast<unsigned>(data_.plan.size());  // longer than a shortest one where that is cheaper
    data_.weight_rule = witness_rule();
    const auto build = [this](unsigned horizon) {
      const std::size_t bytes = data_.options.weight_bytes;
      if (data_.surrogate) {
        data_.hmm_table = lookahead::HmmTable<float>::build(*data_.surrogate, *data_.space, horizon, bytes,
                                                            data_.options.device.get(), meter_);
        return data_.hmm_table.has_value();
      }
      data_.table = lookahead::UniformTable::build(program_, *data_.space, horizon, bytes, meter_);
      return data_.table.has_value();
    };
    if (!build(data_.horizon)) {
      const unsigned shorter = known + slack(known);
      if (data_.options.fixed_horizon || shorter >= data_.horizon || !build(shorter)) return;
      data_.horizon = shorter;
      data_.horizon_rule = lookahead::HorizonRule::kShortestPlusSlack;
    }
    data_.weight_rule = data_.surrogate ? lookahead::WeightRule::kTrainedExact : lookahead::WeightRule::kUniformExact;
  }

  lookahead::WeightRule witness_rule() const {
    return data_.surrogate ? lookahead::WeightRule::kTrainedWitnessPlan : lookahead::WeightRule::kWitnessPlan;
  }

  Budget little_to_search() const {
    constexpr Budget kLittle{.states = 1'000, .work = 1'000'000'000};
    Budget budget = data_.options.search;
    lookahead::limit(budget, kLittle);
    return budget;
  }
  unsigned longest_plan() const { return data_.options.fixed_horizon ? data_.horizon : kInfinite; }

  // Once. Where it finds nothing, conflicts are looked for.
  void search_a_little(lookahead::RelaxedEvaluator& evaluator) {
    constexpr std::uint64_t kExclusionWork = 50'000'000;
    if (little_) return;
    const Budget budget = little_to_search();
    little_ = find_plan(program_, evaluator, initial_.data(), longest_plan(), budget, meter_);
    if (little_->outcome != SearchResult::Outcome::kBudget) return;
    const std::uint64_t work = std::min(data_.options.search.work, kExclusionWork);
    data_.conflicts = lookahead::find_exclusion(program_, work, false, meter_);
  }

  // A plan of at most longest_plan() actions. The second search does what the first did, and goes on.
  SearchResult any_plan(lookahead::RelaxedEvaluator& evaluator) {
    search_a_little(evaluator);
    SearchResult found = *little_;
    if (!data_.conflicts.empty()) {
      found.outcome = SearchResult::Outcome::kRefuted;
      found.lower_bound = kInfinite;
    }
    const Budget& whole = data_.options.search;
    if (found.outcome != SearchResult::Outcome::kBudget || little_to_search() == whole) return found;
    return find_plan(program_, evaluator, initial_.data(), longest_plan(), whole, meter_);
  }

  // Any plan at first. When it is longer than the horizon, a shorter one is sought for a while, a few times as long as
  // the first took, before the horizon grows; a proof that there is none is not worth more.
  SearchResult first_plan(lookahead::RelaxedEvaluator& evaluator) {
    SearchResult any = any_plan(evaluator);
    if (any.outcome != SearchResult::Outcome::kFound) return any;
    improve(evaluator, any);
    if (data_.options.fitted_horizon || any.plan.size() <= data_.horizon) return any;
    constexpr std::uint64_t kLittleWork = 10'000'000;
    Budget budget = data_.options.search;
    budget.states = std::min(budget.states, 100 + 4 * any.evaluated);
    budget.work = std::min(budget.work, std::max(kLittleWork, 4 * any.work));
    SearchResult shorter = find_plan(program_, evaluator, initial_.data(), data_.horizon, budget, meter_);
    return shorter.outcome == SearchResult::Outcome::kFound ? shorter : any;
  }

  void improve(lookahead::RelaxedEvaluator& evaluator, SearchResult& found) {
    if (data_.options.improve == 0) return;
    constexpr std::uint64_t kEvaluations = 64;
    constexpr std::uint64_t kMost = 100'000'000;
    const std::uint64_t in_large_tasks = std::min(kMost, kEvaluations * data_.relaxed.evaluation_work());
    lookahead::ImproveOptions options;
    options.budget = data_.options.search;
    options.budget.work = std::min(options.budget.work, std::max(data_.options.improve, in_large_tasks));
    if (data_.options.fixed_horizon) options.max_length = data_.horizon;
    options.left_out = found.left_out;
    lookahead::Improvement better =
        improve_plan(program_, evaluator, initial_.data(), std::move(found.plan), options, meter_);
    found.plan = std::move(better.plan);
    found.left_out = better.left_out;
    least_ = better.lower_bound;
  }

  // What enumeration may cost. Where there are very many actions, states are never few: little is spent on finding out.
  Budget enumeration_budget() const {
    constexpr std::size_t kManyActions = 20'000;
    constexpr std::uint64_t kEvaluations = 16;
    Budget budget = data_.options.exact;
    if (program_.relevant_action_list().size() > kManyActions) {
      budget.work = std::min(budget.work, kEvaluations * data_.relaxed.evaluation_work());
    }
    return budget;
  }

  void use_search(lookahead::RelaxedEvaluator& evaluator, const lookahead::SpaceResult& enumerated) {
    if (data_.options.weights) data_.weight_rule = witness_rule();
    SearchResult result;
    if (data_.shortest) {  // known from a cone that was too small to decode in
      result.outcome = SearchResult::Outcome::kFound;
      result.plan = data_.plan;
      if (program_.definition().has_metric) improve(evaluator, result);
    } else {
      result = first_plan(evaluator);
    }
    const std::string space_note = str_cat("the state space was too large to enumerate (", enumerated.states_seen,
                                           " states seen, limit: ", internal::name_of(enumerated.limit), ")");
    switch (result.outcome) {
      case SearchResult::Outcome::kFound:
        data_.plan = result.plan;
        data_.left_out = result.left_out;
        bound_cost(lookahead::ActionCosts(program_));
        if (data_.large()) data_.focus = lookahead::find_focus(evaluator, initial_.data(), data_.plan);
        fit_horizon(static_cast<unsigned>(result.plan.size()));
        data_.verdict = Verdict::kSolvable;
        data_.reason = str_cat("a witness plan of ", result.plan.size(), " actions; ", space_note);
        return;
      case SearchResult::Outcome::kRefuted:
        if (!data_.conflicts.empty()) return refuted_by_conflicts();
        if (result.lower_bound == kInfinite) find_unreachable_goals();
        refuted(result.lower_bound == kInfinite ? "search exhausted every state that could lead to the goal"
                                                : str_cat("no plan of at most ", data_.horizon, " actions exists"));
        return;
      case SearchResult::Outcome::kBudget:
        data_.verdict = Verdict::kUndecided;
        data_.reason = str_cat("no plan found and none excluded within the search budget (limit: ",
                               internal::name_of(result.limit), "); ", space_note);
        return;
    }
  }

  void refuted_by_conflicts() {
    const std::vector<GoalId> together = lookahead::members(data_.conflicts[0]);
    if (together.size() == 1) data_.unreachable_goals = together;
    refuted("no state that can be reached satisfies " + list_goals(together));
  }

  std::string list_goals(const std::vector<GoalId>& goals) const {
    std::vector<std::string> texts;
    for (const GoalId goal : goals) texts.push_back(task_.goal_text(goal));
    return internal::list_some(texts) + (goals.size() > 1 ? " together" : "");
  }

  // Which goals hold in no reachable state? Only exact when the states can be enumerated; then it names the culprits,
  // and when each goal can be reached alone it is their conjunction that cannot.
  void find_unreachable_goals() {
    const auto met = lookahead::goals_met_somewhere(program_, data_.options.exact, meter_);
    for (const GoalId goal : met.all()) {
      if (!met[goal]) data_.unreachable_goals.push_back(goal);
    }
  }

  const Task& task_;
  const task::Program& program_;
  LookaheadData& data_;
  internal::Meter& meter_;
  std::vector<Word> initial_;
  Cost least_ = 0;                      // no plan costs less, as far as the task goes
  std::optional<SearchResult> little_;  // what a short search has found
};

}  // namespace

const char* to_string(Verdict verdict) { return internal::name_of(verdict); }
const char* to_string(Lookahead::Tier tier) { return internal::name_of(tier); }

Lookahead::Lookahead(Task task, std::unique_ptr<LookaheadData> data) : task_(std::move(task)), data_(std::move(data)) {}
Lookahead::~Lookahead() = default;

std::shared_ptr<const Lookahead> Lookahead::compile(const Task& task, const LookaheadOptions& options,
                                                    const Stop& stop) {
  internal::Meter meter(stop);
  auto data = std::make_unique<LookaheadData>(task.program(), options);
  LookaheadCompiler(task, *data, meter).run();
  data->work = meter.steps();
  return std::shared_ptr<const Lookahead>(new Lookahead(task, std::move(data)));
}

Verdict Lookahead::verdict() const { return data_->verdict; }
const std::string& Lookahead::reason() const { return data_->reason; }
const std::vector<GoalId>& Lookahead::unreachable_goals() const { return data_->unreachable_goals; }
Lookahead::Tier Lookahead::tier() const { return data_->space ? Lookahead::Tier::kExact : Lookahead::Tier::kWitness; }
unsigned Lookahead::horizon() const { return data_->horizon; }
const char* Lookahead::horizon_rule() const { return internal::name_of(data_->horizon_rule); }
const char* Lookahead::weight_rule() const { return internal::name_of(data_->weight_rule); }
bool Lookahead::weights_exact() const {
  return data_->weight_rule == lookahead::WeightRule::kUniformExact ||
         data_->weight_rule == lookahead::WeightRule::kTrainedExact;
}
std::optional<unsigned> Lookahead::shortest_plan_length() const { return data_->shortest; }
double Lookahead::least_cost() const { return data_->least_cost; }
bool Lookahead::plan_is_cheapest() const { return data_->cheapest; }
const std::vector<ActionId>& Lookahead::plan() const { return data_->plan; }

std::optional<BestKnown> best_known(const Lookahead& lookahead) {
  if (lookahead.verdict() != Verdict::kSolvable) return std::nullopt;
  const Task& task = lookahead.task();
  BestKnown best;
  best.length = lookahead.plan().size();
  best.shortest = lookahead.shortest_plan_length() == best.length;
  for (const ActionId action : lookahead.plan()) best.cost += task.cost(action);
  if (task.has_costs() && !task.program().definition().has_metric) return best;
  best.cheapest = lookahead.plan_is_cheapest();
  best.least_cost = lookahead.least_cost();
  return best;
}

std::optional<std::size_t> Lookahead::num_states() const {
  return data_->space ? std::optional<std::size_t>(data_->space->num_states()) : std::nullopt;
}

std::uint64_t Lookahead::work() const { return data_->work; }
std::size_t Lookahead::memory_bytes() const {
  return data_->relaxed.memory_bytes() + (data_->space ? data_->space->memory_bytes() : 0) +
         (data_->table ? data_->table->memory_bytes() : 0) + (data_->surrogate ? data_->surrogate->memory_bytes() : 0) +
         (data_->hmm_table ? data_->hmm_table->memory_bytes() : 0);
}

namespace lookahead {

bool is_trained(const Lookahead& lookahead) { return lookahead.data().surrogate.has_value(); }

SurrogateBelief start_belief(const Lookahead& lookahead) {
  const auto& surrogate = lookahead.data().surrogate;
  return surrogate ? SurrogateBelief{surrogate->start()} : SurrogateBelief{};
}

void advance(const Lookahead& lookahead, SurrogateBelief& belief, ActionId action) {
  if (const auto& surrogate = lookahead.data().surrogate) surrogate->advance(belief.hidden, action);
}

double log_end(const Lookahead& lookahead, const SurrogateBelief& belief) {
  if (const auto& surrogate = lookahead.data().surrogate) return surrogate->log_end(belief.hidden);
  return -std::log(static_cast<double>(alphabet_size(lookahead.task().program())));
}

void action_probabilities(const Lookahead& lookahead, const SurrogateBelief& belief, std::vector<double>& out) {
  const Task& task = lookahead.task();
  const std::size_t count = task.num_actions();
  out.resize(count);
  if (!is_trained(lookahead)) {
    const double log_symbol = log_end(lookahead, belief);
    for (const ActionId action : ids<ActionId>(count)) {
      out[index(action)] = std::exp(log_symbol * static_cast<double>(1 + task.arguments(action).size()));
    }
    return;
  }
  BeliefCursor cursor(*lookahead.data().surrogate);
  cursor.begin(belief.hidden);
  for (const ActionId action : ids<ActionId>(count)) {
    cursor.read(action);
    out[index(action)] = std::exp(cursor.log_probability());
  }
}

}  // namespace lookahead

}  // namespace metactrl
