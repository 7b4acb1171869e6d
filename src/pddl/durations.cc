// Values that are worth coming to: thresholds, that is what a number is compared with where that never changes, from the
// values at the start; then, as long as there is room, whole durations; then from one threshold to another. How fast the
// number changes is the factor of ?duration, where that never changes either.
#include "pddl/durations.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "metactrl/schedule.h"
#include "pddl/hosts.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

// Between the smallest and the largest, of one action.
constexpr std::size_t kMostBetween = 12;

using Values = std::set<Rational>;

void for_each_node(const Condition& condition, const std::function<void(const Condition&)>& visit) {
  visit(condition);
  for (const Condition& child : condition.children) for_each_node(child, visit);
}

std::size_t count_durations(const Expression& expression) {
  std::size_t count = expression.kind == Expression::Kind::kDuration ? 1 : 0;
  for (const Expression& child : expression.children) count += count_durations(child);
  return count;
}

bool divides_by_duration(const Expression& expression) {
  return (expression.kind == Expression::Kind::kDivide && count_durations(expression.children[1]) > 0) ||
         std::any_of(expression.children.begin(), expression.children.end(), divides_by_duration);
}

// It is a monotone function of the duration, whatever else it reads.
bool is_monotone(const Expression& amount) { return count_durations(amount) <= 1 && !divides_by_duration(amount); }

void set_duration(Expression& expression, const Expression& duration) {
  if (expression.kind == Expression::Kind::kDuration) {
    expression.children[0] = duration;
    return;
  }
  for (Expression& child : expression.children) set_duration(child, duration);
}

template <typename Visit>
void for_each_change(Action& action, const Visit& visit) {
  Durative& durative = *action.durative;
  for (auto* effects : {&action.numeric_effects, &durative.end_numeric_effects, &durative.idle_start_effects,
                        &durative.idle_end_effects}) {
    for (NumericEffect& effect : *effects) visit(effect);
  }
}

Condition comparison(Expression left, Condition::Comparison how, Expression right, Position where) {
  Condition out;
  out.kind = Condition::Kind::kCompare;
  out.comparison = how;
  out.sides = {std::move(left), std::move(right)};
  out.where = where;
  return out;
}

Expression exactly(const Rational& number) {
  Expression out;
  out.number = number;
  return out;
}

class Chooser {
 public:
  explicit Chooser(Ast& ast) : ast_(ast) {}

  std::vector<ActionNameId> run() {
    std::vector<ActionNameId> result;
    const std::vector<Envelope> offers = envelopes(ast_);
    for (const ActionNameId id : ast_.actions.all()) {
      if (!ast_.actions[id].durative || !ast_.actions[id].durative->flexible || has_one_duration(ast_.actions[id]))
        continue;
      const bool offered =
          std::ranges::any_of(offers, [&](const Envelope& one) { return one.offers == id && may_host(id); });
      const std::optional<Expression>& cost = ast_.actions[id].metric_cost;
      const bool cheaper = cost && divides_by_duration(*cost);
      if (changes_by_duration(ast_.actions[id]) || !ast_.timed.empty() || cheaper) {
        ast_.actions[id].durative->others = Durative::Others::kMatter;
      } else if (offered) {
        ast_.actions[id].durative->others = Durative::Others::kMatterInside;
      } else {
        continue;
      }
      result.push_back(id);
    }
    for (const ActionNameId id : result) add_others(id);
    return result;
  }

 private:
  static bool has_one_duration(const Action& action) {
    const Expression& shortest = action.durative->duration;
    const std::optional<Expression>& longest = action.durative->longest;
    return longest && longest->kind == Expression::Kind::kNumber && shortest.kind == Expression::Kind::kNumber &&
           longest->number <= shortest.number;
  }

  // Only what its durations depend on is not known yet.
  bool may_host(ActionNameId id) {
    bool& fixed = ast_.actions[id].durative->fixed;
    const bool known = std::exchange(fixed, true);
    const bool result = why_no_host(ast_, id).empty();
    fixed = known;
    return result;
  }

  bool changes(const Expression& expression) const {
    if (expression.kind == Expression::Kind::kFunction) return ast_.functions[expression.function].changes;
    return std::ranges::any_of(expression.children, [this](const Expression& child) { return changes(child); });
  }

  // At the start, for any objects; nothing where that is not simple.
  std::optional<Values> values(const Expression& expression) const {
    if (expression.kind == Expression::Kind::kNumber) return Values{expression.number};
    if (expression.kind == Expression::Kind::kFunction) {
      Values out;
      for (const FunctionValue& value : ast_.init_values) {
        if (value.function == expression.function && value.exact) out.insert(*value.exact);
      }
      return out;
    }
    const std::optional<Values> left = values(expression.children[0]);
    if (expression.kind == Expression::Kind::kDuration) return left;
    const std::optional<Values> right = values(expression.children[1]);
    if (!left || !right || left->size() * right->size() > kMostValues) return std::nullopt;
    Values out;
    for (const Rational& a : *left) {
      for (const Rational& b : *right) {
        if (const std::optional<Rational> value = combined(expression.kind, a, b)) out.insert(*value);
      }
    }
    return out;
  }

