// The reference meaning of PDDL: a plan is executed on the syntax tree itself.
//
// Nothing here knows of grounding, packed states or compiled conditions. A state is a set of ground atoms; conditions
// are evaluated by walking the tree with a binding; axioms are applied until nothing changes, stratum by stratum;
// trajectory constraints are judged from their definitions over the whole sequence of states. That makes it slow and
// easy to believe: it is what every faster implementation is compared with, and what explains to a person why a step is
// not legal.
//
//     metactrl::pddl::LiftedInterpreter interpreter(ast);
//     metactrl::Validation v = interpreter.validate(plan);
//     if (!v.valid) std::cerr << v.reason << '\n';
//
// prints, for example, "step 3 (putin cup dishwasher): precondition (open dishwasher) is false".
//
// Cost of a step: `forall`, `forn` and `forpairs` try all objects; `exists`, axioms and quantified effects try the
// facts that can make them true (interpret_solve.cc), so that scenes of a thousand objects can be judged.
//
// As an oracle for small tasks it also enumerates: `successors(initial())`.
//
// Nested quantifiers can cost more than anybody can wait for: every step is counted (support/meter.h), and how much is
// held for facts is told.
//
// Immutable after construction; all functions are const and may be called from many threads.
#ifndef METACTRL_SRC_PDDL_INTERPRET_H_
#define METACTRL_SRC_PDDL_INTERPRET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "metactrl/task.h"
#include "pddl/ast.h"
#include "support/meter.h"
#include "task/reference.h"

namespace metactrl::pddl {

// A ground atom: the predicate and its objects.
using Fact = task::FactSymbol;

struct FactHash {
  std::size_t operator()(const Fact& fact) const {
    std::uint64_t hash = mix(0xcbf29ce484222325U, index(fact.name));
    for (const ObjectId object : fact.arguments) hash = mix(hash, index(object));
    return static_cast<std::size_t>(hash);
  }
  static std::uint64_t mix(std::uint64_t hash, std::uint64_t part) {
    return (hash ^ part) * 0x9e3779b97f4a7c15U ^ (hash >> 29);
  }
};

// A function with its objects, whose value is a number.
using Fluent = task::Symbol<FunctionId>;

// An action with its arguments.
struct Instance {
  ActionNameId action{};
  std::vector<ObjectId> arguments;
  auto operator<=>(const Instance&) const = default;
};

// An action that has begun, inside which others run, and how many of its parts are left (Ast::has_hosts).
struct RunningHost {
  Instance instance;
  std::uint32_t left = 0;
  auto operator<=>(const RunningHost&) const = default;
};

// A state: the atoms that hold, derived ones included (all others are false), and the numbers that have a value.
struct Facts : std::unordered_set<Fact, FactHash> {
  using std::unordered_set<Fact, FactHash>::unordered_set;
  std::map<Fluent, Rational> values;
  // Where something happens by itself (Ast::timed): when the next action can begin.
  std::int64_t now = 0;
  std::vector<RunningHost> hosts;  // the outermost one first

  bool operator==(const Facts& other) const {
    return values == other.values && now == other.now && hosts == other.hosts &&
           static_cast<const std::unordered_set<Fact, FactHash>&>(*this) == other;
  }
};

// A state with an index by argument, which is made when it is first needed. Refers to the facts, does not own them.
class FactView {
 public:
  explicit FactView(const Facts& facts) : facts_(facts) {}

  bool contains(const Fact& fact) const { return facts_.contains(fact); }
  const std::map<Fluent, Rational>& values() const { return facts_.values; }
  // The facts with this predicate; with this predicate and this object at this position.
  const std::vector<const Fact*>& all(PredicateId predicate) const;
  const std::vector<const Fact*>& with(PredicateId predicate, std::size_t position, ObjectId object) const;
  // To be called for each fact that is inserted into the set behind the view.
  void added(const Fact& fact);

