// Durative actions.
//
// Conditions and effects are sorted by the point that they belong to: (at start ...), (over all ...), (at end ...), also
// inside (and ...) and (forall ...). Of a duration with bounds the smallest is taken here, and at least kShortest; where
// another one can lead elsewhere durations.cc adds it. That the duration is within the bounds that are left becomes part
// of the condition at the start; and that one that is given by an equation is not negative, or positive where the two
// points have to do with the same predicate or function, since they would coincide otherwise. ?duration in an effect is
// replaced by its expression; at the end, where the effects at the start have happened, that is only right as long as
// they leave the functions in it alone.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "metactrl/schedule.h"
#include "pddl/durations.h"
#include "pddl/hosts.h"
#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

constexpr std::array<std::string_view, 4> kDurativeFields = {":parameters", ":duration", ":condition", ":effect"};
constexpr std::string_view kShortest = "0.001";

Condition conjunction(std::vector<Condition> parts, Position where) {
  if (parts.size() == 1) return std::move(parts[0]);
  Condition out;
  out.kind = parts.empty() ? Condition::Kind::kTrue : Condition::Kind::kAnd;
  out.children = std::move(parts);
  out.where = where;
  return out;
}

Condition comparison_condition(Expression left, Condition::Comparison comparison, Expression right, Position where) {
  Condition out;
  out.kind = Condition::Kind::kCompare;
  out.comparison = comparison;
  out.sides.push_back(std::move(left));
  out.sides.push_back(std::move(right));
  out.where = where;
  return out;
}

Expression number_expression(const Rational& number) {
  Expression out;
  out.number = number;
  return out;
}

// The larger or the smaller one of two, where there are two.
Expression extreme(Expression::Kind kind, const std::optional<Expression>& one, const Expression& other) {
  if (!one) return other;
  if (one->kind == Expression::Kind::kNumber && other.kind == Expression::Kind::kNumber)
    return number_expression(*combined(kind, one->number, other.number));
  Expression out;
  out.kind = kind;
  out.children = {*one, other};
  return out;
}

bool reads_function(const Expression& expression, const std::function<bool(FunctionId)>& which) {
  if (expression.kind == Expression::Kind::kFunction) return which(expression.function);
  return std::any_of(expression.children.begin(), expression.children.end(),
                     [&](const Expression& child) { return reads_function(child, which); });
}

bool reads_function(const Condition& condition, const std::function<bool(FunctionId)>& which) {
  return std::any_of(condition.sides.begin(), condition.sides.end(),
                     [&](const Expression& side) { return reads_function(side, which); }) ||
         std::any_of(condition.children.begin(), condition.children.end(),
                     [&](const Condition& child) { return reads_function(child, which); });
}

void collect_names(const Expression& expression, std::set<FunctionId>& functions) {
  if (expression.kind == Expression::Kind::kFunction) functions.insert(expression.function);
  for (const Expression& child : expression.children) collect_names(child, functions);
}

void collect_names(const Condition& condition, std::set<PredicateId>& predicates, std::set<FunctionId>& functions) {
  if (condition.kind == Condition::Kind::kAtom) predicates.insert(condition.atom.predicate);
  for (const Expression& side : condition.sides) collect_names(side, functions);
  for (const Condition& child : condition.children) collect_names(child, predicates, functions);
}

