// Rewriting a PDDL tree into the common language, step by step; every step keeps the plans.
//
// Counting. "At least k bindings of ?x satisfy c" is: there are ?x1 .. ?xk, all different, that each satisfy c; with k
// = 1 it is `exists`, with k = all it is `forall`. "k disjoint pairs" is the same with ?x1 .. ?xk and ?y1 .. ?yk; where
// all objects of one side are paired they are named instead of quantified. The numbers of objects are those of the
// problem, so the domain belongs to it.
//
// Either. A variable of several types ranges over a union, which trees of types cannot express. Types become
// predicates that never change, all variables range over `object`, and where a type stood its predicate is asked.
//
// Types of predicates. We let any object stand in any fact; other programs insist on the declared types. A position
// where some use does not fit is declared as `object`.
#include "exchange/standard.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::exchange {

using internal::str_cat;
using pddl::Action;
using pddl::Ast;
using pddl::Atom;
using pddl::Axiom;
using pddl::Condition;
using pddl::CostTerm;
using pddl::Effect;
using pddl::ObjectId;
using pddl::PredicateId;
using pddl::Term;
using pddl::TypeId;
using pddl::Variable;
using pddl::VariableId;
using pddl::VariableTable;

using Kind = Condition::Kind;

// --- building conditions
// --------------------------------------------------------------------------------------------------------------

Condition condition_true() { return {}; }

Condition condition_false() {
  Condition result;
  result.kind = Kind::kFalse;
  return result;
}

Condition condition_atom(PredicateId predicate, std::vector<Term> arguments) {
  Condition result;
  result.kind = Kind::kAtom;
  result.atom.predicate = predicate;
  result.atom.arguments = std::move(arguments);
  return result;
}

Condition condition_equals(Term left, Term right) {
  if (left.is_variable == right.is_variable && left.index == right.index) return condition_true();
  if (!left.is_variable && !right.is_variable) return condition_false();
  Condition result;
  result.kind = Kind::kEquals;
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
  Condition result;
  result.kind = Kind::kNot;
  result.children.push_back(std::move(child));
  return result;
}

namespace {

Condition junction(Kind kind, std::vector<Condition> children) {
  const Kind neutral = kind == Kind::kAnd ? Kind::kTrue : Kind::kFalse;
  const Kind absorbing = kind == Kind::kAnd ? Kind::kFalse : Kind::kTrue;
  Condition result;
  result.kind = kind;
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

std::string fresh_predicate_name(const Ast& ast, const std::string& wanted) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(ast.predicates.begin(), ast.predicates.end(), [&](const auto& p) { return p.name == name; });
  };
  std::string name = wanted;
  for (std::size_t number = 2; taken(name); ++number) name = str_cat(wanted, '-', number);
  return name;
}

namespace {

// Calls `visit(condition, variables)` for each condition of the tree; the condition and its table may be changed.
template <typename Visit>
void for_each_condition(Ast& ast, const Visit& visit) {
  for (Action& action : ast.actions) {
    visit(action.precondition, action.variables);
    for (Effect& effect : action.effects) visit(effect.when, action.variables);
  }
  for (Axiom& axiom : ast.axioms) visit(axiom.body, axiom.variables);
  visit(ast.goal.condition, ast.goal.variables);
}

// --- counting
// -------------------------------------------------------------------------------------------------------------------

class CountingExpander {
 public:
  explicit CountingExpander(Ast& ast) : ast_(ast) {}

  // Also folds constants.
  Condition expand(Condition condition, VariableTable& variables) {
    spend();
    for (Condition& child : condition.children) child = expand(std::move(child), variables);
    switch (condition.kind) {
      case Kind::kEquals:
        return condition_equals(condition.terms[0], condition.terms[1]);
      case Kind::kNot:
        return condition_not(std::move(condition.children[0]));
      case Kind::kAnd:
        return condition_and(std::move(condition.children));
      case Kind::kOr:
        return condition_or(std::move(condition.children));
      case Kind::kForall:
      case Kind::kExists:
        return quantifier(condition.kind, condition.bound, std::move(condition.children[0]), variables);
      case Kind::kAtLeast:
        ++expanded_;
        return at_least(condition, variables);
      case Kind::kMatching:
        ++expanded_;
        return matching(condition, variables);
      case Kind::kTrue:
      case Kind::kFalse:
      case Kind::kAtom:
        break;
    }
    return condition;
  }

