// What the interpreter says: ground text of conditions, and the smallest part of a condition that decides it.
#include <algorithm>

#include "pddl/interpret.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

std::string term_text(const Ast& ast, const Term& term, const VariableTable& variables, const Binding& binding) {
  const ObjectId object = term.under(binding);
  return object == kUnbound ? variables[term.variable()].name : ast.objects[object].name;
}

}  // namespace

std::string LiftedInterpreter::fact_text(const Fact& fact) const {
  std::string out = "(" + ast_->predicates[fact.name].name;
  for (const ObjectId object : fact.arguments) out += " " + ast_->objects[object].name;
  return out + ")";
}

std::string LiftedInterpreter::text(const Atom& atom, const Scope& scope) const {
  std::string out = "(" + ast_->predicates[atom.predicate].name;
  for (const Term& term : atom.arguments) out += " " + term_text(*ast_, term, scope.variables, scope.binding);
  return out + ")";
}

std::string LiftedInterpreter::text(const Expression& expression, const Scope& scope) const {
  if (expression.kind == Expression::Kind::kNumber) return expression.number.text();
  const bool function = expression.kind == Expression::Kind::kFunction;
  std::string out = str_cat('(', function ? ast_->functions[expression.function].name : to_string(expression.kind));
  for (const Term& term : expression.arguments) out += " " + term_text(*ast_, term, scope.variables, scope.binding);
  for (const Expression& child : expression.children) out += " " + text(child, scope);
  return out + ")";
}

std::string LiftedInterpreter::type_text(const std::vector<TypeId>& types) const {
  if (types.size() == 1) return ast_->types[types[0]].name;
  std::string out = "(either";
  for (const TypeId type : types) out += " " + ast_->types[type].name;
  return out + ")";
}

std::string LiftedInterpreter::declaration_text(const VariableTable& variables,
                                                std::span<const VariableId> bound) const {
  std::string out = "(";
  for (const VariableId variable : bound) {
    if (out.size() > 1) out += ' ';
    out += variables[variable].name;
    const std::vector<TypeId>& types = variables[variable].types;
    if (types.size() != 1 || types[0] != kObjectType) out += " - " + type_text(types);
  }
  return out + ")";
}

std::string LiftedInterpreter::binding_text(const VariableTable& variables, std::span<const VariableId> bound,
                                            const Binding& binding) const {
  std::string out;
  for (const VariableId variable : bound) {
    out +=
        str_cat(out.empty() ? " for " : ", ", variables[variable].name, " = ", ast_->objects[binding[variable]].name);
  }
  return out;
}

std::string LiftedInterpreter::text(const Condition& condition, const Scope& scope) const {
  const auto children = [&] {
    std::string out;
    for (const Condition& child : condition.children) out += " " + text(child, scope);
    return out + ")";
  };
  const auto declare = [&](std::size_t first, std::size_t count) {
    return declaration_text(scope.variables, std::span(condition.bound).subspan(first, count));
  };
  switch (condition.kind) {
    case Condition::Kind::kTrue:
      return "(and)";
    case Condition::Kind::kFalse:
      return "(or)";
    case Condition::Kind::kAtom:
      return text(condition.atom, scope);
    case Condition::Kind::kEquals:
      return str_cat("(= ", term_text(*ast_, condition.terms[0], scope.variables, scope.binding), ' ',
                     term_text(*ast_, condition.terms[1], scope.variables, scope.binding), ')');
    case Condition::Kind::kCompare:
      return str_cat('(', to_string(condition.comparison), ' ', text(condition.sides[0], scope), ' ',
                     text(condition.sides[1], scope), ')');
    case Condition::Kind::kNot:
      return "(not" + children();
    case Condition::Kind::kAnd:
      return "(and" + children();
    case Condition::Kind::kOr:
      return "(or" + children();
    case Condition::Kind::kForall:
      return "(forall " + declare(0, condition.bound.size()) + children();
    case Condition::Kind::kExists:
      return "(exists " + declare(0, condition.bound.size()) + children();
    case Condition::Kind::kAtLeast:
      return str_cat("(forn (", condition.count, ") ", declare(0, condition.bound.size()), children());
    case Condition::Kind::kMatching:
      return (condition.count == Condition::kAllPairs ? std::string("(forpairs ")
                                                      : str_cat("(fornpairs (", condition.count, ") ")) +
             declare(0, 1) + " " + declare(1, 1) + children();
  }
  return {};
}

// `condition` is false and `wanted` is true, or the other way round.
std::string LiftedInterpreter::explain(const Condition& condition, bool wanted, Scope& scope,
                                       const FactView& facts) const {
  const auto whole = [&] {
    const std::string inner = text(condition, scope);
    return (wanted ? inner : "(not " + inner + ")") + " is false";
  };
  switch (condition.kind) {
    case Condition::Kind::kNot:
      return explain(condition.children[0], !wanted, scope, facts);
    case Condition::Kind::kAnd:
    case Condition::Kind::kOr: {
      // A conjunction fails by one child, a disjunction holds by one child; otherwise all children share the blame.
      if ((condition.kind == Condition::Kind::kAnd) != wanted) return whole();
      for (const Condition& child : condition.children) {
        if (holds(child, scope, facts) != wanted) return explain(child, wanted, scope, facts);
      }
      return whole();
    }
    case Condition::Kind::kForall:
    case Condition::Kind::kExists: {
      if ((condition.kind == Condition::Kind::kForall) != wanted) return whole();
      const Condition& child = condition.children[0];
      if (for_each_binding(scope, condition.bound, [&] { return holds(child, scope, facts) == wanted; }))
        return whole();
      std::string out = explain(child, wanted, scope, facts);
      out += binding_text(scope.variables, condition.bound, scope.binding);
      unbind(scope, condition.bound);
      return out;
    }
    case Condition::Kind::kCompare: {
      std::string values;
      for (const Expression& side : condition.sides) values_text(side, scope, facts, values);
      return whole() + (values.empty() ? "" : ": " + values);
    }
    case Condition::Kind::kAtLeast:
      return str_cat(whole(), ": it holds for ", count_bindings(condition, scope, facts));
    case Condition::Kind::kMatching:
      return str_cat(whole(), ": ", largest_matching(condition, scope, facts), " pairs can be made, ",
                     pairs_wanted(condition, scope), " are asked for");
    default:
      return whole();
  }
}

}  // namespace metactrl::pddl
