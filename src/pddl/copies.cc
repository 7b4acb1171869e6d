// The product of several states, written as a PDDL tree.
//
// Let P be the changing predicates (those in effects and the heads of axioms) and k the number of states. Every p in P
// gets copies p@1 (which keeps its name and number), p@2 .. p@k; C_i is the condition C with each p in P replaced by
// its i-th copy. Then
//
//     precondition C            becomes   C_1 and ... and C_k
//     effect   when C: p(x)     becomes   when C_i: p@i(x)      for each i
//     axiom    p(x) <- C        becomes   p@i(x) <- C_i         for each i
//     goal     C                becomes   C_1 and ... and C_k
//     (always C)                becomes   (always C_i)          for each i
//
// and the initial state holds the i-th state's facts in the i-th copies. By induction over a plan, the i-th copies
// after j actions are the i-th state after j actions: an action is legal in the product if and only if it is legal in
// each, and its effects on the i-th copies read the i-th copies only. So a plan of the product is a plan from each
// state, and conversely. Predicates outside P are the same in all states and are shared, as are objects, types and
// costs. Functions whose values change are copied like predicates, in conditions and in effects on numbers. How long an
// action takes is worked out in the first state; that it takes a time at all is part of the precondition, of each.
#include "pddl/copies.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

class Copier {
 public:
  Copier(const Ast& ast, std::size_t copies) : ast_(ast), copies_(copies), changing_(changing_predicates(ast)) {}

  Ast run(std::span<const GivenState> states) {
    Ast result = ast_;
    add_predicates(result);
    add_functions(result);
    for (Action& action : result.actions) copy_action(action);
    result.axioms.clear();
    for (std::size_t i = 0; i < copies_; ++i) {
      for (Axiom axiom : ast_.axioms) {
        axiom.head = copy_of(axiom.head, i);
        rename(axiom.body, i);
        result.axioms.push_back(std::move(axiom));
      }
    }
    result.goal.condition = for_all_copies(ast_.goal.condition);
    copy_constraints(result);
    result.init = initial_atoms(states);
    result.init_values = initial_values(states);
    return result;
  }

 private:
  // What the first state has in common with the problem stays where it is there: whoever reads the facts in their order
  // (a language model) finds them as the author wrote them.
  std::vector<GroundAtom> initial_atoms(std::span<const GivenState> states) const {
    using Key = std::pair<PredicateId, std::vector<ObjectId>>;
    std::set<Key> left;
    for (const GroundAtom& atom : states[0].atoms) left.emplace(atom.predicate, atom.arguments);
    std::vector<GroundAtom> atoms;
    for (const GroundAtom& atom : ast_.init) {
      if (!changing_[atom.predicate] || left.erase({atom.predicate, atom.arguments}) > 0) atoms.push_back(atom);
    }
    for (std::size_t i = 0; i < copies_; ++i) {
      for (GroundAtom atom : states[i].atoms) {
        if (i == 0 && !left.contains({atom.predicate, atom.arguments})) continue;
        atom.predicate = copy_of(atom.predicate, i);
        atoms.push_back(std::move(atom));
      }
    }
    return atoms;
  }

  std::vector<FunctionValue> initial_values(std::span<const GivenState> states) const {
    std::vector<FunctionValue> values;
    for (const FunctionValue& value : ast_.init_values) {
      if (!is_changing_number(ast_.functions[value.function])) values.push_back(value);
    }
    for (std::size_t i = 0; i < copies_; ++i) {
      for (FunctionValue value : states[i].values) {
        value.function = copy_of(value.function, i);
        values.push_back(std::move(value));
      }
    }
    return values;
  }

  void add_functions(Ast& result) {
    first_function_ = add_copies(
        ast_.functions, [this](FunctionId f) { return is_changing_number(ast_.functions[f]); }, result.functions);
  }

  // Adds the copies of what changes to `out`, under names of their own; the first of each.
  template <typename Id, typename Item, typename Changes>
  IdVector<Id, Id> add_copies(const IdVector<Id, Item>& items, const Changes& changes, IdVector<Id, Item>& out) const {
    IdVector<Id, Id> first;
    first.assign(items.size(), Id{0});
    for (const Id id : items.all()) {
      if (!changes(id)) continue;
      first[id] = out.next_id();
      for (std::size_t i = 1; i < copies_; ++i) {
        Item copy = items[id];
        copy.name = internal::str_cat(copy.name, '@', i + 1);
        out.push_back(std::move(copy));
      }
    }
    return first;
  }

  FunctionId copy_of(FunctionId function, std::size_t i) const {
    if (i == 0 || !is_changing_number(ast_.functions[function])) return function;
    return to_id<FunctionId>(index(first_function_[function]) + i - 1);
  }

