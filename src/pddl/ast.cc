#include "pddl/ast.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "support/remembered_name.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

bool Ast::is_subtype(TypeId type, TypeId ancestor) const {
  // Up to the first type with two parents there is nothing to remember.
  while (type != ancestor && types[type].parents.size() == 1) type = types[type].parents[0];
  if (type == ancestor) return true;
  std::vector<TypeId> seen = {type};
  for (std::size_t next = 0; next < seen.size(); ++next) {
    for (const TypeId parent : types[seen[next]].parents) {
      if (parent == ancestor) return true;
      if (std::find(seen.begin(), seen.end(), parent) == seen.end()) seen.push_back(parent);
    }
  }
  return false;
}

std::vector<ObjectId> Ast::objects_of(const std::vector<TypeId>& types) const {
  // A table over all types first, so that the cost is types + objects, however many are asked for.
  IdVector<TypeId, char> fits(this->types.size(), 0);
  for (const TypeId type : fits.all()) {
    fits[type] = std::any_of(types.begin(), types.end(), [&](TypeId t) { return is_subtype(type, t); }) ? 1 : 0;
  }
  std::vector<ObjectId> out;
  for (const ObjectId object : objects.all()) {
    const std::vector<TypeId>& own = objects[object].types;
    if (std::any_of(own.begin(), own.end(), [&](TypeId type) { return fits[type] != 0; })) out.push_back(object);
  }
  return out;
}

bool looks_back(const Preference& preference) {
  return std::any_of(preference.parts.begin(), preference.parts.end(),
                     [](const Constraint& part) { return part.kind != Constraint::Kind::kAtEnd; });
}

namespace {

void add_predicates(const Condition& condition, std::set<PredicateId>& out) {
  if (condition.kind == Condition::Kind::kAtom) out.insert(condition.atom.predicate);
  for (const Condition& child : condition.children) add_predicates(child, out);
}

}  // namespace

std::vector<Preference> Ast::take_out_preferences_of_the_way() {
  std::vector<Preference> out;
  std::set<PredicateId> needed;
  for (const Constraint& constraint : constraints) add_predicates(constraint.first, needed);
  const auto is_idle = [&](const GroundAtom& atom) {
    return internal::is_remembered_name(predicates[atom.predicate].name) && !needed.contains(atom.predicate);
  };
  const auto first = std::stable_partition(preferences.begin(), preferences.end(),
                                           [](const Preference& preference) { return !looks_back(preference); });
  std::move(first, preferences.end(), std::back_inserter(out));
  preferences.erase(first, preferences.end());
  std::erase_if(timed, [&](const TimedFact& fact) { return is_idle(fact.atom); });
  std::erase_if(init, is_idle);
  has_durations = !timed.empty() || std::any_of(actions.begin(), actions.end(),
                                                [](const Action& action) { return action.durative.has_value(); });
  return out;
}

namespace {

class Printer {
 public:
  Printer(const Ast& ast, const VariableTable& variables) : ast_(ast), variables_(variables) {}

  void term(const Term& term) {
    out_ += term.is_variable() ? variables_[term.variable()].name : ast_.objects[term.object()].name;
  }

  void atom(const Atom& atom) {
    out_ += '(';
    out_ += ast_.predicates[atom.predicate].name;
    for (const Term& argument : atom.arguments) {
      out_ += ' ';
      term(argument);
    }
    out_ += ')';
  }

  void expression(const Expression& expression) {
    if (expression.kind == Expression::Kind::kNumber) {
      out_ += expression.number.text();
      return;
    }
    out_ += '(';
    const bool function = expression.kind == Expression::Kind::kFunction;
    out_ += function ? ast_.functions[expression.function].name : std::string(to_string(expression.kind));
    for (const Term& argument : expression.arguments) {
      out_ += ' ';
      term(argument);
    }
    for (const Expression& child : expression.children) {
      out_ += ' ';
      this->expression(child);
    }
    out_ += ')';
  }

  void condition(const Condition& condition);

  std::string take() { return std::move(out_); }

 private:
  void types(const std::vector<TypeId>& types) {
    out_ += " - ";
    if (types.size() == 1) {
      out_ += ast_.types[types[0]].name;
      return;
    }
    out_ += "(either";
    for (const TypeId type : types) out_ += " " + ast_.types[type].name;
    out_ += ')';
  }

  // " (?x - t ?y - u)"
  void binder(const VariableId* begin, const VariableId* end) {
    out_ += " (";
    for (const VariableId* variable = begin; variable != end; ++variable) {
      if (variable != begin) out_ += ' ';
      out_ += variables_[*variable].name;
      types(variables_[*variable].types);
    }
    out_ += ')';
  }

  void list(const char* head, const std::vector<Condition>& children) {
    out_ += '(';
    out_ += head;
    for (const Condition& child : children) {
      out_ += ' ';
      condition(child);
    }
    out_ += ')';
  }

  void quantifier(const std::string& head, const Condition& condition);