 private:
  struct Key {
    PredicateId predicate;
    std::uint32_t position;
    ObjectId object;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t hash = FactHash::mix(0xcbf29ce484222325U, index(key.predicate));
      return static_cast<std::size_t>(FactHash::mix(FactHash::mix(hash, key.position), index(key.object)));
    }
  };
  void build() const;
  void enter(const Fact& fact) const;

  const Facts& facts_;
  mutable bool built_ = false;
  mutable std::unordered_map<PredicateId, std::vector<const Fact*>> by_predicate_;
  mutable std::unordered_map<Key, std::vector<const Fact*>, KeyHash> by_object_;
};

class LiftedInterpreter : public task::ReferenceSemantics {
 public:
  // Throws InputError when a derived predicate depends on its own negation.
  explicit LiftedInterpreter(std::shared_ptr<const Ast> ast);

  using task::ReferenceSemantics::validate;
  Validation validate(std::span<const PlanStep> plan, const Stop& stop, std::size_t bytes) const override;
  std::vector<std::string> initial_facts() const override;
  bool has_durations() const override { return ast_->has_durations; }
  std::string which_plans() const override;
  std::optional<std::int64_t> fixed_duration(const PlanStep& step) const override;
  std::string written_name(const std::string& action) const override;
  // Those that the step may take to the same effect, whatever the state; nothing where that depends on the state.
  struct Durations {
    std::int64_t shortest = 0;
    std::int64_t longest = 0;
  };
  std::optional<Durations> fixed_durations(const PlanStep& step) const;
  Schedule with_durations(std::span<const PlanStep> plan, const Stop& stop) const override;
  Validation validate_schedule(std::span<const TimedStep> schedule, const Stop& stop, std::size_t bytes) const override;
  std::optional<double> timed_metric(std::span<const TimedStep> schedule, const Validation& validation) const override;
  // The same from another state, given with its derived facts (see `complete`).
  Validation validate(Facts facts, std::span<const PlanStep> plan, internal::Meter& meter = internal::no_meter()) const;
  // The step as an instance, or what is wrong with it.
  std::optional<Instance> resolve(const PlanStep& step, std::string& problem) const;
  // The facts with those that follow from them; derived ones that were among them are worked out anew.
  Facts complete(Facts facts, internal::Meter& meter = internal::no_meter()) const;
  const Ast& ast() const { return *ast_; }

  // --- as an oracle --------------------------------------------------------------------------------------------------
  Facts initial(internal::Meter& meter = internal::no_meter()) const;
  // Every type-correct instance of every action, by action, then arguments: as many as there are bindings.
  std::vector<Instance> instances() const;
  // Does the precondition hold, and has all that it reads a value? One that takes time is taken alone, from its start to
  // its end, here and in `apply`. Trajectory constraints are not looked at.
  bool applicable(const Facts& facts, const Instance& instance) const;
  Facts apply(const Facts& facts, const Instance& instance) const;
  // How long it takes when it begins there, as in metactrl/schedule.h; nothing for one that takes no time.
  std::optional<std::int64_t> time_taken(const Facts& facts, const Instance& instance) const;
  // All applicable instances with the states they lead to.
  std::vector<std::pair<Instance, Facts>> successors(const Facts& facts) const;
  // The goal condition; trajectory constraints are not looked at.
  bool goal_holds(const Facts& facts) const;
  // 1 when the task states no costs. A function without a value counts 0; such an instance is never applicable.
  // `duration`: that it takes, where that is not what plans give it.
  double cost(const Instance& instance, const Rational* duration = nullptr) const;
  PlanStep step(const Instance& instance) const;
  // The same under the name that the files have for it, as in schedules.
  PlanStep written_step(const Instance& instance) const;
  // The facts in ascending order: a key for maps, or text by way of fact_text.
  static std::vector<Fact> sorted(const Facts& facts);
  std::string fact_text(const Fact& fact) const;
  // "(battery r1)"
  std::string fluent_text(const Fluent& fluent) const;

