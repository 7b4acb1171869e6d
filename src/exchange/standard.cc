// Rewriting a PDDL tree into the common language, step by step; every step keeps the plans.
//
// Either. A variable of several types ranges over a union, which trees of types cannot express. Types become
// predicates that never change, all variables range over `object`, and where a type stood its predicate is asked.
//
// Counting: counting.cc. Recursion, disjunctions: derived.cc. Costs: costs.cc. Constraints: constraints.cc.
//
// Types of predicates. We let any object stand in any fact; other programs insist on the declared types. A position
// where some use does not fit is declared as `object`.
#include "exchange/standard.h"

#include <algorithm>
#include <map>
#include <utility>

#include "support/words.h"

namespace metactrl::exchange {

// --- building conditions ---------------------------------------------------------------------------------------------

Condition condition_true() { return {}; }

Condition condition_of(Kind kind, std::vector<Condition> children) {
  Condition result;
  result.kind = kind;
  result.children = std::move(children);
  return result;
}

Condition condition_false() { return condition_of(Kind::kFalse); }

Condition condition_atom(PredicateId predicate, std::vector<Term> arguments) {
  Condition result = condition_of(Kind::kAtom);
  result.atom.predicate = predicate;
  result.atom.arguments = std::move(arguments);
  return result;
}

Condition condition_equals(Term left, Term right) {
  if (left == right) return condition_true();
  if (!left.is_variable() && !right.is_variable()) return condition_false();
  Condition result = condition_of(Kind::kEquals);
  result.terms = {left, right};
  return result;
}

Condition condition_not(Condition child) {
  if (child.kind == Kind::kTrue) return condition_false();
  if (child.kind == Kind::kFalse) return condition_true();
  if (child.kind == Kind::kNot) {
    Condition inner = std::move(child.children[0]);
    return inner;
  }
  return condition_of(Kind::kNot, {std::move(child)});
}

namespace {

Condition junction(Kind kind, std::vector<Condition> children) {
  const Kind neutral = kind == Kind::kAnd ? Kind::kTrue : Kind::kFalse;
  const Kind absorbing = kind == Kind::kAnd ? Kind::kFalse : Kind::kTrue;
  Condition result = condition_of(kind);
  for (Condition& child : children) {
    if (child.kind == neutral) continue;
    if (child.kind == absorbing) return std::move(child);
    if (child.kind == kind) {
      for (Condition& grandchild : child.children) result.children.push_back(std::move(grandchild));
    } else {
      result.children.push_back(std::move(child));
    }
  }
  if (result.children.empty()) return neutral == Kind::kTrue ? condition_true() : condition_false();
  if (result.children.size() > 1) return result;
  Condition only = std::move(result.children[0]);
  return only;
}

}  // namespace

Condition condition_and(std::vector<Condition> children) { return junction(Kind::kAnd, std::move(children)); }
Condition condition_or(std::vector<Condition> children) { return junction(Kind::kOr, std::move(children)); }

Condition folded(Condition condition) {
  if (condition.kind == Kind::kEquals) return condition_equals(condition.terms[0], condition.terms[1]);
  if (condition.kind == Kind::kNot) return condition_not(std::move(condition.children[0]));
  if (condition.kind == Kind::kAnd) return condition_and(std::move(condition.children));
  if (condition.kind == Kind::kOr) return condition_or(std::move(condition.children));
  return condition;
}

Condition condition_quantified(const Ast& ast, Kind kind, const std::vector<VariableId>& bound, Condition child,
                               const VariableTable& variables) {
  if (bound.empty()) return child;
  if (child.kind == Kind::kTrue || child.kind == Kind::kFalse) {
    const bool empty = std::any_of(bound.begin(), bound.end(),
                                   [&](VariableId v) { return ast.objects_of(variables[v].types).empty(); });
    if (!empty) return child;
    return kind == Kind::kForall ? condition_true() : condition_false();
  }
  Condition result = condition_of(kind, {std::move(child)});
  result.bound = bound;
  return result;
}

bool is_literal(const Condition& condition) {
  const Kind kind = condition.kind == Kind::kNot ? condition.children[0].kind : condition.kind;
  return kind == Kind::kAtom || kind == Kind::kEquals || kind == Kind::kTrue || kind == Kind::kFalse;
}

Condition negation_normal_form(Condition condition, bool negated) {
  std::vector<Condition> children;
  const bool flips = condition.kind == Kind::kNot;
  for (Condition& child : condition.children) {
    children.push_back(negation_normal_form(std::move(child), negated != flips));
  }
  switch (condition.kind) {
    case Kind::kNot:
      return std::move(children[0]);
    case Kind::kAnd:
      return negated ? condition_or(std::move(children)) : condition_and(std::move(children));
    case Kind::kOr:
      return negated ? condition_and(std::move(children)) : condition_or(std::move(children));
    case Kind::kForall:
    case Kind::kExists:
      if (negated) condition.kind = condition.kind == Kind::kForall ? Kind::kExists : Kind::kForall;
      condition.children = std::move(children);
      return condition;
    case Kind::kTrue:
    case Kind::kFalse:
    case Kind::kAtom:
    case Kind::kEquals:
    case Kind::kCompare:
    case Kind::kAtLeast:
    case Kind::kMatching:
      break;
  }
  return negated ? condition_not(std::move(condition)) : condition;
}

Condition substitute(Condition condition, const std::vector<VariableId>& variables, const std::vector<Term>& terms) {
  const auto replace = [&](Term& term) {
    for (std::size_t i = 0; i < variables.size() && term.is_variable(); ++i) {
      if (term.variable() != variables[i]) continue;
      term = terms[i];
      return;
    }
  };
  for (Term& term : condition.atom.arguments) replace(term);
  for (Term& term : condition.terms) replace(term);
  for (Condition& child : condition.children) child = substitute(std::move(child), variables, terms);
  return folded(std::move(condition));
}

PredicateId add_predicate(Ast& ast, const std::string& wanted, VariableTable parameters, bool derived) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(ast.predicates.begin(), ast.predicates.end(), [&](const auto& p) { return p.name == name; });
  };
  pddl::Predicate predicate;
  predicate.name = wanted;
  for (std::size_t number = 2; taken(predicate.name); ++number) predicate.name = str_cat(wanted, '-', number);
  predicate.parameters = std::move(parameters);
  predicate.derived = derived;
  const PredicateId id = ast.predicates.next_id();
  ast.predicates.push_back(std::move(predicate));
  return id;
}

