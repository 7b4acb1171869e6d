// Actions that take time, as PDDL 2.1 defines them (Fox and Long 2003).
//
// A step that starts at t and takes d has two happenings, at t and at t + d; one that takes no time has one. What is
// asked for at a happening is judged in the state before it. All happenings of one time change that state together, and
// no two of them may touch: neither may change what the other reads or changes, except that both may add to the same
// number. What is asked for over all is judged in every state from behind the start to before the end.
//
// A step takes what its line says, which must be within all bounds that are written. Two happenings that touch must not
// coincide; how far apart they are is nobody's business here. A duration that was written with few digits may be off by
// kTolerance.
#include <algorithm>

#include "metactrl/error.h"
#include "pddl/interpret.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

constexpr std::int64_t kTolerance = kTimeUnit / 1000;

}  // namespace

std::optional<std::int64_t> LiftedInterpreter::in_units(const Rational& time) {
  const std::optional<Rational> scaled = multiply(time, Rational(kTimeUnit));
  if (!scaled) {
    // Too many digits for a product: whole and rest apart.
    const double rough = static_cast<double>(time.numerator()) / static_cast<double>(time.denominator());
    if (!(rough * static_cast<double>(kTimeUnit) < 9e17)) return std::nullopt;
    const std::int64_t whole = time.numerator() / time.denominator();
    const std::int64_t rest = time.numerator() % time.denominator();
    const double part = static_cast<double>(rest) / static_cast<double>(time.denominator());
    return whole * kTimeUnit + static_cast<std::int64_t>(part * static_cast<double>(kTimeUnit) + 0.5);
  }
  const std::int64_t quotient = scaled->numerator() / scaled->denominator();
  const std::int64_t rest = scaled->numerator() % scaled->denominator();
  return quotient + (rest >= scaled->denominator() - rest ? 1 : 0);
}

// A point in time at which something happens.
struct LiftedInterpreter::Happening {
  std::int64_t time = 0;
  std::size_t step = 0;
  Instance instance;
  bool is_end = false;
  const Rational* duration = nullptr;  // of the step, once it has begun

  const Condition& condition(const Ast& ast) const {
    const Action& action = ast.actions[instance.action];
    return is_end ? action.durative->at_end : action.precondition;
  }
  const std::vector<Effect>& effects(const Ast& ast) const {
    const Action& action = ast.actions[instance.action];
    return is_end ? action.durative->end_effects : action.effects;
  }
  const std::vector<NumericEffect>& numeric_effects(const Ast& ast) const {
    const Action& action = ast.actions[instance.action];
    return is_end ? action.durative->end_numeric_effects : action.numeric_effects;
  }
};

// What a happening reads and changes.
struct LiftedInterpreter::Footprint {
  std::set<Fact> reads;
  std::set<Fact> writes;
  std::set<PredicateId> reads_all;  // of these every fact: derived ones may depend on any
  std::set<Fluent> number_reads;
  std::set<Fluent> number_writes;
  std::set<Fluent> number_adds;
  bool reads_all_numbers = false;
};

std::string LiftedInterpreter::violation(const Condition& condition, const Instance& instance, const FactView& facts,
                                         internal::Meter& meter) const {
  Scope scope(ast_->actions[instance.action].variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), scope.binding.begin());
  if (holds(condition, scope, facts)) return {};
  Scope fresh(ast_->actions[instance.action].variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), fresh.binding.begin());
  return explain(condition, true, fresh, facts);
}

std::string LiftedInterpreter::start_problem(const Facts& facts, const Instance& instance,
                                             internal::Meter& meter) const {
  const Action& action = ast_->actions[instance.action];
  const FactView view(facts);
  const std::string text = violation(action.precondition, instance, view, meter);
  if (!text.empty()) return (action.durative ? "condition at start " : "precondition ") + text;
  return changes(view, instance, action.numeric_effects, meter).problem;
}

std::string LiftedInterpreter::over_all_problem(const Facts& facts, const Instance& instance,
                                                internal::Meter& meter) const {
  const std::string text =
      violation(ast_->actions[instance.action].durative->over_all, instance, FactView(facts), meter);
  return text.empty() ? text : "condition over all " + text;
}

std::string LiftedInterpreter::end_problem(const Facts& facts, const Instance& instance, internal::Meter& meter) const {
  const Durative& durative = *ast_->actions[instance.action].durative;
  const FactView view(facts);
  const std::string text = violation(durative.at_end, instance, view, meter);
  if (!text.empty()) return "condition at end " + text;
  return changes(view, instance, durative.end_numeric_effects, meter).problem;
}

