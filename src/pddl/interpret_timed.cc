// Plans of tasks in which facts change by themselves, as Ast::timed defines them: carried out one action at a time, each
// tried at one multiple of the tick after the other. Of two starts between which nothing changes, neither for the start
// nor for the end, one is tried. When all has happened that happens by itself, waiting is of no use.
#include <algorithm>

#include "metactrl/error.h"
#include "pddl/interpret.h"

namespace metactrl::pddl {

namespace {

bool says_duration(const Expression& expression) {
  return expression.kind == Expression::Kind::kDuration || std::ranges::any_of(expression.children, says_duration);
}

// Does what it does depend on how long it takes?
bool acts_by_duration(const Action& action) {
  const auto by_duration = [](const NumericEffect& effect) { return says_duration(effect.amount); };
  return std::ranges::any_of(action.numeric_effects, by_duration) ||
         std::ranges::any_of(action.durative->end_numeric_effects, by_duration);
}

}  // namespace

std::size_t LiftedInterpreter::num_timed_before(std::int64_t time) const {
  std::size_t count = 0;
  for (const TimedFact& timed : ast_->timed) count += timed.time + kSeparation <= time ? 1 : 0;
  return count;
}

bool LiftedInterpreter::is_late(const Facts& facts) const { return num_timed_before(facts.now) == ast_->timed.size(); }

void LiftedInterpreter::pass(Facts& facts, std::size_t from, std::size_t to, internal::Meter& meter,
                             States* passed) const {
  while (from < to) {
    // What happens at the same time happens at once.
    const std::int64_t time = ast_->timed[from].time;
    for (; from < to && ast_->timed[from].time == time; ++from) {
      Fact fact{ast_->timed[from].atom.predicate, ast_->timed[from].atom.arguments};
      if (ast_->timed[from].add) {
        facts.insert(std::move(fact));
      } else {
        facts.erase(fact);
      }
    }
    derive(facts, meter);
    if (passed != nullptr) passed->push_back(facts);
  }
}

Facts LiftedInterpreter::when_all_has_passed(const Facts& facts, internal::Meter& meter, States* passed) const {
  Facts last = facts;
  pass(last, num_timed_before(facts.now), ast_->timed.size(), meter, passed);
  return last;
}

LiftedInterpreter::Run LiftedInterpreter::run(const Facts& facts, const Instance& instance,
                                              internal::Meter& meter) const {
  if (ast_->has_hosts) return run_among_hosts(facts, instance, meter);
  Run first;
  const std::optional<std::int64_t> duration = units_of(instance, FactView(facts), meter);
  if (!duration) {
    first.problem = "its duration has no value";
    return first;
  }
  if (is_late(facts)) return run_at(facts, instance, facts.now, *duration, meter);
  const auto coincides = [&](std::int64_t time) {
    return std::any_of(ast_->timed.begin(), ast_->timed.end(), [&](const TimedFact& timed) {
      return timed.time - kSeparation < time && time < timed.time + kSeparation;
    });
  };
  std::optional<std::pair<std::size_t, std::size_t>> tried;
  for (std::int64_t start = facts.now;; start += ast_->tick) {
    meter.piece();
    const std::pair order(num_timed_before(start), num_timed_before(start + *duration));
    if (order != tried && !coincides(start) && !coincides(start + *duration)) {
      tried = order;
      Run next = run_at(facts, instance, start, *duration, meter);
      if (next.facts) return next;
      if (first.problem.empty()) first.problem = next.problem + ", now and later";
    }
    if (order.first == ast_->timed.size()) return first;
  }
}

LiftedInterpreter::Run LiftedInterpreter::run_at(const Facts& facts, const Instance& instance, std::int64_t start,
                                                 std::int64_t duration, internal::Meter& meter) const {
  const Action& action = ast_->actions[instance.action];
  Run result;
  result.start = start;
  States* const passed = watched_ ? &result.passed : nullptr;
  Facts state = facts;
  std::size_t done = num_timed_before(start);
  pass(state, num_timed_before(facts.now), done, meter, passed);
  result.problem = start_problem(state, instance, meter);
  if (!result.problem.empty()) return result;
  happen(state, instance, action.effects, action.numeric_effects, meter);
  // Between the points of what takes no time there is no state.
  if (passed != nullptr && (!action.durative || duration > 0)) passed->push_back(state);
  if (action.durative) {
    const std::size_t before_end = num_timed_before(start + duration);
    result.problem = over_all_problem(state, instance, meter);
    while (done < before_end && result.problem.empty()) {
      // What happens at the same time happens at once.
      std::size_t next = done;
      while (next < before_end && ast_->timed[next].time == ast_->timed[done].time) ++next;
      pass(state, done, next, meter, passed);
      result.problem = over_all_problem(state, instance, meter);
      if (!result.problem.empty()) result.problem += " at " + time_text(ast_->timed[done].time);
      done = next;
    }
    if (result.problem.empty()) result.problem = end_problem(state, instance, meter);
    if (!result.problem.empty()) return result;
    happen(state, instance, action.durative->end_effects, action.durative->end_numeric_effects, meter);
    if (passed != nullptr) passed->push_back(state);
  }
  // A late state knows no time.
  if (!is_late(facts)) {
    const std::int64_t end = start + duration + kSeparation;
    state.now = end % ast_->tick == 0 ? end : end - end % ast_->tick + ast_->tick;
    pass(state, done, num_timed_before(state.now), meter, passed);
    if (is_late(state)) state.now = ast_->timed.back().time + kSeparation;
  }
  result.facts = std::move(state);
  return result;
}

Facts LiftedInterpreter::fixed_numbers() const {
  Facts facts;
  for (const FunctionValue& value : ast_->init_values) {
    if (ast_->functions[value.function].changes || !value.exact) continue;
    facts.values.emplace(Fluent{value.function, value.arguments}, *value.exact);
  }
  return facts;
}

std::optional<std::int64_t> LiftedInterpreter::fixed_duration(const PlanStep& step) const {
  std::string problem;
  const std::optional<Instance> instance = resolve(step, problem);
  if (!instance) return std::nullopt;
  if (!ast_->actions[instance->action].durative) return 0;
  // With the numbers that never change alone it has a value only where it reads no other.
  return units_of(*instance, FactView(fixed_numbers()), internal::no_meter());
}

std::optional<LiftedInterpreter::Durations> LiftedInterpreter::fixed_durations(const PlanStep& step) const {
  const std::optional<std::int64_t> planned = fixed_duration(step);
  if (!planned) return std::nullopt;
  std::string problem;
  const Instance instance = *resolve(step, problem);
  const Action& action = ast_->actions[instance.action];
  if (!action.durative || !action.durative->flexible || acts_by_duration(action)) return Durations{*planned, *planned};
  if (!action.durative->longest) return Durations{*planned, kLatestTime};
  internal::Meter meter;
  Scope scope(action.variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), scope.binding.begin());
  const std::optional<Rational> longest = value(*action.durative->longest, scope, FactView(fixed_numbers()));
  if (!longest) return Durations{*planned, *planned};
  return Durations{*planned, std::max(*planned, in_units(*longest).value_or(kLatestTime))};
}

std::optional<std::int64_t> LiftedInterpreter::time_taken(const Facts& facts, const Instance& instance) const {
  if (!ast_->actions[instance.action].durative) return std::nullopt;
  return units_of(instance, FactView(facts), internal::no_meter());
}

Schedule LiftedInterpreter::with_waiting(const Facts& start, std::span<const PlanStep> plan,
                                         internal::Meter& meter) const {
  Schedule result;
  Facts facts = start;
  std::int64_t free = 0;
  for (const PlanStep& step : plan) {
    std::string problem;
    const std::optional<Instance> instance = resolve(step, problem);
    const std::int64_t units = *units_of(*instance, FactView(facts), meter);
    Run next = run(facts, *instance, meter);
    const std::int64_t begin = std::max(free, next.start);
    if (units > kLatestTime - begin) throw InputError("plan", "the plan takes longer than can be counted");
    result.push_back({written_step(*instance), begin, units, ast_->actions[instance->action].durative.has_value()});
    free = begin + units + kSeparation;
    facts = std::move(*next.facts);
  }
  return result;
}

}  // namespace metactrl::pddl