std::vector<VariableId> first_variables(std::size_t count) {
  std::vector<VariableId> out;
  for (const VariableId i : internal::ids<VariableId>(count)) out.push_back(i);
  return out;
}

namespace {

// Folds constants that came up after counting conditions were expanded.
Condition folded(const Ast& ast, Condition condition, const VariableTable& variables) {
  for (Condition& child : condition.children) child = folded(ast, std::move(child), variables);
  if (condition.kind != Kind::kForall && condition.kind != Kind::kExists) return exchange::folded(std::move(condition));
  return condition_quantified(ast, condition.kind, condition.bound, std::move(condition.children[0]), variables);
}

// --- either ----------------------------------------------------------------------------------------------------------

class EitherRemover {
 public:
  explicit EitherRemover(Ast& ast) : ast_(ast) {}

  bool needed() const {
    const auto several = [](const auto& item) { return item.types.size() > 1; };
    const auto any = [&](const VariableTable& table) { return std::any_of(table.begin(), table.end(), several); };
    return std::any_of(ast_.objects.begin(), ast_.objects.end(), several) || any(ast_.goal.variables) ||
           std::any_of(ast_.actions.begin(), ast_.actions.end(), [&](const Action& a) { return any(a.variables); }) ||
           std::any_of(ast_.axioms.begin(), ast_.axioms.end(), [&](const Axiom& a) { return any(a.variables); });
  }

  void run() {
    add_predicates();
    for (Action& action : ast_.actions) {
      const VariableTable typed = action.variables;
      action.precondition = condition_and(
          {guards(typed, first_variables(action.num_parameters)), guarded(std::move(action.precondition), typed)});
      for (Effect& effect : action.effects) {
        effect.when = condition_and({guards(typed, effect.forall), guarded(std::move(effect.when), typed)});
      }
      forget(action.variables);
    }
    for (Axiom& axiom : ast_.axioms) {
      const VariableTable typed = axiom.variables;
      axiom.body =
          condition_and({guards(typed, first_variables(axiom.num_parameters)), guarded(std::move(axiom.body), typed)});
      forget(axiom.variables);
    }
    ast_.goal.condition = guarded(std::move(ast_.goal.condition), ast_.goal.variables);
    forget(ast_.goal.variables);
    for (auto& predicate : ast_.predicates) forget(predicate.parameters);
    for (auto& function : ast_.functions) forget(function.parameters);
    for (auto& object : ast_.objects) object.types = {pddl::kObjectType};
    ast_.types.resize(1);
  }

 private:
  void add_predicates() {
    for (const TypeId type : internal::ids(internal::next_of(pddl::kObjectType), ast_.types.next_id())) {
      const PredicateId id = add_predicate(ast_, "is-" + ast_.types[type].name, {{"?x", {pddl::kObjectType}, {}}});
      predicate_of_[type] = id;
      for (const ObjectId object : ast_.objects_of({type})) ast_.init.push_back({id, {object}, {}});
    }
  }

  Condition guard(const VariableTable& typed, VariableId variable) const {
    std::vector<Condition> parts;
    for (const TypeId type : typed[variable].types) {
      if (type == pddl::kObjectType) return condition_true();
      parts.push_back(condition_atom(predicate_of_.at(type), {Term(variable)}));
    }
    return condition_or(std::move(parts));
  }

