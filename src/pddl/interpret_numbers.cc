// Numbers of a state: what expressions are worth there, and what an action makes of them.
#include <algorithm>

#include "pddl/interpret.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

std::optional<Rational> LiftedInterpreter::value(const Expression& expression, const Scope& scope,
                                                 const FactView& facts) const {
  if (expression.kind == Expression::Kind::kNumber) return expression.number;
  if (expression.kind == Expression::Kind::kFunction) {
    Fluent fluent{expression.function, {}};
    for (const Term& term : expression.arguments) fluent.arguments.push_back(term.under(scope.binding));
    const auto found = facts.values().find(fluent);
    return found == facts.values().end() ? std::nullopt : std::optional(found->second);
  }
  if (expression.kind == Expression::Kind::kDuration)
    return scope.duration != nullptr ? *scope.duration : value(expression.children[0], scope, facts);
  const std::optional<Rational> left = value(expression.children[0], scope, facts);
  const std::optional<Rational> right = value(expression.children[1], scope, facts);
  return left && right ? combined(expression.kind, *left, *right) : std::nullopt;
}

bool LiftedInterpreter::compare(const Condition& condition, const Scope& scope, const FactView& facts) const {
  const std::optional<Rational> left = value(condition.sides[0], scope, facts);
  const std::optional<Rational> right = value(condition.sides[1], scope, facts);
  return left && right && compares(condition.comparison, *left, *right);
}

LiftedInterpreter::Changes LiftedInterpreter::changes(const FactView& facts, const Instance& instance,
                                                      const std::vector<NumericEffect>& effects, internal::Meter& meter,
                                                      const Rational* duration) const {
  Changes result;
  const Action& action = ast_->actions[instance.action];
  if (effects.empty()) return result;
  Scope scope(action.variables, meter);
  std::copy(instance.arguments.begin(), instance.arguments.end(), scope.binding.begin());
  scope.duration = duration;
  // By number, the effects on it: how many, and whether all of them add.
  std::map<Fluent, std::pair<std::size_t, bool>> seen;
  for (const NumericEffect& effect : effects) {
    std::vector<std::vector<ObjectId>> done;  // a solution may come more than once
    for_each_solution(effect.when, effect.forall, scope, facts, [&] {
      std::vector<ObjectId> objects;
      for (const VariableId variable : effect.forall) objects.push_back(scope.binding[variable]);
      if (std::find(done.begin(), done.end(), objects) != done.end()) return true;
      done.push_back(std::move(objects));
      change(effect, scope, facts, seen, result);
      return true;
    });
  }
  return result;
}

void LiftedInterpreter::change(const NumericEffect& effect, const Scope& scope, const FactView& facts,
                               std::map<Fluent, std::pair<std::size_t, bool>>& seen, Changes& result) const {
  using Change = NumericEffect::Change;
  Fluent fluent{effect.function, {}};
  for (const Term& term : effect.arguments) fluent.arguments.push_back(term.under(scope.binding));
  const std::optional<Rational> amount = value(effect.amount, scope, facts);
  const auto old = facts.values().find(fluent);
  const bool adds = effect.change == Change::kIncrease || effect.change == Change::kDecrease;
  auto& [count, all_add] = seen.try_emplace(fluent, 0, true).first->second;
  ++count;
  all_add = all_add && adds;
  if (count > 1 && !all_add) {
    result.problem = str_cat("two of its effects change ", fluent_text(fluent), " at once");
    return;
  }
  std::optional<Rational> next = amount;
  if (effect.change != Change::kAssign) {
    if (old == facts.values().end()) {
      result.problem = str_cat("it changes ", fluent_text(fluent), ", which has no value");
      return;
    }
    const auto so_far = result.values.find(fluent);
    const Rational& base = so_far == result.values.end() ? old->second : so_far->second;
    if (amount) {
      next = effect.change == Change::kIncrease   ? add(base, *amount)
             : effect.change == Change::kDecrease ? subtract(base, *amount)
             : effect.change == Change::kScaleUp  ? multiply(base, *amount)
                                                  : divide(base, *amount);
    }
  }
  if (!next) {
    result.problem = str_cat("what it makes of ", fluent_text(fluent), " has no value");
    return;
  }
  result.values.insert_or_assign(std::move(fluent), *next);
}

std::string LiftedInterpreter::fluent_text(const Fluent& fluent) const {
  std::string out = "(" + ast_->functions[fluent.name].name;
  for (const ObjectId object : fluent.arguments) out += " " + ast_->objects[object].name;
  return out + ")";
}

// "(battery r1) is 7", for each function in it.
void LiftedInterpreter::values_text(const Expression& expression, const Scope& scope, const FactView& facts,
                                    std::string& out) const {
  for (const Expression& child : expression.children) values_text(child, scope, facts, out);
  if (expression.kind != Expression::Kind::kFunction) return;
  Fluent fluent{expression.function, {}};
  for (const Term& term : expression.arguments) {
    fluent.arguments.push_back(term.under(scope.binding));
    if (fluent.arguments.back() == kUnbound) return;
  }
  const auto found = facts.values().find(fluent);
  out += str_cat(out.empty() ? "" : ", ", fluent_text(fluent),
                 found == facts.values().end() ? " has no value" : " is " + found->second.text());
}

}  // namespace metactrl::pddl
