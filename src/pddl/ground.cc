// Grounding, in four steps: relaxed reachability (reach.cc) gives the atoms and actions that can matter; atoms of
// predicates that change are numbered as facts; each action's condition and effects are translated (ground_formula.cc);
// then axioms, goal and trajectory constraints. What reachability leaves in by ignoring negation, task/simplify.cc
// takes out afterwards.
//
// Effects on all objects, "leaving the table, the robot is no longer near anything", are most of the work in household
// domains: an action has one for each object. The part of the condition that is the same for all objects is translated
// once per action, and objects for which the rest is the same, too, share an effect. What does not depend on the action
// at all (all that can be near) is worked out once per schema.
#include "pddl/ground.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "metactrl/domain.h"
#include "pddl/ground_durations.h"
#include "pddl/ground_formula.h"
#include "pddl/ground_hosts.h"
#include "pddl/ground_preferences.h"
#include "pddl/ground_timed.h"
#include "pddl/ground_trajectories.h"
#include "pddl/hosts.h"
#include "pddl/number_limits.h"
#include "pddl/number_reach.h"
#include "pddl/points.h"
#include "pddl/reach.h"
#include "pddl/strata.h"
#include "support/lexicographic.h"
#include "support/str_cat.h"
#include "task/remembers.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using task::Formula;

class Grounder {
 public:
  Grounder(const Ast& ast, const GroundLimits& limits, internal::Meter& meter)
      : ast_(ast),
        timeless_(ast.has_durations ? std::make_unique<const Ast>(without_time(ast)) : nullptr),
        meter_(meter),
        ranges_(ast),
        reachable_(reach_or_throw(limits)),
        noted_(ast.files[1]),
        others_(ast),
        builder_(reachable_, ranges_, fact_of_atom_, meter) {}

  task::Definition run() {
    result_.name = ast_.problem_name;
    for (const Object& object : ast_.objects) result_.objects.push_back(object.name);
    for (const Predicate& predicate : ast_.predicates) result_.predicate_names.push_back(predicate.name);
    for (const Action& action : ast_.actions) result_.action_names.push_back({action.name, action.num_parameters});
    result_.has_costs = ast_.has_metric || std::any_of(ast_.actions.begin(), ast_.actions.end(),
                                                       [](const Action& action) { return !action.costs.empty(); });
    result_.has_metric = ast_.has_metric;
    for (const FunctionValue& value : ast_.init_values) values_[{value.function, value.arguments}] = value.value;
    number_facts();
    if (ast_.has_numbers) find_numbers();
    if (!ast_.timed.empty()) find_times();
    if (ast_.has_hosts) {
      hosts_.emplace(meter_);
      points_.emplace(ast_, meter_);
    }
    GroundPreferences preferences(ast_, builder_, anything_, noted_, result_, meter_);
    if (ast_.has_durations) {
      watch_constraints();
      preferences.find(&lookout_);
    }
    ground_actions();
    ground_axioms();
    ground_goal();
    for (const Constraint& constraint : ast_.constraints) ground_constraint(constraint);
    finish_watched();
    if (!ast_.has_durations) preferences.find(nullptr);
    preferences.take_notes([this](const std::vector<ActionPattern>& step, const Binding& binding) {
      return matching_actions(step, binding);
    });
    if (clock_ || hosts_) judge_in_the_end();
    result_.other_durations = others_.texts();
    if (others_.any()) result_.cut_depth = 0;
    return std::move(result_);
  }

  void report(Diagnostics& warnings) const {
    for (const auto& [place, missing] : missing_costs_) {
      const Action& action = ast_.actions[place.first];
      const std::string more = missing.count > 1 ? str_cat(" (and ", missing.count - 1, " more like it)") : "";
      warnings.warning({ast_.files[0], action.where.line, action.where.column},
                       str_cat("the cost of ", missing.action, " needs ", missing.value, ", which has no value", more),
                       str_cat("such an action cannot be taken; to allow it, add (= ", missing.value,
                               " NUMBER) to the problem's (:init ...)"));
    }
  }

 private:
  Reachable reach_or_throw(const GroundLimits& limits) {
    try {
      return reach(timeless(), ranges_, limits.max_actions, limits.max_atoms, meter_);
    } catch (const GroundingLimit& limit) {
      throw TaskTooLarge(ast_.files[1], limit.what(),
                         "use fewer objects, or types and static preconditions that exclude more");
    }
  }

