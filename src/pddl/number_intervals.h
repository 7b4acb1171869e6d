// Intervals of numbers: what a number can be at most and at least, however often actions are taken.
//
//     NumberIntervals intervals(initial);
//     intervals.widen(changes);                       // of all that can be done
//     if (!intervals.possible(comparison)) ...        // it is false in every state that can be reached
//
// An over-approximation that forgets what goes with what. It is finite where a number is not: so it refutes where values
// cannot be counted.
#ifndef METACTRL_SRC_PDDL_NUMBER_INTERVALS_H_
#define METACTRL_SRC_PDDL_NUMBER_INTERVALS_H_

#include <optional>
#include <span>

#include "pddl/ground_numbers.h"

namespace metactrl::pddl {

class NumberIntervals {
 public:
  struct Change {
    const GroundChange* change = nullptr;
    bool alone = false;  // no other change of its target happens together with it
  };

  // `initial`: the values at the start, nothing where there is none.
  explicit NumberIntervals(const IdVector<NumberId, std::optional<Rational>>& initial);

  // Whatever the changes make of the numbers, however often they happen. True when an interval was smaller.
  bool widen(std::span<const Change> changes);

  // May it hold, may it be false? What has no value is false.
  bool possible(const GroundComparison& comparison) const;
  bool may_fail(const GroundComparison& comparison) const;

 private:
  // Both ends included; nothing: without an end.
  struct Interval {
    std::optional<Rational> least;
    std::optional<Rational> largest;
  };

  // Nothing: there is no value at all.
  std::optional<Interval> value(const GroundExpression& expression) const;
  static Interval sum(const Interval& a, const Interval& b, bool minus);
  static Interval product(const Interval& a, const Interval& b);
  static Interval quotient(const Interval& a, const Interval& b);
  static Interval one_of(const Interval& a, const Interval& b);
  static bool may_hold(Condition::Comparison comparison, const Interval& left, const Interval& right);
  // What the target is when the change happens, by what is asked for then.
  std::optional<Interval> before(const GroundChange& change) const;
  std::optional<Interval> after(const GroundChange& change, bool alone) const;
  // Widens the number's interval; true when it was smaller. `forever`: an end that moves has none.
  bool widen(NumberId number, const Interval& by, bool forever);
  bool may_lack_value(const GroundExpression& expression) const;

  IdVector<NumberId, std::optional<Interval>> intervals_;
  IdVector<NumberId, bool> starts_;  // has a value at the start, and so ever after
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_NUMBER_INTERVALS_H_