std::string LiftedInterpreter::later_problem(const Facts& facts, const Instance& instance,
                                             internal::Meter& meter) const {
  const Action& action = ast_->actions[instance.action];
  if (!action.durative) return {};
  Facts running = facts;
  happen(running, instance, action.effects, action.numeric_effects, meter);
  const std::string problem = over_all_problem(running, instance, meter);
  return problem.empty() ? end_problem(running, instance, meter) : problem;
}

std::optional<Rational> LiftedInterpreter::duration(const Instance& instance, const FactView& facts,
                                                    internal::Meter& meter) const {
  const Action& action = ast_->actions[instance.action];
  if (!action.durative) return Rational(0);
  Scope scope(action.variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), scope.binding.begin());
  return value(action.durative->duration, scope, facts);
}

std::optional<std::int64_t> LiftedInterpreter::units_of(const Instance& instance, const FactView& facts,
                                                        internal::Meter& meter) const {
  const std::optional<Rational> exact = duration(instance, facts, meter);
  const std::optional<std::int64_t> units = exact ? in_units(*exact) : std::nullopt;
  // The shortest that can be counted, where it is shorter than that.
  if (units == 0 && *exact > Rational(0)) return 1;
  return units;
}

std::string LiftedInterpreter::which_plans() const {
  if (!ast_->has_durations) return {};
  std::string durations;
  for (const Action& action : ast_->actions) {
    if (!action.durative || action.durative->others != Durative::Others::kMatter || !action.written.empty()) continue;
    durations += str_cat(", in which ", action.name, " takes one of ", action.durative->planned);
  }
  if (ast_->has_hosts) {
    std::string names;
    for (const Action& action : ast_->actions) {
      if (action.durative && action.durative->hosts && action.written.empty())
        names += (names.empty() ? "" : " or ") + action.name;
    }
    return str_cat("of plans that run one action at a time, inside ", names, " too", durations);
  }
  if (ast_->timed.empty()) return "of plans that run one action at a time" + durations;
  return str_cat("of plans that run one action at a time, each as early as it can begin at a multiple of ",
                 time_text(ast_->tick), durations);
}

Schedule LiftedInterpreter::with_durations(std::span<const PlanStep> plan, const Stop& stop) const {
  internal::Meter meter(stop);
  const auto refuse = [](const std::string& what) {
    Diagnostics diagnostics;
    diagnostics.error({"plan", 0, 0}, what, "");
    throw InputError(std::move(diagnostics));
  };
  const Facts start = initial(meter);
  const Validation validation = validate(start, plan, meter);
  if (validation.steps_executed < plan.size()) refuse("the plan is not valid: " + validation.reason);
  if (!ast_->timed.empty()) return with_waiting(start, plan, meter);
  if (ast_->has_hosts) return with_hosts(start, plan, meter);
  Schedule result;
  Facts facts = start;
  std::int64_t free = 0;
  for (const PlanStep& step : plan) {
    std::string problem;
    const std::optional<Instance> instance = resolve(step, problem);
    const std::optional<std::int64_t> units = units_of(*instance, FactView(facts), meter);
    if (!units) refuse(str_cat("the duration of ", to_string(step), " is too large to be counted"));
    if (*units > kLatestTime - free) refuse("the plan takes longer than can be counted");
    result.push_back({written_step(*instance), free, *units, ast_->actions[instance->action].durative.has_value()});
    free += *units + kSeparation;
    execute(facts, *instance, meter);
  }
  return result;
}

// --- what touches ----------------------------------------------------------------------------------------------------

// A fact of this predicate is read, or, if it is derived, all that it can follow from.
void LiftedInterpreter::add_predicate(PredicateId predicate, Footprint& out) const {
  if (!out.reads_all.insert(predicate).second) return;
  for (const Axiom& axiom : ast_->axioms) {
    if (axiom.head != predicate) continue;
    std::vector<const Condition*> todo = {&axiom.body};
    while (!todo.empty()) {
      const Condition* const condition = todo.back();
      todo.pop_back();
      if (condition->kind == Condition::Kind::kAtom) add_predicate(condition->atom.predicate, out);
      if (condition->kind == Condition::Kind::kCompare) out.reads_all_numbers = true;
      for (const Condition& child : condition->children) todo.push_back(&child);
    }
  }
}

void LiftedInterpreter::add_reads(const Expression& expression, const Scope& scope, Footprint& out) const {
  if (expression.kind == Expression::Kind::kDuration) return;
  for (const Expression& child : expression.children) add_reads(child, scope, out);
  if (expression.kind != Expression::Kind::kFunction || !ast_->functions[expression.function].changes) return;
  Fluent fluent{expression.function, {}};
  for (const Term& term : expression.arguments) fluent.arguments.push_back(term.under(scope.binding));
  out.number_reads.insert(std::move(fluent));
}