  void number_facts() {
    const IdVector<PredicateId, std::int32_t> layers = strata(ast_);
    fact_of_atom_.assign(reachable_.atoms.size(), FormulaBuilder::kNoFact);
    result_.facts.reserve(reachable_.atoms.size());
    result_.fact_layer.reserve(reachable_.atoms.size());
    for (const AtomId id : reachable_.atoms.all()) {
      const PredicateId predicate = reachable_.atoms.name(id);
      if (reachable_.is_static[predicate]) continue;
      fact_of_atom_[id] = result_.facts.next_id();
      const std::span<const ObjectId> arguments = reachable_.atoms.arguments(id);
      result_.facts.push_back({predicate, {arguments.begin(), arguments.end()}});
      result_.fact_layer.push_back(layers[predicate]);
    }
    result_.init.assign(result_.facts.size(), false);
    for (const GroundAtom& atom : ast_.init) {
      const task::FactId fact = fact_of_atom_[*reachable_.atoms.find(atom.predicate, atom.arguments)];
      if (fact != FormulaBuilder::kNoFact) result_.init[fact] = true;
    }
  }

  void find_numbers() {
    numbers_.emplace(timeless(), meter_);
    const InstanceTable& actions = reachable_.actions;
    NumberLimits limits(timeless(), reachable_);
    for (const InstanceId id : actions.all()) {
      const Action& action = ast_.actions[actions.name(id)];
      Binding binding(action.variables.size(), kUnbound);
      std::ranges::copy(actions.arguments(id), binding.begin());
      ChangeMap changed = start_changes(action, binding, false);
      ChangeMap later = end_changes(action, binding, false);
      ChangeMap all = changed;
      for (const auto& [target, changes] : later) {
        std::vector<GroundChange>& list = all[target];
        list.insert(list.end(), changes.begin(), changes.end());
        // What it is in between is not bounded by what it is before and afterwards.
        if (changed.contains(target)) list.back().conditional = true;
      }
      limits.add(timeless().actions[actions.name(id)], binding, all);
      for (auto& [target, changes] : changed) numbers_->announce(id, std::move(changes), std::move(later[target]));
      for (auto& [target, changes] : later) numbers_->announce(id, std::move(changes));
    }
    // Limits are of points that follow each other; a host's end comes later.
    if (!ast_.has_hosts) limits.apply(*numbers_);
    numbers_->close();
    numbers_->add_facts(result_);
    builder_.use(*numbers_);
  }

  // What happens by itself, and when actions can begin.
  void find_times() {
    clock_.emplace(ground_events(ast_, reachable_, fact_of_atom_), ast_.tick, lookout_, noted_, meter_);
    const InstanceTable& actions = reachable_.actions;
    for (const InstanceId id : actions.all()) {
      const Action& action = ast_.actions[actions.name(id)];
      Binding binding(action.variables.size(), kUnbound);
      std::ranges::copy(actions.arguments(id), binding.begin());
      if (const std::optional<std::int64_t> units = duration(action, binding)) clock_->announce(*units);
    }
    const std::size_t times = clock_->add_facts(result_);
    result_.times = times;
    result_.tick = ast_.tick;
    if (times * actions.size() > kMaxTimedActions) {
      throw TaskTooLarge(
          ast_.files[1],
          str_cat("timed initial literals and deadlines: ", actions.size(), " actions can begin at ", times, " times"),
          "use fewer objects, or no deadlines, or timed literals that are over sooner");
    }
  }

  // In the units of schedules; nothing when it has no value, or one that cannot be counted.
  std::optional<std::int64_t> duration(const Action& action, const Binding& binding) {
    if (!action.durative) return 0;
    const Expression& expression = action.durative->duration;
    std::optional<Rational> exact = expression.number;
    if (expression.kind != Expression::Kind::kNumber) exact = numbers_->ground(expression, binding).number;
    return exact ? duration_units(*exact) : std::nullopt;
  }

  void judge_in_the_end() {
    const auto in_the_end = [this](const Formula& condition) {
      return clock_ ? clock_->in_the_end(condition) : hosts_->in_the_end(condition);
    };
    if (hosts_ && hosts_->may_not_end() && result_.goals.empty())
      result_.goals.push_back({Formula::constant(true), "what has begun can end"});
    for (task::GoalDefinition& goal : result_.goals) goal.condition = in_the_end(goal.condition);
    for (task::PreferenceDefinition& wish : result_.preferences) wish.condition = in_the_end(wish.condition);
  }

