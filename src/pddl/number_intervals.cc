// Rounds over all changes: one whose guards may hold widens the interval of its target by what it makes of it. An end that
// still moves after a few rounds is taken to move forever, so there are at most two rounds more for each number. Several
// increases by one action are covered by one after the other: what the first has widened the second starts from, so what
// is asked of the target before narrows it only where a change is alone.
#include "pddl/number_intervals.h"

#include <algorithm>
#include <array>

namespace metactrl::pddl {

NumberIntervals::NumberIntervals(const IdVector<NumberId, std::optional<Rational>>& initial)
    : intervals_(initial.size()) {
  for (const NumberId number : initial.all()) {
    if (initial[number]) intervals_[number] = Interval{initial[number], initial[number]};
    starts_.push_back(initial[number].has_value());
  }
}

bool NumberIntervals::widen(std::span<const Change> changes) {
  constexpr int kPatience = 4;
  bool any = false;
  bool changed = true;
  for (int round = 0; changed; ++round) {
    changed = false;
    for (const auto& [change, alone] : changes) {
      const auto holds = [this](const GroundComparison& guard) { return possible(guard); };
      if (!std::all_of(change->guards.begin(), change->guards.end(), holds)) continue;
      const std::optional<Interval> next = after(*change, alone);
      if (next) changed = widen(change->target, *next, round >= kPatience) || changed;
    }
    any = any || changed;
  }
  return any;
}

bool NumberIntervals::widen(NumberId number, const Interval& by, bool forever) {
  std::optional<Interval>& known = intervals_[number];
  if (!known) {
    known = by;
    return true;
  }
  const bool down = known->least && (!by.least || *by.least < *known->least);
  const bool up = known->largest && (!by.largest || *by.largest > *known->largest);
  if (down) known->least = forever ? std::nullopt : by.least;
  if (up) known->largest = forever ? std::nullopt : by.largest;
  return down || up;
}

NumberIntervals::Interval NumberIntervals::sum(const Interval& a, const Interval& b, bool minus) {
  const std::optional<Rational>& low = minus ? b.largest : b.least;
  const std::optional<Rational>& high = minus ? b.least : b.largest;
  const auto both = [minus](const std::optional<Rational>& x, const std::optional<Rational>& y) {
    if (!x || !y) return std::optional<Rational>();
    return minus ? subtract(*x, *y) : add(*x, *y);
  };
  return {both(a.least, low), both(a.largest, high)};
}

NumberIntervals::Interval NumberIntervals::product(const Interval& a, const Interval& b) {
  const auto is_zero = [](const Interval& x) {
    return x.least && x.largest && *x.least == Rational(0) && *x.largest == Rational(0);
  };
  if (is_zero(a) || is_zero(b)) return {Rational(0), Rational(0)};
  if (a.least && a.largest && b.least && b.largest) {
    Interval out;
    for (const Rational& x : {*a.least, *a.largest}) {
      for (const Rational& y : {*b.least, *b.largest}) {
        const std::optional<Rational> corner = multiply(x, y);
        if (!corner) return {};
        out.least = out.least ? std::min(*out.least, *corner) : *corner;
        out.largest = out.largest ? std::max(*out.largest, *corner) : *corner;
      }
    }
    return out;
  }
  const auto never_negative = [](const Interval& x) { return x.least && *x.least >= Rational(0); };
  if (never_negative(a) && never_negative(b)) return {multiply(*a.least, *b.least), std::nullopt};
  return {};
}

NumberIntervals::Interval NumberIntervals::quotient(const Interval& a, const Interval& b) {
  const bool has_sign = (b.least && *b.least > Rational(0)) || (b.largest && *b.largest < Rational(0));
  if (!has_sign || !b.least || !b.largest) return {};
  return product(a, {divide(Rational(1), *b.largest), divide(Rational(1), *b.least)});
}

// What covers both.
NumberIntervals::Interval NumberIntervals::one_of(const Interval& a, const Interval& b) {
  Interval out;
  if (a.least && b.least) out.least = std::min(*a.least, *b.least);
  if (a.largest && b.largest) out.largest = std::max(*a.largest, *b.largest);
  return out;
}

std::optional<NumberIntervals::Interval> NumberIntervals::value(const GroundExpression& expression) const {
  if (expression.kind == Expression::Kind::kNumber) {
    if (!expression.number) return std::nullopt;
    return Interval{expression.number, expression.number};
  }
  if (expression.kind == Expression::Kind::kFunction) return intervals_[expression.fluent];
  const std::optional<Interval> left = value(expression.children[0]);
  const std::optional<Interval> right = value(expression.children[1]);
  if (!left || !right) return std::nullopt;
  switch (expression.kind) {
    case Expression::Kind::kAdd:
      return sum(*left, *right, false);
    case Expression::Kind::kSubtract:
      return sum(*left, *right, true);
    case Expression::Kind::kMultiply:
      return product(*left, *right);
    case Expression::Kind::kMost:
    case Expression::Kind::kLeast:
      return one_of(*left, *right);
    default:
      return quotient(*left, *right);
  }
}

bool NumberIntervals::may_hold(Condition::Comparison comparison, const Interval& left, const Interval& right) {
  using Comparison = Condition::Comparison;
  const bool may_be_less = !left.least || !right.largest || *left.least < *right.largest;
  const bool may_be_more = !left.largest || !right.least || *left.largest > *right.least;
  const bool not_above = may_be_less || *left.least == *right.largest;
  const bool not_below = may_be_more || *left.largest == *right.least;
  switch (comparison) {
    case Comparison::kLess:
      return may_be_less;
    case Comparison::kAtMost:
      return not_above;
    case Comparison::kEqual:
      return not_above && not_below;
    case Comparison::kAtLeast:
      return not_below;
    case Comparison::kMore:
      return may_be_more;
  }
  return true;
}

bool NumberIntervals::possible(const GroundComparison& comparison) const {
  const std::optional<Interval> left = value(comparison.left);
  const std::optional<Interval> right = value(comparison.right);
  return left && right && may_hold(comparison.comparison, *left, *right);
}

bool NumberIntervals::may_lack_value(const GroundExpression& expression) const {
  if (expression.kind == Expression::Kind::kNumber) return !expression.number;
  if (expression.kind == Expression::Kind::kFunction) return !starts_[expression.fluent];
  return expression.kind == Expression::Kind::kDivide ||
         std::any_of(expression.children.begin(), expression.children.end(),
                     [this](const GroundExpression& child) { return may_lack_value(child); });
}

bool NumberIntervals::may_fail(const GroundComparison& comparison) const {
  using Comparison = Condition::Comparison;
  if (may_lack_value(comparison.left) || may_lack_value(comparison.right)) return true;
  const auto may_hold_as = [&](Comparison other) { return possible({other, comparison.left, comparison.right}); };
  switch (comparison.comparison) {
    case Comparison::kLess:
      return may_hold_as(Comparison::kAtLeast);
    case Comparison::kAtMost:
      return may_hold_as(Comparison::kMore);
    case Comparison::kEqual:
      return may_hold_as(Comparison::kLess) || may_hold_as(Comparison::kMore);
    case Comparison::kAtLeast:
      return may_hold_as(Comparison::kLess);
    case Comparison::kMore:
      return may_hold_as(Comparison::kAtMost);
  }
  return true;
}

std::optional<NumberIntervals::Interval> NumberIntervals::before(const GroundChange& change) const {
  using Comparison = Condition::Comparison;
  std::optional<Interval> out = intervals_[change.target];
  if (!out) return out;
  const auto is_target = [&](const GroundExpression& side) {
    return side.kind == Expression::Kind::kFunction && side.fluent == change.target;
  };
  for (const GroundComparison& guard : change.guards) {
    const bool left = is_target(guard.left);
    if (left == is_target(guard.right)) continue;
    const std::optional<Interval> other = value(left ? guard.right : guard.left);
    if (!other) continue;
    const Comparison kind = guard.comparison;
    const bool less = kind == Comparison::kLess || kind == Comparison::kAtMost;
    const bool more = kind == Comparison::kMore || kind == Comparison::kAtLeast;
    const bool at_most = kind == Comparison::kEqual || (left ? less : more);
    const bool at_least = kind == Comparison::kEqual || (left ? more : less);
    if (at_most && other->largest)
      out->largest = out->largest ? std::min(*out->largest, *other->largest) : other->largest;
    if (at_least && other->least) out->least = out->least ? std::max(*out->least, *other->least) : other->least;
  }
  // The guards exclude each other.
  if (out->least && out->largest && *out->least > *out->largest) return std::nullopt;
  return out;
}

std::optional<NumberIntervals::Interval> NumberIntervals::after(const GroundChange& change, bool alone) const {
  const std::optional<Interval> amount = value(change.amount);
  if (!amount || change.change == NumericEffect::Change::kAssign) return amount;
  const std::optional<Interval> now = alone ? before(change) : intervals_[change.target];
  if (!now) return now;
  switch (change.change) {
    case NumericEffect::Change::kIncrease:
      return sum(*now, *amount, false);
    case NumericEffect::Change::kDecrease:
      return sum(*now, *amount, true);
    case NumericEffect::Change::kScaleUp:
      return product(*now, *amount);
    default:
      return quotient(*now, *amount);
  }
}

}  // namespace metactrl::pddl
