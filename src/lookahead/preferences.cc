// A plan for the goals alone satisfies some preferences by chance: that is the first choice. Then, the heaviest first,
// each preference that is violated is made a goal besides those that are satisfied, and the plan for that is taken where
// its value is smaller. A preference that is out of reach on its own is violated by every plan: the sum of their weights
// is a first bound.
//
// Last, the task in which the metric is the cost of actions (task/preferences.h) is improved like any other
// (improve.h): what is found there may satisfy other preferences, and what is proved there bounds the value of all plans.
// Its plans are plans of the task with some actions behind them that stand for preferences.
#include "lookahead/preferences.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lookahead/data.h"
#include "lookahead/improve.h"
#include "support/ids.h"
#include "support/meter.h"
#include "task/compile.h"
#include "task/preferences.h"
#include "task/program.h"

namespace metactrl {

namespace {

using internal::to_id;

// Sums of decimal numbers are equal but for the rounding.
constexpr double kRounding = 1e-9;
bool less(double a, double b) { return a < b - kRounding * std::max(1.0, std::abs(b)); }

class Chooser {
 public:
  Chooser(const Task& task, const PreferenceOptions& options, const Stop& stop)
      : task_(task),
        options_(options),
        stop_(stop),
        definition_(task.program().definition()),
        first_(definition_.goals.size()),
        all_(with_preferences(task, everything())),
        best_{task, {}, {}, 0, 0, false, false} {
    options_.lookahead.weights = false;
    options_.lookahead.hmm.reset();
    options_.lookahead.device.reset();
  }

  PreferenceChoice run() {
    try {
      choose();
    } catch (const Stopped&) {
      const bool known = !satisfied_.empty();
      if (!options_.keep_when_stopped || !known) throw;
      best_.stopped = true;
    }
    best_.optimal = !satisfied_.empty() && !less(best_.lower_bound, best_.value);
    return std::move(best_);
  }

 private:
  void choose() {
    auto lookahead = Lookahead::compile(task_, options_.lookahead, stop_);
    if (lookahead->verdict() != Verdict::kSolvable) return;
    adopt(translated(lookahead->task(), lookahead->plan()));
    if (best_.value > 0) one_after_the_other();
    const std::vector<std::size_t> certain = best_.chosen;
    const std::vector<ActionId> certain_plan = best_.plan;
    if (less(best_.lower_bound, best_.value)) improve();
    if (!best_.stopped) settle(certain, certain_plan);
  }

  std::vector<std::size_t> everything() const {
    std::vector<std::size_t> result(definition_.preferences.size());
    std::iota(result.begin(), result.end(), std::size_t{0});
    return result;
  }

  // What a plan satisfies, by place, and its value.
  struct Worth {
    std::vector<bool> satisfied;
    double value = 0;
  };

  // A plan of another compilation of the same task: an action that can never be taken is not known to all of them.
  std::vector<ActionId> translated(const Task& from, std::span<const ActionId> plan) const {
    std::vector<ActionId> result;
    for (const ActionId action : plan) result.push_back(*task_.program().find_action(symbol_of(from, action)));
    return result;
  }
  static task::ActionSymbol symbol_of(const Task& task, ActionId action) {
    return task.program().definition().actions.symbol(action);
  }

  Worth worth(std::span<const ActionId> plan) const {
    Worth result;
    State state = all_.initial_state();
    for (const ActionId action : plan) {
      state = *all_.apply(state, *all_.program().find_action(symbol_of(task_, action)));
      if (definition_.has_metric) result.value += task_.cost(action);
    }
    for (std::size_t i = 0; i < definition_.preferences.size(); ++i) {
      result.satisfied.push_back(all_.program().goal_holds(to_id<GoalId>(first_ + i), state.words().data()));
      if (!result.satisfied.back()) result.value += definition_.preferences[i].weight;
    }
    return result;
  }

  // Is it the best plan so far?
  bool adopt(const std::vector<ActionId>& plan) {
    const Worth found = worth(plan);
    if (!satisfied_.empty() && !less(found.value, best_.value)) return false;
    satisfied_ = found.satisfied;
    best_.value = found.value;
    best_.plan = plan;
    best_.chosen.clear();
    for (std::size_t i = 0; i < satisfied_.size(); ++i) {
      if (satisfied_[i] && definition_.preferences[i].weight > 0) best_.chosen.push_back(i);
    }
    return true;
  }

  void one_after_the_other() {
    std::vector<std::size_t> order = everything();
    std::erase_if(order, [&](std::size_t i) { return definition_.preferences[i].weight <= 0; });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return definition_.preferences[a].weight > definition_.preferences[b].weight;
    });
    LookaheadOptions limited = options_.lookahead;
    limited.exact.states = std::min<std::size_t>(limited.exact.states, 20'000);
    // Where a proof is asked for, all attempts together take about half of what there is.
    const std::uint64_t share = options_.prove ? limited.search.work / (2 * (order.size() + 1)) : 0;
    limited.search.work = std::min(limited.search.work, std::max({share, options_.improve, kImproveFirstPlan}));
    limited.exact.work = std::min(limited.exact.work, limited.search.work);
    const auto attempt = [&](std::vector<std::size_t> wanted) {
      std::sort(wanted.begin(), wanted.end());
      const Task task = with_preferences(task_, wanted);
      const auto lookahead = Lookahead::compile(task, limited, stop_);
      note_unreachable(*lookahead, wanted);
      return lookahead->verdict() == Verdict::kSolvable && adopt(translated(task, lookahead->plan()));
    };
    attempt(order);
    for (const std::size_t i : order) {
      if (satisfied_[i] || !less(best_.lower_bound, best_.value) || unreachable(i)) continue;
      std::vector<std::size_t> wanted = best_.chosen;
      wanted.push_back(i);
      attempt(std::move(wanted));
    }
  }

