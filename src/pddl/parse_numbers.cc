// Numbers: expressions, comparisons, numeric effects, and which functions belong to the state.
//
// A function matters when a condition compares it, or when its value goes into an effect on one that matters. Only those
// are part of states: a counter that nothing but the metric reads would make every two states differ. Effects on the
// others are read, checked and left out. Numbers are exact (support/rational.h): a decimal that has too many digits for
// that is refused where it matters.
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

std::optional<Condition::Comparison> comparison_of(std::string_view head) {
  if (head == "<") return Condition::Comparison::kLess;
  if (head == "<=") return Condition::Comparison::kAtMost;
  if (head == "=") return Condition::Comparison::kEqual;
  if (head == ">=") return Condition::Comparison::kAtLeast;
  if (head == ">") return Condition::Comparison::kMore;
  return std::nullopt;
}

std::optional<NumericEffect::Change> change_of(std::string_view head) {
  if (head == "assign") return NumericEffect::Change::kAssign;
  if (head == "increase") return NumericEffect::Change::kIncrease;
  if (head == "decrease") return NumericEffect::Change::kDecrease;
  if (head == "scale-up") return NumericEffect::Change::kScaleUp;
  if (head == "scale-down") return NumericEffect::Change::kScaleDown;
  return std::nullopt;
}

std::optional<Expression::Kind> operator_of(std::string_view head) {
  if (head == "+") return Expression::Kind::kAdd;
  if (head == "-") return Expression::Kind::kSubtract;
  if (head == "*") return Expression::Kind::kMultiply;
  if (head == "/") return Expression::Kind::kDivide;
  return std::nullopt;
}

template <typename Visit>
void for_each_function(const Expression& expression, const Visit& visit) {
  if (expression.kind == Expression::Kind::kFunction) visit(expression.function);
  for (const Expression& child : expression.children) for_each_function(child, visit);
}

template <typename Visit>
void for_each_function(const Condition& condition, const Visit& visit) {
  for (const Expression& side : condition.sides) for_each_function(side, visit);
  for (const Condition& child : condition.children) for_each_function(child, visit);
}

}  // namespace

bool Parser::is_numeric_effect(std::string_view head) const {
  return change_of(head).has_value() && !predicates_.contains(head);
}

bool Parser::is_comparison(std::string_view head) const {
  return head != "=" && comparison_of(head).has_value() && !predicates_.contains(head);
}

std::optional<Expression> Parser::parse_expression(SExpr expr, const Scope& scope, std::size_t depth) {
  if (!check_depth(expr, depth)) return std::nullopt;
  Expression out;
  if (expr.is_name() && parse_number(expr.text())) {
    const std::optional<Rational> number = Rational::parse(expr.text());
    if (number) {
      out.number = *number;
      return out;
    }
    const bool exponent = expr.text().find('e') != std::string_view::npos;
    reporter_.error(expr.where(),
                    str_cat("the number ", in_quotes(expr.text()),
                            exponent ? " has an exponent" : " has too many digits to be exact"),
                    exponent ? "write it out: 1000, 0.001" : "write fewer");
    return std::nullopt;
  }
  if (expr.text() == "?duration" && in_durative_) {
    out.kind = Expression::Kind::kDuration;
    return out;
  }
  if (expr.text() == "?duration" || expr.text() == "#t") {
    const bool clock = expr.text() == "#t";
    reporter_.error(expr.where(),
                    clock ? "continuous change (#t) is not supported"
                          : "?duration has no meaning here: it belongs to the effects of durative actions",
                    clock ? "write the whole change (at end ...), with ?duration" : "");
    return std::nullopt;
  }
  const std::optional<Expression::Kind> kind = operator_of(expr.head());
  if (!kind || functions_.contains(expr.head())) return parse_function_term(expr, scope);
  const bool sign = *kind == Expression::Kind::kSubtract && expr.size() == 2;
  const bool many = *kind == Expression::Kind::kAdd || *kind == Expression::Kind::kMultiply;
  if (!sign && (expr.size() < 3 || (!many && expr.size() > 3))) {
    reporter_.error(expr.where(), str_cat("(", expr.head(), " ...) has ", counted(expr.size() - 1, "member")),
                    str_cat("write (", expr.head(), " A B)"));
    return std::nullopt;
  }
  // From the left; (- a) is (- 0 a).
  for (std::size_t i = 1; i < expr.size(); ++i) {
    std::optional<Expression> part = parse_expression(expr[i], scope, depth + 1);
    if (!part) return std::nullopt;
    if (i == 1 && !sign) {
      out = std::move(*part);
      continue;
    }
    if (*kind == Expression::Kind::kDivide && part->kind == Expression::Kind::kNumber && part->number == Rational(0)) {
      reporter_.warning(expr[i].where(), str_cat(expr.to_text(60), " divides by 0"),
                        "that has no value, so what compares it is never true; divide by another number");
    }
    Expression both;
    both.kind = *kind;
    both.children.push_back(std::move(out));
    both.children.push_back(std::move(*part));
    out = std::move(both);
  }
  return out;
}