  const Ast& ast_;
  const VariableTable& variables_;
  std::string out_;
};

void Printer::quantifier(const std::string& head, const Condition& condition) {
  out_ += '(' + head;
  const VariableId* begin = condition.bound.data();
  const VariableId* end = begin + condition.bound.size();
  if (condition.kind == Condition::Kind::kMatching) {
    binder(begin, begin + 1);
    binder(begin + 1, end);
  } else {
    binder(begin, end);
  }
  out_ += ' ';
  this->condition(condition.children[0]);
  out_ += ')';
}

void Printer::condition(const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::kTrue:
      out_ += "(and)";
      return;
    case Condition::Kind::kFalse:
      out_ += "(or)";
      return;
    case Condition::Kind::kAtom:
      atom(condition.atom);
      return;
    case Condition::Kind::kEquals:
      out_ += "(= ";
      term(condition.terms[0]);
      out_ += ' ';
      term(condition.terms[1]);
      out_ += ')';
      return;
    case Condition::Kind::kCompare:
      out_ += str_cat('(', to_string(condition.comparison), ' ');
      expression(condition.sides[0]);
      out_ += ' ';
      expression(condition.sides[1]);
      out_ += ')';
      return;
    case Condition::Kind::kNot:
      list("not", condition.children);
      return;
    case Condition::Kind::kAnd:
      list("and", condition.children);
      return;
    case Condition::Kind::kOr:
      list("or", condition.children);
      return;
    case Condition::Kind::kForall:
      quantifier("forall", condition);
      return;
    case Condition::Kind::kExists:
      quantifier("exists", condition);
      return;
    case Condition::Kind::kAtLeast:
      quantifier(str_cat("forn (", condition.count, ')'), condition);
      return;
    case Condition::Kind::kMatching:
      quantifier(condition.count == Condition::kAllPairs ? std::string("forpairs")
                                                         : str_cat("fornpairs (", condition.count, ')'),
                 condition);
      return;
  }
}

}  // namespace

std::string to_string(const Ast& ast, const VariableTable& variables, const Atom& atom) {
  Printer printer(ast, variables);
  printer.atom(atom);
  return printer.take();
}

std::string to_string(const Ast& ast, const VariableTable& variables, const Condition& condition) {
  Printer printer(ast, variables);
  printer.condition(condition);
  return printer.take();
}

std::string to_string(const Ast& ast, const VariableTable& variables, const Expression& expression) {
  Printer printer(ast, variables);
  printer.expression(expression);
  return printer.take();
}

const char* to_string(Condition::Comparison comparison) {
  constexpr std::array<const char*, 5> kNames = {"<", "<=", "=", ">=", ">"};
  return kNames[static_cast<std::size_t>(comparison)];
}

const char* to_string(NumericEffect::Change change) {
  constexpr std::array<const char*, 5> kNames = {"assign", "increase", "decrease", "scale-up", "scale-down"};
  return kNames[static_cast<std::size_t>(change)];
}

const char* to_string(Expression::Kind kind) {
  constexpr std::array<const char*, 9> kNames = {"", "", "+", "-", "*", "/", "max", "min", "?duration ="};
  return kNames[static_cast<std::size_t>(kind)];
}

bool compares(Condition::Comparison comparison, const Rational& left, const Rational& right) {
  switch (comparison) {
    case Condition::Comparison::kLess:
      return left < right;
    case Condition::Comparison::kAtMost:
      return left <= right;
    case Condition::Comparison::kEqual:
      return left == right;
    case Condition::Comparison::kAtLeast:
      return left >= right;
    case Condition::Comparison::kMore:
      return left > right;
  }
  return false;
}

std::string to_string(const Ast& ast, const GroundAtom& atom) {
  std::string out = "(" + ast.predicates[atom.predicate].name;
  for (const ObjectId object : atom.arguments) out += " " + ast.objects[object].name;
  return out + ")";
}

std::optional<Rational> combined(Expression::Kind kind, const Rational& left, const Rational& right) {
  switch (kind) {
    case Expression::Kind::kAdd:
      return add(left, right);
    case Expression::Kind::kSubtract:
      return subtract(left, right);
    case Expression::Kind::kMultiply:
      return multiply(left, right);
    case Expression::Kind::kMost:
      return std::max(left, right);
    case Expression::Kind::kLeast:
      return std::min(left, right);
    default:
      return divide(left, right);
  }
}

std::optional<double> value_at_start(const Expression& expression, const Binding& binding, const StartValues& values,
                                     const Rational* duration) {
  const auto in_double = [](const Rational& number) {
    return static_cast<double>(number.numerator()) / static_cast<double>(number.denominator());
  };
  if (expression.kind == Expression::Kind::kNumber) return in_double(expression.number);
  if (expression.kind == Expression::Kind::kFunction) {
    std::vector<ObjectId> arguments;
    for (const Term& term : expression.arguments) arguments.push_back(term.under(binding));
    const auto found = values.find({expression.function, arguments});
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  if (expression.kind == Expression::Kind::kDuration && duration != nullptr) return in_double(*duration);
  const std::optional<double> left = value_at_start(expression.children[0], binding, values, duration);
  if (expression.kind == Expression::Kind::kDuration) return left;
  const std::optional<double> right = value_at_start(expression.children[1], binding, values, duration);
  if (!left || !right) return std::nullopt;
  switch (expression.kind) {
    case Expression::Kind::kAdd:
      return *left + *right;
    case Expression::Kind::kSubtract:
      return *left - *right;
    case Expression::Kind::kMultiply:
      return *left * *right;
    case Expression::Kind::kMost:
      return std::max(*left, *right);
    case Expression::Kind::kLeast:
      return std::min(*left, *right);
    default:
      return *right == 0 ? std::nullopt : std::optional(*left / *right);
  }
}

}  // namespace metactrl::pddl