// Does the start change what the end reads or changes, or the other way round, as far as names tell?
bool points_touch(const Ast& ast, const Action& action) {
  struct Names {
    std::set<PredicateId> predicates;
    std::set<FunctionId> functions;
  };
  const auto written = [](const std::vector<Effect>& effects, const std::vector<NumericEffect>& changes) {
    Names out;
    for (const Effect& effect : effects) out.predicates.insert(effect.atom.predicate);
    for (const NumericEffect& change : changes) out.functions.insert(change.function);
    return out;
  };
  const auto all = [&](const Condition& condition, const std::vector<Effect>& effects,
                       const std::vector<NumericEffect>& changes) {
    Names out = written(effects, changes);
    collect_names(condition, out.predicates, out.functions);
    for (const Effect& effect : effects) collect_names(effect.when, out.predicates, out.functions);
    for (const NumericEffect& change : changes) {
      collect_names(change.when, out.predicates, out.functions);
      collect_names(change.amount, out.functions);
    }
    return out;
  };
  // What is derived can depend on anything.
  const auto derived = [&](PredicateId predicate) { return ast.predicates[predicate].derived; };
  const auto meet = [&](const Names& a, const Names& b) {
    return std::any_of(b.predicates.begin(), b.predicates.end(), derived) ||
           std::any_of(a.predicates.begin(), a.predicates.end(),
                       [&](auto name) { return b.predicates.contains(name); }) ||
           std::any_of(a.functions.begin(), a.functions.end(), [&](auto name) { return b.functions.contains(name); });
  };
  const Durative& durative = *action.durative;
  return meet(written(action.effects, action.numeric_effects),
              all(durative.at_end, durative.end_effects, durative.end_numeric_effects)) ||
         meet(written(durative.end_effects, durative.end_numeric_effects),
              all(action.precondition, action.effects, action.numeric_effects));
}

// The first atom of one of these predicates.
const Condition* find_atom(const Condition& condition, const std::set<PredicateId>& predicates) {
  if (condition.kind == Condition::Kind::kAtom && predicates.contains(condition.atom.predicate)) return &condition;
  for (const Condition& child : condition.children) {
    if (const Condition* found = find_atom(child, predicates)) return found;
  }
  return nullptr;
}

}  // namespace

// (at start X), (over all X), (at end X). A predicate `at` may well exist, but its arguments are never lists.
std::optional<Parser::When> Parser::time_of(SExpr expr) {
  if (expr.size() != 3 || !expr[2].is_list()) return std::nullopt;
  if (expr.head() == "at" && expr[1].text() == "start") return When::kStart;
  if (expr.head() == "over" && expr[1].text() == "all") return When::kOverAll;
  if (expr.head() == "at" && expr[1].text() == "end") return When::kEnd;
  return std::nullopt;
}

void Parser::parse_durative(SExpr section, Action& action) {
  use(Feature::kDurations, section.where());
  ast_.has_durations = true;
  action.durative.emplace();
  const std::vector<std::optional<SExpr>> fields = action_fields(section, action.name, kDurativeFields);
  Scope scope(action.variables);
  TimedConditions conditions;
  std::vector<Condition>& at_start = conditions.at[0];
  open_parameters(fields[0], scope, action, at_start);
  action.precondition.where = section.where();
  if (fields[2]) {
    action.precondition.where = fields[2]->where();
    parse_timed_condition(*fields[2], scope, action, conditions, 0);
  }
  action.precondition = conjunction(std::move(at_start), action.precondition.where);
  std::vector<Condition> needed;
  if (fields[1]) {
    needed = parse_duration(*fields[1], scope, action);
  } else {
    reporter_.error(section.where(), str_cat("action ", in_quotes(action.name), " has no :duration"),
                    "write :duration (= ?duration NUMBER)");
  }
  action.durative->over_all = conjunction(std::move(conditions.at[1]), action.precondition.where);
  action.durative->at_end = conjunction(std::move(conditions.at[2]), action.precondition.where);
  if (!fields[3] || fields[3]->size() == 0) {
    reporter_.warning(section.where(), str_cat("action ", in_quotes(action.name), " has no :effect"),
                      "it changes nothing");
  }
  Action end;
  in_durative_ = true;
  if (fields[3] && fields[3]->size() > 0) parse_timed_effect(*fields[3], scope, action, end, {}, 0);
  in_durative_ = false;
  for (NumericEffect& effect : action.numeric_effects) put_duration(effect.amount, action, false, effect.where);
  for (NumericEffect& effect : end.numeric_effects) put_duration(effect.amount, action, true, effect.where);
  action.durative->end_effects = std::move(end.effects);
  action.durative->end_numeric_effects = std::move(end.numeric_effects);
  std::move(end.costs.begin(), end.costs.end(), std::back_inserter(action.costs));
  const Expression& duration = action.durative->duration;
  const bool apart = action.durative->flexible || !points_touch(ast_, action);
  // One with bounds is never less than that where it has a value.
  const Rational least = action.durative->flexible ? *Rational::parse(kShortest) : Rational(0);
  const bool constant = duration.kind == Expression::Kind::kNumber;
  if (!constant || duration.number < least || (!apart && duration.number == least)) {
    ast_.has_numbers = true;
    needed.push_back(comparison_condition(duration,
                                          apart ? Condition::Comparison::kAtLeast : Condition::Comparison::kMore,
                                          number_expression(least), fields[1] ? fields[1]->where() : section.where()));
  }
  if (constant && fields[1]) check_duration(*fields[1], action, apart);
  if (needed.empty()) return;
  needed.insert(needed.begin(), std::move(action.precondition));
  const Position where = needed.front().where;
  action.precondition = conjunction(std::move(needed), where);
}