  void rename(Expression& expression, std::size_t i) const {
    if (expression.kind == Expression::Kind::kFunction) expression.function = copy_of(expression.function, i);
    for (Expression& child : expression.children) rename(child, i);
  }

  bool changes(const Expression& expression) const {
    if (expression.kind == Expression::Kind::kFunction && is_changing_number(ast_.functions[expression.function])) {
      return true;
    }
    return std::any_of(expression.children.begin(), expression.children.end(),
                       [this](const Expression& child) { return changes(child); });
  }

  void add_predicates(Ast& result) {
    first_copy_ = add_copies(
        ast_.predicates, [this](PredicateId p) { return changing_[p]; }, result.predicates);
  }

  PredicateId copy_of(PredicateId predicate, std::size_t i) const {
    if (i == 0 || !changing_[predicate]) return predicate;
    return to_id<PredicateId>(index(first_copy_[predicate]) + i - 1);
  }

  void rename(Condition& condition, std::size_t i) const {
    if (condition.kind == Condition::Kind::kAtom) condition.atom.predicate = copy_of(condition.atom.predicate, i);
    for (Expression& side : condition.sides) rename(side, i);
    for (Condition& child : condition.children) rename(child, i);
  }

  // Does it say anything about what changes? What does not need not be said twice.
  bool changes(const Condition& condition) const {
    if (condition.kind == Condition::Kind::kAtom && changing_[condition.atom.predicate]) return true;
    for (const Expression& side : condition.sides) {
      if (changes(side)) return true;
    }
    for (const Condition& child : condition.children) {
      if (changes(child)) return true;
    }
    return false;
  }

  Condition for_all_copies(const Condition& condition) const {
    if (!changes(condition)) return condition;
    Condition all;
    all.kind = Condition::Kind::kAnd;
    all.where = condition.where;
    for (std::size_t i = 0; i < copies_; ++i) {
      all.children.push_back(condition);
      rename(all.children.back(), i);
    }
    return all;
  }

  void copy_action(Action& action) const {
    action.precondition = for_all_copies(action.precondition);
    action.effects = copied(action.effects);
    action.numeric_effects = copied(action.numeric_effects);
    if (!action.durative) return;
    action.durative->over_all = for_all_copies(action.durative->over_all);
    action.durative->at_end = for_all_copies(action.durative->at_end);
    action.durative->end_effects = copied(action.durative->end_effects);
    action.durative->end_numeric_effects = copied(action.durative->end_numeric_effects);
  }

  std::vector<Effect> copied(const std::vector<Effect>& effects) const {
    std::vector<Effect> result;
    for (std::size_t i = 0; i < copies_; ++i) {
      for (Effect effect : effects) {
        effect.atom.predicate = copy_of(effect.atom.predicate, i);
        rename(effect.when, i);
        result.push_back(std::move(effect));
      }
    }
    return result;
  }

  std::vector<NumericEffect> copied(const std::vector<NumericEffect>& effects) const {
    std::vector<NumericEffect> result;
    for (std::size_t i = 0; i < copies_; ++i) {
      for (NumericEffect effect : effects) {
        effect.function = copy_of(effect.function, i);
        rename(effect.when, i);
        rename(effect.amount, i);
        result.push_back(std::move(effect));
      }
    }
    return result;
  }

  // A constraint about actions is about the one sequence of actions that all states share.
  void copy_constraints(Ast& result) const {
    // What is best in one state need not be in another.
    if (copies_ > 1) result.preferences.clear();
    result.constraints.clear();
    for (const Constraint& constraint : ast_.constraints) {
      const bool once = constraint.kind == Constraint::Kind::kActionsInOrder;
      for (std::size_t i = 0; i < (once ? 1 : copies_); ++i) {
        Constraint copy = constraint;
        rename(copy.first, i);
        rename(copy.second, i);
        result.constraints.push_back(std::move(copy));
      }
    }
  }

  const Ast& ast_;
  std::size_t copies_;
  IdVector<PredicateId, bool> changing_;
  IdVector<PredicateId, PredicateId> first_copy_;
  IdVector<FunctionId, FunctionId> first_function_;
};

}  // namespace

IdVector<PredicateId, bool> changing_predicates(const Ast& ast) {
  IdVector<PredicateId, bool> changing(ast.predicates.size(), false);
  for (const Action& action : ast.actions) {
    for (const Effect& effect : action.effects) changing[effect.atom.predicate] = true;
    if (!action.durative) continue;
    for (const Effect& effect : action.durative->end_effects) changing[effect.atom.predicate] = true;
  }
  for (const Axiom& axiom : ast.axioms) changing[axiom.head] = true;
  return changing;
}

Ast with_states(const Ast& ast, std::span<const GivenState> states) { return Copier(ast, states.size()).run(states); }

}  // namespace metactrl::pddl