 private:
  // Variables and what they stand for at the moment; an unbound one prints as its name.
  struct Scope {
    Scope(const VariableTable& table, internal::Meter& meter)
        : variables(table), binding(table.size(), kUnbound), meter(meter) {}
    const VariableTable& variables;
    Binding binding;
    internal::Meter& meter;
    const Rational* duration = nullptr;  // in the place of what plans give the action
  };
  // One trajectory constraint, one binding of its quantified variables, and where its conditions held so far.
  struct Trajectory {
    const Constraint* constraint = nullptr;
    Binding binding;
    std::vector<bool> first;
    std::vector<bool> second;
  };

  // The objects a variable ranges over.
  const std::vector<ObjectId>& range(const Variable& variable) const;
  bool in_range(ObjectId object, const Variable& variable) const;
  bool belongs(ObjectId object, const std::vector<TypeId>& types) const;
  // Binds `variables` in every possible way and calls `visit()`; stops when that returns false, and then leaves the
  // binding as it is, for messages. True when it never did.
  template <typename Visit>
  bool for_each_binding(Scope& scope, std::span<const VariableId> variables, const Visit& visit) const {
    if (variables.empty()) return visit();
    for (const ObjectId object : range(scope.variables[variables[0]])) {
      scope.meter.piece();
      scope.binding[variables[0]] = object;
      if (!for_each_binding(scope, variables.subspan(1), visit)) return false;
    }
    scope.binding[variables[0]] = kUnbound;
    return true;
  }
  static void unbind(Scope& scope, std::span<const VariableId> variables);

  Fact ground(const Scope& scope, const Atom& atom) const;
  bool holds(const Condition& condition, Scope& scope, const FactView& facts) const;
  // Extends the binding in every way that makes the condition true and calls `next()` each time, possibly more than
  // once for the same extension; variables the condition does not depend on stay unbound. Stops when `next` returns
  // false, and returns false then. The binding is afterwards what it was.
  using Next = std::function<bool()>;
  bool satisfy(const Condition& condition, Scope& scope, const FactView& facts, const Next& next) const;
  bool satisfy_atom(const Atom& atom, Scope& scope, const FactView& facts, const Next& next) const;
  bool satisfy_all(const std::vector<const Condition*>& conditions, Scope& scope, const FactView& facts,
                   const Next& next) const;
  // The same for those of `variables` that are left unbound: all their values are tried, too.
  bool for_each_solution(const Condition& condition, std::span<const VariableId> variables, Scope& scope,
                         const FactView& facts, const Next& next) const;
  // Tries all values of those of `variables` that are not bound.
  bool complete(std::span<const VariableId> variables, Scope& scope, const Next& next) const;
  std::size_t count_bindings(const Condition& condition, Scope& scope, const FactView& facts) const;
  std::size_t largest_matching(const Condition& condition, Scope& scope, const FactView& facts) const;
  // How many pairs a kMatching asks for.
  std::size_t pairs_wanted(const Condition& condition, const Scope& scope) const;

  // The precondition alone.
  bool applicable(const FactView& facts, const Instance& instance, internal::Meter& meter) const;

  // interpret_numbers.cc
  struct Changes {
    std::map<Fluent, Rational> values;
    std::string problem;  // why the action cannot be taken; empty when it can
  };
  // What these effects of the action make of the numbers.
  Changes changes(const FactView& facts, const Instance& instance, const std::vector<NumericEffect>& effects,
                  internal::Meter& meter, const Rational* duration = nullptr) const;
  void change(const NumericEffect& effect, const Scope& scope, const FactView& facts,
              std::map<Fluent, std::pair<std::size_t, bool>>& seen, Changes& result) const;
  std::optional<Rational> value(const Expression& expression, const Scope& scope, const FactView& facts) const;
  bool compare(const Condition& condition, const Scope& scope, const FactView& facts) const;
  void values_text(const Expression& expression, const Scope& scope, const FactView& facts, std::string& out) const;
  std::string text(const Expression& expression, const Scope& scope) const;