  using ChangeMap = std::map<NumberId, std::vector<GroundChange>>;

  ChangeMap start_changes(const Action& action, Binding& binding, bool known) {
    std::vector<GroundComparison> guards;
    numbers_->guards(action.precondition, binding, guards);
    return ground_changes(action.variables, action.numeric_effects, guards, binding, known);
  }

  // Of a durative action, at its end. What its start asks for of other numbers than it changes holds then, too.
  ChangeMap end_changes(const Action& action, Binding& binding, bool known) {
    if (!action.durative || action.durative->end_numeric_effects.empty()) return {};
    std::vector<GroundComparison> guards;
    numbers_->guards(action.precondition, binding, guards);
    std::set<NumberId> changed;
    for (const auto& [target, changes] : start_changes(action, binding, false)) changed.insert(target);
    std::erase_if(guards, [&](const GroundComparison& guard) { return NumberTable::reads(guard, changed); });
    numbers_->guards(action.durative->over_all, binding, guards);
    numbers_->guards(action.durative->at_end, binding, guards);
    return ground_changes(action.variables, action.durative->end_numeric_effects, guards, binding, known);
  }

  // What an instance does to numbers, by number. `known`: comparisons have formulas by now, and with them the effects'
  // conditions.
  ChangeMap ground_changes(const VariableTable& variables, const std::vector<NumericEffect>& effects,
                           const std::vector<GroundComparison>& guards, Binding& binding, bool known) {
    ChangeMap result;
    const auto add = [&](const NumericEffect& effect) {
      GroundChange change;
      change.change = effect.change;
      change.conditional = effect.when.kind != Condition::Kind::kTrue;
      change.when = Formula::constant(true);
      if (known) {
        change.when = builder_.build(variables, effect.when, binding);
        if (change.when.is_false()) return;
        change.conditional = !change.when.is_true();
      }
      std::vector<ObjectId> arguments;
      for (const Term& term : effect.arguments) arguments.push_back(term.under(binding));
      change.target = numbers_->number(effect.function, std::move(arguments));
      change.amount = numbers_->ground(effect.amount, binding);
      change.guards = guards;
      numbers_->guards(effect.when, binding, change.guards);
      result[change.target].push_back(std::move(change));
    };
    for (const NumericEffect& effect : effects) {
      if (effect.forall.empty()) {
        add(effect);
        continue;
      }
      for (const std::vector<ObjectId>& objects :
           builder_.bindings(variables, effect.forall, effect.when, false, nullptr, binding)) {
        for (std::size_t i = 0; i < objects.size(); ++i) binding[effect.forall[i]] = objects[i];
        add(effect);
        for (const VariableId variable : effect.forall) binding[variable] = kUnbound;
      }
    }
    return result;
  }

  // By name and then by objects.
  std::vector<InstanceId> in_order(const InstanceTable& actions) const {
    IdVector<ActionNameId, std::vector<InstanceId>> by_name(ast_.actions.size());
    for (const InstanceId id : actions.all()) by_name[actions.name(id)].push_back(id);
    std::vector<InstanceId> order;
    order.reserve(actions.size());
    for (const std::vector<InstanceId>& some : by_name) {
      for (const std::uint32_t i : internal::lexicographic_order(
               some.size(), ast_.objects.size(), [&](std::uint32_t i) { return actions.arguments(some[i]); })) {
        order.push_back(some[i]);
      }
    }
    return order;
  }