void LiftedInterpreter::add_reads(const Condition& condition, Scope& scope, Footprint& out) const {
  scope.meter.piece();
  if (condition.kind == Condition::Kind::kAtom) {
    if (ast_->predicates[condition.atom.predicate].derived) {
      add_predicate(condition.atom.predicate, out);
    } else {
      out.reads.insert(ground(scope, condition.atom));
    }
  }
  for (const Expression& side : condition.sides) add_reads(side, scope, out);
  if (condition.children.empty()) return;
  for_each_binding(scope, condition.bound, [&] {
    for (const Condition& child : condition.children) add_reads(child, scope, out);
    return true;
  });
  unbind(scope, condition.bound);
}

LiftedInterpreter::Footprint LiftedInterpreter::footprint(const Happening& happening, internal::Meter& meter) const {
  Footprint out;
  const Action& action = ast_->actions[happening.instance.action];
  Scope scope(action.variables, meter);
  std::copy(happening.instance.arguments.begin(), happening.instance.arguments.end(), scope.binding.begin());
  add_reads(happening.condition(*ast_), scope, out);
  // What the duration depends on is among the conditions at the start.
  for (const Effect& effect : happening.effects(*ast_)) {
    for_each_binding(scope, effect.forall, [&] {
      add_reads(effect.when, scope, out);
      out.writes.insert(ground(scope, effect.atom));
      return true;
    });
    unbind(scope, effect.forall);
  }
  const auto add_changes = [&](const std::vector<NumericEffect>& effects) {
    for (const NumericEffect& effect : effects) {
      for_each_binding(scope, effect.forall, [&] {
        add_reads(effect.when, scope, out);
        add_reads(effect.amount, scope, out);
        Fluent fluent{effect.function, {}};
        for (const Term& term : effect.arguments) fluent.arguments.push_back(term.under(scope.binding));
        const bool adds =
            effect.change == NumericEffect::Change::kIncrease || effect.change == NumericEffect::Change::kDecrease;
        (adds ? out.number_adds : out.number_writes).insert(std::move(fluent));
        return true;
      });
      unbind(scope, effect.forall);
    }
  };
  add_changes(happening.numeric_effects(*ast_));
  if (action.durative)
    add_changes(happening.is_end ? action.durative->idle_end_effects : action.durative->idle_start_effects);
  return out;
}

bool LiftedInterpreter::touches_host(const Instance& instance, const Instance& host, internal::Meter& meter) const {
  const auto needed_over_all = [&](const Instance& of) {
    Footprint out;
    const Action& action = ast_->actions[of.action];
    if (!action.durative) return out;
    Scope scope(action.variables, meter);
    std::copy(of.arguments.begin(), of.arguments.end(), scope.binding.begin());
    add_reads(action.durative->over_all, scope, out);
    return out;
  };
  const Footprint end = footprint({0, 0, host, true}, meter);
  const Footprint while_it_runs = needed_over_all(host);
  std::vector<Footprint> points = {footprint({0, 0, instance, false}, meter)};
  if (ast_->actions[instance.action].durative) points.push_back(footprint({0, 0, instance, true}, meter));
  return !conflict(needed_over_all(instance), end).empty() ||
         std::any_of(points.begin(), points.end(), [&](const Footprint& point) {
           return !conflict(point, end).empty() || !conflict(point, while_it_runs).empty();
         });
}

// --- what two points share -------------------------------------------------------------------------------------------

namespace {

template <typename Element>
const Element* common(const std::set<Element>& a, const std::set<Element>& b) {
  for (const Element& element : a) {
    if (b.contains(element)) return &element;
  }
  return nullptr;
}

}  // namespace

// What one changes and the other reads or changes; empty when there is nothing.
std::string LiftedInterpreter::conflict(const Footprint& a, const Footprint& b) const {
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (const Fact* fact = common(one->writes, other->reads)) return fact_text(*fact);
    if (const Fact* fact = common(one->writes, other->writes)) return fact_text(*fact);
    for (const Fact& fact : one->writes) {
      if (other->reads_all.contains(fact.name)) return fact_text(fact);
    }
    for (const auto* written : {&one->number_writes, &one->number_adds}) {
      if (const Fluent* fluent = common(*written, other->number_reads)) return fluent_text(*fluent);
      if (other->reads_all_numbers && !written->empty()) return fluent_text(*written->begin());
      if (const Fluent* fluent = common(*written, other->number_writes)) return fluent_text(*fluent);
    }
  }
  return {};
}

