// Conditions with variables -> formulas over fact numbers.
#ifndef METACTRL_SRC_PDDL_GROUND_FORMULA_H_
#define METACTRL_SRC_PDDL_GROUND_FORMULA_H_

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_numbers.h"
#include "pddl/join.h"
#include "pddl/reach.h"
#include "task/definition.h"

namespace metactrl::pddl {

// Translates conditions under a binding. Static atoms and equality become constants, atoms that are not reachable
// become false.
class FormulaBuilder {
 public:
  static constexpr task::FactId kNoFact{0xffffffffU};

  // `fact_of_atom[id]` numbers the atoms that can change.
  FormulaBuilder(const Reachable& reachable, RangeTable& ranges, const IdVector<AtomId, task::FactId>& fact_of_atom,
                 internal::Meter& meter)
      : reachable_(reachable),
        ranges_(ranges),
        fact_of_atom_(fact_of_atom),
        meter_(meter),
        joiner_(reachable.atoms, reachable.index, ranges, meter) {}

  task::Formula build(const VariableTable& table, const Condition& condition, Binding& binding, bool negated = false);

  // The precondition of an action that is among the reachable ones: its static atoms need no look, they hold. Into the
  // memory of another formula, since there are hundreds of thousands.
  void build_precondition(const VariableTable& table, const Condition& condition, Binding& binding,
                          task::Formula& result);

  // Does it hold by what never changes alone, or since there are no objects that it is about?
  bool holds_anyway(const VariableTable& table, const Condition& condition, Binding& binding, bool negated = false);

  // Without it there are no comparisons.
  void use(NumberTable& numbers) { numbers_ = &numbers; }

  // The fact of an atom whose arguments are bound; kNoFact when it is static or not reachable.
  task::FactId fact(const Atom& atom, const Binding& binding);

  // All bindings of `variables` under which `condition` (negated: its negation) can hold and `also`, when given, is
  // reachable: sorted, without repetition. Enumerates by joining the atoms that the condition requires, where it
  // requires any. The condition must outlive the builder, which remembers those atoms.
  std::vector<std::vector<ObjectId>> bindings(const VariableTable& table, std::span<const VariableId> variables,
                                              const Condition& condition, bool negated, const Atom* also,
                                              Binding& binding);

 private:
  const std::vector<Conjunction>& required(const Condition& condition, bool negated);
  bool can_change(const Condition& condition) const;
  task::Formula build_atom(const Atom& atom, const Binding& binding, bool negated);
  task::Formula build_quantifier(const VariableTable& table, const Condition& condition, Binding& binding,
                                 bool negated);
  task::Formula build_at_least(const VariableTable& table, const Condition& condition, Binding& binding, bool negated);
  task::Formula build_matching(const VariableTable& table, const Condition& condition, Binding& binding, bool negated);

  NumberTable* numbers_ = nullptr;
  const Reachable& reachable_;
  RangeTable& ranges_;
  const IdVector<AtomId, task::FactId>& fact_of_atom_;
  internal::Meter& meter_;
  Joiner joiner_;
  std::array<std::unordered_map<const Condition*, std::vector<Conjunction>>, 2> required_;  // plain, negated
  std::vector<ObjectId> scratch_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_FORMULA_H_