void Parser::parse_timed_condition(SExpr expr, Scope& scope, const Action& action, TimedConditions& out,
                                   std::size_t depth) {
  if (reporter_.exhausted() || !check_depth(expr, depth)) return;
  if (const std::optional<When> when = time_of(expr)) {
    out.at[static_cast<std::size_t>(*when)].push_back(parse_condition(expr[2], scope, depth + 1));
  } else if (expr.head() == "and") {
    for (std::size_t i = 1; i < expr.size(); ++i) parse_timed_condition(expr[i], scope, action, out, depth + 1);
  } else if (expr.head() == "forall" && expr.size() == 3 && expr[1].is_list()) {
    use(Feature::kUniversal, expr.where());
    const std::vector<VariableId> bound = open_variables(expr[1], 0, scope);
    TimedConditions inner;
    parse_timed_condition(expr[2], scope, action, inner, depth + 1);
    scope.close(bound.size());
    for (std::size_t i = 0; i < 3; ++i) {
      for (Condition& condition : inner.at[i]) {
        Condition all;
        all.kind = Condition::Kind::kForall;
        all.where = expr.where();
        all.bound = bound;
        all.children.push_back(std::move(condition));
        out.at[i].push_back(std::move(all));
      }
    }
  } else if (is_preference(expr)) {
    refuse_preference(expr);
  } else if (!expr.is_list() || expr.size() > 0) {
    reporter_.error(expr.where(),
                    str_cat("action ", in_quotes(action.name), ": the condition ", expr.to_text(60),
                            " does not say when it must hold"),
                    "write (at start ...), (over all ...) or (at end ...) around it");
  }
}

void Parser::parse_timed_effect(SExpr expr, Scope& scope, Action& start, Action& end, const EffectContext& context,
                                std::size_t depth) {
  if (reporter_.exhausted() || copies_exhausted_ || !check_depth(expr, depth)) return;
  const std::optional<When> when = time_of(expr);
  if (when && *when != When::kOverAll) {
    parse_effect(expr[2], scope, *when == When::kStart ? start : end, context, depth + 1);
  } else if (expr.head() == "and") {
    for (std::size_t i = 1; i < expr.size(); ++i) parse_timed_effect(expr[i], scope, start, end, context, depth + 1);
  } else if (expr.head() == "forall") {
    use(Feature::kConditionalEffects, expr.where());
    if (!has_size(expr, 3, "(forall (?x - type ...) EFFECT)")) return;
    EffectContext inner = context;
    const std::vector<VariableId> bound = open_variables(expr[1], 0, scope);
    inner.forall.insert(inner.forall.end(), bound.begin(), bound.end());
    parse_timed_effect(expr[2], scope, start, end, inner, depth + 1);
    scope.close(bound.size());
  } else if (expr.head() == "when") {
    parse_timed_when(expr, scope, start, end, context, depth);
  } else if (is_numeric_effect(expr.head())) {
    reporter_.error(expr.where(),
                    str_cat("action ", in_quotes(start.name), ": the change ", expr.to_text(60),
                            " does not happen at the start or at the end"),
                    "continuous change is not supported: write the whole change (at end ...), with ?duration");
  } else {
    reporter_.error(
        expr.where(),
        str_cat("action ", in_quotes(start.name), ": the effect ", expr.to_text(60), " does not say when it happens"),
        "write (at start ...) or (at end ...) around it");
  }
}