  std::optional<Values> constant_values(const Expression& expression) const {
    return changes(expression) ? std::nullopt : values(expression);
  }

  // What the function is compared with.
  Values thresholds(FunctionId function) const {
    Values out;
    const auto note = [&](const Condition& condition) {
      for_each_node(condition, [&](const Condition& node) {
        for (std::size_t side = 0; side < node.sides.size(); ++side) {
          const Expression& one = node.sides[side];
          if (one.kind != Expression::Kind::kFunction || one.function != function) continue;
          if (const std::optional<Values> some = constant_values(node.sides[1 - side]))
            out.insert(some->begin(), some->end());
        }
      });
    };
    for (const Action& action : ast_.actions) {
      note(action.precondition);
      for (const Effect& effect : action.effects) note(effect.when);
      if (!action.durative) continue;
      note(action.durative->over_all);
      note(action.durative->at_end);
      for (const Effect& effect : action.durative->end_effects) note(effect.when);
    }
    for (const Axiom& axiom : ast_.axioms) note(axiom.body);
    note(ast_.goal.condition);
    return out;
  }

  // By which ?duration is multiplied; empty where that is not simple.
  Values factors(const Expression& amount) const {
    if (amount.kind == Expression::Kind::kDuration) return {Rational(1)};
    const bool times = amount.kind == Expression::Kind::kMultiply;
    if (!times && amount.kind != Expression::Kind::kDivide) return {};
    const std::size_t side = amount.children[0].kind == Expression::Kind::kDuration ? 0 : 1;
    if (amount.children[side].kind != Expression::Kind::kDuration || (!times && side == 1)) return {};
    const std::optional<Values> others = constant_values(amount.children[1 - side]);
    Values out;
    for (const Rational& other : others.value_or(Values())) {
      const std::optional<Rational> factor = times ? other : divide(Rational(1), other);
      if (factor && *factor != Rational(0)) out.insert(*factor);
    }
    return out;
  }

  struct Range {
    std::optional<Rational> least;
    std::optional<Rational> largest;
  };

  // Of the action's durations for any objects, as far as it is known.
  Range range(const Durative& durative) const {
    Range out;
    const std::optional<Values> low = constant_values(durative.duration);
    if (low && !low->empty()) out.least = *low->begin();
    const std::optional<Values> high = durative.longest ? constant_values(*durative.longest) : std::nullopt;
    if (high && !high->empty()) out.largest = *high->rbegin();
    return out;
  }

  Values between(Action& action) const {
    const Range limits = range(*action.durative);
    Values out;
    const auto add = [&](const std::optional<Rational>& duration) {
      if (!duration || out.size() == kMostBetween || *duration < *Rational::parse("0.001")) return;
      if ((limits.least && *duration <= *limits.least) || (limits.largest && *duration >= *limits.largest)) return;
      // One that can be written.
      const std::optional<Rational> units = multiply(*duration, Rational(kTimeUnit));
      if (units && units->denominator() == 1 && units->numerator() <= kLatestTime) out.insert(*duration);
    };
    const auto add_ways = [&](const Values& from, const Values& to, const Values& by) {
      for (const Rational& a : from) {
        for (const Rational& b : to) {
          const std::optional<Rational> way = a < b ? subtract(b, a) : subtract(a, b);
          for (const Rational& factor : by) {
            const bool falls = factor < Rational(0);
            const std::optional<Rational> speed = falls ? subtract(Rational(0), factor) : factor;
            if (way && speed) add(divide(*way, *speed));
          }
        }
      }
    };
    std::vector<std::pair<Values, Values>> compared;  // thresholds and factors
    for_each_change(action, [&](const NumericEffect& effect) {
      if (!ast_.functions[effect.function].matters || count_durations(effect.amount) == 0) return;
      Expression function;
      function.kind = Expression::Kind::kFunction;
      function.function = effect.function;
      compared.emplace_back(thresholds(effect.function), factors(effect.amount));
      add_ways(*values(function), compared.back().first, compared.back().second);
    });
    if (compared.empty()) return out;  // between the ends nothing is better than another
    if (limits.least && limits.largest) {
      const std::int64_t first = limits.least->numerator() / limits.least->denominator() + 1;
      const std::int64_t last = limits.largest->numerator() / limits.largest->denominator();
      for (std::int64_t whole = first; last - first <= static_cast<std::int64_t>(kMostBetween) && whole <= last;
           ++whole)
        add(Rational(whole));
    }
    for (const auto& [to, by] : compared) add_ways(to, to, by);
    return out;
  }