// --- schedules -------------------------------------------------------------------------------------------------------

std::string LiftedInterpreter::point_problem(const Happening& happening, const Facts& facts,
                                             internal::Meter& meter) const {
  const FactView view(facts);
  const bool durative = ast_->actions[happening.instance.action].durative.has_value();
  std::string text = violation(happening.condition(*ast_), happening.instance, view, meter);
  if (!text.empty())
    return str_cat(happening.is_end ? "condition at end " : durative ? "condition at start " : "precondition ", text);
  return changes(view, happening.instance, happening.numeric_effects(*ast_), meter, happening.duration).problem;
}

// Where the action has one duration, that one, of which what is given may be rounded. Otherwise what is given, or a bound
// that it is when rounded.
std::optional<Rational> LiftedInterpreter::duration_given(const TimedStep& given, const Instance& instance,
                                                          const FactView& facts, internal::Meter& meter,
                                                          std::string& problem) const {
  using Comparison = Condition::Comparison;
  const Action& action = ast_->actions[instance.action];
  Scope scope(action.variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), scope.binding.begin());
  std::optional<Rational> taken;
  std::optional<Rational> nearest;
  if (given.duration < 0) problem = "its duration is negative";
  for (const Durative::Bound& bound : action.durative->bounds) {
    const std::optional<Rational> wanted = value(bound.value, scope, facts);
    const std::optional<std::int64_t> units = wanted ? in_units(*wanted) : std::nullopt;
    const bool beyond = wanted && !units && *wanted > Rational(0);  // more than can be counted
    if (beyond && bound.comparison == Comparison::kAtMost) continue;
    if (!units) {
      problem = "its duration has no value";
      return std::nullopt;
    }
    const bool too_short = bound.comparison != Comparison::kAtMost && given.duration < *units - kTolerance;
    const bool too_long = bound.comparison != Comparison::kAtLeast && given.duration > *units + kTolerance;
    if (too_short || too_long) {
      const char* const which = bound.comparison == Comparison::kEqual     ? ""
                                : bound.comparison == Comparison::kAtLeast ? "at least "
                                                                           : "at most ";
      problem = str_cat("it takes ", which, wanted->text(), ", not ", time_text(given.duration));
      return std::nullopt;
    }
    const bool outside = (bound.comparison == Comparison::kAtLeast && given.duration < *units) ||
                         (bound.comparison == Comparison::kAtMost && given.duration > *units);
    if (bound.comparison == Comparison::kEqual) taken = wanted;
    if (given.duration == *units || outside) nearest = wanted;
  }
  if (taken) return taken;
  return nearest ? nearest : divide(Rational(given.duration), Rational(kTimeUnit));
}

