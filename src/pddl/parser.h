// The state of one call of `parse`. Private to the parse*.cc files of src/pddl, which share it out by subject:
//
//     parse.cc              the two files as a whole, sections, :requirements
//     parse_types.cc        :types, typed lists, :constants and :objects
//     parse_domain.cc       :predicates, :functions, :action, :derived
//     parse_condition.cc    conditions, terms, the type check of arguments
//     parse_effect.cc       effects and costs
//     parse_numbers.cc      expressions, comparisons, numeric effects
//     parse_durations.cc    durative actions
//     parse_constraints.cc  :constraints
//     parse_preferences.cc  preferences in the goal and in :constraints
//     parse_problem.cc      :init, :goal, :metric
//     parse_metric.cc       metrics of time, or of several parts
//     stratify.cc           negation among derived predicates
//
// A function that meets a mistake reports it and returns something harmless, so that the next mistake is found as well.
// Names are string views into the texts, which outlive the parser.
#ifndef METACTRL_SRC_PDDL_PARSER_H_
#define METACTRL_SRC_PDDL_PARSER_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pddl/ast.h"
#include "pddl/report.h"
#include "pddl/sexpr.h"

namespace metactrl::pddl {

// What a file uses, as opposed to what its :requirements say.
enum class Feature : std::uint8_t {
  kTyping,
  kNegation,
  kDisjunction,
  kEquality,
  kExistential,
  kUniversal,
  kConditionalEffects,
  kDerived,
  kCosts,
  kConstraints,
  kNumbers,
  kDurations,
  kInequalities,
  kPreferences,
  kTimedFacts,
  kCount
};

// The variables that can be named at one point of the text. Slots of the table are never reused; closing a quantifier
// only takes its names away.
class Scope {
 public:
  explicit Scope(VariableTable& table) : table_(table) {}

  VariableId open(std::string_view name, Variable variable);
  // Takes away the names opened last.
  void close(std::size_t count);
  std::optional<VariableId> find(std::string_view name) const;
  // The slot that `open` gives next.
  VariableId next() const { return table_.next_id(); }
  const Variable& operator[](VariableId variable) const { return table_[variable]; }
  template <typename Offer>
  void for_each_name(Offer offer) const {
    for (const std::string_view name : open_) offer(name);
  }

 private:
  VariableTable& table_;
  std::vector<std::string_view> open_;
  std::unordered_map<std::string_view, std::vector<VariableId>> slots_;  // innermost last
};

class Parser {
 public:
  Parser(Ast& ast, Reporter& reporter) : ast_(ast), reporter_(reporter) {}

  // Without a root the file could not be read; what can be checked without it still is.
  void run(std::optional<SExpr> domain, std::optional<SExpr> problem);

 private:
  // Conditions and effects are read recursively, so their depth is bounded.
  static constexpr std::size_t kMaxConditionDepth = 250;
  static constexpr std::size_t kMaxTypeDepth = 100;
  // Of types with two supertypes, here or above; the others have no more than their depth.
  static constexpr std::size_t kMaxAncestors = 100;
  static constexpr std::size_t kMaxEither = 64;
  // What nested `when` may copy in all, in nodes: the flat list of effects repeats the condition.
  static constexpr std::size_t kMaxCopiedNodes = 2'000'000;
  static constexpr std::size_t kMaxConstraints = 10'000;
  static constexpr std::size_t kMaxConstraintVariables = 16;

  using Sections = std::map<std::string_view, std::vector<SExpr>>;

  // A name in a typed list, before its type is looked up.
  struct TypedName {
    SExpr name;
    std::optional<SExpr> type;
  };

  // The supertypes that (:types ...) gives each type.
  using DeclaredParents = IdVector<TypeId, std::vector<SExpr>>;

  // What encloses an effect.
  struct EffectContext {
    std::vector<VariableId> forall;
    Condition when;
    std::size_t when_nodes = 0;
  };

  // A forall around trajectory constraints.
  struct ConstraintContext {
    std::vector<std::pair<std::string_view, Variable>> forall;
    std::string prefix;  // "(forall (?x - t) " and, in suffix, ")": for the constraint's text
    std::string suffix;
    std::size_t depth = 0;
  };

  // parse.cc
  bool check_definitions(const std::optional<SExpr>& domain, const std::optional<SExpr>& problem);
  bool check_definition(SExpr root, std::string_view kind, std::string& name);
  Sections sections(SExpr root, bool is_domain);
  void check_section_name(SExpr section, bool is_domain);
  void parse_domain(SExpr root, const std::optional<SExpr>& problem);
  void parse_problem(SExpr root, bool domain_known);
  void parse_requirements(SExpr section);
  void use(Feature feature, Position where);

