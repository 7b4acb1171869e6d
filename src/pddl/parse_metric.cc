// Metrics beyond one function that counts costs: (:metric minimize (+ (* 4 (total-time)) (fuel-used))).
//
// A metric that is linear in the time and in functions without arguments becomes one cost for each action: the weight of
// the time times its duration, and of each function times what the action adds to it. That needs additions that always
// happen and that nothing changes, and costs that are not negative; they are told apart by their form, before anything is
// grounded. The time is the sum of the durations there, which is what the order of the actions does not change; what the
// metric is of a schedule, in which they overlap or have gaps between them, is worked out once there is one. Other metrics
// are ignored with a warning: a metric ranks plans, and every plan is one without it.
#include <algorithm>
#include <utility>

#include "pddl/durations.h"
#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

Expression number_of(const Rational& number) {
  Expression out;
  out.number = number;
  return out;
}

Expression both(Expression::Kind kind, Expression left, Expression right) {
  Expression out;
  out.kind = kind;
  out.children.push_back(std::move(left));
  out.children.push_back(std::move(right));
  return out;
}

double to_double(const Rational& number) {
  return static_cast<double>(number.numerator()) / static_cast<double>(number.denominator());
}

}  // namespace

std::optional<Rational> Parser::constant_factor(SExpr expr) const {
  return expr.is_name() && parse_number(expr.text()) ? Rational::parse(expr.text()) : std::nullopt;
}

// False for what is not linear.
bool Parser::add_weights(SExpr expr, const Rational& factor, MetricWeights& out, std::size_t depth) {
  if (!check_depth(expr, depth)) return false;
  if (const std::optional<Rational> number = constant_factor(expr)) {  // the same for all plans
    out.constant += to_double(factor) * to_double(*number);
    return true;
  }
  const std::string_view head = expr.is_list() ? expr.head() : expr.text();
  const auto found = functions_.find(head);
  if (found != functions_.end() && expr.size() > 1 && out.with_arguments.empty()) out.with_arguments = expr.to_text(60);
  if (head == "total-time" || (found != functions_.end() && expr.size() <= 1)) {
    Rational& weight = head == "total-time" ? out.time : out.functions[found->second];
    const std::optional<Rational> sum = add(weight, factor);
    if (sum) weight = *sum;
    return sum.has_value();
  }
  if (head == "is-violated") {
    if (expr.size() != 2 || !expr[1].is_name()) {
      reporter_.error(expr.where(), str_cat(expr.to_text(60), " is not (is-violated NAME)"),
                      "it takes the name alone and counts all that have it: give those that are to count differently "
                      "names of their own");
      out.refused = true;
      return false;
    }
    violated_.emplace(expr[1].text(), expr);
    Rational& weight = out.preferences[expr[1].text()];
    const std::optional<Rational> sum = add(weight, factor);
    if (sum) weight = *sum;
    return sum.has_value();
  }
  if (head == "+" || head == "-") {
    const std::optional<Rational> minus = subtract(Rational(0), factor);
    for (std::size_t i = 1; i < expr.size(); ++i) {
      const bool negative = head == "-" && (i > 1 || expr.size() == 2);
      if (!minus || !add_weights(expr[i], negative ? *minus : factor, out, depth + 1)) return false;
    }
    return true;
  }
  if (head == "*" || head == "/") {
    std::optional<Rational> product = factor;
    std::optional<SExpr> rest;
    for (std::size_t i = 1; i < expr.size(); ++i) {
      if (const std::optional<Rational> number = constant_factor(expr[i])) {
        if (head == "/" && i == 1) return false;
        if (product) product = head == "*" ? multiply(*product, *number) : divide(*product, *number);
      } else if (rest) {
        return false;
      } else {
        rest = expr[i];
      }
    }
    return product && rest && add_weights(*rest, *product, out, depth + 1);
  }
  return false;
}

bool Parser::never_negative(const Expression& expression) const {
  switch (expression.kind) {
    case Expression::Kind::kNumber:
      return expression.number >= Rational(0);
    case Expression::Kind::kFunction:
      return !ast_.functions[expression.function].changes &&
             std::none_of(ast_.init_values.begin(), ast_.init_values.end(), [&](const FunctionValue& value) {
               return value.function == expression.function && value.value < 0;
             });
    case Expression::Kind::kSubtract:
      return false;
    case Expression::Kind::kMost:
      return never_negative(expression.children[0]) || never_negative(expression.children[1]);
    default:
      return std::all_of(expression.children.begin(), expression.children.end(),
                         [&](const Expression& child) { return never_negative(child); });
  }
}