// (when (at start C) (at start E)): C belongs to the same point as E.
void Parser::parse_timed_when(SExpr expr, Scope& scope, Action& start, Action& end, const EffectContext& context,
                              std::size_t depth) {
  use(Feature::kConditionalEffects, expr.where());
  if (!has_size(expr, 3, "(when CONDITION EFFECT)")) return;
  TimedConditions conditions;
  parse_timed_condition(expr[1], scope, start, conditions, depth + 1);
  const std::optional<When> when = time_of(expr[2]);
  if (!when || *when == When::kOverAll) {
    reporter_.error(expr[2].where(),
                    str_cat("action ", in_quotes(start.name), ": expected (at start ...) or (at end ...)"),
                    "write (at end (when CONDITION EFFECT))");
    return;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (conditions.at[i].empty() || i == static_cast<std::size_t>(*when)) continue;
    reporter_.error(expr.where(),
                    str_cat("action ", in_quotes(start.name),
                            ": an effect that depends on a condition at another point is not supported"),
                    "remember the condition by a predicate that an effect (at start ...) sets");
    return;
  }
  EffectContext inner = context;
  std::vector<Condition> parts = std::move(conditions.at[static_cast<std::size_t>(*when)]);
  if (context.when.kind != Condition::Kind::kTrue) parts.insert(parts.begin(), context.when);
  inner.when = conjunction(std::move(parts), expr.where());
  inner.when_nodes = count_nodes(inner.when);
  parse_effect(expr[2][2], scope, *when == When::kStart ? start : end, inner, depth + 1);
}