  std::size_t num_expanded() const { return expanded_; }

 private:
  using Copy = std::vector<Term>;  // what stands for each bound variable

  void spend() {
    constexpr std::size_t kMaxNodes = 2'000'000;
    if (++nodes_ <= kMaxNodes) return;
    throw InputError("export", "the counting quantifiers of the task are too large to be written out",
                     "use forn and fornpairs with small numbers, or fewer objects");
  }

  std::size_t range(const VariableTable& variables, VariableId variable) const {
    return ast_.objects_of(variables[variable].types).size();
  }

  Condition quantifier(Kind kind, const std::vector<VariableId>& bound, Condition child,
                       const VariableTable& variables) const {
    if (bound.empty()) return child;
    if (child.kind == Kind::kTrue || child.kind == Kind::kFalse) {
      const bool empty =
          std::any_of(bound.begin(), bound.end(), [&](VariableId v) { return range(variables, v) == 0; });
      if (!empty) return child;
      return kind == Kind::kForall ? condition_true() : condition_false();
    }
    Condition result;
    result.kind = kind;
    result.bound = bound;
    result.children.push_back(std::move(child));
    return result;
  }

  Condition substitute(Condition condition, const std::vector<VariableId>& bound, const Copy& copy) {
    spend();
    const auto replace = [&](Term& term) {
      for (std::size_t i = 0; i < bound.size() && term.is_variable; ++i) {
        if (term.index != bound[i]) continue;
        term = copy[i];
        return;
      }
    };
    for (Term& term : condition.atom.arguments) replace(term);
    for (Term& term : condition.terms) replace(term);
    for (Condition& child : condition.children) child = substitute(std::move(child), bound, copy);
    if (condition.kind == Kind::kEquals) return condition_equals(condition.terms[0], condition.terms[1]);
    return condition;
  }

  // A new variable of the same types.
  static Term fresh(VariableTable& variables, VariableId like) {
    Variable copy = variables[like];
    variables.push_back(std::move(copy));
    return variable_term(static_cast<VariableId>(variables.size() - 1));
  }

  static Condition differ(const Copy& a, const Copy& b) {
    std::vector<Condition> parts;
    for (std::size_t i = 0; i < a.size(); ++i) parts.push_back(condition_not(condition_equals(a[i], b[i])));
    return condition_or(std::move(parts));
  }

  // There are values for the copies' variables so that the copies differ and each satisfies the child.
  Condition exist(const Condition& child, const std::vector<VariableId>& bound, const std::vector<Copy>& copies,
                  std::vector<Condition> parts, const VariableTable& variables) {
    std::vector<VariableId> quantified;
    for (const Copy& copy : copies) {
      for (const Term& term : copy) {
        if (term.is_variable) quantified.push_back(term.index);
      }
      parts.push_back(substitute(child, bound, copy));
    }
    return expand_again(quantifier(Kind::kExists, quantified, condition_and(std::move(parts)), variables));
  }

  // Substitution can make equalities constant; fold what became of them.
  static Condition expand_again(Condition condition) {
    for (Condition& child : condition.children) child = expand_again(std::move(child));
    if (condition.kind == Kind::kNot) return condition_not(std::move(condition.children[0]));
    if (condition.kind == Kind::kAnd) return condition_and(std::move(condition.children));
    if (condition.kind == Kind::kOr) return condition_or(std::move(condition.children));
    return condition;
  }

  Condition at_least(const Condition& condition, VariableTable& variables) {
    constexpr std::size_t kMany = 1'000'000'000;
    std::size_t bindings = 1;
    for (const VariableId variable : condition.bound) bindings = std::min(kMany, bindings * range(variables, variable));
    const Condition& child = condition.children[0];
    if (condition.count == 0) return condition_true();
    if (condition.count > bindings) return condition_false();
    if (condition.count == 1) return quantifier(Kind::kExists, condition.bound, child, variables);
    if (condition.count == bindings) return quantifier(Kind::kForall, condition.bound, child, variables);
    std::vector<Copy> copies(condition.count);
    std::vector<Condition> parts;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      for (const VariableId variable : condition.bound) copies[i].push_back(fresh(variables, variable));
      for (std::size_t j = 0; j < i; ++j) {
        spend();
        parts.push_back(differ(copies[j], copies[i]));
      }
    }
    return exist(child, condition.bound, copies, std::move(parts), variables);
  }