  std::string new_name(std::string name) const {
    const auto taken = [&] {
      return std::ranges::any_of(ast_.actions, [&](const Action& action) { return action.name == name; });
    };
    while (taken()) name += "-";
    return name;
  }

  void add(const Action& written, const std::string& which, const Expression& duration,
           std::vector<Condition> conditions) {
    Action other = written;
    other.name = new_name(str_cat(written.name, '-', which));
    other.written = written.name;
    other.durative->duration = duration;
    for_each_change(other, [&](NumericEffect& effect) { set_duration(effect.amount, duration); });
    if (other.metric_cost) set_duration(*other.metric_cost, duration);
    const bool known = std::ranges::all_of(conditions, [](const Condition& condition) {
      return condition.sides[0].kind == Expression::Kind::kNumber &&
             condition.sides[1].kind == Expression::Kind::kNumber;
    });
    if (!known) {
      ast_.has_numbers = true;
      conditions.insert(conditions.begin(), std::move(other.precondition));
      other.precondition = {};
      other.precondition.kind = Condition::Kind::kAnd;
      other.precondition.where = conditions[0].where;
      other.precondition.children = std::move(conditions);
    }
    ast_.actions.push_back(std::move(other));
  }

  void add_others(ActionNameId id) {
    using Comparison = Condition::Comparison;
    Durative& durative = *ast_.actions[id].durative;
    const auto text = [](const Expression& end, const char* which) {
      return end.kind == Expression::Kind::kNumber ? end.number.text() : std::string(which);
    };
    const auto starts = [&](FunctionId function) {
      return std::ranges::any_of(ast_.actions[id].numeric_effects,
                                 [&](const NumericEffect& effect) { return effect.function == function; });
    };
    const std::function<bool(const Expression&)> moves = [&](const Expression& expression) {
      return (expression.kind == Expression::Kind::kFunction && starts(expression.function)) ||
             std::ranges::any_of(expression.children, moves);
    };
    constexpr std::int64_t kLongest = kLatestTime / kTimeUnit;
    const bool countable = durative.longest && !(durative.longest->kind == Expression::Kind::kNumber &&
                                                 durative.longest->number > Rational(kLongest));
    // At the end the largest is worked out behind the effects at the start.
    const bool has_longest = countable && !(changes_by_duration(ast_.actions[id]) && moves(*durative.longest)) &&
                             (ast_.timed.empty() || !changes(*durative.longest));
    // Hosts need one that is known.
    if (!has_longest || changes(*durative.longest)) durative.others = Durative::Others::kMatter;
    durative.spans = has_longest;
    for_each_change(ast_.actions[id], [&](const NumericEffect& effect) {
      durative.spans = durative.spans && is_monotone(effect.amount);
    });
    const Values some = between(ast_.actions[id]);
    durative.planned = text(durative.duration, "the smallest");
    for (const Rational& one : some) durative.planned += ", " + one.text();
    if (has_longest) durative.planned += ", " + text(*durative.longest, "the largest");
    const Action written = ast_.actions[id];
    const Position where = written.precondition.where;
    const Expression& shortest = written.durative->duration;
    // Of two plans alike searches find the one whose actions come first.
    for (const Rational& one : some) {
      std::vector<Condition> within = {comparison(exactly(one), Comparison::kMore, shortest, where)};
      if (written.durative->longest)
        within.push_back(comparison(exactly(one), Comparison::kLess, *written.durative->longest, where));
      add(written, str_cat("for-", one.text()), exactly(one), std::move(within));
    }
    if (!has_longest) return;
    add(written, "longest", *written.durative->longest,
        {comparison(*written.durative->longest, Comparison::kMore, shortest, where)});
    ast_.actions.back().durative->takes_longest = true;
  }

  static constexpr std::size_t kMostValues = 1000;

  Ast& ast_;
};

}  // namespace

Expression duration_of(const Durative& durative) {
  if (!durative.flexible) return durative.duration;
  Expression out;
  out.kind = Expression::Kind::kDuration;
  out.children.push_back(durative.duration);
  return out;
}

bool changes_by_duration(const Action& action) {
  const auto by_duration = [](const NumericEffect& effect) { return count_durations(effect.amount) > 0; };
  return std::ranges::any_of(action.numeric_effects, by_duration) ||
         (action.durative && std::ranges::any_of(action.durative->end_numeric_effects, by_duration));
}

std::vector<ActionNameId> add_durations(Ast& ast) { return Chooser(ast).run(); }

}  // namespace metactrl::pddl