  void ground_actions() {
    const InstanceTable& actions = reachable_.actions;
    result_.actions.reserve(sizes(actions));
    Binding binding;
    task::ActionDefinition ground;  // the one at hand; all of them use its memory
    for (const InstanceId id : in_order(actions)) {
      const Action& action = ast_.actions[actions.name(id)];
      const std::span<const ObjectId> arguments = actions.arguments(id);
      binding.assign(action.variables.size(), kUnbound);
      std::copy(arguments.begin(), arguments.end(), binding.begin());
      if (action.durative || clock_ || hosts_ || !lookout_.empty()) {
        ground.precondition = builder_.build(action.variables, action.precondition, binding);
      } else {
        builder_.build_precondition(action.variables, action.precondition, binding, ground.precondition);
      }
      if (ground.precondition.is_false()) continue;
      others_.note(actions.name(id));
      ground.symbol.name = actions.name(id);
      ground.symbol.arguments.assign(arguments.begin(), arguments.end());
      const std::optional<double> known_cost = cost(ground.symbol, binding);
      if (!known_cost) continue;
      ground.cost = *known_cost;
      ground_effects(action, action.effects, binding, ground.effects);
      if (!action.numeric_effects.empty()) {
        for (auto& [target, changes] : start_changes(action, binding, true))
          numbers_->add_effects(std::move(changes), ground.effects, ground.precondition);
        if (ground.precondition.is_false()) continue;
      }
      if (hosts_) {
        add_guest(action, id, binding, ground);
        continue;
      }
      if (action.durative || clock_ || !lookout_.empty()) {
        std::optional<GroundPoint> whole =
            ground_whole(action, binding, {std::move(ground.precondition), std::move(ground.effects)});
        if (!whole || whole->condition.is_false()) continue;
        if (!clock_) noted_.take(whole->effects);
        ground.precondition = std::move(whole->condition);
        ground.effects = std::move(whole->effects);
      }
      result_.actions.push_back(ground);
    }
    if (hosts_) ground_guests();
  }

  // An action of a task in which some run inside others: what it means is known when all hosts are.
  void add_guest(const Action& action, InstanceId id, Binding& binding, task::ActionDefinition ground) {
    Candidate candidate{std::move(ground), {}, {}, {}};
    GroundRun& run = candidate.run;
    run = {{std::move(candidate.action.precondition), std::move(candidate.action.effects)},
           action.durative.has_value(),
           Formula::constant(true),
           {Formula::constant(true), {}},
           0};
    GroundHosts::Guest& guest = candidate.guest;
    guest.fits = !action.durative || action.durative->fixed;
    if (action.durative) {
      run.over_all = builder_.build(action.variables, action.durative->over_all, binding);
      run.end = ground_end(action, binding);
      const std::optional<std::int64_t> units = guest.fits ? duration(action, binding) : 0;
      if (!units || run.over_all.is_false()) return;
      run.duration = *units;
    }
    candidate.points = points_->read(reachable_.actions.name(id), reachable_.actions.arguments(id));
    if (action.durative && action.durative->hosts) {
      guest.host = hosts_->announce(action.name, candidate.action.symbol.arguments, run);
      others_.note_host(action, candidate.action.symbol.arguments, run.duration);
      host_points_.push_back(candidate.points);
    } else if (guest.fits) {
      hosts_->announce(run.duration);
    }
    candidates_.push_back(std::move(candidate));
  }

  void ground_guests() {
    hosts_->add_facts(result_);
    result_.hosts = hosts_->size();
    result_.hosts_at_once = hosts_->num_places();
    for (Candidate& candidate : candidates_) {
      for (const PlanPoints& host : host_points_) {
        meter_.piece();
        candidate.guest.touches.push_back(touches_host(candidate.points, host));
      }
      GroundPoint whole = hosts_->among_hosts(candidate.run, candidate.guest);
      if (whole.condition.is_false()) continue;
      candidate.action.precondition = std::move(whole.condition);
      candidate.action.effects = std::move(whole.effects);
      result_.actions.push_back(candidate.action);
    }
    candidates_.clear();
  }

  // What all of them take where there are neither quantifiers nor disjunctions.
  task::ActionTable::Sizes sizes(const InstanceTable& actions) const {
    IdVector<ActionNameId, std::size_t> instances(ast_.actions.size(), 0);
    for (const InstanceId id : actions.all()) ++instances[actions.name(id)];
    task::ActionTable::Sizes result;
    result.actions = actions.size();
    result.effects = actions.size();
    for (const ActionNameId name : ast_.actions.all()) {
      const Action& action = ast_.actions[name];
      const auto plain =
          std::ranges::count_if(action.effects, [](const Effect& effect) { return effect.forall.empty(); });
      result.arguments += instances[name] * action.num_parameters;
      result.literals += instances[name] * num_literals(action.precondition);
      result.facts += instances[name] * static_cast<std::size_t>(plain);
    }
    return result;
  }

  std::size_t num_literals(const Condition& condition) const {
    if (condition.kind == Condition::Kind::kAtom) return reachable_.is_static[condition.atom.predicate] ? 0 : 1;
    if (condition.kind != Condition::Kind::kAnd && condition.kind != Condition::Kind::kNot) return 0;
    std::size_t result = 0;
    for (const Condition& child : condition.children) result += num_literals(child);
    return result;
  }