std::optional<Expression> Parser::metric_cost(const Action& action, const MetricWeights& weights) const {
  Expression sum = number_of(Rational(0));
  const auto add_part = [&](const Rational& weight, const Expression& amount) {
    if (weight < Rational(0) || !never_negative(amount)) return false;
    sum = both(Expression::Kind::kAdd, std::move(sum), both(Expression::Kind::kMultiply, number_of(weight), amount));
    return true;
  };
  const auto add_changes = [&](const std::vector<NumericEffect>& effects) {
    return std::all_of(effects.begin(), effects.end(), [&](const NumericEffect& effect) {
      const auto weight = weights.functions.find(effect.function);
      if (weight == weights.functions.end() || weight->second == Rational(0)) return true;
      const bool rises = effect.change == NumericEffect::Change::kIncrease;
      if (!rises && effect.change != NumericEffect::Change::kDecrease) return false;
      if (!effect.forall.empty() || effect.when.kind != Condition::Kind::kTrue) return false;
      const std::optional<Rational> signed_weight =
          rises ? std::optional(weight->second) : subtract(Rational(0), weight->second);
      return signed_weight && add_part(*signed_weight, effect.amount);
    });
  };
  if (!add_changes(action.numeric_effects)) return std::nullopt;
  const bool steps = weights.time != Rational(0) && !ast_.has_durations;
  if (steps && !add_part(weights.time, number_of(Rational(1)))) return std::nullopt;
  if (action.durative) {
    if (!add_changes(action.durative->end_numeric_effects)) return std::nullopt;
    if (weights.time != Rational(0) && !add_part(weights.time, duration_of(*action.durative))) return std::nullopt;
  }
  return sum;
}

// What no plan changes: numbers, and what functions are worth at the start.
double Parser::constant_of(const MetricWeights& weights) const {
  double sum = weights.constant;
  for (const FunctionValue& value : ast_.init_values) {
    const auto weight = weights.functions.find(value.function);
    if (weight != weights.functions.end()) sum += to_double(weight->second) * value.value;
  }
  return sum;
}

void Parser::finish_metric() {
  const SExpr what = (*metric_)[2];
  MetricWeights weights;
  const bool maximize = (*metric_)[1].text() == "maximize";
  bool good = add_weights(what, Rational(maximize ? -1 : 1), weights, 0);
  if (weights.refused) return;
  weigh_preferences(good && !weights.preferences.empty() ? &weights.preferences : nullptr);
  const auto is_zero = [](const auto& part) { return part.second == Rational(0); };
  const bool costs_nothing =
      weights.time == Rational(0) && std::all_of(weights.functions.begin(), weights.functions.end(), is_zero);
  if (good && costs_nothing && !weights.preferences.empty()) return;
  // Where no action takes time, each counts as one step; that alone is what is minimized without a metric.
  const bool steps = weights.time != Rational(0) && !ast_.has_durations;
  const bool timeless = good && steps && std::all_of(weights.functions.begin(), weights.functions.end(), is_zero);
  good = good && !timeless;
  bool counts = false;  // anything at all
  std::string spoiler;
  std::vector<Expression> costs;
  for (const Action& action : ast_.actions) {
    const std::optional<Expression> cost = good ? metric_cost(action, weights) : std::nullopt;
    if (good && !cost) spoiler = str_cat("; what action ", in_quotes(action.name), " adds is none of that");
    good = good && cost;
    if (good) costs.push_back(*cost);
    counts = counts || (good && !cost->children.empty());
  }
  if (!good || !counts) {
    const std::string instead = str_cat("; instead of ", weights.with_arguments,
                                        ", minimize a function without arguments that the same effects change");
    reporter_.warning(metric_->where(),
                      str_cat("the metric ", what.to_text(60), " is ignored",
                              weights.preferences.empty() ? "" : " but for the weights of preferences"),
                      timeless ? "no action takes time: each counts as one step"
                               : str_cat("sums of (total-time) and of functions without arguments are minimized, where "
                                         "actions add to them what is not negative and never changes",
                                         spoiler, weights.with_arguments.empty() ? "" : instead));
    return;
  }
  if (steps) {
    reporter_.warning(metric_->where(), "no action takes time, so (total-time) counts each as one step",
                      "delete it, or write durative actions");
  }
  for (std::size_t i = 0; i < costs.size(); ++i) ast_.actions[to_id<ActionNameId>(i)].metric_cost = std::move(costs[i]);
  ast_.has_metric = true;
  if (weights.time != Rational(0) && ast_.has_durations)
    ast_.time_in_metric = {to_double(weights.time), constant_of(weights), maximize ? -1.0 : 1.0};
}

}  // namespace metactrl::pddl