  Condition matching(const Condition& condition, VariableTable& variables) {
    const std::vector<ObjectId> left = ast_.objects_of(variables[condition.bound[0]].types);
    const std::vector<ObjectId> right = ast_.objects_of(variables[condition.bound[1]].types);
    const std::size_t most = std::min(left.size(), right.size());
    const std::size_t count = condition.count == Condition::kAllPairs ? most : condition.count;
    if (count == 0) return condition_true();
    if (count > most) return condition_false();
    std::vector<Copy> copies(count, Copy(2));
    std::vector<Condition> parts;
    for (std::size_t i = 0; i < count; ++i) {
      const bool name_left = count == left.size();
      const bool name_right = !name_left && count == right.size();
      copies[i][0] = name_left ? object_term(left[i]) : fresh(variables, condition.bound[0]);
      copies[i][1] = name_right ? object_term(right[i]) : fresh(variables, condition.bound[1]);
      for (std::size_t j = 0; j < i; ++j) {
        for (const std::size_t side : {0, 1}) {
          spend();
          parts.push_back(condition_not(condition_equals(copies[j][side], copies[i][side])));
        }
      }
    }
    return exist(condition.children[0], condition.bound, copies, std::move(parts), variables);
  }

  Ast& ast_;
  std::size_t nodes_ = 0;
  std::size_t expanded_ = 0;
};

void expand_counting(Ast& ast, std::vector<std::string>& notes) {
  CountingExpander expander(ast);
  for_each_condition(ast, [&](Condition& condition, VariableTable& variables) {
    condition = expander.expand(std::move(condition), variables);
  });
  if (expander.num_expanded() == 0) return;
  notes.push_back(str_cat(expander.num_expanded(), " counting condition",
                          expander.num_expanded() == 1 ? " is" : "s are",
                          " written with exists and forall, for the objects of this problem"));
}

// --- either
// ---------------------------------------------------------------------------------------------------------------------

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
          {guards(typed, parameters(action.num_parameters)), guarded(std::move(action.precondition), typed)});
      for (Effect& effect : action.effects) {
        effect.when = condition_and({guards(typed, effect.forall), guarded(std::move(effect.when), typed)});
      }
      forget(action.variables);
    }
    for (Axiom& axiom : ast_.axioms) {
      const VariableTable typed = axiom.variables;
      axiom.body =
          condition_and({guards(typed, parameters(axiom.num_parameters)), guarded(std::move(axiom.body), typed)});
      forget(axiom.variables);
    }
    ast_.goal.condition = guarded(std::move(ast_.goal.condition), ast_.goal.variables);
    forget(ast_.goal.variables);
    for (auto& predicate : ast_.predicates) forget(predicate.parameters);
    for (auto& function : ast_.functions) forget(function.parameters);
    for (auto& object : ast_.objects) object.types = {0};
    ast_.types.resize(1);
  }

 private:
  void add_predicates() {
    for (TypeId type = 1; type < ast_.types.size(); ++type) {
      pddl::Predicate predicate;
      predicate.name = fresh_predicate_name(ast_, "is-" + ast_.types[type].name);
      predicate.parameters.push_back({"?x", {0}, {}});
      const auto id = static_cast<PredicateId>(ast_.predicates.size());
      ast_.predicates.push_back(std::move(predicate));
      predicate_of_[type] = id;
      for (const ObjectId object : ast_.objects_of({type})) ast_.init.push_back({id, {object}, {}});
    }
  }

  static std::vector<VariableId> parameters(std::uint32_t count) {
    std::vector<VariableId> out(count);
    for (std::uint32_t i = 0; i < count; ++i) out[i] = i;
    return out;
  }

  Condition guard(const VariableTable& typed, VariableId variable) const {
    std::vector<Condition> parts;
    for (const TypeId type : typed[variable].types) {
      if (type == 0) return condition_true();
      parts.push_back(condition_atom(predicate_of_.at(type), {variable_term(variable)}));
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
    for (Variable& variable : variables) variable.types = {0};
  }

  Ast& ast_;
  std::map<TypeId, PredicateId> predicate_of_;
};

// --- costs
// ----------------------------------------------------------------------------------------------------------------------

class CostSimplifier {
 public:
  explicit CostSimplifier(Ast& ast) : ast_(ast) {
    for (const pddl::FunctionValue& value : ast.init_values) values_[{value.function, value.arguments}] = value.value;
  }