  // From its start to its end, as one point.
  std::optional<GroundPoint> ground_whole(const Action& action, Binding& binding, GroundPoint start) {
    GroundRun run{std::move(start), action.durative.has_value(), Formula::constant(true), {}, 0};
    if (action.durative) {
      run.over_all = builder_.build(action.variables, action.durative->over_all, binding);
      run.end = ground_end(action, binding);
    }
    if (!clock_) {
      run.end.condition = task::make_and({std::move(run.over_all), std::move(run.end.condition)});
      const bool at_once = action.durative && !lookout_.empty() && duration(action, binding) == 0;
      if (at_once) run.start = one_after_the_other(std::move(run.start), std::move(run.end));
      if (!lookout_.empty()) run.start = lookout_.then({}, std::move(run.start));
      if (!action.durative || at_once) return std::move(run.start);
      return lookout_.then(std::move(run.start), std::move(run.end));
    }
    const std::optional<std::int64_t> units = duration(action, binding);
    if (!units) return std::nullopt;
    run.duration = *units;
    return clock_->at_all_times(run);
  }

  // What is asked for at the end, and what happens then.
  GroundPoint ground_end(const Action& action, Binding& binding) {
    GroundPoint end;
    end.condition = builder_.build(action.variables, action.durative->at_end, binding);
    if (end.condition.is_false()) return end;
    ground_effects(action, action.durative->end_effects, binding, end.effects);
    for (auto& [target, changes] : end_changes(action, binding, true))
      numbers_->add_effects(std::move(changes), end.effects, end.condition);
    return end;
  }

  // Into the memory of others.
  void ground_effects(const Action& action, const std::vector<Effect>& effects, Binding& binding,
                      std::vector<task::EffectDefinition>& result) {
    result.resize(1);
    result[0].when = Formula::constant(true);
    result[0].add.clear();
    result[0].del.clear();
    const auto under = [&result](Formula when) -> task::EffectDefinition& {
      if (when.is_true()) return result[0];
      result.emplace_back().when = std::move(when);
      return result.back();
    };
    for (const Effect& effect : effects) {
      if (!effect.forall.empty()) {
        ground_forall(action, effect, binding, under);
        continue;
      }
      const task::FactId fact = builder_.fact(effect.atom, binding);
      if (fact == FormulaBuilder::kNoFact) continue;  // deletes what can never be true
      if (effect.when.kind == Condition::Kind::kTrue) {
        meter_.piece();
        facts_of(result[0], effect).push_back(fact);
        continue;
      }
      Formula when = builder_.build(action.variables, effect.when, binding);
      if (!when.is_false()) facts_of(under(std::move(when)), effect).push_back(fact);
    }
    if (result[0].add.empty() && result[0].del.empty()) result.erase(result.begin());
  }

  // Facts that a quantified effect changes under the same instance of its condition.
  struct Shared {
    Formula varying;
    std::vector<task::FactId> facts;
  };
  // A quantified effect. Its condition is split by whether the parts mention the quantified variables.
  struct ForallEffect {
    Condition fixed;
    Condition varying;
    bool closed = false;                           // neither `varying` nor the atom mentions a parameter of the action
    std::optional<std::vector<Shared>> instances;  // of a closed one
  };

  // `under(when)` is a ground effect with this condition.
  template <typename Under>
  void ground_forall(const Action& action, const Effect& effect, Binding& binding, const Under& under) {
    ForallEffect& split = split_condition(action, effect);
    const Formula fixed = builder_.build(action.variables, split.fixed, binding);
    if (fixed.is_false()) return;
    const auto add = [&](const std::vector<Shared>& instances) {
      for (const Shared& shared : instances) {
        std::vector<task::FactId>& facts = facts_of(under(task::make_and({fixed, shared.varying})), effect);
        for (const task::FactId fact : shared.facts) {
          meter_.piece();
          facts.push_back(fact);
        }
      }
    };
    if (!split.closed) return add(instances(action, effect, split.varying, binding));
    if (!split.instances) split.instances = instances(action, effect, split.varying, binding);
    add(*split.instances);
  }

