// What facts and numbers can be, both at once: an action that no value of its numbers allows makes nothing true.
//
//     NumberReach reach(ast, reachable, ranges, numbers, meter);
//     if (reach.excludes(goal.variables, goal.condition, binding)) ...   // no state that can be reached satisfies it
//
// It is finite where numbers are not, so it refutes where states cannot be counted.
#ifndef METACTRL_SRC_PDDL_NUMBER_REACH_H_
#define METACTRL_SRC_PDDL_NUMBER_REACH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_numbers.h"
#include "pddl/join.h"
#include "pddl/number_intervals.h"
#include "pddl/reach.h"

namespace metactrl::pddl {

class NumberReach {
 public:
  // `ast`: no action takes time there. `numbers`: closed.
  NumberReach(const Ast& ast, const Reachable& reachable, RangeTable& ranges, NumberTable& numbers,
              internal::Meter& meter);

  // False also where finding out takes too long.
  bool excludes(const VariableTable& table, const Condition& condition, Binding& binding);

 private:
  enum class Open : std::uint8_t { kNo, kPartly, kWholly };  // can it be taken, and is all that it does to facts known?

  void open_actions();
  Open take(InstanceId id);
  bool may_hold(const VariableTable& table, const Condition& condition, Binding& binding, bool negated);
  bool may_hold_for_objects(const VariableTable& table, const Condition& condition, std::size_t next, Binding& binding,
                            bool negated);
  bool may_be(const Atom& atom, const Binding& binding, bool negated) const;
  void change(const Effect& effect, const Binding& binding);
  // Calls visit() for all objects of the variables.
  template <typename Visit>
  void for_each(const VariableTable& table, std::span<const VariableId> variables, Binding& binding,
                const Visit& visit);
  bool tired();

  const Ast& ast_;
  const Reachable& reachable_;
  RangeTable& ranges_;
  NumberTable& numbers_;
  internal::Meter& meter_;
  NumberIntervals intervals_;
  IdVector<AtomId, bool> true_;   // may be
  IdVector<AtomId, bool> false_;  // may be
  IdVector<InstanceId, Open> open_;
  std::uint64_t work_ = 0;
  bool changed_ = false;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_NUMBER_REACH_H_