  // parse_types.cc
  std::vector<TypedName> typed_names(SExpr list, std::size_t from);
  std::vector<TypeId> resolve_types(const std::optional<SExpr>& type);
  TypeId resolve_type(SExpr name);
  // The same where a predicate or function is declared, which no object's range depends on: an unknown type is warned
  // about and read as `object`.
  std::vector<TypeId> resolve_declared_types(const std::optional<SExpr>& type);
  void parse_types(const std::vector<SExpr>& sections);
  void add_type(const TypedName& entry, DeclaredParents& parents);
  void add_parent(TypeId type, SExpr parent);
  void check_type_hierarchy(const DeclaredParents& parents);
  void check_ancestors(const DeclaredParents& parents);
  void parse_objects(SExpr section, bool constants);
  // A type that only constants of the domain have.
  void declare_type_of_constants(SExpr name);
  void add_object(SExpr name, std::vector<TypeId> types);
  // Reads (?x ?y - t ...) and opens the variables in `scope`. Returns the slots. A name that is there twice, with the
  // same types, is one variable; where `same` is given it has two slots all the same, and `same` says that they are
  // equal.
  std::vector<VariableId> open_variables(SExpr list, std::size_t from, Scope& scope,
                                         std::vector<Condition>* same = nullptr);
  VariableTable parse_parameters(SExpr declaration);
  bool check_variable_name(SExpr name);

  // parse_domain.cc
  void parse_predicates(SExpr section);
  void parse_functions(SExpr section);
  void add_function(SExpr declaration);
  template <typename Declared>
  void report_declared_twice(std::string_view kind, SExpr again, const Declared& first,
                             const VariableTable& parameters);
  void register_action(SExpr section);
  std::string_view new_action_name(SExpr section);
  void parse_action(SExpr section, Action& action);
  // The values of the keywords `fields` of an action, in their order.
  std::vector<std::optional<SExpr>> action_fields(SExpr section, const std::string& name,
                                                  std::span<const std::string_view> fields);
  void open_parameters(const std::optional<SExpr>& parameters, Scope& scope, Action& action,
                       std::vector<Condition>& same);
  void mark_derived(SExpr section);
  void declare_derived(SExpr head);
  void parse_derived(SExpr section);
  bool open_head(SExpr head, const Predicate& predicate, Axiom& axiom, Scope& scope);

  // parse_condition.cc
  Condition parse_condition(SExpr expr, Scope& scope, std::size_t depth = 0);
  // The same of one that has a head.
  Condition parse_listed(SExpr expr, Scope& scope, std::size_t depth);
  Condition parse_atom_condition(SExpr expr, Scope& scope);
  Condition parse_junction(SExpr expr, Scope& scope, std::size_t depth, bool is_and);
  Condition parse_not(SExpr expr, Scope& scope, std::size_t depth);
  Condition parse_imply(SExpr expr, Scope& scope, std::size_t depth);
  Condition parse_equals(SExpr expr, Scope& scope, std::size_t depth);
  Condition parse_quantifier(SExpr expr, Scope& scope, std::size_t depth, bool is_forall);
  Condition parse_count(SExpr expr, Scope& scope, std::size_t depth);
  std::optional<std::uint32_t> parse_cardinality(SExpr expr);
  void report_unknown_head(SExpr expr);
  std::optional<Atom> parse_atom(SExpr expr, const Scope& scope);
  std::optional<Term> parse_term(SExpr expr, const Scope& scope);
  // Warns when an argument (the `number`-th, from 1, of the thing named `of`) can never belong to one of `wanted`.
  void check_argument(const Term& term, const Scope& scope, const std::vector<TypeId>& wanted, Position where,
                      std::string_view of, std::size_t number);
  bool may_fit(const Term& term, const Scope& scope, const std::vector<TypeId>& wanted) const;
  bool object_fits(ObjectId object, const std::vector<TypeId>& wanted) const;
  std::string type_names(const std::vector<TypeId>& types) const;
  std::string closest_object(std::string_view name, Position where) const;
  bool has_size(SExpr expr, std::size_t size, std::string_view usage);
  bool check_depth(SExpr expr, std::size_t depth);

  // parse_effect.cc
  void parse_effect(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth);
  void parse_when(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth);
  void parse_forall_effect(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth);
  void parse_literal_effect(SExpr expr, const Scope& scope, Action& action, const EffectContext& context, bool add);
  // Is this an increase of the function that counts costs?
  bool is_cost_effect(SExpr expr) const;
  void parse_increase(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth);
  void parse_cost(SExpr expr, const Scope& scope, Action& action, std::size_t depth);
  bool refuse_effect(SExpr expr);
  bool spend(std::size_t nodes, Position where);
  // Declares total-cost where a file forgot to.
  std::optional<FunctionId> find_function(SExpr expr);