  std::vector<Shared> instances(const Action& action, const Effect& effect, const Condition& when, Binding& binding) {
    std::vector<Shared> result;
    for (const std::vector<ObjectId>& objects :
         builder_.bindings(action.variables, effect.forall, when, false, &effect.atom, binding)) {
      for (std::size_t i = 0; i < objects.size(); ++i) binding[effect.forall[i]] = objects[i];
      const task::FactId fact = builder_.fact(effect.atom, binding);
      Formula varying = Formula::constant(false);
      if (fact != FormulaBuilder::kNoFact) varying = builder_.build(action.variables, when, binding);
      if (!varying.is_false()) {
        if (result.empty() || result.back().varying != varying) result.push_back({std::move(varying), {}});
        result.back().facts.push_back(fact);
      }
      for (VariableId variable : effect.forall) binding[variable] = kUnbound;
    }
    return result;
  }

  static std::vector<task::FactId>& facts_of(task::EffectDefinition& ground, const Effect& effect) {
    return effect.add ? ground.add : ground.del;
  }

  ForallEffect& split_condition(const Action& action, const Effect& effect) {
    const auto [entry, is_new] = forall_effects_.try_emplace(&effect);
    ForallEffect& result = entry->second;
    if (!is_new) return result;
    const auto quantified = [&](VariableId variable) {
      return std::find(effect.forall.begin(), effect.forall.end(), variable) != effect.forall.end();
    };
    const auto take = [&](const Condition& part) {
      Condition& side = mentions(part, quantified) ? result.varying : result.fixed;
      side.kind = Condition::Kind::kAnd;
      side.children.push_back(part);
    };
    if (effect.when.kind == Condition::Kind::kAnd) {
      for (const Condition& part : effect.when.children) take(part);
    } else {
      take(effect.when);
    }
    const auto parameter = [&](VariableId variable) { return index(variable) < action.num_parameters; };
    result.closed = !mentions(result.varying, parameter) && !mentions(effect.atom.arguments, parameter);
    return result;
  }

  template <typename Which>
  static bool mentions(const std::vector<Term>& terms, const Which& which) {
    return std::any_of(terms.begin(), terms.end(),
                       [&](const Term& term) { return term.is_variable() && which(term.variable()); });
  }
  template <typename Which>
  static bool mentions(const Expression& expression, const Which& which) {
    return mentions(expression.arguments, which) ||
           std::any_of(expression.children.begin(), expression.children.end(),
                       [&](const Expression& child) { return mentions(child, which); });
  }
  template <typename Which>
  static bool mentions(const Condition& condition, const Which& which) {
    return mentions(condition.atom.arguments, which) || mentions(condition.terms, which) ||
           std::any_of(condition.sides.begin(), condition.sides.end(),
                       [&](const Expression& side) { return mentions(side, which); }) ||
           std::any_of(condition.children.begin(), condition.children.end(),
                       [&](const Condition& child) { return mentions(child, which); });
  }

  // Nothing when a function has no value for these arguments.
  std::optional<double> cost(const task::ActionSymbol& action, const Binding& binding) {
    if (!result_.has_costs) return 1;
    if (const auto& expression = ast_.actions[action.name].metric_cost) {
      return value_at_start(*expression, binding, values_);
    }
    double sum = 0;
    for (const CostTerm& term : ast_.actions[action.name].costs) {
      sum += term.constant;
      if (!term.function) continue;
      std::vector<ObjectId> arguments;
      for (const Term& t : term.arguments) arguments.push_back(t.under(binding));
      const auto value = values_.find({*term.function, arguments});
      if (value != values_.end()) {
        sum += value->second;
        continue;
      }
      MissingCost& missing = missing_costs_[{action.name, *term.function}];
      if (missing.count++ == 0) {
        missing.action = named(ast_.actions[action.name].name, action.arguments);
        missing.value = named(ast_.functions[*term.function].name, arguments);
      }
      return std::nullopt;
    }
    return sum;
  }

  // "(distance a b)"
  std::string named(const std::string& name, const std::vector<ObjectId>& arguments) const {
    std::string text = "(" + name;
    for (const ObjectId object : arguments) text += " " + ast_.objects[object].name;
    return text + ")";
  }

