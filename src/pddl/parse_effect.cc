// Effects and costs.
//
// Nested (forall ...), (when ...) and (and ...) are flattened into primitive effects, each with the variables and the
// condition of all that encloses it. Nothing is expanded over objects here. The flat list repeats a condition once per
// effect below it; what that copies is counted, and a text that makes it explode is refused.
#include <utility>

#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

bool is_cost_name(std::string_view name) { return name == "total-cost" || name == "total_cost" || name == "totalcost"; }

bool Parser::spend(std::size_t nodes, Position where) {
  copied_nodes_ += nodes;
  if (copied_nodes_ <= kMaxCopiedNodes) return true;
  if (!copies_exhausted_) {
    copies_exhausted_ = true;
    reporter_.error(where,
                    str_cat("the conditions of conditional effects add up to more than ", kMaxCopiedNodes, " parts"),
                    "name the condition by a derived predicate");
  }
  return false;
}

// Reports effects that belong to richer languages than this one.
bool Parser::refuse_effect(SExpr expr) {
  const std::string_view head = expr.head();
  if (predicates_.contains(head)) return false;
  const Position where = expr.where();
  if (head == "oneof" || head == "probabilistic" || head == "unknown") {
    reporter_.error(where, str_cat("uncertain effects (", head, " ...) are not supported"),
                    "an action has one outcome: write one action per outcome");
  } else if (head == "or" || head == "exists" || head == "imply" || head == "=") {
    reporter_.error(where, str_cat("(", head, " ...) cannot be an effect"),
                    head == "imply" ? "write (when CONDITION EFFECT)" : "effects are literals, and, forall and when");
  } else if (head == "at" && expr.size() == 3 && (expr[1].text() == "start" || expr[1].text() == "end")) {
    reporter_.error(where,
                    in_durative_ ? str_cat("(at ", expr[1].text(), " ...) inside another one")
                                 : str_cat("(at ", expr[1].text(), " ...) belongs to durative actions"),
                    in_durative_ ? "" : "write the effect alone, or (:durative-action ...)");
  } else {
    return false;
  }
  return true;
}

void Parser::parse_effect(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth) {
  if (reporter_.exhausted() || copies_exhausted_ || !check_depth(expr, depth)) return;
  if (expr.is_name()) {
    reporter_.error(expr.where(), str_cat("expected an effect in parentheses but found ", in_quotes(expr.text())),
                    str_cat("write (", cut(expr.text(), 40), " ...)"));
    return;
  }
  if (expr.size() == 0) return;
  const std::string_view head = expr.head();
  if (head.empty()) {
    reporter_.error(expr.where(), "expected a predicate or a keyword after '('",
                    "several effects are joined as (and (...) (...))");
  } else if (head == "and") {
    for (std::size_t i = 1; i < expr.size(); ++i) parse_effect(expr[i], scope, action, context, depth + 1);
  } else if (head == "forall") {
    parse_forall_effect(expr, scope, action, context, depth);
  } else if (head == "when") {
    parse_when(expr, scope, action, context, depth);
  } else if (is_cost_effect(expr)) {
    parse_increase(expr, scope, action, context, depth);
  } else if (is_numeric_effect(head)) {
    const bool is_cost = head == "increase" && expr.size() > 1 && is_cost_name(expr[1].head());
    use(is_cost ? Feature::kCosts : Feature::kNumbers, expr.where());
    parse_numeric_effect(expr, scope, action, context, depth);
  } else if (refuse_effect(expr)) {
    return;
  } else if (head == "not") {
    if (!has_size(expr, 2, "(not (predicate ...))")) return;
    if (expr[1].head().empty() || expr[1].head() == "not" || expr[1].head() == "and") {
      reporter_.error(expr.where(), str_cat("expected one atom in the effect ", expr.to_text(60)),
                      "write one (not (predicate ...)) per atom");
      return;
    }
    if (!refuse_effect(expr[1])) parse_literal_effect(expr[1], scope, action, context, false);
  } else {
    parse_literal_effect(expr, scope, action, context, true);
  }
}

void Parser::parse_literal_effect(SExpr expr, const Scope& scope, Action& action, const EffectContext& context,
                                  bool add) {
  std::optional<Atom> atom = parse_atom(expr, scope);
  if (!atom) return;
  const Predicate& predicate = ast_.predicates[atom->predicate];
  if (predicate.derived) {
    reporter_.error(expr.where(), str_cat("effect on the derived predicate ", in_quotes(predicate.name)),
                    "change what it is derived from instead");
    return;
  }
  if (!spend(context.when_nodes + context.forall.size(), expr.where())) return;
  Effect effect;
  effect.forall = context.forall;
  effect.when = context.when;
  effect.add = add;
  effect.atom = std::move(*atom);
  action.effects.push_back(std::move(effect));
}

void Parser::parse_forall_effect(SExpr expr, Scope& scope, Action& action, const EffectContext& context,
                                 std::size_t depth) {
  use(Feature::kConditionalEffects, expr.where());
  if (!has_size(expr, 3, "(forall (?x - type ...) EFFECT)")) return;
  if (expr[1].is_name()) {
    reporter_.error(expr[1].where(), str_cat("expected a list of variables but found ", in_quotes(expr[1].text())),
                    "write (forall (?x - type ...) EFFECT)");
    return;
  }
  if (!spend(context.when_nodes + context.forall.size(), expr.where())) return;
  EffectContext inner = context;
  const std::vector<VariableId> bound = open_variables(expr[1], 0, scope);
  inner.forall.insert(inner.forall.end(), bound.begin(), bound.end());
  parse_effect(expr[2], scope, action, inner, depth + 1);
  scope.close(bound.size());
}