  void derive(Facts& facts, internal::Meter& meter) const;
  // From its start to its end.
  // `passed`, where it is given, gets the states in between: behind each point but the last.
  using States = std::vector<Facts>;
  void execute(Facts& facts, const Instance& instance, internal::Meter& meter, States* passed = nullptr) const;
  // These effects of the action at once.
  void happen(Facts& facts, const Instance& instance, const std::vector<Effect>& effects,
              const std::vector<NumericEffect>& numeric_effects, internal::Meter& meter,
              const Rational* duration = nullptr) const;

  struct Happening;
  struct Footprint;

  // interpret_timed.cc
  // What an action leads to, and when it begins; or what keeps it from being carried out.
  struct Run {
    std::optional<Facts> facts;
    std::int64_t start = 0;  // where something happens by itself
    std::size_t inside = 0;  // of so many hosts
    std::string problem;
    States passed;  // where states on the way matter
  };
  // Is an action simply what it does to the facts?
  bool is_simple() const { return ast_->timed.empty() && !ast_->has_hosts; }
  // As soon as it can be.
  Run run(const Facts& facts, const Instance& instance, internal::Meter& meter) const;
  Run run_at(const Facts& facts, const Instance& instance, std::int64_t start, std::int64_t duration,
             internal::Meter& meter) const;
  bool is_late(const Facts& facts) const;
  // How many timed facts there are up to kSeparation before then.
  std::size_t num_timed_before(std::int64_t time) const;
  void pass(Facts& facts, std::size_t from, std::size_t to, internal::Meter& meter, States* passed = nullptr) const;
  // The facts when everything that happens by itself has happened.
  Facts when_all_has_passed(const Facts& facts, internal::Meter& meter, States* passed) const;
  std::optional<std::int64_t> units_of(const Instance& instance, const FactView& facts, internal::Meter& meter) const;
  // In our units, rounded to the nearest; nothing when that is too large.
  static std::optional<std::int64_t> in_units(const Rational& time);
  // The numbers that never change.
  Facts fixed_numbers() const;
  Schedule with_waiting(const Facts& start, std::span<const PlanStep> plan, internal::Meter& meter) const;

  // interpret_hosts.cc
  Run run_among_hosts(const Facts& facts, const Instance& instance, internal::Meter& meter) const;
  // Where all but the outermost `kept` hosts end before it begins.
  Run run_inside(const Facts& facts, const Instance& instance, std::size_t kept, internal::Meter& meter) const;
  // Lets the innermost host end; what keeps it from that, or nothing.
  std::string end_host(Facts& facts, internal::Meter& meter) const;
  std::string host_problem(const Facts& facts, internal::Meter& meter) const;
  std::optional<std::uint32_t> parts_taken(const Facts& facts, const Instance& instance, internal::Meter& meter) const;
  // The facts in which the goal is judged; nothing, and why, where some host cannot end.
  std::optional<Facts> in_the_end(const Facts& facts, internal::Meter& meter, std::string& problem,
                                  States* passed = nullptr) const;
  // Each step as early as its way through the hosts allows, one point after the other.
  Schedule with_hosts(const Facts& start, std::span<const PlanStep> plan, internal::Meter& meter) const;