  // parse_numbers.cc
  bool is_numeric_effect(std::string_view head) const;
  bool is_comparison(std::string_view head) const;
  std::optional<Expression> parse_expression(SExpr expr, const Scope& scope, std::size_t depth);
  std::optional<Expression> parse_function_term(SExpr expr, const Scope& scope);
  Condition parse_compare(SExpr expr, Scope& scope, std::size_t depth);
  void parse_numeric_effect(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth);
  // Once both files are read: which functions matter.
  void finish_numbers();
  void warn_of_missing_values();

  // parse_durations.cc

  // One of the points of a durative action.
  enum class When : std::uint8_t { kStart, kOverAll, kEnd };
  struct TimedConditions {
    std::vector<Condition> at[3];  // by When
  };
  void parse_durative(SExpr section, Action& action);
  static std::optional<When> time_of(SExpr expr);
  void parse_timed_condition(SExpr expr, Scope& scope, const Action& action, TimedConditions& out, std::size_t depth);
  void parse_timed_effect(SExpr expr, Scope& scope, Action& start, Action& end, const EffectContext& context,
                          std::size_t depth);
  void parse_timed_when(SExpr expr, Scope& scope, Action& start, Action& end, const EffectContext& context,
                        std::size_t depth);
  // Returns what the start must ask for: that the duration is within its bounds.
  std::vector<Condition> parse_duration(SExpr expr, const Scope& scope, Action& action);
  // Puts the duration in place of ?duration in an effect. False, with a message, where it no longer has its value.
  void check_duration(SExpr expr, const Action& action, bool apart);
  bool put_duration(Expression& expression, const Action& action, bool at_end, Position where);
  // Once all actions and axioms are read.
  void check_durative(const Action& action);
  void check_durations_at_end();
  // Other durations of the actions that may take several, where they matter.
  void choose_durations();
  // Beside what looks back at states.
  void let_what_varies_take_time();
  void let_actions_host();
  std::set<PredicateId> derived_from_changes(const Action& action) const;

  // parse_constraints.cc
  void parse_constraint(SExpr expr, const ConstraintContext& context);
  void parse_constraint_forall(SExpr expr, const ConstraintContext& context);
  // Adds the variables of (forall (?x ...) ...) to what is around; false, with a message, where it cannot be read.
  bool open_context(SExpr expr, ConstraintContext& context);
  void parse_at_end(SExpr expr, const ConstraintContext& context);
  void parse_state_constraint(SExpr expr, const ConstraintContext& context, Constraint::Kind kind);
  void parse_timed_constraint(SExpr expr, const ConstraintContext& context);
  void parse_actions_in_order(SExpr expr, const ConstraintContext& context);
  void parse_step(SExpr expr, const Scope& scope, std::vector<ActionPattern>& step, std::size_t depth);
  void parse_pattern(SExpr expr, const Scope& scope, std::vector<ActionPattern>& step);
  void add_constraint(Constraint constraint);

  // parse_preferences.cc
  bool is_preference(SExpr expr) const;
  // `of_goal`: what is preferred is a condition of the last state, not a trajectory constraint.
  void parse_preference(SExpr expr, const ConstraintContext& context, bool of_goal);
  // Those of the goal, which `parse_condition` reads as true.
  void parse_goal_preferences(SExpr expr, const ConstraintContext& context);
  void refuse_preference(SExpr expr);
  // Once both files are read. Null: nothing weighs them.
  void weigh_preferences(const std::map<std::string_view, Rational>* weights);

  // parse_problem.cc
  void parse_init(SExpr section);
  void parse_fact(SExpr fact);
  void parse_negative_fact(SExpr fact);
  void parse_value(SExpr fact);
  bool is_idle_function(SExpr left);
  bool refuse_fact(SExpr fact);
  std::optional<GroundAtom> ground_atom(SExpr fact);
  std::optional<std::vector<ObjectId>> ground_arguments(SExpr expr);
  void note_ill_typed(const GroundAtom& atom);
  void report_init_warnings();
  void parse_goal(SExpr section);
  void check_goal();
  void find_metric(SExpr root, const std::optional<SExpr>& domain);
  void parse_metric(SExpr section);

