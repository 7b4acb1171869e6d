// Counting conditions without forn, forpairs and fornpairs.
//
// "At least k objects ?x satisfy c" is: there are ?x1 .. ?xk, all different, that each satisfy c; with k = 1
// it is `exists`, with k = all it is `forall`. Where ?x1 .. ?xk could be too many tuples the objects are counted one
// after the other, by derived predicates: (count-j ?x) says that j objects as far as ?x satisfy c, which is so when j
// did before ?x, or ?x does and j - 1 did before. "k disjoint pairs" is the same with ?x1 .. ?xk and ?y1 .. ?yk; where
// all objects of one side are paired they are named instead of quantified. The numbers of objects are those of the
// problem, so the domain belongs to it.
#include <algorithm>
#include <map>
#include <utility>

#include "exchange/standard.h"
#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::exchange {

using internal::str_cat;
using pddl::Ast;
using pddl::Axiom;
using pddl::Condition;
using pddl::ObjectId;
using pddl::PredicateId;
using pddl::Term;
using pddl::TypeId;
using pddl::Variable;
using pddl::VariableId;
using pddl::VariableTable;

using Kind = Condition::Kind;

namespace {

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
        return condition_quantified(ast_, condition.kind, condition.bound, std::move(condition.children[0]), variables);
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

  static std::size_t size(const Condition& condition) {
    std::size_t nodes = 1;
    for (const Condition& child : condition.children) nodes += size(child);
    return nodes;
  }

  void spend(std::size_t nodes = 1) {
    constexpr std::size_t kMaxNodes = 2'000'000;
    nodes_ += nodes;
    if (nodes_ <= kMaxNodes) return;
    throw InputError("export", "the counting quantifiers of the task are too large to be written out",
                     "use forn and fornpairs with small numbers, or fewer objects");
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
      spend(size(child));
      parts.push_back(substitute(child, bound, copy));
    }
    return condition_quantified(ast_, Kind::kExists, quantified, condition_and(std::move(parts)), variables);
  }

  Condition at_least(const Condition& condition, VariableTable& variables) {
    const std::vector<ObjectId> objects = ast_.objects_of(variables[condition.bound[0]].types);
    const Condition& child = condition.children[0];
    if (condition.count == 0) return condition_true();
    if (condition.count > objects.size()) return condition_false();
    if (condition.count == 1) return condition_quantified(ast_, Kind::kExists, condition.bound, child, variables);
    if (condition.count == objects.size())
      return condition_quantified(ast_, Kind::kForall, condition.bound, child, variables);
    constexpr double kMaxTuples = 60;
    double tuples = 1;
    for (std::size_t i = 0; i < condition.count; ++i) tuples *= static_cast<double>(objects.size() - i);
    if (tuples > kMaxTuples) return count(condition, objects, variables);
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

  // One object after the other, see above.
  Condition count(const Condition& condition, const std::vector<ObjectId>& objects, const VariableTable& variables) {
    const VariableId counted = condition.bound[0];
    Condition each = condition.children[0];
    if (each.kind == Kind::kTrue || each.kind == Kind::kFalse) return each;
    if (each.kind != Kind::kAtom) each = define_predicate(ast_, "counted", each, variables);
    // Variables of the new axioms: the object, what the condition depends on otherwise, and the object before.
    std::vector<VariableId> inner{counted};
    for (const Term& term : each.atom.arguments) {
      if (term.is_variable && std::find(inner.begin(), inner.end(), term.index) == inner.end()) {
        inner.push_back(term.index);
      }
    }
    VariableTable table;
    std::vector<Term> arguments;
    for (const VariableId variable : inner) {
      arguments.push_back(variable_term(static_cast<VariableId>(table.size())));
      table.push_back(variables[variable]);
    }
    const Condition here = substitute(std::move(each), inner, arguments);
    const auto before = static_cast<VariableId>(table.size());
    const PredicateId next = next_predicate(objects, variables[counted].types);
    PredicateId last = 0;
    for (std::uint32_t j = 1; j <= condition.count; ++j) {
      pddl::Predicate predicate;
      predicate.name = fresh_predicate_name(ast_, str_cat("count-", j));
      predicate.parameters = table;
      predicate.derived = true;
      const auto id = static_cast<PredicateId>(ast_.predicates.size());
      ast_.predicates.push_back(std::move(predicate));
      const auto done = [&](PredicateId which) {
        std::vector<Term> terms = arguments;
        terms[0] = variable_term(before);
        return condition_atom(which, std::move(terms));
      };
      Axiom axiom;
      axiom.head = id;
      axiom.num_parameters = before;
      axiom.variables = table;
      axiom.variables.push_back(table[0]);
      axiom.variables.back().name = "?before";
      Condition more = j == 1 ? done(id) : condition_or({done(id), condition_and({here, done(last)})});
      Condition exists;
      exists.kind = Kind::kExists;
      exists.bound = {before};
      exists.children = {
          condition_and({condition_atom(next, {variable_term(before), variable_term(0)}), std::move(more)})};
      axiom.body = j == 1 ? condition_or({here, std::move(exists)}) : std::move(exists);
      ast_.axioms.push_back(std::move(axiom));
      last = id;
    }
    std::vector<Term> terms{object_term(objects.back())};
    for (std::size_t i = 1; i < inner.size(); ++i) terms.push_back(variable_term(inner[i]));
    return condition_atom(last, std::move(terms));
  }

  // A fact for each object and the one behind it.
  PredicateId next_predicate(const std::vector<ObjectId>& objects, const std::vector<TypeId>& types) {
    const auto [place, fresh] = next_.emplace(types, static_cast<PredicateId>(ast_.predicates.size()));
    if (!fresh) return place->second;
    pddl::Predicate predicate;
    predicate.name = fresh_predicate_name(ast_, "count-next");
    predicate.parameters = {{"?x", {0}, {}}, {"?y", {0}, {}}};
    ast_.predicates.push_back(std::move(predicate));
    for (std::size_t i = 1; i < objects.size(); ++i) {
      ast_.init.push_back({place->second, {objects[i - 1], objects[i]}, {}});
    }
    return place->second;
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
  std::map<std::vector<TypeId>, PredicateId> next_;
  std::size_t nodes_ = 0;
  std::size_t expanded_ = 0;
};

}  // namespace

void expand_counting(Ast& ast, std::vector<std::string>& notes) {
  CountingExpander expander(ast);
  for_each_condition(ast, [&](Condition& condition, VariableTable& variables) {
    condition = expander.expand(std::move(condition), variables);
  });
  if (expander.num_expanded() == 0) return;
  notes.push_back(str_cat(expander.num_expanded(), " counting condition",
                          expander.num_expanded() == 1 ? " is" : "s are",
                          " written with quantifiers or derived predicates, for the objects of this problem"));
}

}  // namespace metactrl::exchange
