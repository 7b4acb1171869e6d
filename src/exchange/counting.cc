// Counting conditions without forn, forpairs and fornpairs.
//
// "At least k objects ?x satisfy c" is: there are ?x1 .. ?xk, all different, that each satisfy c; with k = 1 it is
// `exists`, with k = all it is `forall`. "k disjoint pairs" is the same with ?x1 .. ?xk and ?y1 .. ?yk; where all
// objects of one side are paired they are named instead of quantified. The numbers of objects are those of the problem,
// so the domain belongs to it.
//
// Planners go through all such tuples. Where they could be many, the objects are gone through one after the other
// instead, by derived predicates. (count-j ?x) says that j objects as far as ?x satisfy c: j did before ?x, or ?x does
// and j - 1 did before. For pairs there is a predicate for each set of objects of the smaller side: (pairs-S ?x) says
// that the objects as far as ?x can be paired with those in S, each with another: they could before ?x, or ?x fits some
// s of S and those before ?x could be paired with S without s.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
      case Kind::kCompare:
      case Kind::kAtom:
        break;
    }
    return condition;
  }

  std::size_t num_expanded() const { return expanded_; }

 private:
  using Copy = std::vector<Term>;  // what stands for each bound variable

  static constexpr double kMaxTuples = 120;
  static constexpr double kMaxSets = 5000;  // of the smaller side of a matching

  // In how many ways so many different objects can be chosen, one after the other.
  static double tuples(std::size_t objects, std::size_t chosen) {
    double result = 1;
    for (std::size_t i = 0; i < chosen; ++i) result *= static_cast<double>(objects - i);
    return result;
  }

  // How many sets of at most so many objects there are.
  static double num_sets(std::size_t objects, std::size_t most) {
    double result = 0;
    double of_size = 1;
    for (std::size_t i = 0; i < most; ++i) {
      of_size *= static_cast<double>(objects - i) / static_cast<double>(i + 1);
      result += of_size;
    }
    return result;
  }

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
        if (term.is_variable()) quantified.push_back(term.variable());
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
    if (tuples(objects.size(), condition.count) > kMaxTuples) return count(condition, objects, variables);
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

  // --- one object after the other ------------------------------------------------------------------------------------

  // Variables of the new axioms: the object that is looked at, what the condition depends on otherwise, and behind them
  // the object before.
  struct Walk {
    VariableTable table;
    std::vector<VariableId> outer;  // the same variables where the condition stands
    std::vector<Term> arguments;
    VariableId before{};
    PredicateId next{};
    ObjectId last{};
  };

  Walk walk(const Condition& each, VariableId row, const std::vector<ObjectId>& objects,
            std::optional<VariableId> column, const VariableTable& variables) {
    Walk result;
    result.outer = {row};
    for (const Term& term : each.atom.arguments) {
      if (!term.is_variable() || term.variable() == column) continue;
      if (std::find(result.outer.begin(), result.outer.end(), term.variable()) == result.outer.end()) {
        result.outer.push_back(term.variable());
      }
    }
    for (const VariableId variable : result.outer) {
      result.arguments.push_back(variable_term(result.table.next_id()));
      result.table.push_back(variables[variable]);
    }
    result.before = result.table.next_id();
    result.next = next_predicate(objects, variables[row].types);
    result.last = objects.back();
    return result;
  }

  PredicateId declare(const Walk& walk, const std::string& name) {
    pddl::Predicate predicate;
    predicate.name = fresh_predicate_name(ast_, name);
    predicate.parameters = walk.table;
    predicate.derived = true;
    ast_.predicates.push_back(std::move(predicate));
    return static_cast<PredicateId>(ast_.predicates.size() - 1);
  }

  // It held for the object before.
  static Condition held(const Walk& walk, PredicateId predicate) {
    std::vector<Term> terms = walk.arguments;
    terms[0] = variable_term(walk.before);
    return condition_atom(predicate, std::move(terms));
  }

  // The predicate holds for an object when `now` does, or `earlier` of the object before.
  void define(const Walk& walk, PredicateId predicate, Condition now, Condition earlier) {
    Axiom axiom;
    axiom.head = predicate;
    axiom.num_parameters = internal::index(walk.before);
    axiom.variables = walk.table;
    axiom.variables.push_back(walk.table.front());
    axiom.variables.back().name = "?before";
    Condition exists;
    exists.kind = Kind::kExists;
    exists.bound = {walk.before};
    exists.children.push_back(condition_and(
        {condition_atom(walk.next, {variable_term(walk.before), variable_term(VariableId{0})}), std::move(earlier)}));
    axiom.body = condition_or({std::move(now), std::move(exists)});
    ast_.axioms.push_back(std::move(axiom));
  }

  // It holds for the last object.
  static Condition in_the_end(const Walk& walk, PredicateId predicate) {
    std::vector<Term> terms{object_term(walk.last)};
    for (std::size_t i = 1; i < walk.outer.size(); ++i) terms.push_back(variable_term(walk.outer[i]));
    return condition_atom(predicate, std::move(terms));
  }

  Condition named(const Condition& child, const std::string& name, const VariableTable& variables) {
    return child.kind == Kind::kAtom ? child : define_predicate(ast_, name, child, variables);
  }

  Condition count(const Condition& condition, const std::vector<ObjectId>& objects, const VariableTable& variables) {
    const Condition& child = condition.children[0];
    if (child.kind == Kind::kTrue || child.kind == Kind::kFalse) return child;
    const Condition each = named(child, "counted", variables);
    const Walk walk = this->walk(each, condition.bound[0], objects, std::nullopt, variables);
    const Condition here = substitute(each, walk.outer, walk.arguments);
    PredicateId fewer{};
    for (std::uint32_t j = 1; j <= condition.count; ++j) {
      const PredicateId predicate = declare(walk, str_cat("count-", j));
      if (j == 1) {
        define(walk, predicate, here, held(walk, predicate));
      } else {
        define(walk, predicate, condition_false(),
               condition_or({held(walk, predicate), condition_and({here, held(walk, fewer)})}));
      }
      fewer = predicate;
    }
    return in_the_end(walk, fewer);
  }

  Condition pair_up(const Condition& condition, std::size_t count, const VariableTable& variables) {
    const Condition& child = condition.children[0];
    if (child.kind == Kind::kTrue || child.kind == Kind::kFalse) return child;
    VariableId row = condition.bound[0];
    VariableId column = condition.bound[1];
    if (ast_.objects_of(variables[row].types).size() < ast_.objects_of(variables[column].types).size()) {
      std::swap(row, column);
    }
    const std::vector<ObjectId> columns = ast_.objects_of(variables[column].types);
    const Condition each = named(child, "paired", variables);
    const Walk walk = this->walk(each, row, ast_.objects_of(variables[row].types), column, variables);
    std::vector<Condition> fits;
    for (const ObjectId object : columns) {
      fits.push_back(substitute(substitute(each, {column}, {object_term(object)}), walk.outer, walk.arguments));
    }
    using Set = std::vector<std::uint32_t>;
    std::map<Set, PredicateId> predicates;
    std::vector<Condition> ends;
    std::vector<Set> sets{Set()};  // of one size
    for (std::size_t size = 1; size <= count; ++size) {
      std::vector<Set> larger;
      for (const Set& set : sets) {
        for (std::uint32_t i = set.empty() ? 0 : set.back() + 1; i < columns.size(); ++i) {
          larger.push_back(set);
          larger.back().push_back(i);
        }
      }
      sets = std::move(larger);
      for (const Set& set : sets) {
        const PredicateId predicate = declare(walk, str_cat("pairs-", predicates.size() + 1));
        std::vector<Condition> ways{held(walk, predicate)};
        for (std::size_t i = 0; size > 1 && i < size; ++i) {
          Set rest = set;
          rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
          ways.push_back(condition_and({fits[set[i]], held(walk, predicates.at(rest))}));
        }
        define(walk, predicate, size == 1 ? fits[set[0]] : condition_false(), condition_or(std::move(ways)));
        predicates.emplace(set, predicate);
        if (size == count) ends.push_back(in_the_end(walk, predicate));
      }
    }
    return condition_or(std::move(ends));
  }

  // A fact for each object and the one behind it.
  PredicateId next_predicate(const std::vector<ObjectId>& objects, const std::vector<TypeId>& types) {
    const auto [place, fresh] = next_.emplace(types, static_cast<PredicateId>(ast_.predicates.size()));
    if (!fresh) return place->second;
    pddl::Predicate predicate;
    predicate.name = fresh_predicate_name(ast_, "count-next");
    predicate.parameters = {{"?x", {pddl::kObjectType}, {}}, {"?y", {pddl::kObjectType}, {}}};
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
    const bool all = count == most;
    const double ways = tuples(left.size(), all && left.size() == most ? 0 : count) *
                        tuples(right.size(), all && left.size() != most ? 0 : count);
    if (ways > kMaxTuples && num_sets(most, count) <= kMaxSets) return pair_up(condition, count, variables);
    std::vector<Copy> copies(count);
    std::vector<Condition> parts;
    for (std::size_t i = 0; i < count; ++i) {
      const bool name_left = count == left.size();
      const bool name_right = !name_left && count == right.size();
      copies[i].push_back(name_left ? object_term(left[i]) : fresh(variables, condition.bound[0]));
      copies[i].push_back(name_right ? object_term(right[i]) : fresh(variables, condition.bound[1]));
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