std::optional<Expression> Parser::parse_function_term(SExpr expr, const Scope& scope) {
  const std::optional<FunctionId> id = find_function(expr);
  if (!id) return std::nullopt;
  Expression out;
  out.kind = Expression::Kind::kFunction;
  out.function = *id;
  const Function& function = ast_.functions[*id];
  const std::size_t size = expr.is_list() ? expr.size() - 1 : 0;
  if (size != function.parameters.size()) {
    reporter_.error(expr.where(),
                    str_cat("function ", in_quotes(function.name), " has ",
                            counted(function.parameters.size(), "argument"), ", not ", size),
                    str_cat("it is declared at line ", function.where.line));
    return std::nullopt;
  }
  for (std::size_t i = 1; i <= size; ++i) {
    const std::optional<Term> argument = parse_term(expr[i], scope);
    if (!argument) return std::nullopt;
    check_argument(*argument, scope, function.parameters[to_id<VariableId>(i - 1)].types, expr[i].where(),
                   function.name, i);
    out.arguments.push_back(*argument);
  }
  return out;
}

Condition Parser::parse_compare(SExpr expr, Scope& scope, std::size_t depth) {
  Condition out;
  out.where = expr.where();
  if (!has_size(expr, 3, str_cat("(", expr.head(), " A B)"))) return out;
  use(Feature::kNumbers, expr.where());
  const bool in_durative = std::exchange(in_durative_, false);  // a condition cannot read ?duration
  std::optional<Expression> left = parse_expression(expr[1], scope, depth + 1);
  std::optional<Expression> right = parse_expression(expr[2], scope, depth + 1);
  in_durative_ = in_durative;
  if (!left || !right) return out;
  ast_.has_numbers = true;
  out.kind = Condition::Kind::kCompare;
  out.comparison = *comparison_of(expr.head());
  out.sides.push_back(std::move(*left));
  out.sides.push_back(std::move(*right));
  return out;
}

void Parser::parse_numeric_effect(SExpr expr, Scope& scope, Action& action, const EffectContext& context,
                                  std::size_t depth) {
  if (!has_size(expr, 3, str_cat("(", expr.head(), " (function argument ...) AMOUNT)"))) return;
  std::optional<Expression> target = parse_function_term(expr[1], scope);
  std::optional<Expression> amount = parse_expression(expr[2], scope, depth + 1);
  if (!target || !amount) return;
  if (!spend(context.when_nodes + context.forall.size(), expr.where())) return;
  NumericEffect effect;
  effect.forall = context.forall;
  effect.when = context.when;
  effect.change = *change_of(expr.head());
  effect.function = target->function;
  effect.arguments = std::move(target->arguments);
  effect.amount = std::move(*amount);
  effect.where = expr.where();
  ast_.functions[effect.function].changes = true;
  action.numeric_effects.push_back(std::move(effect));
}

