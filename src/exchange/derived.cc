// Conditions that Fast Downward cannot read as they stand, or reads as something very large.
//
// Recursion. Fast Downward takes (forall (?y) c) for the negation of a new derived predicate (exists (?y) (not c)).
// When c speaks of the very predicate that is being defined, that is a circle through a negation, and the domain is
// refused. Here such a quantifier is written out for the objects of the problem, with a predicate for c:
//
//     (:derived (safe ?x) (forall (?y) (or (not (edge ?x ?y)) (safe ?y))))
//  -> (:derived (safe ?x) (and (safe-each ?x a) (safe-each ?x b)))
//     (:derived (safe-each ?x ?y) (or (not (edge ?x ?y)) (safe ?y)))
//
// (not (exists ...)) is the same. Quantifiers that no circle goes through stay.
//
// Disjunctions. Fast Downward multiplies out: an action whose precondition is a conjunction of ten disjunctions of two
// becomes 1024 actions. Where more than a few ways would come out, each disjunction of the conjunction becomes a
// derived predicate. The number of ways of a condition is that of its disjunctive normal form, in which a `forall`
// counts as one literal; what stands in it is a condition of its own, negated.
#include <algorithm>
#include <utility>

#include "exchange/standard.h"
#include "metactrl/error.h"
#include "pddl/strata.h"
#include "support/words.h"

namespace metactrl::exchange {

namespace {

// --- new predicates --------------------------------------------------------------------------------------------------

constexpr VariableId kNone{0xffffffffU};

// The slots of a table that a condition uses, and which of them it binds.
struct Slots {
  internal::IdVector<VariableId, bool> used;
  internal::IdVector<VariableId, bool> bound;

  Slots(const Condition& condition, std::size_t size) : used(size), bound(size) { look_at(condition); }

  void look_at(const Condition& condition) {
    const auto mark = [&](const std::vector<Term>& terms) {
      for (const Term& term : terms) {
        if (term.is_variable()) used[term.variable()] = true;
      }
    };
    mark(condition.atom.arguments);
    mark(condition.terms);
    for (const VariableId variable : condition.bound) used[variable] = bound[variable] = true;
    for (const Condition& child : condition.children) look_at(child);
  }
};

}  // namespace

Condition define_predicate(Ast& ast, const std::string& wanted, const Condition& condition,
                           const VariableTable& variables) {
  const Slots slots(condition, variables.size());
  internal::IdVector<VariableId, VariableId> slot(variables.size(), kNone);
  VariableTable parameters;
  Axiom axiom;
  std::vector<Term> arguments;
  for (const bool bound : {false, true}) {
    for (const VariableId i : variables.all()) {
      if (!slots.used[i] || slots.bound[i] != bound) continue;
      slot[i] = axiom.variables.next_id();
      axiom.variables.push_back(variables[i]);
      if (!bound) arguments.push_back(Term(i));
    }
    if (!bound) parameters = axiom.variables;
  }
  const PredicateId head = add_predicate(ast, wanted, std::move(parameters), /*derived=*/true);
  axiom.head = head;
  axiom.num_parameters = static_cast<std::uint32_t>(arguments.size());
  axiom.body = with_variables(condition, [&](VariableId variable) { return slot[variable]; });
  ast.axioms.push_back(std::move(axiom));
  return condition_atom(head, std::move(arguments));
}

// --- recursion -------------------------------------------------------------------------------------------------------

namespace {

class RecursionWriter {
 public:
  explicit RecursionWriter(Ast& ast) : ast_(ast), component_(pddl::recursion_components(ast)) {}

  std::size_t run() {
    // What is defined on the way needs nothing: its quantifiers have been written out already.
    const std::size_t num_axioms = ast_.axioms.size();
    for (std::size_t i = 0; i < num_axioms; ++i) {
      head_ = ast_.axioms[i].head;
      if (!recursive_quantifier(ast_.axioms[i].body, false)) continue;
      const VariableTable variables = ast_.axioms[i].variables;
      Condition body = write_out(negation_normal_form(std::move(ast_.axioms[i].body)), variables);
      ast_.axioms[i].body = std::move(body);
    }
    return written_;
  }

 private:
  // Does it name a predicate that its head is defined by and that is defined by the head?
  bool recursive(const Condition& condition) const {
    if (condition.kind == Kind::kAtom) {
      const PredicateId predicate = condition.atom.predicate;
      // What was defined on the way belongs to the head.
      return !component_.contains(predicate) ||
             (ast_.predicates[predicate].derived && component_[predicate] == component_[head_]);
    }
    return std::any_of(condition.children.begin(), condition.children.end(),
                       [&](const Condition& child) { return recursive(child); });
  }

  bool recursive_quantifier(const Condition& condition, bool negated) const {
    if (condition.kind == (negated ? Kind::kExists : Kind::kForall) && recursive(condition)) return true;
    const bool inner = negated != (condition.kind == Kind::kNot);
    return std::any_of(condition.children.begin(), condition.children.end(),
                       [&](const Condition& child) { return recursive_quantifier(child, inner); });
  }

  Condition write_out(Condition condition, const VariableTable& variables) {
    for (Condition& child : condition.children) child = write_out(std::move(child), variables);
    if (condition.kind != Kind::kForall || !recursive(condition)) return folded(std::move(condition));
    ++written_;
    Condition each = std::move(condition.children[0]);
    if (!is_literal(each)) {
      each = define_predicate(ast_, str_cat(ast_.predicates[head_].name, "-each"), each, variables);
    }
    const Slots slots(each, variables.size());
    std::vector<std::vector<ObjectId>> ranges;
    for (const VariableId variable : condition.bound) {
      ranges.push_back(ast_.objects_of(variables[variable].types));
      if (!slots.used[variable] && !ranges.back().empty()) ranges.back().resize(1);
    }
    std::vector<Condition> parts;
    std::vector<Term> terms;
    for_each_binding(condition.bound, ranges, terms, each, parts);
    return condition_and(std::move(parts));
  }