  void ground_axioms() {
    for (const Axiom& axiom : ast_.axioms) {
      for (const AtomId id : reachable_.index.with_predicate(axiom.head)) {
        const std::span<const ObjectId> arguments = reachable_.atoms.arguments(id);
        Binding binding(axiom.variables.size(), kUnbound);
        bool fits = true;
        for (const VariableId p : ids<VariableId>(arguments.size())) {
          fits = fits && ranges_.of(axiom.variables[p]).contains[arguments[index(p)]];
          binding[p] = arguments[index(p)];
        }
        if (!fits) continue;
        Formula body = builder_.build(axiom.variables, axiom.body, binding);
        if (!body.is_false()) result_.axioms.push_back({fact_of_atom_[id], std::move(body)});
      }
    }
  }

  void ground_goal() {
    std::optional<NumberReach> reach;
    if ((others_.any() || !result_.cut.empty()) && numbers_ && others_.within_intervals())
      reach.emplace(timeless(), reachable_, ranges_, *numbers_, meter_);
    add_goals(ast_.goal.condition, reach);
  }

  void add_goals(const Condition& condition, std::optional<NumberReach>& reach) {
    if (condition.kind == Condition::Kind::kAnd) {
      for (const Condition& child : condition.children) add_goals(child, reach);
      return;
    }
    if (condition.kind == Condition::Kind::kTrue) return;
    Binding binding(ast_.goal.variables.size(), kUnbound);
    result_.goals.push_back(
        {builder_.build(ast_.goal.variables, condition, binding), to_string(ast_, ast_.goal.variables, condition)});
    result_.goals.back().anyway = builder_.holds_anyway(ast_.goal.variables, condition, binding);
    if (reach) result_.goals.back().never = reach->excludes(ast_.goal.variables, condition, binding);
  }

  // Calls `visit(text)` for each binding of the variables around the constraint.
  template <typename Visit>
  void for_each_instance(const Constraint& constraint, Binding& binding, const Visit& visit) {
    for (const std::vector<ObjectId>& objects :
         builder_.bindings(constraint.variables, constraint.forall, anything_, false, nullptr, binding)) {
      std::string text = constraint.text;
      for (std::size_t i = 0; i < objects.size(); ++i) {
        binding[constraint.forall[i]] = objects[i];
        text += str_cat(i == 0 ? " with " : ", ", constraint.variables[constraint.forall[i]].name, " = ",
                        ast_.objects[objects[i]].name);
      }
      visit(std::move(text));
      for (VariableId variable : constraint.forall) binding[variable] = kUnbound;
    }
  }

  // Those about states, where there are more states than actions lead to: actions look at them.
  void watch_constraints() {
    for (const Constraint& constraint : ast_.constraints) {
      if (constraint.kind == Constraint::Kind::kActionsInOrder) continue;
      Binding binding(constraint.variables.size(), kUnbound);
      for_each_instance(constraint, binding, [&](std::string text) {
        const auto new_fact = [&](std::string_view what, bool at_start) {
          const task::FactId fact =
              add_remembered(result_, str_cat("constraint:", what, ':', watched_.size() + 1), at_start);
          noted_.announce(fact, text);
          return fact;
        };
        TrajectoryMemory memory =
            remember(constraint.kind, builder_.build(constraint.variables, constraint.first, binding),
                     builder_.build(constraint.variables, constraint.second, binding), result_, new_fact);
        watched_.push_back({memory.at_end, std::move(text), memory.for_good});
        lookout_.add(std::move(memory));
      });
    }
  }

  // What is broken for good forbids the step. What can happen by itself can break it behind the last one.
  void finish_watched() {
    for (Watched& watched : watched_) {
      if (watched.for_good) {
        task::MonitorDefinition monitor;
        monitor.kind = task::MonitorDefinition::Kind::kAlways;
        monitor.first = watched.at_end;
        monitor.text = watched.text;
        result_.monitors.push_back(std::move(monitor));
      }
      if (!watched.for_good || clock_) result_.goals.push_back({std::move(watched.at_end), std::move(watched.text)});
    }
  }

  void ground_constraint(const Constraint& constraint) {
    if (ast_.has_durations && constraint.kind != Constraint::Kind::kActionsInOrder) return;  // watched
    Binding binding(constraint.variables.size(), kUnbound);
    for_each_instance(constraint, binding, [&](std::string text) {
      task::MonitorDefinition monitor;
      monitor.text = std::move(text);
      monitor.kind = static_cast<task::MonitorDefinition::Kind>(constraint.kind);
      monitor.first = builder_.build(constraint.variables, constraint.first, binding);
      monitor.second = builder_.build(constraint.variables, constraint.second, binding);
      for (const std::vector<ActionPattern>& step : constraint.steps) {
        monitor.steps.push_back(matching_actions(step, binding));
      }
      result_.monitors.push_back(std::move(monitor));
    });
  }

