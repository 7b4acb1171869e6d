// Trajectory constraints.
//
// (and ...) and (forall ...) are taken apart: each operator becomes a constraint of its own, with the variables of all
// enclosing quantifiers in the first slots of its table. (at end c) says something about the last state only, so it
// becomes a conjunct of the goal.
//
// What speaks of a time becomes what speaks of order, by facts of our own that become false by themselves when the time
// has passed:
//
//     (within t c)         (sometime (and <until t> c))
//     (hold-after t c)     (always (or <until t> c))
//     (hold-during t u c)  (always (or <until t> (not <before u>) c))
//
// <until t> holds up to t, that is to say it is false from kSeparation later on, so that what happens at t is in time;
// <before u> is false from u on. The state at t is the first that hold-after and hold-during speak of.
#include <algorithm>
#include <array>
#include <utility>

#include "metactrl/schedule.h"
#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

constexpr std::size_t kTextLimit = 400;

struct StateOperator {
  std::string_view name;
  Constraint::Kind kind;
  std::size_t num_conditions;
};

constexpr std::array<StateOperator, 5> kStateOperators = {{
    {"always", Constraint::Kind::kAlways, 1},
    {"sometime", Constraint::Kind::kSometime, 1},
    {"at-most-once", Constraint::Kind::kAtMostOnce, 1},
    {"sometime-after", Constraint::Kind::kSometimeAfter, 2},
    {"sometime-before", Constraint::Kind::kSometimeBefore, 2},
}};

Condition one_of(std::vector<Condition> choices, const Position& where) {
  Condition out;
  out.kind = Condition::Kind::kOr;
  out.where = where;
  out.children = std::move(choices);
  return out;
}

}  // namespace

void Parser::parse_constraint(SExpr expr, const ConstraintContext& context) {
  if (reporter_.exhausted() || ast_.constraints.size() > kMaxConstraints || !check_depth(expr, context.depth)) return;
  const std::string_view head = expr.head();
  if (expr.is_list() && expr.size() == 0) return;
  if (head == "and") {
    ConstraintContext inner = context;
    ++inner.depth;
    for (std::size_t i = 1; i < expr.size(); ++i) parse_constraint(expr[i], inner);
    return;
  }
  if (head == "forall") return parse_constraint_forall(expr, context);
  if (is_preference(expr)) return parse_preference(expr, context, false);
  if (head == "at" && expr.size() == 3 && expr[1].text() == "end") return parse_at_end(expr, context);
  if (head == "actions-in-order") return parse_actions_in_order(expr, context);
  for (const StateOperator& op : kStateOperators) {
    if (head == op.name) return parse_state_constraint(expr, context, op.kind);
  }
  if (head == "within" || head == "hold-after" || head == "hold-during") {
    parse_timed_constraint(expr, context);
  } else if (head == "always-within") {
    reporter_.error(
        expr.where(), "(always-within ...) is not supported: every state would need a clock of its own",
        "use (within TIME CONDITION), which counts from the start, or (sometime-after CONDITION CONDITION), "
        "which has no limit");
  } else if (head == "not") {
    reporter_.error(expr.where(), "a trajectory constraint cannot be negated",
                    "(not (sometime c)) is (always (not c)), (not (always c)) is (sometime (not c))");
  } else if (head == "or" || head == "imply" || head == "exists") {
    reporter_.error(expr.where(), str_cat("(", head, " ...) of trajectory constraints is not supported"),
                    "use it inside an operator, as in (always (or ...))");
  } else {
    ClosestName closest(head);
    for (const StateOperator& op : kStateOperators) closest.offer(op.name);
    closest.offer("actions-in-order");
    reporter_.error(expr.where(), str_cat("expected a trajectory constraint but found ", in_quotes(expr.to_text(60))),
                    closest.hint("write for example (always CONDITION), or move a plain condition to (:goal ...)"));
  }
}

void Parser::parse_constraint_forall(SExpr expr, const ConstraintContext& context) {
  ConstraintContext inner = context;
  ++inner.depth;
  if (open_context(expr, inner)) parse_constraint(expr[2], inner);
}