  bool unreachable(std::size_t preference) const {
    return std::binary_search(unreachable_.begin(), unreachable_.end(), preference);
  }

  // The goals behind the task's own are the preferences `wanted`. With a horizon that is proved of plans of that length.
  void note_unreachable(const Lookahead& lookahead, const std::vector<std::size_t>& wanted) {
    if (lookahead.verdict() != Verdict::kInfeasible) return;
    for (const GoalId goal : lookahead.unreachable_goals()) {
      const std::size_t place = internal::index(goal);
      if (place < first_ || place >= first_ + wanted.size() || unreachable(wanted[place - first_])) continue;
      const std::size_t preference = wanted[place - first_];
      unreachable_.insert(std::lower_bound(unreachable_.begin(), unreachable_.end(), preference), preference);
      best_.lower_bound += definition_.preferences[preference].weight;
    }
  }

  void improve() {
    const task::PreferenceCosts costs = task::preferences_as_costs(definition_);
    internal::Meter meter(stop_);
    const std::shared_ptr<const task::Program> program = task::compile(costs.definition, meter);
    std::vector<task::Word> state(program->total_words());
    if (!program->initial(state.data())) return;
    program->project(state.data());
    lookahead::ImproveOptions improve;
    improve.budget = options_.lookahead.search;
    improve.prove = options_.prove;
    improve.keep_when_stopped = options_.keep_when_stopped;
    if (!options_.prove) improve.budget.work = std::min(improve.budget.work, options_.improve);
    if (options_.lookahead.fixed_horizon) {
      improve.max_length = options_.lookahead.horizon + 1 + static_cast<unsigned>(costs.choices.size());
    }
    const lookahead::RelaxedTask relaxed(*program);
    lookahead::RelaxedEvaluator evaluator(relaxed);
    const lookahead::Improvement better =
        lookahead::improve_plan(*program, evaluator, state.data(), settled(costs, *program), improve, meter);
    best_.stopped = better.stopped;
    const lookahead::ActionCosts sums(*program);
    if (sums.exact() && definition_.whole())
      best_.lower_bound = std::max(best_.lower_bound, sums.in_words(better.lower_bound));
    std::vector<ActionId> plan;
    for (const ActionId action : better.plan) {
      const task::ActionSymbol symbol = program->definition().actions.symbol(action);
      if (symbol.name == costs.finish) break;
      plan.push_back(*task_.program().find_action(symbol));
    }
    adopt(plan);
  }

  // The best plan, with what comes behind it where preferences are costs. `program` is compiled from `costs`.
  std::vector<ActionId> settled(const task::PreferenceCosts& costs, const task::Program& program) const {
    std::vector<ActionId> result;
    for (const ActionId action : best_.plan) {
      const ActionId same = *program.find_action(definition_.actions.symbol(action));
      if (program.action(same).relevant) result.push_back(same);
    }
    result.push_back(*program.find_action({costs.finish, {}}));
    for (const task::PreferenceCosts::Choice& choice : costs.choices) {
      const ActionNameId name = satisfied_[choice.preference] ? choice.collect : choice.forgo;
      result.push_back(*program.find_action({name, {}}));
    }
    return result;
  }

  // The chosen preferences must be known to the lookahead that will be asked; else those from before are.
  void settle(const std::vector<std::size_t>& certain, const std::vector<ActionId>& certain_plan) {
    best_.task = with_preferences(task_, best_.chosen);
    if (best_.chosen == certain) return;
    if (Lookahead::compile(best_.task, options_.lookahead, stop_)->verdict() == Verdict::kSolvable) return;
    satisfied_.clear();
    adopt(certain_plan);
    best_.task = with_preferences(task_, best_.chosen);
  }

  const Task& task_;
  PreferenceOptions options_;
  const Stop& stop_;
  const task::Definition& definition_;
  const std::size_t first_;  // the number of the first preference among the goals of `all_`
  const Task all_;           // every preference is a goal
  std::vector<bool> satisfied_;
  std::vector<std::size_t> unreachable_;
  PreferenceChoice best_;
};

}  // namespace

bool has_preferences(const Task& task) { return !task.program().definition().preferences.empty(); }

Task with_preferences(const Task& task, std::span<const std::size_t> chosen) {
  // The second implementation and the source are the task's own.
  const auto kept = std::make_shared<const Task>(task);
  return Task(task::compile(task::with_preferences(task.program().definition(), chosen)),
              std::shared_ptr<const task::ReferenceSemantics>(kept, task.reference()),
              std::shared_ptr<const task::Source>(kept, task.source()));
}

PreferenceChoice choose_preferences(const Task& task, const PreferenceOptions& options, const Stop& stop) {
  return Chooser(task, options, stop).run();
}

double metric_value(const Task& task, const Validation& validation) {
  double value = task.program().definition().has_metric ? validation.cost : 0;
  for (const Validation::Preference& preference : validation.preferences) {
    if (!preference.satisfied) value += preference.weight;
  }
  return value;
}

}  // namespace metactrl