  Condition guards(const VariableTable& typed, const std::vector<VariableId>& variables) const {
    std::vector<Condition> parts;
    for (const VariableId variable : variables) parts.push_back(guard(typed, variable));
    return condition_and(std::move(parts));
  }

  Condition guarded(Condition condition, const VariableTable& typed) const {
    for (Condition& child : condition.children) child = guarded(std::move(child), typed);
    if (condition.kind == Kind::kExists) {
      condition.children[0] = condition_and({guards(typed, condition.bound), std::move(condition.children[0])});
    } else if (condition.kind == Kind::kForall) {
      condition.children[0] =
          condition_or({condition_not(guards(typed, condition.bound)), std::move(condition.children[0])});
    }
    return condition;
  }

  static void forget(VariableTable& variables) {
    for (Variable& variable : variables) variable.types = {pddl::kObjectType};
  }

  Ast& ast_;
  std::map<TypeId, PredicateId> predicate_of_;
};

// --- types of predicates and functions -------------------------------------------------------------------------------

class TypeWidener {
 public:
  explicit TypeWidener(Ast& ast) : ast_(ast) {}

  std::size_t run() {
    for (auto& predicate : ast_.predicates) widen_unions(predicate.parameters);
    for (auto& function : ast_.functions) widen_unions(function.parameters);
    for (const Action& action : ast_.actions) {
      look_at(action.precondition, action.variables);
      for (const Effect& effect : action.effects) {
        look_at(effect.when, action.variables);
        look_at(effect.atom, action.variables);
      }
      for (const pddl::CostTerm& cost : action.costs) {
        if (cost.function) fit(ast_.functions[*cost.function].parameters, cost.arguments, action.variables);
      }
    }
    for (const Axiom& axiom : ast_.axioms) {
      look_at(axiom.body, axiom.variables);
      std::vector<Term> head;
      for (const VariableId i : first_variables(axiom.num_parameters)) head.push_back(Term(i));
      fit(ast_.predicates[axiom.head].parameters, head, axiom.variables);
    }
    look_at(ast_.goal.condition, ast_.goal.variables);
    for (const pddl::GroundAtom& atom : ast_.init)
      fit(ast_.predicates[atom.predicate].parameters, terms(atom.arguments), {});
    for (const pddl::FunctionValue& value : ast_.init_values) {
      fit(ast_.functions[value.function].parameters, terms(value.arguments), {});
    }
    return widened_;
  }

 private:
  static std::vector<Term> terms(const std::vector<ObjectId>& objects) {
    std::vector<Term> out;
    for (const ObjectId object : objects) out.push_back(Term(object));
    return out;
  }

  static void widen_unions(VariableTable& parameters) {
    for (Variable& parameter : parameters) {
      if (parameter.types.size() != 1) parameter.types = {pddl::kObjectType};
    }
  }

  void look_at(const Condition& condition, const VariableTable& variables) {
    if (condition.kind == Kind::kAtom) look_at(condition.atom, variables);
    for (const Condition& child : condition.children) look_at(child, variables);
  }
  void look_at(const Atom& atom, const VariableTable& variables) {
    fit(ast_.predicates[atom.predicate].parameters, atom.arguments, variables);
  }

  void fit(VariableTable& parameters, const std::vector<Term>& arguments, const VariableTable& variables) {
    for (std::size_t i = 0; i < parameters.size() && i < arguments.size(); ++i) {
      const Term& term = arguments[i];
      const std::vector<TypeId>& types =
          term.is_variable() ? variables[term.variable()].types : ast_.objects[term.object()].types;
      const TypeId declared = parameters[internal::to_id<VariableId>(i)].types[0];
      if (std::all_of(types.begin(), types.end(), [&](TypeId type) { return ast_.is_subtype(type, declared); }))
        continue;
      parameters[internal::to_id<VariableId>(i)].types = {pddl::kObjectType};
      ++widened_;
    }
  }

  Ast& ast_;
  std::size_t widened_ = 0;
};

}  // namespace

StandardTask standard_task(Ast ast, std::vector<std::string>& notes) {
  compile_constraints(ast, notes);
  expand_counting(ast, notes);
  write_out_recursion(ast, notes);
  for_each_condition(ast, [&](Condition& condition, VariableTable& variables) {
    condition = folded(ast, std::move(condition), variables);
  });
  name_disjunctions(ast, notes);
  if (EitherRemover either(ast); either.needed()) {
    either.run();
    notes.emplace_back("types are written as predicates, because some are unions of others");
  }
  const double factor = scale_costs(ast, notes);
  simplify_costs(ast, notes);
  if (TypeWidener(ast).run() > 0) {
    notes.emplace_back(
        "some predicates have arguments of type object, because not every use fits their declared types");
  }
  for (Action& action : ast.actions) {
    std::erase_if(action.effects, [](const Effect& effect) { return effect.when.kind == Kind::kFalse; });
  }
  return {std::move(ast), factor};
}

}  // namespace metactrl::exchange