bool Parser::open_context(SExpr expr, ConstraintContext& context) {
  if (!has_size(expr, 3, "(forall (?x - type ...) CONSTRAINT)")) return false;
  use(Feature::kUniversal, expr.where());
  if (expr[1].is_name()) {
    reporter_.error(expr[1].where(), str_cat("expected a list of variables but found ", in_quotes(expr[1].text())),
                    "write (forall (?x - type ...) CONSTRAINT)");
    return false;
  }
  if (context.forall.size() + expr[1].size() > 3 * kMaxConstraintVariables) {
    reporter_.error(expr[1].where(),
                    str_cat("more than ", kMaxConstraintVariables, " variables around one constraint"));
    return false;
  }
  VariableTable table;
  Scope scope(table);
  std::size_t next = context.forall.size();
  for (const VariableId slot : open_variables(expr[1], 0, scope)) {
    // The scope's names are those of the table, in order; the key must be a view of the text.
    context.forall.emplace_back(std::string_view(), table[slot]);
  }
  scope.for_each_name([&](std::string_view name) { context.forall[next++].first = name; });
  if (context.forall.size() > kMaxConstraintVariables) {
    reporter_.error(expr[1].where(),
                    str_cat("more than ", kMaxConstraintVariables, " variables around one constraint"));
    return false;
  }
  if (context.prefix.size() < kTextLimit) {
    context.prefix += str_cat("(forall ", expr[1].to_text(kTextLimit), ' ');
    context.suffix += ')';
  }
  return true;
}

namespace {

// A constraint's scope: the enclosing variables first.
std::vector<VariableId> open_all(const std::vector<std::pair<std::string_view, Variable>>& forall, Scope& scope) {
  std::vector<VariableId> slots;
  for (const auto& [name, variable] : forall) slots.push_back(scope.open(name, variable));
  return slots;
}

}  // namespace

void Parser::parse_at_end(SExpr expr, const ConstraintContext& context) {
  if (parts_ != nullptr) {
    Constraint constraint;
    constraint.kind = Constraint::Kind::kAtEnd;
    constraint.where = expr.where();
    Scope scope(constraint.variables);
    constraint.forall = open_all(context.forall, scope);
    constraint.first = parse_condition(expr[2], scope, context.depth);
    return add_constraint(std::move(constraint));
  }
  Scope scope(ast_.goal.variables);
  std::vector<VariableId> bound = open_all(context.forall, scope);
  Condition condition = parse_condition(expr[2], scope, context.depth);
  if (bound.empty()) {
    at_end_.push_back(std::move(condition));
    return;
  }
  Condition out;
  out.kind = Condition::Kind::kForall;
  out.where = expr.where();
  out.bound = std::move(bound);
  out.children.push_back(std::move(condition));
  at_end_.push_back(std::move(out));
}

void Parser::add_constraint(Constraint constraint) {
  std::vector<Constraint>& all = parts_ != nullptr ? *parts_ : ast_.constraints;
  if (all.size() == kMaxConstraints) {
    reporter_.error(constraint.where, str_cat("more than ", kMaxConstraints, " trajectory constraints"),
                    "join those of one kind by (forall ...)");
  }
  all.push_back(std::move(constraint));
}

void Parser::parse_state_constraint(SExpr expr, const ConstraintContext& context, Constraint::Kind kind) {
  const bool two = kind == Constraint::Kind::kSometimeAfter || kind == Constraint::Kind::kSometimeBefore;
  if (!has_size(expr, two ? 3 : 2, str_cat("(", expr.head(), two ? " CONDITION CONDITION)" : " CONDITION)"))) return;
  Constraint constraint;
  constraint.kind = kind;
  constraint.where = expr.where();
  constraint.text = context.prefix + expr.to_text(kTextLimit) + context.suffix;
  Scope scope(constraint.variables);
  constraint.forall = open_all(context.forall, scope);
  constraint.first = parse_condition(expr[1], scope, context.depth);
  if (two) constraint.second = parse_condition(expr[2], scope, context.depth);
  add_constraint(std::move(constraint));
}