Validation LiftedInterpreter::validate_schedule(std::span<const TimedStep> schedule, const Stop& stop,
                                                std::size_t bytes) const {
  internal::Meter meter(stop, {.bytes = bytes});
  Validation result;
  const auto refuse = [&](std::size_t step, const std::string& problem) {
    result.problem = problem;
    result.reason = str_cat("step ", step + 1, ' ', metactrl::to_string(schedule[step].step), ": ", problem);
    return result;
  };
  std::vector<Happening> happenings;
  std::vector<Instance> instances;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    std::string problem;
    const std::optional<Instance> instance = resolve(schedule[i].step, problem);
    if (!instance) return refuse(i, problem);
    const std::string missing = missing_cost(*instance);
    if (!missing.empty()) return refuse(i, str_cat("its cost ", missing, " has no value in the initial state"));
    instances.push_back(*instance);
    happenings.push_back({schedule[i].start, i, *instance, false});
    if (ast_->actions[instance->action].durative) {
      if (!schedule[i].takes_time) return refuse(i, "it takes time, and has no duration here");
      happenings.push_back({schedule[i].start + schedule[i].duration, i, *instance, true});
    }
  }
  std::stable_sort(happenings.begin(), happenings.end(),
                   [](const Happening& a, const Happening& b) { return a.time < b.time; });
  Facts facts = initial(meter);
  std::vector<Trajectory> trajectories = start_trajectories(meter);
  std::vector<Wish> wishes = start_wishes(meter);
  std::vector<std::int64_t> looked_at;
  const auto look = [&](std::int64_t time) {
    looked_at.push_back(time);
    const FactView view(facts);
    record(view, trajectories, meter);
    record(view, wishes, meter);
  };
  look(0);
  std::vector<bool> running(schedule.size(), false);
  std::vector<std::optional<Rational>> durations(schedule.size());
  const std::vector<TimedFact>& timed = ast_->timed;
  for (std::size_t first = 0, passed = 0; first < happenings.size() || passed < timed.size();) {
    const bool by_itself =
        passed < timed.size() && (first == happenings.size() || timed[passed].time <= happenings[first].time);
    const std::int64_t time = by_itself ? timed[passed].time : happenings[first].time;
    std::size_t last = first;
    while (last < happenings.size() && happenings[last].time == time) ++last;
    const std::span<Happening> now(happenings.data() + first, last - first);
    std::size_t passing = passed;
    while (passing < timed.size() && timed[passing].time == time) ++passing;
    for (Happening& happening : now) {
      std::string problem;
      if (!happening.is_end && ast_->actions[happening.instance.action].durative)
        durations[happening.step] =
            duration_given(schedule[happening.step], happening.instance, FactView(facts), meter, problem);
      if (durations[happening.step]) happening.duration = &*durations[happening.step];
      const std::string unmet = point_problem(happening, facts, meter);
      if (!unmet.empty()) problem = unmet;
      if (!problem.empty()) return refuse(happening.step, problem);
    }
    std::vector<Footprint> footprints;
    if (now.size() > 1 || passing > passed) {
      for (const Happening& happening : now) footprints.push_back(footprint(happening, meter));
    }
    Footprint changing;
    for (std::size_t i = passed; i < passing; ++i)
      changing.writes.insert(Fact{timed[i].atom.predicate, timed[i].atom.arguments});
    for (std::size_t i = 0; i < footprints.size() && passing > passed; ++i) {
      const std::string what = conflict(changing, footprints[i]);
      if (what.empty()) continue;
      return refuse(now[i].step, str_cat(now[i].is_end ? "its end" : "its start", " coincides with ", what,
                                         ", which changes by itself at ", time_text(time)));
    }
    for (std::size_t i = 0; i < footprints.size(); ++i) {
      for (std::size_t j = i + 1; j < footprints.size(); ++j) {
        const std::string what = conflict(footprints[i], footprints[j]);
        if (what.empty()) continue;
        return refuse(
            now[j].step,
            str_cat(now[j].is_end ? "its end" : "its start", " coincides with the ", now[i].is_end ? "end" : "start",
                    " of ", metactrl::to_string(schedule[now[i].step].step), ", and both concern ", what));
      }
    }
    for (const Happening& happening : now) {
      happen(facts, happening.instance, happening.effects(*ast_), happening.numeric_effects(*ast_), meter,
             happening.duration);
      running[happening.step] = !happening.is_end && ast_->actions[happening.instance.action].durative.has_value();
    }
    pass(facts, passed, passing, meter);
    passed = passing;
    if (watched_) look(time);
    const FactView view(facts);
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      if (!running[i]) continue;
      const std::string text =
          violation(ast_->actions[instances[i].action].durative->over_all, instances[i], view, meter);
      if (text.empty()) continue;
      return refuse(i, str_cat("condition over all ", text, " at ", time_text(time)));
    }
    first = last;
  }
  result.steps_executed = schedule.size();
  for (std::size_t i = 0; i < instances.size(); ++i)
    result.cost += cost(instances[i], durations[i] ? &*durations[i] : nullptr);
  look(makespan(schedule));
  std::vector<Instance> in_order;  // in which they begin
  for (const Happening& happening : happenings) {
    if (!happening.is_end) in_order.push_back(happening.instance);
  }
  result.preferences = judged(wishes, in_order);
  judge_end(FactView(facts), trajectories, in_order, meter, result);
  for (const Trajectory& trajectory : trajectories) {
    const std::optional<std::size_t> state = broken_at(trajectory);
    if (!state) continue;
    result.reason =
        str_cat("the constraint ", trajectory_text(trajectory), " is broken at ", time_text(looked_at[*state]));
    break;
  }
  return result;
}

std::optional<double> LiftedInterpreter::timed_metric(std::span<const TimedStep> schedule,
                                                      const Validation& validation) const {
  if (!ast_->time_in_metric || !validation.valid) return std::nullopt;
  const TimeInMetric& time = *ast_->time_in_metric;
  std::int64_t beyond = makespan(schedule);
  for (const TimedStep& step : schedule) beyond -= step.duration;
  double sum =
      validation.cost + time.constant + time.factor * static_cast<double>(beyond) / static_cast<double>(kTimeUnit);
  for (const Validation::Preference& preference : validation.preferences) {
    if (!preference.satisfied) sum += preference.weight;
  }
  return time.sign * sum;
}

}  // namespace metactrl::pddl