  void for_each_binding(const std::vector<VariableId>& bound, const std::vector<std::vector<ObjectId>>& ranges,
                        std::vector<Term>& terms, const Condition& each, std::vector<Condition>& parts) {
    if (terms.size() < bound.size()) {
      for (const ObjectId object : ranges[terms.size()]) {
        terms.push_back(Term(object));
        for_each_binding(bound, ranges, terms, each, parts);
        terms.pop_back();
      }
      return;
    }
    constexpr std::size_t kMaxParts = 1'000'000;
    if (++parts_ > kMaxParts) {
      throw InputError("export",
                       str_cat("the derived predicate '", ast_.predicates[head_].name,
                               "' is recursive through a quantifier over too many objects to be written out"),
                       "quantify over fewer variables at once, or give them narrower types");
    }
    parts.push_back(substitute(each, bound, terms));
  }

  Ast& ast_;
  internal::IdVector<PredicateId, std::uint32_t> component_;
  PredicateId head_{};
  std::size_t written_ = 0;
  std::size_t parts_ = 0;
};

// --- disjunctions ----------------------------------------------------------------------------------------------------

class DisjunctionNamer {
 public:
  explicit DisjunctionNamer(Ast& ast) : ast_(ast) {}

  std::size_t run() {
    const std::size_t num_axioms = ast_.axioms.size();
    for (std::size_t i = 0; i < num_axioms; ++i) {
      if (!too_large(ast_.axioms[i].body, false)) continue;
      owner_ = ast_.predicates[ast_.axioms[i].head].name;
      const VariableTable variables = ast_.axioms[i].variables;
      Condition body = shrink(negation_normal_form(std::move(ast_.axioms[i].body)), variables);
      ast_.axioms[i].body = std::move(body);
    }
    for (Action& action : ast_.actions) {
      owner_ = action.name;
      name(action.precondition, action.variables);
      for (Effect& effect : action.effects) name(effect.when, action.variables);
    }
    owner_ = "goal";
    name(ast_.goal.condition, ast_.goal.variables);
    return named_;
  }

 private:
  static constexpr double kMaxWays = 16;

  void name(Condition& condition, const VariableTable& variables) {
    if (!too_large(condition, false)) return;
    condition = shrink(negation_normal_form(std::move(condition)), variables);
  }

  static bool multiplies(const Condition& condition, bool negated) {
    return condition.kind == (negated ? Kind::kOr : Kind::kAnd);
  }
  static bool universal(const Condition& condition, bool negated) {
    return condition.kind == (negated ? Kind::kExists : Kind::kForall);
  }

  static double ways(const Condition& condition, bool negated) {
    if (condition.kind == Kind::kNot) return ways(condition.children[0], !negated);
    if (universal(condition, negated) || condition.children.empty()) return 1;
    const bool product = multiplies(condition, negated);
    double result = product ? 1 : 0;
    for (const Condition& child : condition.children) {
      result = product ? result * ways(child, negated) : result + ways(child, negated);
    }
    return result;
  }

  // Is there a product of several disjunctions that is too large, at this node?
  static bool too_large_here(const Condition& condition, bool negated) {
    if (!multiplies(condition, negated)) return false;
    const auto disjunctions = std::count_if(condition.children.begin(), condition.children.end(),
                                            [&](const Condition& child) { return ways(child, negated) > 1; });
    return disjunctions > 1 && ways(condition, negated) > kMaxWays;
  }

  // Or below it?
  static bool too_large(const Condition& condition, bool negated) {
    if (too_large_here(condition, negated)) return true;
    const bool flips = condition.kind == Kind::kNot || universal(condition, negated);
    // Below a `forall` the negation is what is multiplied out: the sense of a literal changes, that of the node not.
    const bool inner = negated != flips;
    return std::any_of(condition.children.begin(), condition.children.end(),
                       [&](const Condition& child) { return too_large(child, inner); });
  }

  Condition shrink(Condition condition, const VariableTable& variables) {
    if (condition.kind == Kind::kForall) {
      Condition& child = condition.children[0];
      if (too_large(child, true)) {
        child = negation_normal_form(shrink(negation_normal_form(std::move(child), true), variables), true);
      }
      return condition;
    }
    if (is_literal(condition)) return condition;
    for (Condition& child : condition.children) child = shrink(std::move(child), variables);
    if (!too_large_here(condition, false)) return condition;
    for (Condition& child : condition.children) {
      if (ways(child, false) <= 1) continue;
      ++named_;
      child = define_predicate(ast_, str_cat(owner_, "-case"), child, variables);
    }
    return condition;
  }

  Ast& ast_;
  std::string owner_;
  std::size_t named_ = 0;
};

}  // namespace

void write_out_recursion(Ast& ast, std::vector<std::string>& notes) {
  if (ast.axioms.empty()) return;
  const std::size_t written = RecursionWriter(ast).run();
  if (written == 0) return;
  notes.push_back(str_cat(written, " quantifier", written == 1 ? "" : "s", " in recursive derived predicates ",
                          written == 1 ? "is" : "are", " written out for the objects of this problem"));
}

void name_disjunctions(Ast& ast, std::vector<std::string>& notes) {
  const std::size_t named = DisjunctionNamer(ast).run();
  if (named == 0) return;
  notes.push_back(str_cat(named, " disjunction", named == 1 ? " is a derived predicate" : "s are derived predicates",
                          ", because a planner would multiply them out"));
}

}  // namespace metactrl::exchange