std::vector<Condition> Parser::parse_duration(SExpr expr, const Scope& scope, Action& action) {
  using Comparison = Condition::Comparison;
  std::vector<Durative::Bound>& bounds = action.durative->bounds;
  std::vector<Position> places;
  const auto read = [&](const auto& self, SExpr part, bool at_end) -> void {
    if (part.head() == "and") {
      for (std::size_t i = 1; i < part.size(); ++i) self(self, part[i], at_end);
      return;
    }
    const std::optional<When> when = time_of(part);
    if (when && *when != When::kOverAll) return self(self, part[2], *when == When::kEnd);
    const bool known = part.head() == "=" || part.head() == "<=" || part.head() == ">=";
    if (!known || part.size() != 3 || part[1].text() != "?duration") {
      if (part.is_list() && part.size() == 0) return;
      reporter_.error(part.where(),
                      str_cat("action ", in_quotes(action.name), ": expected a duration but found ", part.to_text(60)),
                      "write (= ?duration EXPRESSION), or bounds with <= and >=");
      return;
    }
    std::optional<Expression> value = parse_expression(part[2], scope, 0);
    if (!value) return;
    const auto comparison = part.head() == "="    ? Comparison::kEqual
                            : part.head() == "<=" ? Comparison::kAtMost
                                                  : Comparison::kAtLeast;
    if (comparison != Comparison::kEqual) use(Feature::kInequalities, part.where());
    if (at_end) durations_at_end_.push_back({action.name, *value, part.where()});
    bounds.push_back({comparison, std::move(*value)});
    places.push_back(part.where());
  };
  read(read, expr, false);
  const auto equation = std::find_if(bounds.begin(), bounds.end(), [](const Durative::Bound& bound) {
    return bound.comparison == Comparison::kEqual;
  });
  Durative& durative = *action.durative;
  durative.flexible = equation == bounds.end();
  std::optional<Expression> shortest = number_expression(*Rational::parse(kShortest));
  for (const Durative::Bound& bound : bounds) {
    if (bound.comparison == Comparison::kAtLeast) shortest = extreme(Expression::Kind::kMost, shortest, bound.value);
    if (bound.comparison == Comparison::kAtMost)
      durative.longest = extreme(Expression::Kind::kLeast, durative.longest, bound.value);
  }
  durative.duration = durative.flexible ? *shortest : equation->value;
  if (!durative.flexible) durative.longest.reset();
  std::vector<Condition> needed;
  const auto need = [&](Comparison comparison, const Expression& other, Position where) {
    const Expression& duration = durative.duration;
    const bool constant = duration.kind == Expression::Kind::kNumber && other.kind == Expression::Kind::kNumber;
    if (constant && compares(comparison, duration.number, other.number)) return;
    if (constant) {
      reporter_.warning(
          expr.where(),
          str_cat("action ", in_quotes(action.name), " can never be taken: its duration is ", duration.number.text(),
                  ", which is not ", to_string(comparison), " ", other.number.text()),
          "correct the bounds");
    }
    if (!constant) use(Feature::kNumbers, where);
    ast_.has_numbers = true;
    needed.push_back(comparison_condition(duration, comparison, other, where));
  };
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const bool given = durative.flexible ? bounds[i].comparison == Comparison::kAtLeast : &bounds[i] == &*equation;
    if (!given) need(bounds[i].comparison, bounds[i].value, places[i]);
  }
  return needed;
}

// Of a duration that is a number. `apart`: its points do not concern the same things.
void Parser::check_duration(SExpr expr, const Action& action, bool apart) {
  const Rational& duration = action.durative->duration.number;
  const std::string name = str_cat("action ", in_quotes(action.name));
  constexpr std::int64_t kMost = kLatestTime / kTimeUnit;
  if (duration > Rational(kMost)) {
    reporter_.error(expr.where(),
                    str_cat("the duration ", duration.text(), " of ", name, " is too large to be counted"),
                    "use a larger unit of time");
  } else if (duration < Rational(0)) {
    reporter_.warning(expr.where(), str_cat(name, " can never be taken: its duration is ", duration.text()),
                      "a duration is 0 or more");
  } else if (duration == Rational(0) && !apart) {
    reporter_.warning(
        expr.where(),
        str_cat(name, " can never be taken: it takes no time, and its start and end concern the same things"),
        "give it a duration above 0");
  }
}

// Between the points of what takes no time there is no state that a constraint could see. An action whose duration depends
// on the state would have one here and none there: so it takes time, or is not taken.
void Parser::let_what_varies_take_time() {
  if (ast_.constraints.empty() && std::none_of(ast_.preferences.begin(), ast_.preferences.end(), looks_back)) return;
  const auto changes = [this](FunctionId function) { return ast_.functions[function].changes; };
  for (Action& action : ast_.actions) {
    if (!action.durative || action.durative->flexible || !reads_function(action.durative->duration, changes)) continue;
    const Position where = action.precondition.where;
    std::vector<Condition> needed;
    needed.push_back(std::move(action.precondition));
    needed.push_back(comparison_condition(action.durative->duration, Condition::Comparison::kMore,
                                          number_expression(Rational(0)), where));
    action.precondition = conjunction(std::move(needed), where);
  }
}

void Parser::choose_durations() {
  for (const ActionNameId id : add_durations(ast_)) {
    const Action& action = ast_.actions[id];
    reporter_.warning(action.where,
                      str_cat("of the durations of ", action.name, " plans use ", action.durative->planned,
                              "; others are never tried"),
                      "a plan that needs another one is not found");
  }
}

