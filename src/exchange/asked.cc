// Of each number the values that a conjunction allows are collected: a disjunction of some of its values allows those, a
// negated value all others. What is left is said by where it lies among all values: those from one on, those up to one,
// those between two, or several such stretches. But a bound of 6 where the values are 5 and 8 becomes one of 8 so, and a
// comparison of several numbers is a disjunction of choices of values, from which it cannot be read back: where all
// comparisons stand by themselves in the domain, they are taken from there.
#include "exchange/asked.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "pddl/interpret.h"
#include "support/str_cat.h"
#include "task/program.h"

namespace metactrl::exchange {

using internal::Rational;
using internal::str_cat;
using task::Formula;

namespace {

Asked asked_fact(std::string text, bool negated = false) {
  Asked out;
  out.kind = Asked::Kind::kFact;
  out.fact = std::move(text);
  out.negated = negated;
  return out;
}

Asked list_of(Asked::Kind kind, std::vector<Asked> children) {
  if (children.size() == 1) return std::move(children[0]);
  Asked out;
  out.kind = kind;
  out.children = std::move(children);
  return out;
}

Asked not_any(bool any) {
  Asked out;
  out.kind = any ? Asked::Kind::kFalse : Asked::Kind::kTrue;
  return out;
}

// Of what no action changes.
std::optional<Rational> fixed_value(const pddl::Ast& ast, const pddl::Expression& expression,
                                    const pddl::Binding& binding) {
  using Kind = pddl::Expression::Kind;
  if (expression.kind == Kind::kNumber) return expression.number;
  if (expression.kind == Kind::kFunction) {
    if (ast.functions[expression.function].changes) return std::nullopt;
    const auto same = [&](const pddl::FunctionValue& value) {
      return value.function == expression.function &&
             std::ranges::equal(value.arguments, expression.arguments, {}, {},
                                [&](const pddl::Term& term) { return term.under(binding); });
    };
    const auto found = std::ranges::find_if(ast.init_values, same);
    return found == ast.init_values.end() ? std::nullopt : found->exact;
  }
  if (expression.kind == Kind::kDuration) return fixed_value(ast, expression.children[0], binding);
  const std::optional<Rational> left = fixed_value(ast, expression.children[0], binding);
  const std::optional<Rational> right = fixed_value(ast, expression.children[1], binding);
  return left && right ? pddl::combined(expression.kind, *left, *right) : std::nullopt;
}

// With the objects in the variables' places, and what no action changes worked out.
std::string ground_text(const pddl::Ast& ast, const pddl::Expression& expression, const pddl::Binding& binding) {
  if (const std::optional<Rational> value = fixed_value(ast, expression, binding)) return value->text();
  std::string out = "(";
  if (expression.kind == pddl::Expression::Kind::kFunction) {
    out += ast.functions[expression.function].name;
    for (const pddl::Term& term : expression.arguments) out += " " + ast.objects[term.under(binding)].name;
  } else {
    out += pddl::to_string(expression.kind);
    for (const pddl::Expression& child : expression.children) out += " " + ground_text(ast, child, binding);
  }
  return out + ")";
}

void collect_functions(const pddl::Expression& expression, std::set<pddl::FunctionId>& out) {
  if (expression.kind == pddl::Expression::Kind::kFunction) out.insert(expression.function);
  for (const pddl::Expression& child : expression.children) collect_functions(child, out);
}

// The comparisons that stand by themselves in the condition; false where numbers are compared elsewhere in it, too, or
// where one of `changed` is.
bool collect_comparisons(const pddl::Ast& ast, const pddl::Condition& condition, const pddl::Binding& binding,
                         const std::set<pddl::FunctionId>& changed, std::vector<std::string>& out) {
  if (condition.kind == pddl::Condition::Kind::kAnd) {
    return std::ranges::all_of(condition.children, [&](const pddl::Condition& child) {
      return collect_comparisons(ast, child, binding, changed, out);
    });
  }
  if (condition.kind != pddl::Condition::Kind::kCompare) {
    return std::ranges::all_of(condition.children, [&](const pddl::Condition& child) {
      std::vector<std::string> inner;
      return child.kind != pddl::Condition::Kind::kCompare &&
             collect_comparisons(ast, child, binding, changed, inner) && inner.empty();
    });
  }
  std::set<pddl::FunctionId> read;
  for (const pddl::Expression& side : condition.sides) collect_functions(side, read);
  if (std::ranges::any_of(read, [&](pddl::FunctionId function) { return changed.contains(function); })) return false;
  if (std::ranges::none_of(read, [&](pddl::FunctionId function) { return ast.functions[function].changes; }))
    return true;
  out.push_back(str_cat("(", pddl::to_string(condition.comparison), " ", ground_text(ast, condition.sides[0], binding),
                        " ", ground_text(ast, condition.sides[1], binding), ")"));
  return true;
}

bool is_comparison(std::string_view text) {
  return text.starts_with("(< ") || text.starts_with("(<= ") || text.starts_with("(> ") || text.starts_with("(>= ") ||
         text.starts_with("(= ");
}

}  // namespace

std::string to_string(const Asked& asked) {
  const auto list = [&](const std::string& head) {
    std::string out = "(" + head;
    for (const Asked& child : asked.children) out += " " + to_string(child);
    return out + ")";
  };
  const auto negated = [&](const std::string& text) { return asked.negated ? "(not " + text + ")" : text; };
  switch (asked.kind) {
    case Asked::Kind::kTrue:
      return "(and)";
    case Asked::Kind::kFalse:
      return "(or)";
    case Asked::Kind::kFact:
      return negated(asked.fact);
    case Asked::Kind::kAnd:
      return list("and");
    case Asked::Kind::kOr:
      return list("or");
    case Asked::Kind::kAtLeast:
      return list(str_cat("at-least ", asked.count));
    case Asked::Kind::kMatching:
      break;
  }
  std::string out = str_cat("(pairs ", asked.count);
  for (std::size_t i = 0; i < asked.children.size(); ++i) {
    out += i % asked.columns == 0 ? " (" : " ";
    out += to_string(asked.children[i]);
    if (i % asked.columns + 1 == asked.columns) out += ")";
  }
  return negated(out + ")");
}

// What numbers are called in a ground task: "charge=0.25", with objects behind.
AskedConditions::AskedConditions(const Task& task) : task_(task) {
  const auto* interpreter = dynamic_cast<const pddl::LiftedInterpreter*>(task.reference());
  if (interpreter == nullptr) return;
  ast_ = &interpreter->ast();
  if (!ast_->has_numbers) return;
  const task::Definition& definition = task.program().definition();
  const auto is_function = [&](std::string_view name) {
    return std::ranges::any_of(ast_->functions, [&](const pddl::Function& function) { return function.name == name; });
  };
  for (const task::FactId fact : definition.facts.all()) {
    const task::FactSymbol& symbol = definition.facts[fact];
    if (internal::index(symbol.name) < ast_->predicates.size()) continue;
    const std::string& name = definition.predicate_names[symbol.name];
    const std::size_t equals = name.find('=');
    if (equals == std::string::npos || !is_function(name.substr(0, equals))) continue;
    const std::string value = name.substr(equals + 1);
    const std::size_t slash = value.find('/');
    std::optional<Rational> exact = Rational::parse(value.substr(0, slash));
    const std::optional<Rational> below =
        slash == std::string::npos ? Rational(1) : Rational::parse(value.substr(slash + 1));
    if (exact && below) exact = divide(*exact, *below);
    if (!exact || !below) continue;
    std::string text = "(" + name.substr(0, equals);
    for (const ObjectId object : symbol.arguments) text += " " + definition.objects[object];
    text += ")";
    Number& number = numbers_[text];
    number.text = text;
    number.values[*exact] = fact;
    number.given = number.given || definition.init[fact];
    facts_[fact] = {&number, *exact};
    texts_[task::fact_text(definition, fact)] = str_cat("(= ", text, " ", value, ")");
  }
}

std::optional<std::string> AskedConditions::number_text(const std::string& fact) const {
  const auto found = texts_.find(fact);
  return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Asked> AskedConditions::precondition(const PlanStep& step, const Formula& formula) const {
  if (numbers_.empty()) return conjuncts(formula, nullptr);
  const auto action = std::ranges::find_if(ast_->actions, [&](const auto& one) { return one.name == step.action; });
  if (action == ast_->actions.end()) return conjuncts(formula, nullptr);
  pddl::Binding binding(action->variables.size(), pddl::kUnbound);
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const auto same = [&](ObjectId object) { return ast_->objects[object].name == step.arguments[i]; };
    for (const ObjectId object : ast_->objects.all()) {
      if (same(object)) binding[internal::to_id<pddl::VariableId>(i)] = object;
    }
  }
  std::vector<std::string> texts;
  bool known = collect_comparisons(*ast_, action->precondition, binding, {}, texts);
  if (action->durative) {
    std::set<pddl::FunctionId> changed;
    for (const pddl::NumericEffect& effect : action->numeric_effects) changed.insert(effect.function);
    known = known && collect_comparisons(*ast_, action->durative->over_all, binding, changed, texts) &&
            collect_comparisons(*ast_, action->durative->at_end, binding, changed, texts);
  }
  return conjuncts(formula, known ? &texts : nullptr);
}

std::vector<Asked> AskedConditions::goal(const std::string& text, const Formula& formula) const {
  if (is_comparison(text) && numbers_alone(formula)) return {asked_fact(text)};
  return conjuncts(formula, nullptr);
}

const AskedConditions::Number* AskedConditions::number_of(const Formula& literal) const {
  if (literal.kind != Formula::Kind::kLiteral) return nullptr;
  const auto found = facts_.find(literal.fact);
  return found == facts_.end() ? nullptr : found->second.first;
}

bool AskedConditions::numbers_alone(const Formula& formula) const {
  if (formula.kind == Formula::Kind::kLiteral) return number_of(formula) != nullptr;
  return !formula.children.empty() &&
         std::ranges::all_of(formula.children, [this](const Formula& child) { return numbers_alone(child); });
}

// `comparisons`: instead of those conjuncts that speak of numbers alone.
std::vector<Asked> AskedConditions::conjuncts(const Formula& formula,
                                              const std::vector<std::string>* comparisons) const {
  std::vector<Asked> out;
  std::map<const Number*, Values> allowed;
  bool compared = false;
  const auto values = [&](const Number& number) -> Values& {
    const auto [entry, is_new] = allowed.try_emplace(&number);
    if (is_new) {
      for (const auto& [value, fact] : number.values) entry->second.insert(value);
    }
    return entry->second;
  };
  const auto visit = [&](const auto& self, const Formula& part) -> void {
    if (part.is_true()) return;
    if (part.kind == Formula::Kind::kAnd) {
      for (const Formula& child : part.children) self(self, child);
      return;
    }
    if (comparisons != nullptr && numbers_alone(part)) {
      compared = true;
      return;
    }
    if (const Number* const number = number_of(part); number != nullptr && (number->given || !part.negated)) {
      const Rational& value = facts_.at(part.fact).second;
      if (part.negated) {
        values(*number).erase(value);
      } else {
        std::erase_if(values(*number), [&](const Rational& other) { return other != value; });
      }
      return;
    }
    const bool choices = part.kind == Formula::Kind::kOr && !part.children.empty() &&
                         number_of(part.children[0]) != nullptr &&
                         std::ranges::all_of(part.children, [&](const Formula& child) {
                           return !child.negated && number_of(child) == number_of(part.children[0]);
                         });
    if (choices) {
      Values these;
      for (const Formula& child : part.children) these.insert(facts_.at(child.fact).second);
      std::erase_if(values(*number_of(part.children[0])),
                    [&](const Rational& value) { return !these.contains(value); });
      return;
    }
    out.push_back(read(part));
  };
  visit(visit, formula);
  for (const auto& [text, number] : numbers_) {
    const auto found = allowed.find(&number);
    if (found != allowed.end() && found->second.size() < number.values.size())
      out.push_back(within(number, found->second));
  }
  if (!compared) return out;
  for (const std::string& text : *comparisons) out.push_back(asked_fact(text));
  return out;
}

Asked AskedConditions::read(const Formula& formula) const {
  if (formula.kind == Formula::Kind::kLiteral) {
    std::string text = task::fact_text(task_.program().definition(), formula.fact);
    return asked_fact(number_text(text).value_or(text), formula.negated);
  }
  if (formula.kind == Formula::Kind::kAnd) return list_of(Asked::Kind::kAnd, conjuncts(formula, nullptr));
  if (formula.kind == Formula::Kind::kOr) return any_of(formula);
  if (formula.children.empty()) return not_any(formula.is_false());
  Asked out;
  out.kind = formula.kind == Formula::Kind::kAtLeast ? Asked::Kind::kAtLeast : Asked::Kind::kMatching;
  out.negated = formula.negated;
  out.count = formula.count;
  out.columns = formula.count2;
  for (const Formula& child : formula.children) out.children.push_back(read(child));
  return out;
}

// Values of one number are one member.
Asked AskedConditions::any_of(const Formula& formula) const {
  std::vector<Asked> out;
  std::map<const Number*, Values> allowed;
  for (const Formula& child : formula.children) {
    const Number* const number = number_of(child);
    if (number != nullptr && !child.negated) {
      allowed[number].insert(facts_.at(child.fact).second);
    } else {
      out.push_back(read(child));
    }
  }
  for (const auto& [text, number] : numbers_) {
    const auto found = allowed.find(&number);
    if (found != allowed.end()) out.push_back(within(number, found->second));
  }
  return list_of(Asked::Kind::kOr, std::move(out));
}

Asked AskedConditions::within(const Number& number, const Values& allowed) const {
  if (allowed.empty()) return not_any(true);
  const auto compare = [&](const char* how, const Rational& value) {
    return asked_fact(str_cat("(", how, " ", number.text, " ", value.text(), ")"));
  };
  std::vector<Asked> stretches;
  auto at = number.values.begin();
  while (at != number.values.end()) {
    if (!allowed.contains(at->first)) {
      ++at;
      continue;
    }
    const auto first = at;
    auto last = at;
    for (; at != number.values.end() && allowed.contains(at->first); ++at) last = at;
    const bool from_least = first == number.values.begin();
    const bool to_largest = at == number.values.end();
    if (to_largest) {
      stretches.push_back(compare(">=", first->first));
    } else if (from_least) {
      stretches.push_back(compare("<=", last->first));
    } else if (first == last) {
      stretches.push_back(compare("=", first->first));
    } else {
      stretches.push_back(list_of(Asked::Kind::kAnd, {compare(">=", first->first), compare("<=", last->first)}));
    }
  }
  return list_of(Asked::Kind::kOr, std::move(stretches));
}

}  // namespace metactrl::exchange