  // parse_timed.cc
  static bool is_timed_fact(SExpr fact);
  void parse_timed_fact(SExpr fact);
  // In the units of schedules; nothing, and an error, where it cannot be counted.
  std::optional<std::int64_t> exact_time(SExpr expr);
  // A fact of our own that holds from the start and becomes false by itself.
  Condition until(const std::string& name, std::int64_t end, const Position& where);
  // Once both files are read.
  void finish_timed();
  void refuse_beside_timed();
  // What looks back at states that derived predicates make: those within an action are not worked out.
  void refuse_derived_beside_durations();

  // parse_metric.cc
  // The weights of the parts of a metric: of the time, and of functions without arguments.
  struct MetricWeights {
    Rational time;
    std::map<FunctionId, Rational> functions;
    std::map<std::string_view, Rational> preferences;
    double constant = 0;
    std::string
        with_arguments;  // the first of its functions that has some, as it is written; such a metric is not linear
    bool refused = false;
  };
  bool add_weights(SExpr expr, const Rational& factor, MetricWeights& out, std::size_t depth);
  std::optional<Rational> constant_factor(SExpr expr) const;
  // Once both files are read: what each action adds to the metric.
  void finish_metric();
  std::optional<Expression> metric_cost(const Action& action, const MetricWeights& weights) const;
  bool never_negative(const Expression& expression) const;
  double constant_of(const MetricWeights& weights) const;

  // stratify.cc
  void check_strata();

  Ast& ast_;
  Reporter& reporter_;

  std::bitset<static_cast<std::size_t>(Feature::kCount)> declared_;
  std::bitset<static_cast<std::size_t>(Feature::kCount)> used_;
  bool in_domain_ = true;  // which file is being read: decides which fix a hint names
  std::size_t num_declared_types_ = 0;
  bool types_broken_ = false;         // a type is unknown: type warnings would only echo that
  bool object_types_broken_ = false;  // the same, of a type of the problem's objects
  bool copies_exhausted_ = false;
  bool in_durative_ = false;  // ?duration has a meaning
  struct DurationAtEnd {
    std::string action;
    Expression value;
    Position where;
  };
  std::vector<DurationAtEnd> durations_at_end_;
  bool may_prefer_ = false;  // a preference may stand here, and is read elsewhere
  bool metric_has_preferences_ = false;
  std::vector<Constraint>* parts_ = nullptr;  // of the preference that is being read
  std::size_t copied_nodes_ = 0;

  std::unordered_map<std::string_view, TypeId> types_;
  IdVector<TypeId, bool> may_overlap_;  // a type with two supertypes is at or below it
  std::unordered_map<std::string_view, ObjectId> objects_;
  std::unordered_map<std::string_view, PredicateId> predicates_;
  std::unordered_map<std::string_view, FunctionId> functions_;
  std::unordered_map<std::string_view, ActionNameId> actions_;
  std::vector<std::pair<ActionNameId, SExpr>> action_bodies_;  // (:action ...)
  std::deque<std::string> new_names_;                          // of actions whose own name is taken

  std::string_view metric_function_;               // what (:metric minimize (f)) names, else empty
  std::optional<SExpr> metric_;                    // (:metric ...) that is more than that
  std::map<std::string_view, SExpr> violated_;     // names in (is-violated ...), each with its first place
  std::set<std::string_view> idle_functions_;      // have values and nothing else
  std::map<FunctionId, Position> cost_functions_;  // read in costs, with the first place
  std::map<std::string, PredicateId> deadlines_;   // facts of our own, by name
  std::vector<Condition> at_end_;                  // conjuncts of the goal from (:constraints ... (at end c))

  // The initial state: duplicates, and ill-typed facts by predicate and argument.
  struct SymbolHash {
    template <typename Name>
    std::size_t operator()(const task::Symbol<Name>& symbol) const;
  };
  struct IllTyped {
    std::size_t count = 0;
    GroundAtom first;
  };
  std::unordered_map<task::FactSymbol, std::size_t, SymbolHash> facts_;           // -> index into init
  std::unordered_map<task::Symbol<FunctionId>, std::size_t, SymbolHash> values_;  // -> index into init_values
  std::map<std::pair<PredicateId, std::size_t>, IllTyped> ill_typed_;
  std::size_t num_duplicate_facts_ = 0;
  std::optional<GroundAtom> first_duplicate_;
};

// A function of this name counts costs, declared or not.
bool is_cost_name(std::string_view name);

// A decimal number such as 3, -1 or 0.5.
std::optional<double> parse_number(std::string_view text);

// Is there a list that begins with this name, here or below?
bool mentions_head(SExpr expr, std::string_view head);

// The condition's nodes, itself included.
std::size_t count_nodes(const Condition& condition);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_PARSER_H_