void Parser::finish_numbers() {
  std::vector<FunctionId> queue;
  const auto mark = [&](FunctionId function) {
    if (std::exchange(ast_.functions[function].matters, true)) return;
    queue.push_back(function);
  };
  for (const Action& action : ast_.actions) {
    for_each_function(action.precondition, mark);
    for (const Effect& effect : action.effects) for_each_function(effect.when, mark);
    if (!action.durative) continue;
    for_each_function(action.durative->over_all, mark);
    for_each_function(action.durative->at_end, mark);
    for (const Effect& effect : action.durative->end_effects) for_each_function(effect.when, mark);
  }
  for (const Axiom& axiom : ast_.axioms) for_each_function(axiom.body, mark);
  for (const Constraint& constraint : ast_.constraints) {
    for_each_function(constraint.first, mark);
    for_each_function(constraint.second, mark);
  }
  for (const Preference& preference : ast_.preferences) {
    for (const Constraint& part : preference.parts) {
      for_each_function(part.first, mark);
      for_each_function(part.second, mark);
    }
  }
  for_each_function(ast_.goal.condition, mark);
  while (!queue.empty()) {
    const FunctionId function = queue.back();
    queue.pop_back();
    const auto mark_read = [&](const std::vector<NumericEffect>& effects) {
      for (const NumericEffect& effect : effects) {
        if (effect.function != function) continue;
        for_each_function(effect.amount, mark);
        for_each_function(effect.when, mark);
      }
    };
    for (const Action& action : ast_.actions) {
      mark_read(action.numeric_effects);
      if (action.durative) mark_read(action.durative->end_numeric_effects);
    }
  }
  const auto matters = [&](const NumericEffect& effect) { return ast_.functions[effect.function].matters; };
  for (Action& action : ast_.actions) {
    if (action.durative) {
      Durative& durative = *action.durative;
      std::copy_if(action.numeric_effects.begin(), action.numeric_effects.end(),
                   std::back_inserter(durative.idle_start_effects), std::not_fn(matters));
      std::copy_if(durative.end_numeric_effects.begin(), durative.end_numeric_effects.end(),
                   std::back_inserter(durative.idle_end_effects), std::not_fn(matters));
      std::erase_if(durative.end_numeric_effects, std::not_fn(matters));
    }
    std::erase_if(action.numeric_effects, std::not_fn(matters));
  }
  for (const FunctionValue& value : ast_.init_values) {
    if (!ast_.functions[value.function].matters || value.exact) continue;
    reporter_.error(value.where, "this number has too many digits to be exact", "write fewer");
  }
  warn_of_missing_values();
  for (const auto& [function, where] : cost_functions_) {
    if (!ast_.functions[function].changes) continue;
    reporter_.error(where,
                    str_cat("the cost of an action depends on ", in_quotes(ast_.functions[function].name),
                            ", which actions change"),
                    "a cost is a number, or a function that no action changes");
  }
}

// What has no value is never true in a comparison: the commonest reason is a line that was forgotten. Of a function that no
// action changes values may be left out on purpose (no road from a to b), but not all of them.
void Parser::warn_of_missing_values() {
  if (reporter_.has_errors()) return;  // what could not be read may have given them
  IdVector<FunctionId, bool> assigned(ast_.functions.size(), false);
  const auto note = [&](const std::vector<NumericEffect>& effects) {
    for (const NumericEffect& effect : effects) {
      if (effect.change == NumericEffect::Change::kAssign) assigned[effect.function] = true;
    }
  };
  for (const Action& action : ast_.actions) {
    note(action.numeric_effects);
    if (action.durative) note(action.durative->end_numeric_effects);
  }
  const auto has_objects = [this](const Function& function) {
    return std::all_of(function.parameters.begin(), function.parameters.end(),
                       [this](const Variable& parameter) { return !ast_.objects_of(parameter.types).empty(); });
  };
  IdVector<FunctionId, std::set<std::vector<ObjectId>>> given(ast_.functions.size());
  for (const FunctionValue& value : ast_.init_values) given[value.function].insert(value.arguments);
  for (const FunctionId id : ast_.functions.all()) {
    const Function& function = ast_.functions[id];
    if (!function.matters || assigned[id]) continue;
    const std::size_t arity = function.parameters.size();
    std::vector<ObjectId> arguments;
    if (function.changes && arity == 1) {
      const std::vector<ObjectId> objects = ast_.objects_of(function.parameters[VariableId{0}].types);
      const auto missing = [&](ObjectId object) { return !given[id].contains({object}); };
      const auto first = std::find_if(objects.begin(), objects.end(), missing);
      if (first == objects.end()) continue;
      arguments.push_back(*first);
    } else if (!given[id].empty() || !has_objects(function)) {
      continue;
    }
    std::string text = "(" + function.name;
    for (std::size_t i = 0; i < arity; ++i) {
      text += " " +
              (i < arguments.size() ? ast_.objects[arguments[i]].name : function.parameters[to_id<VariableId>(i)].name);
    }
    text += ")";
    reporter_.warning(function.where,
                      str_cat(text,
                              " has no value in (:init ...), and no action assigns it one: comparisons with it are "
                              "never true, and it cannot be changed"),
                      str_cat("add (= ", text, " NUMBER) to the problem's (:init ...)"));
  }
}

}  // namespace metactrl::pddl