  std::vector<ActionId> matching_actions(const std::vector<ActionPattern>& patterns, const Binding& binding) {
    const auto matches = [&](ActionId action, const ActionPattern& pattern) {
      const ActionNameId name = result_.actions.name(action);
      if (name != pattern.action && ast_.actions[name].written != ast_.actions[pattern.action].name) return false;
      for (std::size_t p = 0; p < pattern.arguments.size(); ++p) {
        if (!pattern.arguments[p]) continue;
        if (result_.actions.arguments(action)[p] != pattern.arguments[p]->under(binding)) return false;
      }
      return true;
    };
    std::vector<ActionId> result;
    for (const ActionId a : result_.actions.all()) {
      if (std::any_of(patterns.begin(), patterns.end(),
                      [&](const ActionPattern& pattern) { return matches(a, pattern); })) {
        result.push_back(a);
      }
    }
    return result;
  }

  static constexpr std::size_t kMaxTimedActions = 5'000'000;

  // What reachability and the values of numbers are found in.
  const Ast& timeless() const { return timeless_ ? *timeless_ : ast_; }

  const Ast& ast_;
  const std::unique_ptr<const Ast> timeless_;  // where actions take time
  internal::Meter& meter_;
  RangeTable ranges_;
  Reachable reachable_;
  IdVector<AtomId, task::FactId> fact_of_atom_;
  std::optional<NumberTable> numbers_;
  // Where actions take time: trajectory constraints about states.
  struct Watched {
    Formula at_end;
    std::string text;
    bool for_good = false;
  };
  NoteCount noted_;
  OtherDurations others_;
  Lookout lookout_;
  std::vector<Watched> watched_;
  std::optional<GroundClock> clock_;  // where something happens by itself
  // Where actions run inside others.
  struct Candidate {
    task::ActionDefinition action;
    GroundRun run;
    GroundHosts::Guest guest;
    PlanPoints points;
  };
  std::optional<GroundHosts> hosts_;
  std::optional<PointReader> points_;
  std::vector<Candidate> candidates_;
  std::vector<PlanPoints> host_points_;
  FormulaBuilder builder_;
  std::unordered_map<const Effect*, ForallEffect> forall_effects_;
  const Condition anything_;  // kTrue: every binding of the quantified variables
  StartValues values_;
  // Actions that were left out, by name and function: how many, and the first.
  struct MissingCost {
    std::size_t count = 0;
    std::string action;
    std::string value;
  };
  std::map<std::pair<ActionNameId, FunctionId>, MissingCost> missing_costs_;
  task::Definition result_;
};

static_assert(static_cast<int>(Constraint::Kind::kAlways) == static_cast<int>(task::MonitorDefinition::Kind::kAlways));
static_assert(static_cast<int>(Constraint::Kind::kSometime) ==
              static_cast<int>(task::MonitorDefinition::Kind::kSometime));
static_assert(static_cast<int>(Constraint::Kind::kAtMostOnce) ==
              static_cast<int>(task::MonitorDefinition::Kind::kAtMostOnce));
static_assert(static_cast<int>(Constraint::Kind::kSometimeAfter) ==
              static_cast<int>(task::MonitorDefinition::Kind::kSometimeAfter));
static_assert(static_cast<int>(Constraint::Kind::kSometimeBefore) ==
              static_cast<int>(task::MonitorDefinition::Kind::kSometimeBefore));
static_assert(static_cast<int>(Constraint::Kind::kActionsInOrder) ==
              static_cast<int>(task::MonitorDefinition::Kind::kActionsInOrder));

}  // namespace

task::Definition ground(const Ast& ast, const GroundLimits& limits, internal::Meter& meter, Diagnostics* warnings) {
  Grounder grounder(ast, limits, meter);
  task::Definition definition = grounder.run();
  if (warnings != nullptr) grounder.report(*warnings);
  return definition;
}

task::Definition ground_or_forget_hosts(Ast& ast, const GroundLimits& limits, internal::Meter& meter,
                                        Diagnostics* warnings) {
  try {
    return ground(ast, limits, meter, warnings);
  } catch (const TooManyHosts&) {
    forget_hosts(ast, "too many would run inside each other");
    return ground(ast, limits, meter, warnings);
  }
}

}  // namespace metactrl::pddl