// Nothing runs inside others beside what looks back (hosts.cc), and then a task may have no plan. A preference is not worth
// that: it goes.
void Parser::let_actions_host() {
  if (!ast_.constraints.empty() || std::none_of(ast_.preferences.begin(), ast_.preferences.end(), looks_back)) return;
  Ast without = ast_;
  const std::vector<Preference> taken_out = without.take_out_preferences_of_the_way();
  find_hosts(without);
  if (!without.has_hosts) return;
  for (const Preference& preference : taken_out) {
    reporter_.warning(preference.where,
                      str_cat("the preference ", preference.name, preference.name.empty() ? "" : " ",
                              "looks back, and is not pursued where actions run inside others"),
                      "prefer what is to hold at the end");
  }
  ast_ = std::move(without);
}

bool Parser::put_duration(Expression& expression, const Action& action, bool at_end, Position where) {
  if (expression.kind == Expression::Kind::kDuration) {
    expression = duration_of(*action.durative);
    const auto changed = [&](FunctionId function) {
      return std::any_of(action.numeric_effects.begin(), action.numeric_effects.end(),
                         [&](const NumericEffect& effect) { return effect.function == function; });
    };
    if (!at_end || !reads_function(expression, changed)) return true;
    reporter_.error(where,
                    str_cat("action ", in_quotes(action.name),
                            ": ?duration at the end depends on a number that changes at the start"),
                    "change that number (at end ...)");
    return false;
  }
  for (Expression& child : expression.children) {
    if (!put_duration(child, action, at_end, where)) return false;
  }
  return true;
}

// The derived predicates that the effects at the start can change.
std::set<PredicateId> Parser::derived_from_changes(const Action& action) const {
  std::set<PredicateId> changed;
  for (const Effect& effect : action.effects) changed.insert(effect.atom.predicate);
  const auto changed_number = [&](FunctionId function) {
    return std::any_of(action.numeric_effects.begin(), action.numeric_effects.end(),
                       [&](const NumericEffect& effect) { return effect.function == function; });
  };
  std::set<PredicateId> derived;
  for (bool more = true; more;) {
    more = false;
    for (const Axiom& axiom : ast_.axioms) {
      if (changed.contains(axiom.head)) continue;
      if (find_atom(axiom.body, changed) == nullptr && !reads_function(axiom.body, changed_number)) continue;
      changed.insert(axiom.head);
      derived.insert(axiom.head);
      more = true;
    }
  }
  return derived;
}

// What is read at the end must be what it was at the start, where durations are worked out.
void Parser::check_durations_at_end() {
  const auto changes = [this](FunctionId function) { return ast_.functions[function].changes; };
  for (const DurationAtEnd& bound : durations_at_end_) {
    if (!reads_function(bound.value, changes)) continue;
    reporter_.error(
        bound.where,
        str_cat("action ", in_quotes(bound.action), ": a duration that depends on numbers at the end is not supported"),
        "write (at start ...) around it");
  }
}

void Parser::check_durative(const Action& action) {
  const std::set<PredicateId> derived = derived_from_changes(action);
  if (derived.empty()) return;
  const auto check = [&](const Condition& condition) {
    const Condition* found = find_atom(condition, derived);
    if (found == nullptr) return;
    reporter_.error(found->where,
                    str_cat("action ", in_quotes(action.name), ": the derived predicate ",
                            in_quotes(ast_.predicates[found->atom.predicate].name),
                            " is read after effects at the start that can change it, which is not supported"),
                    "write what it is derived from instead");
  };
  check(action.durative->over_all);
  check(action.durative->at_end);
  for (const Effect& effect : action.durative->end_effects) check(effect.when);
  for (const NumericEffect& effect : action.durative->end_numeric_effects) check(effect.when);
}

}  // namespace metactrl::pddl