void Parser::parse_when(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth) {
  use(Feature::kConditionalEffects, expr.where());
  if (!has_size(expr, 3, "(when CONDITION EFFECT)")) return;
  Condition condition = parse_condition(expr[1], scope, depth + 1);
  if (!spend(context.when_nodes + context.forall.size(), expr.where())) return;
  EffectContext inner;
  inner.forall = context.forall;
  inner.when_nodes = context.when_nodes + count_nodes(condition);
  if (context.when.kind == Condition::Kind::kTrue) {
    inner.when = std::move(condition);
  } else {
    inner.when.kind = Condition::Kind::kAnd;
    inner.when.where = expr.where();
    inner.when.children.push_back(context.when);
    inner.when.children.push_back(std::move(condition));
  }
  parse_effect(expr[2], scope, action, inner, depth + 1);
}

std::optional<FunctionId> Parser::find_function(SExpr expr) {
  const std::string_view name = expr.is_list() ? expr.head() : expr.text();
  const auto found = functions_.find(name);
  if (found != functions_.end()) return found->second;
  if (is_cost_name(name)) {
    reporter_.warning(expr.where(), str_cat("function ", in_quotes(name), " is used but not declared"),
                      str_cat("add (:functions (", name, ") - number) to the domain"));
    const auto id = ast_.functions.next_id();
    functions_.emplace(name, id);
    ast_.functions.push_back({std::string(name), {}, expr.where()});
    return id;
  }
  if (reporter_.first("function", name)) {
    ClosestName closest(name);
    for (const Function& function : ast_.functions) closest.offer(function.name);
    reporter_.error(expr.where(),
                    name.empty() ? str_cat("expected a function but found ", expr.to_text(60))
                                 : str_cat("function ", in_quotes(name), " is not declared"),
                    closest.hint("add it to (:functions ...) of the domain"));
  }
  return std::nullopt;
}

bool Parser::is_cost_effect(SExpr expr) const {
  if (expr.head() != "increase" || expr.size() < 2) return false;
  const std::string_view name = expr[1].is_list() ? expr[1].head() : expr[1].text();
  if (metric_has_preferences_ && functions_.contains(name)) return false;
  if (is_cost_name(name)) return metric_function_.empty() || name == metric_function_ || !functions_.contains(name);
  return name == metric_function_;
}

void Parser::parse_increase(SExpr expr, Scope& scope, Action& action, const EffectContext& context, std::size_t depth) {
  if (!has_size(expr, 3, "(increase (total-cost) AMOUNT)")) return;
  const std::optional<FunctionId> function = find_function(expr[1]);
  if (!function) return;
  use(Feature::kCosts, expr.where());
  if (expr[1].size() > 1 || !ast_.functions[*function].parameters.empty()) {
    reporter_.error(expr[1].where(), "the function that counts costs takes no arguments",
                    "write (increase (total-cost) AMOUNT)");
    return;
  }
  if (context.when_nodes > 0 || !context.forall.empty()) {
    reporter_.error(expr.where(), "costs inside (when ...) or (forall ...) are not supported",
                    "an action has one cost: write one action per case");
    return;
  }
  const bool good = !reporter_.has_errors();
  parse_cost(expr[2], scope, action, depth);
  // Should a condition read it, it is a number like others.
  if (good && !reporter_.has_errors()) parse_numeric_effect(expr, scope, action, context, depth);
}

void Parser::parse_cost(SExpr expr, const Scope& scope, Action& action, std::size_t depth) {
  if (!check_depth(expr, depth)) return;
  CostTerm term;
  if (expr.is_name()) {
    const std::optional<double> number = parse_number(expr.text());
    if (!number || *number < 0) {
      reporter_.error(expr.where(), str_cat("expected a cost but found ", in_quotes(expr.text())),
                      number ? "costs are not negative" : "write a number or (function argument ...)");
      return;
    }
    term.constant = *number;
    action.costs.push_back(std::move(term));
    return;
  }
  if (expr.head() == "+") {
    for (std::size_t i = 1; i < expr.size(); ++i) parse_cost(expr[i], scope, action, depth + 1);
    return;
  }
  if (expr.head() == "*" || expr.head() == "-" || expr.head() == "/") {
    reporter_.error(expr.where(), str_cat("the cost ", expr.to_text(60), " is not supported"),
                    "a cost is a number, (function argument ...) or a sum (+ ...) of these");
    return;
  }
  term.function = find_function(expr);
  if (!term.function) return;
  const Function& function = ast_.functions[*term.function];
  if (function.name == metric_function_ || is_cost_name(function.name)) {
    reporter_.error(expr.where(), str_cat("the cost of an action cannot depend on ", in_quotes(function.name)),
                    "write a number, or a function that no action changes");
    return;
  }
  if (expr.size() - 1 != function.parameters.size()) {
    reporter_.error(expr.where(),
                    str_cat("function ", in_quotes(function.name), " has ",
                            counted(function.parameters.size(), "argument"), ", not ", expr.size() - 1),
                    str_cat("it is declared at line ", function.where.line));
    return;
  }
  for (std::size_t i = 1; i < expr.size(); ++i) {
    const std::optional<Term> argument = parse_term(expr[i], scope);
    if (!argument) return;
    check_argument(*argument, scope, function.parameters[to_id<VariableId>(i - 1)].types, expr[i].where(),
                   function.name, i);
    term.arguments.push_back(*argument);
  }
  cost_functions_.emplace(*term.function, expr.where());
  action.costs.push_back(std::move(term));
}

}  // namespace metactrl::pddl