  // At most one term per action: a number or one function.
  std::size_t run() {
    std::size_t changed = 0;
    for (Action& action : ast_.actions) {
      double constant = 0;
      std::vector<CostTerm> functions;
      for (const CostTerm& term : action.costs) {
        constant += term.constant;
        if (term.function) functions.push_back(term);
      }
      if (action.costs.empty() || (functions.size() == 1 && constant == 0)) {
        for (CostTerm& term : functions) action.costs = {std::move(term)};
      } else if (functions.empty()) {
        action.costs = {{constant, std::nullopt, {}}};
      } else {
        tabulate(action);
        ++changed;
      }
    }
    return changed;
  }

 private:
  // A function of the action's parameters with the sums as values.
  void tabulate(Action& action) {
    const auto function = static_cast<pddl::FunctionId>(ast_.functions.size());
    pddl::Function declared;
    declared.name = "cost-of-" + action.name;
    CostTerm term{0, function, {}};
    for (VariableId i = 0; i < action.num_parameters; ++i) {
      declared.parameters.push_back(action.variables[i]);
      term.arguments.push_back(variable_term(i));
    }
    ast_.functions.push_back(std::move(declared));
    std::vector<ObjectId> binding;
    fill(action, function, binding);
    action.costs = {std::move(term)};
  }

  void fill(const Action& action, pddl::FunctionId function, std::vector<ObjectId>& binding) {
    if (binding.size() < action.num_parameters) {
      for (const ObjectId object : ast_.objects_of(action.variables[binding.size()].types)) {
        binding.push_back(object);
        fill(action, function, binding);
        binding.pop_back();
      }
      return;
    }
    constexpr std::size_t kMaxValues = 1'000'000;
    if (++count_ > kMaxValues) {
      throw InputError("export", str_cat("the costs of (", action.name, ") are a sum with too many different values"),
                       "state one function as the cost of the action");
    }
    double sum = 0;
    for (const CostTerm& term : action.costs) {
      sum += term.constant;
      if (!term.function) continue;
      std::vector<ObjectId> arguments;
      for (const Term& t : term.arguments) arguments.push_back(t.is_variable ? binding[t.index] : t.index);
      const auto value = values_.find({*term.function, arguments});
      if (value == values_.end()) return;  // no value: no such action
      sum += value->second;
    }
    ast_.init_values.push_back({function, binding, sum});
  }

  Ast& ast_;
  std::map<std::pair<pddl::FunctionId, std::vector<ObjectId>>, double> values_;
  std::size_t count_ = 0;
};

// --- types of predicates and functions
// ------------------------------------------------------------------------------------------

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
      for (const CostTerm& cost : action.costs) {
        if (cost.function) fit(ast_.functions[*cost.function].parameters, cost.arguments, action.variables);
      }
    }
    for (const Axiom& axiom : ast_.axioms) {
      look_at(axiom.body, axiom.variables);
      std::vector<Term> head;
      for (VariableId i = 0; i < axiom.num_parameters; ++i) head.push_back(variable_term(i));
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
    for (const ObjectId object : objects) out.push_back(object_term(object));
    return out;
  }

  static void widen_unions(VariableTable& parameters) {
    for (Variable& parameter : parameters) {
      if (parameter.types.size() != 1) parameter.types = {0};
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
          term.is_variable ? variables[term.index].types : ast_.objects[term.index].types;
      const TypeId declared = parameters[i].types[0];
      if (std::all_of(types.begin(), types.end(), [&](TypeId type) { return ast_.is_subtype(type, declared); }))
        continue;
      parameters[i].types = {0};
      ++widened_;
    }
  }

  Ast& ast_;
  std::size_t widened_ = 0;
};

}  // namespace

Ast standard_ast(Ast ast, std::vector<std::string>& notes) {
  compile_constraints(ast, notes);
  expand_counting(ast, notes);
  if (EitherRemover either(ast); either.needed()) {
    either.run();
    notes.emplace_back("types are written as predicates, because some are unions of others");
  }
  if (CostSimplifier(ast).run() > 0) notes.emplace_back("sums of costs are written as one function each");
  if (TypeWidener(ast).run() > 0) {
    notes.emplace_back(
        "some predicates have arguments of type object, because not every use fits their declared types");
  }
  for (Action& action : ast.actions) {
    std::erase_if(action.effects, [](const Effect& effect) { return effect.when.kind == Kind::kFalse; });
  }
  return ast;
}

}  // namespace metactrl::exchange