  // interpret_time.cc
  // Has the action to do with the host's end, or with what the host needs over all?
  bool touches_host(const Instance& instance, const Instance& host, internal::Meter& meter) const;
  // What keeps an action from beginning in these facts, from going on in them, and from ending; empty when nothing does.
  std::string start_problem(const Facts& facts, const Instance& instance, internal::Meter& meter) const;
  std::string over_all_problem(const Facts& facts, const Instance& instance, internal::Meter& meter) const;
  std::string end_problem(const Facts& facts, const Instance& instance, internal::Meter& meter) const;
  // What keeps an action that takes time, taken alone, from coming to its end; empty when nothing does.
  std::string later_problem(const Facts& facts, const Instance& instance, internal::Meter& meter) const;
  std::string violation(const Condition& condition, const Instance& instance, const FactView& facts,
                        internal::Meter& meter) const;
  std::optional<Rational> duration(const Instance& instance, const FactView& facts, internal::Meter& meter) const;
  // What a schedule gives the step, as exact as it is known; or why the action cannot take so long.
  std::optional<Rational> duration_given(const TimedStep& given, const Instance& instance, const FactView& facts,
                                         internal::Meter& meter, std::string& problem) const;
  Footprint footprint(const Happening& happening, internal::Meter& meter) const;
  void add_reads(const Condition& condition, Scope& scope, Footprint& out) const;
  void add_reads(const Expression& expression, const Scope& scope, Footprint& out) const;
  void add_predicate(PredicateId predicate, Footprint& out) const;
  std::string conflict(const Footprint& a, const Footprint& b) const;
  std::string point_problem(const Happening& happening, const Facts& facts, internal::Meter& meter) const;

  // Why `condition` is not `wanted`: the smallest part that decides it.
  std::string explain(const Condition& condition, bool wanted, Scope& scope, const FactView& facts) const;
  std::string text(const Condition& condition, const Scope& scope) const;
  std::string text(const Atom& atom, const Scope& scope) const;
  std::string type_text(const std::vector<TypeId>& types) const;
  std::string declaration_text(const VariableTable& variables, std::span<const VariableId> bound) const;
  // " for ?x = cup, ?y = table"
  std::string binding_text(const VariableTable& variables, std::span<const VariableId> bound,
                           const Binding& binding) const;

  // What it adds to a metric of several parts, or of time.
  std::optional<double> metric_cost(const Instance& instance, const Rational* duration = nullptr) const;
  // The first cost term of the instance that has no value, as text; empty when there is none.
  std::string missing_cost(const Instance& instance) const;
  static std::vector<ObjectId> cost_arguments(const CostTerm& term, const Instance& instance);
  std::vector<Trajectory> start_trajectories(internal::Meter& meter) const;
  // Notes in which way the newest state satisfies the conditions of the constraints.
  void record(const FactView& facts, std::vector<Trajectory>& trajectories, internal::Meter& meter) const;
  // Does the constraint's definition hold for the first `length` states?
  static bool satisfied(const Trajectory& trajectory, std::size_t length);
  bool happened_in_order(const Trajectory& trajectory, std::span<const Instance> actions) const;
  // The first state, if any, that breaks the constraint whatever comes later.
  static std::optional<std::size_t> broken_at(const Trajectory& trajectory);
  std::string trajectory_text(const Trajectory& trajectory) const;

  // interpret_preferences.cc
  // An instance of a preference, and what its parts saw so far.
  struct Wish {
    const Preference* preference = nullptr;
    Binding outer;
    std::vector<Trajectory> parts;
  };
  std::vector<Wish> start_wishes(internal::Meter& meter) const;
  void record(const FactView& facts, std::vector<Wish>& wishes, internal::Meter& meter) const;
  std::vector<Validation::Preference> judged(std::span<const Wish> wishes, std::span<const Instance> actions) const;

  std::vector<std::string> unmet_goals(const FactView& facts, std::span<const Trajectory> trajectories,
                                       std::span<const Instance> actions, internal::Meter& meter) const;
  // The last word on a plan of which every step could be taken: the state that it ends in.
  void judge_end(const FactView& facts, std::span<const Trajectory> trajectories, std::span<const Instance> actions,
                 internal::Meter& meter, Validation& result) const;

  std::shared_ptr<const Ast> ast_;
  std::map<std::vector<TypeId>, std::vector<ObjectId>> ranges_;  // for every list of types some variable has
  std::vector<std::vector<std::uint32_t>> strata_;               // axiom indices, lowest stratum first
  StartValues values_;
  std::map<std::string, ObjectId, std::less<>> objects_;
  std::map<std::string, ActionNameId, std::less<>> actions_;
  bool has_costs_ = false;
  bool watched_ = false;  // constraints or preferences speak of states within actions
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_INTERPRET_H_