void Parser::parse_timed_constraint(SExpr expr, const ConstraintContext& context) {
  const bool during = expr.head() == "hold-during";
  if (!has_size(expr, during ? 4 : 3, str_cat("(", expr.head(), during ? " TIME TIME CONDITION)" : " TIME CONDITION)")))
    return;
  const std::optional<std::int64_t> time = exact_time(expr[1]);
  const std::optional<std::int64_t> end = during ? exact_time(expr[2]) : time;
  if (!time || !end) return;
  if (during && *end - *time <= 2 * kSeparation) {
    reporter_.error(expr[2].where(), str_cat("there is no time between ", expr[1].text(), " and ", expr[2].text()),
                    "write (hold-during FROM TO CONDITION), with TO later than FROM");
    return;
  }
  Constraint constraint;
  constraint.kind = expr.head() == "within" ? Constraint::Kind::kSometime : Constraint::Kind::kAlways;
  constraint.where = expr.where();
  constraint.text = context.prefix + expr.to_text(kTextLimit) + context.suffix;
  Scope scope(constraint.variables);
  constraint.forall = open_all(context.forall, scope);
  Condition condition = parse_condition(expr[during ? 3 : 2], scope, context.depth);
  if (constraint.kind == Constraint::Kind::kSometime) {
    constraint.first.kind = Condition::Kind::kAnd;
    constraint.first.where = expr.where();
    constraint.first.children.push_back(until(str_cat("time<=", time_text(*time)), *time + kSeparation, expr.where()));
    constraint.first.children.push_back(std::move(condition));
  } else {
    std::vector<Condition> choices;
    // What begins at the start begins with the initial state.
    if (*time > 0) choices.push_back(until(str_cat("time<=", time_text(*time)), *time + kSeparation, expr.where()));
    if (during) {
      Condition over;
      over.kind = Condition::Kind::kNot;
      over.where = expr.where();
      over.children.push_back(until(str_cat("time<", time_text(*end)), *end, expr.where()));
      choices.push_back(std::move(over));
    }
    choices.push_back(std::move(condition));
    constraint.first = one_of(std::move(choices), expr.where());
  }
  add_constraint(std::move(constraint));
}

void Parser::parse_actions_in_order(SExpr expr, const ConstraintContext& context) {
  if (expr.size() < 2) {
    reporter_.error(expr.where(), "(actions-in-order) has no steps", "write (actions-in-order STEP ...)");
    return;
  }
  Constraint constraint;
  constraint.kind = Constraint::Kind::kActionsInOrder;
  constraint.where = expr.where();
  constraint.text = context.prefix + expr.to_text(kTextLimit) + context.suffix;
  Scope scope(constraint.variables);
  constraint.forall = open_all(context.forall, scope);
  for (std::size_t i = 1; i < expr.size() && !reporter_.exhausted(); ++i) {
    std::vector<ActionPattern> step;
    parse_step(expr[i], scope, step, context.depth);
    constraint.steps.push_back(std::move(step));
  }
  add_constraint(std::move(constraint));
}

void Parser::parse_step(SExpr expr, const Scope& scope, std::vector<ActionPattern>& step, std::size_t depth) {
  if (reporter_.exhausted() || !check_depth(expr, depth)) return;
  if (expr.head() != "one-of" || actions_.contains("one-of")) {
    parse_pattern(expr, scope, step);
    return;
  }
  if (expr.size() < 2) {
    reporter_.error(expr.where(), "(one-of) has no alternatives", "write (one-of STEP STEP ...)");
    return;
  }
  for (std::size_t i = 1; i < expr.size(); ++i) parse_step(expr[i], scope, step, depth + 1);
}

void Parser::parse_pattern(SExpr expr, const Scope& scope, std::vector<ActionPattern>& step) {
  const std::string_view name = expr.is_list() ? expr.head() : expr.text();
  const auto found = actions_.find(name);
  if (found == actions_.end()) {
    ClosestName closest(name);
    for (const Action& action : ast_.actions) closest.offer(action.name);
    reporter_.error(
        expr.where(),
        name.empty() ? std::string("expected an action") : str_cat("action ", in_quotes(name), " is not declared"),
        closest.hint("a step is NAME, (NAME argument-or-* ...) or (one-of STEP ...)"));
    return;
  }
  const Action& action = ast_.actions[found->second];
  ActionPattern pattern;
  pattern.action = found->second;
  pattern.arguments.resize(action.num_parameters);
  if (expr.is_list()) {
    if (expr.size() - 1 != action.num_parameters) {
      reporter_.error(expr.where(),
                      str_cat("action ", in_quotes(name), " has ", counted(action.num_parameters, "parameter"),
                              ", not ", expr.size() - 1),
                      str_cat("write ", name, " alone for any arguments, or * for any single one"));
      return;
    }
    for (std::size_t i = 1; i < expr.size(); ++i) {
      if (expr[i].text() == "*") continue;
      const std::optional<Term> term = parse_term(expr[i], scope);
      if (!term) continue;
      check_argument(*term, scope, action.variables[to_id<VariableId>(i - 1)].types, expr[i].where(), name, i);
      pattern.arguments[i - 1] = term;
    }
  }
  step.push_back(std::move(pattern));
}

}  // namespace metactrl::pddl
